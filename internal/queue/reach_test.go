package queue

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// reached are resources of one name on nodes, the home first, with relaxed access from each.
// All ranks are in this process.
type reached struct {
	all     []*Resource
	fabric  *mem.Fabric
	windows []*counted // of each node
	asides  sync.WaitGroup
}

// The ranks of a node: one for the FIFO, one for the bytes, and two for relaxed access.
const reachRanks = 4

// reach makes resources on nodes, and opens them. Calls of Reach.Aside return when they are
// done, so that all messages are there then.
func reach(t testing.TB, sites []*Site, size int, o Options) *reached {
	t.Helper()
	return reachWith(t, sites, size, o, func(_ *reached, f func()) { f() })
}

func reachWith(t testing.TB, sites []*Site, size int, o Options, aside func(*reached, func())) *reached {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(reachRanks * len(sites))})
	fine(t, err)
	t.Cleanup(func() { f.Close() })
	root, err := f.Alloc(1)
	fine(t, err)
	spec, _ := locks.ByName("RMA-RW")
	l, err := spec.New(f, locks.Options{TDC: reachRanks})
	fine(t, err)
	x := &reached{fabric: f}
	for n, s := range sites {
		first := rma.Rank(n * reachRanks)
		w, err := f.Window(first + 1)
		fine(t, err)
		x.windows = append(x.windows, &counted{Window: w})
		o.Relaxed.Guard = func() (Guard, error) {
			at := &Reach{Window: x.windows[n], Home: 1, Root: root}
			ordered := &first
			if n == 0 {
				at.Aside = func(f func()) { aside(x, f) }
			} else {
				ordered, at.Ask = nil, x.all[0].RelaxedWaits
			}
			return NewGuardOn(l, f, ordered, []rma.Rank{first + 2, first + 3}, at)
		}
		r, err := NewWith("r", size, o)
		fine(t, err)
		if n == 0 {
			fine(t, s.Home(r))
		} else {
			fine(t, s.Mirror(r, 0))
		}
		x.all = append(x.all, r)
		fine(t, r.Open(t.Context()))
	}
	return x
}

// counted counts what a node asks of the home for its bytes.
type counted struct {
	rma.Window
	gets, puts, flushes, words atomic.Int64
}

func (c *counted) Get(target rma.Rank, disp rma.Disp) uint64 {
	c.words.Add(1)
	return c.Window.Get(target, disp)
}

func (c *counted) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	c.gets.Add(1)
	c.Window.GetBytes(target, disp, dst)
}

func (c *counted) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	c.puts.Add(1)
	c.Window.PutBytes(target, disp, src)
}

func (c *counted) Flush(target rma.Rank) {
	c.flushes.Add(1)
	c.Window.Flush(target)
}

// told are the counts since the last call.
func (c *counted) told() string {
	return fmt.Sprintf("%d gets, %d puts, %d flushes, %d words", c.gets.Swap(0), c.puts.Swap(0), c.flushes.Swap(0), c.words.Swap(0))
}

func filled(v byte) func([]byte) error {
	return func(b []byte) error {
		for i := range b {
			b[i] = v
		}
		return nil
	}
}

// holds has read check that each byte is v.
func holds(t testing.TB, r *Resource, v byte, version uint64) {
	t.Helper()
	b, got, err := r.Snapshot(t.Context(), nil)
	if err != nil || got != version || len(b) != r.InitialSize() || !bytes.Equal(b, bytes.Repeat([]byte{v}, len(b))) {
		t.Errorf("version %d, %d bytes %v, error %v, want version %d of %d", got, len(b), b[:min(8, len(b))], err, version, v)
	}
}

// Places and relaxed accesses of every node see what a place or a relaxed access of any node
// has written, with its version.
func TestReach(t *testing.T) {
	for _, size := range []int{0, 8, 4096} {
		n := newNetwork(3, SiteOptions{})
		x := reach(t, n.sites, size, Options{})
		version := uint64(0)
		for turn := range 27 {
			writer, reader := x.all[turn%3], x.all[turn/3%3]
			v := byte(turn + 1)
			if turn < 9 || turn >= 18 {
				fine(t, writer.WriteRelaxed(t.Context(), filled(v)))
			} else {
				p := taken(t, n, writer, Write)
				b, err := p.Writable()
				fine(t, err)
				fine(t, filled(v)(b))
				left(t, n, p)
			}
			version++
			p := taken(t, n, reader, Read)
			if b, _ := p.Bytes(); !bytes.Equal(b, bytes.Repeat([]byte{v}, size)) || p.Version() != version {
				t.Errorf("size %d, turn %d: a place has version %d, %v, want %d of %d", size, turn, p.Version(), b[:min(8, len(b))], version, v)
			}
			left(t, n, p)
			for _, r := range x.all {
				holds(t, r, v, version)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// A read elsewhere is one Get, and nothing else of the bytes' window; a write is one Get, one
// Put and one Flush. The home makes none.
func TestReachCost(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	x := reach(t, n.sites, 64, Options{})
	home, away := x.windows[0], x.windows[1]
	holds(t, x.all[1], 0, 0)
	if got, want := away.told(), "1 gets, 0 puts, 0 flushes, 1 words"; got != want {
		t.Errorf("the first read: %s, want %s", got, want)
	}
	holds(t, x.all[1], 0, 0)
	if got, want := away.told(), "1 gets, 0 puts, 0 flushes, 0 words"; got != want {
		t.Errorf("a read: %s, want %s", got, want)
	}
	fine(t, x.all[1].WriteRelaxed(t.Context(), filled(3)))
	if got, want := away.told(), "1 gets, 1 puts, 1 flushes, 0 words"; got != want {
		t.Errorf("a write: %s, want %s", got, want)
	}
	home.told()
	holds(t, x.all[0], 3, 1)
	fine(t, x.all[0].WriteRelaxed(t.Context(), filled(4)))
	if got, want := home.told(), "0 gets, 0 puts, 0 flushes, 0 words"; got != want {
		t.Errorf("at the home: %s, want %s", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { fine(t, x.all[1].ReadRelaxed(background, ignore)) }); n > 0 {
		t.Errorf("a read elsewhere makes %v allocations", n)
	}
	plain, err := New("plain", 8)
	fine(t, err)
	fine(t, n.sites[0].Home(plain))
	var p Place
	if n := testing.AllocsPerRun(100, func() {
		fine(t, p.Request(plain, Write))
		fine(t, p.Acquire(background))
		fine(t, p.Release())
	}); n > 0 || plain.guard.Load() != nil || plain.requested.Load()&guarded != 0 {
		t.Errorf("a resource without relaxed access makes %v allocations, or has a guard", n)
	}
}

// A resize reaches every node. A relaxed writer elsewhere may only resize to a size that
// there was.
func TestReachResize(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	x := reach(t, n.sites, 16, Options{})
	home, away := x.all[0], x.all[1]
	grow := func(r *Resource, size int, v byte) error {
		t.Helper()
		in, err := r.Relaxed(t.Context(), Write)
		fine(t, err)
		defer in.Leave()
		old := append([]byte(nil), in.Bytes()...)
		b, err := in.Resize(size)
		if err != nil {
			return err
		}
		want := append(old, make([]byte, 1<<12)...)[:size]
		if !bytes.Equal(b, want) {
			t.Errorf("after a resize to %d: %v, want %v", size, b, want)
		}
		return filled(v)(b)
	}
	check := func(size int, v byte) {
		t.Helper()
		var versions [2]uint64
		for i, r := range x.all {
			b, version, err := r.Snapshot(t.Context(), nil)
			if versions[i] = version; err != nil || !bytes.Equal(b, bytes.Repeat([]byte{v}, size)) {
				t.Errorf("node %d: %v, %v, want %d times %d", i, b, err, size, v)
			}
			if version != versions[0] {
				t.Errorf("versions of %d: %v", v, versions)
			}
			p := taken(t, n, r, Read)
			if b, _ := p.Bytes(); !bytes.Equal(b, bytes.Repeat([]byte{v}, size)) {
				t.Errorf("a place of node %d: %v, want %d times %d", i, b, size, v)
			}
			left(t, n, p)
		}
	}
	check(16, 0)
	for i, size := range []int{64, 8, 13, 48, 511, 0, 3, 1024} {
		fine(t, grow(home, size, byte(i+1)))
		check(size, byte(i+1))
	}
	for i, size := range []int{8, 511, 1021, 1024} {
		fine(t, grow(away, size, byte(i+10)))
		check(size, byte(i+10))
	}
	in, err := away.Relaxed(t.Context(), Write)
	fine(t, err)
	if b, err := in.Resize(8); err != nil || len(b) != 8 {
		t.Errorf("%v, %v", b, err)
	}
	if b, err := in.Resize(16); err != nil || !bytes.Equal(b[8:], make([]byte, 8)) {
		t.Errorf("bytes that came back are %v, %v, want zeros", b, err)
	}
	in.Abandon(errFire)
	if err := grow(away, 1<<20, 1); !errors.Is(err, ErrNoRoom) {
		t.Errorf("growth elsewhere: %v", err)
	}
	check(1024, 13)
	ends := home.published().ends
	fine(t, grow(home, 1<<12, 13))
	for v := range ends { // there are as many as before the bytes moved
		fine(t, away.WriteRelaxed(t.Context(), filled(byte(14+v))))
	}
	check(1<<12, byte(13+ends))
	p := taken(t, n, away, Write)
	fine(t, p.Resize(4096))
	b, err := p.Writable()
	fine(t, err)
	fine(t, filled(20)(b))
	left(t, n, p)
	check(4096, 20)
}

// A relaxed writer elsewhere that fails commits nothing. Its policy tells the others.
func TestReachWriterFails(t *testing.T) {
	reason := errors.New("reason")
	for policy, want := range []error{Discard: ErrPriorHolderLost, Poison: ErrPoisoned, Abort: ErrAborted} {
		n := newNetwork(3, SiteOptions{})
		x := reach(t, n.sites, 16, Options{Policy: Policy(policy)})
		fine(t, x.all[1].WriteRelaxed(t.Context(), filled(1)))
		fence := x.all[0].Inspect().Fence
		err := x.all[1].WriteRelaxed(t.Context(), func(b []byte) error { _ = filled(9)(b); return reason })
		if !errors.Is(err, reason) {
			t.Errorf("policy %d: the writer gets %v", policy, err)
		}
		if Policy(policy) == Abort {
			for i := 2; i >= 0; i-- {
				if err := x.all[i].ReadRelaxed(t.Context(), ignore); !errors.Is(err, ErrBroken) || !errors.Is(err, want) {
					t.Errorf("aborted, node %d: %v", i, err)
				}
			}
			continue
		}
		in, err := x.all[2].Relaxed(t.Context(), Read)
		fine(t, err)
		if prior := in.Prior(); !errors.Is(prior, want) || in.Bytes()[0] != 1 {
			t.Errorf("policy %d: relaxed elsewhere: %v, byte %d", policy, prior, in.Bytes()[0])
		}
		in.Leave()
		for i, r := range x.all {
			p := taken(t, n, r, Read)
			if b, _ := p.Bytes(); !errors.Is(p.Prior(), want) || b[0] != 1 {
				t.Errorf("policy %d: a place of node %d: %v, byte %d", policy, i, p.Prior(), b[0])
			}
			left(t, n, p)
		}
		if now := x.all[0].Inspect().Fence; now <= fence {
			t.Errorf("policy %d: the fence is %d after %d", policy, now, fence)
		}
		fine(t, x.all[2].WriteRelaxed(t.Context(), filled(2)))
		for _, r := range x.all {
			holds(t, r, 2, 2)
		}
	}
}

// Messages copy the bytes, since other nodes change them. The bytes stay where other nodes
// reach them, also after a mirror has given up a grant.
func TestReachUnderWay(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	x := reach(t, n.sites, 16, Options{})
	var p Place
	fine(t, p.Request(x.all[1], Read))
	fine(t, n.move(lane{1, 0, false}))
	if q := n.lanes[lane{0, 1, true}]; len(q) != 1 || q[0].lasting {
		t.Errorf("under way are %v, want one message that has copied the bytes", q)
	}
	n.sites[1].Suspect(0, errQuiet)
	fine(t, p.Cancel())
	fine(t, p.Request(x.all[1], Read))
	for all := n.busy(); len(all) > 0; all = n.busy() {
		if err := n.move(all[0]); err != nil && !errors.Is(err, ErrOtherLife) {
			t.Error(err)
		}
	}
	fine(t, p.Acquire(t.Context()))
	left(t, n, &p)
	fine(t, x.all[0].WriteRelaxed(t.Context(), filled(5)))
	for _, r := range x.all {
		holds(t, r, 5, 1)
	}
}

// A resource that breaks at the home breaks for relaxed access everywhere, whether or not the
// FIFO has the guard then.
func TestReachBroken(t *testing.T) {
	for _, before := range []string{"unowned", "kept", "held", "read"} {
		n := newNetwork(2, SiteOptions{})
		x := reach(t, n.sites, 8, Options{})
		holds(t, x.all[1], 0, 0)
		var p *Place
		if before != "unowned" {
			p = taken(t, n, x.all[0], map[bool]Mode{true: Read, false: Write}[before == "read"])
		}
		if before == "kept" {
			fine(t, p.Release())
		}
		x.all[0].Break(errFire)
		if before == "held" || before == "read" {
			fine(t, p.Release())
		}
		if err := x.all[1].ReadRelaxed(t.Context(), ignore); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", before, err)
		}
	}
}

// The loss of the fabric ends a relaxed access that waits, on any node, and breaks the
// resource there. No goroutine hangs.
func TestReachLost(t *testing.T) {
	defer goleak.VerifyNone(t)
	n := newNetwork(2, SiteOptions{})
	x := reach(t, n.sites, 8, Options{})
	p := taken(t, n, x.all[0], Write)
	errs := make(chan error)
	for _, m := range []Mode{Read, Write} {
		go func() {
			_, err := x.all[1].Relaxed(context.Background(), m)
			errs <- err
		}()
	}
	for x.all[0].Inspect().RelaxedWaits < 2 {
	}
	x.fabric.Close()
	for range 2 {
		if err := <-errs; !errors.Is(err, ErrBroken) || !errors.Is(err, locks.ErrBroken) {
			t.Errorf("a waiter elsewhere: %v", err)
		}
	}
	fine(t, p.Release())
	if err := x.all[1].ReadRelaxed(t.Context(), ignore); !errors.Is(err, locks.ErrBroken) {
		t.Errorf("afterwards: %v", err)
	}
}

// A task that holds an ordered grant makes no relaxed access on a mirror.
func TestReachLeafRule(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	x := reach(t, n.sites, 8, Options{})
	p := taken(t, n, x.all[1], Read)
	h := NewHolder("task", func(yield func(*Place) bool) { yield(p) })
	if err := x.all[1].ReadRelaxed(h.Context(t.Context()), ignore); !errors.Is(err, ErrLeafRule) {
		t.Errorf("beside a grant: %v", err)
	}
	left(t, n, p)
	fine(t, x.all[1].ReadRelaxed(h.Context(t.Context()), ignore))
}

// A guard of all nodes is made before the first request, and one of the home's process
// serves no mirror.
func TestReachTooLate(t *testing.T) {
	x := reach(t, newNetwork(2, SiteOptions{}).sites, 8, Options{})
	late, err := NewWith("late", 8, Options{Relaxed: RelaxedOptions{Guard: x.all[0].relaxed.o.Guard}})
	fine(t, err)
	var p Place
	fine(t, p.Request(late, Write))
	if err := late.Open(t.Context()); !errors.Is(err, ErrUsed) {
		t.Errorf("after a request: %v", err)
	}
	_, f := hinged(t, "RMA-RW", RelaxedOptions{})
	n := newNetwork(2, SiteOptions{})
	spec, _ := locks.ByName("RMA-RW")
	l, err := spec.New(f, locks.Options{})
	fine(t, err)
	r := n.share(t, "r", 8, 0, Options{Relaxed: RelaxedOptions{Guard: func() (Guard, error) { return NewGuard(l, f) }}})
	if err := r[1].Open(t.Context()); !errors.Is(err, ErrNoReach) {
		t.Errorf("a private guard on a mirror: %v", err)
	}
}

// Places and relaxed sections of three nodes, all at once: every write counts, and no relaxed
// access waits for ever.
func TestReachStress(t *testing.T) {
	defer goleak.VerifyNone(t)
	post := newPost(t, 3)
	defer post.close()
	x := reachWith(t, post.sites, 16, Options{Relaxed: RelaxedOptions{TL: 3}}, func(x *reached, f func()) { x.asides.Go(f) })
	const rounds = 100
	add := func(b []byte) error {
		for at := range 2 {
			word := b[8*at:]
			binary.NativeEndian.PutUint64(word, binary.NativeEndian.Uint64(word)+1)
		}
		return nil
	}
	same := func(b []byte) error {
		if !bytes.Equal(b[:8], b[8:]) {
			t.Errorf("half a write: %v", b)
		}
		return nil
	}
	var all sync.WaitGroup
	for i := range 6 {
		r := x.all[i%3]
		all.Go(func() {
			var p Place
			fine(t, p.Request(r, Write))
			for n := range rounds {
				fine(t, p.Acquire(context.Background()))
				b, err := p.Writable()
				fine(t, err)
				fine(t, same(b))
				fine(t, add(b))
				if n == rounds-1 {
					fine(t, p.Release())
				} else {
					fine(t, p.Renew())
				}
			}
		})
		all.Go(func() {
			for range rounds {
				fine(t, r.WriteRelaxed(context.Background(), add))
				fine(t, r.ReadRelaxed(context.Background(), same))
			}
		})
	}
	all.Wait()
	x.asides.Wait()
	for _, r := range x.all {
		fine(t, r.ReadRelaxed(context.Background(), func(b []byte) error {
			if n := binary.NativeEndian.Uint64(b); n != 12*rounds {
				t.Errorf("%d writes, want %d", n, 12*rounds)
			}
			return nil
		}))
	}
}
