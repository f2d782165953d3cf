package engine_test

import (
	"context"
	"encoding/binary"

	"github.com/orwl/go-orwl/net/rma"
)

// window is a name beside which there can be a method Window.
type window = rma.Window

// memory is a node's memory, the same for all of its ranks: a few words without locks, since
// the tests have one goroutine. It is also the peer's window on it.
type memory struct {
	window // nil: what an Agent never calls

	words  []uint64
	peers  []rma.Rank // the ranks that may use it
	here   []rma.Rank
	failed error
	rooms  int // bytes that were asked for
	room   []byte
}

func (m *memory) Window(origin rma.Rank) rma.Window {
	if origin < m.peers[0] || origin > m.peers[len(m.peers)-1] {
		return nil
	}
	return m
}

func (m *memory) Here(target rma.Rank) bool {
	return target >= m.here[0] && target <= m.here[len(m.here)-1]
}

func (m *memory) Room(n int) []byte {
	m.rooms += n
	if n <= cap(m.room) {
		return m.room[:n]
	}
	return make([]byte, n)
}

func (m *memory) Err() error { return m.failed }

// at is n words, or a panic as every window has it.
func (m *memory) at(d rma.Disp, n int) []uint64 {
	if d < 0 || int(d)+n > len(m.words) {
		panic(&rma.AddressError{Disp: d, Bytes: 8 * n, Why: "outside"})
	}
	return m.words[d : int(d)+n]
}

func (m *memory) Put(_ rma.Rank, d rma.Disp, v uint64)                   { m.at(d, 1)[0] = v }
func (m *memory) Get(_ rma.Rank, d rma.Disp) uint64                      { return m.at(d, 1)[0] }
func (m *memory) Flush(rma.Rank)                                         {}
func (m *memory) Accumulate(p rma.Rank, d rma.Disp, op rma.Op, v uint64) { m.FetchOp(p, d, op, v) }

func (m *memory) FetchOp(_ rma.Rank, d rma.Disp, op rma.Op, v uint64) uint64 {
	word := &m.at(d, 1)[0]
	old := *word
	switch op {
	case rma.Sum:
		*word += v
	case rma.Replace:
		*word = v
	}
	return old
}

func (m *memory) CAS(_ rma.Rank, d rma.Disp, old, new uint64) uint64 {
	word := &m.at(d, 1)[0]
	was := *word
	if was == old {
		*word = new
	}
	return was
}

func (m *memory) PutBytes(_ rma.Rank, d rma.Disp, src []byte) {
	if len(src)%8 != 0 {
		panic(&rma.AddressError{Disp: d, Bytes: len(src), Why: "not whole words"})
	}
	words := m.at(d, len(src)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(src[8*i:])
	}
}

func (m *memory) GetBytes(_ rma.Rank, d rma.Disp, dst []byte) {
	if len(dst)%8 != 0 {
		panic(&rma.AddressError{Disp: d, Bytes: len(dst), Why: "not whole words"})
	}
	for i, v := range m.at(d, len(dst)/8) {
		binary.NativeEndian.PutUint64(dst[8*i:], v)
	}
}

func (m *memory) Await(context.Context, rma.Rank, rma.Disp, rma.Until) (uint64, error) {
	panic("an Agent must not wait")
}
