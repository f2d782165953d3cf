package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
)

var partitions = flag.Int("llk23.partitions", 2, "trials of TestPartition: 100 take a minute or two with -parallel 8")

// TestPartition cuts the link between two of three hosts while they solve a problem. After a
// cut that is shorter than the lease the result is, bit for bit, the sequential one. A longer
// one ends the run on all hosts, with an error.
func TestPartition(t *testing.T) {
	for trial := range *partitions {
		short := trial%2 == 0
		off := 700 * time.Millisecond
		if !short {
			off = 2800 * time.Millisecond // lease and skew are 2 s
		}
		t.Run(fmt.Sprint(trial, "/", off), func(t *testing.T) {
			t.Parallel()
			net := netns.New(t, 3)
			quality := netns.Quality{Delay: time.Millisecond / 2, Loss: 0.001}
			net.All(quality)
			const iterations = "800" // which take some seconds
			args := strings.Fields("-grid 3x1 -block 16x16 -json -tasks fused -iters " + iterations)
			var hosts [3]*exec.Cmd
			var out, complaints [3]bytes.Buffer
			for i := range hosts {
				cmd := net.Command(i, os.Args[0], args...)
				cmd.Env = append(os.Environ(), envProgram+"=1", "ORWL_KEY=a key that only these hosts have",
					fmt.Sprint("ORWL_NODE=", i), "ORWL_NODES=3", "ORWL_LEASE=1750ms",
					"ORWL_ROOT="+net.Address(0)+":7717", "ORWL_LISTEN="+net.Address(i)+":7717")
				cmd.Stdout, cmd.Stderr = &out[i], &complaints[i]
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				hosts[i] = cmd
			}
			began := time.Now()
			a, b := trial/2%3, (trial/2+1)%3
			<-time.After(time.Second + time.Duration(trial)*37*time.Millisecond)
			net.Both(a, b, netns.Quality{Cut: true})
			<-time.After(off)
			net.Both(a, b, quality)
			cut := time.Since(began)
			for i, cmd := range hosts {
				if err := cmd.Wait(); (err == nil) != short {
					t.Errorf("host %d: %v, %s", i, err, complaints[i].String())
				}
			}
			if !short {
				return
			}
			if took := time.Since(began); took < cut+cut/20 {
				t.Errorf("the run took %v, and the cut ended after %v: nothing is tested", took, cut)
			}
			var got report
			if err := json.Unmarshal(out[0].Bytes(), &got); err != nil {
				t.Fatalf("%v: %s", err, out[0].String())
			}
			if !got.Verified || got.Nodes != 3 {
				t.Errorf("the result is not the sequential one: %+v", got)
			}
		})
	}
}
