package versions

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/wire"
)

// walks are the states of random schedules of random programs.
func walks(yield func(c *cluster, s *world) bool) {
	for seed := range uint64(40) {
		c := randomCluster(seed)
		rng := rand.New(rand.NewPCG(seed, 5))
		for s := c.start(); ; {
			if !yield(c, s) {
				return
			}
			next := c.moves(s, new(verdict))
			if len(next) == 0 {
				break
			}
			s = next[rng.IntN(len(next))]
		}
	}
}

// TestEveryPrefix cuts messages at each byte of the header, and at each byte of the bulk. The rest is refused, and
// changes nothing.
func TestEveryPrefix(t *testing.T) {
	rings.Computes(t)
	messages, cuts := 0, 0
	for c, s := range walks {
		for at, m := range s.lanes {
			messages++
			n := c.clone(s).nodes[m.to]
			before := state(n)
			for i := range len(m.header) + len(m.bulk) {
				header, bulk := m.header, m.bulk
				if i < len(m.header) {
					header = header[:i]
				} else {
					bulk = bulk[:i-len(m.header)]
				}
				var typed *MessageError
				if err := n.Take(m.from, header, bulk, new(Work)); !errors.As(err, &typed) || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrRange) {
					t.Fatalf("message %d of %v, cut at %d: %v", at, c, i, err)
				}
				cuts++
			}
			if state(n) != before {
				t.Fatalf("message %d of %v: a part of it has changed something", at, c)
			}
		}
	}
	t.Logf("%d messages, %d cuts", messages, cuts)
	if messages == 0 {
		t.Error("no message")
	}
}

// FuzzTake gives nodes any message. They never panic, and all errors are typed. Memory follows what has come.
func FuzzTake(f *testing.F) {
	for _, e := range []fields{
		{creditEntry, 4, 1, 0}, {takenEntry, 0, 0, 1}, {versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 0, 4},
		{versionEntry, 0, asksBit, 1, 1, 24, 1, 1, 2, 1, 0, 24}, {versionEntry, 0, sameBit, 0, 1, 16, 1, 1, 0, 2},
		{versionEntry, 0, 0, 0, 0, 16, 0}, {versionEntry, 0, 0, 0, 1, 16, 1, 3, 1, 0},
	} {
		for node := range byte(3) {
			f.Add(node, byte(1), header(9, e), make([]byte, 24), header(9, e))
		}
	}
	f.Fuzz(func(t *testing.T, to, from byte, first, bulk, second []byte) {
		nodes, _ := begun()
		n := nodes[to%3]
		if n.o.Node == 1 {
			for c := range 2 {
				if err := n.Released(c, 1, []Span{{0, 4}}, Goes, new(Work)); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, header := range [][]byte{first, second} {
			var w Work
			err := n.Take(int(from%4), header, bulk, &w)
			var typed *MessageError
			if err != nil && !errors.As(err, &typed) {
				t.Fatal(err)
			}
			if most := len(header) + 1; len(w.entries) > most || len(w.reports) > most || len(w.spans) > most {
				t.Fatalf("%d entries, %d reports, %d spans of %d bytes", len(w.entries), len(w.reports), len(w.spans), len(header))
			}
			for to := range nodes { // the messages that it passes on parse
				for h, b, ok := n.Pass(to, nil, nil); ok; h, b, ok = n.Pass(to, nil, nil) {
					r := wire.NewReader(h)
					if r.Array(); r.Err() != nil || len(b) > MostBytes {
						t.Fatal(r.Err())
					}
				}
			}
			if err != nil {
				return
			}
		}
	})
}
