package rmatest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Options describe the fabric that a case needs.
type Options struct {
	Topology *topology.Tree
	Words    int
	// Context ends the fabric, for backends that take one.
	Context context.Context
}

// Patience is the time limit of a case. A case takes milliseconds, or seconds if it
// makes many fabrics of many nodes on a busy machine. A case that takes longer than
// Patience waits for a lost wake-up.
const Patience = time.Minute

// Run executes every case on a fabric of its own and closes the fabric. newFabric
// makes fabrics with all ranks as goroutines of this process.
func Run(t *testing.T, newFabric func(t testing.TB, o Options) rma.Fabric) {
	RunRanks(t, 0, newFabric)
}

// RunRanks is Run with at least ranks ranks in every case. ranks is at most MaxRanks.
func RunRanks(t *testing.T, ranks int, newFabric func(t testing.TB, o Options) rma.Fabric) {
	if ranks > MaxRanks {
		t.Fatalf("rmatest: %d ranks, want at most %d", ranks, MaxRanks)
	}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			defer cancel()
			f := newFabric(t, Options{Topology: topology.Flat(max(c.Ranks, ranks)), Words: c.Words, Context: ctx})
			err := errors.Join(Execute(ctx, f, c), f.Close())
			switch {
			case errors.Is(err, ErrSkip):
				t.Skip(err)
			case err != nil:
				t.Fatal(err)
			}
		})
	}
}

// Execute executes a case on a fabric with all ranks in this process, one goroutine
// each. It joins their errors. A panic counts as an error.
func Execute(ctx context.Context, f rma.Fabric, c Case) error {
	body, err := c.Setup(f)
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	var ranks sync.WaitGroup
	errs := make([]error, f.Topology().Ranks())
	for p := range errs {
		ranks.Go(func() {
			errs[p] = Perform(ctx, f, body, rma.Rank(p))
		})
	}
	ranks.Wait()
	return errors.Join(errs...)
}

// Perform executes a body for one rank. A panic counts as an error.
func Perform(ctx context.Context, f rma.Fabric, body Body, p rma.Rank) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("rank %d: panic: %v\n%s", p, value, debug.Stack())
		}
	}()
	w, err := f.Window(p)
	if err != nil {
		return err
	}
	return body(ctx, w)
}
