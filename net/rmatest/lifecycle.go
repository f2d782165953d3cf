package rmatest

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Life is one test of what happens to a fabric's users when the fabric or a context
// ends. It needs fabrics with all ranks in this process. It starts goroutines.
type Life struct {
	Name string
	// Run makes fabrics by open. Each has LifeRanks ranks and ends with the
	// context fabric. Run returns the first mistake, or nil. When ctx ends, it
	// gives up.
	Run func(ctx context.Context, open func(fabric context.Context) rma.Fabric) error
}

// LifeRanks and LifeWords describe the fabric that a Life needs.
const (
	LifeRanks = 3
	LifeWords = 64
)

// Lifecycle runs Lives on a backend with all ranks as goroutines of this process. The
// backend must respect Options.Context.
func Lifecycle(t *testing.T, newFabric func(t testing.TB, o Options) rma.Fabric) {
	for _, life := range Lives() {
		t.Run(life.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			defer cancel()
			err := life.Run(ctx, func(fabric context.Context) rma.Fabric {
				f := newFabric(t, Options{Topology: topology.Flat(LifeRanks), Words: LifeWords, Context: fabric})
				t.Cleanup(func() { f.Close() })
				return f
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Lives is the whole suite of Lifecycle.
func Lives() []Life {
	return []Life{
		{"life/after-close", afterClose},
		{"life/close-wakes", closeWakes},
		{"life/context-ends-fabric", contextEndsFabric},
		{"life/cancel-wakes", cancelWakes},
		{"life/cancel-or-change", cancelOrChange},
		{"life/close-under-way", closeUnderWay},
	}
}

// life is a fabric with its windows, as a player that is rank 0.
type life struct {
	*Player
	fabric  rma.Fabric
	windows [LifeRanks]rma.Window
	at      rma.Disp
}

// begin allocates a few words of a new fabric. When ctx ends, the fabric closes, so
// that no rank waits for ever.
func begin(ctx context.Context, f rma.Fabric) (*life, error) {
	context.AfterFunc(ctx, func() { f.Close() })
	l := &life{fabric: f}
	var err error
	if l.at, err = f.Alloc(8); err != nil {
		return nil, err
	}
	for p := range l.windows {
		if l.windows[p], err = f.Window(rma.Rank(p)); err != nil {
			return nil, err
		}
	}
	l.Player = &Player{Window: l.windows[0], Context: ctx, Ranks: LifeRanks}
	return l, nil
}

// waiters starts a goroutine for every rank that waits for a word at target. No rank
// changes this word. The returned function waits for the end of all waits and
// returns their errors. When waiters returns, a rank may already sleep or not. In
// both cases the end of the fabric must reach it.
func (l *life) waiters(ctx context.Context, target rma.Rank) (ended func() []error) {
	begun, done := make(chan struct{}), make(chan error)
	for _, w := range l.windows {
		go func() {
			begun <- struct{}{}
			_, err := w.Await(ctx, target, l.at, rma.IsNot(0))
			done <- err
		}()
	}
	for range l.windows {
		<-begun
	}
	return func() (errs []error) {
		for range l.windows {
			select {
			case err := <-done:
				errs = append(errs, err)
			case <-l.Context.Done():
				return append(errs, errors.New("a rank still waits"))
			}
		}
		return errs
	}
}
