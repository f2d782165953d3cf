// Package direct is the window of ranks that share coherent memory. The
// backends net/mem (goroutines of one process) and net/shm (processes of one
// machine) supply the memory and a way to sleep; everything else is here, once.
//
// An operation is one atomic instruction on the word itself, followed by one
// load that asks whether anybody waits near it. Nothing is buffered, so every
// operation is remotely complete when it returns and Flush has nothing to do.
//
// # Waiting without losing a wake-up
//
// A rank that awaits a word writes down what it waits for in its own [Room],
// announces itself in the waiting list of the word's segment, and only then
// looks at the word a last time before it sleeps. A rank that changes a word
// changes it first and looks at the waiting list afterwards. Both sides use
// sequentially consistent atomics, so at least one of them sees the other: the
// waiter the new value, or the writer the waiter. The writer evaluates the
// condition itself and wakes only those whose condition is true; a ticket lock
// with a hundred waiters wakes one.
//
// What a crash leaves behind in a shared waiting list (a rank that is announced
// but gone) costs later writers a look, and nothing else.
package direct
