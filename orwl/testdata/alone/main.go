// Alone is a program of one process. It imports no network.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/orwl"
)

func main() {
	err := orwl.Run(context.Background(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
		sum := orwl.Array[uint64](rt, "sum", 1)
		for i := range 2 {
			task := rt.Task(fmt.Sprint("adder ", i))
			w := orwl.Writes[uint64](task, sum)
			task.Each(10, func(int) error { w.Slice()[0]++; return nil })
		}
		if err := rt.Run(ctx); err != nil {
			return err
		}
		v, err := orwl.Values[uint64](ctx, sum)
		fmt.Println(v, err)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}
