package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// hinged is a resource with relaxed access. Its guard is a lock of the table on a
// fabric of goroutines: one rank for the FIFO, and some for relaxed access.
func hinged(t testing.TB, name string, o RelaxedOptions) (*Resource, *mem.Fabric) {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(5)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	spec, ok := locks.ByName(name)
	if !ok {
		t.Fatalf("there is no lock %s", name)
	}
	o.Guard = func(string) (Guard, error) {
		l, err := spec.New(f, locks.Options{})
		if err != nil {
			return Guard{}, err
		}
		return NewGuard(l, f)
	}
	r, err := New("r", 16)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.allow(o); err != nil {
		t.Fatal(err)
	}
	return r, f
}

var background = context.Background()

func TestRelaxedOptions(t *testing.T) {
	r, err := New("r", 8)
	fine(t, err)
	if err := r.Open(background); !errors.Is(err, ErrNoRelaxed) {
		t.Errorf("a relaxed access to a resource without a guard: %v", err)
	}
	guard := func(string) (Guard, error) { return Guard{}, nil }
	for _, o := range []RelaxedOptions{{Guard: guard, TL: -1}, {Guard: guard, TL: mostRun + 1}} {
		if r.allow(o) == nil {
			t.Errorf("accepted are the options %+v", o)
		}
	}
	fine(t, r.allow(RelaxedOptions{Guard: guard, TL: mostRun}))
	failed := errors.New("out of order")
	fine(t, r.allow(RelaxedOptions{Guard: func(string) (Guard, error) { return Guard{}, failed }}))
	var e *PlaceError
	if err := r.Open(background); !errors.Is(err, failed) || !errors.As(err, &e) || e.Resource != "r" {
		t.Errorf("a guard that cannot be made: %v", err)
	}
	var p Place // ordered access does not mind
	fine(t, p.Request(r, Write))
	fine(t, p.Acquire(background))
	fine(t, p.Release())
	f, err := mem.New(mem.Options{Topology: topology.Flat(1)})
	fine(t, err)
	defer f.Close()
	spec, _ := locks.ByName("RMA-RW")
	l, err := spec.New(f, locks.Options{})
	fine(t, err)
	if _, err := NewGuard(l, f); err == nil {
		t.Error("a guard on a single rank")
	}
}

// Ordered access reads what relaxed access has written, and the reverse, with its
// version.
func TestRelaxedSameBytes(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	fine(t, r.WriteRelaxed(background, func(b []byte) error {
		if len(b) != 16 || cap(b) != 16 {
			t.Errorf("%d bytes of %d", len(b), cap(b))
		}
		b[3] = 7
		return nil
	}))
	var p Place
	fine(t, p.Request(r, Read))
	fine(t, p.Acquire(background))
	if p.Version() != 1 || r.buffer.Bytes()[3] != 7 {
		t.Errorf("version %d, byte %d", p.Version(), r.buffer.Bytes()[3])
	}
	fine(t, p.Release())
	fine(t, r.ReadRelaxed(background, func(b []byte) error {
		if b[3] != 7 {
			t.Errorf("byte %d", b[3])
		}
		return nil
	}))
	got, version, err := r.Snapshot(background, []byte{1})
	fine(t, err)
	if len(got) != 17 || got[0] != 1 || got[4] != 7 || version != 1 {
		t.Errorf("%v, version %d", got, version)
	}
	failed := errors.New("mine")
	if err := r.WriteRelaxed(background, func([]byte) error { return failed }); err != failed {
		t.Errorf("a section's error becomes %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = r.ReadRelaxed(background, func([]byte) error { panic("inside") })
	}()
	fine(t, r.WriteRelaxed(background, func([]byte) error { return nil })) // no reader is left
}

func ignore([]byte) error { return nil }

// The first relaxed access waits for places that hold, wait, or have not looked yet,
// and for no others.
func TestFirstRelaxed(t *testing.T) {
	shut := func(r *Resource) bool {
		_ = r.WriteRelaxed(ended(), ignore) // makes the FIFO give up a lock that it keeps without members
		err := r.WriteRelaxed(ended(), ignore)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("a relaxed access with an ended context: %v", err)
		}
		return err != nil
	}
	for _, m := range []Mode{Read, Write} {
		for _, later := range []Mode{Read, Write} {
			r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
			var held, due, guest, behind, after Place
			fine(t, held.Request(r, m))
			fine(t, held.Acquire(background))
			fine(t, due.Request(r, m))
			if m == Read {
				fine(t, guest.Request(r, m)) // its coming and going does not admit a relaxed access while the others hold
			}
			fine(t, behind.Request(r, Write))
			if !shut(r) {
				t.Fatal("relaxed access beside a place that holds")
			}
			fine(t, after.Request(r, later))
			fine(t, behind.Cancel())
			if m == Read {
				fine(t, guest.Acquire(background))
				g := r.guard.Load()
				g.word.Add(oneRelaxed) // a relaxed access that waits longer
				fine(t, guest.Release())
				g.word.Add(^uint64(oneRelaxed - 1))
				if !shut(r) {
					t.Error("relaxed access beside a place that holds")
				}
			}
			fine(t, held.Release())
			fine(t, due.Acquire(background)) // it is a writer, so it proves that no stray is left
			if !shut(r) {
				t.Error("relaxed access beside a place that holds")
			}
			fine(t, due.Renew())
			if shut(r) {
				t.Error("no relaxed access though no stray is left")
			}
			fine(t, after.Acquire(background))
			fine(t, after.Release())
			fine(t, due.Acquire(background))
			fine(t, due.Release())
			if shut(r) {
				t.Error("no relaxed access in the end")
			}
		}
	}
}

// enactor is a lock that records what the FIFO does with it. It is always free.
type enactor struct {
	Relaxed
	deeds   string
	during  func() // runs during an acquire
	busy    bool   // tries fail
	relaxed int
}

func (s *enactor) note(deed string) {
	s.deeds += deed
	if f := s.during; f != nil {
		s.during = nil
		f()
	}
}

func (s *enactor) Acquire(context.Context) error {
	s.note("W")
	return nil
}

func (s *enactor) AcquireRead(context.Context) error {
	s.note("R")
	return nil
}

func (s *enactor) Release()                           { s.note("w") }
func (s *enactor) ReleaseRead()                       { s.note("r") }
func (s *enactor) Unlock()                            { s.relaxed-- }
func (s *enactor) RUnlock()                           { s.relaxed-- }
func (s *enactor) RLockContext(context.Context) error { return s.LockContext(background) }
func (s *enactor) TryRLock() bool                     { return s.TryLock() }
func (s *enactor) TryLock() bool {
	if !s.busy {
		s.relaxed++
	}
	return !s.busy
}

func (s *enactor) LockContext(context.Context) error {
	s.note("")
	s.relaxed++
	return nil
}

// staged is a resource with such a lock, opened.
func staged(t testing.TB, tl int) (*Resource, *enactor) {
	t.Helper()
	r, err := New("r", 0)
	fine(t, err)
	s := new(enactor)
	fine(t, r.allow(RelaxedOptions{TL: tl, Guard: func(string) (Guard, error) { return Guard{Ordered: s, Relaxed: s}, nil }}))
	fine(t, r.Open(background))
	return r, s
}

// turn is a bed without sleep: ParkUntil runs a function that ends the wait.
type turn struct {
	meanwhile func()
	parked    func()
}

func (b *turn) Init(parked func()) { b.parked = parked }
func (b *turn) ParkUntil(context.Context, func()) {
	b.parked()
	b.meanwhile()
}
func (b *turn) Unpark() {}

// The FIFO gives the lock up after exactly T_L grants while a relaxed access waits, and
// not at all while none waits.
func TestTL(t *testing.T) {
	for _, tl := range []int{1, 2, 3, 50, mostRun} {
		r, s := staged(t, tl)
		g := r.guard.Load()
		var places [2]Place
		before := "" // the events before a woken place goes on
		for i := range places {
			other := &places[1-i]
			places[i].sleepIn(&turn{meanwhile: func() {
				fine(t, other.Renew())
				if g.word.Load()&relaxedMask != 0 {
					g.revoke() // another relaxed access
				}
				before = s.deeds
			}})
			fine(t, places[i].Request(r, Write))
		}
		fine(t, places[0].Acquire(background))
		grants := 1
		next := func() {
			grants++
			fine(t, places[(grants-1)%2].Acquire(background)) // the other renews meanwhile
		}
		for range 5 {
			next()
		}
		if s.deeds != "W" {
			t.Fatalf("no relaxed access waits, and the FIFO does %s", s.deeds)
		}
		for grants < tl+2 {
			next()
		}
		g.word.Add(oneRelaxed)
		s.deeds = ""
		next() // ends the tenure, which has been long enough
		if s.deeds != "wW" || before != "w" {
			t.Fatalf("T_L %d: a relaxed access waits after %d grants, and the FIFO does %q", tl, grants, s.deeds)
		}
		for round := range 3 {
			s.deeds = ""
			for i := 1; i < tl; i++ {
				next()
				if s.deeds != "" {
					t.Fatalf("T_L %d: the FIFO does %q after %d grants", tl, s.deeds, i)
				}
			}
			next()
			if s.deeds != "wW" || before != "w" {
				t.Fatalf("T_L %d, round %d: the FIFO does %q after T_L grants", tl, round, s.deeds)
			}
		}
	}
}

// After a release that wakes no successor, the FIFO keeps or gives up the lock, by its
// mode.
func TestTenure(t *testing.T) {
	r, s := staged(t, 3)
	g := r.guard.Load()
	access := func(m Mode, want string) {
		t.Helper()
		var p Place
		fine(t, p.Request(r, m))
		fine(t, p.Acquire(background))
		fine(t, p.Release())
		if s.deeds != want {
			t.Errorf("%s: the FIFO does %q, want %q", m, s.deeds, want)
		}
		s.deeds = ""
	}
	access(Read, "R")
	access(Read, "")
	access(Write, "rW")
	access(Read, "") // owned for writing serves readers, too
	access(Write, "")
	g.word.Add(oneRelaxed)
	g.revoke()
	if s.deeds != "w" {
		t.Errorf("a relaxed access makes the FIFO do %q", s.deeds)
	}
	s.deeds = ""
	access(Read, "Rr")
	access(Write, "Ww")
	g.word.Add(^uint64(oneRelaxed - 1))
	access(Write, "W")
	access(Write, "")

	// A group of readers shares the lock.
	var a, b Place
	g.word.Add(oneRelaxed)
	g.revoke()
	s.deeds = ""
	for _, p := range []*Place{&a, &b} {
		fine(t, p.Request(r, Read))
		fine(t, p.Acquire(background))
	}
	fine(t, a.Release())
	if s.deeds != "R" {
		t.Errorf("two readers make the FIFO do %q", s.deeds)
	}
	fine(t, b.Release())
	if s.deeds != "Rr" {
		t.Errorf("two readers make the FIFO do %q", s.deeds)
	}

	// A lock for reading is no use to a writer that the reader wakes.
	fine(t, a.Request(r, Read))
	fine(t, a.Acquire(background))
	fine(t, b.Request(r, Read))
	var w Place
	w.sleepIn(&turn{meanwhile: func() {
		fine(t, b.Cancel())
		s.deeds = ""
		fine(t, a.Release())
		if s.deeds != "r" {
			t.Errorf("a reader that wakes a writer makes the FIFO do %q", s.deeds)
		}
	}})
	fine(t, w.Request(r, Write))
	fine(t, w.Acquire(background))
	fine(t, w.Release())
}

// A place that comes to the guard while another one takes the lock.
func TestBusy(t *testing.T) {
	for _, test := range []struct {
		name  string
		sleep func(r *Resource, q *Place) // while q sleeps
		then  func(t *testing.T, r *Resource, q *Place)
	}{
		{name: "it gives up", then: func(t *testing.T, r *Resource, q *Place) {
			for range 2 {
				if err := q.Acquire(ended()); !errors.Is(err, context.Canceled) {
					t.Errorf("acquired while another is at it: %v", err)
				}
				if q.Granted() {
					t.Error("tests as granted")
				}
			}
			told := false
			fine(t, q.Notify(func() { told = true }))
			if !told {
				t.Error("it is its turn, and it is not told")
			}
			fine(t, q.Cancel())
			g := r.guard.Load()
			if g.list.Load() != nil {
				t.Error("a waiter that has given up is still listed")
			}
			// A slow waker has taken the waiter out already.
			fine(t, q.Request(r, Read))
			_ = q.Acquire(ended())
			taken := g.list.Swap(nil)
			fine(t, q.Cancel())
			if q.w == taken {
				t.Error("a waiter is used again before it is left alone")
			}
		}},
		{name: "the resource breaks", sleep: func(r *Resource, _ *Place) { r.Break(errors.New("gone")) },
			then: func(t *testing.T, _ *Resource, q *Place) {
				if err := q.Acquire(background); !errors.Is(err, ErrBroken) {
					t.Errorf("acquired what is broken: %v", err)
				}
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, s := staged(t, 1)
			var p, q Place
			fine(t, p.Request(r, Read))
			fine(t, q.Request(r, Read))
			q.sleepIn(&turn{meanwhile: func() {
				if test.sleep != nil {
					test.sleep(r, &q)
				}
			}})
			s.during = func() { test.then(t, r, &q) }
			fine(t, p.Acquire(background))
			if s.during != nil {
				t.Error("nothing has happened")
			}
			fine(t, p.Release())
		})
	}
}

// A waiter or a member that comes just after Break has looked around still ends.
func TestBreakOvertaken(t *testing.T) {
	r, s := staged(t, 3)
	r.Break(errors.New("gone"))
	g := newGuard(r, Guard{Ordered: s, Relaxed: s}, 3)
	w := newWaiter(nil)
	g.line(w, modeMask, opening)
	if w.state() != granted {
		t.Error("listed after the resource broke, and no wake-up will come")
	}
	g.word.Store(writing | passing | oneRun | oneRelaxed)
	g.decide(1)
	if s.deeds != "w" {
		t.Error("the lock is kept for a successor, but that one learns that the resource is broken")
	}
}

// A resource may break while a relaxed access waits.
func TestBrokenWhileKnocking(t *testing.T) {
	for _, m := range []Mode{Read, Write} {
		r, s := staged(t, 1)
		var p Place
		fine(t, p.Request(r, Write))
		fine(t, p.Acquire(background))
		fine(t, p.Release())
		s.busy = true
		s.during = func() { r.Break(errors.New("gone")) }
		err := error(nil)
		inside := func([]byte) error { t.Error("inside"); return nil }
		if m == Write {
			err = r.WriteRelaxed(background, inside)
		} else {
			err = r.ReadRelaxed(background, inside)
		}
		if !errors.Is(err, ErrBroken) || s.relaxed != 0 {
			t.Errorf("%s: %v, and %d hold the lock", m, err, s.relaxed)
		}
	}
}

// A broken lock breaks the resource, from either side of the guard.
func TestGuardBroken(t *testing.T) {
	r, f := hinged(t, "RMA-RW", RelaxedOptions{})
	fine(t, r.Open(background))
	f.Close()
	var p Place
	fine(t, p.Request(r, Write))
	for range 2 {
		if err := p.Acquire(background); !errors.Is(err, ErrBroken) || !errors.Is(err, locks.ErrBroken) {
			t.Errorf("an ordered access: %v", err)
		}
	}
	fine(t, p.Cancel())
	if err := r.ReadRelaxed(background, ignore); !errors.Is(err, ErrBroken) {
		t.Errorf("a relaxed access: %v", err)
	}
	r, f = hinged(t, "RMA-RW", RelaxedOptions{})
	fine(t, r.Open(background))
	f.Close()
	if err := r.ReadRelaxed(background, ignore); !errors.Is(err, ErrBroken) || !errors.Is(err, locks.ErrBroken) {
		t.Errorf("a relaxed access: %v", err)
	}
	fine(t, p.Request(r, Write))
	if err := p.Acquire(background); !errors.Is(err, ErrBroken) {
		t.Errorf("an ordered access: %v", err)
	}
}

// Break wakes waiters of ordered and relaxed access, and holders may still leave.
func TestBreakWithGuard(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	var held Place
	fine(t, held.Request(r, Write))
	fine(t, held.Acquire(background))
	gone := errors.New("gone")
	var all sync.WaitGroup
	var told atomic.Int32
	for range 3 {
		all.Go(func() {
			if err := r.WriteRelaxed(background, ignore); errors.Is(err, ErrBroken) && errors.Is(err, gone) {
				told.Add(1)
			}
		})
	}
	for listed := 0; listed < 3; {
		runtime.Gosched()
		if g := r.guard.Load(); g != nil {
			listed = 0
			for w := g.list.Load(); w != nil; w = w.next {
				listed++
			}
		}
	}
	r.Break(gone)
	all.Wait()
	if told.Load() != 3 {
		t.Errorf("%d of 3 relaxed accesses are told", told.Load())
	}
	fine(t, held.Release())
}

// If Granted has entered, Acquire does not wait.
func TestGrantedHolds(t *testing.T) {
	for _, m := range []Mode{Read, Write} {
		r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
		fine(t, r.Open(background))
		var p Place
		fine(t, p.Request(r, m))
		fine(t, r.WriteRelaxed(background, func([]byte) error {
			if p.Granted() {
				t.Error("tests as granted while another writes")
			}
			return nil
		}))
		for range 2 {
			if !p.Granted() {
				t.Fatal("tests as not granted, and nobody is there")
			}
		}
		if err := r.WriteRelaxed(ended(), ignore); err == nil {
			t.Error("relaxed access beside a place that tests as granted")
		}
		fine(t, p.Acquire(ended()))
		fine(t, p.Renew())
		if !p.Granted() {
			t.Fatal("tests as not granted, and nobody is there")
		}
		fine(t, p.Cancel())
		fine(t, r.WriteRelaxed(background, ignore))
	}
}

// An acquire whose context ends at the guard leaves the request as it was.
func TestAcquireEndsAtGuard(t *testing.T) {
	r, _ := hinged(t, "foMPI-RW", RelaxedOptions{})
	fine(t, r.Open(background))
	var p, q Place
	fine(t, p.Request(r, Read))
	fine(t, q.Request(r, Read))
	fine(t, r.WriteRelaxed(background, func([]byte) error {
		for range 2 {
			err := p.Acquire(ended())
			var e *PlaceError
			if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || !p.Requested() {
				t.Errorf("an acquire that must not wait: %v", err)
			}
		}
		return nil
	}))
	fine(t, p.Acquire(background))
	fine(t, q.Acquire(background))
	fine(t, p.Release())
	fine(t, q.Release())
}

// TestRelaxedRace has ordered and relaxed access by many goroutines. The race detector
// looks on.
func TestRelaxedRace(t *testing.T) {
	const goroutines, turns = 4, 400
	for _, name := range []string{"RMA-RW", "foMPI-RW"} {
		t.Run(name, func(t *testing.T) {
			r, _ := hinged(t, name, RelaxedOptions{TL: 3})
			writes := atomic.Int64{}
			count := func(b []byte) error {
				a, c := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
				if a != c {
					t.Errorf("a writer finds %d and %d", a, c)
				}
				binary.NativeEndian.PutUint64(b, a+1)
				binary.NativeEndian.PutUint64(b[8:], c+1)
				writes.Add(1)
				return nil
			}
			look := func(b []byte) error {
				if a, c := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:]); a != c {
					t.Errorf("a reader finds %d and %d", a, c)
				}
				return nil
			}
			var all sync.WaitGroup
			for i := range goroutines {
				all.Go(func() { // a pair
					var p Place
					m := Mode(i % 2)
					fine(t, p.Request(r, m))
					for k := range turns {
						ctx := background
						if k%16 == 5 {
							ctx = ended()
						}
						for p.Acquire(ctx) != nil {
							ctx = background
						}
						if m == Write {
							_ = count(r.buffer.Bytes())
						} else {
							_ = look(r.buffer.Bytes())
						}
						fine(t, p.Renew())
					}
					fine(t, p.Cancel())
				})
				all.Go(func() {
					for k := range turns {
						switch {
						case k%16 == 7:
							_ = r.ReadRelaxed(ended(), look)
						case k%8 == 3:
							fine(t, r.WriteRelaxed(background, count))
						default:
							fine(t, r.ReadRelaxed(background, look))
						}
					}
				})
			}
			all.Wait()
			if n := binary.NativeEndian.Uint64(r.buffer.Bytes()); int64(n) != writes.Load() {
				t.Errorf("%d writes, and %d are left", writes.Load(), n)
			}
		})
	}
}
