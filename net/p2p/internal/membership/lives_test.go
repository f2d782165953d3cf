package membership

import "testing"

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
		m := New(1, first)
		if out, err := m.Step(0, Message{Kind: Offer, Number: 2, Ballot: Ballot{0, 1}, Seats: with}); len(out) != 1 || err != nil {
			t.Fatalf("%s: to the Offer it says %v, %v", name, out, err)
		}
		if c.silent {
			m.Lost(4, Silent)
		}
		m.Lost(0, Ended)
		for from := 2; from < 5; from++ {
			a := Message{Kind: Answer, Number: 2, Ballot: Ballot{1, 1}, Taken: Ballot{0, 1}, Seats: with}
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

// A new life does not come in while one runs, perhaps, that was lost. When that node has come back,
// too, both do.
func TestNoNewLifeBesideASilentOne(t *testing.T) {
	first := whole(3)
	first.Seats[1].State, first.Seats[2].State = Silent, Ended
	m := New(0, first)
	if m.Knock(2, 7, ""); m.Epoch().Number != 1 {
		t.Errorf("it is in epoch %+v", m.Epoch())
	}
	if m.Knock(1, 8, ""); !m.Epoch().Has(1) || !m.Epoch().Has(2) {
		t.Errorf("it is in epoch %+v, want both", m.Epoch())
	}
}
