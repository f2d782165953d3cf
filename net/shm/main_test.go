//go:build linux

package shm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// The test binary is also every other process of a test: it finds its role in
// its environment and the fabric's file in descriptor 3.
const (
	envRole  = "ORWL_SHM_ROLE"
	envRanks = "ORWL_SHM_RANKS"
	envRank  = "ORWL_SHM_RANK"
	envArgs  = "ORWL_SHM_ARGS"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(envRole); name != "" {
		if err := play(name); err != nil {
			fmt.Fprintf(os.Stderr, "%s of rank %s: %v\n", name, os.Getenv(envRank), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// actor is a process of a test, seen from inside.
type actor struct {
	*Fabric
	rank rma.Rank
	args []string
	in   *bufio.Reader // the lines that the test sends it
}

// ready tells the test that the process has come this far.
func (a *actor) ready() { fmt.Println("ready") }

// told waits until the test says go.
func (a *actor) told() error {
	_, err := a.in.ReadString('\n')
	return err
}

// own is the actor's window.
func (a *actor) own() rma.Window {
	w, err := a.Window(a.rank)
	if err != nil {
		panic(err)
	}
	return w
}

// words allocates n words.
func (a *actor) words(n int) rma.Disp {
	d, err := a.Alloc(n)
	if err != nil {
		panic(err)
	}
	return d
}

func (a *actor) int(i int) int {
	n, err := strconv.Atoi(a.args[i])
	if err != nil {
		panic(err)
	}
	return n
}

// play opens the fabric and does what the role says, with the fabric closed
// properly afterwards.
func play(name string) error {
	role := roles[name]
	if role == nil {
		return fmt.Errorf("no such role")
	}
	ranks, err := strconv.Atoi(os.Getenv(envRanks))
	if err != nil {
		return err
	}
	rank, err := strconv.Atoi(os.Getenv(envRank))
	if err != nil {
		return err
	}
	f, err := Open(os.NewFile(3, "fabric"), Options{Topology: topology.Flat(ranks)})
	if err != nil {
		return err
	}
	defer f.Close()
	a := &actor{Fabric: f, rank: rma.Rank(rank), args: strings.Fields(os.Getenv(envArgs)), in: bufio.NewReader(os.Stdin)}
	return role(a)
}

// peer is a process of a test, seen from the test.
type peer struct {
	t    testing.TB
	cmd  *exec.Cmd
	out  *bufio.Reader
	in   io.Writer
	name string
	done bool
}

// spawn starts a process that plays a role as a rank.
func spawn(t testing.TB, f *Fabric, role string, rank rma.Rank, args ...any) *peer {
	t.Helper()
	return spawnWith(t, f, nil, role, rank, args...)
}

// spawnWith also gives it other files, from descriptor 4 on.
func spawnWith(t testing.TB, f *Fabric, files []*os.File, role string, rank rma.Rank, args ...any) *peer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(),
		envRole+"="+role,
		fmt.Sprintf("%s=%d", envRanks, f.Topology().Ranks()),
		fmt.Sprintf("%s=%d", envRank, rank),
		envArgs+"="+strings.TrimSuffix(fmt.Sprintln(args...), "\n"),
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0") // the race detector's default is a second for each
	cmd.ExtraFiles = append([]*os.File{f.File()}, files...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, cmd: cmd, out: bufio.NewReader(out), in: in, name: fmt.Sprintf("%s of rank %d", role, rank)}
	t.Cleanup(func() {
		if !p.done {
			p.kill()
		}
	})
	return p
}

// line is the next line that the process prints.
func (p *peer) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// rest is all else that it prints.
func (p *peer) rest() string {
	p.t.Helper()
	text, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return string(text)
}

// ready waits until the process says that it is.
func (p *peer) ready() {
	p.t.Helper()
	if line := p.line(); line != "ready" {
		p.t.Fatalf("%s says %q, want ready", p.name, line)
	}
}

// tell lets the process go on.
func (p *peer) tell() {
	p.t.Helper()
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

// end waits until the process has ended well.
func (p *peer) end() {
	p.t.Helper()
	p.done = true
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%s: %v", p.name, err)
	}
}

// kill ends the process as the system would if memory ran out.
func (p *peer) kill() {
	p.done = true
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// create makes a fabric of flat topology.
func create(t testing.TB, ranks int) *Fabric {
	t.Helper()
	return createWith(t, Options{Topology: topology.Flat(ranks)})
}

func createWith(t testing.TB, o Options) *Fabric {
	t.Helper()
	f, err := Create(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func window(t testing.TB, f *Fabric, p rma.Rank) rma.Window {
	t.Helper()
	w, err := f.Window(p)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func alloc(t testing.TB, f *Fabric, words int) rma.Disp {
	t.Helper()
	d, err := f.Alloc(words)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// asleep waits until rank p sleeps or is about to.
func asleep(f *Fabric, p rma.Rank) {
	for !f.world.Segments[p].Room.Waiting() {
		runtime.Gosched()
	}
}

var background = context.Background()

// roles are what processes can play. Each stands beside the test that uses it.
var roles = map[string]func(a *actor) error{}

func role(name string, do func(a *actor) error) string {
	roles[name] = do
	return name
}
