package orwl_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/orwl"
)

// TestLockers counts under every lock of the table.
func TestLockers(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			l, err := orwl.NewLocker(spec.Name)
			if err != nil {
				t.Fatal(err)
			}
			count(t, l)
			rw, err := orwl.NewRWLocker(spec.Name)
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
	if _, err := orwl.NewLocker("sesame"); err == nil {
		t.Error("there is a lock called sesame")
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
	mu, err := orwl.NewLocker("MCS") // was: mu := new(sync.Mutex)
	if err != nil {
		fmt.Println(err)
		return
	}
	mu.Lock()
	fmt.Println("alone")
	mu.Unlock()
	// Output: alone
}
