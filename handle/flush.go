package handle

import (
	"context"

	"github.com/orwl/go-orwl/resource"
)

// Flush returns nil when the home has committed every write that the handle has released.
// It concerns the resource that the handle requested last. A Release that returned nil
// says less: the access is over, and on another node than the home the bytes are on
// their way.
//
// A write that may be lost is a [*resource.LostWriteError]. If ctx ends first, Flush
// returns why, and may be called again. See [resource.Place.Flush].
func (h *Handle) Flush(ctx context.Context) error { return h.place.Flush(ctx) }

// Flush is [Handle.Flush] of all. It asks all homes, then waits for all.
func (v Vector) Flush(ctx context.Context) error {
	places := make([]*resource.Place, len(v))
	for i, g := range v {
		places[i] = &g.held().place
	}
	return resource.Flush(ctx, places...)
}
