package locks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
)

// stressCrew is the processes of TestStress besides the test's own.
type stressCrew []*hand

func stressHands(t *testing.T) stressCrew { return newHands(t, 3) }

// stressOrder is a bout for one process, and its rank.
type stressOrder struct {
	Bout bout
	Rank int
}

// stressSaid is what a rank has done.
type stressSaid struct{ Wrote, Read uint64 }

// share is what the processes of a bout share.
func (b bout) share(f *shm.Fabric, p int) (m locks.Mutex, words []uint64, err error) {
	l, err := b.make(f)
	if err != nil {
		return nil, nil, err
	}
	base, err := f.Alloc(stressWords)
	if err != nil {
		return nil, nil, err
	}
	w, err := f.Window(rma.Rank(p))
	if err != nil {
		return nil, nil, err
	}
	words, ok := w.(rma.Shared).Memory(0, base, stressWords)
	if !ok {
		return nil, nil, fmt.Errorf("rank %d cannot reach the memory of rank 0", p)
	}
	return l.At(w), words, nil
}

// stressDuty is what a hand does.
func stressDuty(f *shm.Fabric, what json.RawMessage) (any, error) {
	var o stressOrder
	if err := json.Unmarshal(what, &o); err != nil {
		return nil, err
	}
	m, words, err := o.Bout.share(f, o.Rank)
	if err != nil {
		return nil, err
	}
	var said stressSaid
	said.Wrote, said.Read, err = o.Bout.rank(context.Background(), m, o.Rank, words)
	return said, err
}

// inProcesses stresses processes of one rank each. This one has rank 0.
func (b bout) inProcesses(t *testing.T, d watchdog, hands stressCrew) {
	t.Helper()
	f, err := shm.Create(shm.Options{Topology: machine(t, stressMachines[b.Ranks]), Words: 1 << 12, DynamicWords: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, words, err := b.share(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	wrote, read, errs := make([]uint64, b.Ranks), make([]uint64, b.Ranks), make([]error, b.Ranks)
	var all sync.WaitGroup
	end := sync.OnceFunc(func() { // a rank that fails makes the others wait for ever
		f.Close()
		for _, h := range hands {
			_ = h.cmd.Process.Kill()
		}
	})
	all.Go(func() {
		if wrote[0], read[0], errs[0] = b.rank(t.Context(), m, 0, words); errs[0] != nil {
			end()
		}
	})
	for p := 1; p < b.Ranks; p++ {
		h := hands[p-1]
		if err := h.order(f, "stress", 0, stressOrder{b, p}); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			var said stressSaid
			if errs[p] = h.answer(&said); errs[p] != nil {
				end()
			}
			wrote[p], read[p] = said.Wrote, said.Read
		})
	}
	d.bout, d.words = b, words
	over := d.over(all.Wait, end)
	b.judge(t, words, wrote, read, append(errs, over))
	if t.Failed() {
		t.FailNow() // some of the processes may be gone
	}
}

// stressProcesses stresses a lock between processes.
func stressProcesses(t *testing.T, spec locks.Spec, hands stressCrew) {
	list, dogs := bouts(spec, 2, spec.Operations)
	for k, b := range list {
		if *stress == 0 {
			if b.Ranks != 3 {
				continue
			}
			b.Rounds /= 4
		}
		b.inProcesses(t, dogs[k], hands)
	}
}
