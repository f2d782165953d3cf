package message

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Proposal is what a node puts before the others: the offer of a phase, or that it has taken its
// call back.
type Proposal struct {
	Version uint64 `msgpack:"version"`
	Call    uint64 `msgpack:"call"` // counts what the node has put before them
	Life    uint64 `msgpack:"life"` // of the node
	Back    bool   `msgpack:"back"` // taken back
	Offer   []byte `msgpack:"offer"`
}

// Encode is the proposal as others are told it.
func (p Proposal) Encode() []byte {
	p.Version = Version
	return pack.Encode(&p)
}

// Proposals are what all nodes have proposed, in their order. A node that was lost has the life 0,
// and the offer nil.
type Proposals struct {
	Offers [][]byte
	Lives  []uint64
	Mine   uint64 // the call of this node
	Void   bool   // a node has taken its call back
}

// ParseProposals reads what all nodes have proposed: nil for those that were lost. me is this node.
func ParseProposals(list [][]byte, me int) (all Proposals, err error) {
	all.Offers, all.Lives = make([][]byte, len(list)), make([]uint64, len(list))
	for i, b := range list {
		if b == nil {
			continue
		}
		var p Proposal
		bad := pack.Decode(b, &p)
		if bad == nil {
			_, bad = check(p.Version, nil, len(list))
		}
		if bad != nil && err == nil {
			err = fmt.Errorf("orwl: what node %d proposes: %w", i, bad)
		}
		if i == me {
			all.Mine = p.Call
		}
		all.Void = all.Void || p.Back
		all.Lives[i] = p.Life
		all.Offers[i] = append([]byte{}, p.Offer...) // not nil
	}
	return all, err
}

// Offer is what a node proposes of a phase: a digest of its text, and what the node alone
// knows. All nodes judge the phase by all offers, so they judge alike.
type Offer struct {
	Version uint64    `msgpack:"version"`
	Failure []byte    `msgpack:"failure"` // why the phase cannot join; empty if it may
	Digest  []byte    `msgpack:"digest"`
	First   string    `msgpack:"first"`  // its first task
	Waited  bool      `msgpack:"waited"` // a task has called Phase with its context
	Runs    []Running `msgpack:"runs"`
	Knows   uint64    `msgpack:"knows"`   // the first phase that it can know: it may be late
	Machine string    `msgpack:"machine"` // of the node; empty if it shares none
}

// Running are the tasks of a batch that run on a node. A batch is the program, which has the
// number 0, or a phase.
type Running struct {
	Number uint64 `msgpack:"number"`
	Tasks  []byte `msgpack:"tasks"` // a bit for each task of the batch
}

// NewRunning is a batch of so many tasks. None of them runs.
func NewRunning(number uint64, tasks int) Running {
	return Running{Number: number, Tasks: make([]byte, (tasks+7)/8)}
}

// Add says that a task of the batch runs.
func (r Running) Add(task int) { r.Tasks[task/8] |= 1 << (task % 8) }

// Has reports whether a task of the batch runs.
func (r Running) Has(task int) bool { return task/8 < len(r.Tasks) && r.Tasks[task/8]>>(task%8)&1 != 0 }

// Any reports whether any task of the batch runs.
func (r Running) Any() bool {
	for _, b := range r.Tasks {
		if b != 0 {
			return true
		}
	}
	return false
}

// Encode is the offer as others are told it.
func (o Offer) Encode() []byte {
	o.Version = Version
	return pack.Encode(&o)
}

// ParseOffer reads an offer, of one of so many nodes. failure is its failure, or nil.
func ParseOffer(b []byte, nodes int) (o *Offer, failure *Failure, err error) {
	o = new(Offer)
	if err = pack.Decode(b, o); err == nil {
		failure, err = check(o.Version, o.Failure, nodes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("orwl: what a node proposes of a phase: %w", err)
	}
	return o, failure, nil
}

// Vote is what a node says of a phase that all nodes have judged well: that it cannot join
// after all, or where the first requests begin in the queues whose home is there.
type Vote struct {
	Version uint64         `msgpack:"version"`
	Failure []byte         `msgpack:"failure"`
	Orders  map[string]int `msgpack:"orders"` // by resource: the number of the first reservation
}

// Encode is the vote as others are told it.
func (v Vote) Encode() []byte {
	v.Version = Version
	return pack.Encode(&v)
}

// ParseVote reads a vote, as ParseOffer does an offer.
func ParseVote(b []byte, nodes int) (v *Vote, failure *Failure, err error) {
	v = new(Vote)
	if err = pack.Decode(b, v); err == nil {
		failure, err = check(v.Version, v.Failure, nodes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("orwl: what a node says of a phase: %w", err)
	}
	return v, failure, nil
}

// News is what a node tells all others, beside what they agree upon: that a phase has failed, or
// that a node has left the meeting.
type News struct {
	Version uint64 `msgpack:"version"`
	Number  uint64 `msgpack:"number"`  // of the phase
	Failure []byte `msgpack:"failure"` // empty: Node has left
	Node    int    `msgpack:"node"`
}

// Encode is the news as others are told it.
func (n News) Encode() []byte {
	n.Version = Version
	return pack.Encode(&n)
}

// ParseNews reads news. failure is the failure in it, or nil.
func ParseNews(b []byte, nodes int) (n News, failure *Failure, err error) {
	if err = pack.Decode(b, &n); err == nil {
		failure, err = check(n.Version, n.Failure, nodes)
	}
	if err == nil && (n.Node < 0 || n.Node >= nodes) {
		err = fmt.Errorf("node %d, want 0 to %d", n.Node, nodes-1)
	}
	if err != nil {
		return News{}, nil, fmt.Errorf("orwl: news of a phase: %w", err)
	}
	return n, failure, nil
}
