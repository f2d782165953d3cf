package handle

import "github.com/orwl/go-orwl/resource"

// Begin has the pairs of a task hold, in a run that knows when their turns come: see [resource.Hold].
func (v *Pairs) Begin() error { return resource.GrantAll(v.places) }

// End ends what Begin has begun, and announces the next turn unless it is the last one.
func (v *Pairs) End(last bool) {
	for _, p := range v.pairs {
		if p.more != nil {
			p.endLife()
		}
		p.iteration++
	}
	resource.EndAll(v.places, last)
}
