// Package exact computes sums of floating-point numbers without any rounding on the way. The result is
// rounded once, at the end. So it has the same bits in whatever order the values come, and however they
// are divided among tasks and nodes.
//
//	var s exact.Sum
//	s.AddAll([]float64{1e300, 1, -1e300})
//	s.Value() // 1
//
//	var part exact.Sum // of another task
//	part.Add(2)
//	s.Merge(&part)
//	s.Value() // 3
//
// # The idea
//
// A float64 is a whole number of units, if the unit is small enough. So a sum of whole numbers, long enough
// for the largest one, is exact, and a sum of whole numbers does not depend on its order:
//
//	2^2138           2^1024                    1            2^-1074            2^-2148
//	┌────────────────┬──────────────────────────────────────┬──────────────────┐
//	│ sign, room,    │    a float64:        ┌─────────┐     │ small parts      │
//	│ large products │    53 bits in here   │ 53 bits │     │ of products      │
//	└────────────────┴──────────────────────┴─────────┴─────┴──────────────────┘
//
// This number is the accumulator. Most values do not meet it one by one: two additions of floating-point numbers split a
// value at a bit that a block of 512 values has in common, and the parts above that bit have an exact
// sum of their own. Each chapter is a file:
//
//	accumulator.go     the number, its rounding, and its bytes
//	blocks.go          many values at once
//	dot.go             dot products
//	blocks_amd64.s     blocks.go and dot.go for processors with AVX2
//
// # The contract
//
// [Sum.Value] is the exact sum, rounded to the nearest float64, and to the even one of two. [Sum.Float32] does the
// same for float32. Nothing overflows on the way: the result is infinite only if the exact sum is beyond the largest
// number by half a step or more, or if a value was infinite. A sum with a NaN, or with both infinities, is math.NaN(). A sum is -0
// if it has values, and all are -0. A sum without values, or whose values cancel, is +0. A negative sum
// that is too small for the format is rounded to -0, as in IEEE 754.
//
// [Sum.Dot] rounds each product to a float64, and sums these exactly. This is as reproducible as [Sum.ExactDot],
// whose products are exact, and takes half the time.
//
// The state of a sum, as [Sum.MarshalBinary] writes it, depends on its values only: not on their order, the division
// and the merges. It takes [StateBytes]. A damaged state is refused.
//
// Other types need nothing more. A float32 is a float64 without rounding. A complex number is two sums, one for
// each part.
//
// A sum has room for 2^90 values of any size. A sum that is merged with itself so often that there is no room panics.
//
// # The cost
//
// Nanoseconds for each value, on one core of an AMD EPYC of 2023, beside loops that are not exact:
//
//	                   4096 values in cache     2^24 values from memory
//	sum, AVX2          0.05                     0.36
//	sum in Go          0.80                     0.83
//	AddAll             0.41                     0.39
//	Dot                0.50                     1.1
//	ExactDot           0.87                     1.6
//	Add                4.8
//
// AddAll and Dot fetch the next block ahead, and the other sums do not. Dot takes a block in one go, without a look at its largest
// product, if it is like the block before. A block whose smallest value is less than 2^-32 of
// its largest takes twice that, and again as much for each further 86 powers of two.
//
// Without AVX2, these loops are in Go: AddAll takes 1.5 ns, Dot 1.6 and ExactDot 3.3. So it is with the race
// detector, and with the environment variable GODEBUG=cpu.avx2=off. All of them give the same bits.
package exact
