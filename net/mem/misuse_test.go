package mem_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

func TestBadOptions(t *testing.T) {
	for want, o := range map[string]mem.Options{
		"Options.Topology is nil":                {},
		"Options.Words is -1, want 1 to 1<<32":   {Topology: topology.Flat(1), Words: -1},
		"Options.Words is 4294967297, want 1 to": {Topology: topology.Flat(1), Words: 1<<32 + 1},
	} {
		if _, err := mem.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", o, err, want)
		}
	}
}

// A fabric whose context is done before it is made has failed with its cause.
func TestContextDoneBefore(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("no more")
	cancel(reason)
	f, err := mem.New(mem.Options{Topology: topology.Flat(1), Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Window(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Await(context.Background(), 0, 0, rma.Is(1)); !errors.Is(err, reason) {
		t.Errorf("Await returns %v", err)
	}
}

// Where invariants are compiled in, two goroutines that wait on one window are
// found out.
func TestTwoGoroutinesOnOneWindow(t *testing.T) {
	if !invariant.Enabled || rings.Race {
		t.Skip("needs -tags invariants without -race, which finds the same by itself; CI runs it")
	}
	f, err := mem.New(mem.Options{Topology: topology.Flat(1)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Window(0)
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	caught := make(chan any, 2)
	for range 2 {
		both.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					caught <- value
					f.Close() // lets the other one go
				}
			}()
			w.Await(context.Background(), 0, 0, rma.Is(1))
		})
	}
	both.Wait()
	if len(caught) != 1 {
		t.Errorf("%d of two goroutines were stopped, want one", len(caught))
	}
}
