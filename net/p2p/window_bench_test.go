package p2p

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// remote is a fabric. This process has all its ranks except the last, whose memory is
// in another process.
func remote(b *testing.B, ranks int) rma.Fabric {
	b.Helper()
	address, root, failed := start(b, 2, nil)
	other := exec.Command(os.Args[0], fmt.Sprint(ranks), address)
	other.Env = append(os.Environ(), roleVariable+"=memory")
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { other.Wait() })
	select {
	case n := <-root:
		f, err := n.Fabric(soon(b), remoteOptions(ranks))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { closeAll(b, n) })
		return f
	case err := <-failed:
		b.Fatal(err)
	}
	return nil
}

func remoteOptions(ranks int) FabricOptions {
	return FabricOptions{
		Topology: topology.Flat(ranks + 1), Words: 1 << 17, Remote: true,
		Node: func(p rma.Rank) int { return int(p) / ranks },
	}
}

func init() {
	actors["memory"] = func() int {
		var ranks int
		fmt.Sscan(os.Args[1], &ranks)
		n, err := Join(context.Background(), Options{Number: 1, Nodes: 2, Key: testKey, Lease: unhurried, Root: os.Args[2]})
		if err == nil {
			gone := make(chan struct{})
			n.OnLoss(func(int, error) { close(gone) })
			if _, err = n.Fabric(context.Background(), remoteOptions(ranks)); err == nil {
				<-gone
				err = n.Close(context.Background())
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

// eachRank lets every rank of this process do n operations in all.
func eachRank(b *testing.B, f rma.Fabric, ranks int, do func(w rma.Window, target rma.Rank, n int)) {
	var all sync.WaitGroup
	for p := range ranks {
		w, err := f.Window(rma.Rank(p))
		if err != nil {
			b.Fatal(err)
		}
		all.Go(func() { do(w, rma.Rank(ranks), b.N/ranks+1) })
	}
	all.Wait()
}

func BenchmarkRemoteFetchOp(b *testing.B) {
	for _, ranks := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			f := remote(b, ranks)
			b.ResetTimer()
			eachRank(b, f, ranks, func(w rma.Window, target rma.Rank, n int) {
				for range n {
					w.FetchOp(target, 0, rma.Sum, 1)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e3, "kops/s")
		})
	}
}

func BenchmarkRemotePut(b *testing.B) {
	for _, ranks := range []int{1, 8} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			f := remote(b, ranks)
			b.ResetTimer()
			eachRank(b, f, ranks, func(w rma.Window, target rma.Rank, n int) {
				for i := range n {
					w.Put(target, rma.Disp(i%1024), uint64(i))
				}
				w.Flush(target)
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mops/s")
		})
	}
}

func BenchmarkRemoteBytes(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20} {
		for name, move := range map[string]func(w rma.Window, target rma.Rank, p []byte){
			"get": func(w rma.Window, target rma.Rank, p []byte) { w.GetBytes(target, 0, p) },
			"put": func(w rma.Window, target rma.Rank, p []byte) { w.PutBytes(target, 0, p); w.Flush(target) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				f := remote(b, 1)
				p := make([]byte, size)
				b.SetBytes(int64(size))
				b.ResetTimer()
				eachRank(b, f, 1, func(w rma.Window, target rma.Rank, n int) {
					for range n {
						move(w, target, p)
					}
				})
			})
		}
	}
}

// BenchmarkFetchOps is 64 ranks that each have a FetchOp on its way to the other node of
// this process, and beside it as many requests and replies of 32 bytes on a bare stream,
// by the simplest loop that combines what goes out.
func BenchmarkFetchOps(b *testing.B) {
	const ranks = 64
	nodes := run(b, 2, nil)
	fabrics := make([]rma.Fabric, len(nodes))
	var making sync.WaitGroup
	for i, n := range nodes {
		making.Go(func() {
			var err error
			if fabrics[i], err = n.Fabric(soon(b), remoteOptions(ranks)); err != nil {
				b.Error(err)
			}
		})
	}
	making.Wait()
	here, there := bare(b, nodes, transport.Control)
	ask := combine(b, here, there, ranks)
	var ours, floor time.Duration
	for b.Loop() {
		const each = 500
		began := time.Now()
		var all sync.WaitGroup
		for p := range rma.Rank(ranks) {
			w, err := fabrics[0].Window(p)
			if err != nil {
				b.Fatal(err)
			}
			all.Go(func() {
				for range each {
					w.FetchOp(ranks, 0, rma.Sum, 1)
				}
			})
		}
		all.Wait()
		ours += time.Since(began)
		began = time.Now()
		for i := range ranks {
			all.Go(func() {
				for range each {
					ask(i)
				}
			})
		}
		all.Wait()
		floor += time.Since(began)
	}
	per := float64(b.N) * ranks * 500
	b.ReportMetric(per/ours.Seconds()/1e3, "kops/s")
	b.ReportMetric(per/floor.Seconds()/1e3, "kops/s-bare")
	b.ReportMetric(floor.Seconds()/ours.Seconds(), "x-bare")
	b.ReportMetric(0.8, "goal")
}

// combine lets so many clients ask, by here, who echoes there.
func combine(b *testing.B, here, there transport.Stream, clients int) (ask func(client int)) {
	const size = 32
	go func() {
		buffer := make([]byte, 64<<10)
		for kept := 0; ; {
			n, err := there.Read(buffer[kept:])
			if err != nil {
				return
			}
			whole := (kept + n) / size * size
			if _, err := there.Write(buffer[:whole]); err != nil {
				return
			}
			kept = copy(buffer, buffer[whole:kept+n])
		}
	}()
	back := make([]chan struct{}, clients)
	for i := range back {
		back[i] = make(chan struct{}, 1)
	}
	go func() {
		in := bufio.NewReaderSize(here, 64<<10)
		message := make([]byte, size)
		for {
			if _, err := io.ReadFull(in, message); err != nil {
				return
			}
			back[message[0]] <- struct{}{}
		}
	}()
	var mu sync.Mutex
	var pending []byte
	work := make(chan struct{}, 1)
	b.Cleanup(func() { close(work) })
	go func() {
		for range work {
			runtime.Gosched()
			mu.Lock()
			out := pending
			pending = nil
			mu.Unlock()
			if _, err := here.Write(out); err != nil {
				return
			}
		}
	}()
	return func(client int) {
		mu.Lock()
		pending = append(pending, byte(client))
		pending = append(pending, make([]byte, size-1)...)
		mu.Unlock()
		select {
		case work <- struct{}{}:
		default:
		}
		<-back[client]
	}
}
