package park

import "context"

// Alarm interrupts a sleeper when a context ends. A sleeper that uses the same
// context many times sets it once. The zero value is off.
type Alarm struct {
	done <-chan struct{}
	stop func() bool
}

// Set arranges that another goroutine calls interrupt when ctx ends. It replaces the
// context of the last Set. An interrupt of that context may still come late.
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
