package agreement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Chair is node 0's part in agreements. One goroutine at a time uses it.
type Chair struct {
	nodes  []attendance
	number uint64 // of the last agreement
	left   bool   // a node has left
	given  map[round][][]byte
}

// attendance is what the chair knows of a node.
type attendance struct {
	lost bool
	open uint64 // the call of its open proposal, 0 if there is none
	past uint64 // no proposal up to this call counts any more
	blob []byte
}

// round is one of an agreement.
type round struct{ number, round uint64 }

// NewChair makes the chair of a run of so many nodes.
func NewChair(nodes int) *Chair {
	return &Chair{nodes: make([]attendance, nodes), given: make(map[round][][]byte)}
}

// Step takes a message, and returns those to send.
func (c *Chair) Step(from int, m Message) ([]Letter, error) {
	a := &c.nodes[from]
	switch m.Kind {
	case Propose:
		switch {
		case c.left:
			return nil, nil
		case m.Call <= a.past || m.Call < a.open:
			invariant.Sometimes(true, "a withdrawal overtakes its proposal")
			return nil, nil
		case m.Call == a.open:
			return nil, fmt.Errorf("%w: node %d proposes twice in call %d", ErrMessage, from, m.Call)
		}
		invariant.Sometimes(a.open != 0, "a proposal overtakes the withdrawal of the one before")
		a.open, a.blob = m.Call, m.Blob
		return c.meet(), nil
	case Withdraw:
		invariant.Sometimes(m.Call <= a.past, "a proposal is withdrawn after all have met")
		a.past = max(a.past, m.Call)
		if a.open == m.Call {
			a.open, a.blob = 0, nil
		}
		return nil, nil
	case Leave:
		return c.leave(from), nil
	case Give:
		return c.give(from, round{m.Number, m.Round}, m.Blob)
	}
	return nil, fmt.Errorf("%w: the chair does not take kind %d of node %d", ErrMessage, m.Kind, from)
}

// Lost says that a node is lost, after all that came from it.
func (c *Chair) Lost(node int) (out []Letter) {
	c.nodes[node] = attendance{lost: true}
	out = c.meet()
	for _, at := range slices.SortedFunc(maps.Keys(c.given), func(a, b round) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.round, b.round))
	}) {
		out = append(out, c.complete(at)...)
	}
	return out
}

// meet begins an agreement if all nodes have proposed.
func (c *Chair) meet() (out []Letter) {
	list := make([][]byte, len(c.nodes))
	for i := range c.nodes {
		switch a := &c.nodes[i]; {
		case a.lost:
		case a.open == 0 || c.left:
			return nil
		default:
			list[i] = a.blob
		}
	}
	c.number++
	for i := range c.nodes {
		if a := &c.nodes[i]; !a.lost {
			out = append(out, Letter{i, Message{Kind: All, Number: c.number, Call: a.open, List: list}})
			a.past, a.open, a.blob = a.open, 0, nil
		}
	}
	return out
}

// leave tells all nodes that one has left.
func (c *Chair) leave(node int) (out []Letter) {
	if c.left {
		return nil
	}
	c.left = true
	for i := range c.nodes {
		a := &c.nodes[i]
		invariant.Sometimes(a.open != 0, "a node leaves while another has proposed")
		if !a.lost {
			a.past, a.open, a.blob = max(a.past, a.open), 0, nil
			out = append(out, Letter{i, Message{Kind: Left, Number: uint64(node)}})
		}
	}
	return out
}

// give takes what a node gives in a round.
func (c *Chair) give(from int, at round, blob []byte) ([]Letter, error) {
	if at.number == 0 || at.number > c.number || at.round == 0 {
		return nil, fmt.Errorf("%w: node %d gives in round %d of agreement %d, the last one is %d", ErrMessage, from, at.round, at.number, c.number)
	}
	list := c.given[at]
	if list == nil {
		list = make([][]byte, len(c.nodes))
		c.given[at] = list
	}
	if list[from] != nil {
		return nil, fmt.Errorf("%w: node %d gives twice in round %d of agreement %d", ErrMessage, from, at.round, at.number)
	}
	list[from] = append([]byte{}, blob...) // not nil, if empty
	return c.complete(at), nil
}

// complete tells all nodes what a round has given, if all have that are there.
func (c *Chair) complete(at round) (out []Letter) {
	list := c.given[at]
	for i := range c.nodes {
		if !c.nodes[i].lost && list[i] == nil {
			return nil
		}
	}
	delete(c.given, at)
	for i := range c.nodes {
		invariant.Sometimes(c.nodes[i].lost && list[i] == nil, "a node is lost between two rounds")
		if !c.nodes[i].lost {
			out = append(out, Letter{i, Message{Kind: All, Number: at.number, Round: at.round, List: list}})
		}
	}
	return out
}

// Open is how many rounds are under way.
func (c *Chair) Open() int { return len(c.given) }
