package stencil

// direction is where a neighbour of a block is: a step of -1, 0 or 1 in each dimension, as
// one number. The directions are in the order in which the blocks are.
type direction int

const directions = 27

func directionOf(step vec) direction {
	return direction(9*(step[0]+1) + 3*(step[1]+1) + step[2] + 1)
}

// here is the direction of the block itself.
var here = directionOf(vec{})

func (d direction) step() vec { return vec{int(d)/9 - 1, int(d)/3%3 - 1, int(d)%3 - 1} }

// opposite is the way back.
func (d direction) opposite() direction { return directions - 1 - d }
