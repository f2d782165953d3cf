package orwl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// benchHome makes the test binary another process, which is the home of the benchmarks'
// resources. It holds the address of node 0.
const benchHome = "ORWL_BENCH_HOME"

const mebi = 1 << 20

// benchJoin makes it one of many processes that join, as its environment says, and
// leave.
const benchJoin = "ORWL_BENCH_JOIN"

func init() {
	root := os.Getenv(benchHome)
	if os.Getenv(benchJoin) != "" {
		n, err := Join(context.Background(), JoinOptions{Log: silent})
		if err == nil {
			err = n.Close(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if root == "" {
		return
	}
	ctx := context.Background()
	n, err := Join(ctx, JoinOptions{Log: silent, Remote: true, Place: &launch.Place{Node: 1, Nodes: 2, Root: root}})
	if err == nil {
		_, err = newFloor(ctx, n) // until the process ends
	}
	if err == nil {
		for name, size := range map[string]int{"lock": 0, "block": mebi} {
			r, _ := queue.New(name, size)
			err = n.site.Home(r)
		}
		if err == nil {
			err = n.Close(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// floor is a bare host beside each of two nodes: it measures what libp2p costs.
type floor struct {
	*p2ptest.Bare
	other string // where the other node's bare host listens
}

// newFloor returns when both nodes have one.
func newFloor(ctx context.Context, n *Nodes) (*floor, error) {
	b, err := p2ptest.NewBare(ctx, nil, n.node.Number(), 2)
	if err != nil {
		return nil, err
	}
	listen, err := n.Gather(ctx, "bare", []byte(b.Address))
	if err != nil {
		_ = b.Close() // the run has failed
		return nil, err
	}
	return &floor{b, string(listen[1-n.node.Number()])}, nil
}

// play plays rounds from node 0.
func (f *floor) play(ctx context.Context, r p2ptest.Rounds) (time.Duration, error) {
	return f.Measure(ctx, 1, f.other, r)
}

// beside joins a run with another process as its other node, and returns the floor and mirrors
// of its resources.
func beside(b *testing.B) (f *floor, lock, block *resource.Resource) {
	b.Helper()
	other := exec.Command(os.Args[0])
	other.Stderr = os.Stderr
	n, err := Join(context.Background(), JoinOptions{Log: silent, Remote: true, Place: &launch.Place{
		Nodes: 2, Report: func(address string) error {
			other.Env = append(os.Environ(), benchHome+"="+address)
			return other.Start()
		},
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil {
			b.Error(err)
		}
		other.Wait()
	})
	if f, err = newFloor(context.Background(), n); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	lock, _ = resource.New("lock", 0)
	block, _ = resource.New("block", mebi)
	for _, r := range []*resource.Resource{lock, block} {
		if err := n.site.Mirror(core(r), 1); err != nil {
			b.Fatal(err)
		}
	}
	return f, lock, block
}

// BenchmarkRemote compares accesses to resources of another process with bare streams
// to it, which carry as many bytes back and forth. The two alternate, because the load
// of the machine differs from one second to the next.
//
// On processors that the system chooses, a processor mostly halts in between, and takes
// several times as long to wake as all the rest. Together on one processor this does
// not happen.
func BenchmarkRemote(b *testing.B) {
	b.Run("free", func(b *testing.B) { benchmarkRemote(b, 0) })
	if together != nil {
		b.Run("together", func(b *testing.B) {
			defer together(b)()
			benchmarkRemote(b, 1)
		})
	}
}

// together, if not nil, puts this process and its later child processes on one
// processor, until the caller calls what it returns.
var together func(*testing.B) func()

// benchmarkRemote measures with a number of processors for Go; 0 is all.
func benchmarkRemote(b *testing.B, processors int) {
	bare, lock, block := beside(b)
	ctx := context.Background()
	var free handle.Handle
	var step, write handle.Pair
	for _, c := range []struct {
		name  string
		floor p2ptest.Rounds
		begin func() error
		do    func() error
		end   func() error
		limit float64
	}{
		{"access", p2ptest.Rounds{There: 32, Back: 32, Count: 200}, nil, func() error {
			if err := free.Request(lock, queue.Write); err != nil {
				return err
			}
			if err := free.Acquire(ctx); err != nil {
				return err
			}
			return free.Release()
		}, nil, 1.25},
		{"step", p2ptest.Rounds{There: 32, Back: 32, Count: 200},
			func() error { return step.Request(lock, queue.Write) },
			func() error {
				if err := step.Acquire(ctx); err != nil {
					return err
				}
				return step.Next()
			},
			func() error { return step.Cancel() }, 1.25},
		{"write-1MiB", p2ptest.Rounds{There: mebi, Back: 32, Count: 20, Bulk: true},
			func() error { return write.Request(block, queue.Write) },
			func() error {
				if err := write.Acquire(ctx); err != nil {
					return err
				}
				p, err := handle.Write[byte](&write)
				if err != nil {
					return err
				}
				p[0]++
				return write.Next()
			},
			func() error { return write.Cancel() }, 1.15},
	} {
		b.Run(c.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors)) // each benchmark sets it anew
			if c.begin != nil {
				if err := c.begin(); err != nil {
					b.Fatal(err)
				}
			}
			var ours, floor, ratios []float64
			for b.Loop() {
				began := time.Now()
				for range c.floor.Count {
					if err := c.do(); err != nil {
						b.Fatal(err)
					}
				}
				ours = append(ours, float64(time.Since(began).Nanoseconds())/float64(c.floor.Count))
				took, err := bare.play(ctx, c.floor)
				if err != nil {
					b.Fatal(err)
				}
				floor = append(floor, float64(took.Nanoseconds()))
				ratios = append(ratios, ours[len(ours)-1]/floor[len(floor)-1])
			}
			if c.end != nil {
				if err := c.end(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(median(ours), "ns/access")
			b.ReportMetric(median(floor), "ns/bare")
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(c.limit, "goal")
		})
	}
}

// BenchmarkBringUp starts 64 processes, which meet and leave.
func BenchmarkBringUp(b *testing.B) {
	for b.Loop() {
		err := launch.Spawn(b.Context(), launch.Run{
			Nodes: 64, Program: os.Args[0], Env: []string{benchJoin + "=1"},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
	b.ReportMetric(10, "goal")
}

// BenchmarkBesideBulk measures steps of a remote pair while blocks of 1 MiB travel
// between the same nodes, and while none do: the time that 99 of 100 steps take at
// most. The floor is bare streams in the same way, 32 bytes back and forth beside
// blocks.
func BenchmarkBesideBulk(b *testing.B) {
	bare, lock, block := beside(b)
	ctx := context.Background()
	var step handle.Pair
	if err := step.Request(lock, queue.Write); err != nil {
		b.Fatal(err)
	}
	p99 := func() float64 {
		took := make([]float64, 5000)
		for i := range took {
			began := time.Now()
			if err := step.Acquire(ctx); err != nil {
				b.Fatal(err)
			}
			if err := step.Next(); err != nil {
				b.Fatal(err)
			}
			took[i] = float64(time.Since(began).Nanoseconds())
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	bareP99 := func() float64 {
		var took []float64
		if _, err := bare.play(ctx, p2ptest.Rounds{There: 32, Back: 32, Count: 5000, Each: func(d time.Duration) {
			took = append(took, float64(d.Nanoseconds()))
		}}); err != nil {
			b.Fatal(err)
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	var idle, busy, bareIdle, bareBusy, bulk []float64
	for b.Loop() {
		bareIdle = append(bareIdle, bareP99())
		until, end := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = bare.play(until, p2ptest.Rounds{There: mebi, Back: 32, Count: 1 << 30, Bulk: true}) // until it is stopped
		}()
		bareBusy = append(bareBusy, bareP99())
		end()
		<-ended
		idle = append(idle, p99())
		stop, stopped := make(chan struct{}), make(chan error)
		moved := 0
		go func() { stopped <- move(ctx, block, stop, &moved) }()
		began := time.Now()
		busy = append(busy, p99())
		close(stop)
		if err := <-stopped; err != nil {
			b.Fatal(err)
		}
		bulk = append(bulk, float64(moved)*mebi/1e6/time.Since(began).Seconds())
	}
	if err := step.Cancel(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(median(idle), "ns/idle")
	b.ReportMetric(median(busy), "ns/busy")
	b.ReportMetric(median(bulk), "MB/s-bulk")
	b.ReportMetric(median(busy)/median(idle), "ratio")
	b.ReportMetric(median(bareBusy)/median(bareIdle), "bare-ratio")
	b.ReportMetric(median(bareBusy), "ns/bare-busy")
	b.ReportMetric(3, "goal")
}

// move writes a resource over and over, and counts the writes.
func move(ctx context.Context, r *resource.Resource, stop <-chan struct{}, moved *int) error {
	var p handle.Pair
	if err := p.Request(r, queue.Write); err != nil {
		return err
	}
	for {
		if err := p.Acquire(ctx); err != nil {
			return err
		}
		select {
		case <-stop:
			return p.Release()
		default:
		}
		if _, err := handle.Write[byte](&p); err != nil {
			return err
		}
		*moved++
		if err := p.Next(); err != nil {
			return err
		}
	}
}

// median sorts its argument.
func median[T int64 | float64](all []T) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2])
}
