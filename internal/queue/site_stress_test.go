package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// post is a transport whose lanes are goroutines.
type post struct {
	sites []*Site
	lanes map[lane]*postLane
	all   sync.WaitGroup
}

type postLane struct {
	mu    sync.Mutex
	queue []parcel
	more  chan struct{}
}

type postPort struct {
	p    *post
	from Node
}

func (p postPort) Post(to Node, header, bulk []byte, lasting bool) error {
	return p.Send(to, header, bulk, lasting)
}

func (p postPort) Send(to Node, header, bulk []byte, lasting bool) error {
	m := parcel{header: slices.Clone(header), bulk: bulk}
	if !lasting {
		m.bulk = slices.Clone(bulk)
	}
	l := p.p.lanes[lane{p.from, to, len(bulk) > 0}]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, m)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return nil
}

// newPost joins so many sites, until close.
func newPost(t *testing.T, nodes int) *post {
	p := &post{lanes: make(map[lane]*postLane)}
	for n := range nodes {
		s, err := NewSite(SiteOptions{Node: Node(n), Nodes: nodes, Transport: postPort{p, Node(n)}})
		fine(t, err)
		p.sites = append(p.sites, s)
	}
	for a := range nodes {
		for b := range nodes {
			for _, data := range []bool{false, true} {
				p.lanes[lane{Node(a), Node(b), data}] = &postLane{more: make(chan struct{}, 1)}
			}
		}
	}
	for at, l := range p.lanes {
		p.all.Go(func() {
			for range l.more {
				l.mu.Lock()
				queue := l.queue
				l.queue = nil
				l.mu.Unlock()
				for _, m := range queue {
					if err := deliver(p.sites[at.to], at.from, m.header, m.bulk); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	return p
}

func (p *post) close() {
	for _, l := range p.lanes {
		close(l.more)
	}
	p.all.Wait()
}

// TestSiteStress has many goroutines on three nodes at resources with homes on each
// of them. Bytes are ordinary memory, so that the race detector sees accesses that are not
// ordered.
func TestSiteStress(t *testing.T) {
	defer goleak.VerifyNone(t)
	const nodes, goroutines, rounds = 3, 18, 60
	p := newPost(t, nodes)
	defer p.close()
	var all [nodes][nodes]*Resource // by home, by node
	for home := range nodes {
		for n, s := range p.sites {
			r, err := New(string(rune('a'+home)), 64)
			fine(t, err)
			if all[home][n] = r; n == home {
				fine(t, s.Home(r))
			} else {
				fine(t, s.Mirror(r, Node(home)))
			}
		}
	}
	seed := rand.Uint64()
	var inside [nodes]atomic.Int64 // readers, or -1
	var wrote [nodes]atomic.Int64
	var tasks sync.WaitGroup
	for n := range goroutines {
		tasks.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			home := n / nodes % nodes
			r := all[home][n%nodes]
			var p Place
			for range rounds {
				if !p.Requested() {
					if err := p.Request(r, Mode(rng.IntN(4)/3^n&1)); err != nil {
						t.Error(err)
						return
					}
				}
				if rng.IntN(4) == 0 {
					fine(t, p.Notify(func() { runtime.Gosched() }))
				}
				if rng.IntN(8) == 0 {
					fine(t, p.Cancel())
					continue
				}
				for {
					ctx, cancel := context.WithCancel(context.Background())
					if rng.IntN(4) == 0 {
						go cancel()
					}
					err := p.Acquire(ctx)
					cancel()
					if err == nil {
						break
					}
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
						return
					}
				}
				b, err := p.Bytes()
				if p.Mode() == Write {
					b, err = p.Writable()
				}
				if err != nil {
					t.Error(err)
					return
				}
				count := binary.NativeEndian.Uint64(b[p.Version()%8*8:])
				if count != p.Version() || p.Prior() != nil || p.Fence() == 0 && p.Mode() == Write {
					t.Errorf("node %d: %d writes, version %d, fence %d", n%nodes, count, p.Version(), p.Fence())
				}
				if p.Mode() == Write {
					if !inside[home].CompareAndSwap(0, -1) {
						t.Error("a writer is not alone")
					}
					at := (count + 1) % 8 * 8
					binary.NativeEndian.PutUint64(b[at:], count+1)
					wrote[home].Add(1)
					runtime.Gosched()
					inside[home].Store(0)
				} else {
					if inside[home].Add(1) < 1 {
						t.Error("a reader beside a writer")
					}
					runtime.Gosched()
					inside[home].Add(-1)
				}
				do := p.Release
				if rng.IntN(2) == 0 {
					do = p.Renew
				}
				if err := do(); err != nil {
					t.Error(err)
				}
			}
			if p.Requested() {
				fine(t, p.Cancel())
			}
		})
	}
	tasks.Wait()
	for home := range nodes {
		for n := range nodes {
			var last Place
			fine(t, last.Request(all[home][n], Read))
			fine(t, last.Acquire(context.Background()))
			if last.Version() != uint64(wrote[home].Load()) {
				t.Errorf("version %d after %d writes", last.Version(), wrote[home].Load())
			}
			fine(t, last.Release())
		}
	}
}

// Goroutines of the home and of two mirrors meet at a resource, and each waits in one of three ways:
// every request is served, or the test hangs.
func TestWaysToWaitStress(t *testing.T) {
	const nodes, rounds = 3, 3000
	p := newPost(t, nodes)
	defer p.close()
	var r [nodes]*Resource
	for i, s := range p.sites {
		var err error
		r[i], err = New("r", 0)
		if err == nil && i == 0 {
			err = s.Home(r[i])
		} else if err == nil {
			err = s.Mirror(r[i], 0)
		}
		fine(t, err)
	}
	var all sync.WaitGroup
	seed := rand.Uint64()
	for i := range nodes {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			var p Place
			for range rounds {
				if rng.IntN(8) == 0 {
					for range rng.IntN(200) { // others come again and again
						runtime.Gosched()
					}
				}
				if err := p.Request(r[i], Mode(rng.IntN(2))); err != nil {
					t.Error(err)
					return
				}
				switch rng.IntN(4) {
				case 0:
					for !p.Granted() {
						runtime.Gosched()
					}
				case 1:
					told := make(chan struct{})
					fine(t, p.Notify(func() { close(told) }))
					<-told
				}
				if err := p.Acquire(context.Background()); err != nil {
					t.Error(err)
					return
				}
				fine(t, p.Release())
			}
		})
	}
	all.Wait()
}
