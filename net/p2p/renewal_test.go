package p2p

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/lease"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// This file plays new streams in the time of a bubble, without a network. A new stream renews a lease before older
// messages have come: the answer to a hello counts as an echo, and what the stream before has lost is sent behind it.
// This is safe, because of what a home takes back by the clock: all that it has lent to a peer, and only when the peer
// is gone for good. Then no hello of the peer gets an answer. A home that took back one thing of a peer that lives would
// need an echo behind all that it has said, as package session has it.

// halves are a home and a holder, each as the other one's peer.
type halves struct{ home, holder *peer }

// newHalves makes both, and a stream between them.
func newHalves(t *testing.T) halves {
	h := halves{home: half(0), holder: half(1)}
	if why := h.connect(0, 0); why != nil {
		t.Fatal(why)
	}
	return h
}

// half is what a node of two knows of the other one. The run has begun.
func half(number int) *peer {
	o := Options{Number: number, Nodes: 2}.withDefaults()
	n := &Node{options: o, number: number, start: time.Now(), log: o.Log, counts: o.Counts, notices: newMailbox(), joined: make(chan struct{}),
		memory: loan.NewMemory(func() *loan.Arena { return nil })}
	n.lanes = lane.Node{Number: number, Counts: o.Counts, Log: o.Log, Go: n.group.Go}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.heart = newHeart(n)
	close(n.joined)
	return newPeer(n, 1-number)
}

// connect opens a stream from the holder to the home, and returns why the home refuses that. The hello and its answer
// take their time.
func (h halves) connect(there, back time.Duration) error {
	said := h.holder.node.now()
	hello := h.holder.hello(transport.Control, 0)
	h.pass(there)
	came := h.home.node.now()
	if reason := h.home.check(&hello, transport.Control); reason != "" {
		return errors.New(reason)
	}
	if err := h.home.answers(); err != nil {
		return err
	}
	answer := h.home.hello(transport.Control, 0)
	h.home.greeted(transport.Control, came, false)
	h.pass(back)
	if reason := h.holder.check(&answer, transport.Control); reason != "" {
		return errors.New(reason)
	}
	h.holder.greeted(transport.Control, said, true)
	return nil
}

// pass lets some time of the bubble pass.
func (h halves) pass(some time.Duration) { h.home.node.sleep(h.home.node.now() + int64(some)) }

// ends are when the holder lets go, and when the home gives up, on the clock of the bubble.
func (h halves) ends() (holder, home int64) {
	terms := h.home.node.options.terms()
	return terms.LetsGo(h.holder.contact.Echoed()), terms.GivesUp(h.home.contact.Heard())
}

func bubble(t *testing.T, f func(t *testing.T, h halves, terms lease.Terms)) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalves(t)
		f(t, h, h.home.node.options.terms())
		for _, p := range []*peer{h.home, h.holder} {
			p.node.cancel()
			p.node.group.Wait()
		}
	})
}

// A new stream renews the lease from when the holder has said hello, not from when the answer comes. The home has
// heard it by then, so it gives up later. The hello of a holder says nothing of what the holder has heard.
func TestNewStreamRenews(t *testing.T) {
	bubble(t, func(t *testing.T, h halves, terms lease.Terms) {
		for _, way := range [][2]time.Duration{{0, 0}, {terms.Skew, 0}, {0, terms.Lease / 2}, {terms.Lease / 4, terms.Lease / 2}} {
			h.pass(terms.Lease / 8)
			said, known := h.holder.node.now(), h.home.contact.Echoed()
			if why := h.connect(way[0], way[1]); why != nil {
				t.Fatal(why)
			}
			if at := h.holder.contact.Echoed(); at != said {
				t.Errorf("ways of %v: the lease counts from %v after the hello", way, time.Duration(at-said))
			}
			if at := h.home.contact.Heard(); at != said+int64(way[0]) {
				t.Errorf("ways of %v: the home has heard the holder %v after the hello", way, time.Duration(at-said))
			}
			if h.home.contact.Echoed() != known {
				t.Errorf("ways of %v: a hello renews the lease of the node that takes it", way)
			}
			if holder, home := h.ends(); holder+int64(2*terms.Skew) > home {
				t.Errorf("ways of %v: the home gives up %v after the holder has let go", way, time.Duration(home-holder))
			}
		}
	})
}

// The home looks when the holder was silent for its lease. A new stream has come since it read when the holder was
// heard: the holder has its answer, and so the home does not give it up.
func TestNewStreamBeforeTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, h halves, terms lease.Terms) {
		heard := h.home.contact.Heard()
		h.pass(terms.Lease + terms.Skew)
		if why := h.home.answers(); why != nil {
			t.Fatal(why)
		}
		h.home.lapse(heard, errSilent)
		if gone := h.home.loss(); gone != nil {
			t.Errorf("the home has answered, and then gives the holder up: %v", gone)
		}
		if why := h.connect(0, 0); why != nil {
			t.Errorf("the holder is refused: %v", why)
		}
	})
}

// A holder that was given up gets nothing that renews its lease: no answer to a new hello, none to one that was good
// before, and no beat.
func TestNewStreamAfterTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, h halves, terms lease.Terms) {
		echoed := h.holder.contact.Echoed()
		hello := h.holder.hello(transport.Control, 0)
		h.pass(terms.Lease + terms.Skew)
		if reason := h.home.check(&hello, transport.Control); reason != "" {
			t.Fatal(reason)
		}
		h.home.lapse(h.home.contact.Heard(), errSilent) // before the hello is answered
		if why := h.home.answers(); !errors.Is(why, ErrLost) {
			t.Errorf("a hello that was good before is answered: %v, want %v", why, ErrLost)
		}
		if _, ok := h.home.says(); ok {
			t.Error("the home says a beat")
		}
		if why := h.connect(0, 0); why == nil || !strings.Contains(why.Error(), "node 0 has given it up") {
			t.Errorf("a new stream is opened: %v", why)
		}
		if h.holder.contact.Echoed() != echoed || !h.holder.contact.Suspected(terms, h.holder.node.now()) {
			t.Errorf("the lease was renewed by %v", time.Duration(h.holder.contact.Echoed()-echoed))
		}
	})
}

// replacing is a log that tells the test when a stream takes the place of another one.
type replacing chan struct{}

func (l replacing) Enabled(context.Context, slog.Level) bool { return true }
func (l replacing) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l replacing) WithGroup(string) slog.Handler            { return l }
func (l replacing) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if why, ok := a.Value.Any().(error); ok && strings.Contains(why.Error(), "the other side has opened a new one") {
			select {
			case l <- struct{}{}:
			default:
			}
		}
		return true
	})
	return nil
}

// Node 1 says a good hello on a new stream, and node 0 waits for the end of the old one, whose reader is busy. Then node 0
// gives node 1 up. Its answer would renew the lease, so none comes.
func TestGivenUpBeforeTheAnswer(t *testing.T) {
	replaced := make(replacing, 1)
	nodes := run(t, 2, func(o *Options) {
		if o.Beat = unhurried / 4; o.Number == 0 {
			o.Log = slog.New(replaced)
		}
	})
	entered, block, refused := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	receive(t, nodes[0], func(int, []byte, []byte) error { entered <- struct{}{}; <-block; return nil })
	nodes[1].OnLoss(func(_ int, why error) { refused <- why })
	if err := nodes[1].Send(0, 1, nil, nil, false); err != nil {
		t.Fatal(err)
	}
	await(t, entered, "the parcel")
	home, holder := nodes[0].peer(1), nodes[1].peer(0)
	echoed := holder.contact.Echoed()
	holder.lanes[transport.Control].Sever(errors.New("the test breaks it"))
	await(t, replaced, "the new stream")
	e := &PeerError{Node: 1, Why: errSilent}
	home.mark(e, func() bool { return true })
	close(block)
	if why := await(t, refused, "the refusal"); !errors.Is(why, ErrRefused) {
		t.Errorf("node 1 has lost node 0: %v, want %v", why, ErrRefused)
	}
	if at := holder.contact.Echoed(); at != echoed {
		t.Errorf("an answer has renewed the lease by %v", time.Duration(at-echoed))
	}
	home.finish(e)
}
