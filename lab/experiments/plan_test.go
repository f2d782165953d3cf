package experiments

import (
	"strings"
	"testing"
	"time"
)

func count(points []point, figure string) (runs int) {
	for _, o := range points {
		if o.figure == figure {
			runs++
		}
	}
	return runs
}

// TestPlanIsThePapers checks which runs there are when there is time and memory for all.
func TestPlanIsThePapers(t *testing.T) {
	p := plan{cores: 4, memory: 1 << 40, time: 20 * time.Minute, kernel: "listing", scale: 1}
	points := p.points()
	for figure, want := range map[string]int{"2a": 5 * 8, "2c": 1 + 5, "2d": 4} {
		if got := count(points, figure); got != want {
			t.Errorf("figure %s has %d runs, want %d", figure, got, want)
		}
	}
	for _, o := range points {
		switch o.figure {
		case "2a":
			if o.processors != 4 || o.blocks[0] != o.blocks[1] || o.side[0] != o.side[1] {
				t.Errorf("2a: %+v", o)
			}
		case "2c":
			if want := max(1, 4*o.perCore); o.blocks[0]*o.blocks[1] != want || o.blocks[0]*o.side[0] != 32000 || o.blocks[1]*o.side[1] != 32000 || !o.pin {
				t.Errorf("2c: %+v, want %d blocks of the paper's matrix, pinned", o, want)
			}
			if o.bytes() != 49_152_000_000 {
				t.Errorf("2c takes %d bytes, the paper's took 49 GB", o.bytes())
			}
		case "2d":
			if o.blocks[0]*o.blocks[1] != 16*o.nodes || o.side != [2]int{3000, 3000} || o.processors != 1 {
				t.Errorf("2d: %+v, want 16 blocks a node", o)
			}
		}
	}
	args := strings.Join(points[len(points)-1].args("fast"), " ")
	if !strings.HasPrefix(args, "-grid 32x4 -block 3000x3000 -iters ") || !strings.HasSuffix(args, " -kernel fast -nodes 8 -verify=false") {
		t.Errorf("the last run is %s", args)
	}
}

// TestPlanFits checks that what is planned takes no more than the time, by the estimate, and no more
// than the memory, and that the scale is the largest that does.
func TestPlanFits(t *testing.T) {
	for _, p := range []plan{
		{cores: 2, memory: 16 << 30, time: 15 * time.Minute},
		{cores: 2, memory: 1 << 30, time: 2 * time.Minute},
		{cores: 16, memory: 64 << 30, time: 20 * time.Minute},
		{cores: 2, memory: 16 << 30, time: 5 * time.Second},
	} {
		p = p.withScale()
		all := time.Duration(0)
		for _, o := range p.points() {
			slice := p.slice(o.figure)
			if o.figure != "2a" && p.check(o, slice) != "" {
				t.Errorf("%+v: %v is left out: %s", p, &o, p.check(o, slice))
			}
			if p.check(o, slice) == "" {
				all += o.cost(o.iterations)
			}
			if o.iterations < leastIterations {
				t.Errorf("%+v: %d iterations", p, o.iterations)
			}
		}
		if all > p.time {
			t.Errorf("%+v: all runs take %v", p, all)
		}
	}
	if p := (plan{cores: 2, memory: 100 << 30, time: 20 * time.Minute}).withScale(); p.scale < 1.0/16 || p.scale == 1 {
		t.Errorf("the scale is %v", p.scale)
	}
	if p := (plan{scale: 0.3}).withScale(); p.scale != 0.3 {
		t.Errorf("a scale that is given becomes %v", p.scale)
	}
}

// TestLeftOut gives a reason for each run that cannot be.
func TestLeftOut(t *testing.T) {
	p := plan{cores: 2, memory: 1 << 20, time: time.Minute, scale: 1}
	large := point{figure: "2a", blocks: [2]int{10, 10}, side: [2]int{1024, 1024}, iterations: 5}
	if why := p.check(large, time.Hour); why != "it needs 5.0 GB of memory" {
		t.Errorf("it is left out because %q", why)
	}
	p.memory = 1 << 40
	if why := p.check(large, time.Second); why != "there is no time for it" {
		t.Errorf("it is left out because %q", why)
	}
	if why := p.check(large, time.Hour); why != "" {
		t.Errorf("it is left out because %q", why)
	}
}

func TestNearSquare(t *testing.T) {
	for n, want := range map[int][2]int{1: {1, 1}, 2: {2, 1}, 8: {4, 2}, 16: {4, 4}, 32: {8, 4}, 12: {4, 3}, 7: {7, 1}} {
		if got := nearSquare(n); got != want {
			t.Errorf("nearSquare(%d) is %v, want %v", n, got, want)
		}
	}
}
