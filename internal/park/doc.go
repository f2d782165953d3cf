// Package park takes a goroutine off its processor until another one lets it go
// on. It is how ranks wait that are goroutines of one process.
//
// A channel does the same, and is what other builds use. Where this package
// knows the Go version, it calls the two functions of the runtime that channels,
// mutexes and timers are made of, gopark and goready. A hand-over from one
// goroutine to the next through [rma.Window.Await] then takes two thirds of the
// time, and a queue lock is as fast as a channel used as a mutex instead of
// needing a third more. Nothing that is open to everybody comes near: a channel
// takes and gives back its own lock on both sides, a sync.Mutex and a WaitGroup
// are slower than a channel, and yielding until the word has changed collapses
// with eight goroutines.
//
// The price is that the two are not covered by Go's promise of compatibility,
// although they are marked as used from outside (go.dev/issue/67401). Hence:
//
//   - one package, whose other file is the channel;
//   - build tags that name the Go versions that were looked at. A new version
//     gets the channel until somebody reads gopark, goready, park_m and the list
//     of wait reasons again, corrects what has changed and moves the tag. That
//     the tests pass is necessary and not sufficient;
//   - the channel under -race, -msan and -asan, which have to see what orders two
//     goroutines and must not meet their own code on the scheduler's stack;
//   - the tag parkchannel, for whoever wants the channel, and for comparing.
//
// Misuse is also less forgiving. Two goroutines that park at one place at once, or
// an Unpark that nobody is owed, may make the runtime end the process, where a
// channel would leave somebody waiting.
//
// # Announcing that one is parked
//
// A goroutine must be off its processor before anybody wakes it. With a channel
// that takes care of itself. Here, the announcement that it may be woken is made
// by the function that Init was given, which runs on the scheduler's stack when
// the goroutine has stopped; so that one atomic exchange is announcement and handshake.
//
// [rma.Window.Await]: https://pkg.go.dev/github.com/orwl/go-orwl/net/rma#Window
package park
