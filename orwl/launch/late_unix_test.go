//go:build unix

package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// onLines is a writer that calls a function for each line that has an entry, in their order.
type onLines struct {
	bytes.Buffer
	lines []string
	calls []func()
}

func (w *onLines) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if len(w.lines) > 0 && strings.Contains(string(p), w.lines[0]) {
		call := w.calls[0]
		w.lines, w.calls = w.lines[1:], w.calls[1:]
		call()
	}
	return n, err
}

// TestSpawnAgain kills node 1, and node 0 when node 1 is back. Both are started again, know where all
// nodes are, and the run ends well.
func TestSpawnAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	var all []int
	r := of("phoenix")
	r.Restarts, r.Grace = 2, time.Hour // nothing need be killed
	out := &ready{nodes: 3, then: func(pids []int) {
		all = pids
		syscall.Kill(pids[1], syscall.SIGKILL)
	}}
	told := &onLines{
		lines: []string{"launch: node 1 has come back\n", "launch: node 0 has come back\n"},
		calls: []func(){
			func() { syscall.Kill(all[0], syscall.SIGKILL) },
			func() { syscall.Kill(os.Getpid(), syscall.SIGINT) },
		},
	}
	r.Stdout, r.Stderr = out, told
	if err := Spawn(soon(t), r); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"[1] place node 1 of 3 (spawned), root at 127.0.0.1:4321, listens on 127.0.0.1:4322, has a key, comes late\n",
		"[0] place node 0 of 3 (spawned), listens on 127.0.0.1:4321, has a key, comes late\n",
	} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("not once %q:\n%s", want, out.String())
		}
	}
	if want := "launch: node 1 was ended by a signal: killed; it is started again, and the others go on\n"; !strings.HasPrefix(told.String(), want) {
		t.Errorf("said %q, want %q first", told.String(), want)
	}
}

// A run ends well without a node that still asks to come in, or that was not started again because no restart was left.
func TestSpawnAgainTooLate(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv(envRestarts, "1")
	for _, role := range []string{"asking", "hopeless"} {
		var all []int
		finish := func() {
			syscall.Kill(all[0], syscall.SIGINT)
			syscall.Kill(all[2], syscall.SIGINT)
		}
		r := of(role)
		r.Grace = time.Hour // nothing need be killed
		told := &onLines{lines: []string{"exited with code 7; the others go on\n"}, calls: []func(){finish}}
		kills := &ready{nodes: 3, then: func(pids []int) {
			all = pids
			syscall.Kill(pids[1], syscall.SIGKILL)
		}}
		asks := &onLines{lines: []string{", comes late\n"}, calls: []func(){finish}}
		r.Stderr = told
		r.Stdout = writer(func(p []byte) (int, error) {
			kills.Write(p)
			return asks.Write(p)
		})
		if err := Spawn(soon(t), r); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
}

// TestSpawnMore begins a run of three numbers with two nodes. A signal starts the third, which fails and is
// started again. There is no fourth.
func TestSpawnMore(t *testing.T) {
	defer goleak.VerifyNone(t)
	grow := func() { syscall.Kill(os.Getpid(), syscall.SIGUSR1) }
	r := of("phoenix")
	r.Begin, r.Restarts, r.Grace = 2, 1, time.Hour // nothing need be killed
	out := &ready{nodes: 2, then: func([]int) { grow() }}
	told := &onLines{
		lines: []string{"launch: node 2 has come\n", "launch: node 2 has come back\n", "launch: all 3 nodes have been started\n"},
	}
	third, in, killed := 0, false, false
	kill := func() { // process 0 would be this test and all that it has started
		if in && third > 0 && !killed {
			killed = true
			syscall.Kill(third, syscall.SIGKILL)
		}
	}
	told.calls = []func(){
		func() { in = true; kill() },
		grow,
		func() { syscall.Kill(os.Getpid(), syscall.SIGINT) },
	}
	var places bytes.Buffer
	r.Stdout = writer(func(p []byte) (int, error) {
		if !bytes.HasPrefix(p, []byte("[2]")) {
			return out.Write(p)
		}
		if bytes.HasPrefix(p, []byte("[2] place")) {
			return places.Write(p)
		}
		if third == 0 {
			fmt.Sscanf(string(p), "[2] ready %d", &third)
			kill()
		}
		return len(p), nil
	})
	r.Stderr = told
	if err := Spawn(soon(t), r); err != nil {
		t.Errorf("%v\n%s", err, told.String())
	}
	want := "[2] place node 2 of 3 (spawned), root at 127.0.0.1:4321, listens on 127.0.0.1:0, has a key, comes late\n" +
		"[2] place node 2 of 3 (spawned), root at 127.0.0.1:4321, listens on 127.0.0.1:4323, has a key, comes late\n"
	if places.String() != want {
		t.Errorf("node 2 said\n%s, want\n%s", places.String(), want)
	}
}

// A node comes back on its own host.
func TestSpawnAgainOverSSH(t *testing.T) {
	defer goleak.VerifyNone(t)
	fakeSSH(t)
	r := elsewhere("phoenix")
	r.Restarts, r.Grace = 1, time.Hour
	out := &ready{nodes: 3, then: func(pids []int) { syscall.Kill(pids[2], syscall.SIGKILL) }}
	told := &onLines{
		lines: []string{"launch: node 2 has come back\n"},
		calls: []func(){func() { syscall.Kill(os.Getpid(), syscall.SIGINT) }},
	}
	r.Stdout, r.Stderr = out, told
	if err := Spawn(soon(t), r); err != nil {
		t.Errorf("%v\n%s", err, told.String())
	}
	if want := "[2 host2] place node 2 of 3 (ssh), root at host1.example:4321, listens on 0.0.0.0:4323, has a key, comes late\n"; strings.Count(out.String(), want) != 1 {
		t.Errorf("not once %q:\n%s", want, out.String())
	}
}

// A node that comes back refuses variables that make no sense for it.
func TestComesBackWhere(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"ORWL_LATE=1", "launch: environment: ORWL_LATE is 1, and this is node 0 of 1 (alone): say which node comes late by ORWL_NODE and ORWL_NODES"},
		{"ORWL_LATE=1 ORWL_NODE=0 ORWL_NODES=2", "launch: environment: ORWL_LATE is 1, and this is node 0: set ORWL_PEERS, since node 0 has to find another node"},
		{"ORWL_LATE=yes", `launch: environment: ORWL_LATE is "yes": want a number from 0 to 1`},
		{"ORWL_LATE=1 ORWL_NODE=1 ORWL_NODES=2 ORWL_ROOT=a:1", ""},
		{"ORWL_BEGIN=1 ORWL_NODE=1 ORWL_NODES=2 ORWL_ROOT=a:1", ""},
		{"ORWL_BEGIN=2 ORWL_NODE=2 ORWL_PEERS=a:1,b:1,", ""},
		{"ORWL_BEGIN=2 ORWL_NODE=2 ORWL_PEERS=a:1,,c:1", `launch: environment: ORWL_PEERS is "": no host: want host:port`},
		{"ORWL_BEGIN=2 ORWL_JOIN=3 ORWL_KEY=0123456789abcdef", "launch: environment: ORWL_BEGIN is 2, and nodes that find each other all begin: unset it, or ORWL_JOIN"},
		{"ORWL_BEGIN=3 ORWL_NODE=1 ORWL_NODES=2 ORWL_ROOT=a:1", "launch: environment: ORWL_BEGIN is 3, and there are 2 nodes: want 1 to 2"},
	} {
		env := make(map[string]string)
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		p, err := Detect(func(name string) string { return env[name] }, nil, nil)
		if c.want == "" && (err != nil || !p.Late) || c.want != "" && (!errors.Is(err, ErrEnvironment) || err.Error() != c.want) {
			t.Errorf("%s: %v, %v, want %s", c.env, p, err, c.want)
		}
	}
	t.Setenv(envRestarts, "-1")
	if err := Spawn(soon(t), of("silent")); !errors.Is(err, ErrEnvironment) {
		t.Errorf("ORWL_RESTARTS=-1: %v", err)
	}
}
