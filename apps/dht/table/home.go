package table

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// newHome makes the resource of a volume that this node keeps.
func newHome(ctx context.Context, number, size int, o *Options, memory func(int) (resource.Store, error), format func(b []byte)) (*resource.Resource, error) {
	r, err := resource.NewWith(fmt.Sprintf("volume %d", number), size, resource.Options{
		Memory: memory,
		Guard:  orwl.NewGuard(o.Guard),
	})
	if err != nil {
		return nil, err
	}
	if o.Watch != nil {
		o.Watch(r)
	}
	in, err := r.Relaxed(ctx, resource.Write)
	if err != nil {
		return nil, err
	}
	format(in.Bytes())
	in.Leave()
	return r, nil
}

// modeOf is the access mode for an op.
func modeOf(writes bool) resource.Mode {
	if writes {
		return resource.Write
	}
	return resource.Read
}

// anew gives a resource another size, without its contents. Those stay as they are in
// earlier slices.
func anew(in resource.Inside, size int) ([]byte, error) {
	if _, err := in.Resize(0); err != nil {
		return nil, err
	}
	return in.Resize(size)
}
