package versions

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// Version is which write the bytes of a resource are of: its round, and the position of its access in the start
// order, from 1. Versions of a resource grow, and each has all changes of those before it. 0 is no version.
type Version uint64

// First is the version of the bytes before any write of the run.
const First Version = 1

func version(round, position uint32) Version { return Version(round)<<32 | Version(position) }

// Round is the round of the write, 0 for the first version.
func (v Version) Round() uint32 { return uint32(v >> 32) }

// Position is the position of the access.
func (v Version) Position() uint32 { return uint32(v) }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Round(), v.Position()) }

// State is what comes after a round of an access.
type State uint8

const (
	Goes  State = iota // another round
	Rests              // empty turns only: its task has ended, and its counter publishes more rounds
	Ended              // nothing: its counter publishes plan.Ended
)

// mostRounds is the last round that a counter can publish.
const mostRounds = plan.Ended - 1

// value is what a counter publishes in a round.
func value(round uint32, ended bool) uint32 {
	if ended {
		return plan.Ended
	}
	return round
}

// Publication is a counter that has published a round, or plan.Ended.
type Publication struct {
	Counter int
	Round   uint32
	Bytes   int // how many bytes have come with it
}

// Work is what the caller has to do after a call. A call appends to it.
type Work struct {
	// Publish are the counters to raise, after the call. To raise is to store the round if the counter has less: two
	// calls on different goroutines may return two rounds of a counter.
	Publish []Publication
	// Nodes are those for which something waits: call Pass for each.
	Nodes []int

	entries []entry
	reports []report
	spans   []Span
}

// Begin sends the first version of each resource whose home is here.
func (n *Node) Begin(w *Work) {
	for _, r := range n.resources {
		if r == nil || r.home != n.o.Node {
			continue
		}
		r.mu.Lock()
		r.version = First
		changed := []Span{{0, r.size}}
		if r.copy.Zero {
			changed = nil
		}
		for _, l := range r.links {
			l.note(0, First, writes{}, changed, nil, w)
		}
		r.mu.Unlock()
		n.absent.Add(-1)
	}
}

// Begun reports whether the first version of each resource that is used here is here. No task that crosses nodes
// runs before.
func (n *Node) Begun() bool { return n.absent.Load() == 0 }

// Over reports whether each copy here has its last version: all writers of its resource have made their last change.
func (n *Node) Over() bool { return n.writers.Load() == 0 && n.Begun() }

// Tells reports whether other nodes are told of a counter. If not, Released and Ends have nothing to note.
func (n *Node) Tells(counter int) bool {
	u := &n.uses[counter]
	return u.writes || u.begin < u.end
}

// Released notes that an access of this node has ended a round, after the body and before its counter publishes it. A
// write says which bytes it has changed. A round of an access that rests is an empty turn, in which nothing changes. An
// error says that the bytes are beyond what is possible: then nothing is noted, and the run has failed.
func (n *Node) Released(counter int, round uint32, changed []Span, state State, w *Work) error {
	u := &n.uses[counter]
	invariant.Check((u.position == 0 || int(u.node) == n.o.Node) && round > 0 && round <= mostRounds, "round %d of counter %d on node %d", round, counter, n.o.Node)
	u.round = round
	if !u.writes {
		n.credit(u, state, w)
		return nil
	}
	r := n.resources[u.resource]
	r.mu.Lock()
	defer r.mu.Unlock()
	size := len(r.copy.Bytes())
	if size > n.o.Most {
		return fmt.Errorf("%w: a write of resource %d has made it %d bytes, at most %d are possible", ErrLimit, r.number, size, n.o.Most)
	}
	for _, s := range changed {
		if s.Off < 0 || s.Len < 0 || s.Len > size-s.Off {
			return fmt.Errorf("%w: a write of resource %d has changed %d bytes from byte %d on, of %d", ErrRange, r.number, s.Len, s.Off, size)
		}
	}
	whole := [1]Span{{0, size}}
	if size != r.size {
		changed = whole[:]
	}
	c := writes{all: 1}
	switch {
	case u.rests:
		c.all = 0 // an empty turn
	case len(changed) == 0:
		c.idle = 1
	}
	u.rests = state != Goes
	h := report{uint32(u.position), round, state}
	base := r.version
	invariant.Check(base != 0 && base < h.version(), "version %v of resource %d after %v", h.version(), r.number, base)
	r.version, r.size = h.version(), size
	n.wrote(r, base, h.version(), c, changed, h, w)
	return nil
}

// Ends notes that an access of this node rests or has ended, without a round after the last one that was released.
func (n *Node) Ends(counter int, state State, w *Work) {
	u := &n.uses[counter]
	if !u.writes {
		n.credit(u, state, w)
		return
	}
	u.rests = true
	r := n.resources[u.resource]
	r.mu.Lock()
	n.wrote(r, 0, 0, writes{}, nil, report{uint32(u.position), u.round, state}, w)
	r.mu.Unlock()
}

// wrote notes what a write here says: a version, or that it has ended. The resource is locked.
func (n *Node) wrote(r *resource, base, version Version, c writes, changed []Span, h report, w *Work) {
	n.rest(r, h)
	all := [1]report{h}
	for _, l := range r.links {
		l.note(base, version, c, changed, all[:], w)
	}
}

// rest counts the writers that change no more bytes. The resource is locked.
func (n *Node) rest(r *resource, h report) {
	if h.state != Goes && !r.rests[h.position-1] {
		r.rests[h.position-1] = true
		n.writers.Add(-1)
	}
}

// credit notes a round of a read, or its end.
func (n *Node) credit(u *use, state State, w *Work) {
	if u.round == 0 && state != Ended {
		return
	}
	for _, t := range n.listeners[u.begin:u.end] {
		n.boxes[t.node].credit(t, u.round, state == Ended, w)
	}
}
