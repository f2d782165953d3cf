package table

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
)

func init() { rings.FewChecks() }

// model is what a table of byte strings is, said simply.
type model struct {
	now  int64
	keys map[string]entry
}

type entry struct {
	value   string
	expires int64
}

// forget takes away what has expired.
func (m *model) forget() {
	maps.DeleteFunc(m.keys, func(_ string, e entry) bool { return m.over(e.expires) })
}

func (m *model) over(expires int64) bool { return expires != 0 && expires <= m.now }

// do is what a table does with an op.
func (m *model) do(o Op) (r Result) {
	defer m.forget()
	key := string(o.Key)
	e, found := m.keys[key]
	r.Found, r.Expires = found, e.expires
	switch o.Kind {
	case Get:
		r.Value = []byte(e.value)
	case Set:
		if o.Old {
			r.Value = []byte(e.value)
		}
		switch {
		case o.If == Absent && found, o.If == Present && !found,
			o.If == Equal && (!found || e.value != string(o.Compare)):
			return r
		}
		expires := o.Expires
		if o.Keep && found {
			expires = e.expires
		}
		m.keys[key] = entry{string(o.Value), expires}
		r.Done = true
	case Delete:
		delete(m.keys, key)
	case Add:
		old := int64(0)
		if found {
			var err error
			if old, err = strconv.ParseInt(e.value, 10, 64); err != nil || strconv.FormatInt(old, 10) != e.value {
				r.Err = ErrNotInteger
				return r
			}
		}
		sum := old + o.Number
		if (sum > old) != (o.Number > 0) && o.Number != 0 {
			r.Err = ErrOverflow
			return r
		}
		m.keys[key] = entry{strconv.FormatInt(sum, 10), e.expires}
		r.Number, r.Done = sum, true
	case Append:
		m.keys[key] = entry{e.value + string(o.Value), e.expires}
		r.Number, r.Done = int64(len(e.value)+len(o.Value)), true
	case Length:
		r.Number = int64(len(e.value))
	case Expire:
		never := func(t int64) int64 { // never is the latest time
			if t == 0 {
				return math.MaxInt64
			}
			return t
		}
		switch {
		case !found, o.If == Absent && e.expires != 0, o.If == Present && e.expires == 0,
			o.Later && never(o.Expires) <= never(e.expires), o.Sooner && never(o.Expires) >= never(e.expires):
			return r
		}
		m.keys[key], r.Done = entry{e.value, o.Expires}, true
	}
	return r
}

// same compares results; an empty value is as good as none.
func same(a, b Result) bool {
	return bytes.Equal(a.Value, b.Value) && a.Number == b.Number && a.Expires == b.Expires &&
		a.Found == b.Found && a.Done == b.Done && errors.Is(a.Err, b.Err)
}

// drawOp is any op, on one of a few keys.
func drawOp(t *rapid.T, now int64) Op {
	values := rapid.OneOf(rapid.SampledFrom([]string{"", "0", "-7", "007", "+1", "9223372036854775807", "x"}),
		rapid.Map(rapid.SampledFrom([]int{1, 10, 40, 100, 700, 3000}), func(n int) string { return string(bytes.Repeat([]byte{'v'}, n)) }))
	o := Op{
		Kind: rapid.SampledFrom([]Kind{Get, Set, Set, Delete, Add, Append, Length, Expire, Exists}).Draw(t, "kind"),
		Key:  fmt.Append(nil, "key", rapid.SampledFrom(numbersTo(40)).Draw(t, "key")),
	}
	switch o.Kind {
	case Set:
		o.If = Condition(rapid.IntRange(0, int(conditionEnd)-1).Draw(t, "if"))
		o.Keep, o.Old = rapid.Bool().Draw(t, "keep"), rapid.Bool().Draw(t, "old")
		o.Value, o.Compare = []byte(values.Draw(t, "value")), []byte(values.Draw(t, "compare"))
	case Append:
		o.Value = []byte(values.Draw(t, "value"))
	case Add:
		o.Number = rapid.SampledFrom([]int64{0, 1, -1, 1000, math.MaxInt64, math.MinInt64}).Draw(t, "number")
	}
	if o.Kind == Expire {
		o.If = Condition(rapid.IntRange(0, int(Present)).Draw(t, "if"))
		o.Later, o.Sooner = rapid.Bool().Draw(t, "later"), rapid.Bool().Draw(t, "sooner")
	}
	if (o.Kind == Set || o.Kind == Expire) && rapid.Bool().Draw(t, "expiring") {
		o.Expires = max(1, now+int64(rapid.IntRange(-5, 60).Draw(t, "in")))
	}
	return o
}

func numbersTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// play does the same with tables, any of them at a time, and with a model.
func play(t *rapid.T, tables []*Strings, m *model) {
	for range 30 {
		table := tables[rapid.IntRange(0, len(tables)-1).Draw(t, "node")]
		switch rapid.IntRange(0, 20).Draw(t, "step") {
		case 0:
			m.now += int64(rapid.IntRange(0, 40).Draw(t, "passes"))
			m.forget()
		case 1:
			n, err := table.Len(background)
			if err != nil || n != int64(len(m.keys)) {
				t.Fatalf("Len is %d, %v; want %d", n, err, len(m.keys))
			}
			volumes, err := table.Volumes(background)
			if err != nil || len(volumes) != len(table.homes) {
				t.Fatalf("%d volumes of %d, %v", len(volumes), len(table.homes), err)
			}
			for i, v := range volumes {
				if n -= v.Keys; v.Number != i || v.Node != table.homes[i] || v.Bytes <= 0 {
					t.Fatalf("volume %d: %+v", i, v)
				}
			}
			if n != 0 {
				t.Fatalf("the volumes have %d keys less than the table", n)
			}
		case 2:
			if got, want := scanned(t, table), slices.Sorted(maps.Keys(m.keys)); !slices.Equal(got, want) {
				t.Fatalf("scanned %q, want %q", got, want)
			}
		case 3:
			if rapid.IntRange(0, 9).Draw(t, "clear") == 0 {
				if err := table.Clear(background); err != nil {
					t.Fatal(err)
				}
				clear(m.keys)
			}
		default:
			ops := make([]Op, rapid.SampledFrom([]int{1, 1, 2, 30}).Draw(t, "ops"))
			for i := range ops {
				ops[i] = drawOp(t, m.now)
			}
			results := make([]Result, len(ops))
			table.Do(background, ops, results)
			for i, o := range ops {
				if want := m.do(o); !same(results[i], want) {
					t.Fatalf("op %d %+v: %+v, want %+v", i, o, results[i], want)
				}
			}
		}
		for _, table := range tables {
			table.sound(t)
		}
	}
}

// scanned are all keys, in order, as scans see them.
func scanned(t interface{ Fatal(...any) }, table *Strings) []string {
	seen := make(map[string]bool)
	for cursor, began := uint64(0), false; cursor != 0 || !began; began = true {
		var err error
		if cursor, err = table.Scan(background, cursor, 7, func(key []byte) { seen[string(key)] = true }); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// TestStringsModel compares tables with a Go map, op for op, and looks at every
// volume after each step: as it is by default, with volumes that have to grow and to
// move things together all the time, with all keys in one chain, and on two nodes.
func TestStringsModel(t *testing.T) {
	nodes := crew(t, 2)
	for i, c := range []struct {
		name  string
		o     Options
		nodes []*orwl.Nodes
	}{
		{"few volumes", Options{Volumes: 2, First: leastVolume, Most: 1 << 20}, nil},
		{"one chain", Options{Volumes: 3, First: leastVolume, Most: 1 << 20, Hash: func([]byte) uint64 { return 42 }}, nil},
		{"two nodes", Options{Volumes: 5, First: leastVolume, Most: 1 << 20}, nodes},
		{"foMPI-RW", Options{Volumes: 2, First: leastVolume, Most: 1 << 20, Guard: "foMPI-RW"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &model{keys: make(map[string]entry)}
			c.o.Now = func() int64 { return m.now }
			c.o.Port = i
			tables := newStrings(t, c.o, c.nodes...)
			rapid.Check(t, func(t *rapid.T) {
				m.now, m.keys = 1000, make(map[string]entry)
				if err := tables[0].Clear(background); err != nil {
					t.Fatal(err)
				}
				play(t, tables, m)
			})
		})
	}
}
