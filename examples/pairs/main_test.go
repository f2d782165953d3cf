package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// newArray makes a resource of no runtime.
func newArray(name string, elements int) (*resource.Resource, error) {
	return resource.New(name, 8*elements)
}

// sequential is the checksum after a loop over the whole matrix.
func sequential(t *testing.T) uint64 {
	t.Helper()
	const width = grid*side + 2
	cells := make([]float64, width*width)
	for i := range cells {
		cells[i] = value(0, i/width, i%width)
	}
	for range rounds {
		sweep(cells, width, 0, 0)
	}
	m, err := newMatrix(t.Context(), newArray)
	if err != nil {
		t.Fatal(err)
	}
	for p, r := range m {
		if err := orwl.Fill(t.Context(), r, func(here []float64) {
			for n := range here {
				here[n] = cells[(p.row*side+p.at(n)/wide)*width+p.col*side+p.at(n)%wide]
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := m.checksum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Pairs, the plan and a loop over the whole matrix compute the same bits.
func TestSameBits(t *testing.T) {
	want := sequential(t)
	pairs, err := byPairs(t.Context(), matrix.tasks)
	if err != nil || pairs != want {
		t.Errorf("by pairs: %016x, %v, want %016x", pairs, err, want)
	}
	plan, err := byPlan(t.Context())
	if err != nil || plan != want {
		t.Errorf("by the plan: %016x, %v, want %016x", plan, err, want)
	}
}

// If all sub-tasks request first, the main tasks read the last round's frontiers on all sides. So the bits are others.
func TestOrderDecides(t *testing.T) {
	got, err := byPairs(t.Context(), func(m matrix) []task {
		var main, sub []task
		for _, t := range m.tasks() {
			if strings.HasPrefix(t.here.Name(), "block ") {
				main = append(main, t)
			} else {
				sub = append(sub, t)
			}
		}
		return append(sub, main...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if right := sequential(t); got == right {
		t.Errorf("another order computes the same bits: %016x", got)
	}
}

// A task that fails ends the others, and leaves no request behind.
func TestFailureEndsAll(t *testing.T) {
	half, err := resource.New("half", 4)
	if err != nil {
		t.Fatal(err)
	}
	var m matrix
	_, err = byPairs(t.Context(), func(made matrix) []task {
		m = made
		all := m.tasks()
		last := &all[len(all)-1]
		last.there = append(last.there, half)
		return all
	})
	if err == nil || !strings.HasPrefix(err.Error(), "west 3 3: ") || !strings.Contains(err.Error(), "no whole number") {
		t.Errorf("the error is %v", err)
	}
	for _, r := range m {
		var h handle.Handle
		if err := h.Request(r, resource.Write); err != nil || !h.Test() {
			t.Errorf("%q is not free: %v, %v", r.Name(), h.Test(), err)
		}
	}
}

// A run that is interrupted returns the reason.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := byPairs(ctx, func(m matrix) []task {
		all := m.tasks()
		work, left := all[0].work, 3
		all[0].work = func(here []float64, there []handle.View[float64]) {
			work(here, there)
			if left--; left == 0 {
				stop(enough)
			}
		}
		return all
	})
	if !errors.Is(err, enough) {
		t.Errorf("the error is %v", err)
	}
}
