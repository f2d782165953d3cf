package membership

import (
	"errors"
	"reflect"
	"testing"
)

func messages() []Message {
	seats := []Seat{{Life: 1 << 60, Address: "127.0.0.1:4321", State: In}, {Life: 7, State: Ended}}
	return []Message{
		{Kind: Ask, Number: 2, Ballot: Ballot{Chair: 1, Try: 3}, Seats: seats, Gone: []State{Left, Absent}},
		{Kind: Answer, Number: 2, Ballot: Ballot{Chair: 1, Try: 3}, Taken: Ballot{Chair: 0, Try: 1}, Seats: seats},
		{Kind: Answer, Number: 2, Ballot: Ballot{Chair: 1, Try: 3}},
		{Kind: Offer, Number: 2, Ballot: Ballot{Chair: 1, Try: 3}, Seats: seats},
		{Kind: Accept, Number: 2, Ballot: Ballot{Chair: 1, Try: 3}},
		{Kind: Enter, Number: 2, Seats: seats},
		{Kind: Miss, Number: 2, Seats: seats},
		{Kind: Answer, Number: 2, Ballot: Ballot{Chair: 1, Try: 1, Round: 4}, Taken: Ballot{Chair: 0, Try: 1}, Seats: seats, Gone: []State{Absent, Left}, Self: seats[0]},
	}
}

// A message is what was sent, and no part of it is one.
func TestMessages(t *testing.T) {
	for _, m := range messages() {
		b := m.Bytes()
		if got, err := Parse(b, 2); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v, %v, want %+v", got, err, m)
		}
		for i := range b {
			if _, err := Parse(b[:i], 2); !errors.Is(err, ErrMessage) {
				t.Errorf("%d bytes of %+v: %v", i, m, err)
			}
		}
	}
}

// TestHostile takes what no correct node sends.
func TestHostile(t *testing.T) {
	first := Epoch{Number: 1, Seats: []Seat{{Life: 1, State: In}, {Life: 2, State: In}}}
	seats, none := first.Seats, []State{Absent, Absent}
	for what, m := range map[string]Message{
		"no kind":               {},
		"an unknown kind":       {Kind: Enter + 1, Number: 2},
		"a seat too few":        {Kind: Enter, Number: 2, Seats: seats[:1]},
		"seats nobody asks for": {Kind: Accept, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: seats},
		"half an answer":        {Kind: Answer, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: seats[:1]},
		"no news":               {Kind: Ask, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}, Seats: seats},
		"news in an answer":     {Kind: Accept, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Gone: none},
		"an unknown state":      {Kind: Enter, Number: 2, Seats: []Seat{{State: Left + 1}, {}}},
		"a silence as an end":   {Kind: Ask, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}, Seats: seats, Gone: []State{Absent, Silent}},
		"epoch 1 again":         {Kind: Ask, Number: 1, Ballot: Ballot{Chair: 1, Try: 1}, Seats: seats, Gone: none},
		"a chair from nowhere":  {Kind: Ask, Number: 2, Ballot: Ballot{Chair: 2, Try: 1}, Seats: seats, Gone: none},
		"another's chair":       {Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: seats, Gone: none},
		"an answer to another":  {Kind: Answer, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}},
		"another's offer":       {Kind: Offer, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: seats},
		"an accept to another":  {Kind: Accept, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}},
		"the end of this node":  {Kind: Ask, Number: 2, Ballot: Ballot{Chair: 1, Try: 1}, Seats: seats, Gone: []State{Ended, Absent}},
	} {
		n := New(0, first, always)
		if out, err := n.Step(1, m); !errors.Is(err, ErrMessage) || out != nil || n.Epoch().Number != 1 {
			t.Errorf("%s: %v, %v", what, out, err)
		}
	}
}

// Only the chair offers, in its own name: an Offer by another's ballot is refused, even if the chair sends it, and the node
// accepts the chair's own afterwards. A node that had accepted a ballot of a chair that did not make it would tell the
// next chair to finish an epoch that no other node knows.
func TestOfferOfNoChair(t *testing.T) {
	other, seats := whole(3).Seats, whole(3).Seats
	other[2].State = Silent
	for what, c := range map[string]struct {
		from   int
		ballot Ballot
	}{"a member by the chair's ballot": {1, Ballot{Chair: 0, Try: 9}}, "the chair by a member's ballot": {0, Ballot{Chair: 1, Try: 9}}} {
		m := New(2, whole(3), always)
		if out, err := m.Step(c.from, Message{Kind: Offer, Number: 2, Ballot: c.ballot, Seats: other}); len(out) > 0 || !errors.Is(err, ErrMessage) {
			t.Errorf("%s offers: it says %+v, %v, want nothing, %v", what, out, err, ErrMessage)
		}
		out, err := m.Step(0, Message{Kind: Offer, Number: 2, Ballot: Ballot{Chair: 0, Try: 1}, Seats: seats})
		if err != nil || len(out) != 1 || out[0].To != 0 || out[0].Kind != Accept || out[0].Ballot != (Ballot{Chair: 0, Try: 1}) {
			t.Errorf("%s has offered: to the chair it says %+v, %v, want an Accept", what, out, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range messages() {
		f.Add(m.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b, 2)
		if err != nil {
			return
		}
		if again, err := Parse(m.Bytes(), 2); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v becomes %+v, %v", m, again, err)
		}
	})
}

// A life that is outside refuses what no correct one asks, and promises nothing.
func TestHostileOutside(t *testing.T) {
	first := whole(2)
	p := NewParked(0, 2, Seat{Life: 9}, Past{Life: 1, Epoch: first, Gone: make([]State, 2)})
	for what, m := range map[string]Message{
		"an epoch before the first": {Kind: Join, Seats: first.Seats},
		"another's ballot":          {Kind: Ask, Number: 2, Ballot: Ballot{Chair: 0, Try: 1, Round: 1}, Seats: first.Seats, Gone: make([]State, 2)},
		"another's offer":           {Kind: Offer, Number: 2, Ballot: Ballot{Chair: 0, Try: 1, Round: 1}, Seats: first.Seats},
		"an answer":                 {Kind: Accept, Number: 2, Ballot: Ballot{Chair: 1, Try: 1, Round: 1}},
		"an epoch":                  {Kind: Enter, Number: 7, Seats: first.Seats},
	} {
		if out, err := p.Answers(1, m); !errors.Is(err, ErrMessage) || p.Epoch().Number != 1 || p.promised != (Ballot{}) {
			t.Errorf("%s: it says %+v, %v, and is in epoch %d, with promise %+v", what, out, err, p.Epoch().Number, p.promised)
		}
	}
}
