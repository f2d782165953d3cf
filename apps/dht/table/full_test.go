package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/budget"
)

// TestFull fills volumes to the last block: then there is a clear error for that key
// alone, nothing is lost, what is there can be read and changed, and after deletes it
// goes on. The bound on what is not used holds.
func TestFull(t *testing.T) {
	for _, size := range []int{0, 20, 900, 5000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			table := newStrings(t, Options{Volumes: 2, First: leastVolume, Most: 256 << 10})[0]
			value := strings.Repeat("v", size)
			var kept []string
			refused := ""
			for i := 0; refused == ""; i++ {
				key := fmt.Sprint("key ", i)
				switch err := table.set(key, value); {
				case errors.Is(err, ErrFull):
					refused = key
				case err != nil:
					t.Fatal(err)
				default:
					kept = append(kept, key)
				}
			}
			table.sound(t)
			v := table.volumes[volumeOf(defaultHash([]byte(refused)), 2)]
			b := contents(v)
			if live, room := vol(b).word(atLive), roomOf(256<<10); live+classSize(classOf(recordSize(10, size))) <= room-room/8 {
				t.Errorf("it is full with %d of %d bytes in use", live, room)
			}
			for _, key := range kept {
				if got, found, err := table.get(key); got != value || !found || err != nil {
					t.Fatalf("%s is %q, %v, %v once it is full", key, got, found, err)
				}
			}
			if _, found, err := table.get(refused); found || err != nil {
				t.Errorf("what was refused is there: %v, %v", found, err)
			}
			if err := table.set(kept[0], value); err != nil {
				t.Errorf("a value of the same length does not fit: %v", err)
			}
			for _, key := range kept[:len(kept)/2] {
				if r := table.do(Op{Kind: Delete, Key: []byte(key)}); !r.Found || r.Err != nil {
					t.Fatalf("deleting %s: %+v", key, r)
				}
			}
			if err := table.set(refused, value); err != nil {
				t.Errorf("after deletes: %v", err)
			}
			table.sound(t)
		})
	}
}

// TestChurn changes values of all lengths at random in volumes that are nearly full for long,
// beside a map, some of them for a while only. A refused op changes nothing. Once the volumes are as large as
// they may be, and once there is no memory for larger ones.
func TestChurn(t *testing.T) {
	t.Run("Most", func(t *testing.T) { churn(t, Options{Most: 64 << 10}) })
	t.Run("Memory", func(t *testing.T) {
		b := budget.New(144 << 10)
		churn(t, Options{Most: 1 << 20, Memory: b})
		if u := b.Usage(); u.Keys > u.Limit {
			t.Errorf("%+v", u)
		}
	})
}

func churn(t *testing.T, o Options) {
	m := &model{now: 1, keys: make(map[string]entry)}
	o.Volumes, o.First, o.Now = 2, leastVolume, func() int64 { return m.now }
	table := newStrings(t, o)[0]
	r := rand.New(rand.NewPCG(1, 2))
	refused, done := 0, 0
	for i := range 20000 {
		m.now++
		m.forget()
		o := Op{Kind: Set, Key: fmt.Append(nil, r.IntN(400)), Value: bytes.Repeat([]byte{'x'}, r.IntN(1<<(5+r.IntN(7)))), Old: true}
		switch r.IntN(8) {
		case 0:
			o.Expires = m.now + int64(r.IntN(500)+1)
		case 1:
			o.Kind = Delete
		case 2:
			o.Kind = Append
			o.Value = o.Value[:len(o.Value)/4]
		case 3:
			o.Kind = Get
		}
		got := table.do(o)
		if errors.Is(got.Err, ErrFull) {
			refused++
			continue
		}
		done++
		if want := m.do(o); !same(got, want) {
			t.Fatalf("step %d, %v of %s: %+v, want %+v", i, o.Kind, o.Key, got, want)
		}
		if i%50 == 0 {
			table.sound(t)
		}
	}
	if refused == 0 || done < refused {
		t.Errorf("%d done, %d refused: it was not nearly full", done, refused)
	}
	for key, e := range m.keys {
		if got, found, err := table.get(key); got != e.value || !found || err != nil {
			t.Errorf("%s is %q, %v, %v; want %q", key, got, found, err, e.value)
		}
	}
}

// TestFewBuckets fills a volume with long values, which need few buckets, and then with short ones beside
// some that are left. These get more buckets.
func TestFewBuckets(t *testing.T) {
	for _, memory := range []*budget.Budget{nil, budget.New(64 << 20)} {
		table := newStrings(t, Options{Volumes: 1, Most: 32 << 20, Memory: memory})[0]
		buckets := func() uint64 {
			table.sound(t)
			b := contents(table.volumes[0])
			return vol(b).buckets()
		}
		first := buckets()
		value := strings.Repeat("v", 1<<20)
		for i := range 8 {
			if err := table.set(fmt.Sprint("long ", i), value); err != nil {
				t.Fatal(err)
			}
		}
		if n := buckets(); n != first {
			t.Errorf("8 long values have %d buckets, an empty volume %d", n, first)
		}
		for i := range 4 {
			table.do(Op{Kind: Delete, Key: fmt.Append(nil, "long ", i)})
		}
		const short = 20_000
		for i := range short {
			if err := table.set(fmt.Sprint("short ", i), "v"); err != nil {
				t.Fatal(err)
			}
		}
		if n := buckets(); n < short/2 {
			t.Errorf("%d short values have %d buckets", short, n)
		}
		for i := range 8 {
			if got, found, _ := table.get(fmt.Sprint("long ", i)); found != (i >= 4) || found && got != value {
				t.Errorf("long value %d is there: %v, %d bytes", i, found, len(got))
			}
		}
	}
}

// TestExpiredMakesRoom fills a volume with keys that then expire. They are out of the
// way of others at once.
func TestExpiredMakesRoom(t *testing.T) {
	now := int64(1)
	table := newStrings(t, Options{Volumes: 1, First: leastVolume, Most: 32 << 10, Now: func() int64 { return now }})[0]
	value := bytes.Repeat([]byte{'v'}, 100)
	fill := func() (n int) {
		for {
			r := table.do(Op{Kind: Set, Key: fmt.Append(nil, now, n), Value: value, Expires: now + 100})
			if errors.Is(r.Err, ErrFull) {
				return n
			} else if r.Err != nil {
				t.Fatal(r.Err)
			}
			n++
		}
	}
	first := fill()
	now += 100
	if n, err := table.Len(background); n != 0 || err != nil {
		t.Errorf("Len is %d, %v when all has expired", n, err)
	}
	if second := fill(); second != first {
		t.Errorf("%d fit, and %d after those have expired", first, second)
	}
	now += 100
	if third := fill(); third != first {
		t.Errorf("%d fit, and %d after those have expired unseen", first, third)
	}
	table.sound(t)
}

// TestTooLong asks for what no volume can ever have.
func TestTooLong(t *testing.T) {
	table := newStrings(t, Options{Volumes: 1, First: leastVolume, Most: 64 << 10})[0]
	if err := table.set("key", strings.Repeat("v", 60<<10)); !errors.Is(err, ErrTooLong) {
		t.Errorf("Set: %v", err)
	}
	half := Op{Kind: Append, Key: []byte("key"), Value: bytes.Repeat([]byte{'v'}, 25<<10)}
	if r := table.do(half); r.Err != nil || r.Number != 25<<10 {
		t.Errorf("first Append: %+v", r)
	}
	half.Value = half.Value[:0:0]
	half.Value = bytes.Repeat([]byte{'v'}, 50<<10)
	if r := table.do(half); !errors.Is(r.Err, ErrTooLong) {
		t.Errorf("second Append: %+v", r)
	}
	if v, _, _ := table.get("key"); len(v) != 25<<10 {
		t.Errorf("%d bytes are left", len(v))
	}
	table.sound(t)
}

// TestSpread looks at where a million keys go: no node has more than a few parts in a
// hundred above its share, as far as whole volumes allow, and no volume much more than chance
// gives it.
func TestSpread(t *testing.T) {
	const keys = 1 << 17
	for _, nodes := range []int{1, 2, 3, 5, 16} {
		volumes := volumesPerNode * nodes
		homes := homesOf(volumes, nodes)
		count := make([]int, volumes)
		for i := range keys {
			count[volumeOf(defaultHash(fmt.Append(nil, "key:", i)), volumes)]++
		}
		mean := float64(keys) / float64(volumes)
		onNode := make([]int, nodes)
		for v, n := range count {
			onNode[homes[v]]++
			if d := math.Abs(float64(n) - mean); d > 6*math.Sqrt(mean) {
				t.Errorf("volume %d of %d has %d keys, want about %.0f", v, volumes, n, mean)
			}
		}
		for node, n := range onNode {
			if d := math.Abs(float64(n) - volumesPerNode); d > 4*math.Sqrt(volumesPerNode) {
				t.Errorf("node %d of %d has %d volumes of %d", node, nodes, n, volumes)
			}
		}
	}
}

// TestRendezvous adds a node: volumes move to it, about its share, and nowhere else.
func TestRendezvous(t *testing.T) {
	const volumes = 1 << 12
	for nodes := 1; nodes < 10; nodes++ {
		before, after, moved := homesOf(volumes, nodes), homesOf(volumes, nodes+1), 0
		for v := range volumes {
			if before[v] != after[v] {
				moved++
				if after[v] != nodes {
					t.Fatalf("volume %d moves from node %d to %d when node %d is added", v, before[v], after[v], nodes)
				}
			}
		}
		share := float64(volumes) / float64(nodes+1)
		if math.Abs(float64(moved)-share) > 5*math.Sqrt(share) {
			t.Errorf("%d of %d volumes move to node %d, want about %.0f", moved, volumes, nodes, share)
		}
	}
}
