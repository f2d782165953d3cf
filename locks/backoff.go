package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// backoff is the wait of a rank that has tried in vain, between two tries
// (Options.Backoff): a pause, twice as long each time. Once the pauses have
// grown to Max, whoever holds the lock is not about to let go, or has no
// processor; the rank then waits until there is something to try for, and
// leaves its own processor to others.
type backoff struct{ pause, max int }

func newBackoff(s *seat) backoff { return backoff{s.o.Backoff.Min, s.o.Backoff.Max} }

// wait returns when another try may be worth it: after a pause, or when until
// holds for the word. It fails when ctx is done or the window has failed.
func (b *backoff) wait(ctx context.Context, x *word, until rma.Until) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.pause >= b.max {
		_, err := x.await(ctx, until)
		return err
	}
	x.m.w.Pause(b.pause)
	b.pause = min(max(2*b.pause, 1), b.max)
	return x.m.w.Err()
}
