package orwl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/orwl/launch"
)

const (
	grantSize   = 1 << 20
	grantRounds = 2000
	grantTurns  = 5
	grantTarget = 1.5
)

// BenchmarkMachineGrant measures the time from the release by a writer in one process
// to the acquisition by a reader in another process, which then has its own copy of 1
// MiB; with memory that the nodes share, and without. The floor is the least that any
// way needs: a futex that wakes the reader's process, and a memcpy of 1 MiB that the
// writer has just written. All are medians, measured in the same two processes.
//
// Apart, each process has a processor of its own. A block written on one is then copied
// from its cache to the other; the target is for this case. Free, the system places the
// processes. It places the processes of the floor, which take turns, on one processor:
// there the copy costs a third.
//
//	go test ./orwl -run '^$' -bench MachineGrant -benchtime 1x
func BenchmarkMachineGrant(b *testing.B) {
	b.Run("apart", func(b *testing.B) {
		cpus := allowed(b)
		if len(cpus) < 2 {
			b.Skip("there is one processor")
		}
		before := runtime.GOMAXPROCS(1)
		pin(b, cpus[1:2])
		defer func() {
			pin(b, cpus)
			runtime.GOMAXPROCS(before)
		}()
		machineGrant(b, cpus[:1], grantTarget)
	})
	b.Run("free", func(b *testing.B) { machineGrant(b, nil, 0) })
}

// machineGrant measures with the writer on some processors, or on any if the list is
// empty.
func machineGrant(b *testing.B, writer []int, target float64) {
	for range b.N {
		var floor, shared, remote []float64
		for range grantTurns {
			f, s := grants(b, "shared", writer)
			floor, shared = append(floor, f), append(shared, s)
			f, s = grants(b, "remote", writer)
			floor, remote = append(floor, f), append(remote, s)
		}
		f, s, r := median(floor), median(shared), median(remote)
		b.ReportMetric(f/1e3, "floor-µs")
		b.ReportMetric(s/1e3, "shared-µs")
		b.ReportMetric(r/1e3, "remote-µs")
		b.ReportMetric(s/f, "shared/floor")
		b.ReportMetric(r/f, "remote/floor")
		if target > 0 {
			b.ReportMetric(target, "target")
			if s/f > target {
				b.ReportMetric(1, "missed")
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// grants starts the writer's process, and returns what reads take in this one: the
// floor, and ours.
func grants(b *testing.B, how string, cpus []int) (floor, ours float64) {
	b.Helper()
	file, err := unix.MemfdCreate("floor", unix.MFD_CLOEXEC)
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(err)
	must(unix.Ftruncate(file, floorSize))
	shared := os.NewFile(uintptr(file), "floor")
	defer shared.Close()
	self, err := os.Executable()
	must(err)
	writer := exec.Command(self, how)
	writer.Env = append(os.Environ(), roleVariable+"=writer")
	writer.ExtraFiles = []*os.File{shared}
	writer.Stderr = os.Stderr
	writer.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := writer.StdoutPipe()
	must(err)
	must(startOn(writer, cpus))
	memory := mapFloor(shared)
	defer unix.Munmap(memory)
	floor = readFloor(memory)
	root, err := bufio.NewReader(out).ReadString('\n')
	must(err)
	n, err := Join(context.Background(), JoinOptions{
		Place: &launch.Place{Node: 1, Nodes: 2, Root: strings.TrimSpace(root), Listen: "127.0.0.1:0"}, Remote: how == "remote", Log: silent,
	})
	must(err)
	var times []int64
	must(grantProgram(n, func(sent uint64) { times = append(times, int64(monotonic()-sent)) }))
	must(n.Close(context.Background()))
	must(writer.Wait())
	return floor, median(times[len(times)/4:])
}

// allowed returns the processors that this process may use.
func allowed(b *testing.B) (cpus []int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		b.Fatal(err)
	}
	for cpu := range 8 * int(unsafe.Sizeof(set)) {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

func setOf(cpus []int) *unix.CPUSet {
	set := new(unix.CPUSet)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return set
}

// pin has all threads of this process on some processors.
func pin(b *testing.B, cpus []int) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		b.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err == nil {
			err = unix.SchedSetaffinity(id, setOf(cpus))
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			b.Fatal(err)
		}
	}
}

// startOn starts a process on some processors. The starting thread is there, too.
func startOn(c *exec.Cmd, cpus []int) error {
	if cpus == nil {
		return c.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, setOf(cpus)); err != nil {
		return err
	}
	return errors.Join(c.Start(), unix.SchedSetaffinity(0, &before))
}

func init() {
	together = func(b *testing.B) func() {
		cpus := allowed(b)
		pin(b, cpus[:1])
		return func() { pin(b, cpus) }
	}
	actors["writer"] = func() int {
		shared := os.NewFile(3, "floor")
		memory := mapFloor(shared)
		writeFloor(memory)
		n, err := Join(context.Background(), JoinOptions{
			Place: &launch.Place{Nodes: 2, Listen: "127.0.0.1:0", Report: func(a string) error {
				_, err := fmt.Println(a)
				return err
			}}, Remote: os.Args[1] == "remote", Log: silent,
		})
		if err == nil {
			err = grantProgram(n, nil)
		}
		if err == nil {
			err = n.Close(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

// grantProgram is a writer on node 0, which stamps the time of its release, and a
// reader on node 1, which reads it.
func grantProgram(n *Nodes, read func(sent uint64)) error {
	rt, err := New(Options{Nodes: n, Log: silent})
	if err != nil {
		return err
	}
	r := rt.Resource("r", grantSize)
	writer, reader := rt.Task("writer").On(0), rt.Task("reader").On(1)
	w, a := writer.Write(r), reader.Read(r)
	writer.Each(grantRounds, func(round int) error {
		stamp(Write[uint64](w), uint64(round))
		return nil
	})
	reader.Each(grantRounds, func(int) error {
		read(Read[uint64](a).At(0))
		return nil
	})
	return rt.Run(context.Background())
}

// stamp writes a block anew, as a holder for writing does, and then the time.
func stamp(block []uint64, with uint64) {
	for i := range block {
		block[i] = with
	}
	block[0] = monotonic()
}

// monotonic is the time on a clock that all processes of the machine have.
func monotonic() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return uint64(t.Nano())
}

// The floor's memory: a word for each process to sleep on, and the block.
const (
	floorSize  = floorBlock + grantSize
	floorBlock = 4096
)

func mapFloor(file *os.File) []byte {
	b, err := unix.Mmap(int(file.Fd()), 0, floorSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return b
}

func floorWord(memory []byte, i int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&memory[64*i]))
}

// writeFloor answers readFloor.
func writeFloor(memory []byte) {
	for i := range uint32(grantRounds) {
		sleepOn(floorWord(memory, 0), i)
		stamp(unsafe.Slice((*uint64)(unsafe.Pointer(&memory[floorBlock])), grantSize/8), uint64(i))
		wakeOn(floorWord(memory, 1))
	}
}

// readFloor makes the other process wake this one, again and again, and copies the
// block.
func readFloor(memory []byte) float64 {
	var times []int64
	own := make([]byte, grantSize)
	for i := range uint32(grantRounds) {
		wakeOn(floorWord(memory, 0))
		sleepOn(floorWord(memory, 1), i)
		copy(own, memory[floorBlock:])
		times = append(times, int64(monotonic()-*(*uint64)(unsafe.Pointer(&own[0]))))
	}
	return median(times[len(times)/4:])
}

// sleepOn sleeps while a word has its old value.
func sleepOn(word *atomic.Uint32, was uint32) {
	for word.Load() == was {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), 0, uintptr(was), 0, 0, 0)
	}
}

// wakeOn changes a word, and wakes the thread that sleeps on it.
func wakeOn(word *atomic.Uint32) {
	word.Add(1)
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), 1, math.MaxInt32, 0, 0, 0)
}
