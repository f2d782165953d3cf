// Package direct is the window of ranks that share coherent memory. The
// backends net/mem (goroutines of one process) and net/shm (processes of one
// machine) supply the memory and a way to sleep; everything else is here, once.
//
// An operation is one atomic instruction on the word itself, followed by a look
// at one line of memory, the [Room] of the word's rank, which says whether
// anybody waits for the word. Nothing is buffered, so every operation is remotely
// complete when it returns and Flush has nothing to do.
//
// # Waiting without losing a wake-up
//
// Nearly all waits are for a word of the rank's own segment. Such a wait is
// announced by the state of the rank's own Room, and by nothing else, because
// whoever changes a word looks at the Room of the word's rank. A rank that awaits
// a word of another rank's segment besides takes a place among that segment's
// guests, where it is found by the value that it waits for, or enters itself into
// the segment's waiting list; the Watch of the other rank's Room says so.
//
// A rank that waits
//
//  1. writes down in its Room what it waits for,
//  2. if the word is another rank's, takes a place among the guests, or enters
//     itself into the waiting list: its bit first, then the count,
//  3. says in its Room's state that it is waiting,
//  4. looks at the word a last time, and whether somebody has nudged it,
//  5. and sleeps until somebody has moved the state back to awake.
//
// If step 4 finds a reason to go on, the rank moves its own state back to awake
// and is its own waker; or somebody was faster, and it sleeps until his wake-up
// comes. So one rule holds without exception: whoever moves a Room from waiting
// to awake, by CAS, makes one wake-up, and each sleep takes one.
//
// A rank that changes a word changes it first, and then looks at the state and
// the Watch, in this order. Both sides use sequentially consistent atomics.
// Suppose the writer does not see the waiter, that is, it reads a state that is
// not waiting, or a Watch, a place or a bit from before step 2. Then it has changed the
// word before step 3, hence before step 4, which sees the new value. And if the
// writer finds the rank waiting but for something else, because it reads what
// was written for an earlier wait or a mixture of both, then step 1 of the last
// wait came after its look at the state, and step 4 sees the new value, too.
//
// The writer evaluates the condition itself and wakes only those whose condition
// is true; a ticket lock with a hundred waiters wakes one.
//
// A Put that finds the one rank asleep that can go on with it stores first, in the
// ordinary way, and moves the state by CAS; that is the order above, with one
// instruction that makes it instead of two.
//
// A context or a failure ends a wait by a nudge: the reason first (the context is
// done, the window has failed), then a flag, then the state. The rank takes the
// flag back before it looks for the reasons, and step 4 looks at the flag, so a
// nudge between any two steps is seen by one or the other. A nudge that comes
// too late, after its wait has ended, costs the next wait one more look.
//
// Steps 3 and 4 run in the Sleeper, which may be the last thing that happens
// before a goroutine sleeps, or, where goroutines park by package park, the first
// thing after it does. Then the rank can be woken between 3 and 4, return from
// Await, and be in another wait when the first wait's step 4 is made. That step
// uses a copy of what the first wait was for, and if it finds reason to wake the
// rank it does so like everybody else, by the CAS and by the goroutine that
// sleeps now: a wake-up too many, after which the rank looks, finds that its
// condition does not hold, and sleeps again. Nobody relies on a wake-up to mean
// more than that.
//
// What a crash leaves behind in a shared waiting list or a guest's place (a rank that
// is announced but gone) or in the Room of a rank that is gone (waiting, for ever) costs later
// writers a look, or one wake-up that nobody takes, and nothing else.
package direct
