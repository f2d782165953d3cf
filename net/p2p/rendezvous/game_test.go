package rendezvous

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/orwl/go-orwl/internal/rings"
)

// talk is a stream between two candidates of a game: what is under way in each direction.
type talk struct {
	from, to      int
	ahead, back   []message
	ended, broken bool // by the one that asked, or by a fault
}

// game plays candidates on streams that deliver in order, each in its own time.
type game struct {
	random *rand.Rand
	now    time.Duration
	all    []*meeting
	asks   []map[int]*talk // by the candidate that asks
	asked  []map[int]*talk
	talks  []*talk
	unseen [][2]int // pairs: the first has not found the second yet
	faults int      // the faults that may still happen
	faulty bool     // there were some
	saw    map[string]int
}

func identity(i int) peer.ID { return peer.ID(fmt.Sprintf("candidate %d", i)) }

func newGame(seed uint64, candidates, nodes, faults int) *game {
	g := &game{random: rand.New(rand.NewPCG(seed, 0)), faults: faults, faulty: faults > 0, saw: make(map[string]int)}
	for i := range candidates {
		g.all = append(g.all, newMeeting(identity(i), nodes))
		g.asks, g.asked = append(g.asks, make(map[int]*talk)), append(g.asked, make(map[int]*talk))
		for j := range i {
			g.unseen = append(g.unseen, [2]int{i, j}, [2]int{j, i})
		}
	}
	return g
}

func index(id peer.ID) (i int) {
	fmt.Sscanf(string(id), "candidate %d", &i)
	return i
}

// do does what candidate i says.
func (g *game) do(i int, acts []act) {
	for _, a := range acts {
		j := index(a.to)
		switch a.say.Say {
		case ask:
			t := &talk{from: i, to: j, ahead: []message{a.say}}
			g.asks[i][j] = t
			g.talks = append(g.talks, t)
		case here:
			g.asks[i][j].ahead = append(g.asks[i][j].ahead, a.say)
		case leave:
			g.saw["an ask was withdrawn"]++
			g.asks[i][j].ended = true
			delete(g.asks[i], j)
		default:
			if t := g.asked[i][j]; t != nil {
				t.back = append(t.back, a.say)
			}
			if a.say.Say == lead && g.all[i].leader != "" && index(g.all[i].leader) != j {
				g.saw["a guest was sent on, or a follower asked"]++
			}
		}
	}
}

// deliver lets one thing happen on a stream, if there is something.
func (g *game) deliver(t *talk) {
	from, to := g.all[t.from], g.all[t.to]
	switch {
	case t.broken && g.random.IntN(2) == 0: // each end notices in its own time
		if g.asks[t.from][t.to] == t {
			delete(g.asks[t.from], t.to)
			g.do(t.from, from.failed(g.now, to.me))
		}
	case t.broken:
		if g.asked[t.to][t.from] == t {
			delete(g.asked[t.to], t.from)
			to.left(from.me)
		}
	case len(t.back) > 0 && (len(t.ahead) == 0 || g.random.IntN(2) == 0):
		m := t.back[0]
		t.back = t.back[1:]
		if g.asks[t.from][t.to] != t {
			return
		}
		acts := from.hear(g.now, to.me, m)
		if m.Say != stay {
			t.ended = true
			delete(g.asks[t.from], t.to)
		}
		g.do(t.from, acts)
	case len(t.ahead) > 0:
		m := t.ahead[0]
		t.ahead = t.ahead[1:]
		if to.over() { // it listens no more
			t.broken = true
			return
		}
		if m.Say == ask {
			g.asked[t.to][t.from] = t
		} else if to.sealed {
			g.saw["here came too late"]++
		}
		if g.asked[t.to][t.from] == t {
			g.do(t.to, to.hear(g.now, from.me, m))
		}
	case t.ended || from.over() || to.over():
		t.broken = true
	}
}

// step lets something happen.
func (g *game) step() {
	switch g.random.IntN(12) {
	case 0:
		g.now += time.Duration(g.random.IntN(100)) * time.Millisecond
		i := g.random.IntN(len(g.all))
		g.do(i, g.all[i].tick(g.now))
	case 1:
		if len(g.unseen) > 0 {
			k := g.random.IntN(len(g.unseen))
			p := g.unseen[k]
			g.unseen = slices.Delete(g.unseen, k, k+1)
			g.do(p[0], g.all[p[0]].found(g.now, identity(p[1])))
		}
	case 2:
		if g.faults > 0 && g.random.IntN(20) == 0 && len(g.talks) > 0 {
			g.faults--
			g.talks[g.random.IntN(len(g.talks))].broken = true
		}
	default:
		if len(g.talks) > 0 {
			g.deliver(g.talks[g.random.IntN(len(g.talks))])
		}
	}
}

// check finds two runs where there can be one.
func (g *game) check() error {
	sealed := -1
	for i, m := range g.all {
		if !m.sealed {
			continue
		}
		if sealed >= 0 {
			return fmt.Errorf("candidates %d and %d both have all their guests", sealed, i)
		}
		sealed = i
		for _, id := range m.guests() {
			if guest := g.all[index(id)]; guest.leader != m.me && guest.seat == nil {
				return fmt.Errorf("candidate %d counts %d, which follows %q", i, index(id), guest.leader)
			}
		}
	}
	return nil
}

// play plays until a run is complete, and everybody knows.
func (g *game) play(nodes int) error {
	told := false
	for range 200000 {
		g.step()
		if err := g.check(); err != nil && !g.faulty {
			return err
		}
		settled := 0
		for i, m := range g.all {
			if m.sealed && !told {
				told = true
				g.do(i, m.listens("host:1"))
			}
			if m.sealed || m.over() {
				settled++
			}
		}
		if settled == len(g.all) {
			return g.seats(nodes)
		}
	}
	return fmt.Errorf("no end: %v", g)
}

func (g *game) String() (text string) {
	for i, m := range g.all {
		text += fmt.Sprintf("\n%d: sealed %v, follows %q, guests %v, error %v", i, m.sealed, m.leader, m.guests(), m.err)
	}
	return text
}

// seats checks that each number was given once, and that everybody else was told.
func (g *game) seats(nodes int) error {
	given := make([]int, nodes)
	for _, m := range g.all {
		switch {
		case m.sealed:
			given[0]++
		case m.seat != nil:
			given[m.seat.Number]++
		}
	}
	for number, times := range given {
		if times != 1 {
			return fmt.Errorf("number %d was given %d times: %v", number, times, g)
		}
	}
	return nil
}

// TestGames plays candidates, one or two too many, without faults: one run comes of it.
func TestGames(t *testing.T) {
	rings.Computes(t)
	saw := make(map[string]int)
	for seed := range uint64(3000) {
		nodes := 1 + int(seed%5)
		g := newGame(seed, nodes+int(seed/5%min(3, uint64(nodes))), nodes, 0)
		if err := g.play(nodes); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for what, times := range g.saw {
			saw[what] += times
		}
	}
	for _, what := range []string{"an ask was withdrawn", "a guest was sent on, or a follower asked", "here came too late"} {
		if saw[what] == 0 {
			t.Errorf("no seed where %s", what)
		}
	}
}

// TestGamesWithFaults breaks streams until no more break: the candidates still meet.
func TestGamesWithFaults(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(3000) {
		nodes := 2 + int(seed%4)
		g := newGame(seed, nodes, nodes, 1+int(seed%6))
		if err := g.play(nodes); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
