package rmatest

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/net/rma"
)

// BrokenLives is every specimen for Lives. Each Life rejects at least one of them.
// RejectedBy names Lives instead of cases.
func BrokenLives() []Specimen {
	return []Specimen{
		{
			Name:       "close-does-nothing",
			Defect:     "Close does nothing",
			Break:      closing(func(rma.Fabric) error { return nil }),
			RejectedBy: []string{"life/after-close"},
		},
		{
			Name:   "close-once",
			Defect: "a second Close returns an error",
			Break: func(f rma.Fabric) rma.Fabric {
				closed := false
				return closing(func(f rma.Fabric) error {
					if closed {
						return rma.ErrClosed
					}
					closed = true
					return f.Close()
				})(f)
			},
			RejectedBy: []string{"life/after-close"},
		},
		{
			Name:       "failure-forgotten",
			Defect:     "Err returns the failure only once",
			Break:      window(func(w rma.Window) rma.Window { return &failureForgotten{Window: w} }),
			RejectedBy: []string{"life/after-close"},
		},
		{
			Name:   "failure-unnamed",
			Defect: "Await returns ErrClosed for every failure",
			Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
				value, err := w.Await(ctx, q, d, u)
				if w.Err() != nil {
					err = rma.ErrClosed
				}
				return value, err
			}),
			RejectedBy: []string{"life/context-ends-fabric"},
		},
		{
			Name:   "await-hides-failure",
			Defect: "Await returns no error when the window fails",
			Break: awaiting(func(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
				value, err := w.Await(ctx, q, d, u)
				if w.Err() != nil {
					err = nil
				}
				return value, err
			}),
			RejectedBy: []string{"life/after-close", "life/close-wakes", "life/context-ends-fabric"},
		},
		{
			Name:       "await-deaf",
			Defect:     "Await does not notice the end of its context",
			Break:      awaiting(deaf),
			RejectedBy: []string{"life/cancel-wakes", "life/cancel-or-change"},
		},
		{
			Name:       "await-cancelled-for-good",
			Defect:     "a cancelled Await makes the window fail",
			Break:      window(func(w rma.Window) rma.Window { return &awaitContextSticks{Window: w} }),
			RejectedBy: []string{"life/cancel-wakes"},
		},
		{
			Name:       "await-wakes-again",
			Defect:     "an Await after a cancelled one returns at once",
			Break:      window(func(w rma.Window) rma.Window { return &awaitWakesAgain{Window: w} }),
			RejectedBy: []string{"life/cancel-or-change"},
		},
		{
			Name:       "panic-after-failure",
			Defect:     "an operation of a failed window panics",
			Break:      window(func(w rma.Window) rma.Window { return &panicAfterFailure{Window: w} }),
			RejectedBy: []string{"life/close-under-way"},
		},
	}
}

// closing is the Break of a fabric with close as its Close.
func closing(close func(f rma.Fabric) error) func(f rma.Fabric) rma.Fabric {
	return func(f rma.Fabric) rma.Fabric { return &closeBroken{f, close} }
}

type closeBroken struct {
	rma.Fabric
	close func(f rma.Fabric) error
}

func (f *closeBroken) Close() error { return f.close(f.Fabric) }

type failureForgotten struct {
	rma.Window
	told bool
}

func (w *failureForgotten) Err() error {
	err := w.Window.Err()
	if w.told {
		return nil
	}
	w.told = err != nil
	return err
}

func deaf(ctx context.Context, w rma.Window, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	return w.Await(context.WithoutCancel(ctx), q, d, u)
}

type awaitWakesAgain struct {
	rma.Window
	late bool
}

func (w *awaitWakesAgain) Await(ctx context.Context, q rma.Rank, d rma.Disp, u rma.Until) (uint64, error) {
	if w.late {
		w.late = false
		return w.Get(q, d), nil
	}
	value, err := w.Window.Await(ctx, q, d, u)
	w.late = errors.Is(err, context.Canceled)
	return value, err
}

type panicAfterFailure struct{ rma.Window }

func (w *panicAfterFailure) FlushAll() {
	if err := w.Err(); err != nil {
		panic(err)
	}
}
