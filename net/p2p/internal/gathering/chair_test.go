package gathering

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// epochOf is an epoch of so many nodes, without some.
func epochOf(number uint64, nodes int, without ...int) membership.Epoch {
	e := membership.Epoch{Number: number, Seats: make([]membership.Seat, nodes)}
	for i := range e.Seats {
		e.Seats[i] = membership.Seat{Life: 1, State: membership.In}
		if slices.Contains(without, i) {
			e.Seats[i].State = membership.Ended
		}
	}
	return e
}

// steps plays messages to a member, and returns what it says, one line for each letter.
type steps struct {
	*testing.T
	*Member
}

func (s steps) takes(from int, in Message) (said []string) {
	s.Helper()
	out, _, err := s.Step(from, in)
	if err != nil {
		s.Errorf("node %d says %+v: %v", from, in, err)
	}
	return letters(out)
}

func letters(out []Letter) (said []string) {
	for _, l := range out {
		said = append(said, fmt.Sprintf("%d: %s %d %q", l.To, l.Key.Name, l.Key.Round, l.List))
	}
	return said
}

func (s steps) want(what string, got []string, want ...string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("%s: it says %q, want %q", what, got, want)
	}
}

func give(name string, round, try uint64, blob string, among ...uint64) Message {
	m := Message{Kind: Give, Key: Key{name, round}, Try: try, Blob: []byte(blob)}
	if len(among) > 0 {
		m.Among = among
	}
	return m
}

// Until all have given, the last try of a node counts, in whatever order the tries come. A try that
// comes too late gets the list, and so does a node that asks again. A round that is over for all
// says nothing.
func TestTries(t *testing.T) {
	s := steps{t, New(0, epochOf(1, 2))}
	s.want("the second try", s.takes(1, give("a", 1, 2, "new")))
	s.want("the third try", s.takes(1, give("a", 1, 3, "newer")))
	s.want("the first try", s.takes(1, give("a", 1, 1, "old")))
	k, out := s.Begin("a", []byte("mine"))
	list := `a 1 ["mine" "newer"]`
	out, _, err := s.Step(0, out[0].Message)
	if err != nil {
		t.Fatal(err)
	}
	s.want("its own gift", letters(out), "0: "+list, "1: "+list)
	s.want("a try while the list is on its way", s.takes(1, give("a", 1, 4, "late")), "1: "+list)
	_, done, err := s.Step(0, out[0].Message)
	if !done || err != nil || len(s.given) > 0 {
		t.Errorf("the list: done %t, %v, %d are open", done, err, len(s.given))
	}
	s.want("a try after the list", s.takes(1, give("a", 1, 5, "later")), "1: "+list)
	if out := s.Change(k, []byte("too late")); len(out) > 0 {
		t.Errorf("a change after the list: %v", out)
	}
	second := Message{Kind: All, Key: Key{"a", 2}, List: [][]byte{{}, {}}}
	s.want("the list of the next round", s.takes(1, second))
	s.want("the list of the round before", s.takes(1, Message{Kind: All, Key: Key{"a", 1}, List: [][]byte{{1}, {1}}}))
	s.want("a try of the round before", s.takes(1, give("a", 1, 6, "latest")))
	s.want("a gift to that round", s.takes(1, give("a", 2, 1, "x")), `1: a 2 ["" ""]`)
}

// A list goes to those that have given and are there. If the chair is none of them, it keeps the
// list for those that ask again, also when an older round ends after it.
func TestAmong(t *testing.T) {
	s := steps{t, New(0, epochOf(1, 4))}
	s.want("the first gift", s.takes(1, give("a", 1, 1, "one", 0, 1, 1, 0)))
	list := `a 2 ["" "two" "" ""]`
	s.want("the only gift to the next round", s.takes(1, give("a", 2, 1, "two", 0, 1, 0, 0)), "1: "+list)
	s.want("the loss of the other", letters(s.Enter(epochOf(2, 4, 2))), `1: a 1 ["" "one" "" ""]`)
	s.want("a gift again", s.takes(1, give("a", 2, 2, "late", 0, 1, 0, 0)), "1: "+list)

	s.want("a gift of a node", s.takes(3, give("b", 1, 1, "three")))
	s.want("a gift of another one", s.takes(1, give("b", 1, 1, "one")))
	s.want("the loss of the first", letters(s.Enter(epochOf(3, 4, 2, 3))))
	s.want("a message of a node that is lost", s.takes(3, give("b", 1, 2, "late")))
	_, out := s.Begin("b", []byte("mine"))
	s.want("the last gift", s.takes(0, out[0].Message), `0: b 1 ["mine" "one" "" "three"]`, `1: b 1 ["mine" "one" "" "three"]`)
}

// A node gathers nothing before it is the chair. Then it has what came before.
func TestNextChair(t *testing.T) {
	s := steps{t, New(1, epochOf(1, 3))}
	s.want("a gift to the node that is no chair", s.takes(2, give("a", 1, 1, "two")))
	s.want("another one", s.takes(0, give("a", 1, 1, "none")))
	_, out := s.Begin("a", []byte("mine"))
	if len(out) != 1 || out[0].To != 0 {
		t.Errorf("it gives %v, want one gift to node 0", out)
	}
	s.want("its own gift", s.takes(1, out[0].Message))
	nobody := New(0, epochOf(1, 2, 0, 1))
	if _, out := nobody.Begin("a", nil); len(out) > 0 {
		t.Errorf("a node that is alone, and takes no part, gives %v", out)
	}
}

// A node may give to as many gatherings as it likes if they end, and may change its gifts when too
// many are open.
func TestMostOpen(t *testing.T) {
	s := steps{t, New(0, epochOf(1, 2))}
	for k := range uint64(MostOpen + 1) {
		s.takes(1, give("a", k+1, 1, "x", 0, 1))
	}
	if len(s.given) > 0 || s.open[1] > 0 {
		t.Errorf("%d gatherings are open, node 1 has %d", len(s.given), s.open[1])
	}
	for k := range uint64(MostOpen) {
		s.takes(1, give("b", k+1, 1, "x"))
	}
	s.want("a change", s.takes(1, give("b", 1, 2, "y")))
}
