package volume

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// memory is the words of a volume, as one rank reaches them: by loads and stores
// where it can, by operations of its window elsewhere. The algorithms are the
// same, and what the simulator verifies is the weaker of the two.
//
// Use its plain methods while a lock excludes others, and the atomic ones, further down, where
// no lock does.
type memory struct {
	words []uint64 // nil: operations of the window reach the memory

	w     rma.Window
	owner rma.Rank
	base  rma.Disp
	buf   []byte // of one cell

	// fetch makes an atomic read a FetchOp and not a Get, as the paper does.
	fetch bool
}

// cell is a copy of one.
type cell struct{ state, key, value, next uint64 }

// reach is the memory of a region as the rank of w reaches it.
func reach(w rma.Window, owner rma.Rank, base rma.Disp, words int) memory {
	m := memory{w: w, owner: owner, base: base}
	if shared, ok := w.(rma.Shared); ok {
		if direct, ok := shared.Memory(owner, base, words); ok {
			m.words = direct
			return m
		}
	}
	m.buf = make([]byte, cellBytes)
	return m
}

func (m *memory) at(i int) rma.Disp { return m.base + rma.Disp(i) }

func (m *memory) load(i int) uint64 {
	if m.words != nil {
		return m.words[i]
	}
	return m.w.Get(m.owner, m.at(i))
}

func (m *memory) store(i int, v uint64) {
	if m.words != nil {
		m.words[i] = v
		return
	}
	m.w.Put(m.owner, m.at(i), v)
}

// cell reads one in a single operation.
func (m *memory) cell(i int) cell {
	if m.words != nil {
		c := m.words[i : i+cellWords : i+cellWords]
		return cell{c[0], c[1], c[2], c[3]}
	}
	return m.farCell(i)
}

func (m *memory) farCell(i int) cell {
	m.w.GetBytes(m.owner, m.at(i), m.buf)
	return cell{
		binary.NativeEndian.Uint64(m.buf), binary.NativeEndian.Uint64(m.buf[8:]),
		binary.NativeEndian.Uint64(m.buf[16:]), binary.NativeEndian.Uint64(m.buf[24:]),
	}
}

// setCell writes one in a single operation.
func (m *memory) setCell(i int, c cell) {
	if m.words != nil {
		to := m.words[i : i+cellWords : i+cellWords]
		to[inState], to[inKey], to[inValue], to[inNext] = c.state, c.key, c.value, c.next
		return
	}
	for k, v := range [...]uint64{c.state, c.key, c.value, c.next} {
		binary.NativeEndian.PutUint64(m.buf[8*k:], v)
	}
	m.w.PutBytes(m.owner, m.at(i), m.buf)
}

// flush completes what was stored.
func (m *memory) flush() {
	if m.words == nil {
		m.w.Flush(m.owner)
	}
}

// failure is why an answer cannot be trusted: operations of a window that has
// failed answer zero. Memory that was asked itself does not lie.
func (m *memory) failure() error {
	if m.words == nil {
		if err := m.w.Err(); err != nil {
			return fmt.Errorf("volume: %w", err)
		}
	}
	return nil
}

func (m *memory) atomicLoad(i int) uint64 {
	if m.words != nil {
		return atomic.LoadUint64(&m.words[i])
	}
	if m.fetch {
		return m.w.FetchOp(m.owner, m.at(i), rma.NoOp, 0)
	}
	return m.w.Get(m.owner, m.at(i))
}

// atomicStore is complete after the next flush.
func (m *memory) atomicStore(i int, v uint64) {
	if m.words != nil {
		atomic.StoreUint64(&m.words[i], v)
		return
	}
	m.w.Put(m.owner, m.at(i), v)
}

// fetchAdd returns what the word held before.
func (m *memory) fetchAdd(i int, delta uint64) uint64 {
	if m.words != nil {
		return atomic.AddUint64(&m.words[i], delta) - delta
	}
	return m.w.FetchOp(m.owner, m.at(i), rma.Sum, delta)
}

// cas returns what the word held before: the swap happened if that is old.
func (m *memory) cas(i int, old, new uint64) uint64 {
	if m.words == nil {
		return m.w.CAS(m.owner, m.at(i), old, new)
	}
	for {
		if atomic.CompareAndSwapUint64(&m.words[i], old, new) {
			return old
		}
		if now := atomic.LoadUint64(&m.words[i]); now != old {
			return now
		}
	}
}
