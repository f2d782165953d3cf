package coherence

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// must gives the home good messages of node 1's first life, or of those they name.
func must(t *testing.T, h *recorded, all ...Message) (out []Message) {
	t.Helper()
	for _, m := range all {
		more, err := tell(t, h, m)
		if err != nil {
			t.Fatalf("%v: %v", &m, err)
		}
		out = append(out, more...)
	}
	return out
}

// texts are messages in short: their nodes and texts.
func texts(all []Message) (s []string) {
	for _, m := range all {
		s = append(s, fmt.Sprintf("%d: %v", m.Node, &m))
	}
	return s
}

// with is a message of a node in its first life.
func with(m Message, n Node) *Message {
	m.Node, m.Incarnation = n, 1
	return &m
}

// asks is a request.
func asks(seq uint64, id ID, m Mode) Message {
	return Message{Kind: RequestMessage, Seq: seq, ID: id, Mode: m}
}

// The loss of a node takes back what waits from the last to the first, and then ends what
// holds in its order: the queue grants nothing of the lost node on the way.
func TestHomeDropsInOrder(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Read), asks(2, 2, Read), asks(3, 3, Write), asks(4, 4, Write), asks(5, 5, Read))
	h.Granted([]int{0, 1}, &h.work)
	h.took()
	h.asked = nil
	h.Lost(1, &h.work)
	h.took()
	want := []string{"cancel 4 0 read", "cancel 3 0 read", "cancel 2 0 read", "release 0 0 read", "release 1 0 read"}
	if !slices.Equal(h.asked, want) {
		t.Errorf("got %q, want %q", h.asked, want)
	}
	if h.Lost(1, &h.work); len(h.work.Messages) != 0 {
		t.Errorf("a node that is lost already is told again: %v", texts(h.work.Messages))
	}
}

// A cancel of what is granted already asks the queue for nothing: the mirror releases it.
func TestHomeCancelsWhatWaits(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Read))
	h.grant(0)
	h.asked = nil
	if out := must(t, h, Message{Kind: CancelMessage, Seq: 2, ID: 1}); len(out)+len(h.asked) != 0 {
		t.Errorf("%q, %q", texts(out), h.asked)
	}
}

// A broken resource tells each node once, and again for each later message. It forgets all
// guests.
func TestHomeBroken(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Read), Message{Kind: RequestMessage, Node: 2, Seq: 1, ID: 1}, Message{Kind: JoinMessage, Node: 3, Seq: 1})
	h.Granted([]int{0}, &h.work)
	h.Lost(3, &h.work)
	h.took()
	h.Broken(&h.work)
	if got, want := texts(h.took()), []string{"1: #0 refused: broken", "2: #0 refused: broken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if h.Broken(&h.work); len(h.took()) != 0 || h.Holds(1) != 0 || !h.Over() {
		t.Errorf("broken twice, %d", h.Holds(1))
	}
	if h.Lost(1, &h.work); len(h.took()) != 0 {
		t.Error("a node that was told is told again")
	}
	for _, n := range []Node{1, 4} {
		out, err := tell(t, h, Message{Kind: RequestMessage, Node: n, Seq: 2, ID: 9})
		if !errors.Is(err, ErrBroken) || !errors.Is(err, ErrOtherLife) || !slices.Equal(texts(out), []string{fmt.Sprint(n, ": #0 refused: broken")}) {
			t.Errorf("node %d: %v, %v", n, texts(out), err)
		}
	}
}

// A home has as many guests as were queued at a time, and uses them again.
func TestHomeUsesGuestsAgain(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Read), asks(2, 2, Read))
	for round := range ID(100) {
		at := int(round % 2)
		h.grant(at)
		must(t, h, Message{Kind: ReleaseMessage, Seq: uint64(2*round) + 3, ID: round + 1}, asks(uint64(2*round)+4, round+3, Read))
	}
	if len(h.guests) != 2 {
		t.Errorf("it has room for %d requests, and there were at most 2", len(h.guests))
	}
}

// A node's first message is the first of its life, and the bytes are lent only for a life
// that held something.
func TestHomeAdmitsNewNodes(t *testing.T) {
	h := record(t)
	if _, err := tell(t, h, Message{Kind: JoinMessage, Seq: 2}); !errors.Is(err, ErrGap) || len(h.peers) != 0 {
		t.Errorf("%v, %d peers", err, len(h.peers))
	}
	must(t, h, asks(1, 1, Write))
	if _, err := tell(t, h, Message{Kind: JoinMessage, Incarnation: 2, Seq: 2}); !errors.Is(err, ErrGap) {
		t.Errorf("a life begins in the middle: %v", err)
	}
	must(t, h, Message{Kind: RequestMessage, Incarnation: 2, Seq: 1, ID: 1, Mode: Write})
	if k := h.buffer.kind; k != nil && k.lent {
		t.Error("the bytes are lent to a life that held nothing")
	}
	h.grant(1)
	must(t, h, Message{Kind: JoinMessage, Incarnation: 3, Seq: 1})
	if k := h.buffer.kind; k == nil || !k.lent {
		t.Error("the bytes of a grant may be under way, and are not lent")
	}
}

// One node cannot use up the home's memory.
func TestHomeBoundsRequests(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Read))
	for id := ID(2); id < mostQueued; id++ {
		h.peers[0].guests.add(id, 0)
	}
	must(t, h, asks(2, mostQueued, Read))
	if _, err := tell(t, h, asks(3, mostQueued+1, Read)); !errors.Is(err, ErrMalformed) {
		t.Errorf("one more is taken: %v", err)
	}
}

// A release of another request, or with another fence, is refused and changes nothing.
func TestHomeRefusesStale(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Write), asks(2, 2, Write))
	h.grant(0)
	h.asked = nil
	seq := uint64(2)
	for name, m := range map[string]Message{
		"no such request":       {Kind: ReleaseMessage, ID: 9, Stamp: Stamp{Fence: 1}},
		"one that waits":        {Kind: ReleaseMessage, ID: 2},
		"an older fence":        {Kind: ReleaseMessage, ID: 1},
		"renewed, older fence":  {Kind: RenewMessage, Old: 1, ID: 3},
		"renewed, no such":      {Kind: RenewMessage, Old: 9, ID: 3, Stamp: Stamp{Fence: 1}},
		"abandoned, older":      {Kind: ReleaseMessage, ID: 1, Reason: Abandoned},
		"a fence of the future": {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 2}},
	} {
		seq++
		m.Seq, m.Wrote, m.Whole, m.Size, m.Bytes = seq, m.Reason == 0, true, 8, []byte("bad news")
		out := must(t, h, m)
		if len(out) != 1 || out[0].Reason != Stale || out[0].ID != m.ID || len(h.asked) != 0 || h.ledger.Version() != 0 || h.buffer.Bytes()[0] != 0 {
			t.Errorf("%s: %q, %q, version %d", name, texts(out), h.asked, h.ledger.Version())
		}
	}
}

// A write may use the whole limit.
func TestHomeLimit(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Write), asks(2, 2, Write))
	h.grant(0)
	must(t, h, Message{Kind: ReleaseMessage, Seq: 3, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 64, Bytes: make([]byte, 64)})
	h.grant(1)
	must(t, h, Message{Kind: ReleaseMessage, Seq: 4, ID: 2, Stamp: Stamp{Fence: 2}, Wrote: true, Whole: true, Size: 64, Bytes: make([]byte, 64)})
	if h.ledger.Version() != 2 {
		t.Errorf("version %d after two writes", h.ledger.Version())
	}
}

// A holder that has failed releases, and neither renews nor writes.
func TestHomeAbandons(t *testing.T) {
	h := record(t)
	must(t, h, asks(1, 1, Write))
	h.grant(0)
	renewal := Message{Kind: RenewMessage, Seq: 2, Old: 1, ID: 2, Stamp: Stamp{Fence: 1}, Reason: Abandoned}
	if out, err := tell(t, h, renewal); !errors.Is(err, ErrMalformed) || len(out) != 0 {
		t.Errorf("%v: %v, %v", &renewal, texts(out), err)
	}
	wrote := Message{Kind: ReleaseMessage, Seq: 2, ID: 1, Stamp: Stamp{Fence: 1}, Reason: Abandoned, Wrote: true, Whole: true, Size: 8, Bytes: []byte("bad news")}
	if must(t, h, wrote); h.ledger.Version() != 0 || h.buffer.Bytes()[0] != 0 || h.ledger.Prior() != PriorLost {
		t.Errorf("bytes that are abandoned become version %d, %v", h.ledger.Version(), h.ledger.Prior())
	}
	for mode, known := range map[Mode]uint64{Write: 0, Read: 1} {
		h := record(t)
		must(t, h, asks(1, 1, mode))
		h.grant(0)
		must(t, h, Message{Kind: ReleaseMessage, Seq: 2, ID: 1, Reason: Abandoned, Stamp: Stamp{Fence: uint64(mode)}})
		if prior := h.ledger.Prior(); h.peers[0].known != known || (prior == PriorLost) != (mode == Write) {
			t.Errorf("%v: the home knows of v%d there; %v", mode, h.peers[0].known, prior)
		}
	}
}
