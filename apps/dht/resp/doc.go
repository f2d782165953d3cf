// Package resp is the Redis face of a hash table: a server that redis clients speak
// to, in RESP2 and RESP3.
//
//	s, err := resp.New(resp.Options{Store: strings})
//	if err != nil { ... }
//	go s.Serve(listener)
//	...
//	err = s.Shutdown(ctx)
//
// # What it promises
//
// Replies come in the order of commands. Commands of one key that were sent one after
// another, on one connection, are executed in that order; a command of one key is
// atomic, one of several (MGET, MSET, DEL, EXISTS) is so for each key, and not as a
// whole. If a key of MGET, DEL or EXISTS cannot be reached, the whole reply is the
// error: nil would be a wrong answer.
//
// No input of a client makes the server fail. Before a length is known to be allowed nothing is
// allocated for it, and then only what has arrived, or the whole length while clients take little of
// Options.Memory. A connection takes at most Options.Request bytes for a request and Options.Reply for a
// reply, and a few tens of KiB at rest.
//
// # How it is made
//
// A connection has one goroutine. It reads what has come, cuts it into commands that
// point into the read buffer (reader.go), and collects the operations of the whole
// pipeline in a batch (batch.go): one Store.Do, then all replies in one write.
// The long value of a GET goes from the record to the socket, as far as the socket takes it at once (conn.go).
// Commands that are not operations on keys end the batch first. There is one table
// of commands (table.go), which is also what COMMAND answers.
//
// Replies are written by github.com/tidwall/redcon, whose readers are not for
// strangers: a count of 10^11 keeps them busy for a minute and a length near 2^63
// panics. Tests hold reader.go against redcon's wherever both accept the bytes.
//
// # Lock order
//
// Server.mu is held for the list of connections only, and nothing is called under it.
package resp
