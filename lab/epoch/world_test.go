package epoch_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

var background = context.Background()

// world is a fabric in this process with a Set. As long as no rank has to wait, a
// test can play all ranks itself, one step after another.
type world struct {
	t      testing.TB
	fabric *mem.Fabric
	ranks  []*actor
	words  int // words of allocated memory at each rank
}

// actor is a rank with its epochs.
type actor struct {
	*epoch.Sync
	*rmatest.Tally
	hook *hook
}

func newWorld(t testing.TB, ranks int, options epoch.Options) *world {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks), Words: 1024})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	epochs, err := epoch.New(f, options)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, fabric: f}
	for p := range ranks {
		window, err := f.Window(rma.Rank(p))
		if err != nil {
			t.Fatal(err)
		}
		h := &hook{Window: window}
		tally := rmatest.NewTally(h)
		w.ranks = append(w.ranks, &actor{Sync: epochs.At(tally), Tally: tally, hook: h})
	}
	end, err := f.Alloc(1)
	if err != nil {
		t.Fatal(err)
	}
	w.words = int(end)
	return w
}

// hook is a window that makes a call at the beginning of the next Await.
type hook struct {
	rma.Window
	call func()
}

func (h *hook) Await(ctx context.Context, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	if call := h.call; call != nil {
		h.call = nil
		call()
	}
	return h.Window.Await(ctx, q, d, u)
}

// whenItWaits makes the rank call something when its next Await begins.
func (a *actor) whenItWaits(call func()) { a.hook.call = call }

// patience is a context that ends when the rank's next Await begins.
func (a *actor) patience() context.Context {
	ctx, cancel := context.WithCancel(background)
	a.whenItWaits(cancel)
	return ctx
}

// memory is a copy of every word of every rank.
func (w *world) memory() (words []uint64) {
	for p := range w.ranks {
		for i := range w.words {
			words = append(words, w.ranks[0].hook.Get(rma.Rank(p), rma.Disp(i)))
		}
	}
	return words
}

// together runs do for every rank at the same time.
func (w *world) together(do func(a *actor) error) {
	w.t.Helper()
	var ranks sync.WaitGroup
	errs := make([]error, len(w.ranks))
	for p, a := range w.ranks {
		ranks.Go(func() { errs[p] = do(a) })
	}
	ranks.Wait()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

// must demands that steps succeed.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fails demands an *epoch.Error that matches want.
func fails(t testing.TB, what string, err, want error) {
	t.Helper()
	var typed *epoch.Error
	if !errors.As(err, &typed) || !errors.Is(err, want) {
		t.Errorf("%s: the error is %v, want an *epoch.Error that matches %q", what, err, want)
	}
}
