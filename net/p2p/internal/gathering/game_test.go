package gathering

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// game is a run whose nodes gather, one after another, while it loses nodes. The seed decides
// when each node does something, when it enters an epoch, and in which order messages arrive.
type game struct {
	*rand.Rand
	nodes  []*player // by life
	epochs []membership.Epoch
	way    []letter       // under way, in no order
	over   map[Key]uint64 // of each list, the epoch in which it was complete
	wrong  string
}

// letter is from a life to another one.
type letter struct {
	from, to int
	Letter
}

// player is a life of a node. It gathers under two names, and among some nodes under a third.
type player struct {
	*Member
	life  int
	node  int
	at    int // of the epochs
	gone  bool
	waits map[string]Key // by name
	gave  map[Key][]string
	got   map[Key][][]byte
}

// most is how often each node gathers under a name.
const most = 4

func newGame(seed uint64) *game {
	g := &game{Rand: rand.New(rand.NewPCG(seed, 1)), over: make(map[Key]uint64)}
	first := membership.Epoch{Number: 1, Seats: make([]membership.Seat, 2+g.IntN(4))}
	for i := range first.Seats {
		first.Seats[i] = membership.Seat{Life: uint64(i), State: membership.In}
	}
	g.epochs = append(g.epochs, first)
	for i := range first.Seats {
		g.start(i)
	}
	return g
}

// start adds a life of a node, which takes part from the last epoch on.
func (g *game) start(node int) {
	at := len(g.epochs) - 1
	p := &player{
		Member: New(node, g.epochs[at]), life: len(g.nodes), node: node, at: at,
		waits: make(map[string]Key), gave: make(map[Key][]string), got: make(map[Key][][]byte),
	}
	p.Moved = func(was, is Key) {
		p.gave[is] = p.gave[was]
		if p.waits[was.Name] == was {
			p.waits[was.Name] = is
		}
		if !g.before(Key{is.Name, is.Round - 1}, p) {
			g.wrong = fmt.Sprintf("life %d moves from %v to %v", p.life, was, is)
		}
		if is.Round > most { // no other life gives to it
			delete(p.waits, was.Name)
		}
	}
	g.nodes = append(g.nodes, p)
}

// lifeOf is the life that a node has for a player.
func (p *player) lifeOf(node int) int { return int(p.epoch.Seats[node].Life) }

func (g *game) chance(n int) bool { return g.IntN(n) == 0 }

func (g *game) send(from *player, all []Letter) {
	for _, l := range all {
		if l.Kind == All {
			g.over[l.Key] = l.Epoch
		}
		g.way = append(g.way, letter{from.life, from.lifeOf(l.To), l})
	}
}

// play plays to the end. Every node that is left has got all that it waited for, and all of them
// have got the same.
func (g *game) play() {
	for idle := 0; (idle < 300 || g.moves()) && g.wrong == ""; {
		p := g.nodes[g.IntN(len(g.nodes))]
		switch {
		case len(g.way) > 0 && !g.chance(3):
			if !g.deliver(g.IntN(len(g.way))) {
				idle++
				continue
			}
		case p.gone:
			idle++
			continue
		case p.at+1 < len(g.epochs) && g.chance(2):
			p.at++
			g.send(p, p.Enter(g.epochs[p.at]))
		case g.chance(40) && g.last() == p.node:
			g.lose(p)
		case g.chance(40) && len(g.nodes) < 8 && g.back():
		case !g.begin(p):
			idle++
			continue
		}
		idle = 0
	}
	for _, p := range g.nodes {
		if !p.gone && len(p.waits) > 0 && g.wrong == "" {
			g.wrong = fmt.Sprintf("life %d waits for %v in epoch %d", p.life, p.waits, p.epoch.Number)
		}
	}
}

// moves reports whether a letter is under way, or a node has an epoch to enter. The letters to a node
// wait until it knows their senders.
func (g *game) moves() bool {
	return len(g.way) > 0 || slices.ContainsFunc(g.nodes, func(p *player) bool { return !p.gone && p.at+1 < len(g.epochs) })
}

// last is a node that may be lost: mostly the chair. It is -1 if all others are.
func (g *game) last() int {
	e := g.epochs[len(g.epochs)-1]
	left := e.Members()
	switch {
	case len(left) == 1:
		return -1
	case g.chance(3):
		return left[g.IntN(len(left))]
	}
	return e.Chair()
}

// lose ends a node. Its messages may arrive until the receiver enters the next epoch.
func (g *game) lose(p *player) {
	p.gone = true
	g.changes(p.node, membership.Ended)
}

// changes makes the next epoch, in which one node has another state.
func (g *game) changes(node int, to membership.State) {
	e := g.epochs[len(g.epochs)-1]
	e.Number++
	e.Seats = slices.Clone(e.Seats)
	if s := &e.Seats[node]; to == membership.In {
		*s = membership.Seat{Life: uint64(len(g.nodes)), State: to, Since: e.Number}
	} else {
		s.State = to
	}
	g.epochs = append(g.epochs, e)
}

// back lets a node come back, if one is gone.
func (g *game) back() bool {
	e := g.epochs[len(g.epochs)-1]
	node := g.IntN(len(e.Seats))
	if e.Has(node) {
		return false
	}
	g.changes(node, membership.In)
	g.start(node)
	return true
}

// begin gathers once more, if there is something to gather. A node may give up what it waits for,
// or give something else.
func (g *game) begin(p *player) bool {
	name := []string{"a", "b"}[g.IntN(2)]
	k, waits := p.waits[name]
	switch {
	case waits && g.chance(8) && len(p.gave[k]) < 3:
		blob := p.blob(k)
		g.send(p, p.Change(k, blob))
	case waits && !g.chance(30) || p.rounds[name] >= most:
		return false
	default:
		next := Key{name, p.rounds[name] + 1}
		blob := p.blob(Key{}) // of no round yet
		k, out := p.Begin(name, blob)
		p.gave[k] = []string{string(blob)}
		delete(p.gave, Key{})
		if over := (Key{name, k.Round - 1}); k != next && !g.before(over, p) {
			g.wrong = fmt.Sprintf("life %d gives to %v instead of %v", p.life, k, next)
		}
		if p.waits[name] = k; k.Round > most { // no other life gives to it
			delete(p.waits, name)
		}
		g.send(p, out)
	}
	return true
}

// before reports whether a round was over before a life came in.
func (g *game) before(k Key, p *player) bool {
	epoch, over := g.over[k]
	return over && epoch < p.epoch.Seats[p.node].Since
}

// blob is the next one that a node gives.
func (p *player) blob(k Key) []byte {
	b := fmt.Sprintf("%d: %d", p.life, len(p.gave[k]))
	p.gave[k] = append(p.gave[k], b)
	return []byte(b)
}

// deliver delivers a letter, if the receiver can know the sender.
func (g *game) deliver(at int) bool {
	l := g.way[at]
	p, from := g.nodes[l.to], g.nodes[l.from].node
	if !p.gone && p.lifeOf(from) < l.from {
		return false
	}
	g.way = slices.Delete(g.way, at, at+1)
	if p.gone || p.lifeOf(from) > l.from {
		return true
	}
	out, done, err := p.Step(from, l.Message)
	if err != nil {
		g.wrong = err.Error()
	}
	g.send(p, out)
	if done {
		g.gets(p, l.Message)
	}
	return true
}

// gets has a player get a list that it has waited for.
func (g *game) gets(p *player, l Message) {
	for _, other := range g.nodes {
		if list := other.got[l.Key]; !other.gone && list != nil && !slices.EqualFunc(list, l.List, bytes.Equal) {
			g.wrong = fmt.Sprintf("life %d gets %q under %v, and life %d got %q", p.life, l.List, l.Key, other.life, list)
		}
	}
	p.got[l.Key] = l.List
	if p.waits[l.Key.Name] == l.Key {
		delete(p.waits, l.Key.Name)
	}
	for i, blob := range l.List {
		e := g.epochs[len(g.epochs)-1]
		switch there := e.Has(i) && e.Seats[i].Since <= l.Epoch; {
		case blob == nil && there && l.Key.Name != "few", blob != nil && !slices.Contains(g.nodes[lifeIn(blob)].gave[l.Key], string(blob)):
			g.wrong = fmt.Sprintf("life %d gets %q of node %d, which is there: %t", p.life, blob, i, there)
		}
	}
	if l.Key.Name == "a" {
		g.few(p, l)
	}
}

// lifeIn is the life that has given a blob.
func lifeIn(blob []byte) (life int) {
	_, _ = fmt.Sscanf(string(blob), "%d:", &life) // it was made by Sprintf
	return life
}

// few gathers among the lives of a list that have an even number. So a life that gives to one round
// gives to all later ones.
func (g *game) few(p *player, all Message) {
	among := make([]uint64, len(all.List))
	for i, blob := range all.List {
		among[i] = 1 << 60 // no life has this number
		if blob != nil && lifeIn(blob)%2 == 0 {
			among[i] = uint64(lifeIn(blob))
		}
	}
	if among[p.node] == uint64(p.life) {
		k := Key{"few", all.Key.Round}
		p.waits[k.Name] = k
		g.send(p, p.BeginAt(k, p.blob(k), among))
	}
}

var seeds = rings.Seeds("gathering.seeds", 500, 64_000, "TestSeeds: seeds")

// TestSeeds plays games.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	first, n := seeds.Span()
	playAll(t, first, n)
}

// TestRareStates plays the same seeds in each change. They reach every rare state: a share of
// TestSeeds need not.
func TestRareStates(t *testing.T) {
	rings.Computes(t)
	rings.Needs(t, rings.Change)
	invariant.Reached()
	playAll(t, 0, 2000)
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range []string{
		"a list of a chair that is lost", "a new chair has what a node waits for", "a new chair hears of what a node waits for",
		"a gift overtakes the one before", "a gift is changed too late",
	} {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
	}
}

// playAll plays n seeds.
func playAll(t *testing.T, first uint64, n int) {
	t.Helper()
	lost, back, kept := 0, 0, 0
	for seed := first; seed < first+uint64(n); seed++ {
		g := newGame(seed)
		if g.play(); g.wrong != "" {
			t.Fatalf("seed %d: %s", seed, g.wrong)
		}
		lives := len(g.nodes) - len(g.epochs[0].Seats)
		lost += len(g.epochs) - 1 - lives
		back += lives
		for _, p := range g.nodes {
			for k := range p.given {
				if !p.gone && p.epoch.Chair() == p.node && p.last[k.Name].Key.Round < k.Round && k.Round <= most {
					kept++
				}
			}
			for _, k := range slices.Collect(maps.Keys(p.handed)) {
				if !p.gone {
					t.Errorf("seed %d: node %d keeps the list of %v", seed, p.node, k)
				}
			}
		}
	}
	t.Logf("%d nodes are lost, %d come back", lost, back)
	if lost == 0 || back == 0 || kept > 0 { // a game loses about three nodes, and two come back
		t.Errorf("%d nodes are lost, %d gatherings are never complete", lost, kept)
	}
}

// TestHostile takes what no correct node sends.
func TestHostile(t *testing.T) {
	first := membership.Epoch{Number: 1, Seats: []membership.Seat{{Life: 1, State: membership.In}, {Life: 2, State: membership.In}}}
	give := Message{Kind: Give, Key: Key{"a", 1}, Try: 1, Blob: []byte{1}}
	n := New(0, first)
	if _, _, err := n.Step(1, give); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Step(1, give); !errors.Is(err, ErrMessage) {
		t.Errorf("a gift again: %v", err)
	}
	n = New(0, first)
	for i := range MostOpen {
		if _, _, err := n.Step(1, Message{Kind: Give, Key: Key{"a", uint64(i + 1)}, Try: 1}); err != nil {
			t.Fatalf("gift %d: %v", i, err)
		}
	}
	if _, _, err := n.Step(1, Message{Kind: Give, Key: Key{"b", 1}, Try: 1}); !errors.Is(err, ErrMessage) {
		t.Errorf("a gift too many: %v", err)
	}
}

// TestForget forgets one list of two. A list that comes again does no harm.
func TestForget(t *testing.T) {
	first := membership.Epoch{Number: 1, Seats: []membership.Seat{{Life: 1, State: membership.In}, {Life: 2, State: membership.In}}}
	n := New(1, first)
	list := func(name string) Message { return Message{Kind: All, Key: Key{name, 1}, List: [][]byte{{}, {}}} }
	for _, name := range []string{"a", "b"} {
		n.Begin(name, nil)
		if _, done, err := n.Step(0, list(name)); err != nil || !done {
			t.Fatalf("the list: %t, %v", done, err)
		}
	}
	n.Forget(func(name string) bool { return name == "a" })
	if len(n.last) != 1 || len(n.rounds) != 1 || n.rounds["b"] != 1 {
		t.Errorf("rounds %v, lists %v", n.rounds, n.last)
	}
	if out, done, err := n.Step(0, list("a")); len(out) > 0 || done || err != nil {
		t.Errorf("a list that comes again: %v, %t, %v", out, done, err)
	}
}

func messages() []Message {
	return []Message{
		{Kind: Give, Key: Key{"a", 1}, Try: 2, Blob: []byte("blob"), Among: []uint64{0, 7}},
		{Kind: Give, Key: Key{"a", 1}, Try: 1, Blob: []byte{}},
		{Kind: All, Key: Key{"b", 7}, List: [][]byte{nil, {}}, Epoch: 3},
	}
}

// A message is what was sent, and no part of it is one.
func TestMessages(t *testing.T) {
	for _, m := range messages() {
		b := m.Bytes()
		if got, err := Parse(m.Kind, m.Key, b, 2); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v, %v, want %+v", got, err, m)
		}
		if len(b) > len(m.Blob)+Overhead(2) {
			t.Errorf("%d bytes, more than Overhead", len(b))
		}
		for i := range b {
			if _, err := Parse(m.Kind, m.Key, b[:i], 2); !errors.Is(err, ErrMessage) {
				t.Errorf("%d bytes of %+v: %v", i, m, err)
			}
		}
		if _, err := Parse(m.Kind, Key{"a", 0}, b, 2); !errors.Is(err, ErrMessage) {
			t.Errorf("%+v in round 0: %v", m, err)
		}
	}
	give, all := messages()[0], messages()[2]
	for what, parse := range map[string]func() (Message, error){
		"a list as a gift":         func() (Message, error) { return Parse(Give, all.Key, all.Bytes(), 2) },
		"a gift as a list":         func() (Message, error) { return Parse(All, give.Key, give.Bytes(), 2) },
		"a list of another run":    func() (Message, error) { return Parse(All, all.Key, all.Bytes(), 3) },
		"a gift among another run": func() (Message, error) { return Parse(Give, give.Key, give.Bytes(), 3) },
		"a list among some of them": func() (Message, error) {
			all.Among = []uint64{1, 2}
			return Parse(All, all.Key, all.Bytes(), 2)
		},
	} {
		if m, err := parse(); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range messages() {
		f.Add(m.Bytes(), m.Kind == Give)
	}
	f.Fuzz(func(t *testing.T, b []byte, give bool) {
		kind := All
		if give {
			kind = Give
		}
		m, err := Parse(kind, Key{"a", 1}, b, 2)
		if err != nil {
			return
		}
		if again, err := Parse(kind, m.Key, m.Bytes(), 2); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v becomes %+v, %v", m, again, err)
		}
	})
}
