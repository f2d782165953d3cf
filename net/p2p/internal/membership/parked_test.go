package membership

import (
	"slices"
	"testing"
)

// outside is life 9 of node 1 of three. Its life before, 1, was in epoch 4 with the others, and knew that node 2 had left.
func outside() *Parked {
	e := whole(3)
	e.Number = 4
	return NewParked(1, 3, Seat{Life: 9, Address: "here"}, Past{Life: 1, Epoch: e, Gone: []State{Absent, Absent, Left}})
}

// seatsWith are three members of epoch 1. The seat of one node is another one.
func seatsWith(node int, s Seat) []Seat {
	seats := whole(3).Seats
	seats[node] = s
	return seats
}

// A life leaves to the next one which members had ended and had not lost it. It tells nothing of those that may run, or may have
// lost it before they ended.
func TestPast(t *testing.T) {
	m := New(0, whole(5), func(node int) bool { return node != 3 })
	for node, how := range []State{1: Ended, Silent, Ended, Left} {
		if node > 0 {
			m.Lost(node, how)
		}
	}
	p := m.Past()
	if want := []State{Absent, Ended, Absent, Absent, Left}; !slices.Equal(p.Gone, want) || p.Life != 1 || p.Epoch.Number != 1 {
		t.Errorf("it leaves %+v, want life 1 in epoch 1, and news %v", p, want)
	}
}

// TestParkedAdopts tells a parked life of epochs. It goes on to a later one, and to one that has let it in, whatever its number.
func TestParkedAdopts(t *testing.T) {
	before, in, out := Seat{Life: 1, State: Silent}, Seat{Life: 9, State: In, Since: 5}, Seat{Life: 9, State: Silent, Since: 5}
	type told struct {
		number uint64
		mine   Seat
	}
	for name, c := range map[string]struct {
		first   []told
		then    told
		number  uint64
		in, out bool
	}{
		"a later epoch":                          {nil, told{5, before}, 5, false, false},
		"the same epoch":                         {nil, told{4, before}, 4, false, false},
		"an earlier epoch":                       {nil, told{3, before}, 4, false, false},
		"a later epoch that has it":              {nil, told{5, in}, 5, true, false},
		"an earlier epoch that has it":           {[]told{{7, before}}, told{6, in}, 6, true, false},
		"an earlier epoch that has lost it":      {[]told{{7, before}}, told{6, out}, 7, false, false},
		"a later epoch that has lost it":         {[]told{{7, before}}, told{8, out}, 8, false, true},
		"after it was lost, the epoch it was in": {[]told{{8, out}}, told{6, in}, 8, false, true},
		"in its epoch, an earlier one of it":     {[]told{{8, in}}, told{6, in}, 8, true, false},
		"an earlier epoch with its next life":    {nil, told{3, Seat{Life: 11, State: In, Since: 3}}, 4, false, false},
	} {
		p := outside()
		for _, e := range append(c.first, c.then) {
			p.Hears(0, Message{Kind: Enter, Number: e.number, Seats: seatsWith(1, e.mine)})
		}
		if p.Epoch().Number != c.number || p.In() != c.in || p.Out() != c.out {
			t.Errorf("%s: it is in epoch %d, in: %t, out: %t, want %d, %t, %t", name, p.Epoch().Number, p.In(), p.Out(), c.number, c.in, c.out)
		}
	}
}

// A parked life knows which nodes have gone. It forgets this of a node when an epoch has the next life of that node, and not before.
func TestParkedKnowsWhoIsGone(t *testing.T) {
	for life, want := range map[uint64]State{1: Left, 7: Absent} {
		p := outside()
		p.Hears(0, Message{Kind: Enter, Number: 5, Seats: seatsWith(2, Seat{Life: life, State: In})})
		p.Tries()
		if got := p.Says(); got.Kind != Ask || got.Gone[2] != want {
			t.Errorf("life %d of node 2 is in epoch 5: it says %+v, want an Ask with state %d of node 2", life, got, want)
		}
	}
}

// A parked life promises to follow a ballot for the epoch after the one that it knows. When it learns of a later epoch, it drops what
// it has promised and accepted for that one. The same epoch again changes nothing.
func TestParkedPromise(t *testing.T) {
	ballot := func(chair int, round uint64) Ballot { return Ballot{Chair: chair, Try: 1, Round: round} }
	ask := func(number uint64, b Ballot) Message {
		e := whole(3)
		return Message{Kind: Ask, Number: number, Ballot: b, Seats: e.Seats, Gone: make([]State, 3), Self: Seat{Life: 8}}
	}
	p, offer := outside(), seatsWith(1, Seat{Life: 9, State: In, Since: 5})
	join := Message{Kind: Join, Number: 5, Seats: whole(3).Seats, Self: Seat{Life: 8}}
	if a, err := p.Answers(2, join); err != nil || a.Kind != Answer || a.Self.Life != 0 {
		t.Errorf("to a Join it says %+v, %v, want an Answer that is no vote", a, err)
	}
	a, err := p.Answers(2, ask(5, ballot(2, 3)))
	if err != nil || a.Kind != Answer || a.Ballot != ballot(2, 3) || a.Self.Life != 9 || a.Seats != nil {
		t.Fatalf("to the first Ask it says %+v, %v, want its vote", a, err)
	}
	a, err = p.Answers(2, Message{Kind: Offer, Number: 5, Ballot: ballot(2, 3), Seats: offer})
	if err != nil || a.Kind != Accept || a.Ballot != ballot(2, 3) || p.In() {
		t.Fatalf("to the Offer it says %+v, %v, in: %t, want an Accept, and nothing decided", a, err, p.In())
	}
	a, err = p.Answers(2, Message{Kind: Offer, Number: 7, Ballot: ballot(2, 3), Seats: offer})
	if err != nil || a.Kind != Enter || a.Number != 4 {
		t.Fatalf("to an Offer of epoch 7 it says %+v, %v, want Enter with epoch 4", a, err)
	}
	for _, c := range []struct {
		name  string
		from  int
		in    Message
		voted bool
	}{
		{"an earlier ballot", 0, ask(5, ballot(0, 2)), false},
		{"a Join", 2, join, false},
		{"an Offer of an earlier ballot", 0, Message{Kind: Offer, Number: 5, Ballot: ballot(0, 2), Seats: whole(3).Seats}, false},
		{"the same ballot again", 2, ask(5, ballot(2, 3)), true},
		{"a later ballot", 0, ask(5, ballot(0, 4)), true},
	} {
		a, err := p.Answers(c.from, c.in)
		if voted := a.Self.Life == 9; err != nil || a.Kind != Answer || voted != c.voted {
			t.Errorf("%s: it says %+v, %v, want an Answer, with its vote: %t", c.name, a, err, c.voted)
		}
		if c.voted && (a.Ballot != c.in.Ballot || a.Taken != ballot(2, 3) || !slices.Equal(a.Seats, offer)) {
			t.Errorf("%s: it says %+v, want a vote that tells what it has accepted", c.name, a)
		}
	}
	a, err = p.Answers(2, ask(6, ballot(2, 1)))
	if err != nil || a.Kind != Answer || a.Number != 6 || a.Ballot != ballot(2, 1) || a.Seats != nil {
		t.Errorf("to an Ask for epoch 6 it says %+v, %v, want a vote, without what it has accepted for epoch 5", a, err)
	}
}

// TestParkedTells has what a parked life tells others: its last epoch, and whether it vouches for that with its own life. A life
// that has the epoch from a member, and no vote in it, tells no epoch: the member may have ended, and the epoch with it.
func TestParkedTells(t *testing.T) {
	for name, c := range map[string]struct {
		life   uint64 // of node 1 in the epoch 6 that it is told of; 0: of none
		self   Seat   // the life that vouches for the epoch that it is told of
		number uint64
		vouch  uint64
	}{
		"its own epoch":                        {0, Seat{}, 4, 9},
		"a member's epoch, and it has no vote": {2, Seat{}, 0, 0},
		"a member's epoch, and it has a vote":  {1, Seat{}, 6, 0},
		"another one vouches":                  {2, Seat{Life: 8}, 6, 9},
	} {
		for way := range 2 {
			p := outside()
			switch seats := seatsWith(1, Seat{Life: c.life, State: In}); {
			case c.life == 0:
			case way == 0:
				p.Hears(0, Message{Kind: Enter, Number: 6, Seats: seats, Self: c.self})
			default:
				if _, err := p.Answers(0, Message{Kind: Join, Number: 7, Seats: seats, Self: c.self}); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.Says(); got.Kind != Join || got.Number != c.number+1 || got.Self.Life != c.vouch {
				t.Errorf("%s: it says %+v, want a Join for epoch %d, by life %d", name, got, c.number+1, c.vouch)
			}
			// A question about an epoch that is over is answered with the last one.
			got, err := p.Answers(0, Message{Kind: Join, Number: 2, Seats: whole(3).Seats})
			if err != nil || got.Kind != Enter || got.Number != c.number || got.Self.Life != c.vouch {
				t.Errorf("%s: it answers %+v, %v, want Enter for epoch %d, by life %d", name, got, err, c.number, c.vouch)
			}
		}
	}
}

// A life asks for votes when no other chair has come since the last call of Tries. It does not begin again while it asks.
func TestParkedTries(t *testing.T) {
	p := outside()
	other := Ballot{Chair: 0, Try: 1, Round: 3}
	if _, err := p.Answers(0, Message{Kind: Ask, Number: 5, Ballot: other, Seats: whole(3).Seats, Gone: make([]State, 3)}); err != nil {
		t.Fatal(err)
	}
	want := Ballot{Chair: 1, Try: 1, Round: 4}
	for i, kind := range []Kind{Join, Ask, Ask} {
		if p.Tries(); p.Says().Kind != kind || kind == Ask && p.Says().Ballot != want {
			t.Errorf("after call %d it says %+v, want kind %d", i+1, p.Says(), kind)
		}
	}
	p.Hears(0, Message{Kind: Answer, Number: 5, Ballot: want, Gone: make([]State, 3), Self: Seat{Life: 8}})
	p.Tries()
	if p.Turns(); p.Says().Kind != Offer {
		t.Errorf("after a vote of two in three it says %+v, want an Offer", p.Says())
	}
	p.Tries()
	if got := p.Says(); got.Kind != Offer || got.Ballot != want {
		t.Errorf("it says %+v, want the Offer of ballot %+v", got, want)
	}
	// A chair that has lost to another one, and hears of no more, tries with a later ballot.
	p.Hears(0, Message{Kind: Answer, Number: 5, Ballot: Ballot{Chair: 0, Try: 1, Round: 6}})
	p.Tries()
	if p.Says().Kind != Join {
		t.Errorf("another chair is ahead, and it says %+v", p.Says())
	}
	if p.Tries(); p.Says().Ballot.Round != 7 {
		t.Errorf("it says %+v, want round 7", p.Says())
	}
	// A life without a vote asks for none.
	fresh, excluded := NewParked(1, 3, Seat{Life: 9}, Past{}), outside()
	excluded.Hears(0, Message{Kind: Enter, Number: 5, Seats: seatsWith(1, Seat{Life: 1, State: Silent})})
	for what, p := range map[string]*Parked{"it has just started": fresh, "epoch 5 is without it": excluded} {
		p.Tries()
		p.Turns()
		if p.Says().Kind != Join {
			t.Errorf("%s: it says %+v, want a Join", what, p.Says())
		}
		e := p.Epoch()
		a, err := p.Answers(0, Message{Kind: Ask, Number: e.Number + 1, Ballot: other, Seats: e.Seats, Gone: make([]State, 3)})
		if err != nil || a.Kind != Enter {
			t.Errorf("%s: to an Ask it says %+v, %v, want Enter", what, a, err)
		}
	}
}

// parkedChair is life 9 of node 1 of six, which asks for votes by ballot. It was in epoch 4 with the nodes 0, 2, 3 and 5. Node 4
// had left before. It has asked before by another ballot, and was behind another chair then.
func parkedChair() (p *Parked, ballot Ballot) {
	e := whole(6)
	e.Number, e.Seats[4].State = 4, Left
	p = NewParked(1, 6, Seat{Life: 9, Address: "here"}, Past{Life: 1, Epoch: e, Gone: make([]State, 6)})
	p.Tries()
	p.Hears(0, Message{Kind: Answer, Number: 5, Ballot: Ballot{Chair: 0, Try: 1, Round: 2}})
	p.Tries()
	p.Tries()
	return p, Ballot{Chair: 1, Try: 1, Round: 3}
}

// voteOf is a vote of a new life for a ballot of epoch 5.
func voteOf(life uint64, ballot Ballot) Message {
	return Message{Kind: Answer, Number: 5, Ballot: ballot, Gone: make([]State, 6), Self: Seat{Life: life}}
}

// TestParkedChair has a parked life ask, offer and decide. Only votes for its ballot let it offer. Only Accepts let it decide.
func TestParkedChair(t *testing.T) {
	p, ballot := parkedChair()
	says := func(when string, kind Kind) {
		t.Helper()
		if p.Turns(); p.Says().Kind != kind || p.Says().Ballot != ballot {
			t.Fatalf("%s: it says %+v, want kind %d of %+v", when, p.Says(), kind, ballot)
		}
	}
	says("without an answer", Ask)
	earlier, later, noVote, accept := voteOf(30, Ballot{Chair: 1, Try: 1, Round: 1}), voteOf(30, ballot), voteOf(0, ballot), voteOf(30, ballot)
	later.Number, accept.Kind = 6, Accept
	for what, m := range map[string]Message{"earlier ballot": earlier, "later epoch": later, "no vote": noVote, "accept": accept} {
		p.Hears(0, m)
		p.Hears(3, m)
		says(what, Ask)
	}
	vote := voteOf(33, ballot)
	vote.Gone[2] = Ended
	p.Hears(3, vote)
	says("after one vote", Ask)
	p.Hears(0, voteOf(30, ballot))
	says("after two votes", Offer)
	want := []Seat{
		{Life: 30, State: In, Since: 5}, {Life: 9, Address: "here", State: In, Since: 5}, {Life: 1, State: Ended},
		{Life: 33, State: In, Since: 5}, {Life: 1, State: Left}, {Life: 1, State: Silent},
	}
	if got := p.Says().Seats; !slices.Equal(got, want) {
		t.Errorf("it offers %+v, want %+v", got, want)
	}
	p.Hears(0, voteOf(30, ballot))
	p.Hears(3, vote)
	says("after the votes come again", Offer)
	accept = Message{Kind: Accept, Number: 5, Ballot: ballot}
	p.Hears(3, accept)
	says("after one Accept", Offer)
	p.Hears(0, accept)
	if p.Turns(); !p.In() || p.Epoch().Number != 5 || p.Says().Kind != Join || p.Says().Self.Life != 9 {
		t.Errorf("after two Accepts it is in: %t, and says %+v, want that it is in epoch 5, and vouches for that", p.In(), p.Says())
	}
}

// A chair that knows that all others have ended decides without them. If it knows nothing of one, that one may live.
func TestParkedChairOfOne(t *testing.T) {
	for name, c := range map[string]struct {
		gone []State
		kind Kind
	}{
		"all others have ended": {[]State{Ended, Absent, Left}, Offer},
		"one may live":          {[]State{Absent, Absent, Left}, Ask},
	} {
		p := NewParked(1, 3, Seat{Life: 9}, Past{Life: 1, Epoch: whole(3), Gone: c.gone})
		p.Tries()
		if p.Turns(); p.Says().Kind != c.kind {
			t.Errorf("%s: it says %+v, want kind %d", name, p.Says(), c.kind)
		}
	}
}

// A chair offers what a life has accepted by the latest ballot, in whatever order they answer. It forgets this in the next epoch.
func TestParkedFinishes(t *testing.T) {
	first, second := whole(6).Seats, whole(6).Seats
	first[2].State, second[3].State = Silent, Silent
	for _, order := range [][]int{{0, 3}, {3, 0}} {
		p, ballot := parkedChair()
		for _, from := range order {
			vote := voteOf(uint64(30+from), ballot)
			if vote.Taken, vote.Seats = (Ballot{Chair: 0, Try: 1}), first; from == 3 {
				vote.Taken, vote.Seats = Ballot{Chair: 2, Try: 1, Round: 1}, second
			}
			p.Hears(from, vote)
		}
		if p.Turns(); p.Says().Kind != Offer || !slices.Equal(p.Says().Seats, second) {
			t.Errorf("nodes %v answer: it says %+v, want an Offer of %+v", order, p.Says(), second)
		}
		next := Epoch{5, whole(6).Seats}
		p.Hears(0, Message{Kind: Enter, Number: next.Number, Seats: next.Seats})
		p.Tries()
		for _, from := range []int{0, 2, 3} {
			vote := voteOf(uint64(30+from), p.Says().Ballot)
			vote.Number = 6
			p.Hears(from, vote)
		}
		if p.Turns(); p.Says().Kind != Offer || p.Says().Seats[3] != (Seat{Life: 33, State: In, Since: 6}) {
			t.Errorf("in epoch 5 it says %+v, want an Offer with life 33 of node 3", p.Says())
		}
	}
}
