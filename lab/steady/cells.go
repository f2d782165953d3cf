package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The tests. A package is run whole, a suspect alone.
var (
	packages = []string{
		"apps/dht", "apps/dht/resp", "apps/dht/table", "apps/llk23", "cmd/orwl", "dashboards", "internal/netns",
		"locks", "metrics", "net/p2p", "net/p2p/rendezvous", "net/shm", "orwl", "orwl/launch", "orwl/session", "orwl/stencil",
	}
	suspects = map[string][]string{
		"apps/llk23":   {"TestPartition", "TestLostPartition", "TestOutlives", "TestOutlivesAlone", "TestMinorityEnds", "TestPrometheus"},
		"dashboards":   {"TestAlertsFire"},
		"net/p2p":      {"TestOutage", "TestReach", "TestKilled", "TestStopped", "TestSuspect", "TestJoinBeforeNode0", "TestStarved", "TestNode0Stopped", "TestMinority", "TestCloseAtGoodbye"},
		"orwl":         {"TestPartition", "TestReconnect", "TestSlowNode", "TestStoppedNode", "TestSlowReader", "TestSurvive", "TestSurviveStops"},
		"orwl/session": {"TestLeaseOfNetwork", "TestQuarantineOfNetwork"},
	}
)

// cell is a test, or a package, in one way.
type cell struct {
	pkg, test string // no test: the package
	way       way
	most      int // how often it runs
	batch     int // how often one process runs it
}

func (c cell) String() string {
	test := c.test
	if test == "" {
		test = "all"
	}
	return fmt.Sprint(c.way, " ", c.pkg, " ", test)
}

// cells are all cells.
func cells(trials, suspect int) (all []cell) {
	for _, p := range packages {
		for _, w := range ways {
			for _, test := range suspects[p] {
				all = append(all, cell{pkg: p, test: test, way: w, most: suspect, batch: 5})
			}
			all = append(all, cell{pkg: p, way: w, most: trials, batch: 1})
		}
	}
	return all
}

// compile makes the test binaries of cells.
func compile(cells []cell, folder string) (map[string]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	binaries := make(map[string]string)
	for _, c := range cells {
		p := c.pkg
		name, err := filepath.Abs(filepath.Join(folder, strings.ReplaceAll(p, "/", "-")))
		if err != nil {
			return nil, err
		}
		binaries[p] = name
		if _, err := os.Stat(name); err != nil {
			if out, err := exec.Command("go", "test", "-c", "-o", name, "./"+p).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", p, err, out)
			}
		}
		if c.test == "" {
			continue
		}
		// A pattern that finds no test passes.
		if found, err := output(name, "-test.list=^"+c.test+"$"); err != nil || found != c.test {
			return nil, fmt.Errorf("%s has no test %s: it lists %q, %v", p, c.test, found, err)
		}
	}
	return binaries, nil
}

// result is what runs of a cell have said.
type result struct {
	failed bool
	took   time.Duration
	said   []byte
}

// play runs a cell n times in one process.
func (c cell) play(ctx context.Context, binary string, n int) result {
	began := time.Now()
	hold, stop := context.WithTimeout(ctx, time.Duration(n)**patience)
	defer stop()
	args := []string{fmt.Sprint("-test.count=", n), "-test.timeout=0", fmt.Sprint("-test.shuffle=", rand.Uint32())}
	ring := ""
	if c.test != "" {
		args, ring = append(args, "-test.run=^"+c.test+"$", "-test.v"), "change"
	}
	cmd := exec.CommandContext(hold, binary, args...)
	cmd.Dir = c.pkg
	cmd.Env = append(os.Environ(), "ORWL_ALONE=1", "ORWL_REPEAT=1", "ORWL_RING="+ring)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = 10 * time.Second // children may still have its output
	err := c.way.run(hold, cmd)
	if err == nil && strings.Contains(said.String(), "\n--- SKIP: ") {
		err = errors.New("it is skipped")
	}
	if err != nil {
		fmt.Fprintf(&said, "\n%v: %v\n", cmd.Args, err)
	}
	return result{failed: err != nil, took: time.Since(began), said: []byte(said.String())}
}

// output is what a command prints.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// way is how the machine treats a test.
type way int

const (
	busy way = iota
	quota
	pauses
)

var ways = []way{busy, quota, pauses}

func (w way) String() string { return [...]string{"busy", "quota", "pauses"}[w] }

// run runs a command in this way.
func (w way) run(ctx context.Context, cmd *exec.Cmd) error {
	switch w {
	case busy:
		return besideOthers(ctx, cmd)
	case quota:
		return withQuota(cmd)
	}
	return withPauses(ctx, cmd)
}

// besides is how many processes compute beside a test.
const besides = 8

func besideOthers(ctx context.Context, cmd *exec.Cmd) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range besides {
		other := exec.CommandContext(ctx, self, "-spin")
		if err := other.Start(); err != nil {
			return err
		}
		defer func() {
			stop()
			_ = other.Wait() // it was killed
		}()
	}
	return cmd.Run()
}
