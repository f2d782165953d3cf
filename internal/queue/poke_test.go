package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// News that comes while a goroutine tells the mirrors must be told, too. Here the
// resource breaks after the news was read, and before the mutex is free again. At that
// moment the home sends a grant.
func TestPokeLooksAgain(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	n.size = 1 << 10 // all by one lane
	r := n.share(t, "r", 16, 0, Options{})
	var local, reads, writes Place
	fine(t, local.Request(r[0], Write))
	fine(t, local.Acquire(t.Context()))
	fine(t, reads.Request(r[2], Read))
	n.settle(t)
	fine(t, writes.Request(r[1], Write))
	n.settle(t)
	granted := false
	n.sent = func(m *coherence.Message) {
		if m.Kind == coherence.GrantMessage {
			granted = true
			r[0].Break(errFire)
		}
	}
	fine(t, local.Release())
	if !granted {
		t.Fatal("no grant was sent: the test shows nothing")
	}
	n.settle(t)
	if !writes.Granted() {
		t.Fatal("node 1 was not told that the resource is broken: it waits for ever")
	}
	if err := writes.Acquire(t.Context()); !errors.Is(err, ErrBroken) {
		t.Errorf("acquire: %v, want ErrBroken", err)
	}
}

// TestPokeExhaust visits every state of two steps at a home that grant one mirror's
// request each. Both mirrors are told, whichever step gets the mutex.
//
//	queue   local writer │ mirror 2 reads │ local writer │ mirror 1 reads
//	          releases                       cancels
func TestPokeExhaust(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	s := sim.System{Topology: topology.Flat(2), Setup: setPokes, MaxSteps: 1 << 16}
	report := s.Exhaust(sim.Limit{States: states.N()})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
}

// pokes is one run of TestPokeExhaust.
type pokes struct {
	net     *network
	r       *Resource // at the home
	holds   Place     // the local writer that releases
	cancels Place
	guests  [2]Place
	players
}

func setPokes(*sim.Fabric) (sim.Program, error) {
	t := &pokes{net: newNetwork(3, SiteOptions{}), players: players{eyes: make([]uint64, 2)}}
	var all [3]*Resource
	for i, s := range t.net.sites {
		r, err := New("r", 0)
		if err == nil && i == 0 {
			err = s.Home(r)
		} else if err == nil {
			err = s.Mirror(r, 0)
		}
		if err != nil {
			return sim.Program{}, err
		}
		all[i] = r
	}
	t.r = all[0]
	err := errors.Join(
		t.holds.Request(t.r, Write), t.holds.Acquire(context.Background()),
		t.guests[1].Request(all[2], Read), t.deliver(),
		t.cancels.Request(t.r, Write),
		t.guests[0].Request(all[1], Read), t.deliver())
	t.r.probe = t
	return sim.Program{Rank: t.play, Check: t.check, State: t.state}, err
}

// deliver moves everything.
func (t *pokes) deliver() error {
	for all := t.net.busy(); len(all) > 0; all = t.net.busy() {
		if err := t.net.move(all[0]); err != nil {
			return err
		}
	}
	return nil
}

func (t *pokes) play(_ context.Context, w rma.Window) error {
	t.at = w.(*sim.Window)
	if w.Rank() == 0 {
		return t.holds.Release()
	}
	return t.cancels.Cancel()
}

func (t *pokes) saw(v uint64) { t.sees(v) }

func (t *pokes) check() error {
	t.r.probe = nil
	if err := t.deliver(); err != nil {
		return err
	}
	for i := range t.guests {
		if !t.guests[i].Granted() {
			return fmt.Errorf("the request of mirror %d is granted, and the mirror was not told", i+1)
		}
	}
	return nil
}

// state is what the ranks share, and what they saw.
func (t *pokes) state() uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	for _, v := range []uint64{t.r.requested.Load(), t.r.completed.Load(), t.eyes[0], t.eyes[1]} {
		mix(v)
	}
	t.r.mixWaiters(mix)
	home := t.r.home
	for g := home.news.Load(); g != nil; g = g.next {
		mix(uint64(g.number))
	}
	if free := home.mu.TryLock(); free {
		mix(1)
		home.mu.Unlock()
	}
	mix(t.net.sites[0].Counts().Sent)
	return h
}
