package queue

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// A node sends whatever it likes, to a home that two others use as they should:
// random bytes, changed headers, right ones at the wrong time, in the name of other
// lives, again, and far too many. Nothing moves for the others, what is kept has a
// bound, and each is counted.
func TestSiteHostile(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 20
	}
	var counts SiteCounts
	for seed := range runs {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		const kept = 1 << 14
		n := newNetwork(3, SiteOptions{Limit: 1 << 10, Kept: kept})
		r := n.share(t, "r", 8, 0, Options{})
		elsewhere := n.share(t, "s", 8, 1, Options{})
		var good [2]Place // of nodes 0 and 1
		for i := range good {
			fine(t, good[i].Request(r[i], Write))
		}
		n.settle(t)
		var bad, badder Place // node 2's, so that it has a life, and some state
		fine(t, bad.Request(r[2], Read))
		fine(t, badder.Request(elsewhere[2], Write))
		n.settle(t)
		last := uint64(0)
		life := &lifeOf{incarnation: n.sites[2].life(0), got: 1}
		for round := range 120 {
			sent := n.sites[0].Counts()
			header := hostile(rng, n, life)
			_, err := n.sites[0].Deliver(2, header, Bulk{Bytes: make([]byte, rng.IntN(3)*8)})
			life.follow(header, err)
			got := n.sites[0].Counts()
			if bad := got.Malformed + got.Gaps + got.Replayed + got.OtherLife + got.Unknown - sent.Malformed - sent.Gaps - sent.Replayed - sent.OtherLife - sent.Unknown; (bad == 1) != (err != nil) {
				t.Fatalf("%v is counted %d times", err, bad)
			}
			if k := n.sites[0].budget.Used(2); k > kept {
				t.Fatalf("%d bytes are kept", k)
			}
			n.settleBut(t, 2)
			// Sometimes it is granted what it asked for, and goes when it is taken for lost.
			if rng.IntN(8) == 0 {
				n.sites[0].Lost(2, errFire)
				life.lost = true
			}
			p := &good[round%2]
			if !p.Granted() {
				continue
			}
			fine(t, p.Acquire(t.Context()))
			b, err := p.Writable()
			fine(t, err)
			if count := binary.NativeEndian.Uint64(b); count < last {
				t.Fatalf("seed %d: %d is there after %d", seed, count, last)
			}
			last++
			binary.NativeEndian.PutUint64(b, last)
			fine(t, p.Renew())
			n.settleBut(t, 2)
		}
		n.sites[0].Lost(2, errFire)
		n.settleBut(t, 2)
		for i := range good {
			for k := range good {
				if p := &good[(i+k)%2]; p.Granted() {
					fine(t, p.Acquire(t.Context()))
					fine(t, p.Release())
					n.settleBut(t, 2)
				}
			}
		}
		if q, c := r[0].requested.Load()&^flags, r[0].completed.Load()&^flags; q != c {
			t.Fatalf("seed %d: %#x requested, %#x completed", seed, q, c)
		}
		if n.sites[0].budget.Used(2) != 0 || len(n.sites[0].strays) != 0 {
			t.Fatalf("seed %d: %d bytes are kept of a node that is lost", seed, n.sites[0].budget.Used(2))
		}
		c := n.sites[0].Counts()
		counts.Malformed += c.Malformed
		counts.Gaps += c.Gaps
		counts.Replayed += c.Replayed
		counts.OtherLife += c.OtherLife
		counts.Unknown += c.Unknown
		counts.Strays += c.Strays
	}
	t.Logf("%+v", counts)
	for what, n := range map[string]uint64{"malformed": counts.Malformed, "replayed": counts.Replayed, "of another life": counts.OtherLife, "strays": counts.Strays} {
		if n < uint64(runs) {
			t.Errorf("too few messages are %s: the test shows little", what)
		}
	}
}

// settleBut moves everything, and has a node that does not listen.
func (n *network) settleBut(t *testing.T, deaf Node) {
	t.Helper()
	for all := n.busy(); len(all) > 0; all = n.busy() {
		if all[0].to == deaf {
			delete(n.lanes, all[0])
		} else if err := n.move(all[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// lifeOf is what the hostile node knows of its life at the home.
type lifeOf struct {
	incarnation, got uint64
	lost             bool
}

// follow learns from what became of a message.
func (l *lifeOf) follow(header []byte, err error) {
	m, malformed := parsed(header)
	if malformed != nil || m.Resource != numberOf("r") || m.Kind >= coherence.GrantMessage {
		return
	}
	switch {
	case err == nil && (m.Incarnation > l.incarnation || m.Seq == l.got+1):
		l.incarnation, l.got, l.lost = m.Incarnation, m.Seq, false
	case errors.Is(err, ErrReplayed) && m.Incarnation == l.incarnation:
		l.got = max(l.got, m.Seq) // it was kept before
	}
}

// hostile is a header of a hostile node.
func hostile(rng *rand.Rand, n *network, life *lifeOf) []byte {
	if rng.IntN(8) == 0 {
		b := make([]byte, rng.IntN(64))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	small := func(n int) uint64 {
		if rng.IntN(16) == 0 {
			return rng.Uint64()
		}
		return uint64(rng.IntN(n))
	}
	m := coherence.Message{
		Kind: coherence.Kind(rng.IntN(10)), Mode: Mode(rng.IntN(2)), Resource: numberOf("r"),
		Incarnation: n.sites[2].life(small(2)), Seq: 1 + small(6),
		ID: ID(small(6)), Old: ID(small(6)), Stamp: coherence.Stamp{Version: small(3), Fence: small(8)},
		Known: small(3), Wrote: rng.IntN(3) == 0, Whole: rng.IntN(2) == 0, Size: int(small(3) * 8 & (1<<40 - 1)),
	}
	if rng.IntN(4) > 0 { // in order, and only its content is wrong
		m.Incarnation, m.Seq = life.incarnation, life.got+1
		if rng.IntN(6) == 0 {
			m.Seq = life.got // again
		}
		if life.lost {
			m.Incarnation, m.Seq = life.incarnation+1, 1
		}
	}
	switch rng.IntN(10) {
	case 0:
		m.Resource = uint64(rng.IntN(100))
	case 1:
		m.Resource = numberOf("s")
	case 2:
	}
	b := coherence.AppendHeader(nil, &m)
	if rng.IntN(6) == 0 {
		b[rng.IntN(len(b))] = byte(rng.Uint32())
	}
	if m, err := parsed(b); err == nil && (m.Kind == coherence.RequestMessage || m.Kind == coherence.RenewMessage) {
		b[6] &^= byte(Write) // it might write as it should, and the test would not know
	}
	return b
}

// A home that means no good ends nothing but what is its own.
func TestSiteHostileHome(t *testing.T) {
	for seed := range 200 {
		rng := rand.New(rand.NewPCG(uint64(seed), 4))
		n := newNetwork(3, SiteOptions{Limit: 1 << 10, Kept: 1 << 14})
		r := n.share(t, "r", 8, 0, Options{})
		good := n.share(t, "s", 8, 2, Options{})
		var p, q Place
		fine(t, p.Request(r[1], Write))
		fine(t, q.Request(good[1], Write))
		n.settle(t)
		for range 60 {
			m := coherence.Message{
				Kind: coherence.Kind(5 + rng.IntN(5)), Mode: Mode(rng.IntN(2)), Resource: numberOf([]string{"r", "r", "s"}[rng.IntN(3)]),
				Incarnation: n.sites[1].life(uint64(rng.IntN(2))), Seq: uint64(rng.IntN(6)), ID: ID(rng.IntN(3)),
				IDs: []ID{ID(rng.IntN(3))}, Whole: rng.IntN(2) == 0, Size: 8 * rng.IntN(3), Reason: coherence.Reason(rng.IntN(10)),
			}
			_, _ = n.sites[1].Deliver(0, coherence.AppendHeader(nil, &m), Bulk{Bytes: make([]byte, 8*rng.IntN(3))})
			if k := n.sites[1].budget.Used(0); k > 1<<14 {
				t.Fatalf("%d bytes are kept", k)
			}
		}
		n.sites[1].Lost(0, errFire)
		if p.Held() || !p.Granted() {
			t.Fatalf("seed %d: nobody tells", seed)
		}
		if err := p.Acquire(t.Context()); err == nil {
			t.Fatalf("seed %d: acquired what is lost", seed)
		}
		fine(t, q.Acquire(t.Context()))
		fine(t, q.Release())
		n.settle(t)
	}
}

// A node that sends ever more for resources that are not declared is refused when enough is
// kept of it, and others are not.
func TestSiteKeepsABound(t *testing.T) {
	n := newNetwork(3, SiteOptions{Kept: 1 << 16})
	m := coherence.Message{Kind: coherence.RequestMessage, Resource: 5, Incarnation: n.sites[1].life(0)}
	refused := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 5000 {
		m.Seq, m.Resource = uint64(i+1), uint64(i%7)
		switch _, err := n.sites[0].Deliver(1, coherence.AppendHeader(nil, &m), Bulk{}); {
		case errors.Is(err, ErrUnknown):
			refused++
		case err != nil:
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 1<<18 {
		t.Errorf("%d bytes are kept", more)
	}
	if c := n.sites[0].Counts(); refused < 4000 || c.Unknown != uint64(refused) {
		t.Errorf("%d of 5000 were refused, %d counted", refused, c.Unknown)
	}
	m.Seq = 1
	fine(t, second(n.sites[0].Deliver(2, coherence.AppendHeader(nil, &m), Bulk{})))
	n.sites[0].Lost(1, errFire)
	if k := n.sites[0].budget.Used(1); k != 0 || len(n.sites[0].strays) != 1 {
		t.Errorf("%d bytes are kept of a node that is lost", k)
	}
	runtime.KeepAlive(n)
}

// Wrong declarations and options are errors.
func TestSiteRefuses(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	s := n.sites[0]
	r, again, used := newResource(t, 8), newResource(t, 8), newResource(t, 8)
	fine(t, s.Home(r))
	var p Place
	used.name = "used"
	fine(t, p.Request(used, Read))
	for what, c := range map[string]struct{ err, want error }{
		"a name twice":      {s.Home(again), ErrDeclared},
		"a mirror of it":    {s.Mirror(again, 1), ErrDeclared},
		"at another site":   {n.sites[1].Home(r), ErrDeclared},
		"after a request":   {s.Home(used), ErrUsed},
		"a mirror of later": {s.Mirror(used, 1), ErrUsed},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", what, c.err)
		}
	}
	for what, err := range map[string]error{
		"own node":    s.Mirror(again, 0),
		"no node":     s.Mirror(again, 2),
		"nodes":       second(NewSite(SiteOptions{Transport: port{}})),
		"node":        second(NewSite(SiteOptions{Node: 1, Nodes: 1, Transport: port{}})),
		"incarnation": second(NewSite(SiteOptions{Nodes: 1, Incarnation: 1 << 44, Transport: port{}})),
		"transport":   second(NewSite(SiteOptions{Nodes: 1})),
		"kept":        second(NewSite(SiteOptions{Nodes: 1, Kept: 10, Transport: port{}})),
		"limit":       second(NewSite(SiteOptions{Nodes: 1, Limit: 7, Transport: port{}})),
		"small limit": second(NewSite(SiteOptions{Nodes: 1, Limit: -8, Transport: port{}})),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	for _, from := range []Node{0, 2, 1 << 31} {
		if _, err := s.Deliver(from, nil, Bulk{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("from %d: %v", from, err)
		}
	}
	s.Lost(7, errFire)
	s.Back(7, 1)
}

// sampleMessages are messages that a site may get.
func sampleMessages() []coherence.Message {
	return []coherence.Message{
		{Kind: coherence.RequestMessage, ID: 1, Mode: Write, Known: 3},
		{Kind: coherence.RenewMessage, ID: 2, Old: 1, Stamp: coherence.Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8},
		{Kind: coherence.ReleaseMessage, ID: 1, Stamp: coherence.Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8},
		{Kind: coherence.ReleaseMessage, ID: 1, Reason: coherence.Abandoned},
		{Kind: coherence.CancelMessage, ID: 1},
		{Kind: coherence.JoinMessage},
		{Kind: coherence.GrantMessage, IDs: []coherence.ID{1, 2}, Stamp: coherence.Stamp{Version: 5, Fence: 6}, Whole: true, Size: 8},
		{Kind: coherence.GrantMessage, IDs: []coherence.ID{2}, Stamp: coherence.Stamp{Version: 7}, Whole: true, Size: 8},
		{Kind: coherence.RefusedMessage, Reason: coherence.Ended},
		{Kind: coherence.ConfirmedMessage, Stamp: coherence.Stamp{Fence: 1}},
		{Kind: coherence.ConfirmMessage, Stamp: coherence.Stamp{Fence: 3}},
		{Kind: coherence.ConfirmedMessage, Stamp: coherence.Stamp{Fence: 3}},
	}
}

// A changed header is refused, or is another message. It never panics, whatever the
// site and its state.
func FuzzDeliver(f *testing.F) {
	for _, m := range sampleMessages() {
		m.Resource, m.Incarnation, m.Seq = numberOf("r"), 1<<lifeBits, 2
		f.Add(coherence.AppendHeader(nil, &m), []byte("12345678"), uint64(1))
	}
	f.Fuzz(func(t *testing.T, header, bulk []byte, seed uint64) {
		n := newNetwork(2, SiteOptions{Limit: 1 << 10, Kept: 4096})
		r := n.share(t, "r", 8, 0, Options{})
		rng := rand.New(rand.NewPCG(seed, 1))
		var places [4]Place
		for i := range places {
			fine(t, places[i].Request(r[i%2], Mode(rng.IntN(2))))
			for range rng.IntN(3) {
				if all := n.busy(); len(all) > 0 {
					fine(t, n.move(all[0]))
				}
			}
		}
		for from, s := range n.sites {
			_, _ = s.Deliver(Node(1-from), header, Bulk{Bytes: bulk})
		}
	})
}
