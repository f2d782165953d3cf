package locks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orwl/go-orwl/locks"
)

//lint:file-ignore SA2001 sections are empty so that nothing but the lock is measured

// uncontended measures acquire and release by one goroutine, again and again.
func uncontended(r *report) {
	for _, spec := range locks.All() {
		if !selected(spec.Name) {
			continue
		}
		machine, most := uncontendedTarget(spec)
		m := fresh(r.B, spec.Name, machine, locks.Options{})[0]
		r.hot(spec.Name+" on "+machine, most, "sync.Mutex", mutexHot(), func(n int) {
			ctx := context.Background()
			for range n {
				must(m.Acquire(ctx))
				m.Release()
			}
		})
		if rw, ok := m.(locks.RWMutex); ok {
			most := 0.0
			if spec.Name == "RMA-RW" {
				most = 2
			}
			r.hot(spec.Name+" reader on "+machine, most, "sync.RWMutex reader", readerHot(), func(n int) {
				ctx := context.Background()
				for range n {
					must(rw.AcquireRead(ctx))
					rw.ReleaseRead()
				}
			})
		}
	}
}

// uncontendedTarget is the machine on which a lock is measured, and the target: the
// largest ratio to a sync.Mutex, or zero for no target.
func uncontendedTarget(spec locks.Spec) (machine string, most float64) {
	const flat, twoLevels = "core:4", "node:2 core:2"
	switch {
	case spec.Name == "D-MCS":
		return flat, 5
	case spec.Name == "RMA-MCS":
		return twoLevels, 12
	case spec.Name == "HMCS":
		return twoLevels, 4
	case strings.HasPrefix(spec.Name, "C-"):
		return twoLevels, 3.5
	case spec.Kind == locks.ReaderWriter:
		return twoLevels, 0
	case slices.Contains([]string{"MCS", "CLH", "HEM", "TKT"}, spec.Name):
		return flat, 2
	}
	return flat, 0
}

func mutexHot() func(n int) {
	var m sync.Mutex
	return func(n int) {
		for range n {
			m.Lock()
			m.Unlock()
		}
	}
}

func readerHot() func(n int) {
	var m sync.RWMutex
	return func(n int) {
		for range n {
			m.RLock()
			m.RUnlock()
		}
	}
}

// hot compares the time of one repetition of do with one of peerDo.
func (r *report) hot(what string, most float64, peer string, peerDo, do func(n int)) {
	const n = 100_000
	once := func(do func(n int)) func() figure {
		return func() figure {
			begin := time.Now()
			do(n)
			return figure{value: float64(time.Since(begin).Nanoseconds()) / n}
		}
	}
	m := inTurns(3*(*ratioTurns), once(peerDo), once(do))
	target := ""
	if most > 0 {
		target = fmt.Sprintf("≤ %g", most)
	}
	r.row(what, ns(m[1].value), peer+" "+ns(m[0].value), times(m[1].ratio), target, m[1].ratio <= most)
}
