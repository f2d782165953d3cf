package stencil

// layout is where fields lie in the bytes of a resource, one after another. Each begins at a
// multiple of its element's size, and the whole is a multiple of each, so that the bytes can
// be seen as elements of any field.
type layout struct {
	at    []int // of each field; -1 if it is not there
	bytes int
}

// add places so many elements of a size behind what is there.
func (l *layout) add(elements, size int) {
	if elements == 0 {
		l.at = append(l.at, -1)
		return
	}
	at := divideUp(l.bytes, size) * size
	l.at = append(l.at, at)
	l.bytes = at + elements*size
}

// end rounds the size up to a multiple of the sizes of all elements, and of 8.
func (l *layout) end(g *Grid) {
	unit := 8
	for _, f := range g.fields {
		unit = unit / gcd(unit, f.elementBytes()) * f.elementBytes()
	}
	l.bytes = divideUp(l.bytes, unit) * unit
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
