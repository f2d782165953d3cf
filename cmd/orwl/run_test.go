//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/launch"
)

// envNodeOfTest makes the test binary a node that orwl run starts. Its value is the
// number of the node that fails.
const envNodeOfTest = "ORWL_TEST_FAILS"

// TestRun runs this test binary on three nodes.
func TestRun(t *testing.T) {
	if fails := os.Getenv(envNodeOfTest); fails != "" {
		runAsNode(t, fails)
		return
	}
	program := os.Args[0]
	t.Setenv(envNodeOfTest, "none")
	code, out, complaints := try(t, "run", "-n", "3", "--", program, "-test.run=^TestRun$", "-test.v")
	if code != command.Done || complaints != "" {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	for _, want := range []string{"[0] node 0 of 3 (spawned)", "[1] node 1 of 3 (spawned), root at 127.0.0.1:4321", "[2] node 2 of 3 (spawned), root at"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	t.Setenv(envNodeOfTest, "1")
	code, _, complaints = try(t, "run", "-n", "2", program, "-test.run=^TestRun$")
	if want := "orwl run: launch: node 1 exited with code 7\n"; code != 7 || complaints != want {
		t.Errorf("exit code %d: %s, want 7: %s", code, complaints, want)
	}
}

// TestRunOverSSH runs this test binary on two hosts. A script plays ssh.
func TestRunOverSSH(t *testing.T) {
	script := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(script, []byte(`#!/bin/sh
for last; do :; done
case $* in *" -G "*) echo "hostname $last.example"; exit;; esac
exec sh -c "$last"
`), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ORWL_SSH", script)
	t.Setenv(envNodeOfTest, "none")
	code, out, complaints := try(t, "run", "-ssh", "host[1-2]", "--", os.Args[0], "-test.run=^TestRun$", "-test.v")
	if code != command.Done || complaints != "" {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	for _, want := range []string{"[0 host1] node 0 of 2 (ssh)", "[1 host2] node 1 of 2 (ssh), root at 127.0.0.1:4321"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	for args, want := range map[string]string{
		"-ssh node[1-":        `-ssh is "node[1-"`,
		"-n 1 -ssh host[1-2]": "-nodes is 1, want 2 to 4096",
	} {
		if code, _, complaints := try(t, append(append([]string{"run"}, strings.Fields(args)...), "./prog")...); code != command.Misused || !strings.Contains(complaints, want) {
			t.Errorf("%s: exit code %d: %s, want %s", args, code, complaints, want)
		}
	}
}

// runAsNode is a node, which does not go without the others.
func runAsNode(t *testing.T, fails string) {
	p, err := launch.FromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(p.String() + "\n")
	if p.Report != nil {
		if err := p.Report("127.0.0.1:4321"); err != nil {
			t.Fatal(err)
		}
	}
	if fails == "none" {
		return
	}
	if p.Node == 1 {
		os.Exit(7)
	}
	select {}
}

// TestVetLives has a program print the same, other lines, or say nothing of lives, by the seed of its lives.
func TestVetLives(t *testing.T) {
	t.Parallel()
	const says = `echo "orwl: the run goes on" >&2; `
	for what, c := range map[string]struct {
		script, ignore string
		code           int
		want           string
	}{
		"the same lines in another order":  {says + `if [ "$ORWL_LIVES" = 2 ]; then printf '[1] b\n[0] a\n'; else printf '[0] a\n[2] b\n'; fi`, "", 0, "the same lines 3 times, over 3 ends of lives"},
		"another line":                     {says + `echo "a${ORWL_LIVES#1}"`, "", 1, `ORWL_LIVES=2`},
		"another line that may be another": {says + `echo a; echo "took $ORWL_LIVES s"`, "^took", 0, "the same lines 3 times"},
		"no life has ended":                {`echo a`, "", 1, "no life has ended"},
		"a failure in another life":        {says + `[ "$ORWL_LIVES" != 3 ]`, "", 1, "ORWL_LIVES=3"},
		"a failure without lives":          {`exit 4`, "", 1, "fails without lives that end"},
	} {
		args := []string{"vet", "-lives", "3"}
		if c.ignore != "" {
			args = append(args, "-ignore", c.ignore)
		}
		code, out, complaints := try(t, append(args, "--", "sh", "-c", c.script)...)
		if code != c.code || !strings.Contains(out+complaints, c.want) {
			t.Errorf("%s: code %d, %s%s", what, code, out, complaints)
		}
	}
	if code, _, complaints := try(t, "vet", "-ignore", "x", "-"); code != 2 || !strings.Contains(complaints, "-lives") {
		t.Errorf("-ignore alone: code %d, %s", code, complaints)
	}
}
