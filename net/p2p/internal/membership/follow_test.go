package membership

import (
	"slices"
	"testing"
)

// A node follows the epoch, and not what it hears itself. A member that the others have lost is heard no more, and does not come in again when
// this node is the chair.
func TestLostForOthers(t *testing.T) {
	m := New(1, whole(3), always)
	e := whole(3).Seats
	e[2].State = Silent
	steps(t, m, 0, Message{Kind: Enter, Number: 2, Seats: e})
	if m.hears(2) {
		t.Error("it hears node 2, which the epoch has lost")
	}
	m.Lost(0, Ended)
	if e := m.Epoch(); e.Number != 3 || e.Seats[2].State != Silent {
		t.Errorf("epoch %+v, want the third one, without node 2", e)
	}
}

// A chair says which nodes have ended. That one has left is believed when it says so itself.
func TestBelieves(t *testing.T) {
	m := New(1, whole(4), always)
	steps(t, m, 0, Message{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: whole(4).Seats, Gone: []State{Absent, Absent, Ended, Left}})
	if m.hears(2) || !m.hears(3) {
		t.Errorf("it hears node 2, which has ended: %t; and node 3, which may be under way: %t", m.hears(2), m.hears(3))
	}
}

// A node tells the next chair what it has accepted in this epoch, and nothing of earlier ones. News of the epoch at hand change nothing.
func TestTellsWhatIsTaken(t *testing.T) {
	m := New(2, whole(4), always)
	offered := whole(4).Seats
	offered[3].State = Ended
	taken := Ballot{Chair: 0, Try: 1}
	steps(t, m, 0, Message{Kind: Offer, Number: 2, Ballot: taken, Seats: offered})
	m.Lost(0, Ended)
	ask := func(number uint64, seats []Seat) []Letter {
		return steps(t, m, 1, Message{Kind: Ask, Number: number, Ballot: Ballot{Chair: 1, Try: number}, Seats: seats, Gone: make([]State, 4)})
	}
	if out := ask(2, whole(4).Seats); len(out) != 1 || out[0].Taken != taken || !slices.Equal(out[0].Seats, offered) {
		t.Errorf("it says %+v, want what it has taken", out)
	}
	if out := ask(3, offered); len(out) != 1 || out[0].Kind != Answer || out[0].Taken != (Ballot{}) || out[0].Seats != nil {
		t.Errorf("in the next epoch it says %+v, want that it has taken nothing", out)
	}
}

// The next chair finishes an epoch that a member has accepted, though another one has not.
func TestFinishesAnEpoch(t *testing.T) {
	m := New(1, whole(5), always)
	offered := whole(5).Seats
	offered[4].State = Ended
	taken := Ballot{Chair: 0, Try: 1}
	steps(t, m, 0, Message{Kind: Offer, Number: 2, Ballot: taken, Seats: offered})
	m.Lost(0, Silent)
	steps(t, m, 2, Message{Kind: Answer, Number: 2, Ballot: m.ballot(), Taken: taken, Seats: offered})
	out := steps(t, m, 3, Message{Kind: Answer, Number: 2, Ballot: m.ballot()})
	if len(out) == 0 || out[0].Kind != Offer || !slices.Equal(out[0].Seats, offered) {
		t.Errorf("it says %+v, want an offer of what node 0 has offered", out)
	}
}

// joins has node 0 hear from all members that life 7 of node 2, which has left, wants to come in.
func joins(t *testing.T, m *Member) {
	t.Helper()
	m.Join(2, 7, "")
	in := Message{Kind: Join, Number: 1, Seats: make([]Seat, 4)}
	in.Seats[2].Life = 7
	steps(t, m, 1, in)
	steps(t, m, 3, in)
}

// decides has some members answer and accept, and returns what the chair says then.
func decides(t *testing.T, m *Member, members ...int) (out []Letter) {
	t.Helper()
	number := m.Epoch().Number + 1
	for _, kind := range []Kind{Answer, Accept} {
		for _, from := range members {
			out = steps(t, m, from, Message{Kind: kind, Number: number, Ballot: m.ballot()})
		}
	}
	return out
}

// A life that came in and has ended does not come in again.
func TestComesInOnce(t *testing.T) {
	first := whole(4)
	first.Seats[2].State = Left
	m := New(0, first, always)
	joins(t, m)
	if decides(t, m, 1, 3); !m.Epoch().Has(2) {
		t.Fatalf("life 7 of node 2 is not in: %+v", m.Epoch())
	}
	m.Lost(2, Ended)
	out := decides(t, m, 1, 3)
	if m.Epoch().Number != 3 || m.Epoch().Has(2) || slices.ContainsFunc(out, func(l Letter) bool { return l.Kind != Enter }) {
		t.Errorf("in %+v it says %+v, want the third epoch, without node 2", m.Epoch(), out)
	}
}

// A loss comes before a new life, which all members would have to accept.
func TestLossComesFirst(t *testing.T) {
	first := whole(4)
	first.Seats[2].State = Left
	m := New(0, first, always)
	joins(t, m)
	m.Lost(3, Silent)
	if decides(t, m, 1); m.Epoch().Number != 2 || m.Epoch().Has(2) || m.Epoch().Has(3) {
		t.Errorf("epoch %+v, want the second one, without nodes 2 and 3", m.Epoch())
	}
}
