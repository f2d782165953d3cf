package worlds

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/orwl"
)

// Before there were lives, a hostile week found five faults of runs that had to go on. Each has a test: four here, and the wrong exit codes in TestSurvive of orwl.

// faulty is a world of one command with some faults, whose program takes a second or more.
func faulty(t *testing.T, seed uint64, count int, faults ...*fault) (w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld(seed, "")
		w.runs, w.commands, w.disks = ring{[]int{100, 100, 100, 100, 100}}, 0, nil
		w.plays(newCommand(count, true, faults...))
	})
	w.report(t)
	return w
}

// TestApartEnds has a node cut off from the others until their run has ended, or for less. It ends, too: with the result if it has come again by then. Else its error
// says that the others have ended without it, or that it could not join them.
func TestApartEnds(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(8) {
		for _, length := range []time.Duration{700 * time.Millisecond, 2 * time.Second, 20 * time.Second} {
			w := faulty(t, seed, 3+int(seed%2), &fault{kind: "alone", seat: int(seed % 3), after: 200 * time.Millisecond, length: length})
			for _, p := range w.processes {
				says := "ended the run without this node"
				if length > 10*time.Second {
					says = "could not join" // it has given up before
				}
				if p.seat == int(seed%3) && !p.done && !strings.Contains(fmt.Sprint(p.err), says) {
					t.Errorf("seed %d: after %v apart, node %d has no result, and says: %v", seed, length, p.seat, p.err)
				}
			}
		}
	}
}

// TestApartIsSaid has a node cut off in a run of one life. Its error says that it is apart, and the errors of the others name it.
func TestApartIsSaid(t *testing.T) {
	rings.Computes(t)
	const victim = 2
	var w *world
	synctest.Test(t, func(*testing.T) {
		w = newWorld(1, "")
		w.runs, w.commands, w.disks, w.oneLife = ring{[]int{400, 400, 400, 400, 400}}, 0, nil, true
		w.plays(newCommand(3, false, &fault{kind: "alone", seat: victim, after: 200 * time.Millisecond, length: 10 * time.Second}))
	})
	for _, p := range w.processes {
		lost := (*orwl.NodeError)(nil)
		if apart := errors.Is(p.err, p2p.ErrApart); apart != (p.seat == victim) || !apart && (!errors.As(p.err, &lost) || lost.Node != victim || !lost.Lost) {
			t.Errorf("node %d ends with %v", p.seat, p.err)
		}
	}
}

// TestShortStops stops nodes for about a lease, once or twice: from 0.83 to 1.13 of it. All have the result, but a node that has come too late.
func TestShortStops(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(12) {
		length := func(i uint64) time.Duration { return worldLease*5/6 + time.Duration((seed*7+i*5)%12)*worldLease/40 }
		var faults []*fault
		for i := range 1 + seed%2 {
			faults = append(faults, &fault{kind: "stop", seat: int(seed+i) % 3, after: time.Duration(100+50*i) * time.Millisecond, length: length(i)})
		}
		faulty(t, seed, 3, faults...)
	}
}

// TestManyEpochs has five nodes, and one after another is cut off from some or all of the others. The run ends.
func TestManyEpochs(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(4) {
		var faults []*fault
		for i := range 8 {
			f := &fault{kind: "alone", seat: (int(seed) + 2*i) % 5, after: time.Second, length: 900 * time.Millisecond}
			if i%3 == 2 {
				f.kind, f.peer = "cut", (f.seat+1)%5
			}
			faults = append(faults, f)
		}
		var w *world
		synctest.Test(t, func(*testing.T) {
			w = newWorld(seed, "")
			w.runs, w.commands, w.disks = ring{[]int{800, 800, 800, 800, 800}}, 0, nil
			w.plays(newCommand(5, false, faults...))
		})
		w.report(t)
		if done := w.results(); done == 0 {
			t.Errorf("seed %d: no node has the result", seed)
		}
	}
}

// TestSeniorDies kills node 0, which was the home of all. The others have the result.
func TestSeniorDies(t *testing.T) {
	rings.Computes(t)
	for count := 2; count <= 5; count++ {
		w := faulty(t, uint64(count), count, &fault{kind: "kill", seat: 0, after: 300 * time.Millisecond})
		if done := w.results(); done != count-1 {
			t.Errorf("%d of %d nodes that are left have the result", done, count-1)
		}
	}
}

// results is how many processes have the result.
func (w *world) results() (n int) {
	for _, p := range w.processes {
		if p.done && p.err == nil {
			n++
		}
	}
	return n
}
