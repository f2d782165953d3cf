package lease

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/wire"
)

var seeds = rings.Seeds("lease.seeds", 3000, 160_000, "TestDrift: seeds; TestInTouch: a tenth of them")

// drifting are small terms, so that every moment of a play is looked at.
var drifting = Terms{Lease: 100, Skew: 20}

// rates are how much a clock advances in 100 moments: as little as the terms allow, what is
// right, and as much as they allow.
var rates = []int64{int64(drifting.Lease - drifting.Skew), int64(drifting.Lease), int64(drifting.Lease + drifting.Skew)}

// side is one of the two nodes of a play.
type side struct {
	Contact
	rate, start int64
	beat        int64 // how often it speaks, by its clock
	next        int64
	busy        int64 // until when it does nothing, in true time
	inbox       []letter
	gone        bool // it has given the other one up
}

// letter is a beat on its way.
type letter struct {
	at int64 // when it comes, in true time
	wire.Beat
}

func (s *side) now(at int64) int64 { return s.start + at*s.rate/100 }

// play is two nodes and what is between them. Each node is a holder and a home.
type play struct {
	*rand.Rand
	at    int64 // true time
	nodes [2]side
	cut   [2]int64 // when the way from a node ends
	slow  int64    // the longest delay
}

func newPlay(seed uint64) *play {
	p := &play{Rand: rand.New(rand.NewPCG(seed, 0))}
	p.slow = []int64{1, 1, 30}[p.IntN(3)]
	for i := range p.nodes {
		s := &p.nodes[i]
		s.rate, s.start = rates[p.IntN(len(rates))], 1+p.Int64N(1000)
		s.beat = 1 + p.Int64N(int64(drifting.MostBeat()))
		s.Hears(s.now(0))
		s.Answered(s.now(0))
		p.cut[i] = 50 + p.Int64N(200)
	}
	if p.IntN(4) == 0 {
		p.cut[p.IntN(2)] = 1 << 30 // one way is left
	}
	return p
}

// step lets a node do what there is to do at this moment.
func (p *play) step(i int) {
	s, other := &p.nodes[i], &p.nodes[1-i]
	now := s.now(p.at)
	if p.at < s.busy || s.gone {
		return
	}
	if p.IntN(400) == 0 {
		s.busy = p.at + p.Int64N(60)
	}
	for len(s.inbox) > 0 && s.inbox[0].at <= p.at {
		if _, _, good := s.Takes(s.inbox[0].Beat, now); !good {
			panic("a beat that is not good")
		}
		s.inbox = s.inbox[1:]
	}
	if s.gone = s.Lapsed(drifting, now); s.gone {
		return
	}
	if now < s.next {
		return
	}
	s.next = now + s.beat
	if p.at >= p.cut[i] {
		return
	}
	at := p.at + p.Int64N(p.slow)
	if n := len(other.inbox); n > 0 {
		at = max(at, other.inbox[n-1].at)
	}
	other.inbox = append(other.inbox, letter{at, s.Says(now)})
}

// holds reports whether a node keeps what the other has lent to it. It looks at each use,
// also if it was busy until then.
func (p *play) holds(i int) bool {
	s := &p.nodes[i]
	return !s.gone && !s.Suspected(drifting, s.now(p.at))
}

// end plays until both have given up, or the time is over. slack is how long before a home
// its holder was, in the closest case; below 0: the holder still held.
func (p *play) end() (slack int64, lost int) {
	slack = 1 << 30
	var held [2]int64 // when a node held for the last time
	for ; p.at < 600; p.at++ {
		was := [2]bool{p.nodes[0].gone, p.nodes[1].gone}
		// Each is first now and then, and a beat may take no time.
		first := p.IntN(2)
		for _, i := range []int{first, 1 - first, first} {
			p.step(i)
		}
		for i := range p.nodes {
			if p.holds(i) {
				held[i] = p.at
			}
		}
		for home := range p.nodes {
			if !p.nodes[home].gone {
				continue
			}
			if !was[home] {
				lost++
			}
			slack = min(slack, p.at-1-held[1-home])
			if p.holds(1 - home) {
				return -1, lost
			}
		}
	}
	return slack, lost
}

// TestDrift plays two nodes whose clocks drift as far as they may. When a home gives a
// holder up, that has let go. In some plays it has let go at that very moment, so none of
// the terms can be smaller.
func TestDrift(t *testing.T) {
	rings.Computes(t)
	tight, lost := 0, 0
	for seed := range seeds.All() {
		p := newPlay(seed)
		slack, losses := p.end()
		if slack < 0 {
			t.Fatalf("seed %d: at %d a home has given up a holder that keeps what it holds: %s", seed, p.at, p.describe())
		}
		lost += losses
		if slack == 0 {
			tight++
		}
	}
	t.Logf("%d losses; in %d plays at the moment at which the holder let go", lost, tight)
	if tight == 0 {
		t.Errorf("%d losses, none at the moment at which the holder let go", lost)
	}
}

func (p *play) describe() (text string) {
	for i := range p.nodes {
		s := &p.nodes[i]
		text += fmt.Sprintf("node %d: clock %d %%, beat %d, cut at %d, heard %d, echoed %d, now %d, gone %t; ",
			i, s.rate, s.beat, p.cut[i], s.Heard(), s.Echoed(), s.now(p.at), s.gone)
	}
	return text
}

// TestInTouch lets two nodes whose clocks drift speak for long. No beat takes long, so
// neither suspects the other.
func TestInTouch(t *testing.T) {
	rings.Computes(t)
	for seed := range seeds.Part(1, 10) {
		p := newPlay(seed)
		p.slow, p.cut = 1, [2]int64{1 << 30, 1 << 30}
		for i := range p.nodes {
			p.nodes[i].beat = int64(drifting.MostBeat()) / 4
		}
		for ; p.at < 600; p.at++ {
			for i := range p.nodes {
				p.nodes[i].busy = 0
				p.step(i)
			}
			if !p.holds(0) || !p.holds(1) {
				t.Fatalf("seed %d: at %d a node suspects the other: %s", seed, p.at, p.describe())
			}
		}
	}
}
