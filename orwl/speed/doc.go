// Package speed tells how fast a system of tasks can go at best, before it runs.
//
// Tasks that wait for each other in a circle set the pace: no number of workers makes a round shorter
// than the circle. [Of] finds the slowest circle from the system and the time that a round of each
// task takes, and names its tasks. `orwl vet -speed` prints it:
//
//	bound := speed.Of(s, times)
//	fmt.Println(bound.Period(), bound.WithWorkers(2))
//
// A [Bound] is a plain value. Any number of goroutines may use one.
package speed
