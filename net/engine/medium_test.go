package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// game is two nodes, and between them streams that break anywhere, replay what was
// on earlier ones, and mix up their frames.
type game struct {
	random    *rand.Rand
	endpoints [2]*endpoint
	ranks     []*rank
	up        bool
	said      *[2]uint64 // how far each has got, as the next stream is told
	flows     [2]flow    // to each endpoint
	lies      int
}

// flow is one direction of a stream.
type flow struct {
	bytes []byte // all that was written
	at    int    // how many bytes have arrived
	old   []byte // the stream before
}

// Either of these is found by a game.
var (
	errSafety   = errors.New("safety")
	errLiveness = errors.New("liveness")
)

// play plays a game.
func play(seed uint64, m mistake) error {
	const perNode = 3
	g := &game{random: rand.New(rand.NewPCG(seed, 5)), endpoints: pair(perNode, ownWords+perNode*stride)}
	lightness, length := 24, 1
	if g.random.IntN(12) == 0 {
		lightness, length = 6, 3 // enough to fill a chunk of the log
	}
	for i, e := range g.endpoints {
		e.mistake = m
		for p, id := range e.memory.here {
			g.ranks = append(g.ranks, &rank{id: id, home: e, peer: g.endpoints[1-i], random: g.random,
				base: rma.Disp(ownWords + p*stride), left: 1 + g.random.IntN(20*length), lightness: lightness, linked: make(map[uint64]uint64)})
		}
		e.answer = func(r wire.Reply, bulk []byte) error {
			if rank := g.ranks[r.Origin]; rank.waits != 0 || m != believesAll {
				return rank.answered(r, bulk)
			}
			return nil
		}
	}
	for range 50 + g.random.IntN(150*length) {
		if err := g.step(); err != nil {
			return fmt.Errorf("%w: %w", errSafety, err)
		}
	}
	return g.settle()
}

// step does anything.
func (g *game) step() error {
	i := g.random.IntN(2)
	switch n := g.random.IntN(100); {
	case n < 30:
		if r := g.ranks[g.random.IntN(len(g.ranks))]; r.waits == 0 && r.left > 0 {
			r.issue()
		}
	case n < 36:
		g.endpoints[i].acknowledge(g.random.IntN(2) == 0)
	case n < 38:
		g.lie(i)
	case !g.up:
		return g.connect()
	case n < 39:
		g.hello()
	case n < 60:
		g.write(i)
	case n < 90:
		return g.deliver(i, g.random.IntN(1<<g.random.IntN(16)))
	case n < 93:
		g.replay(i)
	case n < 95:
		g.swap(i)
	case n < 98:
		g.up = false
	default:
		if g.said != nil {
			g.up = false
		}
	}
	return nil
}

// hello lets each side say how far it has got, on a new stream that is about to take
// the place of this one. Until it does, more may come from this one.
func (g *game) hello() {
	g.said = &[2]uint64{g.endpoints[0].link.Taken(), g.endpoints[1].link.Taken()}
}

// connect goes on with a new stream.
func (g *game) connect() error {
	if g.said == nil {
		g.hello()
	}
	for i, e := range g.endpoints {
		f := &g.flows[i]
		f.bytes, f.old, f.at = f.old[:0], f.bytes, 0
		if err := e.resume(g.said[1-i]); err != nil {
			return err
		}
	}
	g.up, g.said = true, nil
	return nil
}

// write lets the endpoint at the other end of flow i write.
func (g *game) write(i int) { g.flows[i].bytes = g.endpoints[1-i].write(g.flows[i].bytes) }

// deliver brings up to n bytes to endpoint i. A stream that has a gap is given up.
func (g *game) deliver(i, n int) error {
	f := &g.flows[i]
	n = min(n, len(f.bytes)-f.at)
	err := g.endpoints[i].receive(f.bytes[f.at : f.at+n])
	f.at += n
	if errors.Is(err, engine.ErrGap) {
		g.up = false
		return nil
	}
	return err
}

// starts are where the frames of a stream begin, and its end if that is one's.
func starts(b []byte) (at []int) {
	for i := 0; ; {
		at = append(at, i)
		size, _ := wire.HeaderSize(b[i:])
		if size == 0 || i+size > len(b) {
			return at
		}
		h, _, err := wire.ParseHead(b[i+4:i+size], 1<<20)
		if err != nil || i+size+wire.BulkSize(h.Bulk) > len(b) {
			return at
		}
		i += size + wire.BulkSize(h.Bulk)
	}
}

// replay puts frames of an earlier stream, or of this one, before those that have
// not come yet.
func (g *game) replay(i int) {
	f := &g.flows[i]
	from := f.old
	if g.random.IntN(2) == 0 {
		from = f.bytes[:f.at]
	}
	old := starts(from)
	first := g.random.IntN(len(old))
	last := min(len(old)-1, first+g.random.IntN(4))
	again := append([]byte(nil), from[old[first]:old[last]]...)
	for _, at := range starts(f.bytes) {
		if at >= f.at {
			f.bytes = append(f.bytes[:at:at], append(again, f.bytes[at:]...)...)
			return
		}
	}
}

// swap exchanges two frames that have not come yet.
func (g *game) swap(i int) {
	f := &g.flows[i]
	at := starts(f.bytes)
	for len(at) > 0 && at[0] < f.at {
		at = at[1:]
	}
	if len(at) < 3 {
		return
	}
	n := g.random.IntN(len(at) - 2)
	a, b := f.bytes[at[n]:at[n+1]], f.bytes[at[n+1]:at[n+2]]
	copy(f.bytes[at[n]:], append(append([]byte(nil), b...), a...))
}

// lie lets an endpoint answer a call that was not made: number 0, or one that comes later.
func (g *game) lie(i int) {
	e := g.endpoints[i]
	origin := e.memory.peers[g.random.IntN(len(e.memory.peers))]
	reply := wire.Reply{Origin: origin, Call: 1 << 40, Value: g.random.Uint64N(100)}
	if g.random.IntN(2) == 0 {
		reply.Call = 0
	}
	e.reply(reply, nil)
	g.lies++
}

// settle lets everything come to its end, without faults.
func (g *game) settle() error {
	for round := 0; !g.settled(); round++ {
		if round == 1000 {
			return fmt.Errorf("%w: not settled after %d rounds without faults", errLiveness, round)
		}
		if !g.up {
			if err := g.connect(); err != nil {
				return fmt.Errorf("%w: %w", errSafety, err)
			}
		}
		for _, r := range g.ranks {
			if r.left > 0 && r.waits == 0 {
				r.issue()
			}
		}
		for i, e := range g.endpoints {
			e.acknowledge(true)
			g.write(1 - i)
			if err := g.deliver(i, 1<<30); err != nil {
				return fmt.Errorf("%w: %w", errSafety, err)
			}
		}
	}
	return g.over()
}

func (g *game) settled() bool {
	for _, r := range g.ranks {
		if r.left > 0 || r.waits != 0 {
			return false
		}
	}
	return g.endpoints[0].link.Settled() && g.endpoints[1].link.Settled()
}

// over checks what is left.
func (g *game) over() error {
	refused := 0
	for i, e := range g.endpoints {
		refused += e.refused
		if n := e.link.Kept(); n != 0 {
			return fmt.Errorf("%w: endpoint %d keeps %d bytes that are acknowledged", errSafety, i, n)
		}
	}
	if refused != g.lies {
		return fmt.Errorf("%w: %d replies were refused, %d were lies", errSafety, refused, g.lies)
	}
	for _, ranks := range [][]*rank{g.ranks[:len(g.ranks)/2], g.ranks[len(g.ranks)/2:]} {
		if err := agree(ranks); err != nil {
			return fmt.Errorf("%w: %w", errSafety, err)
		}
	}
	for _, r := range g.ranks {
		if err := r.visible(); err != nil { // the last operation of each was a Flush
			return fmt.Errorf("%w: %w", errSafety, err)
		}
	}
	return nil
}
