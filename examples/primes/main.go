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

// primes sieves in stages. All primes below a limit are enough to find the primes below its square.
func primes(ctx context.Context, rt *orwl.Runtime) error {
	known := []int{2}
	for limit := 3; limit < *below; {
		end := min(limit*limit, *below)
		batches := sieve(rt, known, limit, end)
		if err := rt.Run(ctx); err != nil {
			return err
		}
		for _, b := range batches {
			composite, err := orwl.Values[uint8](ctx, b.Resource)
			if err != nil {
				return err
			}
			for i := b.start; i < min(b.start+size, end); i++ {
				if composite[i-b.start] == 0 {
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

// batch has a 1 for each composite of size numbers, from start on.
type batch struct {
	*resource.Resource
	start int
}

const size = 1 << 16

// sieve declares a stage: a task for each batch of the numbers from limit to end-1.
func sieve(rt *orwl.Runtime, primes []int, limit, end int) (batches []batch) {
	for start := limit; start < end; start += size {
		b := batch{orwl.Array[uint8](rt, fmt.Sprint("from ", start), size), start}
		t := rt.Task(fmt.Sprint("sieve from ", start))
		out := orwl.Writes[uint8](t, b.Resource)
		t.Each(1, func(int) error {
			composite := out.Slice()
			for _, p := range primes {
				for i := max(p*p, (start+p-1)/p*p); i < start+size; i += p {
					composite[i-start] = 1
				}
			}
			return nil
		})
		batches = append(batches, b)
	}
	return batches
}
