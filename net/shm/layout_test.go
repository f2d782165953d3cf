package shm

import (
	"testing"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// TestLayout checks that no two parts of a fabric overlap, and that words lie
// as atomics want them and lobbies on cache lines of their own.
func TestLayout(t *testing.T) {
	for _, g := range []geometry{{1, 1, 1}, {2, 512, 8}, {3, 513, 9}, {65, 1000, 100_001}, {1 << 10, 1 << 16, 1 << 24}} {
		l, err := g.layout()
		if err != nil {
			t.Fatal(err)
		}
		ranks := int64(g.ranks)
		end := int64(0)
		part := func(name string, begins, size, unit int64) {
			t.Helper()
			if begins < end || begins%unit != 0 {
				t.Errorf("%+v: %s begins at %d, want a multiple of %d from %d on", g, name, begins, unit, end)
			}
			end = begins + size
		}
		part("header", 0, sizeof[header](), page)
		part("claims", l.claims, sizeof[claim]()*ranks, page)
		for p := range g.ranks {
			part("lobby", l.lobbyOf(p), sizeof[lobby](), cacheLine)
			part("waiters", l.waitersOf(p), 8*int64(direct.WaiterWords(g.ranks)), 8)
			part("guests", l.guestsOf(p), 4*int64(direct.GuestPlaces(g.ranks)), 4)
		}
		part("log", l.log, 8*int64(g.words), page)
		for p := range g.ranks {
			part("heap", l.heapOf(p), 8*int64(g.words), page)
			part("slots", l.tableOf(p), sizeof[slot]()*int64(l.slots), page)
			part("pool", l.poolOf(p), 8*roundUp(int64(g.dynamic), granule), page)
		}
		if l.size < end {
			t.Errorf("%+v: the file has %d bytes, want at least %d", g, l.size, end)
		}
	}
}
