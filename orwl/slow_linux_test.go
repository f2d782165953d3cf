package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/launch"
)

// slowRounds is how long the program of the role slow is. By the middle the nodes have
// mapped each other's memory: until then the launcher's word does not count, and the plain
// lease does.
const slowRounds = 2000

// starve runs no goroutine of this process until another process reads the FIFO. The
// kernel sees a process that runs and waits for a pipe.
func starve(fifo string) error {
	fd, err := syscall.Open(fifo, syscall.O_WRONLY, 0)
	if err != nil {
		return err
	}
	debug.WriteHeapDump(uintptr(fd)) // the world stops until all of it is written
	return syscall.Close(fd)
}

func init() {
	actors["slow"] = func() int {
		home, err := strconv.Atoi(os.Args[1])
		if err == nil {
			err = slowNode(home, os.Args[2])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "ended:", err)
			return 1
		}
		return 0
	}
}

// slowNode is a node of a program of two tasks that write one resource in turn. In one
// of the rounds node 1 starves, or has the test stop it, and then node 0 waits until its
// log says that node 1 is back. Its arguments are the home of the resource, and the FIFO
// that starves node 1, or nothing.
func slowNode(home int, fifo string) error {
	ctx := context.Background()
	ballast := make([]byte, 1<<20) // more than a pipe takes
	defer func() { ballast[0] = 1 }()
	back := make(chan struct{})
	log := io.MultiWriter(os.Stderr, &watched{word: "node is back", then: func(string) { close(back) }})
	n, err := Join(ctx, JoinOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		return err
	}
	rt, err := New(Options{Nodes: n})
	if err != nil {
		return err
	}
	r := rt.Resource("r", 8)
	rt.Home(r, home)
	for i := range n.Count() {
		task := rt.Task(name(i)).On(i)
		a := task.Write(r)
		task.Each(slowRounds, func(round int) error {
			Write[uint64](a)[0]++
			if round != slowRounds/2+1-i { // node 0 comes after node 1
				return nil
			}
			if i == 0 {
				<-back // the log of node 0 says so
				return nil
			}
			if fifo == "" {
				fmt.Println("ready", os.Getpid())
				select {} // the test stops this process
			}
			if err := starve(fifo); err != nil {
				return err
			}
			return nil
		})
	}
	return errors.Join(rt.Run(ctx), n.Close(ctx))
}

// watched is a writer that has a line of a run looked at as soon as it is there.
type watched struct {
	bytes.Buffer
	word string
	then func(line string)
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if line := string(p); w.then != nil && strings.Contains(line, w.word) {
		then := w.then
		w.then = nil
		then(line)
	}
	return n, err
}

// launched is a run of the role slow.
func launched(out io.Writer, home, fifo string) launch.Run {
	return launch.Run{
		Nodes: 2, Program: os.Args[0], Args: []string{home, fifo}, Env: []string{roleVariable + "=slow", "ORWL_LEASE=" + quiet.String()},
		Stdout: out, Stderr: out, Grace: 50 * time.Millisecond,
	}
}

// makeFIFO makes a FIFO and opens it for reading, so that writers need not wait.
func makeFIFO(t *testing.T) (name string, in *os.File) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return name, in
}

// TestSlowNode starves a node for longer than the lease, while it holds a grant of the
// other node, or is the home on which the other node waits. The launcher vouches for it,
// so the run goes on, and ends well. The other node says that it is slow, and that it is
// back.
func TestSlowNode(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	for _, home := range []string{"0", "1"} {
		t.Run("home "+home, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), chaosPatience)
			defer cancel()
			fifo, in := makeFIFO(t)
			out := &watched{word: "node is slow", then: func(string) { go io.Copy(io.Discard, in) }}
			if err := launch.Spawn(ctx, launched(out, home, fifo)); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, what := range []string{"node is slow", "node is back"} {
				if !strings.Contains(out.String(), what) {
					t.Errorf("nobody says %q:\n%s", what, out.String())
				}
			}
		})
	}
}

// TestStoppedNode stops a node whose launcher runs. The run ends, and names the node,
// although nothing continues the node.
func TestStoppedNode(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	for _, home := range []string{"0", "1"} {
		t.Run("home "+home, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), chaosPatience)
			defer cancel()
			out := &watched{word: "ready "}
			out.then = func(line string) {
				var pid int
				if _, err := fmt.Sscanf(line, "[1] ready %d", &pid); err != nil {
					t.Error(err)
					return
				}
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					t.Error(err)
				}
			}
			err := launch.Spawn(ctx, launched(out, home, ""))
			failed := (*launch.NodeError)(nil)
			if !errors.As(err, &failed) || failed.Node != 0 || failed.Code != 1 {
				t.Fatalf("%v, want that node 0 fails\n%s", err, out.String())
			}
			if !strings.Contains(out.String(), "[0] ended: orwl: node 1: ") {
				t.Errorf("node 0 does not name node 1:\n%s", out.String())
			}
		})
	}
}
