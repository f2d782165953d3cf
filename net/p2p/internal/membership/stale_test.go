package membership

import "testing"

// TestStale takes messages that come too late, or too early, and must decide nothing.
func TestStale(t *testing.T) {
	seats := whole(5).Seats
	ballot := func(chair int, try uint64) Ballot { return Ballot{Chair: chair, Try: try} }
	answer := Message{Kind: Answer, Number: 2, Ballot: ballot(0, 1)}
	accept := Message{Kind: Accept, Number: 2, Ballot: ballot(0, 1)}
	offer := Message{Kind: Offer, Number: 2, Ballot: ballot(0, 1), Seats: seats}
	with := func(m Message, number uint64, b Ballot) Message {
		m.Number, m.Ballot = number, b
		return m
	}
	type said struct {
		from int
		Message
	}
	for name, c := range map[string]struct {
		me    int
		lost  []int // by silence
		first []said
		then  []said // to these it says nothing
	}{
		"an Accept before the Offer":          {0, []int{4}, nil, []said{{1, accept}, {2, accept}}},
		"an Answer of another epoch":          {0, []int{4}, nil, []said{{1, with(answer, 3, ballot(0, 1))}, {2, with(answer, 3, ballot(0, 1))}}},
		"an Answer to the try before":         {0, []int{4, 3}, nil, []said{{1, answer}, {2, answer}}},
		"an Answer after the Offer":           {0, []int{4}, []said{{1, answer}, {2, answer}}, []said{{3, answer}, {1, accept}}},
		"an Accept of the try before":         {0, []int{4, 3}, []said{{1, with(answer, 2, ballot(0, 2))}, {2, with(answer, 2, ballot(0, 2))}}, []said{{1, accept}, {2, accept}}},
		"an Offer of another chair":           {2, nil, nil, []said{{1, with(offer, 2, ballot(1, 1))}}},
		"an Offer for an epoch that is over":  {2, nil, []said{{0, Message{Kind: Enter, Number: 2, Seats: seats}}}, []said{{0, offer}}},
		"an Offer of the try before the last": {2, nil, []said{{0, with(offer, 2, ballot(0, 2))}}, []said{{0, offer}}},
		"an Enter of before":                  {2, nil, []said{{0, Message{Kind: Enter, Number: 3, Seats: seats}}}, []said{{0, Message{Kind: Enter, Number: 2, Seats: seats}}}},
	} {
		m := New(c.me, whole(5), always)
		for _, node := range c.lost {
			m.Lost(node, Silent)
		}
		for _, s := range c.first {
			if _, err := m.Step(s.from, s.Message); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		before := m.Epoch().Number
		for _, s := range c.then {
			if out, err := m.Step(s.from, s.Message); len(out) > 0 || err != nil || m.Epoch().Number != before {
				t.Errorf("%s: it says %+v, %v, and is in epoch %d, want nothing, in %d", name, out, err, m.Epoch().Number, before)
			}
		}
	}
}

// An Ask that a later one has overtaken does not take its place.
func TestOvertakenAsk(t *testing.T) {
	ask := func(try uint64) Message {
		return Message{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 1, Try: try}, Seats: whole(4).Seats, Gone: make([]State, 4)}
	}
	for _, tries := range [][]uint64{{2, 1}, {1, 2}} {
		m := New(2, whole(4), always)
		for _, try := range tries {
			if out, err := m.Step(1, ask(try)); len(out) > 0 || err != nil {
				t.Errorf("node 0 is still there, and node 2 says %+v, %v", out, err)
			}
		}
		if out := m.Lost(0, Ended); len(out) != 1 || out[0].Ballot != (Ballot{Chair: 1, Try: 2}) {
			t.Errorf("after tries %v it says %+v, want an Answer to the second one", tries, out)
		}
	}
}

// TestDeafToTheEnded plays why an Ask names the nodes that have ended. Node 1, with 2 and 3,
// has decided on epoch 2 without node 0, and all three have ended. The news is under way to
// node 4. Before it arrives, node 0 decides with node 4 on another epoch 2.
func TestDeafToTheEnded(t *testing.T) {
	zero, four := New(0, whole(5), always), New(4, whole(5), always)
	var way []Letter // from 0 to 4
	for i := 1; i <= 3; i++ {
		way = append(way, zero.Lost(i, Ended)...)
	}
	for len(way) > 0 {
		l := way[0]
		if way = way[1:]; l.To != 4 || l.Kind == Enter { // which comes last
			continue
		}
		answers, err := four.Step(0, l.Message)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			out, err := zero.Step(4, a.Message)
			if err != nil {
				t.Fatal(err)
			}
			way = append(way, out...)
		}
	}
	if e := zero.Epoch(); e.Number != 2 || e.Has(1) {
		t.Fatalf("node 0 is in epoch %+v, want 2, of nodes 0 and 4", e)
	}
	seats := whole(5).Seats
	seats[0].State = Silent
	if _, err := four.Step(1, Message{Kind: Enter, Number: 2, Seats: seats}); err != nil || four.Epoch().Number != 1 {
		t.Errorf("node 4 is in epoch %+v, by nodes that have ended: %v", four.Epoch(), err)
	}
}

// A node that comes back has another life. A chair that is behind knows nothing of it.
func TestAnotherLife(t *testing.T) {
	m := New(2, whole(3), always)
	m.Lost(1, Ended)
	seats := whole(3).Seats
	seats[1].Life = 7
	if _, err := m.Step(0, Message{Kind: Enter, Number: 2, Seats: seats}); err != nil || !m.hears(1) {
		t.Fatalf("node 1 is not heard again: %v", err)
	}
	behind := Message{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: whole(3).Seats, Gone: []State{Absent, Ended, Absent}}
	out, err := m.Step(0, behind)
	if err != nil || !m.hears(1) || len(out) != 1 || out[0].Kind != Enter {
		t.Errorf("node 1 is heard: %t; to a chair that is behind it says %+v, %v", m.hears(1), out, err)
	}
}
