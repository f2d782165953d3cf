package handle

import (
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// pipe joins two sites. settle delivers the messages of each to the other.
type pipe struct {
	sites [2]*queue.Site
	under []func() error
}

type end struct {
	p    *pipe
	from queue.Node
}

func (e end) Post(to queue.Node, header, bulk []byte, lasting bool) error {
	return e.Send(to, header, bulk, lasting)
}

func (e end) Send(to queue.Node, header, bulk []byte, _ bool) error {
	header, bulk = slices.Clone(header), slices.Clone(bulk)
	e.p.under = append(e.p.under, func() error {
		_, err := e.p.sites[to].Deliver(e.from, header, queue.Bulk{Bytes: bulk})
		return err
	})
	return nil
}

func (p *pipe) settle(t *testing.T) {
	t.Helper()
	for len(p.under) > 0 {
		next := p.under[0]
		p.under = p.under[1:]
		fine(t, next())
	}
}

// mirrored is a resource at home and its mirror.
func mirrored(t *testing.T, size int) (p *pipe, home, mirror *resource.Resource) {
	t.Helper()
	p = new(pipe)
	var r [2]*resource.Resource
	for i := range r {
		var err error
		p.sites[i], err = queue.NewSite(queue.SiteOptions{Node: queue.Node(i), Nodes: 2, Transport: end{p, queue.Node(i)}})
		fine(t, err)
		r[i], err = resource.New("r", size)
		fine(t, err)
	}
	fine(t, p.sites[0].Home((*queue.Resource)(r[0])))
	fine(t, p.sites[1].Mirror((*queue.Resource)(r[1]), 0))
	return p, r[0], r[1]
}

// A pair at a mirror and a pair at home take turns.
func TestPairsOfNodes(t *testing.T) {
	p, home, mirror := mirrored(t, 8)
	var a, b Pair
	fine(t, a.Request(home, queue.Write))
	fine(t, b.Request(mirror, queue.Write))
	p.settle(t)
	for i := range 20 {
		pair := []*Pair{&a, &b}[i%2]
		if got := pair.state(); got != isGranted {
			t.Fatalf("turn %d: %v", i, got)
		}
		fine(t, pair.Acquire(t.Context()))
		v, err := Write[int64](pair)
		fine(t, err)
		if v[0] != int64(i) || pair.Prior() != nil || pair.place.Version() != uint64(i) {
			t.Fatalf("turn %d: %d is there, version %d", i, v[0], pair.place.Version())
		}
		v[0]++
		fine(t, pair.Next())
		p.settle(t)
	}
	fine(t, a.Cancel())
	fine(t, b.Cancel())
	p.settle(t)
}
