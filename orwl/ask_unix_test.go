//go:build unix

package orwl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The role asked is a process with lives that is asked to end. Its argument says what it does then.
func init() {
	actors["asked"] = func() int {
		waits := func() error { fmt.Println("ready"); select {} }
		err := Run(context.Background(), Options{Log: slog.New(slog.NewTextHandler(os.Stdout, nil))}, func(ctx context.Context, rt *Runtime) error {
			r := Array[uint64](rt, "r", 1)
			task := rt.Task("works")
			own := Writes[uint64](task, r)
			ready := false
			rounds := map[string]int{"goes on": math.MaxInt32, "ends": 5, "cannot": 5, "waits": 5}[os.Args[1]]
			task.Each(rounds, func(round int) error {
				own.Slice()[0]++
				switch {
				case os.Args[1] == "waits":
					return waits()
				case os.Args[1] == "goes on" && !ready:
					fmt.Println("ready")
					ready = true
				}
				return nil
			})
			if err := rt.Run(ctx); err != nil {
				return err
			}
			if os.Args[1] == "cannot" {
				rt.Task("waits").Do(func(*Task) error { return waits() })
				return rt.Run(ctx)
			}
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_ = waits()
		return 0
	}
}

// TestAsked sends SIGTERM to a process with lives. It ends by the signal in the end: when its only node has left, at the second one if a body does not
// return, and at the first one if no cut can hold what it has, or the run is over.
func TestAsked(t *testing.T) {
	for role, signals := range map[string]int{"goes on": 1, "waits": 2, "cannot": 1, "ends": 1} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // if it does not end
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], role)
			cmd.Env, cmd.Stderr = append(os.Environ(), roleVariable+"=asked", livesVariable+"=1"), os.Stderr
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for _, line := range []string{"ready", "this node leaves the run"}[:signals] {
				said := false
				for !said && lines.Scan() {
					said = strings.Contains(lines.Text(), line)
				}
				if !said {
					t.Errorf("it ends before it says %q", line)
				}
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Error(err)
				}
			}
			for lines.Scan() {
			}
			exit := (*exec.ExitError)(nil)
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
				t.Errorf("it ends with %v, want by the signal", err)
			}
		})
	}
}
