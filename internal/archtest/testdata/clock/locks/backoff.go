package locks

import (
	"context"
	"runtime"
	wall "time"
)

var now = wall.Now // passed on is as good as called

func backoff(ctx context.Context, d wall.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for ctx.Err() == nil {
		runtime.Gosched()
		wall.Sleep(d)
		unknown(func() { <-wall.After(d) })
	}
}
