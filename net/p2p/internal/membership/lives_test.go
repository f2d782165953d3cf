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
		m := New(1, first, always)
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
	m.Knock(2, 7, "")
	m.Knock(1, 8, "")
	if e := m.Epoch(); e.Has(1) || e.Has(2) {
		t.Errorf("it is in epoch %+v, and node 1 may think that it is the only one left", e)
	}
	m.Quiet(1)
	if e := m.Epoch(); !e.Has(1) || !e.Has(2) {
		t.Errorf("it is in epoch %+v, want both", e)
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
		if _, err := m.Step(0, Message{Kind: Ask, Number: 2, Ballot: Ballot{0, 1}, Seats: whole(3).Seats, Gone: []State{Absent, Left, Absent}}); err != nil {
			t.Fatal(err)
		}
		if m.Lost(0, Left); m.Apart() {
			t.Error("nodes that have said goodbye have lost nobody before")
		}
		m = New(2, whole(3), func(int) bool { return sure })
		if _, err := m.Step(0, Message{Kind: Ask, Number: 2, Ballot: Ballot{0, 1}, Seats: whole(3).Seats, Gone: []State{Absent, Left, Absent}}); err != nil {
			t.Fatal(err)
		}
		if m.Lost(0, Left); m.Apart() == sure {
			t.Errorf("node 0 says that node 1 has left, sure: %t, apart: %t", sure, m.Apart())
		}
	}
}
