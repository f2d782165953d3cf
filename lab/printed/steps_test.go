package printed

import (
	"context"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// named is a lock of this package, or of the table.
func named(t *testing.T, name string) lockstest.Subject {
	t.Helper()
	for _, l := range All() {
		if l.Name == name {
			return subject(l)
		}
	}
	spec, ok := locks.ByName(name)
	if !ok {
		t.Fatalf("no lock %q", name)
	}
	return lockstest.Of(spec)
}

// The words of a Hemlock on a fabric that has nothing else.
const (
	tail  = 0 // at rank 0
	grant = 8
)

// lineUp is a window that looks at the rank's own grant when the rank lines up.
type lineUp struct {
	rma.Window
	looks func()
}

func (w lineUp) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	if target == 0 && disp == tail {
		w.looks()
	}
	return w.Window.FetchOp(target, disp, op, operand)
}

// TestHemlockWaits shows where the printed Hemlocks wait for their successor. After a release the
// rank's word may still name the lock in HEM and with Overlap; the printed release waits until it does
// not. When the rank lines up again the word may name the lock in HEM alone.
func TestHemlockWaits(t *testing.T) {
	rings.Computes(t)
	for _, c := range []struct {
		name              string
		released, linedUp bool // the word may name the lock then
	}{{"HEM", true, true}, {"HEM-Overlap", true, false}, {"HEM-printed", false, false}} {
		released, linedUp := false, false
		system := sim.System{Topology: topology.Flat(2), Setup: func(f *sim.Fabric) (sim.Program, error) {
			at, err := named(t, c.name).New(f, locks.Options{Operations: true})
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				m := at(lineUp{w, func() { linedUp = linedUp || w.Get(w.Rank(), grant) != 0 }})
				for range 3 {
					if err := m.Acquire(ctx); err != nil {
						return err
					}
					m.Release()
					released = released || w.Get(w.Rank(), grant) != 0
				}
				return nil
			}}, err
		}}
		if err := system.Seeds(0, 500).Err(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if released != c.released || linedUp != c.linedUp {
			t.Errorf("%s: the word names the lock after a release: %t, when the rank lines up: %t; want %t, %t",
				c.name, released, linedUp, c.released, c.linedUp)
		}
	}
}

// A step is how long it takes, in virtual time, until a rank that finds a predecessor has made itself
// known and waits, and how long from the release until it has the lock.
type step struct{ known, handed time.Duration }

// stepOf plays one hand-over of two ranks.
func stepOf(t *testing.T, name string) (s step) {
	t.Helper()
	machine, err := sim.MachineByName("coolmuc-2")
	if err != nil {
		t.Fatal(err)
	}
	var begun, released time.Duration
	p := sim.System{Topology: topology.Flat(2), Setup: func(f *sim.Fabric) (sim.Program, error) {
		at, err := named(t, name).New(f, locks.Options{Operations: true})
		if err != nil {
			return sim.Program{}, err
		}
		holds, err := f.Alloc(2) // at rank 1 that rank 0 holds the lock, at rank 0 that rank 1 waits
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			now, me := w.(*sim.Window).Now, w.Rank()
			tell := func() {
				w.Put(1-me, holds, 1)
				w.Flush(1 - me)
			}
			told := func() {
				_, _ = w.Await(ctx, me, holds, rma.Is(1))
			}
			if me == 0 {
				m := at(w)
				if err := m.Acquire(ctx); err != nil {
					return err
				}
				tell()
				told()
				released = now()
				m.Release()
				return nil
			}
			m := at(lockstest.Watch(w, func() {
				s.known = now() - begun
				tell()
			}))
			told()
			begun = now()
			err := m.Acquire(ctx)
			s.handed = now() - released
			return err
		}}, err
	}}.Predict(machine, 1)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	return s
}

// TestStepsGain compares two steps of a ladder. D-MCS makes itself known and hands over by a Put, which
// takes less than an Accumulate. A message of dash::Mutex is an Accumulate, and only the FetchOp by which
// a rank makes itself known became a Put.
func TestStepsGain(t *testing.T) {
	acc, put := stepOf(t, "D-MCS-Acc"), stepOf(t, "D-MCS")
	if put.known >= acc.known || put.handed >= acc.handed {
		t.Errorf("D-MCS takes %v, D-MCS-Acc %v; want less for both", put, acc)
	}
	fao, dash := stepOf(t, "dash::Mutex-FAO"), stepOf(t, "dash::Mutex")
	if dash.known >= fao.known || dash.handed != fao.handed {
		t.Errorf("dash::Mutex takes %v, dash::Mutex-FAO %v; want less until the rank is known, and as much to hand over", dash, fao)
	}
	t.Logf("D-MCS %v, D-MCS-Acc %v, dash::Mutex %v, dash::Mutex-FAO %v", put, acc, dash, fao)
}

// TestTreeHasItsShare lets six neighbours have RMA-MCS-Acc as often as they can, 300 times together, and a rank of another
// element once. It waits until the neighbours have had the lock 50 times in a row, at most.
func TestTreeHasItsShare(t *testing.T) {
	rings.Computes(t)
	on, err := sim.MachineByName("coolmuc-2")
	if err != nil {
		t.Fatal(err)
	}
	had, before, after := 0, 0, 0
	p := sim.System{Topology: machine(t, "node:2 core:6"), Setup: func(f *sim.Fabric) (sim.Program, error) {
		had = 0
		at, err := named(t, "RMA-MCS-Acc").New(f, locks.Options{})
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			m, turns := at(w), 50
			switch w.Rank() {
			case 6:
				w.(*sim.Window).Compute(40 * time.Microsecond)
				w.Get(w.Rank(), 0) // after that time
				before, turns = had, 1
			case 7, 8, 9, 10, 11:
				return nil
			}
			for range turns {
				if err := m.Acquire(ctx); err != nil {
					return err
				}
				if w.Rank() == 6 {
					after = had // of the neighbours
				}
				had++
				m.Release()
			}
			return nil
		}}, err
	}}.Predict(on, 1)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	if n := after - before; n > locks.DefaultTL || before < 1 || before > 100 {
		t.Errorf("the stranger came after %d acquisitions, and had the lock %d later", before, n)
	}
}
