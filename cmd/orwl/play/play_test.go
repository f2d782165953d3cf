package play

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// The proof names the circle, its resources, and what to do.
func TestCheck(t *testing.T) {
	a := Check("task row1: write a, read b\ntask row2: write b, read a @-1")
	if a["alive"] != false || a["words"] != "Refused: of 2 tasks, 2 would wait for ever." || len(a["cycle"].([]any)) != 2 || !strings.HasPrefix(a["advice"].(string), "give the accesses of this cycle other priorities") {
		t.Errorf("%v", a)
	}
	first := a["cycle"].([]any)[0].(Answer)
	if first["task"] != "row1" || first["resource"] != "a" || first["mode"] != "write" || first["words"] != "row1 waits to write a (access 1), which row2 holds to read (access 2)" {
		t.Errorf("%v", first)
	}
	if a := Check("task row1: write a, read b\ntask row2: write b, read a"); a["alive"] != true {
		t.Errorf("%v", a)
	}
	for text, want := range map[string]string{
		"": "no task is described", "task a: write x\ntask b: wriet x": "line 2, column 9", "task a: write x\ntask a: write x": "task a",
		"task a: " + strings.Repeat("read x, ", mostAccesses) + "read x": "up to 400 accesses",
	} {
		if got, _ := Check(text)["error"].(string); !strings.Contains(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	if a := Check("task a: write x"); a["words"] != "Alive: the task goes round for ever." {
		t.Errorf("one task: %v", a)
	}
}

// queuesOf is the queues of a state in words.
func queuesOf(p *Player) (all string) {
	for _, q := range p.State()["queues"].([]any) {
		all += q.(Answer)["resource"].(string) + ":"
		for _, g := range q.(Answer)["groups"].([]any) {
			var names []string
			for _, m := range g.(Answer)["members"].([]any) {
				name := m.(Answer)["task"].(string)
				if m.(Answer)["held"] == true {
					name += "!"
				}
				names = append(names, name)
			}
			all += fmt.Sprintf(" %s(%s)", g.(Answer)["mode"], strings.Join(names, " "))
			if g.(Answer)["granted"] == true {
				all += "*"
			}
		}
		all += "\n"
	}
	return all
}

// Neighbouring readers are granted together, and an access is announced before the one before it is released.
func TestPlayer(t *testing.T) {
	p, bad := NewPlayer("task w: write x\ntask r: read x\ntask s: read x")
	if bad != nil {
		t.Fatal(bad)
	}
	for i, c := range []struct {
		task int
		can  bool
		want string
	}{
		{-1, false, "x: write(w)* read(r s)\n"},
		{1, false, "x: write(w)* read(r s)\n"},
		{0, true, "x: write(w!)* read(r s)\n"},
		{0, true, "x: read(r s)* write(w)\n"},
		{2, true, "x: read(r s!)* write(w)\n"},
		{2, true, "x: read(r)* write(w) read(s)\n"},
		{1, true, "x: read(r!)* write(w) read(s)\n"},
		{1, true, "x: write(w)* read(s r)\n"},
		{3, false, "x: write(w)* read(s r)\n"},
	} {
		if can := p.Step(c.task); can != c.can {
			t.Errorf("step %d: task %d can: %t", i, c.task, can)
		}
		if got := queuesOf(p); got != c.want {
			t.Errorf("step %d: %swant %s", i, got, c.want)
		}
	}
	tasks := p.State()["tasks"].([]any)
	if w := tasks[0].(Answer); w["round"] != 2 || w["can"] != true || w["does"] != "may acquire" {
		t.Errorf("%v", w)
	}
	if r := tasks[1].(Answer); r["does"] != "waits to read x" || r["can"] != false {
		t.Errorf("%v", r)
	}
}

// A system that the proof refuses comes to a stop: no task of the circle can take a step.
func TestPlayerStops(t *testing.T) {
	p, bad := NewPlayer("task row1: write a, read b\ntask row2: write b, read a @-1")
	if bad != nil {
		t.Fatal(bad)
	}
	for task := range 2 {
		if p.Step(task) {
			t.Errorf("task %d goes on", task)
		}
	}
}

// The explorer accepts the right locks, and names the promise that each wrong one breaks, with a run.
func TestExplore(t *testing.T) {
	rings.Computes(t)
	for _, l := range Locks() {
		name, wrong := l.(Answer)["name"].(string), l.(Answer)["wrong"].(bool)
		a := Explore(Game{Lock: name, Ranks: l.(Answer)["ranks"].(int), Acquisitions: 3})
		broken, _ := a["broken"].(string)
		if a["error"] != nil || wrong != (broken != "") || wrong && len(a["trace"].([]any)) == 0 || !wrong && a["complete"] != true {
			t.Errorf("%s: %v %v, %v states, complete %v", name, a["error"], broken, a["states"], a["complete"])
		}
	}
	if a := Explore(Game{Lock: "mcs-no-flush", Ranks: 2, Acquisitions: 1}); !strings.Contains(a["broken"].(string), "stale data") {
		t.Errorf("%v", a["broken"])
	}
	for _, g := range []Game{{Lock: "none", Ranks: 2, Acquisitions: 1}, {Lock: "ticket", Ranks: 9, Acquisitions: 1}, {Lock: "ticket", Ranks: 2, Acquisitions: 1, Deaths: 2}} {
		if Explore(g)["error"] == nil || Run(g, 1)["error"] == nil {
			t.Errorf("%+v is played", g)
		}
	}
}

// A run of a right lock ends with all ranks, or with one that hears of a death.
func TestRun(t *testing.T) {
	for deaths, want := range []string{"ends", "notices"} {
		a := Run(Game{Lock: "mcs-flushed", Ranks: 3, Acquisitions: 2, Deaths: deaths}, 1)
		if a["error"] != nil || a["broken"] != nil {
			t.Fatalf("%v", a)
		}
		seen := 0
		for _, s := range a["trace"].([]any) {
			if s.(Answer)["what"] == want {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("with %d deaths no rank %s in %d steps", deaths, want, len(a["trace"].([]any)))
		}
	}
	// With a cut network, the ranks that wait learn of it, on both sides. A cut that heals keeps them apart for a while.
	for network, want := range map[Network]string{Heals: "is back", Severs: "notices"} {
		g := Game{Lock: "mcs-flushed", Ranks: 2, Acquisitions: 2, Network: network}
		for off := range 2 {
			g.Off = off + 1
			for _, s := range Run(g, 1)["trace"].([]any) {
				if s.(Answer)["what"] == "is cut off" && s.(Answer)["rank"] != off {
					t.Errorf("network %s: %v, want rank %d", network, s, off)
				}
			}
		}
		a := Run(g, 1)
		if a["error"] != nil || a["broken"] != nil || !strings.Contains(fmt.Sprint(a["trace"]), "is cut off") || !strings.Contains(fmt.Sprint(a["trace"]), want) {
			t.Errorf("network %s: %v", network, a)
		}
		if n := strings.Count(fmt.Sprint(a["trace"]), "what:notices"); network == Severs && n != 2 {
			t.Errorf("%d ranks learn that the network is cut, want both", n)
		}
		if found := Explore(g); found["broken"] != nil || found["complete"] != true {
			t.Errorf("network %s: %v", network, found)
		}
	}
	if Run(Game{Lock: "ticket", Ranks: 2, Acquisitions: 1, Network: "none"}, 1)["error"] == nil || Run(Game{Lock: "ticket", Ranks: 2, Acquisitions: 1, Network: Heals, Off: 3}, 1)["error"] == nil {
		t.Error("there is a network of no kind")
	}
	one, same := Run(Game{Lock: "ticket", Ranks: 2, Acquisitions: 1}, 7), Run(Game{Lock: "ticket", Ranks: 2, Acquisitions: 1}, 7)
	if fmt.Sprint(one) != fmt.Sprint(same) {
		t.Error("a seed has two runs")
	}
}
