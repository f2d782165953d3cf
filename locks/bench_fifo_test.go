package locks_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/locks"
)

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
