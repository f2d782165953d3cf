package volume_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// A history is linearizable if for every key some order of its operations, each
// somewhere between its call and its return, is one that a map gives.

// deed is an insertion of a new key, or a look-up.
type deed struct {
	insert     bool
	key, value uint64
}

// outcome is what a look-up returned, and what a map has for a key.
type outcome struct {
	value uint64
	found bool
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
	Init: func() any { return outcome{} },
	Step: func(s, in, out any) (bool, any) {
		if d := in.(deed); d.insert {
			return s == outcome{}, outcome{d.value, true}
		}
		return out == s, s
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

// do performs a deed and notes it.
func (c *clerk) do(ctx context.Context, client int, s volume.Side, d deed) error {
	call := c.tick(uint64(client))
	out, err := perform(ctx, s, d)
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
	if d.insert {
		return out, s.InsertNew(ctx, d.key, d.value)
	}
	out.value, out.found, err = s.Get(ctx, d.key)
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

// drawn are the deeds of each rank: it inserts its own keys, and looks up any.
func drawn(rng *rand.Rand, ranks, each int) (all [][]deed, keys int) {
	all = make([][]deed, ranks)
	for p := range all {
		for range each {
			d := deed{insert: rng.IntN(3) == 0, key: uint64(rng.IntN(keys + 2)), value: 1 + rng.Uint64N(1000)}
			if d.insert {
				d.key = uint64(keys)
				keys++
			}
			all[p] = append(all[p], d)
		}
	}
	return all, keys
}
