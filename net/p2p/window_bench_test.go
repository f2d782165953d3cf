package p2p

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// remote is a fabric of which this process has all ranks but the last, whose memory is
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
		n, err := Join(context.Background(), Options{Number: 1, Nodes: 2, Key: testKey, Root: os.Args[2]})
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
