package trace

import "slices"

// pile is a list that grows without being copied. So each record takes about as long as the
// ones before.
type pile[T any] struct {
	done [][]T
	now  []T
	n    int
}

// The first step by which a pile grows, and the largest.
const (
	leastHeap = 1 << 6
	mostHeap  = 1 << 12
)

func (p *pile[T]) add(v T) {
	if len(p.now) == cap(p.now) {
		if p.now != nil {
			p.done = append(p.done, p.now)
		}
		p.now = make([]T, 0, min(max(2*cap(p.now), leastHeap), mostHeap))
	}
	p.now = append(p.now, v)
	p.n++
}

// last is what was added last, or nil.
func (p *pile[T]) last() *T {
	if p.n == 0 {
		return nil
	}
	return &p.now[len(p.now)-1]
}

// all is a copy of all; nil if there is nothing.
func (p *pile[T]) all() []T { return slices.Concat(append(slices.Clone(p.done), p.now)...) }
