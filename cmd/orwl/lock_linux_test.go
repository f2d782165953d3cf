package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/session"
)

// patience ends a test that hangs. No test depends on it.
const patience = 5 * time.Minute

// quiet is a lease for tests of silence, in which a session is lost, and unhurried one for those
// in which none is, however busy the machine is.
const (
	quiet     = 5 * time.Second
	unhurried = time.Minute
)

// process is the program with a command line.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), envProgram+"=1", "ORWL_KEY=the key of these tests")
	return c
}

// serving starts orwl serve, and returns its process and its address.
func serving(t *testing.T, listen string, lease time.Duration) (*exec.Cmd, string) {
	t.Helper()
	c := process(t, "serve", "-listen", listen, "-lease", lease.String())
	return c, announced(t, c)
}

// announced starts orwl serve, and returns its address.
func announced(t *testing.T, c *exec.Cmd) (address string) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "locks at ")
	if err != nil || !found {
		t.Fatalf("orwl serve says %q, %v", line, err)
	}
	go io.Copy(io.Discard, out)
	return address
}

// looker is a session of the test itself.
func looker(t *testing.T, address string) *session.Session {
	t.Helper()
	s, err := session.Dial(t.Context(), session.Options{Addresses: []string{address}, Key: []byte("the key of these tests"), Who: "the test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// until watches x until its state is as it should be.
func until(t *testing.T, s *session.Session, is func(session.State) bool) session.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for state, err := range s.Watch(ctx, "x") {
		if err != nil {
			t.Fatal(err)
		}
		if is(state) {
			return state
		}
	}
	panic("Watch has ended without an error")
}

// locker is an orwl lock whose command waits for the end of its input.
type locker struct {
	*exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	wrong strings.Builder
}

// locking starts orwl lock x. Its command prints its variables, and waits.
func locking(t *testing.T, address string, flags ...string) *locker {
	t.Helper()
	l := &locker{Cmd: process(t, append(append([]string{"lock", "-at", address}, flags...), "x", "--", "sh", "-c", `echo $ORWL_FENCE $ORWL_LOCK $ORWL_PRIOR; read line`)...)}
	l.Stderr = &l.wrong
	var err error
	if l.in, err = l.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := l.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	l.out = bufio.NewReader(out)
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Process.Kill() // it may have ended
		_ = l.Wait()
	})
	return l
}

// holds waits until the command runs, and returns its fence and the rest of what it says.
func (l *locker) holds(t *testing.T) (fence uint64, rest string) {
	t.Helper()
	line, err := l.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the command does not run: %v\n%s", err, l.wrong.String())
	}
	if _, err := fmt.Sscan(line, &fence); err != nil {
		t.Fatalf("the command says %q: %v", line, err)
	}
	_, rest, _ = strings.Cut(strings.TrimSpace(line), strconv.FormatUint(fence, 10)+" ")
	return fence, rest
}

// ends waits for the end of the process and of its command, which has the same output. It
// returns the exit code and what was said on standard error.
func (l *locker) ends(t *testing.T) (int, string) {
	t.Helper()
	_, _ = io.Copy(io.Discard, l.out)
	_ = l.Wait()
	return l.ProcessState.ExitCode(), l.wrong.String()
}

// TestLockOrder has five processes wait for one lock. They have it first come, first served, with
// fences that grow.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	_, address := serving(t, "127.0.0.1:0", unhurried)
	s := looker(t, address)
	first := locking(t, address)
	fence, rest := first.holds(t)
	if rest != "x" {
		t.Errorf("ORWL_LOCK and ORWL_PRIOR are %q, want x", rest)
	}
	file := filepath.Join(t.TempDir(), "order")
	var others []*exec.Cmd
	for i := range 4 {
		c := process(t, "lock", "-at", address, "x", "--", "sh", "-c", fmt.Sprintf("echo %d $ORWL_FENCE >>%s", i, file))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, c)
		until(t, s, func(state session.State) bool { return state.Length == i+2 })
	}
	busy := process(t, "lock", "-at", address, "-n", "x", "true")
	if out, _ := busy.CombinedOutput(); busy.ProcessState.ExitCode() != command.Failed || !strings.Contains(string(out), "not free") {
		t.Errorf("-n: exit code %d: %s", busy.ProcessState.ExitCode(), out)
	}
	late := process(t, "lock", "-at", address, "-wait", "1ms", "x", "true")
	if out, _ := late.CombinedOutput(); late.ProcessState.ExitCode() != command.Failed || !strings.Contains(string(out), "not free after 1ms") {
		t.Errorf("-wait: exit code %d: %s", late.ProcessState.ExitCode(), out)
	}
	shown, err := process(t, "holders", "-at", address).Output()
	if lines := strings.Split(strings.TrimSpace(string(shown)), "\n"); err != nil || len(lines) != 6 ||
		!strings.HasPrefix(lines[1], "x     holds") || !strings.HasPrefix(lines[5], "x     waits") {
		t.Errorf("orwl holders shows\n%s%v", shown, err)
	}
	first.in.Close()
	if code, said := first.ends(t); code != 1 { // read fails at the end of its input
		t.Errorf("exit code %d, want that of the command: %s", code, said)
	}
	for _, c := range others {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var who int
		var next uint64
		if _, err := fmt.Sscan(line, &who, &next); err != nil || who != i || next <= fence {
			t.Errorf("line %d of the order is %q, after fence %d", i, line, fence)
		}
		fence = next
	}
}

// TestLockKilled kills a holder. Its command dies at once, and the next one is told after the lease.
func TestLockKilled(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	_, address := serving(t, "127.0.0.1:0", quiet)
	s := looker(t, address)
	first := locking(t, address)
	fence, _ := first.holds(t)
	second := locking(t, address)
	until(t, s, func(state session.State) bool { return state.Length == 2 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.ends(t)
	next, rest := second.holds(t)
	if rest != "x lost" || next <= fence {
		t.Errorf("the next one has %q and fence %d after %d", rest, next, fence)
	}
}

// TestLockStopped stops a holder. The next one has the lock after the lease. When the holder goes
// on, it ends its command and says why.
func TestLockStopped(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	_, address := serving(t, "127.0.0.1:0", quiet)
	s := looker(t, address)
	first := locking(t, address)
	fence, _ := first.holds(t)
	second := locking(t, address)
	until(t, s, func(state session.State) bool { return state.Length == 2 })
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if next, _ := second.holds(t); next <= fence {
		t.Errorf("fence %d follows %d", next, fence)
	}
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	code, said := first.ends(t)
	if code != command.Failed || !strings.Contains(said, "the lock is lost") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestServerKilled kills the server. The holder lets go, and its command ends. A server that is
// started again at the same address gives a greater fence.
func TestServerKilled(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	server, address := serving(t, freeport.Address(t), quiet) // which is free after it, too
	first := locking(t, address)
	fence, _ := first.holds(t)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	_, _ = serving(t, address, quiet)
	second := locking(t, address)
	next, _ := second.holds(t)
	if code, said := first.ends(t); code != command.Failed || !strings.Contains(said, "the lock is lost") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if next <= fence {
		t.Errorf("fence %d follows %d", next, fence)
	}
}

// TestLockReleased releases a lock by force. The command gets SIGTERM.
func TestLockReleased(t *testing.T) {
	t.Parallel()
	_, address := serving(t, "127.0.0.1:0", unhurried)
	s := looker(t, address)
	none := process(t, "holders", "-at", address, "-release", "x")
	if out, _ := none.CombinedOutput(); none.ProcessState.ExitCode() != command.Failed || !strings.Contains(string(out), "no session holds x: orwl holders shows who holds what") {
		t.Errorf("exit code %d: %s", none.ProcessState.ExitCode(), out)
	}
	first := locking(t, address)
	fence, _ := first.holds(t)
	second := locking(t, address)
	until(t, s, func(state session.State) bool { return state.Length == 2 })
	out, err := process(t, "holders", "-at", address, "-release", "-fence", fmt.Sprint(fence), "x").CombinedOutput()
	if err != nil || string(out) != "told 1 to let go of x\n" {
		t.Errorf("%v: %s", err, out)
	}
	if code, said := first.ends(t); code != command.Failed || !strings.Contains(said, "released by force") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if next, rest := second.holds(t); next <= fence || rest != "x" {
		t.Errorf("fence %d follows %d, and the rest is %q", next, fence, rest)
	}
}

// TestLockCode passes on the code of the command, and refuses strangers.
func TestLockCode(t *testing.T) {
	t.Parallel()
	_, address := serving(t, "127.0.0.1:0", unhurried)
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 128 + 9} {
		c := process(t, "lock", "-at", address, "x", "sh", "-c", script)
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != want {
			t.Errorf("%s: exit code %d, want %d: %s", script, c.ProcessState.ExitCode(), want, out)
		}
	}
	nowhere := process(t, "lock", "-at", address+",nowhere", "x", "true")
	if out, _ := nowhere.CombinedOutput(); nowhere.ProcessState.ExitCode() != command.Misused || !strings.Contains(string(out), `"nowhere": want HOST:PORT`) {
		t.Errorf("no port: exit code %d: %s", nowhere.ProcessState.ExitCode(), out)
	}
	stranger := process(t, "lock", "-at", address, "x", "true")
	stranger.Env = append(stranger.Env, "ORWL_KEY=another key of this test")
	if out, _ := stranger.CombinedOutput(); stranger.ProcessState.ExitCode() != command.Failed || !strings.Contains(string(out), "another key") {
		t.Errorf("exit code %d: %s", stranger.ProcessState.ExitCode(), out)
	}
}

// TestLockFind finds the server by its key, on this machine's networks. A second server with the
// key does not start.
func TestLockFind(t *testing.T) {
	t.Parallel()
	if !multicast(t) {
		if os.Getenv("CI") != "" {
			t.Fatal("no network interface takes multicast")
		}
		t.Skip("no network interface takes multicast")
	}
	key := fmt.Sprintf("ORWL_KEY=the key of one test, in process %d", os.Getpid())
	with := func(args ...string) *exec.Cmd {
		c := process(t, args...)
		c.Env = append(c.Env, key)
		return c
	}
	first := with("serve", "-find", "-listen", "127.0.0.1:0")
	announced(t, first)
	if out, err := with("lock", "-find", "x", "--", "sh", "-c", "echo $ORWL_LOCK").Output(); err != nil || string(out) != "x\n" {
		t.Errorf("orwl lock -find: %q, %v", out, err)
	}
	second := with("serve", "-find", "-listen", "127.0.0.1:0")
	if out, _ := second.CombinedOutput(); second.ProcessState.ExitCode() != command.Failed || !strings.Contains(string(out), "another server with this key") {
		t.Errorf("a second server: exit code %d: %s", second.ProcessState.ExitCode(), out)
	}
	none := process(t, "lock", "-find", "x", "true")
	none.Env = append(none.Env, "ORWL_KEY=", "ORWL_KEY_FILE=")
	if out, _ := none.CombinedOutput(); none.ProcessState.ExitCode() != command.Misused || !strings.Contains(string(out), "-find needs a key") {
		t.Errorf("no key: exit code %d: %s", none.ProcessState.ExitCode(), out)
	}
}

// multicast reports whether an interface takes multicast.
func multicast(t *testing.T) bool {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(i net.Interface) bool {
		return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0
	})
}
