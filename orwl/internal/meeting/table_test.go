package meeting

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// explore plays every schedule from a world on, each state once. It returns how many states there
// are, and what is wrong in one of them. sees is called with the last state of each schedule.
func explore(first *world, sees func(w *world)) (states int, wrong string) {
	seen := map[string]bool{first.key(): true}
	for open := []*world{first}; len(open) > 0; {
		w := open[len(open)-1]
		open = open[:len(open)-1]
		due, faults := w.moves()
		if len(due) == 0 {
			w.over()
			sees(w)
		}
		if w.wrong != "" {
			return len(seen), w.wrong
		}
		for _, move := range append(due, faults...) {
			next := w.clone()
			move(next)
			if k := next.key(); !seen[k] {
				seen[k] = true
				open = append(open, next)
			}
		}
	}
	return len(seen), ""
}

// TestEverySchedule plays all schedules of nodes that call phases, take calls back, and are lost at
// any moment. Each phase joins on all nodes or on none, and no node waits for ever.
func TestEverySchedule(t *testing.T) {
	rings.Computes(t)
	void, late, without := false, false, false
	for _, c := range []struct{ nodes, backs, losses int }{{2, 2, 0}, {2, 1, 1}, {3, 0, 1}} {
		states, wrong := explore(newWorld(c.nodes, c.backs, c.losses), func(w *world) {
			void, late, without = void || w.void, late || w.late, without || w.without
		})
		t.Logf("%+v: %d states", c, states)
		if wrong != "" {
			t.Fatalf("%+v: %s", c, wrong)
		}
	}
	if !void || !late || !without {
		t.Errorf("an agreement was void: %t; a call was taken back too late: %t; a phase joined without a lost node: %t", void, late, without)
	}
}

// TestLeaves: the first node that has left ends the meeting, and if it is lost, the others tell each
// other.
func TestLeaves(t *testing.T) {
	a := newTable(0, 3, 1)
	if w := a.lost(2, false); w.tell != nil {
		t.Errorf("of a node that has not left, it tells %v", w.tell)
	}
	a.hear(message.News{Node: 2})
	a.hear(message.News{Node: 1})
	if w := a.leave(); w.tell == nil || w.tell.Node != 0 || a.left != 2 {
		t.Errorf("it tells %v, and node %d has left first", w.tell, a.left)
	}
	if w := a.lost(2, true); w.tell != nil {
		t.Errorf("of a node that has told all, it tells %v", w.tell)
	}
	if w := a.lost(2, false); w.tell == nil || w.tell.Node != 2 {
		t.Errorf("of a node that has left and is lost, it tells %v", w.tell)
	}
}

// TestFailureEndsItsPhase: news of a failure concern the phase of that number, until it has ended.
func TestFailureEndsItsPhase(t *testing.T) {
	a := newTable(0, 1, 0)
	c := NewCall(nil)
	if w := a.propose(c, []byte("offer")); w.call != c || c.Number != 1 || len(c.Among) != 1 {
		t.Fatalf("alone, a node agrees with itself at once: %+v, %+v", w, c)
	}
	news := message.News{Number: 1, Failure: (&message.Failure{Text: "why"}).Encode()}
	if w := a.hear(news); w.fails != c || a.left >= 0 {
		t.Errorf("a failure concerns %v", w.fails)
	}
	a.forget(c)
	if w := a.hear(news); w.fails != nil {
		t.Error("a failure of a phase that has ended concerns a call")
	}
}

// TestNames reads the number of a phase in the name of a gathering.
func TestNames(t *testing.T) {
	for name, want := range map[string]uint64{endsOf(17): 17, proposals: 0, votes: 0, "phase 0x1 ends": 0, "phase 1 ends ": 0} {
		if got := numberOf(name); got != want {
			t.Errorf("%q is of phase %d, want %d", name, got, want)
		}
	}
}

// TestStranger: a node that has come back is a stranger to a phase that runs, unless some node has
// dismissed the phase.
func TestStranger(t *testing.T) {
	runs := func(numbers ...uint64) *message.Offer {
		o := new(message.Offer)
		for _, n := range numbers {
			r := message.NewRunning(n, 3)
			r.Add(1)
			o.Runs = append(o.Runs, r)
		}
		return o
	}
	back := &message.Offer{Knows: 6}
	ended := &message.Offer{Runs: []message.Running{message.NewRunning(5, 3)}}
	for _, c := range []struct {
		all  Offers
		want int
	}{
		{Offers{runs(5), nil, back}, 2},
		{Offers{runs(6), nil, back}, -1}, // it has dismissed it
		{Offers{runs(5), runs(), back}, -1},
		{Offers{ended, nil, back}, -1},
		{Offers{runs(5), runs(5)}, -1},
	} {
		if got := c.all.Stranger(); got != c.want {
			t.Errorf("%v: node %d is a stranger, want %d", c.all, got, c.want)
		}
	}
	if got := (Offers{runs(5), nil, runs(5)}).Running(5); !got[0].Has(1) || got[1].Has(1) || !got[2].Has(1) {
		t.Errorf("running: %v", got)
	}
	if got := (Offers{runs(5), runs()}).Running(5); got != nil {
		t.Errorf("a phase that a node has dismissed runs: %v", got)
	}
}
