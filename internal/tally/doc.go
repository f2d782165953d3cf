// Package tally counts what one goroutine does while others look on. The writer pays
// for an ordinary store instead of a locked instruction.
//
// # Contract
//
// One goroutine at a time writes a [Count]: it alone calls Inc, Add, Set and Own.
// Another goroutine may become the writer if a lock, a channel or the like orders it
// after the last one. Any goroutine may call Load at any time.
//
// A Load returns zero or a value that a writer has set: never a mixture of two, never
// a value older than the last one that happened before the Load. If the writer only
// counts up, the Loads of one goroutine never go back.
//
// A Count orders nothing else. A goroutine that sees a value may not conclude that it
// sees other writes that came before. It may see a value late; the language sets no
// limit. So no protocol may depend on a Count. The last value is certain once the
// writer's end happens before the Load, for example through sync.WaitGroup.
//
// # Why this is safe
//
// Set is an ordinary write of one aligned 64-bit word, and Load is an atomic read of
// the same word. By the Go memory model (go.dev/ref/mem) the two are a data race,
// because one of them does not synchronize. Its section "Implementation Restrictions
// for Programs Containing Data Races" says what such a program may do:
//
//  1. An implementation may report the race and stop. Only the race detector does.
//     Under the tag race, Set is an atomic store, and there is no race.
//  2. Otherwise a read of a location that is not larger than a machine word observes a
//     value that some preceding or concurrent write wrote. On 64-bit platforms a Count
//     is one machine word, so each Load returns a whole value, and no older one than
//     those that happened before it. On other platforms Set is an atomic store.
//  3. Values out of thin air are disallowed, and the compiler must not turn one write
//     into several values. It may merge two writes of the writer; then a Load misses
//     the first value.
//
// Each platform keeps one order of all writes to one aligned word, and the reads of
// one processor follow it (cache coherence). Load is atomic, so the compiler neither
// reorders two of them nor reuses the first. So the Loads of one goroutine never go
// back while the writer counts up. This step rests on the machine and the compiler;
// points 1 to 3 do not promise it.
//
// Add reads the word without an atomic instruction. No other goroutine writes at that
// time, and all earlier writes happened before, so the read is not part of any race.
// It also guards the contract: under the race detector, a second writer's Add is a
// race between this read and the other one's store, and the detector reports it.
//
// # Cost
//
// One Add in a loop, go test -bench . ./internal/tally, Go 1.26.8 on an AMD EPYC:
//
//	tally.Count.Add                      0.22 ns
//	atomic.Uint64.Store of own + 1       4.4 ns
//	atomic.Uint64.Add                    4.4 ns
package tally
