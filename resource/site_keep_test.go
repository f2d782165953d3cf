package resource

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// never sweeps: a request that waits is served all the same.
func never(func()) {}

// keeping is a network of two, in which node 1 comes again and again, and has kept its
// last release.
func keeping(t *testing.T, o Options) (n *network, r []*Resource) {
	t.Helper()
	n = newNetwork(2, SiteOptions{Later: never})
	r = n.share(t, "r", 8, 0, HomeAt{}, o)
	visit(t, n, r[1], Write)
	visit(t, n, r[1], Write)
	if !r[1].mirror.half.Keeps() {
		t.Fatal("nothing is kept")
	}
	return n, r
}

// visit is an access that writes nothing.
func visit(t *testing.T, n *network, r *Resource, m Mode) {
	t.Helper()
	var p Place
	fine(t, p.Request(r, m))
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	fine(t, p.Release())
	n.settle(t)
}

// A mirror that comes again and again sends one message, and gets one.
func TestKeptReleaseGoesWithTheNextRequest(t *testing.T) {
	n, r := keeping(t, Options{})
	for i := range 10 {
		before := [2]uint64{n.sites[0].Counts().Sent, n.sites[1].Counts().Sent}
		visit(t, n, r[1], Mode(i%2))
		after := [2]uint64{n.sites[0].Counts().Sent, n.sites[1].Counts().Sent}
		if after[0]-before[0] != 1 || after[1]-before[1] != 1 {
			t.Fatalf("%v messages before, %v after", before, after)
		}
	}
}

// A request that waits at the home, in any way, has the retained release recalled.
func TestKeptReleaseIsWanted(t *testing.T) {
	guard := func() (Guard, error) {
		f, err := mem.New(mem.Options{Topology: topology.Flat(3)})
		fine(t, err)
		t.Cleanup(func() { f.Close() })
		spec, _ := locks.ByName("RMA-RW")
		l, err := spec.New(f, locks.Options{})
		fine(t, err)
		return NewGuard(l, f)
	}
	for name, wait := range map[string]func(t *testing.T, r *Resource, moved func()) bool{
		"acquire": func(t *testing.T, r *Resource, moved func()) bool {
			var p Place
			fine(t, p.Request(r, Read))
			_ = p.Acquire(ended())
			moved()
			return p.Acquire(ended()) == nil
		},
		"test": func(t *testing.T, r *Resource, moved func()) bool {
			var p Place
			fine(t, p.Request(r, Write))
			if p.Granted() {
				t.Error("granted beside a writer")
			}
			moved()
			return p.Granted()
		},
		"notify": func(t *testing.T, r *Resource, moved func()) bool {
			var p Place
			told := false
			fine(t, p.Request(r, Write))
			fine(t, p.Notify(func() { told = true }))
			moved()
			return told
		},
		"relaxed": func(t *testing.T, r *Resource, moved func()) bool {
			if r.ReadRelaxed(ended(), func([]byte) error { return nil }) == nil {
				t.Error("inside beside a writer")
			}
			moved()
			return r.ReadRelaxed(t.Context(), func([]byte) error { return nil }) == nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, r := keeping(t, Options{Relaxed: RelaxedOptions{Guard: guard}})
			if !wait(t, r[0], func() { n.settle(t) }) {
				t.Error("waits though all that is under way has come")
			}
		})
	}
}

// A write is sent at once. So is the release of an access whose loss would have
// consequences.
func TestWhatIsNotKept(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy Policy
		mode   Mode
		wrote  bool
		kept   bool
	}{
		{"read", Abort, Read, false, true},
		{"held for writing", Discard, Write, false, true},
		{"written", Discard, Write, true, false},
		{"poison", Poison, Write, false, false},
		{"abort", Abort, Write, false, false},
	} {
		n := newNetwork(2, SiteOptions{Later: never})
		r := n.share(t, "r", 8, 0, HomeAt{}, Options{Policy: c.policy})
		visit(t, n, r[1], c.mode)
		var p Place
		fine(t, p.Request(r[1], c.mode))
		n.settle(t)
		fine(t, p.Acquire(t.Context()))
		if c.wrote {
			_, err := p.Writable()
			fine(t, err)
		}
		fine(t, p.Release())
		if r[1].mirror.half.Keeps() != c.kept {
			t.Errorf("%s: kept is %t", c.name, !c.kept)
		}
	}
}

// An access in between, by whomever, and the mirror is one among others again.
func TestNotAloneIsNotKept(t *testing.T) {
	n, r := keeping(t, Options{})
	for range 5 {
		var p Place
		fine(t, p.Request(r[0], Read))
		_ = p.Granted()
		n.settle(t)
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Release())
		visit(t, n, r[1], Write)
		if r[1].mirror.half.Keeps() {
			t.Fatal("kept, though the home was there before")
		}
	}
}

// A retained release that no request takes along is sent after a while. A node that leaves
// sends it first.
func TestKeptReleaseIsSwept(t *testing.T) {
	var later []func()
	n := newNetwork(2, SiteOptions{Later: func(sweep func()) { later = append(later, sweep) }})
	sweep := func() {
		for all := later; len(all) > 0; all = all[1:] {
			later = later[1:]
			all[0]()
		}
		n.settle(t)
	}
	r := n.share(t, "r", 8, 0, HomeAt{}, Options{})
	held := func() bool { return len(r[0].Inspect().Guests()) > 0 }
	visit(t, n, r[1], Read)
	for range 10 {
		visit(t, n, r[1], Read)
		if sweep(); !held() {
			t.Fatal("sent, though the next request takes it along")
		}
	}
	if sweep(); held() {
		t.Error("not sent by the second sweep")
	}
	visit(t, n, r[1], Read)
	n.sites[1].Settle()
	if n.settle(t); held() {
		t.Error("a node that leaves keeps something")
	}
	before := n.sites[1].Counts().Sent
	if sweep(); n.sites[1].Counts().Sent != before || len(later) > 0 {
		t.Errorf("swept, though there is nothing: %d will be", len(later))
	}
}

// Goroutines of the home and of two mirrors meet at a resource where nothing is swept:
// every request is served, or the test hangs.
func TestKeepStress(t *testing.T) {
	const nodes, rounds = 3, 3000
	p := newPost(t, nodes)
	defer p.close()
	var r [nodes]*Resource
	for i, s := range p.sites {
		s.o.Later = never
		var err error
		r[i], err = New("r", 0)
		if err == nil && i == 0 {
			err = s.Home(r[i], HomeAt{})
		} else if err == nil {
			err = s.Mirror(r[i], 0)
		}
		fine(t, err)
	}
	var kept int
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
				if i == 1 && rng.IntN(16) == 0 {
					f := r[i].mirror
					f.mu.Lock()
					if f.half.Keeps() {
						kept++
					}
					f.mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if t.Logf("kept %d times, about", 16*kept); kept == 0 {
		t.Error("nothing was ever kept: the test shows little")
	}
}
