package loan

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// sleeperVariable makes the test binary sleep until a signal ends it.
const sleeperVariable = "ORWL_LOAN_TEST_SLEEPS"

func TestMain(m *testing.M) {
	if os.Getenv(sleeperVariable) != "" {
		for {
			_ = unix.Pause()
		}
	}
	os.Exit(m.Run())
}

// TestParseStat reads what /proc says of processes, whatever their names are.
func TestParseStat(t *testing.T) {
	for text, want := range map[string]Condition{
		"17 (llk23) R 1 17 17": Runs,
		"17 (llk23) S 1 17 17": Runs,
		"17 (llk23) D 1 17 17": Runs,
		"17 (a) T (b) R 1 17":  Runs,
		"17 (llk23) T 1 17 17": Stopped,
		"17 (llk23) t 1 17 17": Stopped,
		"17 (a) R (b) T 1 17":  Stopped,
		"17 (llk23) Z 1 17 17": Ended,
		"17 (llk23) X 1 17 17": Ended,
		"17 (llk23) ":          Stopped, // no state is known, so this node does not vouch for it
		"17 (llk23)":           Stopped,
		"17 llk23 R":           Stopped,
		"":                     Stopped,
	} {
		if got := parseStat([]byte(text)); got != want {
			t.Errorf("%q: condition %d, want %d", text, got, want)
		}
	}
}

// TestCondition looks at a process that runs, is stopped, runs again, is killed, and is
// gone.
func TestCondition(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), sleeperVariable+"=yes")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	p, err := openProcess(uint64(c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	is := func(want Condition, when string) {
		t.Helper()
		if got := p.Condition(); got != want {
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
	is(Runs, "at first")
	becomes(syscall.SIGSTOP, unix.WSTOPPED)
	is(Stopped, "after SIGSTOP")
	becomes(syscall.SIGCONT, unix.WCONTINUED)
	is(Runs, "after SIGCONT")
	becomes(syscall.SIGKILL, unix.WEXITED)
	is(Ended, "after SIGKILL")
	if err := c.Wait(); err == nil {
		t.Error("it was killed, and ended well")
	}
	is(Ended, "after it was waited for")
}
