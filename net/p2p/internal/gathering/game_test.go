package gathering

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// game is a run whose nodes gather, one after another, while it loses nodes. The seed decides
// when each node does something, when it enters an epoch, and in which order messages arrive.
type game struct {
	*rand.Rand
	nodes  []*player
	epochs []membership.Epoch
	way    []letter // under way, in no order
	wrong  string
}

type letter struct {
	from int
	Letter
}

// player is a node. It gathers under two names.
type player struct {
	*Member
	node  int
	at    int // of the epochs
	gone  bool
	waits map[string]Key // by name
	got   map[Key][][]byte
}

// most is how often each node gathers under a name.
const most = 4

func newGame(seed uint64) *game {
	g := &game{Rand: rand.New(rand.NewPCG(seed, 1))}
	first := membership.Epoch{Number: 1, Seats: make([]membership.Seat, 2+g.IntN(4))}
	for i := range first.Seats {
		first.Seats[i] = membership.Seat{Life: 1, State: membership.In}
	}
	g.epochs = append(g.epochs, first)
	for i := range first.Seats {
		g.nodes = append(g.nodes, &player{Member: New(i, first), node: i, waits: make(map[string]Key), got: make(map[Key][][]byte)})
	}
	return g
}

func (g *game) chance(n int) bool { return g.IntN(n) == 0 }

func (g *game) send(from int, all []Letter) {
	for _, l := range all {
		g.way = append(g.way, letter{from, l})
	}
}

// play plays to the end. Every node that is left has got all that it waited for, and all of them
// have got the same.
func (g *game) play() {
	for idle := 0; idle < 300 && g.wrong == ""; {
		p := g.nodes[g.IntN(len(g.nodes))]
		switch {
		case len(g.way) > 0 && !g.chance(3):
			g.deliver(g.IntN(len(g.way)))
		case p.gone:
			idle++
			continue
		case p.at+1 < len(g.epochs) && g.chance(2):
			p.at++
			g.send(p.node, p.Enter(g.epochs[p.at]))
		case g.chance(40) && g.last() == p.node:
			g.lose(p)
		case !g.begin(p):
			idle++
			continue
		}
		idle = 0
	}
	for _, p := range g.nodes {
		if !p.gone && len(p.waits) > 0 && g.wrong == "" {
			g.wrong = fmt.Sprintf("node %d waits for %v in epoch %d", p.node, p.waits, p.epoch.Number)
		}
	}
}

// last is a node that may be lost: mostly the chair. It is -1 if all others are.
func (g *game) last() int {
	e := g.epochs[len(g.epochs)-1]
	left := []int{}
	for i := range e.Seats {
		if e.Has(i) {
			left = append(left, i)
		}
	}
	switch {
	case len(left) == 1:
		return -1
	case g.chance(3):
		return left[g.IntN(len(left))]
	}
	return left[0]
}

// lose ends a node. What it has sent may arrive until the receiver enters the next epoch.
func (g *game) lose(p *player) {
	p.gone = true
	e := g.epochs[len(g.epochs)-1]
	e.Number++
	e.Seats = slices.Clone(e.Seats)
	e.Seats[p.node].State = membership.Ended
	g.epochs = append(g.epochs, e)
}

// begin gathers once more, if there is something to gather. A node may give up what it waits for.
func (g *game) begin(p *player) bool {
	name := []string{"a", "b"}[g.IntN(2)]
	if _, waits := p.waits[name]; waits && !g.chance(30) || p.rounds[name] >= most {
		return false
	}
	k, out := p.Begin(name, fmt.Appendf(nil, "%d", p.node))
	p.waits[name] = k
	g.send(p.node, out)
	return true
}

func (g *game) deliver(at int) {
	l := g.way[at]
	g.way = slices.Delete(g.way, at, at+1)
	p := g.nodes[l.To]
	if p.gone {
		return
	}
	out, done, err := p.Step(l.from, l.Message)
	if err != nil {
		g.wrong = err.Error()
	}
	g.send(p.node, out)
	if !done {
		return
	}
	for _, other := range g.nodes {
		if list := other.got[l.Key]; !other.gone && list != nil && !slices.EqualFunc(list, l.List, bytes.Equal) {
			g.wrong = fmt.Sprintf("node %d gets %q under %v, and node %d got %q", p.node, l.List, l.Key, other.node, list)
		}
	}
	p.got[l.Key] = l.List
	if p.waits[l.Key.Name] == l.Key {
		delete(p.waits, l.Key.Name)
	}
	for i, blob := range l.List {
		if g.epochs[len(g.epochs)-1].Has(i) && string(blob) != fmt.Sprint(i) {
			g.wrong = fmt.Sprintf("node %d gets %q of node %d, which is there", p.node, blob, i)
		}
	}
}

func TestSeeds(t *testing.T) {
	invariant.Reached()
	lost, kept := 0, 0
	for seed := range uint64(3000) {
		g := newGame(seed)
		if g.play(); g.wrong != "" {
			t.Fatalf("seed %d: %s", seed, g.wrong)
		}
		lost += len(g.epochs) - 1
		for _, p := range g.nodes {
			for k := range p.given {
				if !p.gone && p.epoch.Chair() == p.node && p.last[k.Name].Key.Round < k.Round {
					kept++
				}
			}
		}
	}
	t.Logf("%d nodes are lost", lost)
	if lost == 0 || kept > 0 {
		t.Errorf("%d nodes are lost, %d gatherings are never complete", lost, kept)
	}
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range []string{
		"a list of a chair that is lost", "a new chair has what a node waits for", "a new chair hears of what a node waits for",
	} {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
	}
}

// TestHostile takes what no correct node sends.
func TestHostile(t *testing.T) {
	first := membership.Epoch{Number: 1, Seats: []membership.Seat{{Life: 1, State: membership.In}, {Life: 2, State: membership.In}}}
	give := Message{Kind: Give, Key: Key{"a", 1}, Blob: []byte{1}}
	for what, m := range map[string]Message{
		"a list that nobody waits for": {Kind: All, Key: Key{"b", 1}, List: make([][]byte, 2)},
		"a list of a later round":      {Kind: All, Key: Key{"a", 2}, List: make([][]byte, 2)},
		"half a list":                  {Kind: All, Key: Key{"a", 1}, List: make([][]byte, 1)},
		"a gift again":                 give,
	} {
		n := New(0, first)
		n.Begin("a", nil)
		if _, _, err := n.Step(1, give); err != nil {
			t.Fatal(err)
		}
		if _, done, err := n.Step(1, m); !errors.Is(err, ErrMessage) || done {
			t.Errorf("%s: %t, %v", what, done, err)
		}
	}
	n := New(0, first)
	for i := range MostOpen {
		if _, _, err := n.Step(1, Message{Kind: Give, Key: Key{"a", uint64(i + 1)}}); err != nil {
			t.Fatalf("gift %d: %v", i, err)
		}
	}
	if _, _, err := n.Step(1, Message{Kind: Give, Key: Key{"b", 1}}); !errors.Is(err, ErrMessage) {
		t.Errorf("a gift too many: %v", err)
	}
}
