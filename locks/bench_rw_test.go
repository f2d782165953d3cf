package locks_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/orwl/go-orwl/locks"
)

//lint:file-ignore SA2001 sections are empty so that nothing but the lock is measured

// readerWriter measures goroutines that read, and sometimes write. The peer is
// sync.RWMutex. cv shows the fairness of both. Two more rows are for comparison:
// xsync.RBMutex, the best maintained lock for mostly readers in Go, and foMPI's lock.
func readerWriter(r *report) {
	for _, share := range []struct {
		percent float64
		least   map[int]float64 // of sync.RWMutex's throughput, by goroutines
	}{
		{0.2, map[int]float64{2: 1.2, 8: 1, 32: 1}},
		{2, map[int]float64{2: 0.5, 8: 0.5, 32: 0.5}},
		{20, map[int]float64{2: 0.5, 8: 0.5, 32: 0.5}},
	} {
		for _, n := range competitors {
			r.readerWriter(n, share.percent, share.least[n])
		}
	}
}

func (r *report) readerWriter(n int, percent, least float64) {
	machine := fmt.Sprintf("core:%d", n)
	// T_DC trades readers for writers: the more writers, the fewer counters. With few
	// writers each rank has a counter. Then there are four counters (two for two ranks),
	// and then one.
	tdc := *ratioTDC
	switch {
	case tdc != 0:
	case percent < 1:
		tdc = 1
	case percent < 10:
		tdc = max(1, n/4)
	default:
		tdc = n
	}
	names := []string{"RMA-RW, stepping back", "RMA-RW", "foMPI-RW", "xsync.RBMutex"}
	contenders := []func() figure{
		mixed(n, percent, standardRW()),
		mixed(n, percent, rankRW(fresh(r.B, "RMA-RW", machine, locks.Options{TDC: min(n, tdc), StepBack: true}))),
		mixed(n, percent, rankRW(fresh(r.B, "RMA-RW", machine, locks.Options{TDC: min(n, tdc)}))),
		mixed(n, percent, rankRW(fresh(r.B, "foMPI-RW", machine, locks.Options{}))),
		mixed(n, percent, xsyncRW()),
	}
	m := inTurns(*ratioTurns, contenders...)
	for i, name := range names {
		target := ""
		if i == 0 { // the option is for goroutines that outnumber processors
			target = fmt.Sprintf("≥ %g", least)
		}
		r.row(fmt.Sprintf("%s, F_W %g %%, %d goroutines", name, percent, n), million(m[i+1].figure),
			"sync.RWMutex "+million(m[0].figure), times(m[i+1].ratio), target, m[i+1].ratio >= least)
	}
}

// mixed is a contender whose goroutines write with a probability. loopOf makes the loop of
// each goroutine.
func mixed(n int, percent float64, loopOf func(g int, c *chance) loop) func() figure {
	loops := make([]loop, n)
	for g := range loops {
		loops[g] = loopOf(g, &chance{state: uint64(g+1) * 0x9e3779b97f4a7c15, below: uint64(percent / 100 * (1 << 32))})
	}
	return func() figure { return compete(loops, *ratioTurn) }
}

// chance is a random number generator (xorshift) on cache lines of its own.
type chance struct {
	state, below uint64
	_            [112]byte
}

func (c *chance) happens() bool {
	c.state ^= c.state << 13
	c.state ^= c.state >> 7
	c.state ^= c.state << 17
	return c.state>>32 < c.below
}

// The loops of reader-writer locks read until it is time to write, in empty sections. Each
// loop calls its lock directly, as a program does. A function in between would cost time,
// and not the same time for all: the two atomic instructions in a row that are a section
// of sync.RWMutex would hide it.

func standardRW() func(g int, c *chance) loop {
	m := new(sync.RWMutex)
	return func(_ int, c *chance) loop {
		return func(stage *atomic.Uint64) (n uint64) {
			for s := stage.Load(); s != over; s = stage.Load() {
				for !c.happens() {
					m.RLock()
					m.RUnlock()
					n += s
				}
				m.Lock()
				m.Unlock()
				n += s
			}
			return n
		}
	}
}

func xsyncRW() func(g int, c *chance) loop {
	m := xsync.NewRBMutex()
	return func(_ int, c *chance) loop {
		return func(stage *atomic.Uint64) (n uint64) {
			for s := stage.Load(); s != over; s = stage.Load() {
				for !c.happens() {
					m.RUnlock(m.RLock())
					n += s
				}
				m.Lock()
				m.Unlock()
				n += s
			}
			return n
		}
	}
}

func rankRW(sides []locks.Mutex) func(g int, c *chance) loop {
	ctx := context.Background()
	return func(g int, c *chance) loop {
		m := sides[g].(locks.RWMutex)
		return func(stage *atomic.Uint64) (n uint64) {
			for s := stage.Load(); s != over; s = stage.Load() {
				for !c.happens() {
					if m.AcquireRead(ctx) != nil {
						panic(cannotFail)
					}
					m.ReleaseRead()
					n += s
				}
				if m.Acquire(ctx) != nil {
					panic(cannotFail)
				}
				m.Release()
				n += s
			}
			return n
		}
	}
}
