package fair

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl"
)

// lockTurn is how long goroutines compete in a turn.
const lockTurn = 20 * time.Millisecond

// lockCases are short sections of goroutines that compete, or of a single one. Each goroutine has a rank.
func lockCases() (all []Case) {
	for _, n := range []int{1, 2, 8, 32} {
		all = append(all, Case{
			Name: fmt.Sprintf("locks-%d", n), Unit: "ns of processors for a section",
			Work: fmt.Sprintf("%d goroutines that add one to a word under a lock, again and again", n),
			Open: func(context.Context, *Shop) (all []Contender, err error) {
				for _, name := range []string{"MCS", "HEM", "CLH", "TKT", "TWA", "Reciprocating", "TTS", "MCSCR", "CNA", "ALock", "DecLock", "ShiftLock", "C-MCS-HEM", "HMCS", "CLoF-MCS-HEM-Reciprocating"} {
					all = append(all, lockOfRanks(name, n))
				}
				for _, name := range []string{"MCS", "Reciprocating"} {
					all = append(all, lockOfGoroutines(name, n))
				}
				return append(all, mutex(n), channel(n)), nil
			},
		})
	}
	return all
}

// section is what a goroutine does again and again: it acquires, does the work and releases.
type section func(work func()) error

// lockOfRanks is a lock of the table. A lock with levels sees two nodes.
func lockOfRanks(name string, n int) Contender {
	return Contender{name, "a rank for each goroutine", func(ctx context.Context) (float64, error) {
		spec, _ := locks.ByName(name)
		tree := topology.Flat(n)
		if n > 1 && spec.Options != nil {
			var err error
			if tree, err = topology.Parse(fmt.Sprintf("node:2 core:%d", n/2)); err != nil {
				return 0, err
			}
		}
		f, err := mem.New(mem.Options{Topology: tree})
		if err != nil {
			return 0, err
		}
		defer f.Close()
		l, err := spec.New(f, locks.Options{})
		if err != nil {
			return 0, err
		}
		var all []section
		for p := range n {
			w, err := f.Window(locks.Rank(p))
			if err != nil {
				return 0, err
			}
			m := l.At(w)
			all = append(all, func(work func()) error {
				if err := m.Acquire(ctx); err != nil {
					return err
				}
				work()
				m.Release()
				return nil
			})
		}
		return compete(all)
	}}
}

// lockOfGoroutines is a lock as programs have it, which need no ranks.
func lockOfGoroutines(name string, n int) Contender {
	return Contender{"NewLocker(" + name + ")", "orwl/locker.go", func(context.Context) (float64, error) {
		l, err := orwl.NewLocker(name)
		if err != nil {
			return 0, err
		}
		return compete(sections(n, l))
	}}
}

func mutex(n int) Contender {
	return Contender{"sync.Mutex", "Go", func(context.Context) (float64, error) { return compete(sections(n, new(sync.Mutex))) }}
}

// sections are n times the section of a lock of Go.
func sections(n int, l sync.Locker) (all []section) {
	for range n {
		all = append(all, func(work func()) error {
			l.Lock()
			work()
			l.Unlock()
			return nil
		})
	}
	return all
}

// channel is a channel of capacity 1 as a mutex.
func channel(n int) Contender {
	return Contender{"channel", "Go, of capacity 1", func(context.Context) (float64, error) {
		c := make(chan struct{}, 1)
		var all []section
		for range n {
			all = append(all, func(work func()) error {
				c <- struct{}{}
				work()
				<-c
				return nil
			})
		}
		return compete(all)
	}}
}

// errTogether is the error of a lock that let two goroutines in.
var errTogether = errors.New("fair: two goroutines were inside at a time")

// compete lets goroutines repeat their sections for a turn, and returns how many nanoseconds of
// processors one takes, of all goroutines together. Other programs add little to these.
func compete(all []section) (float64, error) {
	var over atomic.Bool
	var group sync.WaitGroup
	word, counts, errs := 0, make([]int, len(all)), make([]error, len(all))
	work := func() { word++ }
	begin, before := time.Now(), spent()
	for g, once := range all {
		group.Go(func() {
			n, err := 0, error(nil)
			for ; err == nil && !over.Load(); n++ {
				err = once(work)
			}
			counts[g], errs[g] = n, err
		})
	}
	<-time.After(lockTurn)
	over.Store(true)
	group.Wait()
	took, sum := time.Since(begin), 0
	if own := spent() - before; own > 0 {
		took = own
	}
	for _, n := range counts {
		sum += n
	}
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if sum != word {
		return 0, fmt.Errorf("%w: %d sections have made %d additions", errTogether, sum, word)
	}
	return float64(took.Nanoseconds()) / float64(sum), nil
}
