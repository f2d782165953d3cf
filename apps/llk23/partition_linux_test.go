package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/rings"
)

var partitions = rings.Seeds("llk23.partitions", 1, 64, "TestPartition: seeds, TestLostPartition: a quarter of them")

// TestPartition cuts the link between two of three hosts while they solve a problem. The lease is
// much longer than the cut, so the result is, bit for bit, the sequential one.
func TestPartition(t *testing.T) {
	t.Parallel()
	for seed := range partitions.All() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			result(t, cutOff(t, seed, 700*time.Millisecond, unhurried))
		})
	}
}

// TestReconnect is TestPartition with a cut for which the nodes do not wait: after less than half of
// the lease they try new connections. When the cut ends, half of the lease is left.
func TestReconnect(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	result(t, cutOff(t, 1, 10*time.Second, 20*time.Second))
}

// TestLostPartition cuts the link for longer than the lease. The two hosts that hear each other go on. The third one comes
// again, or ends because the run is over.
func TestLostPartition(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	for seed := range partitions.Part(1, 4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			const lease = 5 * time.Second
			// A node does not count as silence of the others the time in which it did not run
			// itself. So on a machine with much too much to do, a long cut may not be long enough.
			for off := 7 * time.Second; ; off *= 4 {
				hosts := cutOff(t, seed, off, lease)
				var printed bytes.Buffer
				failed := 0
				for i := range hosts {
					printed.Write(hosts[i].out.Bytes())
					if text, _, _ := hosts[i].says.said(); hosts[i].err != nil {
						if failed++; !strings.Contains(text, "this node is apart from its run") {
							t.Errorf("host %d: %v, %s", i, hosts[i].err, text)
						}
					}
				}
				var got report
				if err := json.Unmarshal(printed.Bytes(), &got); err != nil || !got.Verified || failed > 1 {
					t.Fatalf("%d hosts fail, %v: %s", failed, err, printed.String())
				}
				if got.Lives > 1 {
					return
				}
				if off > time.Minute {
					t.Fatalf("the run goes on after a cut of %v: %+v", off, got)
				}
			}
		})
	}
}

// host is a process of a run, and what came of it.
type host struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	says complaints
	err  error
}

type hosts [3]host

// cutOff has three hosts solve a problem, cuts the link of two of them for some time, and returns
// what came of them.
func cutOff(t *testing.T, seed uint64, off, lease time.Duration) *hosts {
	net := netns.New(t, 3)
	quality := netns.Quality{Delay: time.Millisecond / 2, Loss: 0.001}
	net.All(quality)
	const iterations = "400" // they take more than a second
	args := strings.Fields("-grid 3x1 -block 16x16 -json -tasks fused -iters " + iterations)
	all := new(hosts)
	for i := range all {
		h := &all[i]
		h.cmd = net.Command(i, os.Args[0], args...)
		h.cmd.Env = append(os.Environ(), envProgram+"=tells", "ORWL_KEY=a key that only these hosts have",
			fmt.Sprint("ORWL_NODE=", i), "ORWL_NODES=3", "ORWL_LEASE="+lease.String(),
			"ORWL_ROOT="+net.Address(0)+":7717", "ORWL_LISTEN="+net.Address(i)+":7717")
		h.says.sweeps = make(chan struct{})
		h.cmd.Stdout, h.cmd.Stderr = &h.out, &h.says
		if err := h.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.cmd.Process.Kill() })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range all {
			all[i].err = all[i].cmd.Wait()
		}
	}()
	for i := range all {
		select {
		case <-all[i].says.sweeps: // before that they may not have met
		case <-ended:
		}
	}
	a, b := int(seed/2%3), int((seed/2+1)%3)
	<-time.After(time.Duration(seed) * 37 * time.Millisecond % (250 * time.Millisecond)) // any time between two beats
	net.Both(a, b, netns.Quality{Cut: true})
	<-time.After(off)
	_, done, total := all[a].says.said()
	net.Both(a, b, quality)
	<-ended
	if done == total {
		t.Errorf("host %d had swept all when the cut ended: nothing is tested", a)
	}
	return all
}

// result checks that hosts have ended well, with the sequential result.
func result(t *testing.T, all *hosts) {
	t.Helper()
	for i := range all {
		if text, _, _ := all[i].says.said(); all[i].err != nil {
			t.Errorf("host %d: %v, %s", i, all[i].err, text)
		}
	}
	if t.Failed() {
		return
	}
	var got report
	if err := json.Unmarshal(all[0].out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, all[0].out.String())
	}
	if !got.Verified || got.Nodes != 3 {
		t.Errorf("the result is not the sequential one: %+v", got)
	}
}
