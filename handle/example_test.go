package handle_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// A handle announces an access and acquires it after other work.
func ExampleHandle() {
	ctx := context.Background()
	r, _ := resource.New("squares", 4*8)
	var w handle.Handle
	w.Request(r, resource.Write)
	// ... other work
	w.Acquire(ctx)
	s, err := handle.Write[float64](&w)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range s {
		s[i] = float64(i * i)
	}
	w.Release()

	var h handle.Handle
	h.Request(r, resource.Read)
	h.Acquire(ctx)
	v, err := handle.Read[float64](&h)
	fmt.Println(v.At(3), v.Len(), h.Version(), err)
	h.Release()
	_, err = handle.Read[float64](&h)
	fmt.Println(err)
	// Output:
	// 9 4 1 <nil>
	// resource: map of "squares" (read): not acquired: acquire it first
}

// Pairs take turns for ever, in the order of their first requests.
func ExamplePair() {
	ctx := context.Background()
	r, _ := resource.New("word", 8)
	var ping, pong handle.Pair
	ping.Request(r, resource.Write)
	pong.Request(r, resource.Write)
	var all sync.WaitGroup
	for name, p := range map[string]*handle.Pair{"ping": &ping, "pong": &pong} {
		all.Go(func() {
			for p.Iteration() < 3 {
				p.Acquire(ctx)
				fmt.Println(name, p.Iteration())
				p.Next()
			}
			p.Cancel()
		})
	}
	all.Wait()
	// Output:
	// ping 0
	// pong 0
	// ping 1
	// pong 1
	// ping 2
	// pong 2
}

// A vector holds the accesses of one step: two neighbours to read, and their sum to write.
func ExampleVector() {
	ctx := context.Background()
	north, _ := resource.New("north", 8)
	south, _ := resource.New("south", 8)
	here, _ := resource.New("here", 8)
	set := func(r *resource.Resource, x float64) {
		var h handle.Handle
		h.Request(r, resource.Write)
		handle.Section(ctx, &h, func() error {
			s, err := handle.Write[float64](&h)
			s[0] = x
			return err
		})
	}
	set(north, 3)
	set(south, 4)

	var n, s, w handle.Handle
	all := handle.Vector{&n, &s, &w}
	err := errors.Join(
		all.Request(handle.ToRead(north), handle.ToRead(south), handle.ToWrite(here)),
		all.Acquire(ctx))
	if err != nil {
		fmt.Println(err)
		return
	}
	neighbours, _ := handle.ReadAll[float64](all[:2])
	sum, _ := handle.Write[float64](&w)
	sum[0] = neighbours[0].At(0) + neighbours[1].At(0)
	fmt.Println(sum[0], all.Release())
	// Output: 7 <nil>
}

// A select takes several accesses in the order of their grants.
func ExampleHandle_Ready() {
	ctx := context.Background()
	a, _ := resource.New("a", 8)
	b, _ := resource.New("b", 8)
	var busy, x, y handle.Handle
	busy.Request(a, resource.Write)
	busy.Acquire(ctx)
	x.Request(a, resource.Read)
	y.Request(b, resource.Read)
	first, _ := x.Ready()
	second, _ := y.Ready()
	for range 2 {
		select {
		case <-first:
			x.Acquire(ctx)
			fmt.Println("a")
			x.Release()
			first = nil
		case <-second:
			y.Acquire(ctx)
			fmt.Println("b")
			y.Release()
			second = nil
			busy.Release()
		}
	}
	// Output:
	// b
	// a
}

// Prefetch tells what an announcement has gained.
func ExampleHandle_Announce() {
	ctx := context.Background()
	r, _ := resource.New("r", 1024)
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	var busy, h handle.Handle
	busy.Request(r, resource.Write)
	busy.Acquire(ctx)

	h.Announce(r, resource.Read, clock)
	now = now.Add(3 * time.Second) // other work
	busy.Release()
	now = now.Add(time.Second)
	h.Acquire(ctx)
	p := h.Prefetch()
	fmt.Printf("%d of %d bytes were here after %v: waited %v instead of %v\n", p.Here, p.Size, p.After, p.Waited, p.Waited+p.Saved)
	h.Release()
	// Output: 1024 of 1024 bytes were here after 3s: waited 0s instead of 3s
}

// The context of a grant ends with the grant.
func ExampleHandle_Context() {
	r, _ := resource.New("r", 8)
	var h handle.Handle
	h.Request(r, resource.Write)
	h.Acquire(context.Background())
	ctx, _ := h.Context(context.Background())
	fmt.Println(context.Cause(ctx))
	h.Release()
	fmt.Println(context.Cause(ctx))
	// Output:
	// <nil>
	// handle: released
}

// Update and ReadOnce are an access in one call. An Update that fails leaves the last
// committed elements if the resource has Options.Undo.
func ExampleUpdate() {
	ctx := context.Background()
	account, _ := resource.NewWith("account", 8, resource.Options{Undo: true})
	withdraw := func(sum int64) error {
		return handle.Update(ctx, account, func(balance []int64) error {
			balance[0] -= sum
			if balance[0] < 0 {
				return errors.New("not enough")
			}
			return nil
		})
	}
	handle.Update(ctx, account, func(balance []int64) error { balance[0] = 100; return nil })
	fmt.Println(withdraw(70))
	fmt.Println(withdraw(70))
	handle.ReadOnce(ctx, account, func(balance handle.View[int64]) error {
		fmt.Println(balance.At(0))
		return nil
	})
	// Output:
	// <nil>
	// not enough
	// 30
}
