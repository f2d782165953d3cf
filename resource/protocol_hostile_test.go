package resource

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// recorder is a line that grants on command, and records its calls.
type recorder struct{ asked []string }

func (l *recorder) note(format string, args ...any) {
	l.asked = append(l.asked, fmt.Sprintf(format, args...))
}

func (l *recorder) Request(id ID, m Mode) { l.note("request %d %v", id&^fromMirrors, m) }
func (l *recorder) Renew(id, next ID, m Mode) {
	l.note("renew %d %d %v", id&^fromMirrors, next&^fromMirrors, m)
}
func (l *recorder) Release(id ID)                { l.note("release %d", id&^fromMirrors) }
func (l *recorder) Cancel(id ID) bool            { l.note("cancel %d", id&^fromMirrors); return true }
func (l *recorder) Alone(ID) bool                { return false }
func (l *recorder) Abort()                       { l.note("abort") }
func (l *recorder) is(want ...string) (was bool) { return slices.Equal(l.asked, want) }

// recorded is a home with a recorder for its line.
func recorded(t *testing.T, policy Policy) (*Home, *recorder, *testMemory) {
	t.Helper()
	ledger, err := NewLedger(LedgerOptions{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	line, memory := new(recorder), &testMemory{make([]byte, 8)}
	h, err := NewHome(line, memory, ledger, HomeOptions{Limit: 64})
	if err != nil {
		t.Fatal(err)
	}
	return h, line, memory
}

// tell gives the home a message of node 1's first life, or of the life it names.
func tell(t *testing.T, h *Home, m Message) ([]Message, error) {
	t.Helper()
	m.Epoch = 1
	m.Node = max(m.Node, 1)
	m.Incarnation = max(m.Incarnation, 1)
	return h.Step(&m, nil)
}

// The line gets a renewal as one call, so that nothing comes between its two steps.
func TestHomeRenewsInOneStep(t *testing.T) {
	h, line, _ := recorded(t, Discard)
	_, err1 := tell(t, h, Message{Kind: RequestMessage, Seq: 1, ID: 5})
	h.Granted(ticketID(0))
	h.Flush(nil)
	_, err2 := tell(t, h, Message{Kind: RenewMessage, Seq: 2, Old: 5, ID: 6, Mode: Write})
	if err1 != nil || err2 != nil || !line.is("request 0 read", "renew 0 1 write") {
		t.Errorf("%v, %v: %q", err1, err2, line.asked)
	}
}

// The line gets one call of Abort only.
func TestHomeAbortsOnce(t *testing.T) {
	h, line, _ := recorded(t, Abort)
	for n := range Node(2) {
		if _, err := tell(t, h, Message{Kind: RequestMessage, Seq: 1, Node: n + 1, Mode: Write}); err != nil {
			t.Fatal(err)
		}
	}
	h.Granted(ticketID(0))
	h.Flush(nil)
	h.Lost(1, nil)
	h.Lost(2, nil)
	h.Granted(ticketID(1)) // the line was about to say so
	if out := h.Flush(nil); len(out) != 0 || !line.is("request 0 write", "request 1 write", "abort") {
		t.Errorf("%v: %q", out, line.asked)
	}
}

// Home forgets its next ticket when the request ends.
func TestHomeForgetsWhatIsNext(t *testing.T) {
	h, _, _ := recorded(t, Discard)
	if _, err := tell(t, h, Message{Kind: RequestMessage, Seq: 1, Mode: Write}); err != nil {
		t.Fatal(err)
	}
	h.Next(ticketID(0))
	if out, err := tell(t, h, Message{Kind: RequestMessage, Seq: 1, Incarnation: 2, Mode: Write}); err != nil || len(out) != 0 {
		t.Errorf("%v, %v", out, err)
	}
}

// Messages that no mirror sends change nothing, and the next good one is taken.
func TestHomeRefusesMalformed(t *testing.T) {
	eight := make([]byte, 8)
	for name, m := range map[string]Message{
		"no kind":            {},
		"a home's":           {Kind: GrantMessage},
		"no such mode":       {Kind: RequestMessage, ID: 9, Mode: 2},
		"queued already":     {Kind: RequestMessage, ID: 2},
		"renewed as queued":  {Kind: RenewMessage, Old: 1, ID: 2, Stamp: Stamp{Fence: 1}},
		"renewed as itself":  {Kind: RenewMessage, Old: 1, ID: 1, Stamp: Stamp{Fence: 1}},
		"renewed in no mode": {Kind: RenewMessage, Old: 1, ID: 9, Mode: 7, Stamp: Stamp{Fence: 1}},
		"cancel of nothing":  {Kind: CancelMessage, ID: 9},
		"bytes missing":      {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 16, Bytes: eight},
		"bytes left over":    {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Size: 8, Bytes: eight, Spans: []Range{{0, 4}}},
		"over the limit":     {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 72, Bytes: make([]byte, 72)},
		"negative":           {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: -8},
		"span overflows":     {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Size: 8, Bytes: eight, Spans: []Range{{1, int(^uint(0) >> 1)}}},
		"spans overlap":      {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Size: 8, Bytes: eight, Spans: []Range{{0, 4}, {3, 4}}},
	} {
		h, _, memory := recorded(t, Discard)
		for _, good := range []Message{{Kind: RequestMessage, Seq: 1, ID: 1, Mode: Write}, {Kind: RequestMessage, Seq: 2, ID: 2}} {
			if _, err := tell(t, h, good); err != nil {
				t.Fatal(err)
			}
		}
		h.Granted(ticketID(0))
		h.Flush(nil)
		m.Seq = 3
		if out, err := tell(t, h, m); !errors.Is(err, ErrMalformed) || len(out) != 0 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		good := Message{Kind: ReleaseMessage, Seq: 3, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8, Bytes: []byte("all good")}
		if out, err := tell(t, h, good); err != nil || len(out) != 0 || string(memory.b) != "all good" || h.ledger.Version() != 1 {
			t.Errorf("after %s: %v, %v", name, out, err)
		}
	}
}

// A reader cannot write by a message either.
func TestHomeRefusesWriteOfReader(t *testing.T) {
	h, _, memory := recorded(t, Discard)
	if _, err := tell(t, h, Message{Kind: RequestMessage, Seq: 1}); err != nil {
		t.Fatal(err)
	}
	h.Granted(ticketID(0))
	h.Flush(nil)
	_, err := tell(t, h, Message{Kind: ReleaseMessage, Seq: 2, Wrote: true, Whole: true, Size: 8, Bytes: []byte("bad news")})
	if !errors.Is(err, ErrMalformed) || !errors.Is(err, ErrReaderWrote) || memory.b[0] != 0 {
		t.Errorf("%v: %q", err, memory.b)
	}
}

// asking is a mirror with a request for reading that is granted, 1, one for writing
// that waits, 2, and one that was cancelled, 3.
func asking(t *testing.T) *Mirror {
	t.Helper()
	r, err := NewMirror(new(solo), new(testMemory), MirrorOptions{Node: 1, Limit: 64})
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := r.Request(1, Read, nil)
	_, err2 := r.Request(2, Write, nil)
	_, err3 := r.Request(3, Write, nil)
	_, err4 := r.Cancel(3, nil)
	_, err5 := r.Step(&Message{Kind: GrantMessage, Node: 1, Incarnation: 1, Epoch: 1, Seq: 1, IDs: []ID{1}, Whole: true, Size: 8, Bytes: make([]byte, 8)}, nil)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	return r
}

// Messages that no home sends change nothing.
func TestMirrorRefusesMalformed(t *testing.T) {
	for name, m := range map[string]Message{
		"no kind":               {},
		"a mirror's":            {Kind: RequestMessage},
		"another mirror's":      {Kind: PushMessage, Node: 2},
		"another resource's":    {Kind: PushMessage, Resource: 2},
		"grant of nothing":      {Kind: GrantMessage, IDs: []ID{9}},
		"grant of what holds":   {Kind: GrantMessage, IDs: []ID{1}},
		"grant for reading":     {Kind: GrantMessage, IDs: []ID{2}},
		"version not here":      {Kind: GrantMessage, IDs: []ID{2}, Mode: Write, Stamp: Stamp{Version: 1}},
		"bytes under a holder":  {Kind: PushMessage, Stamp: Stamp{Version: 1}, Whole: true, Size: 8, Bytes: make([]byte, 8)},
		"push of nothing":       {Kind: PushMessage},
		"refusal of nothing":    {Kind: RefusedMessage, ID: 9, Reason: Aborted},
		"refusal of a holder":   {Kind: RefusedMessage, ID: 1, Reason: Aborted},
		"cancelled by the home": {Kind: RefusedMessage, ID: 2, Reason: Cancelled},
		"no reason":             {Kind: RefusedMessage, ID: 2},
	} {
		r := asking(t)
		m.Incarnation, m.Epoch, m.Seq, m.Node = 1, 1, 2, max(m.Node, 1)
		if out, err := r.Step(&m, nil); !errors.Is(err, ErrMalformed) || len(out) != 0 || r.known != 1 || len(r.requests) != 3 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	r := asking(t)
	if _, err := r.Release(Access{ID: 1}, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Message{{Size: 8, Bytes: make([]byte, 7)}, {Size: 12, Bytes: make([]byte, 12)}, {Size: 72, Bytes: make([]byte, 72)}} {
		m.Kind, m.Node, m.Incarnation, m.Epoch, m.Seq, m.Version, m.Whole = PushMessage, 1, 1, 1, 2, 1, true
		if _, err := r.Step(&m, nil); !errors.Is(err, ErrMalformed) || r.known != 1 {
			t.Errorf("%v: %v", &m, err)
		}
	}
}

// In another epoch of the home, versions mean other bytes.
func TestMirrorForgetsInAnotherEpoch(t *testing.T) {
	for epoch, want := range map[uint64]uint64{1: 1, 2: 0} {
		r := asking(t)
		r.Lost(nil)
		if !errors.Is(r.Over(), ErrLost) {
			t.Errorf("lost, and %v", r.Over())
		}
		if err := r.Rejoin(2, epoch); err != nil {
			t.Fatal(err)
		}
		if out, err := r.Request(1, Read, nil); err != nil || out[0].Known != want || out[0].Epoch != epoch || out[0].Seq != 1 {
			t.Errorf("epoch %d: %v, %v", epoch, out, err)
		}
	}
	r := asking(t)
	r.Lost(nil)
	if err := r.Rejoin(1, 1); !errors.Is(err, ErrOtherLife) {
		t.Errorf("the same life again: %v", err)
	}
	if err := r.Rejoin(2, 0); !errors.Is(err, ErrOtherLife) {
		t.Errorf("an epoch before: %v", err)
	}
}
