package queue

import (
	"testing"
)

// shortcut is a transport that keeps its memory: what is measured is the sites.
type shortcut struct {
	sites [2]*Site
	queue []parcel
	n     int
}

type shortcutPort struct {
	s    *shortcut
	from Node
}

func (p shortcutPort) Post(to Node, header, bulk []byte, lasting bool) error {
	return p.Send(to, header, bulk, lasting)
}

func (p shortcutPort) Send(to Node, header, bulk []byte, _ bool) error {
	s := p.s
	if s.n == len(s.queue) {
		s.queue = append(s.queue, parcel{})
	}
	m := &s.queue[s.n]
	m.header, m.bulk, m.sum = append(m.header[:0], header...), bulk, uint64(to)
	s.n++
	return nil
}

func (s *shortcut) settle(tb testing.TB) {
	for i := 0; i < s.n; i++ {
		m := &s.queue[i]
		if _, err := s.sites[m.sum].Deliver(Node(1-m.sum), m.header, Bulk{Bytes: m.bulk}); err != nil {
			tb.Fatal(err)
		}
	}
	s.n = 0
}

// remotePair returns the step of a pair of a mirror.
func remotePair(tb testing.TB, size int, m Mode, write bool) func() {
	s := new(shortcut)
	var r [2]*Resource
	for i := range s.sites {
		var err error
		if s.sites[i], err = NewSite(SiteOptions{Node: Node(i), Nodes: 2, Transport: shortcutPort{s, Node(i)}}); err != nil {
			tb.Fatal(err)
		}
		if r[i], err = New("r", size); err == nil && i == 0 {
			err = s.sites[i].Home(r[i])
		} else if err == nil {
			err = s.sites[i].Mirror(r[i], 0)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	p := new(Place)
	err := p.Request(r[1], m)
	s.settle(tb)
	return func() {
		if err == nil {
			err = p.Acquire(tb.Context())
		}
		if err == nil && write {
			_, err = p.Writable()
		}
		if err == nil {
			err = p.Renew()
		}
		if err != nil {
			tb.Fatal(err)
		}
		s.settle(tb)
	}
}

// BenchmarkSitePair measures both sites in an iteration of a remote pair, without the
// transport.
func BenchmarkSitePair(b *testing.B) {
	for _, c := range []struct {
		name  string
		size  int
		mode  Mode
		write bool
	}{{"read", 64, Read, false}, {"write", 64, Write, true}, {"write 64 KiB", 64 << 10, Write, true}} {
		b.Run(c.name, func(b *testing.B) {
			step := remotePair(b, c.size, c.mode, c.write)
			step()
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// An iteration of a remote pair allocates nothing in either site.
func TestSitePairAllocatesNothing(t *testing.T) {
	needsOrdinaryBuild(t)
	step := remotePair(t, 64, Write, true)
	step()
	if n := testing.AllocsPerRun(100, step); n >= 1 { // pools are emptied now and then
		t.Errorf("%v allocations", n)
	}
}
