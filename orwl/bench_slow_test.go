package orwl

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// slowVariable says for the role balanced how many times as long the bodies of node 1 take.
const slowVariable = "ORWL_TEST_SLOW"

// The program of the role balanced: tasks in a ring, whose bodies take about a millisecond. The time of the last rounds counts: cuts follow each
// other every 250 ms, and the three of them that it takes until the nodes have their shares are before.
const (
	balancedTasks  = 24
	balancedRounds = 600
	balancedFrom   = 300
)

func init() {
	actors["balanced"] = func() int {
		slow, err := strconv.Atoi(os.Getenv(slowVariable))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		if os.Getenv("ORWL_NODE") != "1" {
			slow = 1
		}
		var began, ended time.Time
		err = Run(context.Background(), Options{}, func(ctx context.Context, rt *Runtime) error {
			var numbers []*resource.Resource
			for i := range balancedTasks {
				numbers = append(numbers, Array[uint64](rt, fmt.Sprint("number ", i), 1))
			}
			for i := range balancedTasks {
				task := rt.Task(fmt.Sprint("task ", i))
				left, own := Reads[uint64](task, numbers[(i+1)%balancedTasks]), Writes[uint64](task, numbers[i])
				task.Each(balancedRounds, func(round int) error {
					if began.IsZero() && round >= balancedFrom {
						began = time.Now()
					}
					busy(slow * 1_000_000)
					own.Slice()[0] += left.View().At(0)
					return nil
				})
			}
			err := rt.Run(ctx)
			ended = time.Now()
			return err
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("took", ended.Sub(began).Nanoseconds())
		return 0
	}
}

// BenchmarkSlowNode has two nodes with one processor each, and the bodies of one take twice as long. It measures how fast the last half of the run
// is, as a part of what the processors can do: three quarters of what two equal nodes do in the same benchmark.
func BenchmarkSlowNode(b *testing.B) {
	took := func(slow int) time.Duration {
		out := new(strings.Builder)
		err := launch.Spawn(b.Context(), launch.Run{
			Nodes: 2, Program: os.Args[0], Stdout: out, Stderr: os.Stderr,
			Env: []string{roleVariable + "=balanced", fmt.Sprint(slowVariable, "=", slow), "GOMAXPROCS=1"},
		})
		if err != nil {
			b.Fatal(err)
		}
		longest := 0
		for _, line := range strings.Split(out.String(), "\n") {
			ns := 0
			if i := strings.Index(line, "took "); i >= 0 {
				if _, err := fmt.Sscan(line[i+len("took "):], &ns); err != nil {
					b.Fatal(err)
				}
			}
			longest = max(longest, ns)
		}
		return time.Duration(longest)
	}
	for b.Loop() {
		equal := took(1)
		slowed := took(2)
		b.ReportMetric(equal.Seconds()/0.75/slowed.Seconds(), "of-possible")
		b.ReportMetric(equal.Seconds(), "equal-s")
		b.ReportMetric(slowed.Seconds(), "slowed-s")
	}
}
