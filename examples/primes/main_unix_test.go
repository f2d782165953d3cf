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

// backVariable names a file that node 2 makes when it takes part again.
const backVariable = "PRIMES_TEST_BACK"

// The test binary is each node, too. It leaves the last batches until node 2 has come back.
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

// output is what nodes print. It kills the first process of node 2 that has counted something.
type output struct {
	mu     sync.Mutex
	text   bytes.Buffer
	killed int
}

var counted = regexp.MustCompile(`(?m)^\[2\] node 2, process (\d+): \d+ batches$`)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := counted.FindSubmatch(p); m != nil && o.killed == 0 {
		o.killed, _ = strconv.Atoi(string(m[1]))
		syscall.Kill(o.killed, syscall.SIGKILL)
	}
	return o.text.Write(p)
}

// TestComesBack kills node 2 of three. It is started again, counts in a later phase, and the result is right.
func TestComesBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out output
	err := launch.Spawn(ctx, launch.Run{
		Nodes: 3, Restarts: 1, Program: os.Args[0], Stdout: &out, Stderr: &out,
		Env: []string{backVariable + "=" + filepath.Join(t.TempDir(), "back"), "ORWL_LEASE=1m"},
	})
	text := out.text.String()
	if err != nil || out.killed == 0 {
		t.Fatalf("%v, killed %d\n%s", err, out.killed, text)
	}
	if !strings.Contains(text, "[0] 22044 primes below 250000\n") {
		t.Errorf("not the 22044 primes below 250000:\n%s", text)
	}
	lives := make(map[string]bool)
	for _, m := range counted.FindAllStringSubmatch(text, -1) {
		lives[m[1]] = true
	}
	if len(lives) != 2 {
		t.Errorf("node 2 has counted in %d lives, want 2:\n%s", len(lives), text)
	}
}
