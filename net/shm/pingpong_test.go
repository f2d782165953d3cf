//go:build linux

package shm

import (
	"fmt"
	"math"
	"os"
	"strconv"
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

// The placements of two processes. Which one it is decides a ping-pong.
const (
	anywhere = "free" // wherever the system likes
	same     = "same-CPU"
	apart    = "one-CPU-each"
)

var placements = []string{anywhere, same, apart}

// pinned puts this process where a placement has it, for the length of a
// benchmark, and says which CPU the other process is to use, -1 for any.
func pinned(b *testing.B, placement string) (other int) {
	b.Helper()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		b.Fatal(err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < before.Count(); cpu++ {
		if before.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	if placement == anywhere {
		return -1
	}
	if placement == apart && len(cpus) < 2 {
		b.Skip("one CPU each needs two CPUs")
	}
	if err := pin(cpus[0]); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := affinity(before); err != nil {
			b.Error(err)
		}
	})
	if placement == same {
		return cpus[0]
	}
	return cpus[1]
}

// pin moves this process to a CPU, unless that is -1.
func pin(cpu int) error {
	if cpu < 0 {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	return affinity(set)
}

// affinity sets the CPUs of every thread of this process.
func affinity(set unix.CPUSet) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return err
		}
	}
	return nil
}

func TestPingPong(t *testing.T) {
	f := create(t, 2)
	other := spawn(t, f, pong, 1, "window", -1)
	p := windowPlayer{window(t, f, 0), alloc(t, f, court)}
	other.ready()
	if last := rally(p, 0, 1000); last != 1000 {
		t.Errorf("after 1000 round trips the ball has been struck %d times", last)
	}
	p.strike(stop)
	other.end()
}

// counting is a process that increments two counters of rank 0 in two ways, n
// times each, and waits until all processes have.
var counting = role("counting", func(a *actor) error {
	sum, swapped := a.words(1), a.words(1)
	w, n := a.own(), a.int(0)
	for range n {
		w.FetchOp(0, sum, rma.Sum, 1)
		for old := w.Get(0, swapped); ; {
			seen := w.CAS(0, swapped, old, old+1)
			if seen == old {
				break
			}
			old = seen
		}
	}
	total := uint64(n * a.Topology().Ranks())
	for _, counter := range []rma.Disp{sum, swapped} {
		if v, err := w.Await(background, 0, counter, rma.AtLeast(total)); err != nil || v != total {
			return fmt.Errorf("counter %v: %d, %v; want %d", counter, v, err, total)
		}
	}
	return nil
})

func TestManyProcessesCount(t *testing.T) {
	const ranks, each = 8, 2000
	f := create(t, ranks)
	sum, swapped := alloc(t, f, 1), alloc(t, f, 1)
	peers := make([]*peer, ranks)
	for p := range peers {
		peers[p] = spawn(t, f, counting, rma.Rank(p), each)
	}
	for _, p := range peers {
		p.end()
	}
	for _, counter := range []rma.Disp{sum, swapped} {
		if got := f.world.Segments[0].Heap[counter]; got != ranks*each {
			t.Errorf("counter %v: %d, want %d", counter, got, ranks*each)
		}
	}
}

// TestRanksShareProcesses mixes ranks that are woken by a waker, in three
// processes of four, with one that sleeps for itself.
func TestRanksShareProcesses(t *testing.T) {
	const ranks, each, laps = 13, 4, 200
	f := create(t, ranks)
	token, words := alloc(t, f, 1), alloc(t, f, ranks*spacing)
	var peers []*peer
	for first := 1; first < ranks; first += each {
		peers = append(peers, spawn(t, f, circulating, rma.Rank(first), each, laps))
	}
	for _, p := range peers {
		p.ready()
		p.tell()
	}
	window(t, f, 0).Put(0, token, 1)
	futexes(f, words, 1)[0].Store(1)
	if _, err := circulate(f, token, words, 0, 1, laps); err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		p.end()
	}
}
