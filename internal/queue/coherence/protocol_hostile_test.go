package coherence

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// recorded is a home, and the operations of its queue.
type recorded struct {
	*Home
	work   Work
	buffer *Buffer
	asked  []string
}

func record(t *testing.T) *recorded {
	t.Helper()
	buffer := new(Buffer)
	buffer.Init(8)
	h := NewHome(buffer, new(Ledger), HomeOptions{Limit: 64})
	return &recorded{Home: h, buffer: buffer}
}

// took returns the messages of the last step, and notes its operations. The queue takes
// back every guest.
func (h *recorded) took() []Message {
	for i := 0; i < len(h.work.Queue); i++ {
		o := h.work.Queue[i]
		names := map[OperationKind]string{Enqueue: "enqueue", Renew: "renew", Release: "release", Cancel: "cancel"}
		h.asked = append(h.asked, fmt.Sprintf("%s %d %d %v", names[o.Kind], o.Guest, o.Next, o.Mode))
		if o.Kind == Cancel {
			h.Withdrawn(o.Guest, &h.work)
		}
	}
	out := slices.Clone(h.work.Messages)
	h.work = Work{}
	return out
}

func (h *recorded) grant(at int) []Message {
	h.Granted([]int{at}, &h.work)
	return h.took()
}

// tell gives the home a message of node 1's first life, or of the life it names.
func tell(t *testing.T, h *recorded, m Message) ([]Message, error) {
	t.Helper()
	m.Node = max(m.Node, 1)
	m.Incarnation = max(m.Incarnation, 1)
	err := h.Step(&m, &h.work)
	return h.took(), err
}

// A renewal is one operation, so that no request comes between its two steps.
func TestHomeRenewsInOneStep(t *testing.T) {
	h := record(t)
	_, err1 := tell(t, h, Message{Kind: RequestMessage, Seq: 1, ID: 5})
	h.grant(0)
	_, err2 := tell(t, h, Message{Kind: RenewMessage, Seq: 2, Old: 5, ID: 6, Mode: Write})
	if err1 != nil || err2 != nil || !slices.Equal(h.asked, []string{"enqueue 0 0 read", "renew 0 1 write"}) {
		t.Errorf("%v, %v: %q", err1, err2, h.asked)
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
		"bytes left over":    {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 4, Bytes: eight},
		"not all":            {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Size: 8, Bytes: eight},
		"over the limit":     {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 72, Bytes: make([]byte, 72)},
		"negative":           {Kind: ReleaseMessage, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: -8},
	} {
		h := record(t)
		for _, good := range []Message{{Kind: RequestMessage, Seq: 1, ID: 1, Mode: Write}, {Kind: RequestMessage, Seq: 2, ID: 2}} {
			if _, err := tell(t, h, good); err != nil {
				t.Fatal(err)
			}
		}
		h.grant(0)
		m.Seq = 3
		if out, err := tell(t, h, m); !errors.Is(err, ErrMalformed) || len(out) != 0 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		good := Message{Kind: ReleaseMessage, Seq: 3, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8, Bytes: []byte("all good")}
		if out, err := tell(t, h, good); err != nil || len(out) != 0 || string(h.buffer.Bytes()) != "all good" || h.ledger.Version() != 1 {
			t.Errorf("after %s: %v, %v", name, out, err)
		}
	}
}

// A reader cannot write by a message either.
func TestHomeRefusesWriteOfReader(t *testing.T) {
	h := record(t)
	if _, err := tell(t, h, Message{Kind: RequestMessage, Seq: 1}); err != nil {
		t.Fatal(err)
	}
	h.grant(0)
	_, err := tell(t, h, Message{Kind: ReleaseMessage, Seq: 2, Wrote: true, Whole: true, Size: 8, Bytes: []byte("bad news")})
	if !errors.Is(err, ErrMalformed) || !errors.Is(err, ErrReaderWrote) || h.buffer.Bytes()[0] != 0 {
		t.Errorf("%v: %q", err, h.buffer.Bytes())
	}
}

// asking is a mirror with a request for reading that is granted, 1, one for writing
// that waits, 2, and one that was cancelled, 3.
func asking(t *testing.T) *Mirror {
	t.Helper()
	r := NewMirror(new(Buffer), MirrorOptions{Node: 1, Incarnation: 1, Limit: 64})
	var w Work
	err := errors.Join(r.Request(1, Read, nil, &w), r.Request(2, Write, nil, &w), r.Request(3, Write, nil, &w), r.Cancel(3, &w),
		r.Step(&Message{Kind: GrantMessage, Node: 1, Incarnation: 1, Seq: 1, IDs: []ID{1}, Whole: true, Size: 8, Bytes: make([]byte, 8)}, &w))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Messages that no home sends change nothing.
func TestMirrorRefusesMalformed(t *testing.T) {
	for name, m := range map[string]Message{
		"no kind":               {},
		"a mirror's":            {Kind: RequestMessage},
		"another mirror's":      {Kind: ConfirmedMessage, Node: 2},
		"another resource's":    {Kind: ConfirmedMessage, Resource: 2},
		"grant of nothing":      {Kind: GrantMessage, IDs: []ID{9}},
		"grant of what holds":   {Kind: GrantMessage, IDs: []ID{1}},
		"grant for reading":     {Kind: GrantMessage, IDs: []ID{2}},
		"version not here":      {Kind: GrantMessage, IDs: []ID{2}, Mode: Write, Stamp: Stamp{Version: 1}},
		"bytes under a holder":  {Kind: GrantMessage, IDs: []ID{2}, Mode: Write, Stamp: Stamp{Version: 1}, Whole: true, Size: 8, Bytes: make([]byte, 8)},
		"refusal of nothing":    {Kind: RefusedMessage, ID: 9, Reason: Cancelled},
		"refusal of a holder":   {Kind: RefusedMessage, ID: 1, Reason: Cancelled},
		"cancelled by the home": {Kind: RefusedMessage, ID: 2, Reason: Cancelled},
		"no reason":             {Kind: RefusedMessage, ID: 2},
	} {
		r := asking(t)
		m.Incarnation, m.Seq, m.Node = 1, 2, max(m.Node, 1)
		var w Work
		if err := r.Step(&m, &w); !errors.Is(err, ErrMalformed) || len(w.Messages)+len(w.Events) != 0 || r.known != 1 || len(r.requests.all) != 3 {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
	r := asking(t)
	if err := r.Release(Access{ID: 1}, new(Work)); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Message{
		{Whole: true, Size: 8, Bytes: make([]byte, 7)}, {Whole: true, Size: -8}, {Whole: true, Size: 72, Bytes: make([]byte, 72)},
		{Size: 8, Bytes: make([]byte, 8)},
	} {
		m.Kind, m.Node, m.Incarnation, m.Seq, m.Version, m.IDs, m.Mode = GrantMessage, 1, 1, 2, 1, []ID{2}, Write
		if err := r.Step(&m, new(Work)); !errors.Is(err, ErrMalformed) || r.known != 1 {
			t.Errorf("%v: %v", &m, err)
		}
	}
}

// The bytes are good in the next life too, unless the home has begun anew.
func TestMirrorKeepsItsBytes(t *testing.T) {
	for anew, want := range map[bool]uint64{false: 1, true: 0} {
		r := asking(t)
		r.Lost(nil, new(Work))
		if !errors.Is(r.Over(), ErrLost) {
			t.Errorf("lost, and %v", r.Over())
		}
		if anew {
			r.Forget()
		}
		if err := r.Rejoin(2); err != nil {
			t.Fatal(err)
		}
		var w Work
		err := r.Request(1, Read, nil, &w)
		if m := w.Messages[0]; err != nil || m.Known != want || m.Seq != 1 {
			t.Errorf("anew %t: %v, %v", anew, &m, err)
		}
	}
	r := asking(t)
	r.Lost(nil, new(Work))
	if err := r.Rejoin(1); !errors.Is(err, ErrOtherLife) {
		t.Errorf("the same life again: %v", err)
	}
}
