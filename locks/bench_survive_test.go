package locks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
)

// outliving makes a lock on a new fabric whose windows survive, and returns the sides of all ranks.
func outliving(tb testing.TB, spec locks.Spec, text string) []locks.Mutex {
	f, err := mem.New(mem.Options{Topology: machine(tb, text), Survive: true})
	must(err)
	tb.Cleanup(func() { f.Close() })
	l, err := spec.New(f, locks.Options{})
	must(err)
	sides := make([]locks.Mutex, f.Topology().Ranks())
	for p := range sides {
		w, err := f.Window(locks.Rank(p))
		must(err)
		sides[p] = l.At(w)
	}
	return sides
}

// survivorsTable compares each recoverable lock R-X, on windows that survive, with X on windows that do
// not: one goroutine alone, and four.
func survivorsTable(r *report) {
	ctx := context.Background()
	turns := func(m locks.Mutex) func(n int) {
		return func(n int) {
			for range n {
				must(m.Acquire(ctx))
				m.Release()
			}
		}
	}
	reads := func(m locks.Mutex) func(n int) {
		rw := m.(locks.RWMutex)
		return func(n int) {
			for range n {
				must(rw.AcquireRead(ctx))
				rw.ReleaseRead()
			}
		}
	}
	for _, spec := range recoverable() {
		if !selected(spec.Name) {
			continue
		}
		const on = "node:2 core:2"
		x := strings.TrimPrefix(spec.Name, "R-")
		ours, peer := outliving(r.B, spec, on), fresh(r.B, x, on, locks.Options{})
		r.hot(spec.Name, 1.2, x, turns(peer[0]), turns(ours[0]))
		if spec.Kind == locks.ReaderWriter {
			r.hot(spec.Name+" reader", 1.2, x+" reader", reads(peer[0]), reads(ours[0]))
		}
		crowd := func(sides []locks.Mutex) func() figure {
			do := make([]func(), len(sides))
			for i, m := range sides {
				do[i] = func() { turns(m)(1) }
			}
			return func() figure { return contend(do, *ratioTurn) }
		}
		both := inTurns(*ratioTurns, crowd(peer), crowd(ours))
		r.row(fmt.Sprintf("%s, %d goroutines", spec.Name, len(ours)), million(both[1].figure), million(both[0].figure), times(both[1].ratio), "", true)
	}
}
