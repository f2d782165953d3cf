package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/orwl/launch"
)

var partitions = flag.Int("llk23.partitions", 2, "trials of TestPartition: 100 take a minute or two with -parallel 8")

func init() { programs["tells"] = tells }

// tells is the program, as a node that says on standard error how far it is.
func tells() int {
	var place launch.Place
	o, err := parse(os.Args[1:])
	if err == nil {
		place, err = o.nodes.Place()
	}
	var j *job
	if err == nil {
		place.Progress = func(p launch.Progress) error {
			_, err := fmt.Fprintln(os.Stderr, p.What, p.Done, p.Total)
			return err
		}
		j, err = newJob(o, place)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return command.Misused
	}
	defer j.close()
	return j.run(context.Background(), os.Stdout, os.Stderr)
}

// complaints is what a host says on standard error. It remembers the progress among that.
type complaints struct {
	mu      sync.Mutex
	text    bytes.Buffer
	done    int64
	total   int64
	sweeps  chan struct{} // closed when the host has swept something
	sweeper sync.Once
}

func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, _ := fmt.Sscanf(string(p), "sweeping %d %d", &c.done, &c.total); n < 2 {
		return c.text.Write(p)
	}
	if c.done > 0 {
		c.sweeper.Do(func() { close(c.sweeps) })
	}
	return len(p), nil
}

// said is all but the progress, and how much of it is done.
func (c *complaints) said() (text string, done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.done, c.total
}

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
			// A node does not count as silence of the others the time in which it did not run
			// itself. So on a machine with much too much to do, a long cut may not be long enough.
			for ; cutOff(t, trial, off, short) && !short; off *= 4 {
				if off > time.Minute {
					t.Fatalf("all hosts end well after a cut of %v", off)
				}
			}
		})
	}
}

// cutOff has three hosts solve a problem, cuts the link of two of them for some time, and reports
// whether the run has ended well on all. If it should, the result is looked at.
func cutOff(t *testing.T, trial int, off time.Duration, should bool) (well bool) {
	net := netns.New(t, 3)
	quality := netns.Quality{Delay: time.Millisecond / 2, Loss: 0.001}
	net.All(quality)
	const iterations = "800" // which take more than a second
	args := strings.Fields("-grid 3x1 -block 16x16 -json -tasks fused -iters " + iterations)
	var hosts [3]*exec.Cmd
	var out [3]bytes.Buffer
	var says [3]complaints
	for i := range hosts {
		cmd := net.Command(i, os.Args[0], args...)
		cmd.Env = append(os.Environ(), envProgram+"=tells", "ORWL_KEY=a key that only these hosts have",
			fmt.Sprint("ORWL_NODE=", i), "ORWL_NODES=3", "ORWL_LEASE=1750ms",
			"ORWL_ROOT="+net.Address(0)+":7717", "ORWL_LISTEN="+net.Address(i)+":7717")
		says[i].sweeps = make(chan struct{})
		cmd.Stdout, cmd.Stderr = &out[i], &says[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		hosts[i] = cmd
	}
	ended := make(chan struct{})
	var errs [3]error
	go func() {
		defer close(ended)
		for i, cmd := range hosts {
			errs[i] = cmd.Wait()
		}
	}()
	for i := range says {
		select {
		case <-says[i].sweeps: // before that they may not have met
		case <-ended:
		}
	}
	a, b := trial/2%3, (trial/2+1)%3
	<-time.After(time.Duration(trial) * 37 * time.Millisecond % (250 * time.Millisecond)) // any time between two beats
	net.Both(a, b, netns.Quality{Cut: true})
	<-time.After(off)
	_, done, total := says[a].said()
	net.Both(a, b, quality)
	<-ended
	if done == total {
		t.Errorf("host %d had swept all when the cut ended: nothing is tested", a)
	}
	well = errors.Join(errs[:]...) == nil
	for i, err := range errs {
		if text, _, _ := says[i].said(); (err == nil) != (should || well) {
			t.Errorf("host %d: %v, %s", i, err, text)
		}
	}
	if !should || !well {
		return well
	}
	var got report
	if err := json.Unmarshal(out[0].Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, out[0].String())
	}
	if !got.Verified || got.Nodes != 3 {
		t.Errorf("the result is not the sequential one: %+v", got)
	}
	return well
}
