package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/exact"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/resource"
)

var (
	nodes  = flag.Int("nodes", 1, "start `N` nodes on this machine")
	n      = flag.Int("n", 256, "the plate has `N`×N cells")
	strips = flag.Int("strips", 8, "cut it into `N` strips of rows")
	small  = flag.Float64("small", 1e-10, "end when the residual is at most `R` of the first one")
)

func main() {
	flag.Parse()
	if *n < 1 || *strips < 1 || *strips > *n {
		log.Fatal("want at least one cell, and 1 to -n strips")
	}
	if ended, code := launch.Self(*nodes); ended {
		os.Exit(code)
	}
	err := orwl.Run(context.Background(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
		x, rounds, err := solve(ctx, rt)
		if err == nil && rt.Node() == 0 {
			report(x, rounds)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}

// solve solves A x = b. A is the Laplacian with x = 0 around the plate, and b is 1 in each cell. On the node of the first
// strip it returns how many rounds that took.
func solve(ctx context.Context, rt *orwl.Runtime) (cells []float64, rounds int, err error) {
	pq, rr := orwl.NewSum(rt, "p·q"), orwl.NewSum(rt, "r·r")
	first := float64(*n * *n) // r = p = b
	least := *small * *small * first
	rr.Start(first).Until(func(v float64) bool { return v <= least }, 0)

	var x, ends []*resource.Resource // by strip; ends are the first and the last row of p
	var multiply, step, turn []*orwl.Task
	for i := range *strips {
		x = append(x, orwl.Array[float64](rt, fmt.Sprint("x ", i), rows(i)**n))
		ends = append(ends, orwl.Array[float64](rt, fmt.Sprint("ends ", i), 2**n))
		multiply = append(multiply, rt.Task(fmt.Sprint("multiply ", i)).On(i*rt.Nodes() / *strips))
	}
	for i := range *strips {
		step = append(step, rt.Task(fmt.Sprint("step ", i)).On(multiply[i].Node()))
	}
	for i := range *strips {
		turn = append(turn, rt.Task(fmt.Sprint("turn ", i)).On(multiply[i].Node()))
		size := rows(i) * *n
		// p has a row more on each side, of the neighbours.
		p, q, r := orwl.Array[float64](rt, fmt.Sprint("p ", i), size+2**n), orwl.Array[float64](rt, fmt.Sprint("q ", i), size), orwl.Array[float64](rt, fmt.Sprint("r ", i), size)
		for _, ones := range []*resource.Resource{p, r, ends[i]} {
			if err := orwl.Fill(ctx, ones, func(v []float64) { fill(v, 1) }); err != nil {
				return nil, 0, err
			}
		}

		t := multiply[i]
		whole, product, put := orwl.Writes[float64](t, p), orwl.Writes[float64](t, q), pq.Put(t)
		beside := neighbours(t, ends, i)
		t.Each(-1, func(int) error {
			p := whole.Slice()
			beside(p)
			q := product.Slice()
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
		next, from, edges := orwl.Writes[float64](t, p), orwl.Reads[float64](t, r), orwl.Writes[float64](t, ends[i])
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

// rows is how many rows strip i has.
func rows(i int) int { return (i+1)**n / *strips - i**n / *strips }

// neighbours returns a function that copies the rows beside strip i to p. There is none beyond the plate: p is 0 there.
func neighbours(t *orwl.Task, ends []*resource.Resource, i int) func(p []float64) {
	copies := []func(p []float64){}
	side := func(j, row, at int) {
		if j < 0 || j >= len(ends) {
			copies = append(copies, func(p []float64) { fill(p[at:at+*n], 0) })
			return
		}
		in := orwl.Reads[float64](t, ends[j])
		copies = append(copies, func(p []float64) { in.View().Sub(row**n, (row+1)**n).Copy(p[at:]) })
	}
	side(i-1, 1, 0)
	side(i+1, 0, (rows(i)+1)**n)
	return func(p []float64) {
		for _, c := range copies {
			c(p)
		}
	}
}

// laplace computes q = A p for rows of so many cells. p has a row more on each side.
func laplace(q, p []float64, width int) {
	for k := range q {
		at, west, east := k+width, 0., 0.
		if k%width > 0 {
			west = p[at-1]
		}
		if k%width < width-1 {
			east = p[at+1]
		}
		q[k] = 4*p[at] - p[at-width] - p[at+width] - west - east
	}
}

func fill(v []float64, value float64) {
	for k := range v {
		v[k] = value
	}
}

// report prints what came of it.
func report(x []float64, rounds int) {
	var sum exact.Sum
	sum.AddAll(x)
	hash := sha256.New()
	_ = binary.Write(hash, binary.LittleEndian, x)
	fmt.Printf("%d rounds, mean %.9f, sha256 %.8x\n", rounds, sum.Value()/float64(len(x)), hash.Sum(nil))
}
