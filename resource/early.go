package resource

import (
	"errors"
	"fmt"
	"slices"
)

// early holds messages that overtook messages sent before them: bytes take another lane
// than grants and requests. It keeps them, up to a bound for each node, until their
// turn comes.
type early struct{ kept []Message }

// inTurn gives step a message, and then the kept messages that follow it. c is memory
// for the answers.
func (e *early) inTurn(s *Site, from Node, m *Message, c *scratch, step func(*Message, *scratch) error) error {
	err := step(m, c)
	if errors.Is(err, ErrGap) {
		return e.keep(s, from, m, err)
	}
	if err == nil && m.Seq == 1 && len(e.kept) > 0 {
		e.drop(s, from, func(k *Message) bool { return k.Node == m.Node && k.Incarnation < m.Incarnation })
	}
	for next := m.Seq + 1; err == nil && len(e.kept) > 0; next++ {
		at := e.find(m, next)
		if at < 0 {
			break
		}
		k := e.kept[at]
		s.held(from, -cost(&k))
		e.kept = slices.Delete(e.kept, at, at+1)
		err = step(&k, c)
	}
	if len(e.kept) == 0 {
		e.kept = nil // few resources ever need it
	}
	return err
}

// keep keeps a message until its turn. gap is the error that says why its turn has not
// come.
func (e *early) keep(s *Site, from Node, m *Message, gap error) error {
	if e.find(m, m.Seq) >= 0 {
		return fmt.Errorf("%w: %v of node %d already waits for its turn", ErrReplayed, m, from)
	}
	if !s.held(from, cost(m)) {
		return fmt.Errorf("%w, and too many messages came early: this one is dropped", gap)
	}
	k := *m
	k.IDs, k.Spans, k.Bytes, k.valid = slices.Clone(m.IDs), slices.Clone(m.Spans), slices.Clone(m.Bytes), nil
	k.swap = false
	if !m.intact() {
		s.held(from, -cost(m))
		return spoilt(m)
	}
	e.kept = append(e.kept, k)
	return nil
}

// find returns the index of a kept message of the same life as m, or -1.
func (e *early) find(m *Message, seq uint64) int {
	return slices.IndexFunc(e.kept, func(k Message) bool {
		return k.Seq == seq && k.Node == m.Node && k.Incarnation == m.Incarnation
	})
}

// drop forgets messages from a node.
func (e *early) drop(s *Site, from Node, which func(*Message) bool) {
	e.kept = slices.DeleteFunc(e.kept, func(k Message) bool {
		if !which(&k) {
			return false
		}
		s.held(from, -cost(&k))
		return true
	})
}

// clear forgets all messages. They are from one node.
func (e *early) clear(s *Site, from Node) {
	e.drop(s, from, func(*Message) bool { return true })
	e.kept = nil
}

// cost is about the number of bytes that a kept message takes.
func cost(m *Message) int64 { return 256 + int64(len(m.Bytes)+8*len(m.IDs)+16*len(m.Spans)) }
