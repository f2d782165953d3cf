// Counts primes, in stages. The work of a stage follows from the primes that the one before has found, so
// it is declared between two runs:
//
//	go run ./examples/primes -nodes 4
package main

import (
	"context"
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
	if err := orwl.Run(context.Background(), orwl.Options{}, primes); err != nil {
		log.Fatal(err)
	}
}

// primes sieves in stages. All primes below a limit are enough to find the primes below its square. A stage that has ended is not done again when
// a node is lost, so no stage is very long.
func primes(ctx context.Context, rt *orwl.Runtime) error {
	known := []int{2}
	for limit := 3; limit < *below; {
		end := min(limit*limit, limit+most*size, *below)
		batches := sieve(rt, known, limit, end)
		if err := rt.Run(ctx); err != nil {
			return err
		}
		for _, b := range batches {
			composite, err := orwl.Values[uint64](ctx, b.Resource)
			if err != nil {
				return err
			}
			for i := b.start | 1; i < min(b.start+size, end); i += 2 {
				if k := (i - b.start) / 2; composite[k/64]>>(k%64)&1 == 0 {
					known = append(known, i)
				}
			}
		}
		limit = end
	}
	if rt.Node() == 0 {
		fmt.Printf("%d primes below %d\n", len(known), *below)
	}
	return nil
}

// batch has a bit for each odd one of size numbers, from start on. It is 1 for a composite.
type batch struct {
	*resource.Resource
	start int
}

// A stage has most batches of size numbers at most.
const (
	size = 1 << 18
	most = 64
)

// sieve declares a stage: a task for each batch of the numbers from limit to end-1.
func sieve(rt *orwl.Runtime, primes []int, limit, end int) (batches []batch) {
	for start := limit; start < end; start += size {
		b := batch{orwl.Array[uint64](rt, fmt.Sprint("from ", start), size/2/64), start}
		t := rt.Task(fmt.Sprint("sieve from ", start))
		out := orwl.Writes[uint64](t, b.Resource)
		t.Each(1, func(int) error {
			composite := out.Slice()
			for _, p := range primes[1:] {
				for i := max(p, (start+p-1)/p|1) * p; i < start+size; i += 2 * p { // odd multiples
					k := (i - start) / 2
					composite[k/64] |= 1 << (k % 64)
				}
			}
			return nil
		})
		batches = append(batches, b)
	}
	return batches
}
