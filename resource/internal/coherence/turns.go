package coherence

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
)

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
	k.IDs, k.Spans, k.Bytes = slices.Clone(m.IDs), slices.Clone(m.Spans), slices.Clone(m.Bytes)
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
func cost(m *Message) int64 { return 256 + int64(len(m.Bytes)+8*len(m.IDs)+16*len(m.Spans)) }
