package budget

import (
	"math/bits"
	"runtime/debug"
	"unsafe"
)

// leastBuffer is the size of the smallest buffer.
const leastBuffer = 16 << 10

// Sized is the size of a buffer that holds n bytes. There are four sizes for each power of two, so
// at most a fifth of a large buffer is unused. A size is a multiple of 4 KiB.
func Sized(n int) int {
	if n <= leastBuffer {
		return leastBuffer
	}
	step := 1 << (bits.Len(uint(n-1)) - 3)
	return (n + step - 1) &^ (step - 1)
}

// Take returns a buffer of at least n bytes, whose contents are anything, or nil if there is no
// room below the limit.
func (b *Budget) Take(n int) []byte { return b.take(n, false) }

// TakeBeyond is Take for bytes that must not be lost: it counts them even beyond the limit.
func (b *Budget) TakeBeyond(n int) []byte {
	if buffer := b.take(n, true); buffer != nil {
		return buffer
	}
	return make([]byte, n) // the system has no more pages
}

func (b *Budget) take(n int, beyond bool) []byte {
	if b == nil {
		return make([]byte, n)
	}
	size := Sized(n)
	buffer, dropped, ok := b.choose(size, beyond)
	releaseAll(dropped)
	if ok && buffer == nil {
		if buffer = obtain(size); buffer == nil {
			b.mu.Lock()
			b.taken -= size
			b.mu.Unlock()
			return nil
		}
	}
	if buffer != nil {
		b.mu.Lock()
		b.buffers[unsafe.SliceData(buffer)] = size
		b.mu.Unlock()
		b.settle()
	}
	return buffer
}

// choose counts a buffer as taken, and returns one that is idle, or nil if there is none.
func (b *Budget) choose(size int, beyond bool) (buffer []byte, dropped [][]byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if idle := b.free[size]; len(idle) > 0 {
		last := len(idle) - 1
		buffer, idle[last] = idle[last], nil
		b.free[size] = idle[:last]
		b.idle -= size
		b.rested = min(b.rested, b.idle)
		b.taken += size
		return buffer, nil, true
	}
	if dropped, ok = b.fits(size, false); ok || beyond {
		b.taken += size
	}
	if !ok && beyond {
		dropped = b.drop(0)
	}
	return nil, dropped, ok || beyond
}

// Give takes a buffer back. The caller has the beginning of it. It ignores memory that no Take
// has returned.
func (b *Budget) Give(buffer []byte) {
	if b == nil || cap(buffer) < leastBuffer {
		return
	}
	b.mu.Lock()
	size, ours := b.buffers[unsafe.SliceData(buffer)]
	if !ours {
		b.mu.Unlock()
		return
	}
	delete(b.buffers, unsafe.SliceData(buffer))
	b.taken -= size
	b.tell()
	buffer = buffer[:size]
	keep := b.idle+size <= b.limit/idleShare
	if keep {
		b.idle += size
		b.free[size] = append(b.free[size], buffer)
	}
	b.mu.Unlock()
	if !keep {
		release(buffer)
	}
	b.settle()
}

// Rest gives the system the idle buffers that were not needed since the last Rest.
func (b *Budget) Rest() {
	if b == nil {
		return
	}
	b.mu.Lock()
	dropped := b.drop(b.idle - b.rested)
	b.rested = b.idle
	b.mu.Unlock()
	releaseAll(dropped)
	b.settle()
}

// Trim gives all that is idle to the system, and the garbage of Go's heap.
func (b *Budget) Trim() {
	if b == nil {
		return
	}
	b.mu.Lock()
	dropped := b.drop(0)
	b.mu.Unlock()
	releaseAll(dropped)
	b.settle()
	debug.FreeOSMemory()
}
