package main

// direction is where a neighbour lies, in the order in which the matrix is read:
// those before east belong to earlier tasks, those from east on to later ones.
type direction int

const (
	northWest direction = iota
	north
	northEast
	west
	east
	southWest
	south
	southEast
	directions
)

func (d direction) String() string {
	return [directions]string{"northwest", "north", "northeast", "west", "east", "southwest", "south", "southeast"}[d]
}

// step is how many blocks further south and east the neighbour is.
func (d direction) step() (rows, cols int) {
	at := int(d)
	if d >= east {
		at++ // past the block itself
	}
	return at/3 - 1, at%3 - 1
}

// opposite is where the neighbour sees us.
func (d direction) opposite() direction { return directions - 1 - d }

// diagonal says that only corners touch.
func (d direction) diagonal() bool {
	rows, cols := d.step()
	return rows != 0 && cols != 0
}

// earlier says that the neighbour's task comes before ours in the canonical order. Then we use
// its elements of this iteration; of the other neighbours we use those of the last one.
func (d direction) earlier() bool { return d < east }
