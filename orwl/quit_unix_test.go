//go:build unix

package orwl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// quitProgram is the environment variable that makes this test the program that
// is asked to quit.
const quitProgram = "ORWL_TEST_QUIT_PROGRAM"

// A run answers SIGQUIT with a report, and goes on. The next one is Go's again,
// which prints all goroutines and ends the process.
func TestQuit(t *testing.T) {
	if os.Getenv(quitProgram) != "" {
		runQuitProgram(t)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // if it does not quit
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestQuit$")
	cmd.Env = append(os.Environ(), quitProgram+"=1", "GOTRACEBACK=all")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	words, complaints := bufio.NewScanner(out), bufio.NewReader(stderr)
	expect := func(line string) {
		t.Helper()
		if !words.Scan() || words.Text() != line {
			t.Errorf("the program says %q, want %q: %v", words.Text(), line, words.Err())
		}
	}
	quit := func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Error(err)
		}
	}
	expect("round 0")
	quit()
	if line, err := complaints.ReadString('\n'); !strings.Contains(line, ", at orwl.runQuitProgram.") || !strings.Contains(line, ": task a works in round 0 for ") || !strings.HasSuffix(line, "; 1 task waits for it: b ──▶ a\n") {
		t.Errorf("the culprit is %q: %v", line, err)
	}
	for _, want := range []string{"a, round 0, holds x, works\n", "b, round 0, waits to write x ──▶ a\n"} {
		if line, err := complaints.ReadString('\n'); line != want {
			t.Errorf("%q, want %q: %v", line, want, err)
		}
	}
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Error(err)
	}
	expect("round 1")
	quit()
	dump, err := io.ReadAll(complaints)
	if text := string(dump); err != nil || !strings.HasPrefix(text, "SIGQUIT: quit") || !strings.Contains(text, "runQuitProgram") {
		t.Errorf("%v: %.200q", err, text)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Error(err)
	}
}

// runQuitProgram says when it begins a round, and stays there until it reads a
// line.
func runQuitProgram(t *testing.T) {
	if err := mustNew(t, Options{}).Run(context.Background()); err != nil { // and has nothing to do with signals any more
		t.Error(err)
	}
	rt := mustNew(t, Options{Stall: -1})
	x := rt.Resource("x", 0)
	a, b := rt.Task("a"), rt.Task("b")
	a.Write(x)
	b.Write(x)
	in := bufio.NewReader(os.Stdin)
	a.Each(-1, func(round int) error {
		fmt.Println("round", round)
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
		return nil
	})
	b.Each(-1, func(int) error { return nil })
	t.Error(rt.Run(context.Background()))
}
