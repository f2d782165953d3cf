package agreement

import (
	"errors"
	"reflect"
	"testing"
)

func messages() []Message {
	return []Message{
		{Kind: Propose, Call: 1 << 40, Blob: []byte("text")},
		{Kind: Withdraw, Call: 7, Blob: []byte{}},
		{Kind: Leave, Blob: []byte{}},
		{Kind: Give, Number: 3, Round: 2, Blob: []byte{}},
		{Kind: All, Number: 3, Call: 9, List: [][]byte{[]byte("a"), nil, {}}},
		{Kind: Left, Number: 2, Blob: []byte{}},
		{Kind: Tell, Number: 1, Blob: []byte("failed")},
	}
}

// A message is what was sent, and no part of it is one.
func TestMessages(t *testing.T) {
	for _, m := range messages() {
		header, bulk := m.Encode()
		if got, err := Parse(header, bulk, 3); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%v, %v, want %v", got, err, m)
		}
		for n := range header {
			if _, err := Parse(header[:n], bulk, 3); !errors.Is(err, ErrMessage) {
				t.Errorf("%d bytes of the header of %v: %v", n, m, err)
			}
		}
		if m.Kind != All {
			continue
		}
		for n := range bulk {
			if _, err := Parse(header, bulk[:n], 3); !errors.Is(err, ErrMessage) {
				t.Errorf("%d bytes of the list: %v", n, err)
			}
		}
		if _, err := Parse(header, bulk, 4); !errors.Is(err, ErrMessage) {
			t.Errorf("a list for another run: %v", err)
		}
	}
}

// A chair refuses what no correct node sends, and a member too.
func TestHostile(t *testing.T) {
	c := NewChair(2)
	for _, m := range []Message{{Kind: All}, {Kind: Tell}, {Kind: Give, Number: 1, Round: 1}} {
		if _, err := c.Step(1, m); !errors.Is(err, ErrMessage) {
			t.Errorf("%v: %v", m, err)
		}
	}
	for from := range 2 {
		if _, err := c.Step(from, Message{Kind: Propose, Call: 1}); err != nil {
			t.Fatal(err)
		}
	}
	give := Message{Kind: Give, Number: 1, Round: 1}
	if _, err := c.Step(1, give); err != nil {
		t.Fatal(err)
	}
	again := func(m Message) {
		t.Helper()
		if _, err := c.Step(1, m); !errors.Is(err, ErrMessage) {
			t.Errorf("%v, again: %v", m, err)
		}
	}
	again(give)
	if _, err := c.Step(1, Message{Kind: Propose, Call: 2}); err != nil {
		t.Fatal(err)
	}
	again(Message{Kind: Propose, Call: 2})
	var m Member
	for _, in := range []Message{{Kind: Propose}, {Kind: Give}, {Kind: All, Round: 1}, {Kind: Left}} {
		if _, _, err := m.Step(1, in); !errors.Is(err, ErrMessage) {
			t.Errorf("a member takes %v of node 1: %v", in, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range messages() {
		header, bulk := m.Encode()
		f.Add(header, bulk)
	}
	f.Fuzz(func(t *testing.T, header, bulk []byte) {
		m, err := Parse(header, bulk, 3)
		if err != nil {
			return
		}
		header, bulk = m.Encode()
		if again, err := Parse(header, bulk, 3); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%v becomes %v, %v", m, again, err)
		}
	})
}
