package agreement

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

// game is a run whose nodes agree on parts of a program. The seed decides when each node does
// something, in which order messages arrive, and which nodes are lost.
type game struct {
	rng   *rand.Rand
	flaw  string
	chair *Chair
	nodes []*player
	way   []letter // under way, in no order
	fate  map[uint64]string
	met   map[string]int
}

type letter struct {
	from int
	Letter
}

// player is a node: it calls some agreements, one after another.
type player struct {
	*game
	node   int
	member Member
	calls  int // left to make
	text   int // of the next call
	parts  map[uint64]string
	left   bool
	lost   bool
	closed bool // it knows that a node has left
}

func newGame(seed uint64, flaw string) *game {
	g := &game{rng: rand.New(rand.NewPCG(seed, 3)), flaw: flaw, fate: make(map[uint64]string), met: make(map[string]int)}
	n := 2 + g.rng.IntN(3)
	g.chair = NewChair(n)
	for i := range n {
		p := &player{game: g, node: i, calls: 1 + g.rng.IntN(5), parts: make(map[uint64]string)}
		p.member.Refusal = []byte("withdrawn")
		g.nodes = append(g.nodes, p)
	}
	return g
}

func (g *game) chance(n int) bool { return g.rng.IntN(n) == 0 }

// check panics if the game has gone wrong. play returns it.
func (g *game) check(so bool, format string, args ...any) {
	if !so {
		panic(wrong(fmt.Sprintf(format, args...)))
	}
}

type wrong string

func (g *game) send(from int, all ...Letter) {
	for _, l := range all {
		header, bulk := l.Encode()
		m, err := Parse(header, bulk, len(g.nodes))
		g.check(err == nil, "%v", err)
		if !g.nodes[from].lost {
			g.way = append(g.way, letter{from, Letter{l.To, m}})
		}
	}
}

// play plays to the end, and checks that nothing is left.
func (g *game) play() (err error) {
	defer func() {
		if v := recover(); v != nil {
			w, is := v.(wrong)
			if !is {
				panic(v)
			}
			err = errors.New(string(w))
		}
	}()
	for idle := 0; idle < 200; {
		if len(g.way) > 0 && !g.chance(3) {
			g.deliver(g.rng.IntN(len(g.way)))
			idle = 0
			continue
		}
		p := g.nodes[g.rng.IntN(len(g.nodes))]
		if p.lost || !p.act() {
			idle++
		} else {
			idle = 0
		}
		if p.node != 0 && !p.lost && g.chance(150) {
			g.lose(p)
			idle = 0
		}
	}
	for _, p := range g.nodes {
		g.check(p.lost || !p.member.Open() && len(p.parts) == 0, "node %d waits for ever: open %t, in %v", p.node, p.member.Open(), p.parts)
	}
	g.check(g.chair.Open() == 0, "%d rounds are never complete", g.chair.Open())
	return nil
}

// lose ends a node. Some of what it has sent still arrives, and then the chair learns it.
func (g *game) lose(p *player) {
	g.met["a node is lost"]++
	for i := 0; i < len(g.way); {
		switch l := g.way[i]; {
		case l.from == p.node && l.To == 0 && g.chance(2):
			g.deliver(i)
			i = 0
		case l.from == p.node || l.To == p.node:
			g.way = append(g.way[:i], g.way[i+1:]...)
		default:
			i++
		}
	}
	p.lost = true
	g.send(0, g.chair.Lost(p.node)...)
}

func (g *game) deliver(at int) {
	l := g.way[at]
	g.way = append(g.way[:at], g.way[at+1:]...)
	p := g.nodes[l.To]
	switch l.Kind {
	case Propose, Withdraw, Leave, Give:
		out, err := g.chair.Step(l.from, l.Message)
		g.check(err == nil, "%v", err)
		g.send(0, out...)
		return
	}
	if p.lost {
		return
	}
	answer, news, err := p.member.Step(l.from, l.Message)
	g.check(err == nil, "%v", err)
	if !news {
		g.met["a withdrawn proposal is refused"]++
		p.ends(l.Number, "refused")
		g.send(p.node, Letter{0, answer})
		return
	}
	p.hear(l.Message)
}

// hear acts on news.
func (p *player) hear(m Message) {
	g := p.game
	switch {
	case m.Kind == Left:
		g.met["a node has left"]++
		p.closed = true
	case m.Kind == Tell:
	case m.Round == 0:
		p.text++
		verdict := "ok"
		for _, other := range m.List {
			if other != nil && !bytes.Equal(other, m.List[0]) {
				verdict = "differs"
			}
		}
		if verdict == "ok" && g.chance(8) {
			verdict = "fault of one"
		}
		p.parts[m.Number] = verdict
		g.met[verdict]++
		if g.flaw == "one round" && verdict == "ok" {
			p.ends(m.Number, "joined")
		}
		g.send(p.node, Letter{0, Message{Kind: Give, Number: m.Number, Round: 1, Blob: []byte(verdict)}})
	case m.Round == 1:
		outcome := "joined"
		for _, vote := range m.List {
			if vote != nil && string(vote) != "ok" {
				outcome = "refused"
			}
		}
		p.ends(m.Number, outcome)
		g.met[outcome]++
		if delete(p.parts, m.Number); outcome == "joined" {
			p.parts[m.Number] = "runs"
		}
	case m.Round == 2:
		g.check(p.parts[m.Number] == "done", "node %d: agreement %d ends, and it is %q", p.node, m.Number, p.parts[m.Number])
		delete(p.parts, m.Number)
	}
}

// ends checks that all nodes see the same end of an agreement.
func (p *player) ends(number uint64, how string) {
	if first, known := p.fate[number]; known {
		p.check(first == how, "agreement %d is %s, and %s for node %d", number, first, how, p.node)
	}
	p.fate[number] = how
}

// act lets a node do what makes sense for it, and reports whether there was something.
func (p *player) act() bool {
	deciding := false
	for number, part := range p.parts {
		switch {
		case part == "runs":
			p.parts[number] = "done"
			p.send(p.node, Letter{0, Message{Kind: Give, Number: number, Round: 2}})
			return true
		case part != "done":
			deciding = true
		}
	}
	switch {
	case p.member.Open():
		if p.chance(6) {
			p.met["a proposal is withdrawn"]++
			p.send(p.node, Letter{0, p.member.Withdraw()})
			return true
		}
		return false
	case deciding || p.closed || p.left:
		return false
	case p.calls > 0:
		p.calls--
		text := p.text
		if p.chance(10) {
			text = -p.node
		}
		p.send(p.node, Letter{0, p.member.Propose([]byte(fmt.Sprint(text)))})
		return true
	case len(p.parts) == 0:
		p.left = true
		p.send(p.node, Letter{0, Message{Kind: Leave}})
		return true
	}
	return false
}

// Whatever the moment of each message and each loss: an agreement has the same end on all
// nodes, every proposal comes to an end, and the chair keeps nothing.
func TestSeeds(t *testing.T) {
	invariant.Reached()
	met := make(map[string]int)
	for seed := range uint64(3000) {
		g := newGame(seed, "")
		if err := g.play(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for what, n := range g.met {
			met[what] += n
		}
	}
	for _, what := range []string{
		"a node is lost", "a node has left", "a proposal is withdrawn", "a withdrawn proposal is refused",
		"ok", "differs", "fault of one", "joined", "refused",
	} {
		t.Logf("%6d times: %s", met[what], what)
		if met[what] == 0 {
			t.Errorf("no seed meets it: %s", what)
		}
	}
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range []string{
		"a withdrawal overtakes its proposal", "a proposal overtakes the withdrawal of the one before",
		"a proposal is withdrawn after all have met",
		"a node leaves while another has proposed", "a node is lost between two rounds", "a withdrawn proposal is refused in round 1",
	} {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
	}
}

// The seeds find it if nodes join after the first round, before they know that all do.
func TestSeedsFindFlaw(t *testing.T) {
	for seed := range uint64(1000) {
		if err := newGame(seed, "one round").play(); err != nil {
			t.Log(seed, err)
			return
		}
	}
	t.Error("not found")
}
