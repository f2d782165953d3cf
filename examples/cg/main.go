// Conjugate gradients on tasks: the Laplace equation on a plate, with strips of rows on any number of nodes.
//
//	go run ./examples/cg
//	go run ./examples/cg -strips 3 -nodes 3
//
// Each strip has three tasks. In each round they multiply, take a step, and turn the direction:
//
//	multiply: q = A p          puts p·q
//	step:     x += α p, r -= α q,  α = r·r of the round before / p·q      puts r·r
//	turn:     p = r + β p,         β = r·r / r·r of the round before
//
// The sums are exact, and the run ends by a sum: so the result has the same bits on any strips and any nodes, and the same
// number of rounds. A strip gets the first and the last row of its neighbours' directions, and nothing else, from other
// nodes.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/resource"
)

const small = 1e-10 // of the first residual: the end

var (
	nodes  = flag.Int("nodes", 1, "start `N` nodes on this machine")
	n      = flag.Int("n", 256, "the plate has `N`×N cells")
	strips = flag.Int("strips", 8, "cut it into `N` strips of rows")
)

func main() {
	flag.Parse()
	if *strips < 1 || *strips > *n {
		log.Fatal("want 1 to -n strips")
	}
	if ended, code := launch.Self(*nodes); ended {
		os.Exit(code)
	}
	result := ""
	err := orwl.Run(context.Background(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
		x, rounds, err := solve(ctx, rt)
		if rt.Node() == 0 {
			result = fmt.Sprintf("%d rounds, sha256 %.8x\n", rounds, sha256.Sum256(fmt.Append(nil, x)))
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(result)
}

// solve solves A x = b. A is the Laplacian with x = 0 around the plate, and b is 1 in each cell. On the node of the first
// strip it returns how many rounds that took.
func solve(ctx context.Context, rt *orwl.Runtime) (cells []float64, rounds int, err error) {
	pq, rr, first := orwl.NewSum(rt, "p·q"), orwl.NewSum(rt, "r·r"), float64(*n**n)
	rr.Start(first).Until(func(v float64) bool { return v <= small*small*first }, 0)
	array := func(name string, i, rows int) *resource.Resource {
		return orwl.Array[float64](rt, fmt.Sprint(name, i), rows**n)
	}
	row := func(i int) int { return min(max(0, i), *strips) * *n / *strips } // the first one of strip i

	var x, ends []*resource.Resource // ends[i+1] are the first and the last row of p in strip i; beside the plate they are 0
	for i := range *strips + 2 {
		ends = append(ends, array("ends ", i-1, 2))
	}
	stage := func(name string) (tasks []*orwl.Task) {
		for i := range *strips {
			tasks = append(tasks, rt.Task(fmt.Sprint(name, i)).On(i*rt.Nodes() / *strips))
		}
		return tasks
	}
	multiply, step, turn := stage("multiply "), stage("step "), stage("turn ")
	for i := range *strips {
		rows := row(i+1) - row(i)
		p, q, r := array("p ", i, rows+2), array("q ", i, rows), array("r ", i, rows) // p has a row more on each side
		x = append(x, array("x ", i, rows))
		for _, ones := range []*resource.Resource{p, r, ends[i+1]} {
			if err := orwl.Fill(ctx, ones, func(v []float64) { copy(v, slices.Repeat([]float64{1}, len(v))) }); err != nil {
				return nil, 0, err
			}
		}

		t := multiply[i]
		above, below, put := orwl.Reads[float64](t, ends[i]), orwl.Reads[float64](t, ends[i+2]), pq.Put(t)
		whole, product := orwl.Writes[float64](t, p), orwl.Writes[float64](t, q)
		t.Each(-1, func(int) error {
			p, q := whole.Slice(), product.Slice()
			above.View().Sub(*n, 2**n).Copy(p)
			below.View().Sub(0, *n).Copy(p[len(p)-*n:])
			laplace(q, p, *n)
			put.New().Dot(p[*n:len(p)-*n], q)
			return nil
		})

		t = step[i]
		direction, product2 := orwl.Reads[float64](t, p), orwl.Reads[float64](t, q)
		solution, residual, put2 := orwl.Writes[float64](t, x[i]), orwl.Writes[float64](t, r), rr.Put(t)
		before, now := rr.Before(t), pq.Now(t)
		t.Each(-1, func(int) error {
			alpha := before.Value() / now.Value()
			x, r, p, q := solution.Slice(), residual.Slice(), direction.View(), product2.View()
			for k := range x {
				x[k] += float64(alpha * p.At(*n+k))
				r[k] -= float64(alpha * q.At(k))
			}
			put2.New().Dot(r, r)
			return nil
		})

		t = turn[i]
		next, from, edges := orwl.Writes[float64](t, p), orwl.Reads[float64](t, r), orwl.Writes[float64](t, ends[i+1])
		last, this := rr.Before(t), rr.Now(t)
		t.Each(-1, func(int) error {
			beta := this.Value() / last.Value()
			p, r := next.Slice(), from.View()
			for k := range r.Len() {
				p[*n+k] = r.At(k) + float64(beta*p[*n+k])
			}
			copy(edges.Slice(), p[*n:2**n])
			copy(edges.Slice()[*n:], p[len(p)-2**n:])
			return nil
		})
	}
	if err := rt.Run(ctx); err != nil {
		return nil, 0, err
	}
	for _, part := range x {
		values, err := orwl.Values[float64](ctx, part)
		if err != nil {
			return nil, 0, err
		}
		cells = append(cells, values...)
	}
	return cells, int(multiply[0].Round()), nil
}

// laplace computes q = A p for rows of so many cells. p has a row more on each side.
func laplace(q, p []float64, width int) {
	for k := range q {
		at := k + width
		q[k] = 4*p[at] - p[at-width] - p[at+width]
		if k%width > 0 {
			q[k] -= p[at-1]
		}
		if k%width < width-1 {
			q[k] -= p[at+1]
		}
	}
}
