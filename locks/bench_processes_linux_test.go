package locks_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/shm"
)

// The targets of processes. Two processes must take at most mostNS for a section, or have
// a higher rate than the peer. More processes than processors must reach leastPerSec
// sections in a second.
var (
	mostNS      = map[string]float64{"D-MCS": 150, "RMA-MCS": 200}
	leastPerSec = map[int]float64{8: 500_000, 32: 150_000}
)

// processes measures processes that compete for a lock in shared memory, with empty
// sections. The peer is a pthread mutex (PTHREAD_PROCESS_SHARED, robust). It needs a C
// compiler.
func processes(r *report) {
	pthread := compile(r.B)
	for _, n := range competitors {
		for _, c := range []struct{ lock, about, machine string }{
			{"D-MCS", "", "core:%d"},
			{"RMA-MCS", " in one node", "node:1 core:%d"},
			{"RMA-MCS", " in two nodes", "node:2 core:%d"},
			{"MCS", "", "core:%d"},
			{"C-MCS-MCS", " in one node", "node:1 core:%d"},
			{"C-MCS-MCS", " in two nodes", "node:2 core:%d"},
		} {
			if _, ok := locks.ByName(c.lock); !ok || !selected(c.lock) {
				continue
			}
			cores := n
			if strings.HasPrefix(c.machine, "node:2") {
				cores /= 2
			}
			r.processes(pthread, c.lock, c.about, fmt.Sprintf(c.machine, cores), n)
		}
	}
}

func (r *report) processes(pthread, lock, about, machineText string, n int) {
	ours := startRanks(r.B, lock, machineText, n)
	defer ours.end()
	contenders := []func() figure{ours.compete, ours.compete} // without a C compiler, ours is its own peer
	if pthread != "" {
		peer := startPthreads(r.B, pthread, n)
		defer peer.end()
		contenders[0] = peer.compete
	}
	m := inTurns(*ratioTurns, contenders...)
	peer, ratio := "no C compiler", "–"
	if pthread != "" {
		peer, ratio = "pthread "+section(m[0].figure), times(m[1].ratio)
	}
	target, reached := "", true
	switch most, least := mostNS[lock], leastPerSec[n]; {
	case most == 0:
	case n == 2:
		target = fmt.Sprintf("≤ %g ns, or ratio > 1", most)
		reached = 1e9/m[1].value <= most || pthread != "" && m[1].ratio > 1
	default:
		target = fmt.Sprintf("≥ %g/s", least)
		reached = m[1].value >= least
	}
	r.row(fmt.Sprintf("%s%s, %d processes", lock, about, n), section(m[1].figure), peer, ratio, target, reached)
}

func section(f figure) string {
	return fmt.Sprintf("%.0f ns (%.2f M/s), cv %.3f", 1e9/f.value, f.value/1e6, f.spread)
}

// crew is a group of processes that compete for one lock.
type crew struct {
	b     *testing.B
	stage *atomic.Uint64
	ends  []func()
	all   []member
}

type member struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// newCrew makes a crew and the shared memory in which its processes see the stage.
func newCrew(b *testing.B) (*crew, *os.File) {
	fd, err := unix.MemfdCreate("ratios", unix.MFD_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "ratios")
	if err := file.Truncate(int64(os.Getpagesize())); err != nil {
		b.Fatal(err)
	}
	c := &crew{b: b, stage: stageIn(file)}
	c.ends = append(c.ends, func() { file.Close() })
	return c, file
}

// stageIn is the stage of a turn in shared memory.
func stageIn(file *os.File) *atomic.Uint64 {
	page, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(err)
	return (*atomic.Uint64)(unsafe.Pointer(&page[0]))
}

// add starts a process.
func (c *crew) add(cmd *exec.Cmd) {
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	must(err)
	out, err := cmd.StdoutPipe()
	must(err)
	if err := cmd.Start(); err != nil {
		c.b.Fatal(err)
	}
	c.all = append(c.all, member{in, bufio.NewReader(out)})
	c.ends = append(c.ends, func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			c.b.Errorf("%s: %v", cmd, err)
		}
	})
}

// end ends all processes.
func (c *crew) end() {
	for i := range c.ends {
		c.ends[len(c.ends)-1-i]()
	}
}

// compete is one turn.
func (c *crew) compete() figure {
	c.stage.Store(warming)
	for _, m := range c.all {
		_, err := io.WriteString(m.in, "go\n")
		must(err)
	}
	for _, m := range c.all {
		if line := m.line(c.b); line != "ready" {
			c.b.Fatalf("a process prints %q, want ready", line)
		}
	}
	took := turn(c.stage, *ratioTurn)
	counts := make([]float64, len(c.all))
	for i, m := range c.all {
		n, err := strconv.ParseUint(m.line(c.b), 10, 64)
		must(err)
		counts[i] = float64(n)
	}
	return perSecond(counts, took)
}

func (m member) line(b *testing.B) string {
	line, err := m.out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// compile compiles the peer. If it cannot, it prints the reason and returns "".
func compile(b *testing.B) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		cc, err = exec.LookPath("gcc")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no C compiler: the pthread mutex is not measured")
		return ""
	}
	program := filepath.Join(b.TempDir(), "robust")
	if out, err := exec.Command(cc, "-O2", "-pthread", "-o", program, filepath.Join("testdata", "robust.c")).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the pthread mutex is not measured: %v\n%s\n", err, out)
		return ""
	}
	return program
}

func startPthreads(b *testing.B, program string, n int) *crew {
	c, file := newCrew(b)
	cmd := exec.Command(program, "init")
	cmd.ExtraFiles = []*os.File{file}
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	for range n {
		cmd := exec.Command(program)
		cmd.ExtraFiles = []*os.File{file}
		c.add(cmd)
	}
	return c
}

// startRanks makes the crew of one of our locks. Each process is a rank. File descriptor 4
// is the memory of the stage.
func startRanks(b *testing.B, lock, machineText string, n int) *crew {
	f, err := shm.Create(shm.Options{Topology: machine(b, machineText)})
	if err != nil {
		b.Fatal(err)
	}
	self, err := os.Executable()
	must(err)
	c, file := newCrew(b)
	c.ends = append(c.ends, func() { f.Close() })
	for p := range n {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=compete %d %s", envTask, p, lock), envMachine+"="+machineText)
		cmd.ExtraFiles = []*os.File{f.File(), file}
		c.add(cmd)
	}
	return c
}

func init() { tasks["compete"] = competeAs }

// competeAs is the program of a rank's process: the same as testdata/robust.c, but with
// one of our locks.
func competeAs(f *shm.Fabric, arg string) error {
	var rank locks.Rank
	var name string
	if _, err := fmt.Sscan(arg, &rank, &name); err != nil {
		return err
	}
	spec, _ := locks.ByName(name)
	l, err := spec.New(f, locks.Options{})
	if err != nil {
		return err
	}
	w, err := f.Window(rank)
	if err != nil {
		return err
	}
	m := l.At(w)
	stage := stageIn(os.NewFile(4, "stage"))
	ctx := context.Background()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		must(m.Acquire(ctx))
		m.Release()
		fmt.Println("ready")
		n := uint64(0)
		for s := stage.Load(); s != over; s = stage.Load() {
			must(m.Acquire(ctx))
			m.Release()
			n += s
		}
		fmt.Println(n)
	}
	return nil
}
