package orwl

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
)

var partitions = flag.Uint64("orwl.partitions", 2, "seeds of TestPartition: 100 of them take a minute and a half with -parallel 8")

// partition is a cut of a network of three hosts.
type partition struct {
	ways    [][2]int // from, to
	last    time.Duration
	short   bool // it ends before any lease
	quality netns.Quality
}

// newPartition is the partition of a seed. Every other one is short.
func newPartition(seed uint64) (p partition) {
	chance := rand.New(rand.NewPCG(seed, 0))
	// Of the time in which a holder lets go, a beat and the way back are left.
	const most = chaosLease*6/7 - 600*time.Millisecond
	if p.short = seed%2 == 0; p.short {
		p.last = 200*time.Millisecond + time.Duration(chance.Int64N(int64(most-200*time.Millisecond)))
	} else {
		p.last = 3*time.Second + time.Duration(chance.Int64N(int64(time.Second)))
	}
	a := chance.IntN(3)
	b := (a + 1 + chance.IntN(2)) % 3
	pairs := [][2]int{{a, b}}
	if chance.IntN(2) == 0 { // a host and both others
		pairs = append(pairs, [2]int{a, 3 - a - b})
	}
	both := chance.IntN(2) == 0
	for _, w := range pairs {
		p.ways = append(p.ways, w)
		if both {
			p.ways = append(p.ways, [2]int{w[1], w[0]})
		}
	}
	if chance.IntN(2) == 0 {
		p.quality = netns.Quality{Delay: 2 * time.Millisecond, Jitter: 3 * time.Millisecond, Loss: 0.01}
	}
	return p
}

func (p partition) String() string {
	return fmt.Sprintf("%v for %v, otherwise %+v", p.ways, p.last.Round(time.Millisecond), p.quality)
}

// TestPartition cuts links between three hosts for less and for more than the lease, one way
// and both ways, while clients on all of them use resources of all of them. After a short cut
// everybody is served again. After a long one everybody is served, or told. All that the
// nodes have seen is a history of a register: no write is lost or doubled, and no fence is
// given twice.
func TestPartition(t *testing.T) {
	for seed := range *partitions {
		p := newPartition(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			t.Log(p)
			net := netns.New(t, 3)
			c := musterOn(t, net, "clients", 3, seed)
			net.All(p.quality)
			for node := range 3 {
				for at := range 3 {
					c.served(node, at, 0)
				}
			}
			cut := c.part(net, p)
			mended := clock()
			for node := range 3 {
				for at := range 3 {
					c.settled(node, at, cut, mended)
				}
			}
			for _, o := range c.nodes {
				_, _ = io.WriteString(o.in, "stop\n") // to one that has ended, too
			}
			for node := range 3 {
				if n := c.ended(node); n.Verdict != served && (p.short || n.Verdict != toldLost) {
					t.Errorf("node %d ends with %s: %s", node, n.Verdict, n.Text)
				}
			}
			c.checkPartition(p)
		})
	}
}

// part cuts the network for a while, and returns when it began.
func (c *chaosCrew) part(net *netns.Network, p partition) (since int64) {
	since = clock()
	for _, w := range p.ways {
		net.Way(w[0], w[1], netns.Quality{Cut: true})
	}
	over := time.NewTimer(p.last)
	<-over.C
	net.All(p.quality)
	return since
}

// settled waits until a client of a node was served at a resource after the cut, or was told
// since it began.
func (c *chaosCrew) settled(node, at int, cut, mended int64) {
	c.t.Helper()
	called := make(map[uint64]bool)
	c.await(fmt.Sprintf("service of node %d at %s, or the news", node, name(at)), func(n said) bool {
		switch {
		case n.by != node:
		case n.What == "ended":
			return true
		case n.At0 != at:
		case n.What == "call":
			called[n.Op] = n.At >= mended
		case n.What == "done":
			return n.Verdict == served && called[n.Op] || n.Verdict == toldLost && n.At >= cut
		}
		return false
	})
}

// checkPartition checks all notes.
func (c *chaosCrew) checkPartition(p partition) {
	notes := c.all()
	for _, n := range notes {
		if n.Verdict == wrong || n.Verdict == toldLost && p.short {
			c.t.Errorf("node %d, %s of %s: %s: %s", n.by, n.What, name(n.At0), n.Verdict, n.Text)
		}
	}
	for at := range 3 {
		lost := -1
		if !p.short {
			lost = at // the home may have lost any node
		}
		checkHistory(c.t, notes, at, lost)
	}
}
