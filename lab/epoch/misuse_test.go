package epoch_test

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
)

// step is a call of a method that does not wait.
type step struct {
	name string
	do   func(a *actor) error
}

var (
	fence     = step{"Fence", func(a *actor) error { return a.Fence(background) }}
	post      = step{"Post", func(a *actor) error { return a.Post(background, []rma.Rank{1}) }}
	wait      = step{"Wait", func(a *actor) error { return a.Wait(background) }}
	start     = step{"Start", func(a *actor) error { return a.Start(background, []rma.Rank{0}) }}
	complete  = step{"Complete", func(a *actor) error { return a.Complete() }}
	lock      = step{"Lock", func(a *actor) error { return a.Lock(background, 1, epoch.Exclusive) }}
	share     = step{"Lock", func(a *actor) error { return a.Lock(background, 1, epoch.Shared) }}
	unlock    = step{"Unlock", func(a *actor) error { return a.Unlock(1) }}
	unlock2   = step{"Unlock", func(a *actor) error { return a.Unlock(2) }}
	lockAll   = step{"LockAll", func(a *actor) error { return a.LockAll(background) }}
	unlockAll = step{"UnlockAll", func(a *actor) error { return a.UnlockAll() }}

	postSelf = step{"Post", func(a *actor) error { return a.Post(background, []rma.Rank{0}) }}
)

// TestMisuse makes calls out of order. Each must return a typed error and change
// nothing.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		before []step
		wrong  step
		want   error
	}{
		{nil, complete, epoch.ErrNotOpen},
		{nil, wait, epoch.ErrNotOpen},
		{nil, unlock, epoch.ErrNotOpen},
		{nil, unlockAll, epoch.ErrNotOpen},
		{[]step{post}, post, epoch.ErrOpen},
		{[]step{post}, fence, epoch.ErrOpen},
		{[]step{post}, complete, epoch.ErrNotOpen},
		{[]step{postSelf, start}, start, epoch.ErrOpen},
		{[]step{postSelf, start}, fence, epoch.ErrOpen},
		{[]step{postSelf, start}, lock, epoch.ErrOpen},
		{[]step{postSelf, start}, lockAll, epoch.ErrOpen},
		{[]step{postSelf, start, complete}, complete, epoch.ErrNotOpen},
		{[]step{postSelf, start, complete, wait}, wait, epoch.ErrNotOpen},
		{[]step{lock}, lock, epoch.ErrOpen},
		{[]step{lock}, share, epoch.ErrOpen},
		{[]step{share}, lock, epoch.ErrOpen},
		{[]step{lock}, lockAll, epoch.ErrOpen},
		{[]step{lock}, start, epoch.ErrOpen},
		{[]step{lock}, fence, epoch.ErrOpen},
		{[]step{lock}, unlock2, epoch.ErrNotOpen},
		{[]step{lock}, unlockAll, epoch.ErrNotOpen},
		{[]step{lock, unlock}, unlock, epoch.ErrNotOpen},
		{[]step{lockAll}, lockAll, epoch.ErrOpen},
		{[]step{lockAll}, lock, epoch.ErrOpen},
		{[]step{lockAll}, start, epoch.ErrOpen},
		{[]step{lockAll}, fence, epoch.ErrOpen},
		{[]step{lockAll}, unlock, epoch.ErrNotOpen},
		{[]step{lockAll, unlockAll}, unlockAll, epoch.ErrNotOpen},
	} {
		w := newWorld(t, 3, epoch.Options{})
		a, what := w.ranks[0], ""
		for _, s := range c.before {
			must(t, s.do(a))
			what += s.name + ", "
		}
		before := w.memory()
		fails(t, what+c.wrong.name, c.wrong.do(a), c.want)
		w.unchanged(what+c.wrong.name, before)
	}
}

// unchanged checks that memory is as before.
func (w *world) unchanged(what string, before []uint64) {
	w.t.Helper()
	for i, word := range w.memory() {
		if word != before[i] {
			w.t.Errorf("%s changed word %d of rank %d from %#x to %#x", what, i%w.words, i/w.words, before[i], word)
		}
	}
}

func TestGroups(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	a := w.ranks[0]
	before := w.memory()
	fails(t, "Post to a rank twice", a.Post(background, []rma.Rank{1, 2, 1}), epoch.ErrGroup)
	fails(t, "Start with a rank twice", a.Start(background, []rma.Rank{2, 2}), epoch.ErrGroup)
	for _, p := range []rma.Rank{-1, 3} {
		for _, err := range []error{
			a.Post(background, []rma.Rank{1, p}),
			a.Start(background, []rma.Rank{p}),
			a.Lock(background, p, epoch.Shared),
			a.Lock(background, p, epoch.Exclusive),
		} {
			var typed *rma.RankError
			if !errors.As(err, &typed) || typed.Rank != p || typed.Ranks != 3 {
				t.Errorf("the error for rank %d of 3 is %v", p, err)
			}
		}
	}
	w.unchanged("a refused group", before)
	must(t, a.LockAll(background), a.UnlockAll())
}

func TestOptions(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	if _, err := epoch.New(w.fabric, epoch.Options{Neighbours: -1}); err == nil {
		t.Error("Options with -1 neighbours have no error")
	}
	// Posts, locks and signals find no room, one after another.
	free := func() int {
		_, err := w.fabric.Alloc(1 << 40)
		var typed *rma.AllocError
		if !errors.As(err, &typed) {
			t.Fatal(err)
		}
		return typed.Free
	}
	for _, neighbours := range []func() int{
		func() int { return 1 << 20 },
		func() int { return free() - 2 - 2 - 1 },
		func() int { return 1 },
	} {
		if _, err := epoch.New(w.fabric, epoch.Options{Neighbours: neighbours()}); !errors.Is(err, rma.ErrNoSpace) {
			t.Errorf("a Set without room: the error is %v", err)
		}
	}
	if _, err := epoch.NewExposure(w.fabric); !errors.Is(err, rma.ErrNoSpace) {
		t.Errorf("an Exposure without room: the error is %v", err)
	}
}

func TestAt(t *testing.T) {
	w := newWorld(t, 2, epoch.Options{})
	epochs, err := epoch.New(w.fabric, epoch.Options{})
	must(t, err)
	a, b := epochs.At(w.ranks[0].Tally), epochs.At(w.ranks[1].Tally)
	if a == b || a != epochs.At(w.ranks[0].Tally) {
		t.Error("At does not give each rank its own epoch, the same each time")
	}
	if a.Window() != rma.Window(w.ranks[0].Tally) {
		t.Error("Window is not the window that At was given")
	}
}

func TestErrorText(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	err := w.ranks[2].Unlock(1)
	const want = "epoch: Unlock of rank 2: no such epoch is open: rank 1 is not locked: call Lock first"
	if err == nil || err.Error() != want {
		t.Errorf("the error says %q, want %q", err, want)
	}
}
