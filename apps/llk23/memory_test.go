package main

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/memory"
	"github.com/orwl/go-orwl/orwl/launch"
)

// TestNeed counts the bytes of 6 x 4 elements in 3 x 2 blocks of 2 x 2.
func TestNeed(t *testing.T) {
	const (
		block = 8 * (4*4 + 5*2*2)       // of 2 x 2
		whole = 2*8*6*4 + 8*(8*6+5*6*4) // with the result and the blocks' data
		tasks = 6 * 16 << 10
		cuts  = 4 * 8 * 2 * 2 // of a block
	)
	alone, spawned := launch.Place{Nodes: 1}, func(node int) launch.Place {
		return launch.Place{Node: node, Nodes: 2, How: launch.Spawned}
	}
	for _, c := range []struct {
		args  string
		place launch.Place
		want  int64
	}{
		{"-verify=false", alone, 6*block + tasks},
		{"", alone, max(6*block, whole) + tasks},
		{"-tasks 9 -verify=false", alone, 6*block + 6*40<<10},
		{"-nodes 2 -verify=false", alone, 6*block + 6*cuts + 2*tasks},
		{"-grid 3x1 -block 2x2 -nodes 2 -verify=false", spawned(1), 2*block + 2*cuts + tasks/2}, // of a fair share
		{"-nodes 2 -verify=false", spawned(0), max(3*block, 2*8*6*4) + 3*cuts + tasks},
		{"-nodes 2", spawned(0), max(3*block, whole) + 3*cuts + tasks},
		{"-nodes 2", spawned(1), 3*block + 3*cuts + tasks},
		{"-sweeps 2 -verify=false", alone, 6*8*(5*5+5*3*3) + tasks},
		{"-sweeps 0 -iters 2 -verify=false", alone, 6*8*(5*5+5*3*3) + tasks}, // at most
	} {
		o, err := parse(append(strings.Fields("-grid 3x2 -block 2x2 -sweeps 1"), strings.Fields(c.args)...))
		if err != nil {
			t.Fatal(err)
		}
		j, err := newJob(o, c.place)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.need(); got != c.want {
			t.Errorf("%s as %v: %d bytes, want %d", c.args, c.place, got, c.want)
		}
		j.close()
	}
}

// TestMemoryRefused asks for all memory, and for a little more than there is.
func TestMemoryRefused(t *testing.T) {
	if _, known := memory.Free(); known {
		code, stdout, stderr := program(t, "-grid", "256x256", "-block", "256x256")
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "-block 256x256: the run needs 2") || !strings.Contains(stderr, " GiB free") {
			t.Errorf("exit code %d, prints %q and %q, want 2 and one line", code, stdout, stderr)
		}
	}
	j := &job{options: options{grid: size{1, 1}, block: size{1, 1}}, place: launch.Place{Nodes: 1}}
	j.rows, j.cols = 1, 1
	for _, c := range []struct {
		spare  int64
		known  bool
		refuse bool
	}{{0, true, false}, {-1, true, true}, {-1, false, false}} {
		err := j.fitMemory(func() (memory.Room, bool) { return memory.Room{Bytes: j.need() + c.spare, Of: "a room"}, c.known })
		if (err != nil) != c.refuse || err != nil && !strings.Contains(err.Error(), "a room has ") {
			t.Errorf("with %d bytes to spare, known: %v: %v", c.spare, c.known, err)
		}
	}
	j.nodes.SSH, j.nodes.Nodes = "a,b", 2
	if err := j.fitMemory(func() (memory.Room, bool) { return memory.Room{}, true }); err != nil {
		t.Errorf("over ssh: %v, want each node to ask its own machine", err)
	}
}
