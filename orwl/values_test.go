package orwl_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

func TestValues(t *testing.T) {
	for _, faulting := range []bool{false, true} {
		if faulting && runtime.GOOS != "linux" {
			continue // there are none
		}
		t.Run(fmt.Sprintf("fault pages %t", faulting), func(t *testing.T) { values(t, faulting) })
	}
}

func values(t *testing.T, faulting bool) {
	ctx := context.Background()
	rt, err := orwl.New(orwl.Options{FaultPages: faulting})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 24)
	must(orwl.Fill(ctx, r, func(elements []float64) {
		for i := range elements {
			elements[i] = float64(i)
		}
	}))
	task := rt.Task("twice")
	a := task.Write(r)
	task.Each(3, func(int) error {
		for i, x := range orwl.Write[float64](a) {
			orwl.Write[float64](a)[i] = 2 * x
		}
		return nil
	})
	must(rt.Run(ctx))
	got, err := orwl.Values[float64](ctx, r)
	if want := []float64{0, 8, 16}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}

	// A call that gives up leaves nothing behind.
	var h handle.Handle
	must(h.Request(r, queue.Write))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := orwl.Values[float64](ended, r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := orwl.Fill(ended, r, func([]float64) { t.Error("filled") }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(h.Cancel())
	if _, err := orwl.Values[int](ctx, r); err == nil {
		t.Error("a resource has elements whose size depends on the machine")
	}
	must(orwl.Fill(ctx, r, func([]uint64) {}))
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}

// Values refuses what a failed task has left half written, and Fill writes it anew.
func TestValuesOfAFailedTask(t *testing.T) {
	ctx := context.Background()
	rt, err := orwl.New(orwl.Options{})
	must(err)
	r := rt.Resource("r", 8)
	task := rt.Task("a")
	a := task.Write(r)
	boom := errors.New("boom")
	task.Each(1, func(int) error {
		orwl.Write[uint64](a)[0] = 7
		return boom
	})
	if err := rt.Run(ctx); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if got, err := orwl.Values[uint64](ctx, r); got != nil || !errors.Is(err, queue.ErrPoisoned) || !errors.Is(err, boom) {
		t.Errorf("%v, %v", got, err)
	}
	func() {
		defer func() { recover() }()
		orwl.Fill(ctx, r, func([]uint64) { panic("a fill that fails") })
	}()
	if got, err := orwl.Values[uint64](ctx, r); got != nil || !errors.Is(err, queue.ErrPoisoned) {
		t.Errorf("after a fill that failed: %v, %v", got, err)
	}
	must(orwl.Fill(ctx, r, func(elements []uint64) { elements[0] = 1 }))
	if got, err := orwl.Values[uint64](ctx, r); err != nil || !slices.Equal(got, []uint64{1}) {
		t.Errorf("after Fill: %v, %v", got, err)
	}
}
