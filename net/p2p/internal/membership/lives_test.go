package membership

import (
	"slices"
	"testing"
)

// TestNewLivesOfAnotherChair has node 0 of five offer a new life of node 5, and end. Node 1 is the next
// chair.
func TestNewLivesOfAnotherChair(t *testing.T) {
	first := whole(6)
	first.Seats[5].State = Left
	with := whole(6).Seats
	with[5] = Seat{Life: 7, State: In, Since: 2}
	for name, c := range map[string]struct {
		silent   bool // node 4 is lost
		accepted bool // node 3 has accepted it; the others have
		in       bool // node 5, after the answers
		apart    bool
	}{
		"all have accepted it":              {accepted: true, in: true},
		"one has not":                       {},
		"one has not, and one is silent":    {silent: true},
		"one is silent, and may have it in": {silent: true, accepted: true, apart: true},
	} {
		m := New(1, first, always)
		if out, err := m.Step(0, Message{Kind: Offer, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: with}); len(out) != 1 || err != nil {
			t.Fatalf("%s: to the Offer it says %v, %v", name, out, err)
		}
		if c.silent {
			m.Lost(4, Silent)
		}
		m.Lost(0, Ended)
		for from := 2; from < 5; from++ {
			a := Message{Kind: Answer, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}, Taken: Ballot{Chair: 0, Try: 1}, Seats: with}
			if from == 3 && !c.accepted {
				a.Taken, a.Seats = Ballot{}, nil
			}
			if _, err := m.Step(from, a); err != nil {
				t.Fatal(err)
			}
		}
		if in := m.Epoch().Has(5); in != c.in || m.Apart() != c.apart {
			t.Errorf("%s: it is in: %t, want %t; apart: %t, want %t", name, in, c.in, m.Apart(), c.apart)
		}
	}
}

// A new life does not come in before lives that were lost have let go: node 1, which node 0 lost by silence.
// The new life of node 1 waits for that, too.
func TestNewLifeWaitsForALease(t *testing.T) {
	first := whole(3)
	first.Seats[2].State = Left
	m := New(0, first, always)
	m.Lost(1, Silent)
	if e := m.Epoch(); e.Has(1) || e.Has(2) || m.Apart() {
		t.Fatalf("node 0 is in epoch %+v, apart: %t", e, m.Apart())
	}
	m.Join(2, 7, "")
	m.Join(1, 8, "")
	if e := m.Epoch(); e.Has(1) || e.Has(2) {
		t.Errorf("it is in epoch %+v, and node 1 may think that it is the only one left", e)
	}
	m.Quiet(1)
	if e := m.Epoch(); !e.Has(1) || !e.Has(2) || e.Seats[1].Since != e.Number {
		t.Errorf("it is in epoch %+v, want both, since then", e)
	}
}

// Node 1 of two learns that node 0 has ended. It goes on if it was in touch with node 0 until then. If
// it was not, node 0 may have let in a new life meanwhile.
func TestSureOfAnEnd(t *testing.T) {
	for _, sure := range []bool{true, false} {
		m := New(1, whole(2), func(int) bool { return sure })
		if m.Lost(0, Ended); m.Apart() == sure {
			t.Errorf("sure: %t, apart: %t", sure, m.Apart())
		}
		m = New(2, whole(3), func(int) bool { return sure })
		m.Lost(1, Left) // it says so itself
		if _, err := m.Step(0, Message{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: whole(3).Seats, Gone: []State{Absent, Left, Absent}}); err != nil {
			t.Fatal(err)
		}
		if m.Lost(0, Left); m.Apart() {
			t.Error("nodes that have said goodbye have lost nobody before")
		}
		m = New(2, whole(3), func(int) bool { return sure })
		if _, err := m.Step(0, Message{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: whole(3).Seats, Gone: []State{Absent, Left, Absent}}); err != nil {
			t.Fatal(err)
		}
		if m.Lost(0, Left); m.Apart() {
			t.Errorf("node 0 says that node 1 has left, sure: %t, apart: %t", sure, m.Apart())
		}
		m = New(2, whole(3), func(int) bool { return sure })
		m.Lost(1, Left)
		if _, err := m.Step(0, Message{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: whole(3).Seats, Gone: []State{Absent, Ended, Absent}}); err != nil {
			t.Fatal(err)
		}
		if m.Lost(0, Ended); m.Apart() == sure {
			t.Errorf("node 0 has ended, sure: %t, apart: %t", sure, m.Apart())
		}
	}
}

// Some members have accepted an epoch with a new life, and others have not. The new life is not let in.
func TestNewLifeThatSomeHaveAccepted(t *testing.T) {
	first := whole(6)
	first.Seats[5].State = Left
	with := whole(6).Seats
	with[5] = Seat{Life: 7, State: In, Since: 2}
	m := New(1, first, always)
	m.Lost(0, Ended)
	for from := 2; from < 5; from++ {
		a := Message{Kind: Answer, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}}
		if from > 2 {
			a.Taken, a.Seats = Ballot{Chair: 0, Try: 1}, with
		}
		if _, err := m.Step(from, a); err != nil {
			t.Fatal(err)
		}
	}
	if m.Epoch().Has(5) || m.Apart() || slices.Equal(m.offer, with) {
		t.Errorf("node 1 and 2 have not accepted it: apart: %t, offer %v, epoch %v", m.Apart(), m.offer, m.Epoch())
	}
}

// A member tells its chair of a new life, once. The chair lets in no life beside another one of the same node.
func TestJoins(t *testing.T) {
	first := whole(4)
	first.Seats[3].State = Left
	m, chair := New(1, first, always), New(0, first, always)
	out := m.Join(3, 7, "here")
	if len(out) != 1 || out[0].To != 0 || out[0].Seats[3] != (Seat{Life: 7, Address: "here"}) {
		t.Fatalf("node 1 says %+v, want the Join, to node 0", out)
	}
	if again := m.Join(3, 7, "here"); len(again) > 0 {
		t.Errorf("to the same Join it says %+v, want nothing", again)
	}
	asks, err := chair.Step(1, out[0].Message)
	if err != nil || len(asks) > 0 {
		t.Errorf("the chair says %+v, %v, and does not know yet whether all hear the new life", asks, err)
	}
	asks = append(asks, chair.Join(3, 7, "here")...)
	more, err := chair.Step(2, out[0].Message)
	asks = append(asks, more...)
	if err != nil || len(asks) != 2 || asks[0].Kind != Ask {
		t.Errorf("the chair says %+v, %v, want two to ask", asks, err)
	}
	// A Join that comes while a loss is decided is heard after it.
	chair = New(0, first, always)
	chair.Lost(2, Ended)
	chair.Join(3, 7, "")
	if _, err := chair.Step(1, out[0].Message); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Message{{Kind: Answer, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}}, {Kind: Answer, Number: 2, Ballot: Ballot{Chair: 0, Try: 2}}, {Kind: Answer, Number: 2, Ballot: Ballot{Chair: 0, Try: 3}}} {
		asks, err = chair.Step(1, m)
	}
	if err != nil || len(asks) != 1 || asks[0].Kind != Offer {
		t.Fatalf("the chair says %+v, %v, want an offer", asks, err)
	}
	asks, err = chair.Step(1, Message{Kind: Accept, Number: 2, Ballot: asks[0].Ballot})
	if err != nil || len(asks) != 2 || asks[0].Kind != Enter || asks[1].Kind != Ask || asks[1].Number != 3 {
		t.Errorf("after epoch 2 the chair says %+v, %v, want it to ask for epoch 3", asks, err)
	}
	chair = New(0, first, always)
	if out := chair.Join(2, 9, ""); len(out) > 0 {
		t.Errorf("node 2 is there, and its next life makes the chair say %+v", out)
	}
}

// A life that others have lost by silence, and this node knows to have ended, keeps no new life out. Neither
// does a life that was lost before this node came in: the chair of that time has waited.
func TestNewLifeBesideOneThatHasLetGo(t *testing.T) {
	m := New(1, whole(3), always)
	m.Lost(2, Ended)
	silent := whole(3).Seats
	silent[2].State = Silent
	if _, err := m.Step(0, Message{Kind: Enter, Number: 2, Seats: silent}); err != nil {
		t.Fatal(err)
	}
	m.Lost(0, Ended)
	if m.Join(2, 9, ""); !m.Epoch().Has(2) {
		t.Errorf("node 2 has ended, and does not come in: %+v", m.Epoch())
	}

	late := whole(3)
	late.Number, late.Seats[1] = 3, Seat{Life: 5, State: In, Since: 3}
	late.Seats[2].State = Silent
	m = New(1, late, always)
	m.Lost(0, Ended)
	if m.Join(0, 9, ""); !m.Epoch().Has(0) {
		t.Errorf("node 0 does not come in beside one that was lost before: %+v", m.Epoch())
	}
}

// A life that came in and was lost by silence, while this node heard of neither, has not let go of it. It is told
// nothing.
func TestLifeThatCameAndWent(t *testing.T) {
	first := whole(4)
	first.Seats[2].State, first.Seats[3].State = Left, Left
	m := New(1, first, always)
	e := whole(4).Seats
	e[2], e[3].State = Seat{Life: 5, State: Silent, Since: 2}, Left
	out, err := m.Step(0, Message{Kind: Enter, Number: 3, Seats: e})
	if err != nil || len(out) > 0 {
		t.Errorf("it says %+v, %v, want nothing", out, err)
	}
	m.Lost(0, Ended)
	if m.Join(3, 9, ""); m.Epoch().Has(3) {
		t.Errorf("node 3 is in, and life 5 of node 2 may think that it is the only one left: %+v", m.Epoch())
	}
	m.Quiet(2)
	if !m.Epoch().Has(3) {
		t.Errorf("node 3 is not in: %+v", m.Epoch())
	}
}

// A node is apart, and says nothing, if an epoch has lost it, or has its next life.
func TestEpochWithoutThisNode(t *testing.T) {
	for _, mine := range []Seat{{Life: 1, State: Silent}, {Life: 5, State: In, Since: 3}} {
		m := New(1, whole(3), always)
		e := whole(3).Seats
		e[1] = mine
		if out, err := m.Step(0, Message{Kind: Enter, Number: 3, Seats: e}); err != nil || len(out) > 0 || !m.Apart() {
			t.Errorf("its seat is %+v: it says %+v, %v, apart: %t", mine, out, err, m.Apart())
		}
	}
}

// joinOf is what a member says that hears a new life of one node of five.
func joinOf(node int, life uint64) Message {
	m := Message{Kind: Join, Number: 1, Seats: make([]Seat, 5)}
	m.Seats[node].Life = life
	return m
}

// steps has a member take a message.
func steps(t *testing.T, m *Member, from int, in Message) []Letter {
	t.Helper()
	out, err := m.Step(from, in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// All members that enter an epoch tell the lives that are new in it.
func TestTellsNewLives(t *testing.T) {
	first := whole(5)
	first.Seats[4].State = Left
	m := New(2, first, always)
	e := whole(5).Seats
	e[4] = Seat{Life: 7, State: In, Since: 2}
	out := steps(t, m, 0, Message{Kind: Enter, Number: 2, Seats: e})
	if len(out) != 1 || out[0].To != 4 || out[0].Kind != Enter || out[0].Number != 2 {
		t.Errorf("it says %+v, want Enter to node 4", out)
	}
}

// A new life comes in when all members have accepted it. A quorum is not enough.
func TestAllAcceptANewLife(t *testing.T) {
	first := whole(5)
	first.Seats[3].State, first.Seats[4].State = Left, Left
	m := New(0, first, always)
	m.Join(4, 7, "")
	steps(t, m, 1, joinOf(4, 7))
	steps(t, m, 2, joinOf(4, 7))
	for _, kind := range []Kind{Answer, Accept} {
		for from := 1; from <= 2; from++ {
			if m.Epoch().Number != 1 {
				t.Errorf("epoch %+v is decided, and node %d has not accepted it", m.Epoch(), from)
			}
			steps(t, m, from, Message{Kind: kind, Number: 2, Ballot: m.ballot()})
		}
	}
	if !m.Epoch().Has(4) {
		t.Errorf("all have accepted life 7 of node 4, and it is not in: %+v", m.Epoch())
	}
}

// A member tells of new lives that it hears itself. An earlier life that another member tells it of does not replace a later one.
func TestHearsNewLives(t *testing.T) {
	first := whole(5)
	first.Seats[4].State = Left
	m := New(2, first, always)
	if out := steps(t, m, 3, joinOf(4, 7)); len(out) > 0 {
		t.Errorf("node 3 hears life 7, and node 2 says %+v, want nothing", out)
	}
	if out := m.Join(4, 8, ""); len(out) != 1 || out[0].Kind != Join || out[0].Seats[4].Life != 8 {
		t.Errorf("it says %+v, want a Join of life 8", out)
	}
	steps(t, m, 1, joinOf(4, 7))
	if out := m.Lost(0, Ended); len(out) != 1 || out[0].To != 1 || out[0].Kind != Join || out[0].Seats[4].Life != 8 {
		t.Errorf("it says %+v, want a Join of life 8 to the next chair", out)
	}
}

// The chair lets in no life that was in before, and no next life beside a member. A new life of a member has heard nothing yet.
func TestJoinsThatAreNotLetIn(t *testing.T) {
	m := New(0, whole(2), always)
	m.Lost(1, Ended)
	if m.Join(1, 1, ""); m.Epoch().Number != 2 {
		t.Errorf("a life that has ended came in again: %+v", m.Epoch())
	}
	m = New(0, whole(5), always)
	m.Join(4, 7, "")
	for from := 1; from < 5; from++ {
		if out := steps(t, m, from, joinOf(4, 7)); len(out) > 0 {
			t.Errorf("node 4 is there, all hear its next life, and the chair says %+v", out)
		}
	}
	first := whole(5)
	first.Seats[3].State, first.Seats[4].State = Left, Left
	m = New(0, first, always)
	m.Join(4, 7, "")
	steps(t, m, 2, joinOf(4, 7))
	e := slices.Clone(first.Seats)
	e[2] = Seat{Life: 5, State: In, Since: 2}
	steps(t, m, 1, Message{Kind: Enter, Number: 2, Seats: e})
	if out := steps(t, m, 1, joinOf(4, 7)); len(out) > 0 {
		t.Errorf("node 2 has a new life, which has not heard life 7, and the chair says %+v", out)
	}
	if out := steps(t, m, 2, joinOf(4, 7)); len(out) != 2 || out[0].Kind != Ask {
		t.Errorf("all hear life 7, and the chair says %+v, want two to ask", out)
	}
}
