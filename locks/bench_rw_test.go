package locks_test

import (
	"context"
	"fmt"
	"slices"
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

//lint:file-ignore SA2001 sections are empty so that nothing but the lock is measured

// competitors are the numbers of goroutines or processes that compete.
var competitors = []int{2, 8, 32}

// The targets of a FIFO lock.
const (
	leastRate  = 1.0  // least rate, in rates of the channel
	mostSpread = 0.05 // largest coefficient of variation between its goroutines
	leastKept  = 0.5  // least share of its rate that it keeps with more goroutines, in shares of the channel
)

// fifo measures FIFO locks with empty sections, so that it measures only the hand-over.
// The peer is a channel of capacity 1, which serves its senders in FIFO order. Two more
// rows are for comparison. sync.Mutex is not fair. Goroutines that share nothing show the
// coefficient of variation of the machine itself.
func fifo(r *report) {
	r.fifo("Nothing shared", false, func(n int) (do []func()) {
		for range n {
			own := new(struct {
				word uint64
				_    [120]byte
			})
			do = append(do, func() { atomic.AddUint64(&own.word, 1); atomic.AddUint64(&own.word, 1) })
		}
		return do
	})
	r.fifo("sync.Mutex", false, func(n int) []func() {
		var m sync.Mutex
		return slices.Repeat([]func(){func() { m.Lock(); m.Unlock() }}, n)
	})
	for _, spec := range locks.All() {
		if !spec.FIFO || !selected(spec.Name) {
			continue
		}
		r.fifo(spec.Name, true, func(n int) []func() {
			return sections(fresh(r.B, spec.Name, fmt.Sprintf("core:%d", n), locks.Options{}))
		})
	}
	for _, name := range []string{"MCS", "TKT"} {
		if selected(name) {
			r.besideOthers(name)
		}
	}
}

// besideOthers measures a lock whose goroutines also compute between their sections.
// Other goroutines compute all the time.
func (r *report) besideOthers(name string) {
	const n, others = 8, 4
	work := func(once func()) func() {
		sum := 0
		return func() {
			once()
			for i := range 300 {
				sum += i
			}
		}
	}
	crowd := func(section func(i int) func()) func() figure {
		var do []func()
		for i := range n {
			do = append(do, work(section(i)))
		}
		return func() figure {
			var over atomic.Bool
			var all sync.WaitGroup
			for range others {
				all.Go(func() {
					for !over.Load() {
					}
				})
			}
			defer all.Wait()
			defer over.Store(true)
			return contend(do, *ratioTurn)
		}
	}
	channel := make(chan struct{}, 1)
	ours := sections(fresh(r.B, name, fmt.Sprintf("core:%d", n), locks.Options{}))
	m := inTurns(*ratioTurns,
		crowd(func(int) func() { return func() { channel <- struct{}{}; <-channel } }),
		crowd(func(i int) func() { return ours[i] }))
	r.row(fmt.Sprintf("%s, %d goroutines that do other things, beside %d that compute", name, n, others),
		million(m[1].figure), "channel "+million(m[0].figure), times(m[1].ratio), "", true)
}

// sections are empty sections, one for each rank of a lock.
func sections(sides []locks.Mutex) (do []func()) {
	ctx := context.Background()
	for _, m := range sides {
		do = append(do, func() {
			if m.Acquire(ctx) != nil {
				panic(cannotFail)
			}
			m.Release()
		})
	}
	return do
}

// fifo prints the rows of one lock.
func (r *report) fifo(name string, promised bool, sections func(n int) []func()) {
	target, keep := "", ""
	if promised {
		target = fmt.Sprintf("≥ %g, cv ≤ %g", leastRate, mostSpread)
		keep = fmt.Sprintf("≥ %g", leastKept)
	}
	var channels, rates []float64
	for _, n := range competitors {
		channel := make(chan struct{}, 1)
		turn := *ratioTurn
		if n == 2 {
			turn *= 5 // while one goroutine is away from the lock, the other runs alone, several times as fast
		}
		peer := slices.Repeat([]func(){func() { channel <- struct{}{}; <-channel }}, n)
		ours := sections(n)
		m := inTurns(*ratioTurns,
			func() figure { return contend(peer, turn) },
			func() figure { return contend(ours, turn) })
		r.row(fmt.Sprintf("%s, %d goroutines", name, n), million(m[1].figure), "channel "+million(m[0].figure),
			times(m[1].ratio), target, m[1].ratio >= leastRate && m[1].spread <= mostSpread)
		channels, rates = append(channels, m[0].value), append(rates, m[1].value)
	}
	kept, channelKept := slices.Min(rates)/rates[0], slices.Min(channels)/channels[0]
	r.row(name+", share of the rate with 2 that it keeps", times(kept), "channel "+times(channelKept),
		times(kept/channelKept), keep, kept/channelKept >= leastKept)
}
