package handle

import (
	"slices"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// slowNet joins sites by lanes on which each message takes a fixed time. Its clock counts
// ticks and moves only when the test moves it.
type slowNet struct {
	sites   []*resource.Site
	latency int
	now     int
	posted  []letter // in the order of their arrival
}

type letter struct {
	at           int
	from, to     resource.Node
	header, bulk []byte
}

// slowPort is one site's end of the net.
type slowPort struct {
	n    *slowNet
	from resource.Node
}

func (p slowPort) Send(to resource.Node, header, bulk []byte, _ bool) error {
	p.n.posted = append(p.n.posted, letter{p.n.now + p.n.latency, p.from, to, slices.Clone(header), slices.Clone(bulk)})
	return nil
}

func (p slowPort) Post(to resource.Node, header, bulk []byte, lasting bool) error {
	return p.Send(to, header, bulk, lasting)
}

// share declares a resource on all sites, with its home on node 0.
func (n *slowNet) share(t *testing.T, nodes int) (all []*resource.Resource) {
	for i := range nodes {
		site, err := resource.NewSite(resource.SiteOptions{Node: resource.Node(i), Nodes: nodes, Transport: slowPort{n, resource.Node(i)}})
		fine(t, err)
		n.sites = append(n.sites, site)
		r := newResource(t, 64)
		if all = append(all, r); i == 0 {
			fine(t, site.Home(r, resource.HomeAt{}))
		} else {
			fine(t, site.Mirror(r, 0))
		}
	}
	return all
}

// tick delivers what arrives now.
func (n *slowNet) tick(t *testing.T) {
	for len(n.posted) > 0 && n.posted[0].at <= n.now {
		l := n.posted[0]
		n.posted = n.posted[1:]
		_, err := n.sites[l.to].Deliver(l.from, l.header, resource.Bulk{Bytes: l.bulk})
		fine(t, err)
	}
}

// waits is how many ticks each of two users on nodes 1 and 2 has waited in 100 rounds of 10
// ticks of work. A message takes 10 ticks, so a request and its grant take 20.
func waits(t *testing.T, mode resource.Mode, ahead int) (waited [2]int) {
	const rounds, work, latency = 100, 10, 10
	n := &slowNet{latency: latency}
	r := n.share(t, 3)
	var pairs [2]Pair
	for i := range pairs {
		fine(t, pairs[i].Ahead(ahead))
	}
	for range ahead + 1 {
		for i := range pairs {
			fine(t, pairs[i].Request(r[i+1], mode))
		}
	}
	var until, done [2]int
	for ; done[0] < rounds || done[1] < rounds; n.now++ {
		n.tick(t)
		for i := range pairs {
			p := &pairs[i]
			if p.Test() == Held && n.now == until[i] {
				done[i]++
				if done[i]+ahead < rounds {
					fine(t, p.Next())
				} else {
					fine(t, p.Drain())
				}
			}
			switch p.Test() {
			case Granted:
				fine(t, p.Acquire(ended()))
				until[i] = n.now + work
			case Requested:
				waited[i]++
			}
		}
	}
	for range 3 * latency { // the last releases arrive
		n.now++
		n.tick(t)
	}
	free(t, r[0])
	return waited
}

// Turns ahead hide the latency of a slow transport from readers. The way there and back
// takes two turns of work: one turn ahead hides half of what is left of it, and two hide all
// but the first.
func TestAheadHidesLatency(t *testing.T) {
	for ahead, want := range []int{20 * 100, 20 + 10*49, 20, 20} {
		if got := waits(t, resource.Read, ahead); got != [2]int{want, want} {
			t.Errorf("%d turns ahead: the readers wait %v ticks, want %d", ahead, got, want)
		}
	}
}

// Turns ahead change nothing for writers that take turns: each was announced before the other
// one was granted.
func TestAheadOfAWriterGainsNothing(t *testing.T) {
	want := waits(t, resource.Write, 0)
	for ahead := 1; ahead < 4; ahead++ {
		if got := waits(t, resource.Write, ahead); got != want {
			t.Errorf("%d turns ahead: the writers wait %v ticks, %v without", ahead, got, want)
		}
	}
}
