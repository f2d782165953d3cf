package volume_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// A history is linearizable if for every key some order of its operations, each
// somewhere between its call and its return, is one that a map gives.

// deed is an operation on a key, and outcome what it returned.
type deed struct {
	kind            volume.Kind
	key, value, old uint64
}

type outcome struct {
	yes, found bool // inserted or swapped; found
	value      uint64
}

// slot is what a map has for a key.
type slot struct {
	value uint64
	there bool
}

// do is what a map does.
func (s slot) do(d deed) (outcome, slot) {
	switch d.kind {
	case volume.Get:
		return outcome{found: s.there, value: s.value}, s
	case volume.Insert:
		if s.there {
			return outcome{}, s
		}
		return outcome{yes: true}, slot{d.value, true}
	case volume.Set:
		return outcome{found: s.there}, slot{d.value, true}
	case volume.Delete:
		return outcome{found: s.there}, slot{}
	case volume.Add:
		return outcome{value: s.value + d.value}, slot{s.value + d.value, true}
	case volume.CompareAndSet:
		if s.there && s.value == d.old {
			return outcome{yes: true, found: true}, slot{d.value, true}
		}
		return outcome{found: s.there}, s
	}
	panic(d.kind)
}

var linear = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[uint64][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(deed).key
			byKey[k] = append(byKey[k], o)
		}
		var all [][]porcupine.Operation
		for _, of := range byKey {
			all = append(all, of)
		}
		return all
	},
	Init: func() any { return slot{} },
	Step: func(s, in, out any) (bool, any) {
		want, next := s.(slot).do(in.(deed))
		return out.(outcome) == want, next
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v %+v", in, out) },
}

// clerk writes down who did what when.
type clerk struct {
	now  atomic.Int64 // any two calls or returns are ordered by it
	mu   sync.Mutex
	done []porcupine.Operation
	// print depends on the order of all calls and returns, for an exhaustive search.
	print atomic.Uint64
}

func (c *clerk) tick(what uint64) int64 {
	c.print.Store(volume.Mix(c.print.Load()*31 + what + 1))
	return c.now.Add(1)
}

// do performs a deed and notes it, but one for which there was no room: it has
// done nothing.
func (c *clerk) do(ctx context.Context, client int, s volume.Side, d deed) error {
	call := c.tick(uint64(client))
	out, err := perform(ctx, s, d)
	if errors.Is(err, volume.ErrFull) {
		return nil
	}
	if err != nil {
		return err
	}
	end := c.tick(uint64(client) + volume.Mix(out.value+1))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, porcupine.Operation{ClientId: client, Input: d, Call: call, Output: out, Return: end})
	return nil
}

func perform(ctx context.Context, s volume.Side, d deed) (out outcome, err error) {
	switch d.kind {
	case volume.Get:
		out.value, out.found, err = s.Get(ctx, d.key)
	case volume.Insert:
		out.yes, err = s.Insert(ctx, d.key, d.value)
	case volume.Set:
		out.found, err = s.Set(ctx, d.key, d.value)
	case volume.Delete:
		out.found, err = s.Delete(ctx, d.key)
	case volume.Add:
		out.value, err = s.Add(ctx, d.key, d.value)
	case volume.CompareAndSet:
		out.yes, out.found, err = s.CompareAndSet(ctx, d.key, d.old, d.value)
	}
	return out, err
}

// judge complains about a history that is not linearizable.
func (c *clerk) judge() error {
	if !porcupine.CheckOperations(linear, c.done) {
		text := ""
		for _, o := range c.done {
			text += fmt.Sprintf("\n%d..%d rank %d: %+v %+v", o.Call, o.Return, o.ClientId, o.Input, o.Output)
		}
		return fmt.Errorf("not linearizable:%s", text)
	}
	return nil
}

// draw is a deed on one of a few keys; the values differ, so that one shows
// where it comes from.
func draw(rng *rand.Rand, keys int) deed {
	d := deed{kind: volume.Kind(1 + rng.IntN(6)), key: uint64(rng.IntN(keys)), value: uint64(rng.IntN(1000)), old: uint64(rng.IntN(4))}
	if d.kind == volume.Set || d.kind == volume.CompareAndSet {
		d.value = uint64(rng.IntN(4)) // so that a swap may succeed
	}
	return d
}
