package park

import "context"

// ParkUntil is Park for somebody who has a context. If that ends first, interrupt
// is called, at most once and by another goroutine: it may arrange for an Unpark,
// or find that one is under way already.
func (p *Place) ParkUntil(ctx context.Context, interrupt func()) {
	if ctx.Done() == nil {
		p.Park()
		return
	}
	stop := context.AfterFunc(ctx, interrupt)
	p.Park()
	stop()
}
