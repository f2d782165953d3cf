package meeting

import "github.com/orwl/go-orwl/orwl/internal/message"

// Call is one call of a phase on this node. NewCall makes it.
type Call struct {
	Number uint64   // of the agreement: all nodes give it the same
	Among  []uint64 // the lives of the nodes that have proposed it, by number of the node

	fails  func(*message.Failure)
	agreed chan answer
}

// NewCall is a call that has not been proposed. fails is called when the phase fails on another
// node. It must not wait, nor call the meeting.
func NewCall(fails func(*message.Failure)) *Call {
	return &Call{fails: fails, agreed: make(chan answer, 1)}
}

// answer is what comes of the proposal of a call.
type answer struct {
	offers [][]byte // of the nodes; nil for those that were lost
	err    error
	again  bool // void: a node has taken its call back
}

// table is the state of this node's meeting. Each method is a step: it returns the work that
// follows from it.
//
// pending is the call that this node has proposed, until all nodes have proposed, or it takes the
// call back. It is nil, too, before this node calls a phase.
type table struct {
	me, nodes int
	life      uint64

	knows   uint64           // the number of the first agreement that this node may know
	said    uint64           // counts what this node has proposed, or taken back
	refusal *message.Failure // why this node took its last call back
	pending *Call
	alone   uint64           // counts the agreements of a run of one node
	met     map[uint64]*Call // by number, until they end
	left    int              // the node that has left the meeting first, or -1
}

// work is what a step asks for.
type work struct {
	say    []byte // the proposal of this node, in the place of the one that is open
	vote   *ballot
	tell   *message.News // to all other nodes
	call   *Call         // has got the answer
	answer answer
	fails  *Call // has failed on another node
}

// ballot is a vote, among some lives.
type ballot struct {
	number uint64
	among  []uint64
	vote   []byte
}

func newTable(me, nodes int, life uint64) *table {
	return &table{me: me, nodes: nodes, life: life, met: make(map[uint64]*Call), left: -1}
}

// propose proposes a call, in the place of what is open.
func (t *table) propose(c *Call, offer []byte) work {
	t.said++
	t.pending = c
	said := message.Proposal{Call: t.said, Life: t.life, Offer: offer}.Encode()
	if t.nodes == 1 {
		t.alone++
		return t.gathered(t.alone, [][]byte{said})
	}
	return work{say: said}
}

// takeBack takes a call back, unless it is agreed upon, or void. why is what the others are told if
// they agree before they hear of it.
func (t *table) takeBack(c *Call, why *message.Failure) (w work, is bool) {
	if t.pending != c {
		return w, false
	}
	t.pending, t.refusal = nil, why
	t.said++
	return work{say: message.Proposal{Call: t.said, Life: t.life, Back: true}.Encode()}, true
}

// gathered is the beginning of an agreement: all nodes have proposed. All have the same list.
func (t *table) gathered(number uint64, list [][]byte) (w work) {
	t.knows = min(t.knows, number)
	all, err := message.ParseProposals(list, t.me)
	w.call, t.pending = t.pending, nil
	w.answer = answer{offers: all.Offers, err: err}
	switch {
	case err != nil:
	case all.Void:
		w.answer = answer{again: true}
	case all.Mine != t.said: // the others do not know that this node has taken its call back
		w.vote = &ballot{number, all.Lives, message.Vote{Failure: t.refusal.Encode()}.Encode()}
		w.answer = answer{again: true}
	case w.call != nil:
		w.call.Number, w.call.Among, t.met[number] = number, all.Lives, w.call
	}
	return w
}

// hear takes news of another node.
func (t *table) hear(n message.News) (w work) {
	if len(n.Failure) == 0 {
		t.leaves(n.Node)
		return w
	}
	return work{fails: t.met[n.Number]} // nil if it has ended
}

// leave says that no phase of this node follows.
func (t *table) leave() work {
	t.leaves(t.me)
	return work{tell: &message.News{Node: t.me}}
}

// leaves notes that no phase meets any more, since a node has left.
func (t *table) leaves(node int) {
	if t.left < 0 {
		t.left = node
	}
}

// lost takes the loss of a node. If it was the first that has left, some nodes may not have heard
// that. A node that has left the run has told all of them.
func (t *table) lost(peer int, toldAll bool) (w work) {
	if t.left == peer && !toldAll {
		w.tell = &message.News{Node: peer}
	}
	return w
}

// forget forgets a call whose phase has ended, or has not joined.
func (t *table) forget(c *Call) { delete(t.met, c.Number) }
