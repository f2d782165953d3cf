package table

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/resource"
)

// A cursor is a volume, and how far a scan has come there:
//
//	 63 .... 40   39 .... 0
//	volume      │ bucket, its bits in reverse order
//
// A bucket's bits are counted from the highest down. When a volume gets twice as many
// buckets, each becomes two that differ in the highest bit, so what has been seen is
// still behind the cursor, and what has not is before it. When it gets fewer, because
// it was cleared, some may be seen twice.
const (
	cursorBits = 40
	cursorMask = 1<<cursorBits - 1
)

// defaultCount is how many keys a scan gives at a time if it is not told.
const defaultCount = 10

// mostScan is how many keys a scan gives at a time. Only the keys of one bucket may be more.
const mostScan = 1 << 12

// Scan goes on from a cursor, 0 to begin with, and calls each with keys, about count of
// them, which are good until it returns. It returns the next cursor, 0 at the end. A key
// that is there all the time is seen at least once, perhaps twice; one that comes or
// goes meanwhile may be seen or not.
func (t *Strings) Scan(ctx context.Context, cursor uint64, count int, each func(key []byte)) (next uint64, err error) {
	if count <= 0 {
		count = defaultCount
	}
	count = min(count, mostScan)
	volume := int(cursor >> cursorBits)
	if volume >= len(t.homes) {
		return 0, nil
	}
	keys := newKeyList()
	if t.volumes[volume] != nil {
		cursor, err = t.scanHere(ctx, cursor, count, keys)
	} else {
		cursor, err = t.scanThere(ctx, cursor, count, keys)
	}
	if err != nil {
		return 0, err
	}
	for key := range keys.all {
		each(key)
	}
	return cursor, nil
}

// keyList is copies of keys, one after the other.
type keyList struct {
	bytes []byte
	ends  []int
}

func newKeyList() *keyList { return new(keyList) }

func (k *keyList) add(key []byte) {
	k.bytes = append(k.bytes, key...)
	k.ends = append(k.ends, len(k.bytes))
}

func (k *keyList) all(yield func([]byte) bool) {
	begin := 0
	for _, end := range k.ends {
		if !yield(k.bytes[begin:end:end]) {
			return
		}
		begin = end
	}
}

// mostLooked is how many buckets a scan looks at for each key that is asked for, so
// that one of an empty volume ends.
const mostLooked = 16

// scanHere scans a volume of this node, and returns where to go on.
func (t *Strings) scanHere(ctx context.Context, cursor uint64, count int, keys *keyList) (next uint64, err error) {
	number, at := cursor>>cursorBits, cursor&cursorMask
	in, err := t.volumes[number].Relaxed(ctx, resource.Read)
	if err != nil {
		return 0, err
	}
	defer in.Leave()
	v := vol(in.Bytes())
	for range mostLooked * count {
		at = v.scan(at, t.o.Now, keys)
		if at == 0 {
			if number++; number == uint64(len(t.homes)) {
				return 0, nil
			}
			break
		}
		if len(keys.ends) >= count || len(keys.bytes) >= mostMessage {
			break
		}
	}
	return number<<cursorBits | at, nil
}

// scan adds the keys of a bucket, and returns the next one; 0 after the last. Both are
// as they stand in a cursor.
func (v vol) scan(at uint64, now clock, keys *keyList) (next uint64) {
	width := bits.Len64(v.buckets() - 1) // of a bucket's number
	bucket := bits.Reverse64(at<<(64-cursorBits)) & (v.buckets() - 1)
	for l := v.word(headerSize + 8*bucket); l != 0; {
		r := place(l)
		if !now.over(v.expires(r)) {
			keys.add(v.key(r))
		}
		l = v.word(r + atNext)
	}
	// The next number in reverse order: what is below the volume's width is nothing here.
	return (at>>(cursorBits-width) + 1) << (cursorBits - width) & cursorMask
}

// scanThere asks the node that has the volume.
func (t *Strings) scanThere(ctx context.Context, cursor uint64, count int, keys *keyList) (next uint64, err error) {
	c := &call{node: t.homes[cursor>>cursorBits]}
	c.take = func(n int, from *wire.Reader) error {
		next = from.Uint()
		if volume := next >> cursorBits; volume >= uint64(len(t.homes)) {
			return fmt.Errorf("%w: cursor %#x", errMalformed, next)
		}
		for range n - 1 {
			keys.add(from.Bytes())
		}
		return from.Err()
	}
	t.others.ask(c, askScan, 2, wire.AppendUint(wire.AppendUint(nil, cursor), uint64(count)))
	return next, t.others.wait(ctx, c)
}

// serveScan scans a volume for another node.
func (t *Strings) serveScan(s *service, from int, h head, body *wire.Reader) error {
	cursor, count := body.Uint(), int(body.UintTo(mostScan))
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	volume := cursor >> cursorBits
	if volume >= uint64(len(t.homes)) || t.volumes[volume] == nil {
		return fmt.Errorf("%w: scan of volume %d", errMalformed, volume)
	}
	keys := newKeyList()
	next, err := t.scanHere(context.Background(), cursor, count, keys)
	if err != nil {
		return err
	}
	s.body = wire.AppendUint(s.body, next)
	for key := range keys.all {
		s.body = wire.AppendBytes(s.body, key)
	}
	t.others.reply(from, head{answer, h.number, 0, 1 + len(keys.ends)}, s.body)
	return nil
}

// Len is how many keys there are, on all nodes. With a node that is lost it is an error.
func (t *Strings) Len(ctx context.Context) (int64, error) {
	return t.everywhere(ctx, askLength, t.lengthHere)
}

// Clear takes all keys away, volume by volume, on all nodes that are there.
func (t *Strings) Clear(ctx context.Context) error {
	_, err := t.everywhere(ctx, askClear, t.clearHere)
	return err
}

// Here is how many keys this node keeps, and in how many bytes of volumes. Keys that
// have expired are taken away.
func (t *Strings) Here(ctx context.Context) (keys, bytes int64, err error) {
	for _, r := range t.volumes {
		if r != nil {
			bytes += int64(r.Size())
		}
	}
	keys, err = t.lengthHere(ctx)
	return keys, bytes, err
}

// Volume is a volume of the table.
type Volume struct {
	Number      int
	Node        int // it keeps the volume
	Keys, Bytes int64
	Acquired    uint64  // acquisitions of its lock
	Waited      uint64  // the acquisitions that found a predecessor
	Unfair      float64 // see inspect.Unfairness
}

// Volumes are the volumes of all nodes that answer before ctx ends, by their numbers. Each is locked for a moment, one after another.
func (t *Strings) Volumes(ctx context.Context) (all []Volume, err error) {
	var calls []*call
	var kept [][]Volume
	if t.others != nil {
		kept = make([][]Volume, t.others.nodes)
		for node := range kept {
			if node == t.node {
				continue
			}
			c := &call{node: node, take: func(count int, from *wire.Reader) error {
				for range count {
					kept[node] = append(kept[node], parseVolume(from, node))
				}
				return from.Err()
			}}
			t.others.ask(c, askVolumes, 0, nil)
			calls = append(calls, c)
		}
	}
	all, err = t.kept(ctx)
	for _, c := range calls {
		if t.others.wait(ctx, c) == nil { // a node that is lost shows nothing
			all = append(all, kept[c.node]...)
		}
	}
	slices.SortFunc(all, func(a, b Volume) int { return cmp.Compare(a.Number, b.Number) })
	return all, err
}

// encode appends the volume. Its node is the one that sends it.
func (v *Volume) encode(b []byte) []byte {
	for _, n := range []uint64{uint64(v.Number), uint64(v.Keys), uint64(v.Bytes), v.Acquired, v.Waited, math.Float64bits(v.Unfair)} {
		b = wire.AppendUint(b, n)
	}
	return b
}

func parseVolume(from *wire.Reader, node int) Volume {
	return Volume{
		Node: node, Number: int(from.UintTo(math.MaxInt32)), Keys: int64(from.UintTo(math.MaxInt64)), Bytes: int64(from.UintTo(math.MaxInt64)),
		Acquired: from.Uint(), Waited: from.Uint(), Unfair: math.Float64frombits(from.Uint()),
	}
}

// serveVolumes tells another node of the volumes here.
func (t *Strings) serveVolumes(s *service, from int, h head, body *wire.Reader) error {
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	all, err := t.kept(context.Background())
	if err != nil {
		return err
	}
	for _, v := range all {
		s.body = v.encode(s.body)
	}
	t.others.reply(from, head{answer, h.number, 0, len(all)}, s.body)
	return nil
}

// kept are the volumes that this node keeps.
func (t *Strings) kept(ctx context.Context) (all []Volume, err error) {
	for i, r := range t.volumes {
		if r == nil {
			continue
		}
		v := Volume{Number: i, Node: t.node, Bytes: int64(r.Size())}
		if v.Keys, err = lengthOf(ctx, r, t.o.Now); err != nil {
			return nil, err
		}
		_, counts, each := (*queue.Resource)(r).Guarded()
		v.Acquired, v.Waited, v.Unfair = counts.Acquired, counts.Waited, inspect.Unfairness(each)
		all = append(all, v)
	}
	return all, nil
}

// lengthHere is how many keys this node has. It takes away those that have expired.
func (t *Strings) lengthHere(ctx context.Context) (n int64, err error) {
	for _, r := range t.volumes {
		if r == nil {
			continue
		}
		records, err := lengthOf(ctx, r, t.o.Now)
		if err != nil {
			return 0, err
		}
		n += records
	}
	return n, nil
}

func lengthOf(ctx context.Context, r *resource.Resource, now clock) (int64, error) {
	in, err := r.Relaxed(ctx, resource.Read)
	if err != nil {
		return 0, err
	}
	if v := vol(in.Bytes()); !now.over(int64(v.word(atSoonest))) {
		defer in.Leave()
		return int64(v.word(atRecords)), nil
	}
	in.Leave()
	if in, err = r.Relaxed(ctx, resource.Write); err != nil {
		return 0, err
	}
	defer in.Leave()
	v := vol(in.Bytes())
	v.sweep(now())
	return int64(v.word(atRecords)), nil
}

// clearHere takes away the keys that this node has, and gives memory back.
func (t *Strings) clearHere(ctx context.Context) (int64, error) {
	for i, r := range t.volumes {
		if r == nil {
			continue
		}
		in, err := r.Relaxed(ctx, resource.Write)
		if err != nil {
			return 0, err
		}
		b, err := in.Resize(t.o.First)
		if err == nil {
			vol(b).format()
			t.show(i, b)
		}
		in.Leave()
		if err != nil {
			return 0, err
		}
	}
	t.o.Memory.Trim()
	return 0, nil
}
