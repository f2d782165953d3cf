// Package memory says how much memory this process can still take. A program that knows its need
// asks before it allocates: afterwards the kernel ends it, or another process, without a word.
//
//	if room, known := memory.Free(); known && need > room.Bytes {
//		return fmt.Errorf("it needs %d bytes, and %s has %d free", need, room.Of, room.Bytes)
//	}
//
// The answer is of this moment. Two processes that ask at once both get it. The package keeps
// nothing. It knows Linux and its control groups, of both versions; elsewhere it knows nothing.
package memory
