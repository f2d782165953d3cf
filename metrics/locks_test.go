package metrics

import (
	"errors"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/orwl"
)

// A lock's ranks are added up, and may be looked at while others use it.
func TestLocks(t *testing.T) {
	m, registry := made(t, Options{})
	k, err := orwl.NewLocker("MCS")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Lock("table", k.Algorithm(), k.Counts); err != nil {
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

func TestVariation(t *testing.T) {
	of := func(acquired ...uint64) (all []locks.Counts) {
		for _, n := range acquired {
			all = append(all, locks.Counts{Acquired: n})
		}
		return all
	}
	for _, c := range []struct {
		ranks []locks.Counts
		want  float64
	}{{nil, 0}, {of(0, 0), 0}, {of(5, 5, 0), 0}, {of(1, 3), 0.5}} {
		if got := variation(c.ranks); got != c.want {
			t.Errorf("%v: %v, want %v", c.ranks, got, c.want)
		}
	}
}
