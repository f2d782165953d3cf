// Package budget keeps the memory of a server below a limit. It counts what keys and clients take
// before they take it, and refuses what would pass the limit.
//
//	b := budget.New(1 << 30)
//	region, err := b.Reserve(64, 1<<30)         // room for 64 volumes
//	volume, err := region.Volume(64 << 10)      // one of them: resource.Options.Memory
//	buffer := b.Take(1 << 20)                   // nil: there is no room
//	...
//	b.Give(buffer)
//
// # Where the bytes are
//
// Volumes and buffers lie outside of Go's heap, in memory that the package asks the system for. So
// nothing there becomes garbage: a byte counts from when it is taken until it is given back, and
// then the system has it. A buffer is not cleared, and the next Take may get it again: such a buffer
// is idle. Idle buffers count, and yield to whatever needs their room.
//
// Small things stay in Go's heap: connections, their small buffers, messages to other nodes. Their
// owners tell the budget by Hold. A held byte counts twice, because Go's runtime lets the heap grow
// to about twice of what is alive.
//
// Govern has Go's runtime keep its heap below what volumes and buffers leave of the limit, and Beside
// more for the program itself. So the resident memory of the process stays below the limit and
// the whole of Beside. Messages between nodes are beside that, see Between: Go's
// limit is a goal that a busy process misses at times.
//
// # Who gets the last bytes
//
// Volumes leave an eighth of the limit to clients. So keys can be read and deleted when the volumes
// are full. Clients may take more, as long as volumes do not need it.
//
// # Contract
//
// A nil *Budget has no limit: Take makes a slice of Go's heap, and Give forgets it. All methods may be
// called by any goroutine. A buffer has one owner, and must not be used after Give. The mutex is held for
// a moment, and nothing is called under it but the system.
//
// Only Linux has memory outside of Go's heap here. On other systems volumes and buffers are slices
// of the heap, and count the same. The limit is then as sharp as Go's memory limit is.
package budget
