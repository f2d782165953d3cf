//go:build linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// conforming is a process that executes a case of the suite for every so many-th
// rank, from its own on.
var conforming = role("conforming", func(a *actor) error {
	c, err := rmatest.CaseByName(a.args[0])
	if err != nil {
		return err
	}
	body, err := c.Setup(a.Fabric)
	if errors.Is(err, rmatest.ErrSkip) {
		fmt.Println(err)
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(background, rmatest.Patience)
	defer cancel()
	var ranks sync.WaitGroup
	errs := make([]error, a.Topology().Ranks())
	for p := int(a.rank); p < len(errs); p += a.int(1) {
		ranks.Go(func() { errs[p] = rmatest.Perform(ctx, a.Fabric, body, rma.Rank(p)) })
	}
	ranks.Wait()
	return errors.Join(errs...)
})

// TestConformance runs the suite with a process for each rank, and with six
// ranks in two processes, so that neighbours are in different ones.
func TestConformance(t *testing.T) {
	for _, c := range rmatest.Cases() {
		t.Run("process-each/"+c.Name, func(t *testing.T) { conform(t, c, c.Ranks, c.Ranks) })
		t.Run("two-processes/"+c.Name, func(t *testing.T) { conform(t, c, max(6, c.Ranks), 2) })
	}
}

func conform(t *testing.T, c rmatest.Case, ranks, processes int) {
	f, err := Create(Options{Topology: topology.Flat(ranks), Words: c.Words})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	peers := make([]*peer, min(ranks, processes))
	for p := range peers {
		peers[p] = spawn(t, f, conforming, rma.Rank(p), c.Name, processes)
	}
	skip := ""
	for _, p := range peers {
		skip += p.rest()
		p.end()
	}
	if skip != "" {
		t.Skip(strings.TrimSpace(skip))
	}
}

// TestConformanceInOneProcess runs the suite with all ranks in this process.
func TestConformanceInOneProcess(t *testing.T) { rmatest.Run(t, conformant) }

// TestLifecycle ends fabrics with all ranks in this process.
func TestLifecycle(t *testing.T) { rmatest.Lifecycle(t, conformant) }

func conformant(t testing.TB, o rmatest.Options) rma.Fabric {
	f, err := Create(Options{Topology: o.Topology, Words: o.Words, Context: o.Context})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
