package locks_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// The test binary is also the other process of a test: it finds what it is to do
// in its environment and the fabric's file in descriptor 3.
const (
	envTask    = "ORWL_LOCKS_TASK"
	envMachine = "ORWL_LOCKS_MACHINE"
)

// tasks are what a process can do. Each stands beside the test that uses it.
var tasks = map[string]func(f *shm.Fabric, arg string) error{
	"conform": conformOther,
	"hold":    holdAll,
	"wait":    waitForAll,
	"contend": contendForAll,
}

func TestMain(m *testing.M) {
	name, arg, _ := strings.Cut(os.Getenv(envTask), " ")
	if name == "" {
		os.Exit(m.Run())
	}
	do := func() error { return perform(tasks[name], arg) }
	if name == crewTask {
		do = obey
	}
	if err := do(); err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", name, arg, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func perform(task func(f *shm.Fabric, arg string) error, arg string) error {
	tree, err := topology.Parse(os.Getenv(envMachine))
	if err != nil {
		return err
	}
	if os.Getenv(envListen) != "" {
		return beOnHost(tree, arg)
	}
	if root := os.Getenv(envRoot); root != "" {
		return beNode(tree, arg, p2p.Options{Number: 1, Root: root})
	}
	f, err := shm.Open(os.NewFile(3, "fabric"), shm.Options{Topology: tree})
	if err != nil {
		return err
	}
	defer f.Close()
	return task(f, arg)
}

// other is the other process, seen from the test.
type other struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
}

// withOther makes a fabric and a process that has it, too.
func withOther(t *testing.T, machineText, task string) (*shm.Fabric, *other) {
	t.Helper()
	tree := machine(t, machineText)
	ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
	t.Cleanup(cancel)
	f, err := shm.Create(shm.Options{Topology: tree, Words: 1 << 15, DynamicWords: 1, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := &other{t: t, cmd: exec.Command(self)}
	o.cmd.Env = append(os.Environ(), envTask+"="+task, envMachine+"="+machineText,
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0") // the race detector's default is a second
	o.cmd.ExtraFiles = []*os.File{f.File()}
	o.cmd.Stderr = os.Stderr
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.out = bufio.NewReader(out)
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.kill)
	return f, o
}

// ready waits until the process says that it is.
func (o *other) ready() {
	o.t.Helper()
	if line, err := o.out.ReadString('\n'); line != "ready\n" {
		o.t.Fatalf("the other process says %q, %v, want ready", line, err)
	}
}

// kill ends the process as the system would if memory ran out.
func (o *other) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// TestConformanceOfProcesses executes the suite with neighbouring ranks in
// different processes.
func TestConformanceOfProcesses(t *testing.T) {
	t.Parallel()
	const machineText = "node:2 core:3"
	all := locks.All()
	if rings.Now() == rings.User {
		all = someLocks(t, families)
	}
	for _, spec := range all {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			f, o := withOther(t, machineText, "conform "+spec.Name)
			ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
			defer cancel()
			if err := conformShare(ctx, f, spec, everyOther(0)); err != nil {
				t.Error(err)
			}
			if err := o.cmd.Wait(); err != nil {
				t.Errorf("the other process: %v", err)
			}
		})
	}
}

func conformOther(f *shm.Fabric, name string) error {
	spec, _ := locks.ByName(name)
	ctx, cancel := context.WithTimeout(context.Background(), rmatest.Patience)
	defer cancel()
	return conformShare(ctx, f, spec, everyOther(1))
}

// everyOther chooses every other rank.
func everyOther(first rma.Rank) func(p rma.Rank) bool {
	return func(p rma.Rank) bool { return p%2 == first }
}

// conformShare executes all cases, one after the other, for the ranks of this process.
func conformShare(ctx context.Context, f rma.Fabric, spec locks.Spec, mine func(p rma.Rank) bool) error {
	for _, c := range lockstest.Cases() {
		s := lockstest.Of(spec)
		if c.OneProcess || !c.Fits(f.Topology()) || !c.Concerns(s) {
			continue
		}
		if err := performShare(ctx, f, c.For(s), mine); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// performShare executes a case for the ranks of this process. A case that does not concern the
// fabric or the lock is left out.
func performShare(ctx context.Context, f rma.Fabric, c rmatest.Case, mine func(p rma.Rank) bool) error {
	body, err := c.Setup(f)
	if errors.Is(err, rmatest.ErrSkip) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	var ranks sync.WaitGroup
	errs := make([]error, f.Topology().Ranks())
	for p := range rma.Rank(len(errs)) {
		if mine(p) {
			ranks.Go(func() { errs[p] = rmatest.Perform(ctx, f, body, p) })
		}
	}
	ranks.Wait()
	if err := errors.Join(errs...); err != nil && !errors.Is(err, rmatest.ErrSkip) {
		return err
	}
	return nil
}
