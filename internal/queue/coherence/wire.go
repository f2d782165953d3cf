package coherence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
)

// A message between two nodes: how it is written, and how messages come back into their order.

// A message as a header: an array of unsigned integers in msgpack's format, all in forms of
// fixed length. So each stands at a fixed place, and any msgpack library reads it.
//
//	array32, n │ kind │ bits │ reason │ resource │ incarnation │ ... │ ids │ id...
//	 5 bytes      1      1      1        9 bytes each
//
// Ids is how many requests a grant names. The bytes of the resource travel beside the header. The node is not in it: the transport knows it.

const (
	array32    = 0xdd // and the length in 4 bytes
	uint64Form = 0xcf // and the integer in 8 bytes

	headerSmall = 3  // integers of a byte
	headerWords = 10 // integers of 8 bytes, without the list
	wordsAt     = 5 + headerSmall
	word        = 9 // bytes
)

// The bits of a header. The mode has one, and what became of the writer before has two.
const (
	bitsPrior = 1
	bitWrote  = 1 << 3
	bitWhole  = 1 << 4
	allBits   = 1<<5 - 1
)

// The limits of a header.
const (
	mostIDs  = 1 << 16
	mostSize = 1 << 62
)

// AppendHeader appends a message without its node and its bytes.
func AppendHeader(b []byte, m *Message) []byte {
	bits := uint64(m.Mode) | uint64(m.Prior)<<bitsPrior
	if m.Wrote {
		bits |= bitWrote
	}
	if m.Whole {
		bits |= bitWhole
	}
	number := func(v uint64) { b = binary.BigEndian.AppendUint64(append(b, uint64Form), v) }
	n := len(m.IDs) + headerSmall + headerWords
	b = binary.BigEndian.AppendUint32(append(b, array32), uint32(n))
	b = append(b, byte(m.Kind), byte(bits), byte(m.Reason))
	for _, v := range [headerWords]uint64{
		m.Resource, m.Incarnation, m.Seq, uint64(m.ID), uint64(m.Old),
		m.Version, m.Fence, m.Known, uint64(m.Size), uint64(len(m.IDs)),
	} {
		number(v)
	}
	for _, id := range m.IDs {
		number(uint64(id))
	}
	return b
}

// ParseInto parses a header into m, which may have had another header: it sets all fields
// that AppendHeader appends, and uses the room in the lists. It leaves the node and the
// bytes. ErrMalformed means that no half sends such a header. The half that takes the
// message checks more.
func ParseInto(b []byte, m *Message) error {
	words := (len(b) - wordsAt) / word
	if words < headerWords || len(b) != wordsAt+words*word || b[0] != array32 ||
		uint64(binary.BigEndian.Uint32(b[1:])) != uint64(headerSmall+words) {
		return fmt.Errorf("%w: header of %d bytes", ErrMalformed, len(b))
	}
	for at := wordsAt; at < len(b); at += word {
		if b[at] != uint64Form {
			return fmt.Errorf("%w: header with the form %#x at byte %d, want %#x", ErrMalformed, b[at], at, uint64Form)
		}
	}
	number := func(i int) uint64 { return binary.BigEndian.Uint64(b[wordsAt+i*word+1:]) }
	kind, bits, reason, size := Kind(b[5]), uint64(b[6]), Reason(b[7]), number(8)
	prior := Prior(bits >> bitsPrior & 3)
	if kind == 0 || kind > ConfirmedMessage || bits > allBits || prior > PriorPoisoned || reason > Abandoned || size > mostSize {
		return fmt.Errorf("%w: header with kind %d, bits %#x, reason %d, size %d", ErrMalformed, kind, bits, reason, size)
	}
	ids := number(9)
	if ids > mostIDs || ids != uint64(words-headerWords) {
		return fmt.Errorf("%w: header of %d requests, want at most %d, and %d follow", ErrMalformed, ids, mostIDs, words-headerWords)
	}
	m.Kind, m.Mode, m.Prior, m.Reason = kind, Mode(bits&1), prior, reason
	m.Wrote, m.Whole = bits&bitWrote != 0, bits&bitWhole != 0
	m.Resource, m.Incarnation, m.Seq = number(0), number(1), number(2)
	m.ID, m.Old = ID(number(3)), ID(number(4))
	m.Version, m.Fence, m.Known, m.Size = number(5), number(6), number(7), int(size)
	m.IDs = slices.Grow(m.IDs[:0], int(ids))
	for at := headerWords; at < words; at++ {
		m.IDs = append(m.IDs, ID(number(at)))
	}
	return nil
}

// number checks a message's place in the order of its sender. got is the last that was
// taken.
func (m *Message) number(got uint64) error {
	switch {
	case m.Seq <= got:
		return fmt.Errorf("%w: %v of node %d, %d is the last", ErrReplayed, m, m.Node, got)
	case m.Seq > got+1:
		return fmt.Errorf("%w: %v of node %d after %d", ErrGap, m, m.Node, got)
	}
	return nil
}

// Turns puts messages of one resource back into their order: bytes take another lane than
// grants and requests, so one may overtake the other. It keeps messages that came early.
type Turns struct{ kept []Message }

// Take gives step a message, and then the kept messages whose turn has come. A message that
// is too early is kept, if the budget of the node that it is from has room.
func (t *Turns) Take(m *Message, from Node, b *Budget, step func(*Message) error) error {
	err := step(m)
	if errors.Is(err, ErrGap) {
		return t.keep(m, from, b, err)
	}
	if err == nil && m.Seq == 1 {
		t.Drop(from, b, func(k *Message) bool { return k.Node == m.Node && k.Incarnation < m.Incarnation })
	}
	if len(t.kept) == 0 {
		return err
	}
	for next := m.Seq + 1; err == nil; next++ {
		at := t.find(m, next)
		if at < 0 {
			break
		}
		k := t.kept[at]
		b.Free(&k, from)
		t.kept = slices.Delete(t.kept, at, at+1)
		err = step(&k)
	}
	if len(t.kept) == 0 {
		t.kept = nil // few resources ever need it
	}
	return err
}

// keep keeps a message until its turn. gap is the error that says why its turn has not
// come.
func (t *Turns) keep(m *Message, from Node, b *Budget, gap error) error {
	if t.find(m, m.Seq) >= 0 {
		return fmt.Errorf("%w: %v of node %d already waits for its turn", ErrReplayed, m, from)
	}
	k, err := b.Keep(m, from)
	if k != nil {
		invariant.Sometimes(true, "a message overtakes another")
		t.kept = append(t.kept, *k)
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%w, and too many messages came early: this one is dropped", gap)
	}
	return err
}

// find returns the index of a kept message of the same life as m, or -1.
func (t *Turns) find(m *Message, seq uint64) int {
	return slices.IndexFunc(t.kept, func(k Message) bool {
		return k.Seq == seq && k.Node == m.Node && k.Incarnation == m.Incarnation
	})
}

// Drop forgets messages from a node.
func (t *Turns) Drop(from Node, b *Budget, which func(*Message) bool) {
	t.kept = slices.DeleteFunc(t.kept, func(k Message) bool {
		if !which(&k) {
			return false
		}
		b.Free(&k, from)
		return true
	})
	if len(t.kept) == 0 {
		t.kept = nil
	}
}

// Budget bounds the bytes of messages that are kept for each other node. One message is
// kept whatever its size. Several goroutines may use it.
type Budget struct {
	most int64
	used []atomic.Int64 // by node
}

// NewBudget allows most bytes for each of some nodes.
func NewBudget(nodes, most int) *Budget {
	return &Budget{most: int64(most), used: make([]atomic.Int64, nodes)}
}

// Keep is a copy of a message, or nil if there is no room. An error says that its bytes are
// no longer what was sent.
func (b *Budget) Keep(m *Message, from Node) (*Message, error) {
	n := cost(m)
	if now := b.used[from].Add(n); now > b.most && now != n {
		b.Free(m, from)
		return nil, nil
	}
	k := *m
	k.IDs, k.Bytes = slices.Clone(m.IDs), slices.Clone(m.Bytes)
	k.Valid, k.Swap = nil, false
	if !m.intact() {
		b.Free(m, from)
		return nil, spoilt(m)
	}
	return &k, nil
}

// Free gives the room of a kept message back.
func (b *Budget) Free(k *Message, from Node) { b.used[from].Add(-cost(k)) }

// Used is how many bytes are kept for a node.
func (b *Budget) Used(n Node) int64 { return b.used[n].Load() }

// cost is about the number of bytes that a kept message takes.
func cost(m *Message) int64 { return 256 + int64(len(m.Bytes)+8*len(m.IDs)) }
