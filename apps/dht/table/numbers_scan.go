package table

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/resource"
)

// A cursor of numbers is a volume, and which part of all hashes a scan has seen there:
//
//	 63 .... 40   39 .... 0
//	volume      │ part of 2^40
//
// Buckets follow one another as the hashes of their keys do, however many there are.

// Scan goes on from a cursor, 0 to begin with, and calls each with keys and their
// values, about count of them. It returns the next cursor, 0 at the end. A key that is
// there all the time is seen at least once: twice only if its volume has changed its
// size meanwhile.
func (t *Numbers) Scan(ctx context.Context, cursor uint64, count int, each func(key, value uint64)) (next uint64, err error) {
	if count <= 0 {
		count = defaultCount
	}
	count = min(count, mostScan)
	v := int(cursor >> cursorBits)
	if v >= len(t.here) {
		return 0, nil
	}
	var pairs [][2]uint64
	if t.here[v] != nil {
		next, pairs, err = t.scanHere(ctx, cursor, count)
	} else {
		next, pairs, err = t.scanThere(ctx, cursor, count)
	}
	if err != nil {
		return 0, err
	}
	for _, p := range pairs {
		each(p[0], p[1])
	}
	return next, nil
}

// All calls each with all keys and values, as Scan sees them, until it returns false.
func (t *Numbers) All(ctx context.Context, each func(key, value uint64) bool) error {
	on := true
	for cursor, began := uint64(0), false; on && (cursor != 0 || !began); began = true {
		var err error
		cursor, err = t.Scan(ctx, cursor, mostScan, func(key, value uint64) { on = on && each(key, value) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Numbers) scanHere(ctx context.Context, cursor uint64, count int) (next uint64, pairs [][2]uint64, err error) {
	number, part := cursor>>cursorBits, cursor&cursorMask
	h := t.here[number]
	in, err := h.r.Relaxed(ctx, resource.Read)
	if err != nil {
		return 0, nil, err
	}
	defer in.Leave()
	volume := h.volume.Load()
	buckets := volume.buckets
	high, low := bits.Mul64(part, buckets)
	bucket := high<<(64-cursorBits) | low>>cursorBits
	for range mostLooked * count {
		for key, value := range volume.of(bucket) {
			pairs = append(pairs, [2]uint64{key, value})
		}
		if bucket++; bucket == buckets {
			if number++; number == uint64(len(t.here)) {
				return 0, pairs, nil
			}
			return number << cursorBits, pairs, nil
		}
		if len(pairs) >= count {
			break
		}
	}
	high, low = bits.Mul64(bucket, 1<<cursorBits) // rounded up to the next part that begins there
	low, carry := bits.Add64(low, buckets-1, 0)
	part, _ = bits.Div64(high+carry, low, buckets)
	return number<<cursorBits | part, pairs, nil
}

// scanThere asks the node that has the volume.
func (t *Numbers) scanThere(ctx context.Context, cursor uint64, count int) (next uint64, pairs [][2]uint64, err error) {
	c := &call{node: t.homes[cursor>>cursorBits]}
	c.take = func(n int, from *wire.Reader) error {
		next = from.Uint()
		if v := next >> cursorBits; v >= uint64(len(t.here)) {
			return fmt.Errorf("%w: cursor %#x", errMalformed, next)
		}
		for range n - 1 {
			pairs = append(pairs, [2]uint64{from.Uint(), from.Uint()})
		}
		return from.Err()
	}
	t.others.ask(c, askScan, 2, wire.AppendUint(wire.AppendUint(nil, cursor), uint64(count)))
	err = t.others.wait(ctx, c)
	return next, pairs, err
}

// serveScan scans a volume for another node.
func (t *Numbers) serveScan(from int, h head, body *wire.Reader) error {
	cursor, count := body.Uint(), int(body.UintTo(mostScan))
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	v := cursor >> cursorBits
	if v >= uint64(len(t.here)) || t.here[v] == nil {
		return fmt.Errorf("%w: scan of volume %d", errMalformed, v)
	}
	next, pairs, err := t.scanHere(context.Background(), cursor, count)
	if err != nil {
		return err
	}
	b := wire.AppendUint(nil, next)
	for _, p := range pairs {
		b = wire.AppendUint(wire.AppendUint(b, p[0]), p[1])
	}
	t.others.reply(from, head{answer, h.number, 0, 1 + len(pairs)}, b)
	return nil
}
