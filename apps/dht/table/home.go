package table

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// newHome makes the resource of a volume that this node keeps.
func newHome(ctx context.Context, number, size int, o *Options, format func(b []byte)) (*resource.Resource, error) {
	r, err := resource.NewWith(fmt.Sprintf("volume %d", number), size, resource.Options{
		Relaxed: resource.RelaxedOptions{Guard: func() (resource.Guard, error) { return orwl.NewGuard(o.Guard) }},
	})
	if err != nil {
		return nil, err
	}
	if o.Observer != nil {
		r.Observe(o.Observer, resource.AllRelaxed)
	}
	in, err := r.Relaxed(ctx, resource.Write)
	if err != nil {
		return nil, err
	}
	format(in.Bytes())
	in.Leave()
	return r, nil
}

// modeOf is how to knock for an op.
func modeOf(writes bool) resource.Mode {
	if writes {
		return resource.Write
	}
	return resource.Read
}

// anew gives a resource another size without what it holds, which stays as it is in
// slices of before.
func anew(in resource.Inside, size int) ([]byte, error) {
	if _, err := in.Resize(0); err != nil {
		return nil, err
	}
	return in.Resize(size)
}
