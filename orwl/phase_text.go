package orwl

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// proposal is what a node puts before the others: the offer of a phase, or that it has taken its
// call back.
type proposal struct {
	Version uint64 `msgpack:"version"`
	Call    uint64 `msgpack:"call"` // counts what the node has put before them
	Life    uint64 `msgpack:"life"` // of the node
	Back    bool   `msgpack:"back"` // taken back
	Offer   []byte `msgpack:"offer"`
}

// parseProposals reads the proposals of all nodes, nil for nodes that were lost. It returns the
// offers in them, the lives of the nodes, the call of this node, and whether one was taken back.
func parseProposals(list [][]byte, me int) (offers [][]byte, lives []uint64, mine uint64, back bool, err error) {
	offers, lives = make([][]byte, len(list)), make([]uint64, len(list))
	for i, b := range list {
		if b == nil {
			continue
		}
		var p proposal
		bad := pack.Decode(b, &p)
		if bad == nil {
			_, bad = checkSaid(p.Version, nil, len(list))
		}
		if bad != nil && err == nil {
			err = fmt.Errorf("orwl: what node %d proposes: %w", i, bad)
		}
		if i == me {
			mine = p.Call
		}
		back = back || p.Back
		lives[i] = p.Life
		offers[i] = append([]byte{}, p.Offer...) // not nil
	}
	return offers, lives, mine, back, err
}

// agreed is what comes of proposals: the offer of each node, nil for those that were lost.
type agreed struct {
	list [][]byte
	err  error
}

// offer is what a node proposes of a phase: a digest of its text, and what the node alone
// knows. All nodes judge the phase by all offers, so they judge alike.
type offer struct {
	Version uint64    `msgpack:"version"`
	Failure []byte    `msgpack:"failure"` // why the phase cannot join; empty if it may
	Digest  []byte    `msgpack:"digest"`
	First   string    `msgpack:"first"`  // its first task
	Waited  bool      `msgpack:"waited"` // a task has called Phase with its context
	Runs    []running `msgpack:"runs"`
	Knows   uint64    `msgpack:"knows"` // the first phase that it can know: it may have come back
}

// running are the tasks of a batch that run on a node.
type running struct {
	Number uint64 `msgpack:"number"`
	Tasks  []byte `msgpack:"tasks"` // a bit for each task of the batch
}

func (r running) has(i int) bool { return i/8 < len(r.Tasks) && r.Tasks[i/8]>>(i%8)&1 != 0 }

// runningOf tells which tasks of a batch run on this node.
func runningOf(b batch) running {
	r := running{Number: b.number, Tasks: make([]byte, (len(b.tasks)+7)/8)}
	for i, t := range b.tasks {
		if t.here() && !t.ended.Load() {
			r.Tasks[i/8] |= 1 << (i % 8)
		}
	}
	return r
}

// vote is what a node says of a phase that all nodes have judged well: that it cannot join
// after all, or where the first requests begin in the queues whose home is there.
type vote struct {
	Version uint64         `msgpack:"version"`
	Failure []byte         `msgpack:"failure"`
	Orders  map[string]int `msgpack:"orders"` // by resource: the number of the first reservation
}

// parseOffer reads an offer, of one of so many nodes. failure is its failure, or nil.
func parseOffer(b []byte, nodes int) (o *offer, failure error, err error) {
	o = new(offer)
	if err = pack.Decode(b, o); err == nil {
		failure, err = checkSaid(o.Version, o.Failure, nodes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("orwl: what a node proposes of a phase: %w", err)
	}
	return o, failure, nil
}

// parseVote reads a vote, as parseOffer does an offer.
func parseVote(b []byte, nodes int) (v *vote, failure error, err error) {
	v = new(vote)
	if err = pack.Decode(b, v); err == nil {
		failure, err = checkSaid(v.Version, v.Failure, nodes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("orwl: what a node says of a phase: %w", err)
	}
	return v, failure, nil
}

// checkSaid checks the version, and returns the failure that comes with it, or nil.
func checkSaid(version uint64, failure []byte, nodes int) (why, err error) {
	if version != messageVersion {
		return nil, fmt.Errorf("version %d, want %d: it comes from another build", version, messageVersion)
	}
	if len(failure) == 0 {
		return nil, nil
	}
	e, err := parseFailure(failure, nodes)
	if err != nil {
		return nil, err
	}
	return e, nil
}
