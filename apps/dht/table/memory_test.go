package table

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/apps/dht/budget"
)

// TestMemoryIsUsed fills all of the memory, whatever the length of values: volumes that get more keys than others grow
// more. A refused op changes nothing, and there is room again after a delete.
func TestMemoryIsUsed(t *testing.T) {
	for _, size := range []int{100, 5000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			const limit = 16 << 20
			b := budget.New(limit)
			table := newStrings(t, Options{Volumes: 16, First: leastVolume, Most: limit, Memory: b})[0]
			value := strings.Repeat("v", size)
			stored := 0
			for refused := 0; refused < 16; stored++ {
				switch err := table.set(fmt.Sprint(stored), value); {
				case errors.Is(err, ErrFull) && strings.Contains(err.Error(), "-memory"):
					refused++
					if _, found, err := table.get(fmt.Sprint(stored)); found || err != nil {
						t.Fatalf("what was refused is there: %v, %v", found, err)
					}
				case err != nil:
					t.Fatal(err)
				}
				if u := b.Usage(); u.Keys > limit-limit/8 {
					t.Fatalf("volumes take %d bytes of %d", u.Keys, limit)
				}
			}
			keys, _, err := table.Here(background)
			if live := int(keys) * size; err != nil || live < limit/2 {
				t.Errorf("values of %d bytes fill a memory of %d, %v", live, limit, err)
			}
			table.sound(t)
		})
	}
}

// TestDeletesGiveBack deletes key after key. Volumes become smaller, keep what is left, and in the end have as
// much memory as at first. So have they after Clear.
func TestDeletesGiveBack(t *testing.T) {
	for _, o := range []Options{{}, {Memory: budget.New(64 << 20)}} {
		t.Run(fmt.Sprint(o.Memory != nil), func(t *testing.T) {
			o.Volumes, o.First, o.Most = 2, leastVolume, 32<<20
			table := newStrings(t, o)[0]
			first := bytesOf(t, table)
			r := rand.New(rand.NewPCG(1, 2))
			fill := func() map[string]string {
				all := make(map[string]string)
				for i := range 3000 {
					key, value := fmt.Sprint("key ", i), strings.Repeat(string(rune('a'+i%26)), r.IntN(1<<r.IntN(14)))
					if err := table.set(key, value); err != nil {
						t.Fatal(err)
					}
					all[key] = value
				}
				return all
			}
			all := fill()
			full, live := bytesOf(t, table), 0
			for key := range all {
				live += len(all[key])
			}
			if full < live {
				t.Fatalf("%d bytes of volumes for %d of values", full, live)
			}
			n := 0
			for key := range all {
				if r := table.do(Op{Kind: Delete, Key: []byte(key)}); !r.Found || r.Err != nil {
					t.Fatalf("deleting %q: %+v", key, r)
				}
				delete(all, key)
				if n++; n%500 == 0 {
					table.sound(t)
					for key, value := range all {
						if got, found, err := table.get(key); got != value || !found || err != nil {
							t.Fatalf("after %d deletes, %q has %d bytes, %v, %v; want %d", n, key, len(got), found, err, len(value))
						}
					}
				}
			}
			if last := bytesOf(t, table); last != first {
				t.Errorf("volumes have %d bytes after all deletes, %d at most, %d at first", last, full, first)
			}
			fill()
			if err := table.Clear(background); err != nil {
				t.Fatal(err)
			}
			if last := bytesOf(t, table); last != first {
				t.Errorf("volumes have %d bytes after Clear, want %d", last, first)
			}
			if u := o.Memory.Usage(); u.Keys != 0 && u.Keys != first {
				t.Errorf("%+v after Clear, want %d bytes of keys", u, first)
			}
			table.sound(t)
		})
	}
}

// bytesOf is how many bytes the volumes of a node have.
func bytesOf(t *testing.T, table *Strings) int {
	t.Helper()
	_, n, err := table.Here(background)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// TestLater does ops with long values, some of one key, and asks again for those that are put off, beside a
// model. The ops of one key keep their order. One Do takes little memory for values.
func TestLater(t *testing.T) {
	t.Run("one node", func(t *testing.T) { putsOff(t, newStrings(t, laterOptions())) })
	t.Run("two nodes", func(t *testing.T) { putsOff(t, newStrings(t, laterOptions(), crew(t, 2)...)) })
}

func laterOptions() Options {
	return Options{Volumes: 4, Most: 32 << 20, Memory: budget.New(64 << 20)}
}

func putsOff(t *testing.T, tables []*Strings) {
	table, m := tables[0], &model{keys: make(map[string]entry)}
	b := table.o.Memory
	r := rand.New(rand.NewPCG(3, 4))
	putOff := 0
	for round := range 60 {
		ops := make([]Op, 40)
		want := make([]Result, len(ops))
		for i := range ops {
			ops[i] = Op{Kind: Get, Key: fmt.Append(nil, r.IntN(6))}
			switch r.IntN(5) {
			case 0:
				ops[i].Kind = Set
				ops[i].Value = bytes.Repeat([]byte{byte('a' + r.IntN(26))}, r.IntN(1<<(5+r.IntN(14))))
				ops[i].Old = r.IntN(2) == 0
			case 1:
				ops[i].Kind = Append
				ops[i].Value = []byte("more")
			}
			want[i] = m.do(ops[i])
		}
		at := make([]int, len(ops))
		for i := range at {
			at[i] = i
		}
		for len(ops) > 0 {
			results := make([]Result, len(ops))
			table.Do(background, ops, results)
			if results[0].Err == ErrLater && len(tables) == 1 {
				t.Fatalf("round %d: the first op is put off", round)
			}
			sum, longest := 0, 0
			var againOps []Op
			var againAt []int
			for i, got := range results {
				sum, longest = sum+len(got.Value), max(longest, len(got.Value))
				if got.Err == ErrLater {
					againOps, againAt = append(againOps, ops[i]), append(againAt, at[i])
					putOff++
				} else if !same(got, want[at[i]]) {
					t.Fatalf("round %d, op %d, %v of %s: %d bytes, %v; want %d bytes", round, at[i], ops[i].Kind, ops[i].Key, len(got.Value), got.Err, len(want[at[i]].Value))
				}
				b.Give(got.Value)
			}
			if most := len(tables) * (mostValues + longest); sum > most {
				t.Fatalf("round %d: one Do answers with %d bytes of values, want at most %d", round, sum, most)
			}
			ops, at = againOps, againAt
		}
	}
	if putOff == 0 {
		t.Error("nothing was put off")
	}
	for freed := b.Freed(); b.Usage().Taken != 0; freed = b.Freed() { // a node drops what a question takes when it has answered
		select {
		case <-freed:
		case <-time.After(time.Minute):
			t.Fatalf("%+v in the end, want nothing taken", b.Usage())
		}
	}
	for _, table := range tables {
		table.sound(t)
	}
}

// TestNoRoomForValue has no memory for a long value that is asked for: it is put off, and not changed. It comes when
// there is memory.
func TestNoRoomForValue(t *testing.T) {
	b := budget.New(4 << 20)
	table := newStrings(t, Options{Volumes: 1, Memory: b})[0]
	long := strings.Repeat("x", 300_000)
	if err := table.set("k", long); err != nil {
		t.Fatal(err)
	}
	u := b.Usage()
	rest := b.Take(u.Limit - u.Keys - u.Taken - 256<<10)
	if rest == nil {
		t.Fatalf("there is little room before: %+v", u)
	}
	for _, o := range []Op{{Kind: Get}, {Kind: Set, Old: true, Value: []byte("y")}, {Kind: Set, Old: true, Expires: 1}} {
		o.Key = []byte("k")
		if r := table.do(o); r.Err != ErrLater || r.Found || r.Done || len(r.Value) > 0 {
			t.Errorf("%v: %+v, want ErrLater", o.Kind, r)
		}
	}
	if r := table.do(Op{Kind: Length, Key: []byte("k")}); r.Number != int64(len(long)) {
		t.Errorf("it is %d bytes long: %v", r.Number, r.Err)
	}
	b.Give(rest)
	if got, _, err := table.get("k"); got != long || err != nil {
		t.Errorf("it comes with %d bytes, %v", len(got), err)
	}
}

// TestNoRoomForMessage has no memory for what another node is asked: only those ops fail, and nothing is counted
// afterwards.
func TestNoRoomForMessage(t *testing.T) {
	b := budget.New(8 << 20)
	table := newStrings(t, Options{Volumes: 8, Memory: b}, crew(t, 2)...)[0]
	value := strings.Repeat("v", 20_000)
	for size := b.Usage().Limit; size > 0; size /= 2 {
		for b.Take(size) != nil || size < 10_000 && b.Hold(size) {
		}
	}
	there, here := 0, 0
	for i := range 40 {
		r := table.do(Op{Kind: Set, Key: fmt.Append(nil, i), Value: []byte(value)})
		if table.volumes[volumeOf(defaultHash(fmt.Append(nil, i)), 8)] != nil {
			here++
			continue
		}
		if there++; !errors.Is(r.Err, ErrFull) || r.Done {
			t.Errorf("key %d goes to the other node: %+v", i, r)
		}
	}
	if there == 0 || here == 0 {
		t.Errorf("%d keys are here and %d there", here, there)
	}
}

// TestNoRoomForAnswer has no memory here for values of the other node. Ops that only read are put off, with all ops
// behind them. A value that comes with a write is not lost: it counts beyond the limit.
func TestNoRoomForAnswer(t *testing.T) {
	table := newStrings(t, Options{Volumes: 8, Memory: budget.New(64 << 20)}, crew(t, 2)...)[0]
	var there [][]byte
	for i := 0; len(there) < 2; i++ {
		if key := fmt.Append(nil, i); table.volumes[volumeOf(defaultHash(key), 8)] == nil {
			there = append(there, key)
		}
	}
	long, short := there[0], there[1]
	value := bytes.Repeat([]byte("x"), 100_000)
	for _, o := range []Op{{Kind: Set, Key: long, Value: value}, {Kind: Set, Key: short, Value: []byte("y")}} {
		if r := table.do(o); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	b := budget.New(64 << 10)
	table.o.Memory = b
	results := make([]Result, 2)
	table.Do(background, []Op{{Kind: Get, Key: long}, {Kind: Get, Key: short}}, results)
	for i, r := range results {
		if r.Err != ErrLater || r.Found || r.Expires != 0 || len(r.Value) > 0 {
			t.Errorf("result %d of reads is %+v, want ErrLater", i, r)
		}
	}
	if u := b.Usage(); u.Taken != 0 {
		t.Errorf("%d bytes are taken for reads that were put off", u.Taken)
	}
	table.Do(background, []Op{{Kind: Get, Key: long}, {Kind: Set, Key: short, Value: []byte("z"), Old: true}}, results)
	if r := results[0]; r.Err != nil || !bytes.Equal(r.Value, value) {
		t.Errorf("the read beside a write has %d bytes, %v", len(r.Value), r.Err)
	}
	if r := results[1]; r.Err != nil || !r.Done || string(r.Value) != "y" {
		t.Errorf("the write is %+v", r)
	}
	if u := b.Usage(); u.Taken != budget.Sized(len(value)) {
		t.Errorf("%d bytes are taken, want those of the value, beyond the limit", u.Taken)
	}
	b.Give(results[0].Value)
	if u := b.Usage(); u.Taken != 0 {
		t.Errorf("%d bytes are taken after the value is given back", u.Taken)
	}
}

// TestLaterKeepsOrder puts off a Get that another node has. The Set of its key behind it, which goes there in the
// next message, is put off as well.
func TestLaterKeepsOrder(t *testing.T) {
	table := newStrings(t, Options{Volumes: 8, Most: 32 << 20, Memory: budget.New(128 << 20)}, crew(t, 2)...)[0]
	var there []string
	for i := 0; len(there) < 4; i++ {
		if key := fmt.Sprint(i); table.volumes[volumeOf(defaultHash([]byte(key)), 8)] == nil {
			there = append(there, key)
		}
	}
	first, key := there[0], there[1]
	for _, long := range []string{first, key} {
		if err := table.set(long, strings.Repeat("x", mostValues+1)); err != nil {
			t.Fatal(err)
		}
	}
	ops := []Op{
		{Kind: Get, Key: []byte(first)}, {Kind: Get, Key: []byte(key)},
		{Kind: Set, Key: []byte(there[2]), Value: make([]byte, mostMessage*3/4)}, {Kind: Set, Key: []byte(there[3]), Value: make([]byte, mostMessage*3/4)},
		{Kind: Set, Key: []byte(key), Value: []byte("new")},
	}
	results := make([]Result, len(ops))
	table.Do(background, ops, results)
	if results[0].Err != nil || results[1].Err != ErrLater || results[4].Err != ErrLater {
		t.Errorf("the Gets are %v and %v, the Set behind them %v; want ErrLater but for the first", results[0].Err, results[1].Err, results[4].Err)
	}
	if r := table.do(Op{Kind: Length, Key: []byte(key)}); r.Number != mostValues+1 {
		t.Errorf("the value that is put off has %d bytes now, %v", r.Number, r.Err)
	}
}
