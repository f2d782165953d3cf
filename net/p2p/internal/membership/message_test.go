package membership

import (
	"errors"
	"reflect"
	"testing"
)

func messages() []Message {
	seats := []Seat{{Life: 1 << 60, Address: "127.0.0.1:4321", State: In}, {Life: 7, State: Ended}}
	return []Message{
		{Kind: Ask, Number: 2, Ballot: Ballot{1, 3}, Seats: seats, Gone: []State{Left, Absent}},
		{Kind: Answer, Number: 2, Ballot: Ballot{1, 3}, Taken: Ballot{0, 1}, Seats: seats},
		{Kind: Answer, Number: 2, Ballot: Ballot{1, 3}},
		{Kind: Offer, Number: 2, Ballot: Ballot{1, 3}, Seats: seats},
		{Kind: Accept, Number: 2, Ballot: Ballot{1, 3}},
		{Kind: Enter, Number: 2, Seats: seats},
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
		"seats nobody asks for": {Kind: Accept, Number: 2, Ballot: Ballot{0, 1}, Seats: seats},
		"half an answer":        {Kind: Answer, Number: 2, Ballot: Ballot{0, 1}, Seats: seats[:1]},
		"no news":               {Kind: Ask, Number: 2, Ballot: Ballot{1, 1}, Seats: seats},
		"news in an answer":     {Kind: Accept, Number: 2, Ballot: Ballot{0, 1}, Gone: none},
		"an unknown state":      {Kind: Enter, Number: 2, Seats: []Seat{{State: Left + 1}, {}}},
		"a silence as an end":   {Kind: Ask, Number: 2, Ballot: Ballot{1, 1}, Seats: seats, Gone: []State{Absent, Silent}},
		"epoch 1 again":         {Kind: Ask, Number: 1, Ballot: Ballot{1, 1}, Seats: seats, Gone: none},
		"a chair from nowhere":  {Kind: Ask, Number: 2, Ballot: Ballot{2, 1}, Seats: seats, Gone: none},
		"another's chair":       {Kind: Ask, Number: 2, Ballot: Ballot{0, 1}, Seats: seats, Gone: none},
		"an answer to another":  {Kind: Answer, Number: 2, Ballot: Ballot{1, 1}},
		"the end of this node":  {Kind: Ask, Number: 2, Ballot: Ballot{1, 1}, Seats: seats, Gone: []State{Ended, Absent}},
	} {
		n := New(0, first, always)
		if out, err := n.Step(1, m); !errors.Is(err, ErrMessage) || out != nil || n.Epoch().Number != 1 {
			t.Errorf("%s: %v, %v", what, out, err)
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
