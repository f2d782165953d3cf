//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

// backVariable names a file that node 2 makes when it comes late.
const backVariable = "PRIMES_TEST_BACK"

// The test binary is each node, too. It leaves the last batches until node 2 has come late.
func TestMain(m *testing.M) {
	back := os.Getenv(backVariable)
	if back == "" {
		os.Exit(m.Run())
	}
	*below = 250_000
	takes = func(batch int) bool {
		if os.Getenv("ORWL_LATE") != "" {
			if err := os.WriteFile(back, nil, 0o666); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		_, err := os.Stat(back)
		return batch < 18 || err == nil
	}
	main()
}

// output is what nodes print. It calls first with the process that node 2, or any node, says first that it
// has counted.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	node  string // its number, or a pattern
	first func(process int)
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := regexp.MustCompile(`node ` + o.node + `, process (\d+): `).FindSubmatch(p); m != nil && o.first != nil {
		process, _ := strconv.Atoi(string(m[1]))
		o.first(process)
		o.first = nil
	}
	return o.text.Write(p)
}

// spawn runs the program as three nodes, and returns the processes of node 2 that have counted something.
func spawn(t *testing.T, out *output, r launch.Run) (lives map[string]bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.Nodes, r.Program, r.Stdout, r.Stderr = 3, os.Args[0], out, out
	r.Env = []string{backVariable + "=" + filepath.Join(t.TempDir(), "back"), "ORWL_LEASE=1m"}
	err := launch.Spawn(ctx, r)
	text := out.text.String()
	if err != nil || out.first != nil {
		t.Fatalf("%v, nobody has counted: %t\n%s", err, out.first != nil, text)
	}
	if !strings.Contains(text, "[0] 22044 primes below 250000\n") {
		t.Errorf("not the 22044 primes below 250000:\n%s", text)
	}
	lives = make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^\[2\] node 2, process (\d+): `).FindAllStringSubmatch(text, -1) {
		lives[m[1]] = true
	}
	return lives
}

// TestComesBack kills node 2 of three. It is started again, counts in a later phase, and the result is right.
func TestComesBack(t *testing.T) {
	out := &output{node: "2", first: func(process int) { syscall.Kill(process, syscall.SIGKILL) }}
	if lives := spawn(t, out, launch.Run{Restarts: 1}); len(lives) != 2 {
		t.Errorf("node 2 has counted in %d lives, want 2:\n%s", len(lives), out.text.String())
	}
}

// TestJoins begins with two nodes. Node 2 is started when they have counted something, counts too, and the result
// is right.
func TestJoins(t *testing.T) {
	out := &output{node: ".", first: func(int) { syscall.Kill(os.Getpid(), syscall.SIGUSR1) }}
	if lives := spawn(t, out, launch.Run{Begin: 2}); len(lives) != 1 {
		t.Errorf("node 2 has counted in %d lives, want 1:\n%s", len(lives), out.text.String())
	}
}
