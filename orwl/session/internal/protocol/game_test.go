package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// A game plays one home and some clients in virtual time. Their clocks start anywhere, and each
// is wrong by up to the skew over a lease. Connections are cut and delayed, messages come
// again, clients and the home stop for a while, the home starts anew, users hold for too long,
// and an operator releases by force. Some holders lose their connection just then, and hear of it on
// the next one, which is slow. In every state:
//
//   - at most one client believes that it holds a name for writing, and then none for reading;
//   - the fences of writers grow;
//   - what is committed was written by holders one after another: none is lost or doubled.
//
// In the end nothing is cut any more, and every waiting request is served.

const (
	gameLength = 1000
	gameSkew   = 100
)

// flaws are what a broken home or client does. The game must catch each.
type flaws struct {
	early   int64 // the home ends sessions so much sooner
	late    int64 // the clients let go so much later
	hasty   bool  // a home that starts anew takes sessions at once
	sudden  bool  // a forced release does not ask first
	twice   bool  // messages that come again are taken again
	forgets bool  // a client does not say again what was not taken
	hopes   bool  // every admission renews a client's lease
}

type game struct {
	*rand.Rand
	flaws
	now     int64 // true time
	home    *Home
	queue   *fifo
	opens   int64 // when the home takes sessions
	asleep  int64 // the home does nothing until then
	tick    int64
	clock   clock // the home's
	players []*gamer
	conns   uint64
	calm    bool
	lastly  map[string]uint64 // fence of the last writer by name
	grants  int
	events  map[string]int
}

// clock runs at a speed of its own.
type clock struct {
	offset int64
	rate   float64
}

func (c clock) at(t int64) int64 { return c.offset + int64(c.rate*float64(t)) }

// wire is a connection: messages in order, each with the time at which it comes.
type wire struct {
	conn     uint64
	up, down []flight
	slow     bool // every fourth message comes late
	cut      bool
}

type flight struct {
	at int64
	m  Message
}

// gamer is a client and its user.
type gamer struct {
	g      *game
	number int
	client *Client
	clock  clock
	wire   *wire
	asleep int64
	away   int64 // it does not connect before
	next   int64

	name     string
	request  uint64 // 0: none
	reads    bool
	grant    *Grant // nil: not granted, or let go
	until    int64
	value    uint64 // the value that it has read
	has      bool
	wrote    bool
	stubborn bool
	served   int
}

func newGame(seed uint64, f flaws) *game {
	g := &game{Rand: rand.New(rand.NewPCG(seed, 7)), flaws: f, lastly: make(map[string]uint64), events: make(map[string]int)}
	g.clock = g.newClock()
	g.start(0)
	for i := range 3 + g.IntN(2) {
		p := &gamer{g: g, number: i, clock: g.newClock()}
		p.begin()
		g.players = append(g.players, p)
	}
	return g
}

// newClock is right, or as slow or fast as the lease allows, nearly: then (Length-Skew) of a slow
// client and (Length+Skew) of a fast home take about as long.
func (g *game) newClock() clock {
	const drift = 0.95 * float64(gameSkew) / gameLength
	return clock{g.Int64N(10_000) + 1, 1 + drift*float64(g.IntN(3)-1)}
}

// start starts a home. Its fences are greater than all fences of the home before.
func (g *game) start(wait int64) {
	before := g.queue
	g.queue = newFIFO()
	for _, name := range []string{"a", "b"} {
		l := &line{bytes: make([]byte, 8)}
		if before != nil {
			l.fence = before.names[name].fence + 100
			l.bytes, l.version = before.names[name].bytes, before.names[name].version // in a store that outlives it
		}
		g.queue.names[name] = l
	}
	g.home = NewHome(Lease{Lease: time.Duration(gameLength - g.early), Skew: time.Duration(gameSkew)}, g.queue)
	g.opens = g.clock.at(g.now) + wait
	g.tick = 0
	for _, p := range g.players {
		p.cut()
	}
}

// begin makes a new session.
func (p *gamer) begin() {
	p.cut()
	id := binary.LittleEndian.AppendUint64(make([]byte, 8), p.g.Uint64())
	p.client = NewClient(id, fmt.Sprint(p.number))
	p.request, p.grant, p.has, p.wrote = 0, nil, false, false
}

func (p *gamer) cut() {
	if p.wire != nil {
		p.g.home.Left(p.wire.conn)
		p.wire = nil
	}
}

// believes reports whether a client thinks that it holds.
func (p *gamer) believes() bool {
	c := p.client
	return p.grant != nil && c.over == nil && p.clock.at(p.g.now)-p.g.late < c.lease.LetsGo(c.echoed)
}

// play plays for so long, and returns what is wrong, if anything.
func (g *game) play(until int64) error {
	for ; g.now < until; g.now++ {
		if !g.calm {
			g.disturb()
		}
		if g.now >= g.asleep {
			g.stepHome()
		}
		for _, p := range g.players {
			if g.now >= p.asleep {
				if err := p.step(); err != nil {
					return err
				}
			}
		}
		if err := g.check(); err != nil {
			return err
		}
	}
	return nil
}

// check looks at what clients believe.
func (g *game) check() error {
	for i, p := range g.players {
		for _, q := range g.players[:i] {
			if p.believes() && q.believes() && p.name == q.name && !(p.reads && q.reads) {
				return fmt.Errorf("at %d: %d and %d both hold %s", g.now, q.number, p.number, p.name)
			}
		}
	}
	return nil
}

// disturb does harm.
func (g *game) disturb() {
	p := g.players[g.IntN(len(g.players))]
	switch g.IntN(4000) {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		g.events["cut"]++
		p.cut()
	case 8, 9:
		p.asleep = g.now + g.Int64N(2*gameLength)
	case 10:
		if g.asleep = g.now + g.Int64N(gameLength/2); g.IntN(4) == 0 {
			g.asleep += 2 * gameLength
		}
	case 11:
		if g.IntN(3) == 0 {
			g.events["restart"]++
			wait := int64(gameLength + gameSkew)
			if g.hasty {
				wait = 0
			}
			g.start(wait)
		}
	case 12, 13, 14, 15:
		if w := p.wire; w != nil && len(p.client.link.kept) > 0 { // one that comes again
			g.events["again"]++
			m := p.client.link.kept[0]
			m.Taken = 0
			w.up = append(w.up, flight{g.now, m})
		}
	}
}

// stepHome lets the home take what has come, and tell what it has to.
func (g *game) stepHome() {
	now := g.clock.at(g.now)
	if now < g.opens {
		return
	}
	if g.tick != 0 && now >= g.tick || g.tick == 0 {
		g.tick = g.home.Tick(now)
	}
	for _, p := range g.players {
		for w := p.wire; w != nil && w == p.wire && len(w.up) > 0 && w.up[0].at <= g.now; {
			m := w.up[0].m
			w.up = w.up[1:]
			m.Version = Version
			g.spoil(w.conn, &m)
			g.home.Take(now, w.conn, m)
			g.flush(now)
		}
	}
	g.flush(now)
}

// spoil is where a broken home differs.
func (g *game) spoil(conn uint64, m *Message) {
	s := g.home.conns[conn]
	if s == nil {
		return
	}
	if g.twice && m.Number > 0 && m.Number <= s.link.taken {
		s.link.taken = m.Number - 1
	}
	if g.sudden && m.Revoke != nil {
		if n := g.home.names[m.Revoke.Name]; n != nil && len(n.requests) > 0 && n.requests[0].held {
			g.home.lose(n.requests[0], "suddenly")
		}
	}
}

// flush hands on grants, and puts what the home says on its way.
func (g *game) flush(now int64) {
	for len(g.queue.due) > 0 {
		d := g.queue.due[0]
		g.queue.due = g.queue.due[1:]
		g.home.Granted(now, d.id, d.grant)
	}
	for _, o := range g.home.Out() {
		for _, p := range g.players {
			if w := p.wire; w != nil && w.conn == o.Conn {
				if m := o.Message; m.Admission != nil || m.Echo != nil || m.Number > 0 || m.Bye != nil {
					if m.Admission != nil {
						admission := *m.Admission
						admission.Length = gameLength
						m.Admission = &admission
					}
					w.down = append(w.down, flight{g.later(w, w.down), m})
				}
				w.cut = w.cut || o.Last
				if o.Message.Revoked != nil && !g.calm && g.IntN(2) == 0 {
					g.events["untold"]++
					p.cut()
					p.away = g.now + g.Int64N(gameLength)
				}
			}
		}
	}
}

// later is when a message comes, behind those before it.
func (g *game) later(w *wire, before []flight) int64 {
	at := g.now + 1 + g.Int64N(20)
	if !g.calm && (g.IntN(50) == 0 || w.slow && g.IntN(4) == 0) {
		at += g.Int64N(gameLength)
	}
	if len(before) > 0 {
		at = max(at, before[len(before)-1].at)
	}
	return at
}

// step is one moment of a client and its user.
func (p *gamer) step() error {
	g, now := p.g, p.clock.at(p.g.now)
	if p.wire == nil && g.now >= p.away && g.IntN(20) == 0 {
		g.conns++
		p.wire = &wire{conn: g.conns, slow: p.away > 0}
		p.away = 0
		p.client.Connect(now)
	}
	if w := p.wire; w != nil {
		for len(w.down) > 0 && w.down[0].at <= g.now {
			m := w.down[0].m
			w.down = w.down[1:]
			if g.forgets && m.Admission != nil {
				p.client.link.kept = nil
			}
			if err := p.client.Take(p.clock.at(g.now)-g.late, m); errors.Is(err, ErrLate) {
				g.events["late"]++
				p.cut()
				break
			} else if g.hopes && m.Admission != nil {
				p.client.echoed = max(p.client.echoed, m.Admission.Sent)
			} else if err != nil {
				return fmt.Errorf("at %d: client %d: %w", g.now, p.number, err)
			}
		}
		if w.cut && len(w.down) == 0 {
			p.cut()
		}
	}
	for _, m := range p.client.Heard() {
		if err := p.hear(m); err != nil {
			return err
		}
	}
	if p.next == 0 || now-g.late >= p.next {
		p.next = p.client.Tick(now - g.late)
	}
	if p.client.Over() != nil {
		g.events["over"]++
		p.begin()
		return nil
	}
	p.use()
	for _, m := range p.client.Out() {
		if w := p.wire; w != nil {
			w.up = append(w.up, flight{g.later(w, w.up), m})
		}
	}
	return nil
}

// hear hears what the home says.
func (p *gamer) hear(m Message) error {
	g := p.g
	switch {
	case m.Granted != nil && m.Granted.Request == p.request:
		p.grant = &m.Granted.Grant
		p.until = g.now + g.Int64N(100)
		p.stubborn = g.IntN(8) == 0 && !g.calm
		if p.stubborn {
			p.until += 2 * gameLength
		}
		p.served++
		g.grants++
		if !p.reads {
			if p.grant.Fence <= g.lastly[p.name] {
				return fmt.Errorf("at %d: fence %d of %s follows %d", g.now, p.grant.Fence, p.name, g.lastly[p.name])
			}
			g.lastly[p.name] = p.grant.Fence
			p.client.Say(Message{Read: &Grip{p.request, p.grant.Fence}})
		}
	case m.Revoked != nil && m.Revoked.Request == p.request:
		g.events["revoked"]++
		if p.grant != nil && p.stubborn { // its user goes on, and is not believed
			p.grant = nil
			return nil
		}
		if p.grant != nil {
			p.client.Say(Message{Release: &Grip{p.request, p.grant.Fence}})
		}
		p.grant, p.request, p.has = nil, 0, false
	case m.Lost != nil && m.Lost.Request == p.request:
		g.events["lost"]++
		p.grant, p.request, p.has = nil, 0, false
	case m.Answer != nil && m.Answer.Bytes != nil && p.grant != nil:
		p.value, p.has = binary.LittleEndian.Uint64(m.Answer.Bytes), true
	}
	return nil
}

// use is what the user does: ask, add one to the bytes, let go.
func (p *gamer) use() {
	g := p.g
	switch {
	case !p.client.known:
	case p.request == 0:
		if g.IntN(30) == 0 {
			p.name, p.reads = string("ab"[g.IntN(2)]), g.IntN(4) == 0
			p.request = p.client.Say(Message{Request: &Request{p.name, p.reads}})
			p.has, p.wrote = false, false
		}
	case p.grant == nil:
		if !g.calm && g.IntN(3000) == 0 {
			p.client.Say(Message{Revoke: &Revoke{Name: p.name}})
		}
	case g.now >= p.until && (p.has || p.reads):
		if !p.reads {
			b := binary.LittleEndian.AppendUint64(nil, p.value+1)
			p.client.Say(Message{Write: &Write{p.request, p.grant.Fence, b}})
		}
		p.client.Say(Message{Release: &Grip{p.request, p.grant.Fence}})
		p.request, p.grant = 0, nil
	}
}

// whole plays a game to its end.
func (g *game) whole() error {
	if err := g.play(30_000); err != nil {
		return err
	}
	g.calm = true
	for _, p := range g.players {
		p.served, p.asleep = 0, 0
	}
	g.asleep = 0
	if err := g.play(g.now + 8*gameLength); err != nil {
		return err
	}
	for _, p := range g.players {
		if p.served == 0 {
			return fmt.Errorf("at %d: %d is not served", g.now, p.number)
		}
	}
	for name, l := range g.queue.names {
		// Each commit adds one to what the one before has committed.
		if got := binary.LittleEndian.Uint64(l.bytes); l.version != got {
			return fmt.Errorf("%s was committed %d times, and counts %d", name, l.version, got)
		}
	}
	return nil
}

// TestGames plays -session.games of them, and sees that everything that may happen does.
func TestGames(t *testing.T) {
	rings.Computes(t)
	events := make(map[string]int)
	grants := 0
	for seed := range games.All() {
		g := newGame(seed, flaws{})
		if err := g.whole(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		grants += g.grants
		for name, n := range g.events {
			events[name] += n
		}
	}
	for _, name := range []string{"cut", "restart", "again", "over", "late", "revoked", "untold", "lost"} {
		if events[name] == 0 {
			t.Errorf("no game has %q", name)
		}
	}
	t.Logf("%d grants, %v", grants, events)
}

// TestGamesCatch plays broken homes and clients.
func TestGamesCatch(t *testing.T) {
	rings.Computes(t)
	for name, f := range map[string]flaws{
		"a home that ends sessions early":    {early: gameSkew},
		"a client that lets go late":         {late: gameSkew},
		"a home that starts anew too soon":   {hasty: true},
		"a forced release that does not ask": {sudden: true},
		"messages that are taken twice":      {twice: true},
		"a client that does not say again":   {forgets: true},
		"a client that an admission renews":  {hopes: true},
	} {
		caught := false
		for seed := uint64(0); seed < 1000 && !caught; seed++ {
			caught = newGame(seed, f).whole() != nil
		}
		if !caught {
			t.Errorf("no game catches %s", name)
		}
	}
}
