package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/resource"
)

var (
	nodes = flag.Int("nodes", 1, "start `N` nodes on this machine")
	below = flag.Int("below", 3_000_000, "count the primes below `N`")
)

func main() {
	flag.Parse()
	if ended, code := launch.Self(*nodes); ended {
		os.Exit(code)
	}
	if err := orwl.Run(context.Background(), orwl.Options{AtLoss: orwl.GoOn}, primes); err != nil {
		log.Fatal(err)
	}
}

// size is how many numbers one batch has, and most how many batches a node counts in one phase.
const (
	size = 10_000
	most = 8
)

// board has a word for each batch: 0, or how many primes it has, plus 1.
type board struct {
	*resource.Resource
	rt   *orwl.Runtime
	left []int // the batches that nobody has counted
}

func primes(ctx context.Context, rt *orwl.Runtime) error {
	b := &board{Resource: rt.Resource("board", 8*((*below+size-1)/size)), rt: rt}
	rt.Home(b.Resource, 0)
	for node := range rt.Begin() {
		rt.Task(fmt.Sprint("caller ", node)).On(node).Do(func(t *orwl.Task) error { return b.fill(t.Context()) })
	}
	rt.Late(b.fill)
	if err := rt.Run(ctx); err != nil || rt.Node() != 0 {
		return err
	}
	counts, err := orwl.Values[uint64](ctx, b.Resource)
	if err != nil {
		return err
	}
	var sum uint64
	for _, count := range counts {
		sum += count - 1
	}
	fmt.Printf("%d primes below %d\n", sum, *below)
	return nil
}

// fill calls phases until all batches are counted. All nodes that are there call the same ones.
func (b *board) fill(ctx context.Context) error {
	for {
		counts, err := orwl.Values[uint64](ctx, b.Resource)
		if b.left = left(counts); err != nil || len(b.left) == 0 {
			return err
		}
		err = b.rt.Phase(ctx, b.phase)
		var lost *orwl.NodeError
		switch {
		case errors.As(err, &lost) && lost.Lost: // it was there when the phase began
		case errors.Is(err, orwl.ErrPhaseDiffers): // a late node has seen the board before the others had changed it
		case errors.Is(err, orwl.ErrNotRunning): // the others are done, and this node has come too late
			return nil
		case err != nil:
			return err
		}
	}
}

// phase has a task for each node that there may be. Each counts some of the batches that are left. The tasks
// go to the nodes that are there.
func (b *board) phase(p *orwl.Phase) {
	n := b.rt.Nodes()
	for i := range n {
		t := p.Task(fmt.Sprint("counter ", i))
		board := t.Write(b.Resource)
		t.Do(func(t *orwl.Task) error {
			found := count(b.left, i, n)
			for range t.Rounds(1) {
				for batch, primes := range found {
					orwl.Write[uint64](board)[batch] = primes + 1
				}
			}
			if len(found) > 0 {
				fmt.Printf("node %d, process %d: %d batches\n", b.rt.Node(), os.Getpid(), len(found))
			}
			return nil
		})
	}
}

// left returns the batches that nobody has counted.
func left(counts []uint64) (batches []int) {
	for batch, count := range counts {
		if count == 0 {
			batches = append(batches, batch)
		}
	}
	return batches
}

// count counts every n-th of some batches, from the first-th on.
func count(batches []int, first, n int) map[int]uint64 {
	found := make(map[int]uint64)
	for i := first; i < len(batches) && len(found) < most; i += n {
		if takes(batches[i]) {
			found[batches[i]] = primesFrom(batches[i] * size)
		}
	}
	return found
}

// takes reports whether a batch may be counted. A test holds some back.
var takes = func(batch int) bool { return true }

// primesFrom returns how many primes one batch has.
func primesFrom(start int) (count uint64) {
	for n := max(start, 2); n < min(start+size, *below); n++ {
		if isPrime(n) {
			count++
		}
	}
	return count
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}
