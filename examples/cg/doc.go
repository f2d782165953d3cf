// Conjugate gradients on tasks: the Laplace equation on a plate, with strips of rows on any number of nodes.
//
//	go run ./examples/cg
//	go run ./examples/cg -strips 3 -nodes 3
//
// Each strip has three tasks. In each round they multiply, take a step, and turn the direction:
//
//	multiply: q = A p          puts p·q
//	step:     x += α p, r -= α q,  α = r·r of the round before / p·q      puts r·r
//	turn:     p = r + β p,         β = r·r / r·r of the round before
//
// The sums are exact, and the run ends by a sum: so the result has the same bits on any strips and any nodes, and the same
// number of rounds. A strip gets the first and the last row of its neighbours' directions, and nothing else, from other
// nodes.
package main
