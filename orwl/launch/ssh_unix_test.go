//go:build unix

package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeSSH makes a script the ssh of a test. It knows each host by another name, notes its
// arguments in a file, and runs what it is told on this machine. A real ssh and a real sshd are
// in the tests of deploy.
func fakeSSH(t *testing.T) (arguments string) {
	dir := t.TempDir()
	script := filepath.Join(dir, "ssh")
	arguments = filepath.Join(dir, "arguments")
	text := `#!/bin/sh
for last; do :; done
case $* in *" -G "*) echo user me; echo "hostname ${last#*@}.example"; exit;; esac
echo "$@" >>` + arguments + `
case $* in *" refuses "*) echo "ssh: connect to host refuses: no route" >&2; exit 255;; esac
unset ORWL_LEASE ORWL_SURVIVE ORWL_LIVES ORWL_FLIGHT
exec sh -c "$last"
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(envSSH, script+" -F none")
	t.Setenv(envLease, "7s")
	t.Setenv("ORWL_SURVIVE", "/cuts")
	t.Setenv("ORWL_LIVES", "3")
	return arguments
}

// elsewhere is a run of three nodes on two hosts.
func elsewhere(role string) Run {
	r := of(role)
	r.Hosts = []string{"me@host1", "host2"}
	return r
}

// Nodes on other hosts know their places, share a key that is in no list of processes, and write
// whole lines behind their hosts' names.
func TestSpawnOverSSH(t *testing.T) {
	defer goleak.VerifyNone(t)
	arguments := fakeSSH(t)
	var out bytes.Buffer
	r := elsewhere("talk")
	r.Stdout, r.Stderr, r.Key = &out, &out, []byte(testKey)
	r.Args = []string{"it's", "$HOME", ""}
	r.Env = append(r.Env, "SECRET=a 'b' \\c $d\t")
	if err := Spawn(soon(t), r); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, place := range []string{
		"[0 me@host1] place node 0 of 3 (ssh), listens on 0.0.0.0:0",
		"[1 me@host1] place node 1 of 3 (ssh), root at host1.example:4321, listens on 0.0.0.0:0",
		"[2 host2] place node 2 of 3 (ssh), root at host1.example:4321, listens on 0.0.0.0:0",
	} {
		want := fmt.Sprintf("%s, has a key key %s leaks false again <nil> lease 7s folder /cuts lives 3 arguments %q secret %q\n", place, testKey, r.Args, "a 'b' \\c $d\t")
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("no line %q in\n%.500s", want, out.String())
		}
	}
	if got, want := strings.Count(out.String(), "\n"), 3*(2+2*(2*talkLines+1)); got != want || strings.Contains(out.String(), mark) {
		t.Errorf("%d lines, want %d and no report", got, want)
	}
	text, err := os.ReadFile(arguments)
	if err != nil || strings.Contains(string(text), testKey) || strings.Contains(string(text), "SECRET") || strings.Count(string(text), "-F none -T -o BatchMode=yes") != 3 {
		t.Errorf("ssh is called with %s, %v", text, err)
	}
}

// When one host fails, the others end, and the error has its name.
func TestSpawnOverSSHFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	fakeSSH(t)
	for _, c := range []struct {
		role string
		kill syscall.Signal
		host string
		want string
		code int
	}{
		{"fail", 0, "host2", "launch: node 2 on host2 exited with code 3", 3},
		{"wait", 0, "refuses", "launch: node 2 on refuses: ssh ended with code 255: its connection failed, or a signal ended the node: try ssh -o BatchMode=yes HOST true, which must ask for nothing", 255},
		{"wait", syscall.SIGKILL, "host2", "launch: node 1 on me@host1 was ended by a signal: killed", 137},
		{"stubborn", syscall.SIGKILL, "host2", "launch: node 1 on me@host1 was ended by a signal: killed", 137},
		{"silent", 0, "host2", "launch: node 0 on me@host1: " + ErrNoReport.Error(), 1},
		{"dumb", 0, "host2", "launch: node 0 on me@host1 exited with code 3", 3},
	} {
		var all []int
		r := elsewhere(c.role)
		r.Hosts[1] = c.host
		r.Grace, r.Stderr = time.Hour, new(bytes.Buffer)
		if c.role == "stubborn" {
			r.Grace = 50 * time.Millisecond
		}
		r.Stdout = &ready{nodes: 3, then: func(pids []int) {
			if all = pids; c.kill != 0 {
				syscall.Kill(pids[1], c.kill)
			}
		}}
		err := Spawn(soon(t), r)
		var failed *NodeError
		if !errors.As(err, &failed) || err.Error() != c.want || failed.ExitCode() != c.code {
			t.Errorf("%v, want %s and code %d", err, c.want, c.code)
		}
		for node, pid := range all {
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("%s: node %d is still there: %v", c.role, node, err)
			}
		}
	}
}

// Interrupts go to the nodes by their lifelines.
func TestSpawnOverSSHForwardsSignals(t *testing.T) {
	defer goleak.VerifyNone(t)
	fakeSSH(t)
	r := elsewhere("survivor")
	out := &ready{nodes: 3, then: func([]int) { syscall.Kill(os.Getpid(), syscall.SIGINT) }}
	r.Stdout = out
	if err := Spawn(soon(t), r); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "interrupted\n") != 3 {
		t.Errorf("not three times interrupted:\n%s", out.String())
	}
}

// A host that does not answer does not keep Spawn: after its nodes it gives up the connections.
func TestSpawnOverSSHGivesUp(t *testing.T) {
	defer goleak.VerifyNone(t)
	fakeSSH(t)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(soon(t))
	r := elsewhere("deaf")
	r.Grace = 50 * time.Millisecond
	r.Stdout = &ready{nodes: 3, then: func([]int) { cancel(enough) }}
	if err := Spawn(ctx, r); err != enough {
		t.Error(err)
	}
}

// The shell starts nothing if its input ends before the environment is complete.
func TestShellNeedsAll(t *testing.T) {
	for input, want := range map[string]int{"A=b\n": 1, "A=b": 1, "": 1, "A=b\n\n": 0, "\n": 0} {
		cmd := exec.Command("sh", "-c", shell, "sh", "true")
		cmd.Stdin = strings.NewReader(input)
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%q: exit code %d, want %d", input, code, want)
		}
	}
}

func TestParseHosts(t *testing.T) {
	for list, want := range map[string]string{
		"a":                "a",
		"a,me@b,node[1-3]": "a me@b node1 node2 node3",
		"10.0.0.1,::1":     "10.0.0.1 ::1",
	} {
		if got, err := ParseHosts(list); err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, %v, want %s", list, got, err, want)
		}
	}
	for _, list := range []string{"", "a,", ",a", "-oProxyCommand=x", "a b", "a;b", "@a", "a @b", "me@", "me@-x/", "-l@a", "n[1-]"} {
		if got, err := ParseHosts(list); err == nil {
			t.Errorf("%s: %q", list, got)
		}
	}
}
