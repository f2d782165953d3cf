//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/orwl/launch"
)

// TestJoin starts four processes that know nothing but their key. They find each other, and
// node 0 has the result.
func TestJoin(t *testing.T) {
	requireMulticast(t)
	key := "ORWL_KEY=" + string(launch.NewKey())
	var results, said [4]bytes.Buffer
	var group sync.WaitGroup
	for i := range results {
		c := exec.CommandContext(t.Context(), os.Args[0], strings.Fields("-join 4 -grid 2x2 -block 50x50 -iters 10 -json")...)
		c.Env = append(os.Environ(), envProgram+"=1", key)
		c.Stdout, c.Stderr = &results[i], &said[i]
		group.Go(func() {
			if err := c.Run(); err != nil {
				t.Errorf("%v: %s", err, said[i].String())
			}
		})
	}
	group.Wait()
	var got report
	all := slices.Concat(results[0].Bytes(), results[1].Bytes(), results[2].Bytes(), results[3].Bytes())
	if err := json.Unmarshal(all, &got); err != nil || got.Nodes != 4 || !got.Verified {
		t.Errorf("%v: %s", err, all)
	}
}

// TestJoinRefused asks for what cannot be.
func TestJoinRefused(t *testing.T) {
	t.Setenv(envProgram, "1")
	for args, want := range map[string]string{
		"-join 4":          "llk23: launch: environment: ORWL_KEY_FILE is not set: the 4 nodes find each other by their key (llk23 -h lists the flags)\n",
		"-join 0":          "-join",
		"-join 2 -nodes 2": "llk23: -nodes is 2 and -join 2: want one of them (llk23 -h lists the flags)\n",
	} {
		if code, _, stderr := program(t, strings.Fields(args)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, complains %q, want %q", args, code, stderr, want)
		}
	}
}

// requireMulticast skips a test where no network takes multicast, but never in CI.
func requireMulticast(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 }) {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no network interface takes multicast")
	}
	t.Skip("no network interface takes multicast")
}
