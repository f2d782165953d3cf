package coherence

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Messages of two nodes come in any order, and are taken in the order of their numbers. A
// new life drops what is kept of the old one.
func TestTurns(t *testing.T) {
	for seed := range uint64(300) {
		chance := rand.New(rand.NewPCG(seed, 1))
		var turns Turns
		b := NewBudget(3, 1<<20)
		type life struct{ node, incarnation uint64 }
		got, now := map[life]uint64{}, map[uint64]uint64{}
		step := func(m *Message) error {
			l := life{uint64(m.Node), m.Incarnation}
			if m.Incarnation < now[l.node] || m.Incarnation > now[l.node] && m.Seq > 1 {
				if m.Incarnation < now[l.node] {
					return ErrOtherLife
				}
				return ErrGap
			}
			if err := m.number(got[l]); err != nil {
				return err
			}
			now[l.node], got[l] = m.Incarnation, m.Seq
			if string(m.Bytes) != fmt.Sprint(l, m.Seq) {
				t.Fatalf("seed %d: %v brings %q", seed, m, m.Bytes)
			}
			return nil
		}
		var all []Message
		for node := Node(1); node < 3; node++ {
			for incarnation := uint64(1); incarnation < 3; incarnation++ {
				for seq := uint64(1); seq < 9; seq++ {
					all = append(all, Message{Kind: ConfirmedMessage, Node: node, Incarnation: incarnation, Seq: seq,
						Bytes: []byte(fmt.Sprint(life{uint64(node), incarnation}, seq)), Valid: func() bool { return true }})
				}
			}
		}
		chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, m := range all {
			err := turns.Take(&m, m.Node, b, step)
			if err != nil && !errors.Is(err, ErrOtherLife) {
				t.Fatalf("seed %d: %v: %v", seed, &m, err)
			}
			for i := range turns.kept {
				if m := &turns.kept[i]; m.Incarnation < now[uint64(m.Node)] {
					t.Fatalf("seed %d: %v of life %d is kept in life %d", seed, m, m.Incarnation, now[uint64(m.Node)])
				}
			}
			clear(m.Bytes)
		}
		if turns.kept != nil || b.Used(1) != 0 || b.Used(2) != 0 || got[life{1, 2}] != 8 || got[life{2, 2}] != 8 {
			t.Fatalf("seed %d: %v are kept, %d and %d bytes; taken: %v", seed, turns.kept, b.Used(1), b.Used(2), got)
		}
	}
}

// A message is kept once, if there is room, and as it was sent.
func TestTurnsKeep(t *testing.T) {
	early := func(seq uint64, size int) *Message {
		return &Message{Kind: GrantMessage, Node: 1, Incarnation: 1, Seq: seq, IDs: []ID{1, 2}, Bytes: make([]byte, size), Swap: true}
	}
	gap := func(*Message) error { return ErrGap }
	one := cost(early(2, 100))
	if one != 256+100+16 {
		t.Errorf("a message costs %d", one)
	}
	var turns Turns
	b := NewBudget(2, int(2*one))
	for _, c := range []struct {
		m    *Message
		want error
		used int64
	}{
		{early(2, 100), nil, one},
		{early(2, 100), ErrReplayed, one},
		{early(3, 100), nil, 2 * one},
		{early(4, 0), ErrGap, 2 * one},
		{early(3, 0), ErrReplayed, 2 * one},
	} {
		if err := turns.Take(c.m, 1, b, gap); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || b.Used(1) != c.used {
			t.Errorf("%v: %v, want %v; %d bytes, want %d", c.m, err, c.want, b.Used(1), c.used)
		}
	}
	if k := &turns.kept[0]; k.Valid != nil || k.Swap || len(k.IDs) != 2 {
		t.Errorf("kept as %+v", k)
	}
	// Only one message may be larger than the budget.
	b = NewBudget(2, 10)
	turns = Turns{}
	if err := turns.Take(early(2, 100), 1, b, gap); err != nil {
		t.Errorf("the first of them: %v", err)
	}
	if err := turns.Take(early(3, 100), 1, b, gap); !errors.Is(err, ErrGap) {
		t.Errorf("the second: %v", err)
	}
	spoiltOne := early(5, 8)
	spoiltOne.Valid = func() bool { return false }
	turns.Drop(1, b, func(*Message) bool { return true })
	if err := turns.Take(spoiltOne, 1, b, gap); !errors.Is(err, ErrOtherLife) || turns.kept != nil || b.Used(1) != 0 {
		t.Errorf("spoilt: %v, %v, %d bytes", err, turns.kept, b.Used(1))
	}
}

// The first message of a life that is not taken drops nothing.
func TestTurnsKeepInTheirLife(t *testing.T) {
	var turns Turns
	b := NewBudget(2, 1<<20)
	early := Message{Node: 1, Incarnation: 1, Seq: 3}
	if err := turns.Take(&early, 1, b, func(*Message) error { return ErrGap }); err != nil {
		t.Fatal(err)
	}
	next := Message{Node: 1, Incarnation: 2, Seq: 1}
	if err := turns.Take(&next, 1, b, func(*Message) error { return ErrMalformed }); !errors.Is(err, ErrMalformed) || len(turns.kept) != 1 {
		t.Errorf("%v: %v are kept", err, turns.kept)
	}
}

// A step that fails ends the turn, and what is kept waits on.
func TestTurnsStop(t *testing.T) {
	var turns Turns
	b := NewBudget(2, 1<<20)
	fault := errors.New("fault")
	var taken []uint64
	step := func(m *Message) error {
		switch {
		case len(taken) == 0 && m.Seq > 1:
			return ErrGap
		case m.Seq == 2:
			return fault
		}
		taken = append(taken, m.Seq)
		return nil
	}
	for _, seq := range []uint64{3, 2, 1} {
		err := turns.Take(&Message{Node: 1, Incarnation: 1, Seq: seq}, 1, b, step)
		if (seq == 1) != errors.Is(err, fault) {
			t.Errorf("message %d: %v", seq, err)
		}
	}
	if len(taken) != 1 || len(turns.kept) != 1 || turns.kept[0].Seq != 3 {
		t.Errorf("taken %v, kept %v", taken, turns.kept)
	}
}
