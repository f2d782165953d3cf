// Package protocol is what a session and a home say to each other, and what each of them does
// about it.
//
// A session is a process that uses locks by name. A [Home] is the process that keeps these
// locks. A [Client] is the session's end. Both are step functions:
// a message or a time goes in; messages, and events for the layer above, come out. They have no
// goroutine, no clock and no socket. Package session gives them these.
//
//	h := protocol.NewHome(protocol.Lease{Lease: 1500, Skew: 250}, queue)
//	h.Take(now, 1, protocol.Message{Hello: &protocol.Hello{ID: id}})
//	for _, p := range h.Out() {
//		send(p.Conn, p.Message)
//	}
//
// # Messages
//
// A connection begins with Hello and Admission. Messages with a number are kept by their sender
// until the receiver has taken them, and are sent again on the next connection. So each is taken
// once and in order, whatever happens to connections. A call of the client gets one Answer.
// A Request gets Granted, later, or an Answer that says why not:
//
//	client                          home
//	Hello ───────────────────────▶
//	      ◀─────────────────────── Admission  the lease
//	Request 1 "a" ───────────────▶            the end of the queue of "a"
//	      ◀─────────────────────── Granted    request 1, fence 7
//	Write, request 1, fence 7 ───▶            refused if the fence is not current
//	      ◀─────────────────────── Answer
//	Release, request 1, fence 7 ─▶            commits what was written
//	      ◀─────────────────────── Answer
//
// github.com/vmihailenco/msgpack encodes them as maps, whose names stand in the tags. Four bytes
// with the length go before each. limits.go has the bounds, and Parse never panics.
//
// # The lease
//
// The client says Beat every fifth of the lease, and the home echoes it. The home ends a session
// after Length+Skew of silence by its own clock. The client ends it when no beat of the last
// Length-Skew was echoed, by its own clock. So the client has let go before the home grants to
// the next request, if each clock is wrong by at most Skew over a lease. A client that
// connects again within the lease keeps what it holds and its place in each queue.
//
// A forced release asks first: Revoked tells the holder to let go. The home takes the request
// after Length+Skew if it is not released by then. So a holder that has not heard Revoked must not
// renew its lease: each echo comes behind all that the home has said before. A client that
// connects again gets Admission, what it has not taken, and then the echo of its Hello:
//
//	client                          home
//	                                Revoked, request 1: the connection breaks
//	Hello, known ────────────────▶
//	      ◀─────────────────────── Admission  renews nothing
//	      ◀─────────────────────── Revoked    again
//	      ◀─────────────────────── Echo       of the hello, renews the lease
package protocol
