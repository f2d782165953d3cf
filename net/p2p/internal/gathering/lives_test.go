package gathering

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// again is an epoch in which a node is there in its second life.
func again(e membership.Epoch, node int) membership.Epoch {
	e.Seats = slices.Clone(e.Seats)
	e.Seats[node] = membership.Seat{Life: 2, State: membership.In, Since: e.Number}
	return e
}

// list is a list that was complete in an epoch.
func list(name string, round, epoch uint64, of ...string) Message {
	m := Message{Kind: All, Key: Key{name, round}, Epoch: epoch}
	for _, blob := range of {
		m.List = append(m.List, []byte(blob))
	}
	return m
}

// Only the lives that must give may.
func TestNotAmong(t *testing.T) {
	m := New(0, again(epochOf(2, 2), 1))
	for _, among := range [][]uint64{{1, 0}, {1, 1}} {
		if _, _, err := m.Step(1, give("a", 1, 1, "x", among...)); !errors.Is(err, ErrMessage) {
			t.Errorf("a gift among %v by life 2: %v", among, err)
		}
	}
}

// A life that has given gets the list. The next life of the node does not, and may have as many gatherings open as
// any life.
func TestGiftOfTheLifeBefore(t *testing.T) {
	s := steps{t, New(0, epochOf(1, 3))}
	s.takes(1, give("a", 1, 1, "one", 0, 1, 1))
	for k := range uint64(MostOpen - 1) {
		s.takes(1, give("b", k+1, 1, "x"))
	}
	s.Enter(epochOf(2, 3, 1))
	s.Enter(again(epochOf(3, 3), 1))
	s.want("the last gift", s.takes(2, give("a", 1, 1, "two", 0, 1, 1)), `2: a 1 ["" "one" "two"]`)
	for k := range uint64(MostOpen) {
		s.takes(1, give("c", k+1, 1, "x"))
	}
}

// A life that gives to a round that was over before it came gets nothing of that round, and gives to the next.
func TestMoves(t *testing.T) {
	m := New(1, again(epochOf(3, 2), 1))
	for _, over := range []Key{{"a", 7}, {"c", 1}} {
		k, _ := m.Begin(over.Name, []byte("mine"))
		var moved []Key
		m.Moved = func(was, is Key) { moved = append(moved, was, is) }
		next := Key{over.Name, over.Round + 1}
		out, done, err := m.Step(0, list(over.Name, over.Round, 2, "x", "y"))
		if done || err != nil || len(out) != 1 || out[0].Key != next || string(out[0].Blob) != "mine" {
			t.Errorf("it says %v, done: %t, %v", out, done, err)
		}
		if want := []Key{k, next}; !slices.Equal(moved, want) {
			t.Errorf("it moves %v, want %v", moved, want)
		}
	}
	// A gift to a round that is later than that stays.
	m.BeginAt(Key{"b", 9}, []byte("mine"), []uint64{1, 2})
	if out, done, err := m.Step(0, list("b", 7, 2, "x", "y")); done || err != nil || len(out) > 0 || m.waits[Key{"b", 9}] == nil {
		t.Errorf("with a gift to round 9 it says %v, done: %t, %v, and waits for %v", out, done, err, m.waits)
	}
}

// A new chair is told the list of a round that was over before it came in, and has given nothing under that name. It
// begins with the next round, and completes it.
func TestBeginsBehind(t *testing.T) {
	e := again(epochOf(3, 3), 1)
	e.Seats[2] = membership.Seat{Life: 2, State: membership.In, Since: 4}
	s := steps{t, New(1, e)} // node 0 is the chair
	s.want("the list that node 2 has got", s.takes(2, list("a", 5, 2, "x", "y", "z")))
	s.want("a gift to the next round", s.takes(2, give("a", 6, 1, "two")))
	e.Number, e.Seats = 4, slices.Clone(e.Seats)
	e.Seats[0].State = membership.Ended
	s.want("the loss of the chair", letters(s.Enter(e)), `1: a 5 ["x" "y" "z"]`)
	k, out := s.Begin("a", []byte("mine"))
	if want := (Key{"a", 6}); k != want || len(out) != 1 || out[0].Key != want || out[0].To != 1 {
		t.Fatalf("it begins %v with %v, want a gift to %v", k, out, want)
	}
	s.want("its gift", s.takes(1, out[0].Message), `1: a 6 ["" "mine" "two"]`, `2: a 6 ["" "mine" "two"]`)
	if k, _ := s.Begin("a", nil); k.Round != 7 {
		t.Errorf("it begins round %d behind 6", k.Round)
	}
}

// A chair that gets the list of a round tells a life that has given to an earlier one, and keeps what was given to later
// ones.
func TestListAfterGifts(t *testing.T) {
	s := steps{t, New(0, again(epochOf(3, 4), 2))}
	s.takes(2, give("a", 1, 1, "two"))
	s.takes(3, give("a", 6, 1, "three"))
	s.takes(3, give("b", 1, 1, "three"))
	s.takes(3, give("a", 4, 1, "three", 1, 1, 0, 1))
	s.want("the list", s.takes(1, list("a", 5, 2, "x", "y", "", "z")), `2: a 5 ["x" "y" "" "z"]`)
	if len(s.given) != 3 {
		t.Errorf("%d gatherings are open, want 3: %v", len(s.given), sorted(s.given))
	}
}

// Each of many lives of a run ends while a node waits for a list that never comes. All forget that.
func TestForgetOpen(t *testing.T) {
	s := steps{t, New(0, epochOf(1, 3))}
	for life := range uint64(MostOpen + 1) {
		name := fmt.Sprint("life ", life)
		s.want("a gift of life "+name, s.takes(1, give(name, 1, 1, "x", 1, 1, 0)))
		s.BeginAt(Key{name, 1}, nil, []uint64{1, 1, 0})
		s.Forget(func(of string) bool { return of == name })
	}
	s.takes(1, give("other", 1, 1, "x", 1, 1, 0))
	s.Forget(func(string) bool { return false })
	if len(s.given) != 1 || len(s.waits) > 0 || !slices.Equal(s.open, []int{0, 1, 0}) {
		t.Errorf("%d gatherings are open, %v by node, and this node waits for %d", len(s.given), s.open, len(s.waits))
	}
	s.Forget(func(string) bool { return true })
	s.takes(2, give("a node that is lost", 1, 1, "x", 1, 0, 1))
	s.Enter(epochOf(2, 3, 2))
	s.Enter(again(epochOf(3, 3), 2))
	s.takes(2, give("its next life", 1, 1, "x", 1, 0, 2))
	s.Forget(func(of string) bool { return of == "a node that is lost" })
	if len(s.given) != 1 || !slices.Equal(s.open, []int{0, 0, 1}) {
		t.Errorf("%d gatherings are open, %v by node, want one, of node 2", len(s.given), s.open)
	}
}
