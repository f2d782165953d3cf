package examples_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
)

// BenchmarkDelay says what the sums of a solver cost where messages are slow: a sweep of plain and of pipelined gradients
// on two hosts, a millisecond apart. The programs take turns.
func BenchmarkDelay(b *testing.B) {
	if err := buildOnce(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ms := map[string][]float64{}
		for range 5 {
			for _, name := range []string{"poisson", "pipelined"} {
				ms[name] = append(ms[name], delayed(b, name))
			}
		}
		for name := range ms {
			slices.Sort(ms[name])
			b.ReportMetric(ms[name][2], name+"-ms/sweep")
		}
		b.ReportMetric(ms["pipelined"][2]/ms["poisson"][2], "pipelined/poisson")
	}
}

var seconds = regexp.MustCompile(`sweeps, ([0-9.]+) s`)

// delayed runs a program on two hosts, and returns the milliseconds of a sweep.
func delayed(b *testing.B, name string) float64 {
	const sweeps = 200
	net := netns.New(b, 2)
	net.All(netns.Quality{Delay: time.Millisecond})
	var out bytes.Buffer
	var hosts [2]*exec.Cmd
	for i := range hosts {
		hosts[i] = net.Command(i, filepath.Join(programs, name), fmt.Sprint("-sweeps=", sweeps))
		hosts[i].Env = append(os.Environ(), "ORWL_KEY=a key that only these hosts have", fmt.Sprint("ORWL_NODE=", i), "ORWL_NODES=2",
			"ORWL_ROOT="+net.Address(0)+":7717", "ORWL_LISTEN="+net.Address(i)+":7717")
	}
	hosts[0].Stdout, hosts[0].Stderr = &out, &out
	for _, h := range hosts {
		if err := h.Start(); err != nil {
			b.Fatal(err)
		}
	}
	for _, h := range hosts {
		if err := h.Wait(); err != nil {
			b.Fatal(err, out.String())
		}
	}
	found := seconds.FindSubmatch(out.Bytes())
	if found == nil {
		b.Fatal(out.String())
	}
	s, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return 1000 * s / sweeps
}
