package orwl

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// TestLockers counts under every lock of the table.
func TestLockers(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			l, err := NewLocker(spec.Name)
			if err != nil {
				t.Fatal(err)
			}
			count(t, l)
			rw, err := NewRWLocker(spec.Name)
			if reads := spec.Kind == locks.ReaderWriter; reads != (err == nil) {
				t.Fatalf("a lock with readers: %t, and NewRWLocker: %v", reads, err)
			}
			if err == nil {
				count(t, rw)
				rw.RLock()
				if rw.TryLock() {
					t.Error("a writer came in beside a reader")
				}
				rw.RUnlock()
			}
		})
	}
	if _, err := NewLocker("sesame"); err == nil {
		t.Error("there is a lock called sesame")
	}
}

// A lock uses the tree that it gets, and hands over inside a socket of it.
func TestLockerTree(t *testing.T) {
	tree, err := topology.Parse("socket:2 core:4")
	if err != nil {
		t.Fatal(err)
	}
	o := lockerOptions{tree: tree, lock: &locks.Options{TL: []int{50, 2}}}
	for _, name := range []string{"C-MCS-HEM", "HMCS"} {
		l, err := newLocker(name, o)
		if err != nil {
			t.Fatal(err)
		}
		l.Lock()
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				l.Lock()
				runtime.Gosched()
				l.Unlock()
			})
		}
		for range 100 {
			runtime.Gosched()
		}
		l.Unlock()
		all.Wait()
		s := l.Stats()
		if s.Acquired != 65 || s.Upper == 0 {
			t.Errorf("%s: %d acquisitions, %d of them beyond the socket", name, s.Acquired, s.Upper)
		}
		if len(l.Counts()) != tree.Ranks() {
			t.Errorf("%s has %d ranks, want %d", name, len(l.Counts()), tree.Ranks())
		}
		t.Logf("%s: %+v", name, s)
	}
	rw, err := newRWLocker("RMA-RW", lockerOptions{tree: tree})
	if err != nil {
		t.Fatal(err)
	}
	count(t, rw)
	if s := rw.Stats(); s.Acquired != 800 || s.Kept == 0 {
		t.Errorf("RMA-RW: %d acquisitions, %d by a rank that had kept the lock", s.Acquired, s.Kept)
	}
	if _, err := newLocker("MCS", lockerOptions{lock: &locks.Options{TR: 1}}); err == nil {
		t.Error("MCS has an option that it does not have")
	}
}

// By default, a lock has a rank for each CPU that the process may use.
func TestLockerDetects(t *testing.T) {
	tree, err := host.Detect()
	if err != nil {
		t.Skip(err)
	}
	l, err := NewLocker("MCS")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(l.Counts()), tree.Ranks(); got != want {
		t.Errorf("%d ranks, want %d", got, want)
	}
}

func count(t *testing.T, l sync.Locker) {
	const goroutines, each = 8, 100
	var all sync.WaitGroup
	n := 0
	for range goroutines {
		all.Go(func() {
			for range each {
				l.Lock()
				n++
				l.Unlock()
			}
		})
	}
	all.Wait()
	if n != goroutines*each {
		t.Errorf("counted %d, want %d", n, goroutines*each)
	}
}

// One line changes which lock a program uses.
func ExampleNewLocker() {
	mu, err := NewLocker("MCS") // was: mu := new(sync.Mutex)
	if err != nil {
		fmt.Println(err)
		return
	}
	mu.Lock()
	fmt.Println("alone")
	mu.Unlock()
	// Output: alone
}
