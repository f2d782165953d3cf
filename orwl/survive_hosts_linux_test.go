package orwl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/rings"
)

var hostFaults = rings.Size("orwl.hostfaults", 2, 4, 300, "TestSurviveHosts: faults of hosts and of the network between them")

// hosted is the program of the role hosted.
var hosted = chain{tasks: 6, rounds: 3000, ends: map[int]int{2: 100, 5: 2999}}

// hostLease is so long that a host that is cut off for some seconds is lost, and one that waits for a processor is not.
const hostLease = time.Second

func init() {
	actors["hosted"] = func() int {
		o := Options{
			Survive: Survive{Interval: 20 * time.Millisecond},
			Log:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
		}
		ended := false
		err := Run(context.Background(), o, func(ctx context.Context, rt *Runtime) error {
			ended = false
			numbers, folded := hosted.declare(rt, func(task, round int) error {
				if task == 0 && round%10 == 0 {
					fmt.Println("round", round)
				}
				busy(100_000)
				return nil
			})
			if err := rt.Run(ctx); err != nil {
				return err
			}
			ended = true
			return hosted.check(ctx, numbers, folded)
		})
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "ended:", err)
			return 1
		case ended:
			fmt.Println("done")
		default:
			fmt.Println("left")
		}
		return 0
	}
}

// hosts is a run of processes on hosts of their own, without a launcher.
type hosts struct {
	net    *netns.Network
	count  int
	rounds chan int // those that bodies begin, on any of the hosts

	mu  sync.Mutex
	all []*guest // of all lives
}

// guest is a process. Its output may be read when it has ended.
type guest struct {
	seat   int
	cmd    *exec.Cmd
	out    bytes.Buffer // without the rounds
	errs   bytes.Buffer
	killed bool // by the test
	late   bool // it was started while the others ran
	ended  chan struct{}
	err    error // how
}

// start starts a process on a host.
func (h *hosts) start(t *testing.T, seat int, late bool) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var peers []string
	for i := range h.count {
		peers = append(peers, h.net.Address(i)+":7717")
	}
	g := &guest{seat: seat, cmd: h.net.Command(seat, self), late: late, ended: make(chan struct{})}
	g.cmd.Env = append(os.Environ(), roleVariable+"=hosted", fmt.Sprint("ORWL_NODE=", seat), fmt.Sprint("ORWL_NODES=", h.count),
		"ORWL_PEERS="+strings.Join(peers, ","), "ORWL_KEY=the key of the hosts, of 32 bytes", fmt.Sprint("ORWL_LEASE=", hostLease))
	if late {
		g.cmd.Env = append(g.cmd.Env, "ORWL_LATE=1")
	}
	g.cmd.Stderr, g.cmd.SysProcAttr = &g.errs, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(g.ended)
		for in := bufio.NewScanner(out); in.Scan(); {
			round := 0
			if _, err := fmt.Sscanf(in.Text(), "round %d", &round); err != nil {
				fmt.Fprintln(&g.out, in.Text())
				continue
			}
			select {
			case h.rounds <- round:
			default: // nobody waits
			}
		}
		g.err = g.cmd.Wait()
	}()
	h.mu.Lock()
	h.all = append(h.all, g)
	h.mu.Unlock()
}

// at is the last process on a host.
func (h *hosts) at(seat int) (last *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.all {
		if g.seat == seat {
			last = g
		}
	}
	return last
}

// strikes does something to a host, and says what. It returns when that is over.
func (h *hosts) strikes(t *testing.T, r *rand.Rand) string {
	seat := r.IntN(h.count)
	g, last := h.at(seat), time.Duration(200+r.IntN(2300))*time.Millisecond
	cut := func(peers ...int) {
		for _, p := range peers {
			h.net.Both(seat, p, netns.Quality{Cut: true})
		}
		<-time.After(last)
		h.net.All(netns.Quality{})
	}
	signal := func(s syscall.Signal) { _ = g.cmd.Process.Signal(s) } // it may have ended
	var others []int
	for i := 1; i < h.count; i++ {
		others = append(others, (seat+i)%h.count)
	}
	switch r.IntN(6) {
	case 0, 1:
		cut(others...)
		return fmt.Sprintf("host %d cut off for %v", seat, last)
	case 2:
		cut(others[0])
		return fmt.Sprintf("hosts %d and %d cut off from each other for %v", seat, others[0], last)
	case 3:
		signal(syscall.SIGSTOP)
		<-time.After(last)
		signal(syscall.SIGCONT)
		return fmt.Sprintf("host %d stopped for %v", seat, last)
	case 4:
		if h.count > 2 {
			signal(syscall.SIGTERM)
			return fmt.Sprintf("host %d asked to leave", seat)
		}
	}
	g.killed = true
	signal(syscall.SIGKILL)
	<-g.ended
	if r.IntN(2) == 0 {
		return fmt.Sprintf("host %d killed", seat)
	}
	<-time.After(last)
	h.start(t, seat, true)
	return fmt.Sprintf("host %d killed, and started again after %v", seat, last)
}

// TestSurviveHosts cuts the network between hosts, and kills, stops and starts processes there, in the middle of a run and of what came before. All that
// are in the run end well, with the bits of an undisturbed run. A process that was given up comes again, unless the others have ended the run by then.
func TestSurviveHosts(t *testing.T) {
	rings.Silence(t)
	for seed, faults := uint64(0), 0; faults < hostFaults.N() && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 4))
			h := &hosts{count: 2 + r.IntN(3), rounds: make(chan int)}
			h.net = netns.New(t, h.count)
			for seat := range h.count {
				h.start(t, seat, false)
			}
			var said []string
			for range 1 + r.IntN(3) {
				h.await(r.IntN(hosted.rounds / 2))
				said = append(said, h.strikes(t, r))
				faults++
			}
			h.judge(t, said)
		})
	}
}

// await waits until a body has begun a round, or all processes have ended.
func (h *hosts) await(round int) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		for seat := range h.count {
			<-h.at(seat).ended
		}
	}()
	for {
		select {
		case now := <-h.rounds:
			if now >= round {
				return
			}
		case <-over:
			return
		}
	}
}

// judge waits for the processes, and complains about those that have not ended as they should.
func (h *hosts) judge(t *testing.T, said []string) {
	hangs, done := time.After(2*time.Minute), 0
	for _, g := range h.all {
		select {
		case <-g.ended:
		case <-hangs:
			t.Errorf("host %d hangs", g.seat)
			_ = g.cmd.Process.Signal(syscall.SIGQUIT)
			<-g.ended
		}
		out, errs := g.out.String(), g.errs.String()
		ends := strings.Contains(out, "done") || strings.Contains(out, "left")
		behind := strings.Contains(errs, errBehind.Error()) && strings.Contains(errs, "this node comes again") ||
			g.late && (strings.Contains(errs, errBehind.Error()) || strings.Contains(errs, "could not join"))
		if strings.Contains(out, "done") {
			done++
		}
		exit := (*exec.ExitError)(nil)
		if behind = behind && errors.As(g.err, &exit) && exit.ExitCode() == 1; !g.killed && !behind && (g.err != nil || !ends) {
			t.Errorf("host %d ends with %v, and says %q", g.seat, g.err, out)
		}
	}
	if done == 0 {
		t.Error("no host has the result")
	}
	if t.Failed() {
		t.Log(strings.Join(said, "\n"))
		for _, g := range h.all {
			t.Logf("host %d, killed %v, late %v:\n%s%s", g.seat, g.killed, g.late, g.out.String(), g.errs.String())
		}
	}
}

// TestRuns computes until the kernel says that this process has run for longer.
func TestRuns(t *testing.T) {
	o := new(Options)
	before := o.runs()
	if text, err := os.ReadFile("/proc/self/schedstat"); err == nil && !strings.HasPrefix(string(text), "0 ") && before == 0 {
		t.Fatal("no thread of this process has run")
	}
	if before == 0 {
		t.Skip("this kernel does not say for how long threads run: /proc/self/task/*/schedstat")
	}
	for o.runs() < before+int64(10*time.Millisecond) {
		busy(100_000)
	}
}
