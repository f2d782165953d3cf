package orwl

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func ring(n, rounds int) *Runtime {
	rt, err := New(Options{})
	if err != nil {
		panic(err)
	}
	for i := range n {
		rt.Resource(fmt.Sprint(i), 8)
	}
	for i := range n {
		t := rt.Task(fmt.Sprint(i))
		own := t.Write(rt.Lookup(fmt.Sprint(i)))
		next := t.Read(rt.Lookup(fmt.Sprint((i + 1) % n)))
		t.Do(func(t *Task) error {
			for range t.Rounds(rounds) {
				Write[uint64](own)[0] += Read[uint64](next).At(0) + 1
			}
			return nil
		})
	}
	return rt
}

func TestRing(t *testing.T) {
	const n, rounds = 10000, 500
	rt := ring(n, rounds)
	start := time.Now()
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	d := time.Since(start)
	t.Logf("%v, %.2f M activations/s", d, n*rounds/d.Seconds()/1e6)
}
