package shm

import "slices"

// extent is n granules of a pool from at on.
type extent struct{ at, n int }

// extents are the free parts of a pool, sorted, no two of them adjacent.
type extents []extent

// take removes the first n granules in a row that are free.
func (free *extents) take(n int) (at int, ok bool) {
	i := slices.IndexFunc(*free, func(e extent) bool { return e.n >= n })
	if i < 0 {
		return 0, false
	}
	e := &(*free)[i]
	at = e.at
	e.at, e.n = e.at+n, e.n-n
	if e.n == 0 {
		*free = slices.Delete(*free, i, i+1)
	}
	return at, true
}

// give returns n granules from at on, and joins them with their neighbours.
func (free *extents) give(at, n int) {
	i, _ := slices.BinarySearchFunc(*free, at, func(e extent, at int) int { return e.at - at })
	if i > 0 && (*free)[i-1].at+(*free)[i-1].n == at {
		i--
		(*free)[i].n += n
	} else {
		*free = slices.Insert(*free, i, extent{at, n})
	}
	if next := i + 1; next < len(*free) && (*free)[i].at+(*free)[i].n == (*free)[next].at {
		(*free)[i].n += (*free)[next].n
		*free = slices.Delete(*free, next, next+1)
	}
}

// largest is the size of the largest free part.
func (free extents) largest() int {
	most := 0
	for _, e := range free {
		most = max(most, e.n)
	}
	return most
}
