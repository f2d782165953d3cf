package park

import "context"

// Alarm interrupts somebody who sleeps when a context ends. Who sleeps again and
// again with the same context sets it once. The zero value is off.
type Alarm struct {
	done <-chan struct{}
	stop func() bool
}

// Set has interrupt called when ctx ends, by another goroutine, and not when any
// other does that it was set to before. It may still come late.
func (a *Alarm) Set(ctx context.Context, interrupt func()) {
	if ctx.Done() != a.done {
		a.reset(ctx, interrupt)
	}
}

func (a *Alarm) reset(ctx context.Context, interrupt func()) {
	a.Off()
	if done := ctx.Done(); done != nil {
		a.done, a.stop = done, context.AfterFunc(ctx, interrupt)
	}
}

// Off forgets the context.
func (a *Alarm) Off() {
	if a.stop != nil {
		a.stop()
		*a = Alarm{}
	}
}
