package coherence

import (
	"errors"
	"slices"
	"testing"
)

// fromHome gives a mirror a message of the home, for its present life unless m says otherwise.
func fromHome(r *Mirror, m Message, w *Work) error {
	m.Node = r.o.Node
	if m.Incarnation == 0 {
		m.Incarnation = r.o.Incarnation
	}
	return r.Step(&m, w)
}

// Only the refusal of a whole life goes without a number, and none is for another life.
func TestMirrorTakesRefusalsOfLives(t *testing.T) {
	for name, c := range map[string]struct {
		m    Message
		want error
	}{
		"an answer without a number": {Message{Kind: ConfirmedMessage}, ErrReplayed},
		"another life's end":         {Message{Kind: RefusedMessage, Incarnation: 2, Reason: Ended}, ErrOtherLife},
		"another life's grant":       {Message{Kind: GrantMessage, Incarnation: 2, Seq: 2}, ErrOtherLife},
	} {
		r := asking(t)
		if err := fromHome(r, c.m, new(Work)); !errors.Is(err, c.want) || r.Over() != nil {
			t.Errorf("%s: %v, over: %v", name, err, r.Over())
		}
	}
	r := asking(t)
	var w Work
	if err := fromHome(r, Message{Kind: RefusedMessage, Reason: Ended}, &w); !errors.Is(err, ErrEnded) || r.Over() == nil {
		t.Errorf("the home has ended this life: %v", err)
	}
}

// The end of a life names its requests in their order.
func TestMirrorEndsInOrder(t *testing.T) {
	r := NewMirror(new(Buffer), MirrorOptions{Node: 1, Incarnation: 1, Limit: 1 << 10})
	var w Work
	for _, id := range []ID{5, 2, 9, 4} {
		if err := r.Request(id, Read, nil, &w); err != nil {
			t.Fatal(err)
		}
	}
	r.Lost(nil, &w)
	var ids []ID
	for _, e := range w.Events {
		ids = append(ids, e.ID)
	}
	if !slices.Equal(ids, []ID{2, 4, 5, 9}) {
		t.Errorf("they end as %v", ids)
	}
}

// The first reason for the end of a life stays.
func TestMirrorEndsOnce(t *testing.T) {
	r := asking(t)
	r.Lost(ErrBroken, new(Work))
	var w Work
	if r.Lost(ErrLost, &w); !errors.Is(r.Over(), ErrBroken) || len(w.Events) != 0 {
		t.Errorf("over: %v, then %+v", r.Over(), w.Events)
	}
}

// A mirror whose bytes were spoilt does not say that it has a version.
func TestMirrorForgetsSpoilt(t *testing.T) {
	r := asking(t)
	grant := Message{Kind: GrantMessage, Seq: 2, Mode: Write, IDs: []ID{2}, Stamp: Stamp{Version: 1}, Whole: true, Size: 8, Bytes: make([]byte, 8), Valid: func() bool { return false }}
	if err := r.Release(Access{ID: 1}, new(Work)); err != nil {
		t.Fatal(err)
	}
	var w Work
	if err := fromHome(r, grant, &w); !errors.Is(err, ErrOtherLife) || r.known != 0 || r.Here() {
		t.Errorf("%v: the mirror has v%d", err, r.known)
	}
	r.Lost(nil, &w)
	if err := r.Rejoin(2); err != nil {
		t.Fatal(err)
	}
	w.Reset()
	if r.Join(&w); w.Messages[0].Known != 0 {
		t.Errorf("%v says that it has v%d", &w.Messages[0], w.Messages[0].Known-1)
	}
}

// A mirror that is idle goes on when the home is suspected.
func TestMirrorSuspects(t *testing.T) {
	r := NewMirror(new(Buffer), MirrorOptions{Node: 1, Incarnation: 1, Limit: 1 << 10})
	var w Work
	if r.Suspect(ErrLost, 2, &w) || len(w.Messages)+len(w.Events) != 0 || r.o.Incarnation != 1 {
		t.Errorf("an idle mirror begins life %d: %+v", r.o.Incarnation, w)
	}
	r = asking(t)
	if !r.Suspect(ErrLost, 2, &w) || r.o.Incarnation != 2 || r.Over() != nil || w.Messages[len(w.Messages)-1].Kind != JoinMessage {
		t.Errorf("life %d, over: %v", r.o.Incarnation, r.Over())
	}
	if k := r.buffer.kind; k != nil && k.lent {
		t.Error("its bytes are lent, and nothing was written")
	}
	if r.Suspect(ErrLost, 3, &w) {
		t.Error("the new life has no request, and ends")
	}
}

// The bytes of the next grant are here while another request holds.
func TestMirrorHasBytesHere(t *testing.T) {
	r := asking(t)
	if !r.Here() {
		t.Error("a reader holds, and its bytes are not here")
	}
	if err := r.Release(Access{ID: 1}, new(Work)); err != nil || r.Here() {
		t.Errorf("%v; nobody holds, and the bytes of the next grant are here", err)
	}
}

// A writer may use the whole limit.
func TestMirrorLimit(t *testing.T) {
	r := asking(t)
	grant := Message{Kind: GrantMessage, Seq: 2, Mode: Write, IDs: []ID{2}, Known: 1, Stamp: Stamp{Fence: 1}}
	if err := errors.Join(r.Release(Access{ID: 1}, new(Work)), fromHome(r, grant, new(Work)), r.buffer.Resize(64)); err != nil {
		t.Fatal(err)
	}
	var w Work
	if err := r.Release(Access{ID: 2, Fence: 1, Wrote: true}, &w); err != nil || w.Messages[0].Size != 64 {
		t.Errorf("%v: %v", err, texts(w.Messages))
	}
}

// A holder that has failed may leave the bytes in any state.
func TestMirrorAbandons(t *testing.T) {
	r := asking(t)
	grant := Message{Kind: GrantMessage, Seq: 2, Mode: Write, IDs: []ID{2}, Known: 1, Stamp: Stamp{Fence: 1}}
	if err := errors.Join(r.Release(Access{ID: 1}, new(Work)), fromHome(r, grant, new(Work)), r.buffer.Resize(16)); err != nil {
		t.Fatal(err)
	}
	var w Work
	if err := r.Release(Access{ID: 2, Fence: 1, Abandoned: true}, &w); err != nil || w.Messages[0].Reason != Abandoned || w.Messages[0].Wrote || r.known != 0 {
		t.Errorf("%v: %v", err, texts(w.Messages))
	}
}

// Bytes that cannot be kept are a fault of either half.
func TestHalvesReportFaults(t *testing.T) {
	closed := func() *Buffer {
		b := buffered(8, 0)
		b.MoveTo(&fixed{bytes: make([]byte, 8), full: true})
		return b
	}
	h := record(t)
	must(t, h, asks(1, 1, Write))
	h.grant(0)
	h.Home.buffer = closed()
	m := Message{Kind: ReleaseMessage, Seq: 2, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 16, Bytes: make([]byte, 16)}
	if err := h.Step(with(m, 1), &h.work); err != nil || h.work.Fault == nil {
		t.Errorf("the home: %v, fault %v", err, h.work.Fault)
	}
	r := NewMirror(closed(), MirrorOptions{Node: 1, Incarnation: 1, Limit: 1 << 10})
	var w Work
	grant := Message{Kind: GrantMessage, Seq: 1, IDs: []ID{1}, Whole: true, Size: 16, Bytes: make([]byte, 16)}
	if err := errors.Join(r.Request(1, Read, nil, &w), fromHome(r, grant, &w)); err != nil || w.Fault == nil {
		t.Errorf("the mirror: %v, fault %v", err, w.Fault)
	}
}
