package rmatest

import (
	"context"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// Defects of Await.
var brokenAwaits = []Specimen{
	{
		Name:   "await-returns-at-once",
		Defect: "Await returns at once, with any value",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			return w.Get(q, d), nil
		}),
		RejectedBy: []string{
			"await/context-done", "await/own-becomes-true", "await/other-becomes-true", "await/dynamic",
			"handover/turns-at-one-word", "handover/all-at-once", "handover/ring", "handover/ping-pong",
			"fence/no-rank-early", "lock/exclusive",
		},
	},
	{
		Name:   "await-any-change",
		Defect: "Await returns after the first change, with any value",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			if value := w.Get(q, d); !u.Holds(value) {
				return w.Await(ctx, q, d, rma.IsNot(value))
			}
			return w.Await(ctx, q, d, u)
		}),
		RejectedBy: []string{"handover/turns-at-one-word", "handover/one-waits-for-all", "lock/shared-or-exclusive"},
	},
	{
		Name:   "await-wants-change",
		Defect: "Await waits for a change even if the condition already holds",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			if value := w.Get(q, d); u.Holds(value) {
				if value, err := w.Await(ctx, q, d, rma.IsNot(value)); err != nil {
					return value, err
				}
			}
			return w.Await(ctx, q, d, u)
		}),
		RejectedBy: []string{"await/already-true"},
	},
	{
		Name:   "await-returns-zero",
		Defect: "Await does not return the word",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			_, err := w.Await(ctx, q, d, u)
			return 0, err
		}),
		RejectedBy: []string{"await/already-true", "await/own-becomes-true"},
	},
	{
		Name:   "await-returns-masked",
		Defect: "Await returns only the bits of the mask",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			value, err := w.Await(ctx, q, d, u)
			return value & u.Mask, err
		}),
		RejectedBy: []string{"await/already-true", "await/own-becomes-true"},
	},
	{
		Name:   "await-ignores-mask",
		Defect: "Await compares the whole word",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			return w.Await(ctx, q, d, u.Masked(minusOne))
		}),
		RejectedBy: []string{"await/already-true", "await/own-becomes-true", "lock/all-or-exclusive"},
	},
	{
		Name:   "await-unsigned",
		Defect: "Await compares as unsigned integers",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			if u.Rel != rma.Less && u.Rel != rma.GreaterOrEqual {
				return w.Await(ctx, q, d, u)
			}
			for value, err := w.Get(q, d), ctx.Err(); ; value, err = w.Await(ctx, q, d, rma.IsNot(value)) {
				if less := value&u.Mask < u.Value; err != nil || less == (u.Rel == rma.Less) {
					return value, err
				}
			}
		}),
		RejectedBy: []string{"await/already-true", "await/context-done"},
	},
	{
		Name:   "await-own-segment",
		Defect: "Await reads the own segment for every target",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			return w.Await(ctx, w.Rank(), d, u)
		}),
		RejectedBy: []string{"await/other-becomes-true", "await/dynamic", "handover/all-at-once"},
	},
	{
		Name:   "await-nearby",
		Defect: "Await also accepts the next word",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			if value := w.Get(q, d+1); u.Holds(value) {
				return value, nil
			}
			return w.Await(ctx, q, d, u)
		}),
		RejectedBy: []string{"await/only-this-word"},
	},
	{
		Name:   "await-ignores-context",
		Defect: "Await goes on when its context is done",
		Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
			return w.Await(context.WithoutCancel(ctx), q, d, u)
		}),
		RejectedBy: []string{"await/context-done"},
	},
	{
		Name:       "await-context-sticks",
		Defect:     "a cancelled Await makes the window fail",
		Break:      window(func(w rma.Window) rma.Window { return &awaitContextSticks{Window: w} }),
		RejectedBy: []string{"await/context-done"},
	},
	{
		Name:   "await-one-per-word",
		Defect: "a change wakes one of several ranks that await a word",
		Break: func(f rma.Fabric) rma.Fabric {
			rooms := &onePerWord{taken: make(map[word]bool)}
			return wrapped(f, func(w rma.Window) rma.Window { return &awaitOnePerWord{w, rooms} })
		},
		RejectedBy: []string{"handover/turns-at-one-word", "handover/all-at-once", "handover/crowd", "lock/shared-together"},
	},
}

// await is a broken Await, built on w.
type await func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error)

// awaiting is the Break of a fabric with a as the Await of its windows.
func awaiting(a await) func(f rma.Fabric) rma.Fabric {
	return window(func(w rma.Window) rma.Window { return &awaitBroken{w, a} })
}

type awaitBroken struct {
	rma.Window
	await await
}

func (w *awaitBroken) Await(ctx context.Context, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	return w.await(ctx, w.Window, q, d, u)
}

type awaitContextSticks struct {
	rma.Window
	err error
}

func (w *awaitContextSticks) Await(ctx context.Context, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	value, err := w.Window.Await(ctx, q, d, u)
	if err != nil {
		w.err = err
	}
	return value, err
}

func (w *awaitContextSticks) Err() error {
	if w.err != nil {
		return w.err
	}
	return w.Window.Err()
}

// onePerWord has room for one waiting rank at each word of the fabric.
type onePerWord struct {
	mu    sync.Mutex
	taken map[word]bool
}

// claim takes the room of a word and reports whether it was free.
func (r *onePerWord) claim(at word) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken[at] {
		return false
	}
	r.taken[at] = true
	return true
}

func (r *onePerWord) leave(at word) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, at)
}

type awaitOnePerWord struct {
	rma.Window
	rooms *onePerWord
}

func (w *awaitOnePerWord) Await(ctx context.Context, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	if value := w.Get(q, d); u.Holds(value) {
		return value, nil
	}
	if w.rooms.claim(word{q, d}) {
		defer w.rooms.leave(word{q, d})
		return w.Window.Await(ctx, q, d, u)
	}
	return w.Window.Await(ctx, q, d, never)
}

// never holds for no word.
var never = rma.Until{Mask: 0, Value: 1, Rel: rma.Equal}
