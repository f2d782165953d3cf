package orwl

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/rings"
)

var partitions = rings.Seeds("orwl.partitions", 1, 64, "TestPartition: seeds, TestReconnect: an eighth of them")

// partition is a cut of a network of three hosts.
type partition struct {
	ways    [][2]int // from, to
	last    time.Duration
	lease   time.Duration
	quality netns.Quality
}

// newPartition is the partition of a seed. It lasts for a time from least up to most.
func newPartition(seed uint64, lease, least, most time.Duration) (p partition) {
	chance := rand.New(rand.NewPCG(seed, 0))
	p.lease, p.last = lease, least+time.Duration(chance.Int64N(int64(most-least)))
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

// TestPartition cuts links between three hosts, one way and both ways, while clients on all of
// them use resources of all of them. The lease is much longer than the cut, so no node is lost,
// and everybody is served again. All that the nodes have seen is a history of a register: no write
// is lost or doubled, and no fence is given twice.
func TestPartition(t *testing.T) {
	t.Parallel()
	for seed := range partitions.All() {
		newPartition(seed, unhurried, 200*time.Millisecond, 900*time.Millisecond).play(t, seed)
	}
}

// TestReconnect is TestPartition with a cut for which the nodes do not wait: after less than half of
// the lease they try new connections. When the cut ends, half of the lease is left.
func TestReconnect(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	const lease = 20 * time.Second
	for seed := range partitions.Part(1, 8) {
		newPartition(seed, lease, lease*10/20, lease*11/20).play(t, seed)
	}
}

// play lets three hosts go through a partition.
func (p partition) play(t *testing.T, seed uint64) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		t.Parallel()
		t.Log(p)
		net := netns.New(t, 3)
		c := musterOn(t, net, p.lease, "clients", 3, seed)
		net.All(p.quality)
		for node := range 3 {
			for at := range 3 {
				c.served(node, at, 0)
			}
		}
		c.part(net, p)
		mended := clock()
		for node := range 3 {
			for at := range 3 {
				c.served(node, at, mended)
			}
		}
		for _, o := range c.nodes {
			_, _ = io.WriteString(o.in, "stop\n") // to one that has ended, too
		}
		for node := range 3 {
			if n := c.ended(node); n.Verdict != served {
				t.Errorf("node %d ends with %s: %s", node, n.Verdict, n.Text)
			}
		}
		c.checkPartition()
	})
}

// part cuts the network for a while.
func (c *chaosCrew) part(net *netns.Network, p partition) {
	for _, w := range p.ways {
		net.Way(w[0], w[1], netns.Quality{Cut: true})
	}
	<-time.After(p.last)
	net.All(p.quality)
}

// checkPartition checks all notes.
func (c *chaosCrew) checkPartition() {
	notes := c.all()
	for _, n := range notes {
		if n.Verdict == wrong || n.Verdict == toldLost || n.What == "lost" {
			c.t.Errorf("node %d, %s of %s: %s: %s", n.by, n.What, name(n.At0), n.Verdict, n.Text)
		}
	}
	for at := range 3 {
		checkHistory(c.t, notes, at)
	}
}
