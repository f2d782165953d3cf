package orwl_test

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// rate is what a contender reaches in a turn.
type rate struct {
	perSecond float64
	cv        float64 // of what its goroutines got
}

// rates has a rate for each turn.
type rates []rate

func (r rates) median() float64 {
	return medianOf(len(r), func(i int) float64 { return r[i].perSecond })
}
func (r rates) spread() float64 { return medianOf(len(r), func(i int) float64 { return r[i].cv }) }

// ratioTo is the median of the ratios of the same turn.
func (r rates) ratioTo(peer rates) float64 {
	return medianOf(len(r), func(i int) float64 { return r[i].perSecond / peer[i].perSecond })
}

func medianOf(n int, value func(i int) float64) float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = value(i)
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func ratesInTurns(contenders []func() rate) []rates {
	all := make([]rates, len(contenders))
	for turn := range *ratioTurns {
		now := make(rates, len(contenders))
		for i := range contenders {
			i = (i + turn) % len(contenders)
			now[i] = contenders[i]()
		}
		for i, r := range now {
			all[i] = append(all[i], r)
		}
	}
	return all
}

// worker works until stage is over. It returns how often it worked while stage was
// counting, and a value that keeps the compiler from removing the work.
type worker func(stage *atomic.Uint64) (n, x uint64)

// crowdOf is a turn of n goroutines.
func crowdOf(n int, work worker) rate {
	var stage atomic.Uint64
	var here, all sync.WaitGroup
	here.Add(n)
	counts := make([]float64, n)
	for g := range n {
		all.Go(func() {
			here.Done()
			done, x := work(&stage)
			kept.Store(x)
			counts[g] = float64(done)
		})
	}
	here.Wait()
	<-time.After(*ratioTurn / 5)
	begin := time.Now()
	stage.Store(counting)
	<-time.After(*ratioTurn)
	took := time.Since(begin)
	stage.Store(over)
	all.Wait()
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += c
	}
	for _, c := range counts {
		squares += (c - sum/float64(n)) * (c - sum/float64(n))
	}
	return rate{sum / took.Seconds(), math.Sqrt(squares/float64(n-1)) / (sum / float64(n))}
}

var kept atomic.Uint64

// workFor computes for a number of steps, and uses no memory.
func workFor(steps int, x uint64) uint64 {
	for range steps {
		x = x*0x5851f42d4c957f2d + 1
	}
	return x
}

// workPerMicrosecond is how many steps of workFor fit in a microsecond: the most of a
// few measurements, because the others were disturbed.
func workPerMicrosecond() (most float64) {
	const steps = 100_000
	for range 50 {
		begin := time.Now()
		kept.Store(workFor(steps, kept.Load()))
		most = max(most, steps/(time.Since(begin).Seconds()*1e6))
	}
	return most
}
