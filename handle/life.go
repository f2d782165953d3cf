package handle

import (
	"context"
	"errors"
)

// ErrReleased is the cause of a context that ended because its handle released.
var ErrReleased = errors.New("handle: released")

// life is the context of a grant.
type life struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// Context ends when the handle's grant does: when it is released, with the cause
// ErrReleased, or lost, with the reason. It is derived from parent the first time
// it is asked for. What is done on behalf of the grant, and takes long, should
// heed it: after a loss, somebody else may have the resource.
func (h *Handle) Context(parent context.Context) (context.Context, error) {
	if h.life == nil {
		var l life
		l.ctx, l.end = context.WithCancelCause(parent)
		if err := h.place.OnLoss(l.end); err != nil {
			l.end(err)
			return nil, err
		}
		h.life = &l
	}
	return h.life.ctx, nil
}

func (h *Handle) endLife() {
	if l := h.life; l != nil && h.place.OnLoss(nil) == nil {
		l.end(ErrReleased)
		h.life = nil
	}
}
