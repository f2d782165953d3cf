//go:build unix

package watch

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// cost is what a run took, in seconds.
type cost struct{ time, processor float64 }

// processorTime is what this process has used so far, in seconds.
func processorTime(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// BenchmarkCost is a run of 64 tasks with a page, with and without a reader, in turns. A run takes about a second. Two runs without
// differ, too: the benchmark says by how much. Processor time differs less than time, most of all beside other programs.
//
//	go test ./orwl/watch -run '^$' -bench Cost -benchtime 1x
func BenchmarkCost(b *testing.B) {
	const tasks, rounds, turns = 64, 60_000, 10
	for b.Loop() {
		var ratios, noise, cpu, cpuNoise []float64
		run := func(watched bool) cost {
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var rs []*resource.Resource
			for i := range tasks {
				rs = append(rs, rt.Resource(fmt.Sprint("r", i), 8))
			}
			work := make([]float64, 256)
			for i := range tasks {
				t := rt.Task(fmt.Sprint("t", i))
				orwl.Writes[byte](t, rs[i])
				orwl.Reads[byte](t, rs[(i+1)%tasks])
				t.Each(rounds, func(int) error {
					sum := 0.0
					for _, w := range work {
						sum += w * w
					}
					if sum > 0 {
						panic(sum)
					}
					return nil
				})
			}
			p := New(func() *orwl.Runtime { return rt })
			if watched {
				me, done := p.join(), make(chan struct{})
				defer close(done)
				defer p.leave(me)
				go func() {
					for {
						select {
						case <-me.events:
						case <-done:
							return
						}
					}
				}()
			}
			began, used := time.Now(), processorTime(b)
			if err := rt.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			took := cost{time.Since(began).Seconds(), processorTime(b) - used}
			p.Close()
			return took
		}
		for turn := range turns {
			var took [3]cost // with a reader, and twice without
			for i := range took {
				which := (turn + i) % len(took)
				took[which] = run(which == 0)
			}
			ratios, noise = append(ratios, 2*took[0].time/(took[1].time+took[2].time)), append(noise, took[1].time/took[2].time)
			cpu, cpuNoise = append(cpu, 2*took[0].processor/(took[1].processor+took[2].processor)), append(cpuNoise, took[1].processor/took[2].processor)
		}
		for name, all := range map[string][]float64{
			"with/without": ratios, "without/without": noise, "processor-with/without": cpu, "processor-without/without": cpuNoise,
		} {
			b.Logf("%s: %.3f", name, all)
			slices.Sort(all)
			b.ReportMetric(all[turns/2], name)
		}
		b.ReportMetric(1.02, "target")
	}
}
