package table

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// errDamaged is a volume whose bytes are not one.
var errDamaged = errors.New("table: damaged volume")

// header is what is wrong with the header of bytes that should be a volume.
func (v vol) header() error {
	if len(v) < leastVolume || len(v) > mostVolume || v.word(atMagic) != magic {
		return fmt.Errorf("%w: %d bytes do not begin as one", errDamaged, len(v))
	}
	if n := v.buckets(); v.word(atSize) != uint64(len(v)) || n == 0 || n&(n-1) != 0 || n > uint64(bucketsOf(len(v))) {
		return fmt.Errorf("%w: size %d and %d buckets in %d bytes", errDamaged, v.word(atSize), v.buckets(), len(v))
	}
	if bump := v.word(atBump); bump < v.heap() || bump > uint64(len(v)) || bump%unit != 0 {
		return fmt.Errorf("%w: heap ends at %d", errDamaged, bump)
	}
	return nil
}

// check reports what is wrong with bytes that should be a volume, nil if nothing is: blocks lie
// side by side, each record is in the one chain that its key belongs to, each free block in the
// list of its class, and the counts are right. Hash is the table's, or nil if its Options have
// none.
func check(b []byte, hash func([]byte) uint64) error {
	if hash == nil {
		hash = defaultHash
	}
	v := vol(b)
	if err := v.header(); err != nil {
		return err
	}
	used, free, err := v.tiles()
	if err != nil {
		return err
	}
	records, live, soonest := uint64(0), uint64(0), v.word(atSoonest)
	keys := make(map[string]bool, len(used))
	for i := range v.buckets() {
		for l := v.word(headerSize + 8*i); l != 0; {
			at := place(l)
			_, there := slices.BinarySearch(used, at)
			if !there {
				return fmt.Errorf("%w: bucket %d leads to %d, where no record is", errDamaged, i, at)
			}
			key := v.key(at)
			if keys[string(key)] {
				return fmt.Errorf("%w: key %q is there twice, in the chain of bucket %d", errDamaged, key, i)
			}
			keys[string(key)] = true
			records++
			live += v.blockSize(at)
			h := hash(key)
			if h&(v.buckets()-1) != i || tag(h) != l&^placeMask {
				return fmt.Errorf("%w: key %q is in the chain of bucket %d", errDamaged, key, i)
			}
			if e := v.expires(at); e < 0 || e > 0 && (soonest == 0 || uint64(e) < soonest) {
				return fmt.Errorf("%w: key %q expires at %d, nothing was to before %d", errDamaged, key, e, soonest)
			}
			l = v.word(at + atNext)
		}
	}
	if n := uint64(len(used)); records != n || v.word(atRecords) != n || v.word(atLive) != live {
		return fmt.Errorf("%w: %d records of %d bytes in chains, %d in the heap, %d of %d bytes counted",
			errDamaged, records, live, n, v.word(atRecords), v.word(atLive))
	}
	return v.checkFree(free)
}

// tiles are the places of all records and of all free blocks, in order.
func (v vol) tiles() (used, free []uint64, err error) {
	for at := v.heap(); at < v.word(atBump); at += v.blockSize(at) {
		size := v.blockSize(at)
		if size == 0 || at+size > v.word(atBump) || classSize(classOf(size)) != size {
			return nil, nil, fmt.Errorf("%w: block of %d bytes at %d", errDamaged, size, at)
		}
		switch v.half(at + atUsed) {
		case 0:
			free = append(free, at)
		case 1:
			if recordSize(int(v.half(at+atKeyLen)), int(v.half(at+atValLen))) > size {
				return nil, nil, fmt.Errorf("%w: record of %d and %d bytes in a block of %d at %d",
					errDamaged, v.half(at+atKeyLen), v.half(at+atValLen), size, at)
			}
			used = append(used, at)
		default:
			return nil, nil, fmt.Errorf("%w: block at %d is neither free nor a record", errDamaged, at)
		}
	}
	return used, free, nil
}

func (v vol) checkFree(free []uint64) error {
	n := 0
	for class := range classes {
		for at := v.word(uint64(atFree + 8*class)); at != 0; at = v.word(at + atNext) {
			if _, there := slices.BinarySearch(free, at); !there || v.blockSize(at) != classSize(class) {
				return fmt.Errorf("%w: free list of class %d leads to %d", errDamaged, class, at)
			}
			if n++; n > len(free) {
				return fmt.Errorf("%w: a free block is listed twice, in class %d", errDamaged, class)
			}
		}
	}
	if n != len(free) {
		return fmt.Errorf("%w: %d free blocks are listed, there are %d", errDamaged, n, len(free))
	}
	return nil
}

// TestCheckFinds damages every byte of a volume in turn that says where something is. It is found or
// harmless, and never makes a panic.
func TestCheckFinds(t *testing.T) {
	table := newStrings(t, Options{Volumes: 1, First: leastVolume, Most: leastVolume})[0]
	for i := range 30 {
		table.set(fmt.Sprint("key ", i), fmt.Sprintf("%0*d", i, i))
	}
	for i := range 10 {
		table.do(Op{Kind: Delete, Key: fmt.Append(nil, "key ", 3*i)})
	}
	b := contents(table.volumes[0])
	if err := check(b, nil); err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range vol(b).word(atBump) {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b[i] ^= flip
			if err := check(b, nil); err != nil {
				found++
				if !errors.Is(err, errDamaged) {
					t.Errorf("byte %d: %v", i, err)
				}
			}
			b[i] ^= flip
		}
	}
	if least := 3 * int(vol(b).heap()) / 2; found < least {
		t.Errorf("of damages %d were found, want at least %d", found, least)
	}
	for n := range len(b) {
		if n%97 == 0 && check(b[:n], nil) == nil {
			t.Errorf("the first %d bytes are a volume", n)
		}
	}
}
