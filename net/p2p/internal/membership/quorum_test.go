package membership

import (
	"slices"
	"testing"
)

// TestApart has the rule of quorums. A view has a letter for each node: it is heard (h), silent
// (s), has ended (e) or left (l), or was never there (.).
func TestApart(t *testing.T) {
	states := map[rune]State{'h': In, 's': Silent, 'e': Ended, 'l': Left, '.': In}
	for view, apart := range map[string]bool{
		// Node 0 of two goes on by itself, and node 1 if node 0 has ended.
		"h": false, "hs": false, "sh": true, "eh": false, "lh": false,
		// More than half, or all that are not known to have ended.
		"hss": true, "hhs": false, "shh": false, "ssh": true, "eeh": false, "lleh": false, "esh": true, "hse": true, "hes": true,
		// Half, with the lowest.
		"hhss": false, "hshs": false, "sshh": true, "eshh": true, "hsss": true, "shsh": true,
		"hhsss": true, "hhhss": false, "sshhh": false,
		// Only the nodes that are there count.
		".h": false, ".hs": false, ".sh": true, "..eh": false, "h.s.s": true, ".h.s": false, ".s.h": true,
	} {
		first, me := Epoch{Number: 1}, -1
		for i, c := range view {
			if c == 'h' {
				me = i
			}
			first.Seats = append(first.Seats, Seat{Life: 1, State: In})
			if c == '.' {
				first.Seats[i] = Seat{}
			}
		}
		m := New(me, first, always)
		for i, c := range view {
			if how := states[c]; how != In {
				m.Lost(i, how)
			}
		}
		if m.Apart() != apart {
			t.Errorf("%s: apart %t, want %t", view, m.Apart(), apart)
		}
	}
}

// A node that is apart stays so, whatever the others decide.
func TestApartForGood(t *testing.T) {
	m := New(3, whole(4), always)
	m.Lost(0, Silent)
	m.Lost(1, Silent)
	seats := []Seat{{Life: 1, State: Ended}, {Life: 1, State: Ended}, {Life: 1, State: In}, {Life: 1, State: In}}
	if _, err := m.Step(2, Message{Kind: Enter, Number: 2, Seats: seats}); err != nil || !m.Apart() {
		t.Errorf("%v, apart %t", err, m.Apart())
	}
}

// always is sure of each node.
func always(int) bool { return true }

// whole is epoch 1 of so many nodes.
func whole(nodes int) Epoch {
	e := Epoch{Number: 1}
	for range nodes {
		e.Seats = append(e.Seats, Seat{Life: 1, State: In})
	}
	return e
}

func TestChairOfEpoch(t *testing.T) {
	e := Epoch{Seats: []Seat{{State: Ended}, {}, {State: In}, {State: In}}}
	if c, all := e.Chair(), e.Members(); c != 2 || !slices.Equal(all, []int{2, 3}) {
		t.Errorf("the chair is node %d of %v, want 2 of 2 and 3", c, all)
	}
	if c := (Epoch{Seats: e.Seats[:2]}).Chair(); c != -1 {
		t.Errorf("the chair of nobody is node %d, want -1", c)
	}
	// Seeds find what is wrong with a chair of a lower number: number 32155, for example.
	e = Epoch{Number: 4, Seats: []Seat{{State: In, Since: 4}, {State: In, Since: 2}, {State: In, Since: 2}}}
	if c := e.Chair(); c != 1 {
		t.Errorf("the chair is node %d, want 1, which is more senior", c)
	}
}
