package p2p

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// process starts this test binary as another process, in a role.
func process(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), roleVariable+"="+role)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

func init() {
	actors["sleeper"] = func() int {
		for {
			_ = unix.Pause() // a signal ends it
		}
	}
}

// TestParseStat reads what /proc says of processes, whatever their names are.
func TestParseStat(t *testing.T) {
	for text, want := range map[string]condition{
		"17 (llk23) R 1 17 17": runs,
		"17 (llk23) S 1 17 17": runs,
		"17 (llk23) D 1 17 17": runs,
		"17 (a) T (b) R 1 17":  runs,
		"17 (llk23) T 1 17 17": stopped,
		"17 (llk23) t 1 17 17": stopped,
		"17 (a) R (b) T 1 17":  stopped,
		"17 (llk23) Z 1 17 17": ended,
		"17 (llk23) X 1 17 17": ended,
		"17 (llk23) ":          stopped, // nobody knows, so nobody vouches
		"17 (llk23)":           stopped,
		"17 llk23 R":           stopped,
		"":                     stopped,
	} {
		if got := parseStat([]byte(text)); got != want {
			t.Errorf("%q: condition %d, want %d", text, got, want)
		}
	}
}

// TestCondition looks at a process that runs, is stopped, runs again, is killed, and is
// gone.
func TestCondition(t *testing.T) {
	c := process(t, "sleeper")
	p, err := openProcess(uint64(c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	is := func(want condition, when string) {
		t.Helper()
		if got := p.condition(); got != want {
			t.Errorf("%s: condition %d, want %d", when, got, want)
		}
	}
	// becomes waits until the kernel has done what a signal says.
	becomes := func(s syscall.Signal, options int) {
		t.Helper()
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, options|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
	}
	is(runs, "at first")
	becomes(syscall.SIGSTOP, unix.WSTOPPED)
	is(stopped, "after SIGSTOP")
	becomes(syscall.SIGCONT, unix.WCONTINUED)
	is(runs, "after SIGCONT")
	becomes(syscall.SIGKILL, unix.WEXITED)
	is(ended, "after SIGKILL")
	if err := c.Wait(); err == nil {
		t.Error("it was killed, and ended well")
	}
	is(ended, "after it was waited for")
}
