// Package direct is the window of ranks that share coherent memory. The backends
// net/mem (goroutines of one process) and net/shm (processes of one machine)
// supply the memory and a way to sleep. Everything else is here, once.
//
// An operation is one atomic instruction on the word itself. A look at one line of
// memory follows, the [Room] of the word's rank, which says whether any rank waits
// for the word. The window buffers nothing: every operation is remotely complete
// when it returns, and Flush has nothing to do.
//
// # Waiting without losing a wake-up
//
// Nearly all waits are for a word of the rank's own segment. Only the state of the
// rank's own Room announces such a wait, because a rank that changes a word looks
// at the Room of the word's rank. A rank that waits for a word of another rank
// announces that at the other rank's segment, too: it takes a place among the
// guests, or it enters itself into the list.
//
// A waiting rank
//
//  1. writes into its Room what it waits for,
//  2. takes a place among the guests or enters itself into the list (first its
//     bit, then the count), if the word is another rank's,
//  3. changes the state of its Room to waiting,
//  4. looks a last time at the word and at its nudge flag,
//  5. sleeps until the state is awake again.
//
// A rank that changes a word
//
//  1. changes the word,
//  2. looks at the state and the Watch of the word's rank,
//  3. reads what each rank that it finds there waits for,
//  4. moves the state of those that can go on to awake, by CAS.
//
// One rule has no exception: a CAS from waiting to awake owes one wake-up, and each
// sleep takes one. If the waiting rank finds in its step 4 a reason to go on, it
// tries the CAS itself. It either succeeds and wakes itself, or another rank has
// succeeded and the wake-up is on its way.
//
// No wake-up is lost. All steps on both sides use sequentially consistent atomics,
// so each two steps have an order. Suppose that a rank changes the word so that the
// waiting rank can go on, and does not wake it. There are two cases:
//
//   - It read a state, a Watch, a place or a bit from before the waiting rank's
//     step 2 or 3. Then it changed the word before step 3, so step 4 sees the new
//     value.
//   - It read the state waiting, and then something else than what the rank waits
//     for now: the words of an earlier wait, or a mixture. Then it read one of these
//     words before the waiting rank's step 1 stored it, and it changed the word
//     earlier still. So step 4 sees the new value again. Step 1 stores only words
//     that change; a word that does not change cannot mislead.
//
// A rank that changes a word evaluates the conditions itself, and wakes only ranks
// that can go on. A ticket lock with a hundred waiters wakes one.
//
// # Contexts and failures
//
// A nudge ends a wait. It first makes the reason visible (the context is done, the
// window has failed), then sets the nudge flag, and then moves the state to awake.
// The waiting rank clears the flag before it looks for reasons, and its step 4 looks
// at the flag. So one side or the other sees a nudge between any two steps. A nudge
// that comes after its wait has ended costs the next wait one more look.
//
// # Where goroutines park
//
// Steps 3 and 4 run in the Sleeper, or in package park after the goroutine has
// stopped. In the second case another rank can wake the goroutine between the two
// steps. It may return from Await and start another wait before step 4 of the first
// wait runs. The late step uses a copy of the first wait's condition. If it finds a
// reason to wake the rank it does what any rank does: the CAS, and one wake-up for
// the goroutine that sleeps now. The goroutine finds that its condition does not hold
// and sleeps again. A wake-up means no more than "look again".
//
// # After a crash
//
// A dead rank can leave a bit in the list, a guest's place, or the state waiting in
// its own Room. Each costs later writers a look, or one wake-up without a sleeper,
// and nothing else.
package direct
