package handle

import (
	"context"
	"errors"
)

// ErrReleased is the cause of a [Handle.Context] that a release has ended.
var ErrReleased = errors.New("handle: released")

// life is the context of a grant.
type life struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// Context returns a context that ends with the grant. After a release its cause is
// ErrReleased. After a loss its cause is the reason of the loss. The first call of a
// grant derives it from parent, and later calls return the same one. Give it to long
// work under the grant: after a loss, another handle may hold the resource.
func (h *Handle) Context(parent context.Context) (context.Context, error) {
	x := h.extra()
	if x.life == nil {
		var l life
		l.ctx, l.end = context.WithCancelCause(parent)
		if err := h.place.OnLoss(l.end); err != nil {
			l.end(err)
			return nil, err
		}
		x.life = &l
	}
	return x.life.ctx, nil
}

func (h *Handle) endLife() {
	if h.more != nil && h.more.life != nil {
		h.more.life.over(h)
	}
}

// over ends the context, unless a loss has.
func (l *life) over(h *Handle) {
	if h.place.OnLoss(nil) == nil {
		l.end(ErrReleased)
		h.more.life = nil
	}
}
