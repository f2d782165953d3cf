package extents

import "slices"

// Extent is n granules of a pool from at on.
type Extent struct{ At, N int }

// Extents are the free parts of a pool, sorted, no two of them adjacent.
type Extents []Extent

// Take removes the first n granules in a row that are free.
func (free *Extents) Take(n int) (at int, ok bool) {
	i := slices.IndexFunc(*free, func(e Extent) bool { return e.N >= n })
	if i < 0 {
		return 0, false
	}
	e := &(*free)[i]
	at = e.At
	e.At, e.N = e.At+n, e.N-n
	if e.N == 0 {
		*free = slices.Delete(*free, i, i+1)
	}
	return at, true
}

// Give returns n granules from at on, and joins them with their neighbours.
func (free *Extents) Give(at, n int) {
	i, _ := slices.BinarySearchFunc(*free, at, func(e Extent, at int) int { return e.At - at })
	if i > 0 && (*free)[i-1].At+(*free)[i-1].N == at {
		i--
		(*free)[i].N += n
	} else {
		*free = slices.Insert(*free, i, Extent{at, n})
	}
	if next := i + 1; next < len(*free) && (*free)[i].At+(*free)[i].N == (*free)[next].At {
		(*free)[i].N += (*free)[next].N
		*free = slices.Delete(*free, next, next+1)
	}
}

// Largest is the size of the largest free part.
func (free Extents) Largest() int {
	most := 0
	for _, e := range free {
		most = max(most, e.N)
	}
	return most
}
