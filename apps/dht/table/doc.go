// Package table is the paper's distributed hash table as a library: many volumes, each
// a resource with relaxed access, spread over the nodes of a run. Keys
// and values are byte strings ([Strings]).
//
//	t, err := table.NewStrings(ctx, table.Options{})
//	ops := []table.Op{
//		{Kind: table.Set, Key: []byte("greeting"), Value: []byte("hello")},
//		{Kind: table.Get, Key: []byte("greeting")},
//	}
//	results := make([]table.Result, len(ops))
//	t.Do(ctx, ops, results)
//
// # Where a key is
//
// The hash of a key says in which volume it is, and rendezvous hashing which node keeps
// that volume (strings.go). Any node may do any op. The ops of a Do on keys of another node go there
// in one message, together with ops that other callers have for that node meanwhile (transfer.go).
// There the goroutine that brings the message executes them.
//
// If a node is lost, or has closed its table, ops on its keys fail with a *[NodeLostError].
// This includes ops under way: they may or may not have been done. All other keys are as they
// were. An answer is never wrong, and no copy takes over.
//
// # Volumes
//
// A volume is bytes that hold everything: buckets, chains of records, and blocks of size
// classes for them (layout.go). When it has no room it moves its records together, or doubles,
// up to Options.Most (room.go). If a volume is full, an op that needs room fails with ErrFull,
// and nothing is lost.
//
// A key that has expired is absent at once. Its memory is used again by the next writer beside
// it, by Len, or when room is short.
//
// # What orders what
//
// Each op is atomic, and linearizable per key.
//
// An op holds a volume's lock while it is inside the volume. There it takes no other lock,
// sends nothing, and calls only Options.Hash, Options.Now and Op.Peek. The mutexes of an exchange and
// of its transfers are held for a moment. They are not held inside of a volume, nor while the mutex of a
// call or a question is taken.
package table
