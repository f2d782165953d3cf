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
		RejectedBy: []string{"handover/turns-at-one-word", "handover/one-waits-for-all"},
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
		RejectedBy: []string{"await/already-true", "await/own-becomes-true"},
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
		RejectedBy: []string{"handover/turns-at-one-word", "handover/all-at-once", "handover/crowd"},
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

// Defects of FetchOp, CAS and Accumulate.
var brokenAtomics = []Specimen{
	{
		Name:   "fetch-not-atomic",
		Defect: "FetchOp is a Get and a Put",
		Break:  window(func(w rma.Window) rma.Window { return &fetchNotAtomic{w} }),
		RejectedBy: []string{
			"atomic/fetch-sum-once", "atomic/fetch-replace-once", "atomic/mixed",
		},
	},
	{
		Name:   "fetch-returns-new",
		Defect: "FetchOp returns the new value",
		Break:  window(func(w rma.Window) rma.Window { return &fetchReturnsNew{w} }),
		RejectedBy: []string{
			"atomic/fetch-sum-once", "atomic/fetch-replace-once", "atomic/fetch-results",
			"handover/turns-at-one-word", "order/flag-by-fetch",
		},
	},
	{
		Name:       "fetch-no-op-stores",
		Defect:     "FetchOp with NoOp stores its operand",
		Break:      window(func(w rma.Window) rma.Window { return &fetchNoOpStores{w} }),
		RejectedBy: []string{"atomic/fetch-results"},
	},
	{
		Name:       "fetch-32-bits",
		Defect:     "FetchOp adds only the lower halves",
		Break:      window(func(w rma.Window) rma.Window { return &fetch32Bits{w} }),
		RejectedBy: []string{"atomic/fetch-results", "atomic/mixed"},
	},
	{
		Name:   "cas-not-atomic",
		Defect: "CAS is a Get and a Put",
		Break:  window(func(w rma.Window) rma.Window { return &casNotAtomic{w} }),
		RejectedBy: []string{
			"atomic/cas-elects-one", "atomic/cas-loop-once", "atomic/mixed",
		},
	},
	{
		Name:       "cas-always-swaps",
		Defect:     "CAS always stores",
		Break:      window(func(w rma.Window) rma.Window { return &casAlwaysSwaps{w} }),
		RejectedBy: []string{"atomic/cas-results", "atomic/cas-elects-one"},
	},
	{
		Name:       "cas-returns-new",
		Defect:     "CAS returns the new value",
		Break:      window(func(w rma.Window) rma.Window { return &casReturnsNew{w} }),
		RejectedBy: []string{"atomic/cas-results", "atomic/cas-elects-one", "order/flag-by-cas"},
	},
	{
		Name:   "accumulate-not-atomic",
		Defect: "Accumulate is a Get and a Put",
		Break:  window(func(w rma.Window) rma.Window { return &accumulateNotAtomic{w} }),
		RejectedBy: []string{
			"atomic/mixed", "accumulate/sum-of-all", "accumulate/late-sum", "handover/one-waits-for-all",
		},
	},
	{
		Name:   "accumulate-replaces",
		Defect: "Accumulate stores its operand for every operation",
		Break:  window(func(w rma.Window) rma.Window { return &accumulateReplaces{w} }),
		RejectedBy: []string{
			"accumulate/results", "accumulate/sum-of-all", "order/flag-by-accumulate",
		},
	},
}

// put is a Put with a Flush, so that every rank sees it.
func put(w rma.Window, target rma.Rank, disp rma.Disp, value uint64) {
	w.Put(target, disp, value)
	w.Flush(target)
}

// applied is the result of op on a word.
func applied(op rma.Op, old, operand uint64) uint64 {
	switch op {
	case rma.Sum:
		return old + operand
	case rma.Replace:
		return operand
	}
	return old
}

type fetchNotAtomic struct{ rma.Window }

func (w *fetchNotAtomic) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	old := w.Get(target, disp)
	put(w, target, disp, applied(op, old, operand))
	return old
}

type fetchReturnsNew struct{ rma.Window }

func (w *fetchReturnsNew) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	return applied(op, w.Window.FetchOp(target, disp, op, operand), operand)
}

type fetchNoOpStores struct{ rma.Window }

func (w *fetchNoOpStores) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	if op == rma.NoOp {
		op = rma.Replace
	}
	return w.Window.FetchOp(target, disp, op, operand)
}

type fetch32Bits struct{ rma.Window }

func (w *fetch32Bits) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	if op != rma.Sum {
		return w.Window.FetchOp(target, disp, op, operand)
	}
	for old := w.Get(target, disp); ; {
		was := w.CAS(target, disp, old, old&^0xffffffff|uint64(uint32(old)+uint32(operand)))
		if was == old || w.Err() != nil {
			return was
		}
		old = was
	}
}

type casNotAtomic struct{ rma.Window }

func (w *casNotAtomic) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	was := w.Get(target, disp)
	if was == old {
		put(w, target, disp, new)
	}
	return was
}

type casAlwaysSwaps struct{ rma.Window }

func (w *casAlwaysSwaps) CAS(target rma.Rank, disp rma.Disp, _, new uint64) uint64 {
	return w.FetchOp(target, disp, rma.Replace, new)
}

type casReturnsNew struct{ rma.Window }

func (w *casReturnsNew) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	was := w.Window.CAS(target, disp, old, new)
	if was == old {
		return new
	}
	return was
}

type accumulateNotAtomic struct{ rma.Window }

func (w *accumulateNotAtomic) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	put(w, target, disp, applied(op, w.Get(target, disp), operand))
}

type accumulateReplaces struct{ rma.Window }

func (w *accumulateReplaces) Accumulate(target rma.Rank, disp rma.Disp, _ rma.Op, operand uint64) {
	w.Window.Accumulate(target, disp, rma.Replace, operand)
}
