package considerate

import (
	"testing"
	"time"
)

// player is a rank with a clock.
type player struct {
	Rank
	now     time.Duration
	spins   time.Duration
	offers  int
	sleeps  []time.Duration
	takes   time.Duration // an offer
	slack   time.Duration // of a sleep
	looks   bool          // the last Action said so
	visited [4]int        // states
}

func join(c *Crowd) *player { return &player{Rank: c.Rank(), now: 1} }

// returns lets the rank return, and do what it has to.
func (p *player) returns(turns int, slept bool) (again int) {
	act := p.Returns(turns, slept, p.now)
	for ; act.Do != GoOn; act = p.Next(p.now) {
		p.visited[p.State()]++
		switch act.Do {
		case Spin:
			p.now += moment / 10
			p.spins += moment / 10
		case Offer:
			p.now += p.takes + 1
			p.offers++
		case Sleep:
			p.now += act.For + p.slack
			p.sleeps = append(p.sleeps, act.For)
		}
	}
	p.looks = act.Look
	return p.Again()
}

// handsOver lets it hand over after a while.
func (p *player) handsOver(after time.Duration) {
	p.now += after
	p.HandedOver(p.now)
}

// TestBeside hands over to a rank that runs, also where others sleep: the rank waits for
// a moment, and neither offers its processor nor sleeps.
func TestBeside(t *testing.T) {
	for name, crowd := range map[string]*Crowd{
		"goroutines": Goroutines(2, 2), "many goroutines": Goroutines(4, 2),
		"processes": Processes(2, 2), "many processes": Processes(4, 2),
	} {
		p := join(crowd)
		for range 3 {
			p.handsOver(0)
			p.spins = 0
			if again := p.returns(ownTurns, false); again > 0 != crowd.Crowded() {
				t.Errorf("%s: it returns again after %d turns", name, again)
			}
			if p.spins < moment || p.offers != 0 || p.sleeps != nil {
				t.Errorf("%s: it waits for %v, with %d offers and the sleeps %v", name, p.spins, p.offers, p.sleeps)
			}
		}
		p.handsOver(0)
		p.now += moment
		if p.spins = 0; p.returns(ownTurns, false) > 0 != crowd.Crowded() || p.spins != 0 {
			t.Errorf("%s: it waits for %v though a moment has passed", name, p.spins)
		}
	}
}

// TestOwnRun hands over in a run that has hardly begun: the rank goes on with its run.
func TestOwnRun(t *testing.T) {
	p := join(Processes(2, 2))
	for turn := 1; turn <= ownTurns; turn++ {
		p.handsOver(0)
		p.returns(1, false)
		if waits := p.visited[Beside] > 0; waits != (turn == ownTurns) {
			t.Fatalf("after %d turns it lets another rank run: %t", turn, waits)
		}
	}
}

// TestRunsEvenOut gives one rank longer runs than another: it lets that one run for
// longer and longer, up to twice as long, until their runs are equal.
func TestRunsEvenOut(t *testing.T) {
	crowd := Goroutines(2, 2)
	fast, slow := join(crowd), join(crowd)
	run := func(p *player, turns int) time.Duration {
		p.handsOver(0)
		p.spins = 0
		p.returns(turns, false)
		return p.spins
	}
	for k := range time.Duration(6) {
		want := min(moment+(k+1)*crowd.even, 2*moment)
		if long := run(fast, 40); long < want || fast.more != want-moment {
			t.Errorf("after %d long runs it waits for %v, %v more than a moment", k+1, long, fast.more)
		}
		if run(slow, 20); slow.more != 0 {
			t.Fatalf("after a shorter run it waits for %v more than a moment", slow.more)
		}
	}
	for fast.more > 0 {
		more := fast.more
		run(slow, 40)
		if run(fast, 40); fast.more >= more {
			t.Fatalf("after an equal run it waits for %v more than a moment, before %v", fast.more, more)
		}
	}
}

// TestAway sleeps for a turn, hands over and returns at once: the rank stays away for as
// long as its rounds take, and longer as long as it sleeps for its turns.
func TestAway(t *testing.T) {
	const waits = 300 * time.Microsecond
	for name, crowd := range map[string]*Crowd{"processes": Processes(4, 2), "goroutines": Goroutines(4, 2)} {
		p := join(crowd)
		p.handsOver(waits)
		away := time.Duration(0)
		for range 5 {
			before := p.now
			if again := p.returns(1, true); again != crowd.run || !p.looks {
				t.Errorf("%s: it returns again after %d turns, and looks %t", name, again, p.looks)
			}
			took := p.now - before
			if want := min(crowd.most, away+waits); took < want || took > want+1 {
				t.Errorf("%s: it was away for %v, want %v", name, took, want)
			}
			away = took
			p.handsOver(waits)
		}
		before := p.now
		if p.returns(ownTurns, true); p.now-before > away/2+1 {
			t.Errorf("%s: after some turns in a row it was away for %v, before for %v", name, p.now-before, away)
		}
		for range 20 {
			p.handsOver(0)
			before = p.now
			p.returns(ownTurns, true)
		}
		if took := p.now - before; took < crowd.least || took > crowd.least+1 {
			t.Errorf("%s: in the end it was away for %v, want %v", name, took, crowd.least)
		}
		p.visited = [4]int{}
		p.handsOver(waits)
		p.now += soon
		if p.returns(1, true) == 0 || p.visited != [4]int{} {
			t.Errorf("%s: a rank that returns late visits %v", name, p.visited)
		}
	}
}

// TestProcessorsEnough has a processor for each rank. There may be a convoy then, too, and ranks
// stay away. No rank rests.
func TestProcessorsEnough(t *testing.T) {
	for name, crowd := range map[string]*Crowd{"goroutines": Goroutines(2, 2), "processes": Processes(2, 2)} {
		p := join(crowd)
		p.handsOver(0)
		if again := p.returns(1, true); again != 0 || p.visited[Away] == 0 {
			t.Errorf("%s: it returns again after %d turns, and visits %v", name, again, p.visited)
		}
		p.returns(10*crowd.run, false)
		if p.visited[Resting] > 0 {
			t.Errorf("%s: it rests", name)
		}
	}
}

// TestResting has many turns: the rank rests after each run, and no more after many rests
// that no rank used, until it hands over.
func TestResting(t *testing.T) {
	for name, crowd := range map[string]*Crowd{"processes": Processes(4, 2), "goroutines": Goroutines(4, 2)} {
		p := join(crowd)
		p.handsOver(time.Second)
		again := p.returns(1, false)
		for turn := 2; turn <= crowd.run; turn++ {
			if again != crowd.run-turn+1 {
				t.Fatalf("%s: it returns again after %d turns, and has had %d", name, again, turn-1)
			}
			again = p.returns(1, false)
			if rests := p.visited[Resting]; rests != turn/crowd.run {
				t.Fatalf("%s: turn %d: %d rests", name, turn, rests)
			}
		}
		for p.visited[Resting] < crowd.quiet {
			if again != crowd.run {
				t.Fatalf("%s: it returns again after %d turns, and has had none", name, again)
			}
			again = p.returns(again, false)
		}
		again = p.returns(again, false)
		if again != 0 {
			t.Errorf("%s: after %d rests that no rank used it returns again after %d turns", name, p.visited[Resting], again)
		}
		p.handsOver(time.Second)
		if p.returns(crowd.run, false) == 0 {
			t.Errorf("%s: it does not rest though it has handed over", name)
		}
		p.quiet, p.takes, p.slack = crowd.quiet-1, crowd.used, crowd.used
		if p.returns(crowd.run, false) == 0 || p.quiet != 0 {
			t.Errorf("%s: it does not rest though another rank ran meanwhile", name)
		}
	}
}

// TestSleeps looks at what ranks do in their rests: processes sleep, and goroutines offer
// their processor.
func TestSleeps(t *testing.T) {
	p, g := join(Processes(4, 2)), join(Goroutines(4, 2))
	for _, q := range []*player{p, g} {
		q.handsOver(0)
		q.returns(1, true)
		q.returns(q.crowd.run, false)
		if q.visited[Away] == 0 || q.visited[Resting] == 0 {
			t.Fatalf("it visits %v", q.visited)
		}
	}
	if p.offers != 0 || len(p.sleeps) != 2 || p.sleeps[1] != p.crowd.rest {
		t.Errorf("a process offers its processor %d times and sleeps for %v", p.offers, p.sleeps)
	}
	if g.offers == 0 || g.sleeps != nil {
		t.Errorf("a goroutine offers its processor %d times and sleeps for %v", g.offers, g.sleeps)
	}
}

// TestKeepsItsShare rests beside a goroutine that does not let go of the processor: runs
// grow, and shrink again when that one is gone.
func TestKeepsItsShare(t *testing.T) {
	const ranks, ran = 4, 10 * time.Microsecond
	crowd := Goroutines(ranks, 2)
	rest := func(p *player, took time.Duration) int {
		p.now += ran
		p.takes = took
		return p.returns(max(1, p.Again()), false)
	}
	p := join(crowd)
	p.handsOver(0)
	p.returns(0, false)
	if run := rest(p, time.Millisecond/2); run != crowd.run {
		t.Errorf("a rest of half a millisecond makes a run of %d turns", run)
	}
	if run, want := rest(p, 8*time.Millisecond), crowd.run*int(8*time.Millisecond/(ran*ranks+1)); run < want {
		t.Errorf("a rest of 8 ms makes a run of %d turns, want %d", run, want)
	}
	if run := rest(p, time.Hour); run != crowd.longest {
		t.Errorf("a rest of an hour makes a run of %d turns", run)
	}
	for range 20 {
		rest(p, 0)
	}
	if run := rest(p, 0); run != crowd.run {
		t.Errorf("after short rests a run has %d turns", run)
	}
	q := join(Processes(ranks, 2))
	q.handsOver(0)
	q.returns(0, false)
	if run := rest(q, time.Hour); run != q.crowd.run {
		t.Errorf("beside a process that computes a run has %d turns", run)
	}
}

// TestStrings prints all names.
func TestStrings(t *testing.T) {
	want := "running beside away resting"
	got := ""
	for s := Running; s <= Resting; s++ {
		got += " " + s.String()
	}
	if got != " "+want {
		t.Errorf("the states are%s", got)
	}
	if got := GoOn.String() + Spin.String() + Offer.String() + Sleep.String(); got != "go onspinoffersleep" {
		t.Errorf("the actions are %s", got)
	}
}
