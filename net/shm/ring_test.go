//go:build linux

package shm

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// station is one rank's place in a ring in which a token goes round: pass waits
// for it in its lap, and hands it on.
type station interface{ pass(lap uint32) }

// windowStation uses Await and Put.
type windowStation struct {
	w     rma.Window
	token rma.Disp
	ranks int
}

func (s windowStation) pass(lap uint32) {
	if _, err := s.w.Await(background, s.w.Rank(), s.token, rma.AtLeast(uint64(lap))); err != nil {
		panic(err)
	}
	next := rma.Rank((int(s.w.Rank()) + 1) % s.ranks)
	if next == 0 {
		lap++
	}
	s.w.Put(next, s.token, uint64(lap))
	s.w.Flush(next)
}

// futexStation uses the system call alone.
type futexStation struct {
	mine, next *atomic.Uint32
	last       bool
}

func (s futexStation) pass(lap uint32) {
	for v := s.mine.Load(); v < lap; v = s.mine.Load() {
		futexWait(s.mine, v)
	}
	if s.last {
		lap++
	}
	s.next.Store(lap)
	futexWake(s.next)
}

const spacing = 32 // futexes to a station: cache lines of its own

// stations are the places of rank p in two rings.
func stations(f *Fabric, p rma.Rank, token, words rma.Disp) ([2]station, error) {
	ranks := f.Topology().Ranks()
	w, err := f.Window(p)
	if err != nil {
		return [2]station{}, err
	}
	raw := futexes(f, words, ranks*spacing)
	next := (int(p) + 1) % ranks
	return [2]station{
		windowStation{w, token, ranks},
		futexStation{&raw[int(p)*spacing], &raw[next*spacing], next == 0},
	}, nil
}

// circulate makes ranks of this process pass both tokens for as many laps, some
// of the one and then some of the other. It returns the time that each took.
func circulate(f *Fabric, token, words rma.Disp, first rma.Rank, each, laps int) (spent [2]time.Duration, err error) {
	const turn = 10
	var group sync.WaitGroup
	for i := range each {
		places, err := stations(f, first+rma.Rank(i), token, words)
		if err != nil {
			return spent, err
		}
		group.Go(func() {
			for done := 0; done < laps; done += turn {
				for kind, place := range places {
					begin := time.Now()
					for lap := done; lap < min(laps, done+turn); lap++ {
						place.pass(uint32(lap) + 1)
					}
					if i == 0 {
						spent[kind] += time.Since(begin)
					}
				}
			}
		})
	}
	group.Wait()
	return spent, nil
}

// circulating is a process whose ranks do.
var circulating = role("circulating", func(a *actor) error {
	token, words := a.words(1), a.words(a.Topology().Ranks()*spacing)
	a.own()
	a.ready()
	if err := a.told(); err != nil {
		return err
	}
	_, err := circulate(a.Fabric, token, words, a.rank, a.int(0), a.int(1))
	return err
})

// BenchmarkRing passes a token round many ranks, and in the same run, in turns,
// round as many that use futexes alone. If waiting ranks leave the processors to others,
// a hand-over with 32 processes costs little more than with 8. Ranks that share a process
// use its waker.
func BenchmarkRing(b *testing.B) {
	for _, shape := range []struct{ processes, each int }{{2, 1}, {8, 1}, {32, 1}, {1, 8}, {2, 4}} {
		b.Run(fmt.Sprintf("processes=%d/ranks-in-each=%d", shape.processes, shape.each), func(b *testing.B) {
			benchmarkRing(b, shape.processes, shape.each)
		})
	}
}

func benchmarkRing(b *testing.B, processes, each int) {
	ranks := processes * each
	f := create(b, ranks)
	token, words := alloc(b, f, 1), alloc(b, f, ranks*spacing)
	var peers []*peer
	for p := 1; p < processes; p++ {
		peers = append(peers, spawn(b, f, circulating, rma.Rank(p*each), each, b.N))
	}
	for _, p := range peers {
		p.ready()
	}
	for _, p := range peers {
		p.tell()
	}
	window(b, f, 0).Put(0, token, 1)
	futexes(f, words, 1)[0].Store(1)
	spent, err := circulate(f, token, words, 0, each, b.N)
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range peers {
		p.end()
	}
	handOvers := float64(b.N * ranks)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(spent[0])/handOvers, "window-ns/hand-over")
	b.ReportMetric(float64(spent[1])/handOvers, "futex-ns/hand-over")
	b.ReportMetric(float64(spent[0])/float64(spent[1]), "of-futex")
}
