package trace

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// greetings are rounds of two nodes. The second node's clock is ahead by an offset. there
// and back say how long a message takes in each round.
func greetings(machines [2]string, ahead time.Duration, there, back []time.Duration) (rounds [][]*greeting) {
	got := []time.Duration{none, none}
	at := time.Duration(0) // by node 0's clock
	for k := range there {
		rounds = append(rounds, []*greeting{
			{Machine: machines[0], Zero: 100, Gave: at, Got: got[0]},
			{Machine: machines[1], Zero: 100 - ahead, Gave: at + ahead, Got: got[1]},
		})
		at += there[k] // now node 0 has both
		got[0] = at
		at += back[k]
		got[1] = at + ahead
		at += 10
	}
	return append(rounds, []*greeting{{Gave: at, Got: got[0]}, {Gave: at + ahead, Got: got[1]}})
}

func TestCompareClocks(t *testing.T) {
	for name, c := range map[string]struct {
		machines    [2]string
		there, back []time.Duration
		want        Clock
	}{
		"one machine":     {[2]string{"a", "a"}, []time.Duration{5}, []time.Duration{500}, Clock{Node: 1, Offset: -1000, Shared: true}},
		"others":          {[2]string{"a", "b"}, []time.Duration{50}, []time.Duration{50}, Clock{Node: 1, Offset: -1025, Error: 75}},
		"the best bounds": {[2]string{"", ""}, []time.Duration{50, 10, 90}, []time.Duration{50, 90, 10}, Clock{Node: 1, Offset: -1045, Error: 55}},
	} {
		got := compareClocks(greetings(c.machines, 1000, c.there, c.back))
		if got[0] != (Clock{Shared: true}) || got[1] != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if off := (got[1].Offset + 1000).Abs(); off > got[1].Error {
			t.Errorf("%s: wrong by %v, which is more than %v", name, off, got[1].Error)
		}
	}
	lost := greetings([2]string{"", ""}, 1000, []time.Duration{50}, []time.Duration{50})
	lost[0][1] = nil
	if got := compareClocks(lost); got[1] != (Clock{Node: 1}) {
		t.Errorf("of a node that is lost: %+v", got[1])
	}
}

// TestGather has two nodes of one process pass a resource to and fro. Their clocks differ,
// and yet no hand-over leads back in time. The trace tells of the bytes that came.
func TestGather(t *testing.T) {
	const rounds = 50
	var tr *Trace
	onNodes(t, 2, func(n *orwl.Nodes) error {
		born := time.Now().Add(-time.Duration(n.Number()) * time.Hour)
		rec := mustRecord(t, Options{Clock: func() time.Duration { return time.Since(born) }})
		rt := mustNew(t, orwl.Options{Nodes: n, Observers: []orwl.Observer{rec}})
		r := rt.Resource("x", 64)
		for i, name := range []string{"a", "b"} {
			task := rt.Task(name).On(i)
			a := orwl.Writes[uint64](task, r)
			task.Each(rounds, func(int) error {
				a.Slice()[i]++
				return nil
			})
		}
		if err := rt.Run(context.Background()); err != nil {
			return err
		}
		got, err := rec.Gather(context.Background(), rt)
		if n.Number() == 0 {
			tr = got
		} else if got != nil {
			t.Error("node 1 has a trace")
		}
		return err
	})
	if len(tr.Tracks) != 2 || tr.Tracks[0].Node != 0 || tr.Tracks[1].Node != 1 {
		t.Fatalf("%d tracks", len(tr.Tracks))
	}
	all := tr.Handovers()
	if len(all) != 2*rounds-1 {
		t.Errorf("%d hand-overs, want %d", len(all), 2*rounds-1)
	}
	for _, h := range all {
		left, came := tr.turn(h.From).Released, tr.turn(h.To).Acquired
		if slack := 2 * tr.Clocks[1].Error; h.From.Track == h.To.Track || left > came+slack {
			t.Errorf("it leaves %d at %v, and comes to %d at %v", h.From.Track, left, h.To.Track, came)
		}
	}
	here := 0
	for _, u := range tr.Tracks[1].Turns {
		if u.Here != none && u.Bytes == 64 && u.Here >= u.Requested && u.Here <= u.Acquired {
			here++
		}
	}
	if here != rounds {
		t.Errorf("bytes came for %d turns, want %d", here, rounds)
	}
	text, _ := written(t, tr)
	for _, want := range []string{`"node 1"`, `"name":"prefetch"`, `"ph":"s"`, `"ph":"f"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

// A recording that is larger than a piece comes in several.
func TestGatherMuch(t *testing.T) {
	onNodes(t, 2, func(n *orwl.Nodes) error {
		mine := slices.Repeat([]byte{byte(n.Number() + 1)}, (2*n.Number()+1)*piece/2+n.Number())
		all, err := gatherMuch(context.Background(), mustNew(t, orwl.Options{Nodes: n}), mine)
		if err != nil {
			return err
		}
		for node, b := range all {
			want := (2*node+1)*piece/2 + node
			if n.Number() != 0 {
				want = 0
			}
			if len(b) != want || want > 0 && b[want-1] != byte(node+1) {
				t.Errorf("node %d has %d bytes of node %d, want %d", n.Number(), len(b), node, want)
			}
		}
		return nil
	})
}
