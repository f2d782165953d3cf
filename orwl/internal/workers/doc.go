// Package workers says which worker runs which step, and when a worker sleeps. It knows
// nothing about tasks: a step is a pointer.
//
// A worker calls Take for a step, runs it, and then calls Following until there is none.
// A step that a worker makes ready while it runs another goes to Ready, and one that any
// other goroutine makes ready goes to Push. Each step has a home, the worker whose queue gets
// it: steps that share much have the same home.
//
//	           Push (any goroutine)             Ready (the worker)
//	                 │                               │
//	queue of a worker ──any worker, Take──▶ runs ◀── first
//
// # Contract
//
//   - Each step that was given to Push or Ready is returned once.
//   - No worker sleeps while a step is in a queue. A worker that takes a step and leaves
//     others in the queues wakes a sleeper, so a step in a queue does not wait for
//     the end of a step that runs.
//   - A worker takes the newest of its most urgent steps, whose memory is in the cache, and the
//     others take the oldest of its least urgent ones. After 64 steps it takes such a one, too.
//     So no step waits for ever.
//   - After Finish, each worker without steps returns nil from Take.
//
// No lock is held while another is taken.
package workers
