package table

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/resource"
)

// Numbers is a table of keys and values that are 64-bit numbers, any of them. Its
// methods may be called by any goroutine, on any node.
type Numbers struct {
	*roster
	here   []*numbersHome      // volumes that this node keeps; nil elsewhere
	hasher func(uint64) uint64 // nil: volume.Mix
}

// NumbersOptions say how a table of numbers is made.
type NumbersOptions struct {
	// Options are as for byte strings, except that Now and Hash must be nil.
	Options
	// HashNumber is what keys are spread by, volume.Mix by default.
	HashNumber func(key uint64) uint64
}

// NewNumbers makes a table, together with all other nodes of Options.Nodes, which call
// it too.
func NewNumbers(ctx context.Context, options NumbersOptions) (*Numbers, error) {
	if options.Now != nil || options.Hash != nil {
		return nil, fmt.Errorf("table: Options.Now and Options.Hash are of byte strings: leave them nil, or set HashNumber")
	}
	if options.Guard == "" && glimpses {
		options.Guard = "foMPI-RW" // readers mostly do without it, and of all it costs writers least
	}
	o := options.Options.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	t := &Numbers{here: make([]*numbersHome, o.Volumes), hasher: options.HashNumber}
	var err error
	t.roster, err = newRoster(o, func(number int) (*resource.Resource, error) {
		var err error
		t.here[number], err = newNumbersHome(ctx, number, &o, options.HashNumber)
		return t.here[number].r, err
	})
	if err == nil {
		err = t.meet(ctx, "numbers", t.serve)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// apart is the hash that chooses a key's volume. Its upper bits are not the bits that choose
// the key's bucket there. apart is its own inverse.
func apart(hash uint64) uint64 { return bits.RotateLeft64(hash, 32) }

func (t *Numbers) spread(key uint64) uint64 { return apart(hashOf(t.hasher, key)) }

// home is the volume of a key's hash; nil if another node keeps it.
func (t *Numbers) home(hash uint64) *numbersHome { return t.here[volumeOf(apart(hash), len(t.here))] }

// glimpse is the value of a key that is kept here, if no writer is in its volume.
func (t *Numbers) glimpse(key uint64) (value uint64, found, ok bool) {
	if !glimpses {
		return 0, false, false
	}
	hash := hashOf(t.hasher, key)
	h := t.home(hash)
	if h == nil {
		return 0, false, false
	}
	for range glances {
		writes := h.writes.Load()
		if writes&1 != 0 {
			continue
		}
		value, found = h.volume.Load().get(key, hash)
		if h.writes.Load() == writes {
			return value, found, true
		}
	}
	return 0, false, false
}

// glances is how often a reader looks before it takes the lock: as long as a short write
// takes.
const glances = 50

// Get returns the value of a key, and whether the key is there.
func (t *Numbers) Get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	if value, found, ok := t.glimpse(key); ok {
		return value, found, nil
	}
	if h := t.home(hashOf(t.hasher, key)); h != nil {
		return h.get(ctx, key)
	}
	r := t.one(ctx, NumberOp{Kind: Get, Key: key})
	return r.Value, r.Found, r.Err
}

// Insert gives a key a value if it is not there, and reports whether it did so.
func (t *Numbers) Insert(ctx context.Context, key, value uint64) (inserted bool, err error) {
	if _, found, ok := t.glimpse(key); ok && found {
		return false, nil
	}
	r := t.one(ctx, NumberOp{Kind: Set, If: Absent, Key: key, Value: value})
	return r.Done, r.Err
}

// Set gives a key a value, and reports whether it was there before.
func (t *Numbers) Set(ctx context.Context, key, value uint64) (found bool, err error) {
	r := t.one(ctx, NumberOp{Kind: Set, Key: key, Value: value})
	return r.Found, r.Err
}

// Delete takes a key away, and reports whether it was there.
func (t *Numbers) Delete(ctx context.Context, key uint64) (found bool, err error) {
	r := t.one(ctx, NumberOp{Kind: Delete, Key: key})
	return r.Found, r.Err
}

// Add adds to the value of a key, 0 if it is not there, with wrap-around, and returns
// the sum.
func (t *Numbers) Add(ctx context.Context, key, delta uint64) (sum uint64, err error) {
	r := t.one(ctx, NumberOp{Kind: Add, Key: key, Value: delta})
	return r.Value, r.Err
}

// CompareAndSet gives a key a new value if it has the old one, and reports whether it
// had.
func (t *Numbers) CompareAndSet(ctx context.Context, key, old, new uint64) (swapped bool, err error) {
	r := t.one(ctx, NumberOp{Kind: Set, If: Equal, Key: key, Compare: old, Value: new})
	return r.Done, r.Err
}

// one does a single op.
func (t *Numbers) one(ctx context.Context, o NumberOp) (r NumberResult) {
	hash := hashOf(t.hasher, o.Key)
	h := t.home(hash)
	if h == nil {
		return t.oneAfar(ctx, o)
	}
	in, err := h.write(ctx)
	if err != nil {
		return NumberResult{Err: err}
	}
	h.change(in, &o, hash, &r)
	h.leave(in)
	return r
}

func (t *Numbers) oneAfar(ctx context.Context, o NumberOp) NumberResult {
	ops, results := []NumberOp{o}, make([]NumberResult, 1)
	t.Do(ctx, ops, results)
	return results[0]
}

// Do executes ops, each atomically, with results[i] for ops[i]; those on one key in
// their order, others in any. Writes to a volume share one access of its lock, and ops
// for a node one message, unless they are very many. Results must be as many as ops.
func (t *Numbers) Do(ctx context.Context, ops []NumberOp, results []NumberResult) {
	if len(results) < len(ops) {
		panic(fmt.Sprintf("table: Do of %d ops with %d results", len(ops), len(results)))
	}
	b := t.batches.Get().(*batch)
	for i := range ops {
		results[i] = NumberResult{Err: ops[i].check()}
		if results[i].Err != nil {
			b.skip()
			continue
		}
		hash := t.spread(ops[i].Key)
		b.add(i, t.group(hash), hash, ops[i].Kind != Get)
	}
	if t.others == nil {
		t.near(ctx, b, ops, results)
	} else {
		all := numberOps{ops, results}
		t.afar(ctx, b, all)
		t.near(ctx, b, ops, results)
		t.await(ctx, b)
	}
	b.clear()
	t.batches.Put(b)
}

// near does the ops on this node's volumes.
func (t *Numbers) near(ctx context.Context, b *batch, ops []NumberOp, results []NumberResult) {
	for _, g := range b.touched {
		switch {
		case int(g) >= len(t.here):
		case b.groups[g].writes:
			t.write(ctx, b, int(g), ops, results)
		default:
			for i := b.groups[g].head; i >= 0; i = b.next[i] {
				r := &results[i]
				r.Value, r.Found, r.Err = t.Get(ctx, ops[i].Key)
			}
		}
	}
}

func (t *Numbers) write(ctx context.Context, b *batch, g int, ops []NumberOp, results []NumberResult) {
	h := t.here[g]
	in, err := h.write(ctx)
	for i := b.groups[g].head; i >= 0; i = b.next[i] {
		if err != nil {
			results[i].Err = err
		} else {
			h.change(in, &ops[i], apart(b.hashes[i]), &results[i])
		}
	}
	if err == nil {
		h.leave(in)
	}
}

// Len is how many keys there are, on all nodes. With a node that is lost it is an error.
func (t *Numbers) Len(ctx context.Context) (int64, error) {
	return t.everywhere(ctx, askLength, t.lengthHere)
}

// Clear takes all keys away, volume by volume, on all nodes that are there.
func (t *Numbers) Clear(ctx context.Context) error {
	_, err := t.everywhere(ctx, askClear, t.clearHere)
	return err
}

func (t *Numbers) lengthHere(ctx context.Context) (n int64, err error) {
	for _, h := range t.here {
		if h == nil {
			continue
		}
		in, err := h.r.Relaxed(ctx, resource.Read)
		if err != nil {
			return 0, err
		}
		n += int64(h.volume.Load().Len())
		in.Leave()
	}
	return n, nil
}

func (t *Numbers) clearHere(ctx context.Context) (int64, error) {
	for _, h := range t.here {
		if h == nil {
			continue
		}
		in, err := h.write(ctx)
		if err != nil {
			return 0, err
		}
		err = h.clear(in)
		h.leave(in)
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// serve does what another node asks.
func (t *Numbers) serve(from int, h head, body *wire.Reader) error {
	switch h.what {
	case askOps:
		return t.serveOps(from, h, body)
	case askScan:
		return t.serveScan(from, h, body)
	}
	return t.serveAll(from, h, body, t.lengthHere, t.clearHere)
}
