package stencil

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
)

// Each cell counts the sweeps. A snapshot has each block between two passes: all of its cells
// have the same count, which is between First and Last. In the end they have the last one.
func TestSnapshot(t *testing.T) {
	for _, update := range []Update{Jacobi, InPlace} {
		for nodes := 1; nodes <= 2; nodes++ {
			t.Run(fmt.Sprintf("update %d, %d nodes", update, nodes), func(t *testing.T) {
				err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
					return countSweeps(ctx, rt, Options{Size: Size{12, 10}, Blocks: Size{3, 2}, Update: update, Sweeps: 2})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func countSweeps(ctx context.Context, rt *orwl.Runtime, o Options) error {
	const sweeps = 101
	g := New(rt, o)
	u := NewField(g, "u", FieldOptions[int32]{Halo: Around(1)})
	err := g.Sweep(sweeps, func(b *Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			for i := range next {
				next[i] = old[i] + 1
			}
		}
	})
	if err != nil {
		return err
	}
	g.allowSnapshots()
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(ctx) }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return err
			}
			return consistent(ctx, u, sweeps)
		default:
			if err := consistent(ctx, u, 0); err != nil && !errors.Is(err, inner.ErrEarly) {
				return err
			}
		}
	}
}

func consistent(ctx context.Context, u *Field[int32], least int) error {
	s, err := u.snapshot(ctx)
	if err != nil {
		return err
	}
	for i, n := range s.Cells {
		if int(n) < s.First || int(n) > s.Last || s.First < least {
			return fmt.Errorf("cell %d has been swept %d times, in a snapshot of %d to %d", i, n, s.First, s.Last)
		}
	}
	return nil
}
