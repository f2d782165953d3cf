// Package park takes a goroutine off its processor until another goroutine lets it
// run again. Ranks that are goroutines of one process wait this way.
//
// A channel does the same job, and other builds use one. Where this package knows
// the Go version, it calls gopark and goready, the two functions of the runtime on
// which channels, mutexes and timers stand. A hand-over through [rma.Window.Await]
// then takes two thirds of the time that it takes with a channel. A queue lock
// becomes as fast as a channel used as a mutex; with the channel it needs a third
// more. No public alternative comes near: a channel takes its own lock on both
// sides, sync.Mutex and sync.WaitGroup are slower than a channel, and a loop of
// runtime.Gosched collapses with eight goroutines.
//
// Go's promise of compatibility does not cover the two functions, although the
// runtime marks them as used from outside (go.dev/issue/67401). The rules are:
//
//   - One package calls them, and its other file uses a channel.
//   - The build tags name the Go versions that we have read: 1.26 and 1.27. A newer
//     version gets the channel until a person has read it; see below. Passing tests
//     are necessary and not sufficient.
//   - Builds with -race, -msan and -asan use the channel. The detectors must see
//     what orders two goroutines, and their code must not run on the scheduler's
//     stack.
//   - The tag parkchannel selects the channel, for comparison.
//
// Misuse has a harder end than with a channel. If two goroutines park at one place
// at once, or Unpark comes without a Park, the runtime may end the process.
//
// # Announcing a parked goroutine
//
// A goroutine must have left its processor before another one wakes it. A channel
// takes care of this itself. Here the function given to Init announces that the
// goroutine may be woken. It runs on the scheduler's stack after the goroutine has
// stopped. So one atomic exchange is both the announcement and the handshake.
//
// # Reading a new Go version
//
// Compare these parts of the runtime with the last version read, correct what has
// changed, then move the tags:
//
//   - gopark, goready, park_m, ready and mcall: the signatures, and when the
//     scheduler calls the function given to gopark;
//   - the //go:linkname lines above gopark and goready, and the linker's list of
//     blocked names;
//   - allgs: it keeps every g for ever, so a Place may hold one as a uintptr;
//   - the numbers of waitReason and traceBlockReason (TestDump);
//   - isIdleInSynctest, which makes the wait durable for testing/synctest
//     (TestBubble);
//   - internalBlocked, which keeps the wait out of the goroutineleak profile. If a
//     profile takes a parked goroutine for leaked, the runtime ends the process at
//     the next Unpark (TestLeakProfile).
//
// Go 1.27.3 against 1.26.8: gopark, park_m and ready are the same text, and the
// wait reason is number 38 in both. The profile is on by default since 1.27. The
// linker checks more references, and accepts these two as before.
//
// [rma.Window.Await]: https://pkg.go.dev/github.com/orwl/go-orwl/net/rma#Window
package park
