package handle

import (
	"errors"

	"github.com/orwl/go-orwl/resource"
)

// Pairs are pairs whose turns begin and end together. One goroutine at a time uses them.
type Pairs struct {
	pairs  []*Pair
	places []*resource.Place // of each
}

// PairsOf are pairs that have announced their first turns.
func PairsOf(pairs []*Pair) Pairs {
	v := Pairs{pairs, make([]*resource.Place, len(pairs))}
	for i, p := range pairs {
		v.places[i] = p.Place()
	}
	return v
}

// Places are the requests of the pairs, in their order.
func (v *Pairs) Places() []*resource.Place { return v.places }

// NextBy is [Pair.NextBy] of each, until one fails.
func (v *Pairs) NextBy(by any) error {
	for _, p := range v.pairs {
		p.endLife()
	}
	n, err := resource.RenewAll(v.places, by)
	for _, p := range v.pairs[:n] {
		if p.iteration++; p.more != nil {
			err = errors.Join(err, p.renewNews())
		}
	}
	return err
}
