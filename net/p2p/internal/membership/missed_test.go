package membership

import "testing"

// TestMissed tells node 0 of five which members another one has lost by silence. The chair loses the junior one of the two.
func TestMissed(t *testing.T) {
	late := whole(5)
	late.Number, late.Seats[1] = 3, Seat{Life: 1, State: In, Since: 3}
	for name, c := range map[string]struct {
		me    int
		first Epoch
		lost  []int // by this node, before
		by    int
		seats map[int]uint64 // the lives that the member has lost
		gone  []int
	}{
		"a senior one":                       {0, whole(5), nil, 3, map[int]uint64{2: 1}, []int{3}},
		"a junior one":                       {0, whole(5), nil, 2, map[int]uint64{3: 1}, []int{3}},
		"one of a lower number, in later":    {0, late, nil, 2, map[int]uint64{1: 1}, []int{1}},
		"two, and the member is gone by one": {0, whole(5), nil, 3, map[int]uint64{2: 1, 4: 1}, []int{3}},
		"two junior ones":                    {0, whole(5), nil, 2, map[int]uint64{3: 1, 4: 1}, []int{3, 4}},
		"an earlier life":                    {0, whole(5), nil, 3, map[int]uint64{2: 9}, nil},
		"one that the chair has lost":        {0, whole(5), []int{2}, 3, map[int]uint64{2: 1}, []int{2}},
		"the chair needs both":               {0, whole(5), []int{3, 4}, 2, map[int]uint64{1: 1}, []int{3, 4}},
		"this node is not the chair":         {1, whole(5), nil, 3, map[int]uint64{2: 1}, nil},
	} {
		m := New(c.me, c.first, always)
		for _, node := range c.lost {
			m.Lost(node, Silent)
		}
		in := Message{Kind: Miss, Number: 1, Seats: make([]Seat, 5)}
		for node, life := range c.seats {
			in.Seats[node].Life = life
		}
		if _, err := m.Step(c.by, in); err != nil {
			t.Fatal(err)
		}
		want := make([]bool, 5)
		for _, node := range c.gone {
			want[node] = true
		}
		for node := range want {
			if m.hears(node) == want[node] {
				t.Errorf("%s: node %d is heard: %t", name, node, m.hears(node))
			}
		}
		if m.Apart() {
			t.Errorf("%s: the node is apart", name)
		}
	}
}

// A member tells its chair of each member that it loses by silence, and of no other one. It says the same once.
func TestMisses(t *testing.T) {
	m := New(2, whole(11), always)
	for _, c := range []struct {
		node  int
		how   State
		tells int // how many lives; 0: it sends no Miss
		chair int
	}{
		{5, Ended, 0, 0},
		{6, Silent, 1, 0},
		{4, Left, 0, 0},
		{3, Silent, 2, 0},
		{0, Silent, 0, 0}, // node 1 is the chair now: it does not hear node 0, or does not listen
	} {
		var told []Letter
		for _, l := range m.Lost(c.node, c.how) {
			if l.Kind == Miss {
				told = append(told, l)
			}
		}
		lives := 0
		for _, l := range told {
			for _, s := range l.Seats {
				lives += int(s.Life)
			}
		}
		if len(told) != min(c.tells, 1) || lives != c.tells || len(told) > 0 && told[0].To != c.chair {
			t.Errorf("it loses node %d: it says %+v, want a Miss of %d lives", c.node, told, c.tells)
		}
	}
}
