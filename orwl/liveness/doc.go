// Package liveness decides, before a program of tasks starts, whether it goes round for
// ever or comes to a stop.
//
// A [System] is the program as far as this question goes: tasks, and what each of them
// reads and writes in a round. A task holds all its accesses at once, or it acquires and
// releases them in a sequence of [Step] values. [System.Check] proves that the system is
// alive, or returns a [*DeadlockError] with the tasks that wait for one another. Its
// comment holds the proof. [Parse] reads a system from text:
//
//	s, err := liveness.Parse(strings.NewReader("task a: write x\ntask b: read x"))
//	if err != nil {
//		return err
//	}
//	fmt.Println(s.Check())
//	// Output:
//	// <nil>
//
// A [FIFO] is the order in which a resource grants requests. It specifies the queue:
// Check plays the queues of a FIFO, and the tests of package resource compare the
// concurrent queue with it.
//
// Everything here is a plain value and a step function. One goroutine at a time uses
// a FIFO. Any number of goroutines may check a System that does not change.
package liveness
