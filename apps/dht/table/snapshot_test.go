package table

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// TestSnapshot takes snapshots of a volume while other goroutines write to it. Each snapshot is
// one moment of the volume: keys that are always set in pairs, where one is the checksum of the
// other, still match. And a reader needs nothing but the snapshot.
func TestSnapshot(t *testing.T) {
	table := newStrings(t, Options{Volumes: 1, First: leastVolume})[0]
	write := func(r *rand.Rand) {
		i, value := r.IntN(50), fmt.Appendf(nil, "%0*d", r.IntN(400), r.Uint64())
		sum := fmt.Append(nil, crc32.ChecksumIEEE(value))
		ops := []Op{{Kind: Set, Key: fmt.Append(nil, "value ", i), Value: value}, {Kind: Set, Key: fmt.Append(nil, "sum ", i), Value: sum}}
		results := make([]Result, len(ops))
		table.Do(background, ops, results) // one volume: one access
		if err := errors.Join(results[0].Err, results[1].Err); err != nil {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	stop := make(chan struct{})
	for g := range 2 {
		all.Go(func() {
			for r := rand.New(rand.NewPCG(3, uint64(g))); ; write(r) {
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	seen := 0
	for n := 0; n < 100 || seen < 50; n++ {
		b, err := table.Snapshot(background, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		records, err := Open(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		pairs := make(map[string]string)
		for r := range records {
			pairs[string(r.Key)] = string(r.Value)
		}
		seen = len(pairs) / 2
		for i := range 50 {
			value, there := pairs[fmt.Sprint("value ", i)]
			if sum := pairs[fmt.Sprint("sum ", i)]; there && sum != fmt.Sprint(crc32.ChecksumIEEE([]byte(value))) {
				t.Fatalf("snapshot %d: value %d is %q, its sum %s", n, i, value, sum)
			}
		}
	}
	close(stop)
	all.Wait()
}

// TestNoSnapshot asks for volumes that there are not.
func TestNoSnapshot(t *testing.T) {
	table := newStrings(t, Options{Volumes: 2})[0]
	for _, v := range []int{-1, 2} {
		if _, err := table.Snapshot(background, v, nil); err == nil {
			t.Errorf("there is a volume %d", v)
		}
	}
	if got := table.Volumes(); len(got) != 2 {
		t.Errorf("volumes %v, want both", got)
	}
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
	b, _ := table.Snapshot(background, 0, nil)
	if err := Check(b, nil); err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range vol(b).word(atBump) {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b[i] ^= flip
			if err := Check(b, nil); err != nil {
				found++
				if !errors.Is(err, ErrDamaged) {
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
		if n%97 == 0 && Check(b[:n], nil) == nil {
			t.Errorf("the first %d bytes are a volume", n)
		}
	}
}

// TestNumbersSnapshot opens a snapshot of a volume of numbers.
func TestNumbersSnapshot(t *testing.T) {
	table := newNumbers(t, NumbersOptions{Options: Options{Volumes: 1, First: leastVolume}})[0]
	for key := range uint64(1000) {
		if _, err := table.Set(background, key, key*key); err != nil {
			t.Fatal(err)
		}
	}
	b, err := table.Snapshot(background, 0, make([]byte, 3)) // it need not be aligned
	if err != nil {
		t.Fatal(err)
	}
	v, err := OpenNumbers(b[3:], nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := uint64(0)
	for key, value := range v.All() {
		if value != key*key {
			t.Errorf("%d is %d", key, value)
		}
		sum += key
	}
	if sum != 999*1000/2 || v.Len() != 1000 {
		t.Errorf("keys are missing: %d, their sum is %d", v.Len(), sum)
	}
	for _, bad := range [][]byte{nil, b, b[3:1003], make([]byte, leastVolume)} {
		if v, err := OpenNumbers(bad, volume.Mix); err == nil {
			t.Errorf("%d bytes are a volume of %d keys", len(bad), v.Len())
		}
	}
}
