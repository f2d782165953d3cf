//go:build linux

package shm

import (
	"math"
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/net/rma"
)

// stop ends a ping-pong.
const stop = ^uint64(0)

// player is one side's end of a ping-pong: strike sends v to the other side,
// returned waits for a value that differs from the last one.
type player interface {
	strike(v uint64)
	returned(last uint64) uint64
}

// answer plays until it is told to stop.
func answer(p player) {
	for last := uint64(0); last != stop; {
		last = p.returned(last)
		p.strike(last)
	}
}

// rally plays n round trips, from the value after last.
func rally(p player, last uint64, n int) uint64 {
	for range n {
		p.strike(last + 1)
		last = p.returned(last)
	}
	return last
}

// windowPlayer uses Put and Await: the subject.
type windowPlayer struct {
	w    rma.Window
	ball rma.Disp
}

func (p windowPlayer) strike(v uint64) {
	other := 1 - p.w.Rank()
	p.w.Put(other, p.ball, v)
	p.w.Flush(other)
}

func (p windowPlayer) returned(last uint64) uint64 {
	v, err := p.w.Await(background, p.w.Rank(), p.ball, rma.IsNot(last))
	if err != nil {
		panic(err)
	}
	return v
}

// futexPlayer uses two words of a page and the system call: the floor of
// anything that sleeps.
type futexPlayer struct {
	mine, theirs *atomic.Uint32
}

func (p futexPlayer) strike(v uint64) {
	p.theirs.Store(uint32(v))
	futexWake(p.theirs)
}

func (p futexPlayer) returned(last uint64) uint64 {
	for {
		v := p.mine.Load()
		if v == math.MaxUint32 {
			return stop
		}
		if v != uint32(last) {
			return uint64(v)
		}
		futexWait(p.mine, uint32(last))
	}
}

// socketPlayer uses a Unix domain socket with blocking calls.
type socketPlayer int

func (p socketPlayer) strike(v uint64) {
	if _, err := unix.Write(int(p), (*[8]byte)(unsafe.Pointer(&v))[:]); err != nil {
		panic(err)
	}
}

func (p socketPlayer) returned(uint64) uint64 {
	var v uint64
	if _, err := unix.Read(int(p), (*[8]byte)(unsafe.Pointer(&v))[:]); err != nil {
		panic(err)
	}
	return v
}

// futexes are the words of rank 0's heap from d on, as bare futexes.
func futexes(f *Fabric, d rma.Disp, n int) []atomic.Uint32 {
	heap := f.world.Segments[0].Heap[d : int(d)+(n+1)/2]
	return unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(&heap[0])), n)
}

const court = 128 // words of a ping-pong

// pong is the other process of a ping-pong, for each kind of player.
var pong = role("pong", func(a *actor) error {
	if err := pin(a.int(1)); err != nil {
		return err
	}
	d := a.words(court)
	var p player
	switch a.args[0] {
	case "window":
		p = windowPlayer{a.own(), d}
	case "futex":
		words := futexes(a.Fabric, d+court/2, court)
		p = futexPlayer{mine: &words[0], theirs: &words[32]}
	case "socket":
		p = socketPlayer(4)
	}
	a.ready()
	answer(p)
	return nil
})

// BenchmarkPingPong is a round trip between two processes: through the window,
// and in the same run, in turns, through a bare futex and through a socket.
func BenchmarkPingPong(b *testing.B) {
	for _, placement := range placements {
		b.Run(placement, func(b *testing.B) { benchmarkPingPong(b, placement) })
	}
}

func benchmarkPingPong(b *testing.B, placement string) {
	cpu := pinned(b, placement)
	f := create(b, 2)
	d := alloc(b, f, court)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	defer theirs.Close()

	words := futexes(f, d+court/2, court)
	players := []struct {
		name string
		player
		last  uint64
		spent time.Duration
	}{
		{name: "window", player: windowPlayer{window(b, f, 0), d}},
		{name: "futex", player: futexPlayer{mine: &words[32], theirs: &words[0]}},
		{name: "socket", player: socketPlayer(pair[0])},
	}
	for _, p := range players {
		other := spawnWith(b, f, []*os.File{theirs}, pong, 1, p.name, cpu)
		other.ready()
		defer other.end()
		defer p.strike(stop)
	}
	const turn = 500
	for b.Loop() {
		for i := range players {
			p := &players[i]
			begin := time.Now()
			p.last = rally(p, p.last, turn)
			p.spent += time.Since(begin)
		}
	}
	each := func(i int) float64 { return float64(players[i].spent) / float64(b.N*turn) }
	b.ReportMetric(0, "ns/op")
	for i, p := range players {
		b.ReportMetric(each(i), p.name+"-ns/round-trip")
	}
	b.ReportMetric(each(0)/each(1), "of-futex")
	b.ReportMetric(each(0)/each(2), "of-socket")
}
