package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// TestCancelAnywhere ends the context of either of two ranks at every point of everything
// that they can do, also where a window fails at the same time.
func TestCancelAnywhere(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Aborts == locks.Never {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"core:2", "node:2 core:1"} {
				for _, vary := range protocols(spec) {
					for _, way := range waysOf(spec) {
						for _, faults := range []sim.Faults{{Cancels: 2}, {Cancels: 1, Crashes: 1}} {
							g := game{spec: spec, tree: machine(t, text), acquisitions: 1, crashes: faults.Crashes, way: way}
							g.cancelAnywhere(t, faults, vary)
						}
					}
				}
			}
		})
	}
}

func (g game) cancelAnywhere(t *testing.T, faults sim.Faults, vary func(*locks.Options)) {
	t.Helper()
	for _, cast := range g.casts() {
		system := g.searched(cast, faults, vary)
		system.Command = fmt.Sprintf("go test ./locks -run '^TestCancelAnywhere$/^%s$' -locks.quitstates %d", g.spec.Name, quitStates.N())
		r := system.Exhaust(sim.Limit{States: quitStates.N()})
		if r.Failure != nil {
			t.Fatalf("%s, %+v: %v", g, faults, r.Failure)
		}
		if !r.Complete {
			t.Logf("%s, %+v: more than %d states; -locks.quitstates 0 visits all of them", g, faults, quitStates.N())
			return
		}
	}
}

// TestGoneForGood ends the context of a reader or a writer, which does not come again. It is
// the last that could let in, and wake, a reader that it has kept out.
func TestGoneForGood(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		for _, way := range waysOf(spec) {
			for _, vary := range protocols(spec) {
				t.Run(spec.Name+"/"+string(way), func(t *testing.T) {
					t.Parallel()
					o := locks.Options{Operations: way == byOperations}
					vary(&o)
					if spec.Name == "RMA-RW" {
						o.TDC, o.TR = 3, 1
					}
					system := sim.System{
						Topology: machine(t, "core:3"), Shared: way == direct, Faults: sim.Faults{Cancels: 1},
						Command: fmt.Sprintf("go test ./locks -run '^TestGoneForGood$/^%s$' -locks.quitstates %d", spec.Name, quitStates.N()),
						Setup: func(f *sim.Fabric) (sim.Program, error) {
							l, err := spec.New(f, o)
							if err != nil {
								return sim.Program{}, err
							}
							return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
								m, acquire, release := l.At(w).(locks.RWMutex), locks.RWMutex.AcquireRead, locks.RWMutex.ReleaseRead
								if w.Rank() == 1 {
									acquire, release = locks.RWMutex.Acquire, locks.RWMutex.Release
								}
								if err := acquire(m, ctx); errors.Is(err, context.Canceled) {
									return nil
								} else if err != nil {
									return err
								}
								release(m)
								return nil
							}}, nil
						},
					}
					r := system.Exhaust(sim.Limit{States: quitStates.N()})
					if r.Failure != nil {
						t.Fatal(r.Failure)
					}
					if !r.Complete {
						t.Logf("more than %d states; -locks.quitstates 0 visits all of them", quitStates.N())
					}
				})
			}
		}
	}
}

// A writer of RMA-RW has had its turn at the root, finds a reader inside, and gives up for good. It
// has completed what it wrote into its element's node: the next writer of the element waits there.
func TestGoneWriterLeavesNodeWhole(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	system := sim.System{Topology: machine(t, "node:2 core:2"), Setup: func(f *sim.Fabric) (sim.Program, error) {
		l, err := specOf(t, "RMA-RW").New(f, locks.Options{Operations: true, TL: []int{1, 1}, TW: 1})
		if err != nil {
			return sim.Program{}, err
		}
		step, err := f.Alloc(1) // of the story, at rank 3
		leaving, leave := context.WithCancel(context.Background())
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			after := func(n uint64) error {
				_, err := w.Await(ctx, 3, step, rma.Is(n))
				return err
			}
			done := func() { w.FetchOp(3, step, rma.Sum, 1) }
			seen := w
			if w.Rank() != 2 {
				seen = lockstest.Watch(w, done)
			}
			m := l.At(seen).(locks.RWMutex)
			switch w.Rank() {
			case 2: // writes twice; the others come meanwhile
				for _, first := range []uint64{0, 5} {
					if err := errors.Join(after(first), m.Acquire(ctx)); err != nil {
						return err
					}
					done()
					if err := after(first + []uint64{3, 2}[first/5]); err != nil {
						return err
					}
					m.Release()
				}
			case 1: // gives up
				if err := after(1); err != nil {
					return err
				}
				if m.Acquire(leaving) == nil {
					m.Release()
				}
				done()
			case 3: // reads after the first writer
				if err := errors.Join(after(2), m.AcquireRead(ctx)); err != nil {
					return err
				}
				leave()
				if err := after(4); err != nil {
					return err
				}
				m.ReleaseRead()
				done()
			case 0: // the next writer of the element
				if err := errors.Join(after(6), m.Acquire(ctx)); err != nil {
					return err
				}
				m.Release()
			}
			return nil
		}}, err
	}}
	if r := system.Exhaust(sim.Limit{States: 20_000}); r.Failure != nil {
		t.Errorf("%+v, %v", r, r.Err())
	} else {
		t.Logf("%+v", r)
	}
}

// TestCrashSeeds crashes holders, waiters and other ranks. No rank gets the lock after its
// holder has crashed. All other ranks end: with the lock, or with an error that says that
// the lock is broken and which peer is lost.
func TestCrashSeeds(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range smallMachines {
				for crashes := 1; crashes <= 2; crashes++ {
					for _, way := range waysOf(spec) {
						g := game{spec: spec, tree: machine(t, text), acquisitions: 3, crashes: crashes, way: way}
						if r := g.seeds(seeds.All()); r.Failure != nil {
							t.Fatalf("%s: %v", g, r.Failure)
						}
					}
				}
			}
		})
	}
}

// TestCrashAnywhere crashes either of two ranks at every point of every schedule.
func TestCrashAnywhere(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"core:2", "node:2 core:1"} {
				for _, vary := range protocols(spec) {
					for _, way := range waysOf(spec) {
						g := game{spec: spec, tree: machine(t, text), acquisitions: 1, crashes: 1, way: way}
						r := g.exhaust(sim.Faults{Crashes: 1}, vary, sim.Limit{States: crashStates.N()})
						if r.Failure != nil {
							t.Fatalf("%s: %v", g, r.Failure)
						}
						if !r.Complete {
							t.Logf("%s: more than %d states; -locks.crashstates 0 visits all of them", g, crashStates.N())
						}
					}
				}
			}
		})
	}
}
