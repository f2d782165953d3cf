package tally_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/internal/tally"
)

// step changes both halves of a count by the same amount, so that a torn value shows.
const step = 1<<32 + 1

// reader checks what one goroutine loads.
type reader struct{ last uint64 }

func (r *reader) see(n uint64) error {
	if n>>32 != n&(1<<32-1) {
		return fmt.Errorf("%#x is a mixture of two values", n)
	}
	if n < r.last {
		return fmt.Errorf("%#x comes after %#x", n, r.last)
	}
	r.last = n
	return nil
}

// TestReader shows that the check can fail.
func TestReader(t *testing.T) {
	for name, values := range map[string][]uint64{
		"torn": {3*step + 1},
		"back": {3 * step, 2 * step},
	} {
		var r reader
		var err error
		for _, n := range values {
			err = r.see(n)
		}
		if err == nil {
			t.Errorf("%s: the check accepts %#x", name, values)
		}
	}
}

// TestReadersSeeItGrow has readers look on while a goroutine counts, and then another
// one after it.
func TestReadersSeeItGrow(t *testing.T) {
	const writers, adds = 2, 200_000
	var c tally.Count
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var r reader
			for last := false; !last; {
				last = done.Load() // then the next value is the total
				if err := r.see(c.Load()); err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
			}
			if want := uint64(writers * adds * step); r.last != want {
				t.Errorf("the last value is %#x, want %#x", r.last, want)
			}
		})
	}
	for range writers {
		var writer sync.WaitGroup
		writer.Go(func() {
			for n := range adds {
				c.Add(step)
				if n%100 == 0 {
					runtime.Gosched()
				}
			}
		})
		writer.Wait()
	}
	done.Store(true)
	readers.Wait()
}

func TestWriter(t *testing.T) {
	var c tally.Count
	c.Inc()
	c.Add(5)
	if c.Own() != 6 || c.Load() != 6 {
		t.Errorf("1 + 5 is %d for the writer and %d for others, want 6", c.Own(), c.Load())
	}
	c.Set(2)
	if c.Own() != 2 || c.Load() != 2 {
		t.Errorf("set to 2, it is %d for the writer and %d for others", c.Own(), c.Load())
	}
}
