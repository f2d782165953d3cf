package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOneBar runs two nodes on a terminal: they share a bar that the launcher draws.
func TestOneBar(t *testing.T) {
	terminal, user := pseudoTerminal(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields("-nodes 2 -grid 2x2 -block 20x20 -iters 1000000000 -verify=false")...)
	cmd.Env = append(os.Environ(), envProgram+"=1", "TERM=xterm")
	cmd.Stdout, cmd.Stderr = terminal, terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	until := func(enough func(text string) bool) {
		for buffer := make([]byte, 1<<10); !enough(string(text)); {
			n, err := user.Read(buffer)
			if err != nil {
				t.Fatalf("%v after %q", err, text)
			}
			text = append(text, buffer[:n]...)
		}
	}
	until(func(text string) bool { return strings.Count(text, "sweeping") >= 3 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	// This test keeps the terminal open: without a writer the kernel may end the reading before all was read.
	const end = "the end"
	if _, err := terminal.WriteString(end); err != nil {
		t.Fatal(err)
	}
	until(func(text string) bool { return strings.HasSuffix(text, end) })
	terminal.Close()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	all := strings.TrimSuffix(string(text), end)
	if form := regexp.MustCompile(`^(\r\[[#.]{30}\] llk23: sweeping [ 0-9]+ %(, about [0-9.hms]+ left)? *)+\r +\rllk23: stopped without a result: interrupted\r\n$`); !form.MatchString(all) {
		t.Errorf("the terminal shows %q", all)
	}
}

// pseudoTerminal is a terminal for a program, and what its user sees of it.
func pseudoTerminal(t *testing.T) (terminal, user *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return terminal, user
}
