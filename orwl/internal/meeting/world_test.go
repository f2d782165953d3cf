package meeting

import (
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/message"
)

// world is a run whose nodes call phases, all the same ones in the same order. A node may take calls
// back, and a node may be lost. The chair gathers as the network does: messages of one node arrive
// in their order, and a proposal of a decided round comes too late.
type world struct {
	players []*player
	rounds  []*round
	ballots map[uint64]*poll
	backs   int // calls that may be taken back
	losses  int // nodes that may be lost
	wrong   string

	void, late, without bool // what has happened: see TestEverySchedule
}

// player is a node.
type player struct {
	*table
	gone   bool
	phases int // that it has joined, or has seen refused for good
	call   *Call
	answer *answer
	votes  uint64 // the number of the vote that it waits for
	gives  int    // the round of what it has given last
	heard  int    // rounds whose lists have come
	way    []give // to the chair
}

// give is a proposal for a round.
type give struct {
	round int
	blob  []byte
	call  uint64 // the table's count
	phase int    // or -1 if the call is taken back
}

// round is a gathering of proposals.
type round struct {
	said    []give
	decided bool
}

// poll is a gathering of votes.
type poll struct {
	yes, no []bool
	over    bool
	joins   bool
}

// phases is how many phases each node calls.
const phases = 2

func newWorld(nodes, backs, losses int) *world {
	w := &world{backs: backs, losses: losses, ballots: make(map[uint64]*poll)}
	for i := range nodes {
		w.players = append(w.players, &player{table: newTable(i, nodes, 1)})
	}
	return w
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

// moves are what may happen next. Those that must happen in the end come first.
func (w *world) moves() (due, faults []func(w *world)) {
	for i, p := range w.players {
		if p.gone {
			continue
		}
		if p.call == nil && p.phases < phases {
			due = append(due, func(w *world) { w.players[i].calls(w) })
		}
		if p.answer != nil {
			due = append(due, func(w *world) { w.players[i].hears(w) })
		}
		if len(p.way) > 0 {
			due = append(due, func(w *world) { w.arrives(w.players[i]) })
		}
		if p.heard < len(w.rounds) && w.rounds[p.heard].decided && p.gives > p.heard {
			due = append(due, func(w *world) { w.lists(w.players[i]) })
		}
		if b := w.ballots[p.votes]; b != nil && w.counted(b) {
			due = append(due, func(w *world) { w.players[i].counts(w) })
		}
		if p.call != nil && p.votes == 0 && w.backs > 0 {
			faults = append(faults, func(w *world) { w.players[i].givesUp(w) })
		}
		if w.losses > 0 {
			faults = append(faults, func(w *world) { w.loses(w.players[i]) })
		}
	}
	return due, faults
}

// over checks a world in which nothing can happen any more.
func (w *world) over() {
	for i, p := range w.players {
		if !p.gone && p.phases < phases {
			w.fail("node %d waits for ever in phase %d", i, p.phases)
		}
		if !p.gone && len(p.met) > 0 {
			w.fail("node %d has kept %d calls", i, len(p.met))
		}
	}
}

// calls has the node propose its next phase.
func (p *player) calls(w *world) {
	p.call = NewCall(nil)
	p.proposes(w)
}

func (p *player) proposes(w *world) {
	p.does(w, p.propose(p.call, message.Offer{First: fmt.Sprint(p.phases)}.Encode()))
}

// does does what a step asks for.
func (p *player) does(w *world, k work) {
	if k.say != nil {
		if p.gives == p.heard {
			p.gives++
		}
		g := give{p.gives, k.say, p.said, p.phases}
		if p.pending == nil {
			g.phase = -1
		}
		p.way = append(p.way, g)
	}
	if v := k.vote; v != nil {
		w.late = true
		w.vote(p, v.number, false)
	}
	if k.call != nil {
		if k.call != p.call || p.answer != nil {
			w.fail("node %d gets an answer that it does not wait for", p.me)
		}
		p.answer = &k.answer
	}
}

// arrives takes a proposal to the chair. The round is decided when all nodes have proposed.
func (w *world) arrives(p *player) {
	g := p.way[0]
	p.way = p.way[1:]
	for len(w.rounds) < g.round {
		w.rounds = append(w.rounds, &round{said: make([]give, len(w.players))})
	}
	r := w.rounds[g.round-1]
	if !r.decided {
		r.said[p.me] = g
	}
	w.decide()
}

func (w *world) decide() {
	for _, r := range w.rounds {
		all := true
		for i, p := range w.players {
			all = all && (p.gone || r.said[i].blob != nil)
		}
		r.decided = r.decided || all
	}
}

// lists brings a list to a node.
func (w *world) lists(p *player) {
	p.heard++
	var list [][]byte
	for _, g := range w.rounds[p.heard-1].said {
		list = append(list, g.blob)
	}
	p.does(w, p.gathered(uint64(p.heard), list))
}

// hears has the call of the node take its answer.
func (p *player) hears(w *world) {
	a := p.answer
	p.answer = nil
	switch {
	case a.err != nil:
		w.fail("node %d: %v", p.me, a.err)
	case a.again:
		w.void = true
		p.proposes(w)
	default:
		p.agrees(w, a.offers)
	}
}

// agrees votes for a phase, which all have offered.
func (p *player) agrees(w *world, blobs [][]byte) {
	offers, _, err := ParseOffers(blobs)
	for i, o := range offers {
		switch {
		case o == nil && w.players[i].gone && err == nil:
			w.without = true
		case o == nil || err != nil || o.First != fmt.Sprint(p.phases):
			w.fail("node %d is to join phase %d, and node %d offers %v, %v", p.me, p.phases, i, o, err)
		}
	}
	p.votes = p.call.Number
	w.vote(p, p.votes, true)
}

func (w *world) vote(p *player, number uint64, yes bool) {
	if w.ballots[number] == nil {
		w.ballots[number] = &poll{yes: make([]bool, len(w.players)), no: make([]bool, len(w.players))}
	}
	b := w.ballots[number]
	if b.yes[p.me] || b.no[p.me] {
		w.fail("node %d votes twice", p.me)
	}
	b.yes[p.me], b.no[p.me] = yes, !yes
}

// counted reports whether all nodes have voted that are left.
func (w *world) counted(b *poll) bool {
	for i, p := range w.players {
		if !p.gone && !b.yes[i] && !b.no[i] && !b.over {
			return false
		}
	}
	return true
}

// counts ends the vote on this node. The phase joins on all nodes, or on none.
func (p *player) counts(w *world) {
	b := w.ballots[p.votes]
	if !b.over {
		b.over, b.joins = true, !slices.Contains(b.no, true)
	}
	if b.joins {
		p.phases++
	}
	p.forget(p.call)
	p.call, p.votes = nil, 0
}

// givesUp has the node take its call back, as its context does when it ends.
func (p *player) givesUp(w *world) {
	w.backs--
	k, is := p.takeBack(p.call, &message.Failure{Node: p.me, Text: "planned"})
	p.does(w, k)
	switch {
	case is:
		p.call = nil
	case p.answer == nil:
		w.fail("node %d cannot take back a call that has no answer", p.me)
	case p.answer.again:
		p.call, p.answer = nil, nil
	}
}

// loses ends a node. Its messages under way do not arrive.
func (w *world) loses(p *player) {
	w.losses--
	p.gone, p.way = true, nil
	w.decide()
}

func (w *world) clone() *world {
	c := *w
	c.players, c.rounds, c.ballots = nil, nil, make(map[uint64]*poll)
	for _, p := range w.players {
		c.players = append(c.players, p.clone())
	}
	for _, r := range w.rounds {
		c.rounds = append(c.rounds, &round{slices.Clone(r.said), r.decided})
	}
	for number, b := range w.ballots {
		c.ballots[number] = &poll{slices.Clone(b.yes), slices.Clone(b.no), b.over, b.joins}
	}
	return &c
}

func (p *player) clone() *player {
	c, t := *p, *p.table
	c.table, c.way = &t, slices.Clone(p.way)
	if p.call != nil {
		call := *p.call
		c.call = &call
	}
	if t.pending == p.call {
		t.pending = c.call
	}
	t.met = maps.Clone(p.met)
	for number := range t.met {
		t.met[number] = c.call
	}
	return &c
}

// key names the state of the world. It leaves out the rounds that all nodes have passed, and its
// counts are relative.
func (w *world) key() string {
	base := len(w.rounds)
	for _, p := range w.players {
		if !p.gone {
			base = min(base, p.heard)
		}
	}
	k := []int{w.backs, w.losses, len(w.wrong)}
	flag := func(b bool) {
		k = append(k, 0)
		if b {
			k[len(k)-1] = 1
		}
	}
	gives := func(g give) { k = append(k, g.round-base, int(w.players[0].said-g.call), g.phase) }
	for _, p := range w.players {
		k = append(k, p.phases, int(p.votes)-base, p.gives-base, p.heard-base, int(p.said-w.players[0].said), len(p.met), len(p.way))
		flag(p.gone)
		flag(p.call != nil)
		flag(p.pending != nil)
		flag(p.answer != nil)
		flag(p.answer != nil && p.answer.again)
		for _, g := range p.way {
			gives(g)
		}
	}
	for number := base; number <= len(w.rounds); number++ {
		if number > base {
			flag(w.rounds[number-1].decided)
			for _, g := range w.rounds[number-1].said {
				flag(g.blob != nil)
				gives(g)
			}
		}
		if b := w.ballots[uint64(number)]; b != nil {
			for i := range b.yes {
				flag(b.yes[i])
				flag(b.no[i])
			}
			flag(b.over)
			flag(b.joins)
		}
	}
	return fmt.Sprint(k)
}
