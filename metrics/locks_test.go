package metrics

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl"
)

// A lock's ranks are added up, and may be looked at while others use it.
func TestLocks(t *testing.T) {
	m, registry := made(t, Options{})
	k, err := orwl.NewLocker("MCS")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Locker("table", k); err != nil {
		t.Fatal(err)
	}
	const goroutines, times = 4, 1000
	inside := 0
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range times {
				k.Lock()
				inside++
				k.Unlock()
			}
		})
	}
	value(t, registry, "orwl_lock_acquisitions_total", "lock=table")
	all.Wait()
	if inside != goroutines*times {
		t.Errorf("%d times inside, want %d", inside, goroutines*times)
	}
	if got := value(t, registry, "orwl_lock_acquisitions_total", "lock=table", "algorithm=MCS"); got != goroutines*times {
		t.Errorf("%v acquisitions, want %v", got, goroutines*times)
	}
	for _, name := range []string{"table", ""} {
		if err := m.Lock(name, "MCS", k.Counts); !errors.Is(err, ErrName) {
			t.Errorf("a lock %q: %v, want ErrName", name, err)
		}
	}
}

// A lock for goroutines also tells how often its ranks were waited for, and had the lock.
func TestLocker(t *testing.T) {
	m, registry := made(t, Options{})
	k, err := orwl.NewRWLocker("RMA-RW")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Locker("table", k); err != nil {
		t.Fatal(err)
	}
	const times = 100
	turns := 0
	for range times {
		k.Lock()
		turns++
		k.Unlock()
	}
	if turns != times {
		t.Fatalf("%d turns, want %d", turns, times)
	}
	s := k.Stats()
	for name, want := range map[string]uint64{
		"orwl_lock_acquisitions_total": times, "orwl_lock_kept_total": s.Kept, "orwl_lock_rank_waits_total": s.RankWaits,
	} {
		if got := value(t, registry, name, "lock=table", "algorithm=RMA-RW"); got != float64(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if s.Kept == 0 {
		t.Error("one goroutine alone never finds the lock kept")
	}
}

// A lock that failed an acquisition because it is broken is counted with the broken
// resources.
func TestBrokenLock(t *testing.T) {
	m, registry := made(t, Options{})
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := locks.ByName("MCS")
	l, err := spec.New(f, locks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := lockers.New(l, f)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Lock("table", k.Algorithm(), k.Counts); err != nil {
		t.Fatal(err)
	}
	if got := value(t, registry, "orwl_broken_locks"); got != 0 {
		t.Errorf("%v are broken before", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := k.LockContext(context.Background()); !errors.Is(err, locks.ErrBroken) {
			t.Errorf("Lock: %v, want ErrBroken", err)
		}
	}
	if got := value(t, registry, "orwl_broken_locks"); got != 1 {
		t.Errorf("%v are broken, want 1", got)
	}
}

// busyServer is a server with sessions.
type busyServer struct{}

func (busyServer) Counts() node.SessionCounts {
	return node.SessionCounts{Sessions: 1, Held: 2, Waiting: 3, Opened: 4, Expired: 5, Granted: 6, Lost: 7, Forced: 8}
}

// TestSessions tells what a server counts.
func TestSessions(t *testing.T) {
	m, registry := made(t, Options{})
	m.Sessions(busyServer{})
	for i, name := range []string{
		"orwl_sessions", "orwl_session_locks", "orwl_session_locks", "orwl_sessions_opened_total", "orwl_sessions_expired_total",
		"orwl_session_locks_granted_total", "orwl_session_locks_lost_total", "orwl_session_forced_releases_total",
	} {
		var labels []string
		if name == "orwl_session_locks" {
			labels = []string{[]string{"", "state=held", "state=waiting"}[i]}
		}
		if got := value(t, registry, name, labels...); got != float64(i+1) {
			t.Errorf("%s %v is %v, want %d", name, labels, got, i+1)
		}
	}
}
