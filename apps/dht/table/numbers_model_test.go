package table

import (
	"errors"
	"maps"
	"math"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/orwl"
)

// newNumbers makes the same table on all nodes; with none, one in this process.
func newNumbers(t testing.TB, o NumbersOptions, nodes ...*orwl.Nodes) []*Numbers {
	t.Helper()
	tables := make([]*Numbers, max(1, len(nodes)))
	errs := make([]error, len(tables))
	var all sync.WaitGroup
	for i := range tables {
		all.Go(func() {
			o := o
			if len(nodes) > 0 {
				o.Nodes = nodes[i]
			}
			tables[i], errs[i] = NewNumbers(background, o)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return tables
}

// numberModel is what a table of numbers is, said simply.
type numberModel map[uint64]uint64

func (m numberModel) do(o NumberOp) (r NumberResult) {
	old, found := m[o.Key]
	r.Found = found
	switch o.Kind {
	case Get:
		r.Value = old
	case Delete:
		delete(m, o.Key)
	case Add:
		r.Value = old + o.Value
		m[o.Key] = r.Value
	case Set:
		switch r.Done = true; {
		case o.If == Absent && found, o.If == Present && !found, o.If == Equal && (!found || old != o.Compare):
			r.Done = false
		default:
			m[o.Key] = o.Value
		}
	}
	return r
}

// alike has a table and a model do the same.
func alike(t *rapid.T, table *Numbers, m numberModel, ops []NumberOp) {
	results := make([]NumberResult, len(ops))
	table.Do(background, ops, results)
	for i, o := range ops {
		if want := m.do(o); results[i] != want {
			t.Fatalf("op %d, %+v: %+v, want %+v", i, o, results[i], want)
		}
	}
}

func drawNumberOp(t *rapid.T) NumberOp {
	value := rapid.SampledFrom([]uint64{0, 1, 2, math.MaxUint64})
	key := rapid.OneOf(value, rapid.Uint64Range(0, 3000))
	o := NumberOp{Kind: rapid.SampledFrom([]Kind{Get, Set, Set, Delete, Add}).Draw(t, "kind"), Key: key.Draw(t, "key")}
	if o.Kind == Set || o.Kind == Add {
		o.Value = value.Draw(t, "value")
	}
	if o.Kind == Set {
		o.If = Condition(rapid.IntRange(0, int(conditionEnd)-1).Draw(t, "if"))
		if o.If == Equal {
			o.Compare = value.Draw(t, "compare")
		}
	}
	return o
}

// TestNumbersModel compares tables with a Go map, op for op.
func TestNumbersModel(t *testing.T) {
	nodes := crew(t, 2)
	for i, c := range []struct {
		name  string
		o     NumbersOptions
		nodes []*orwl.Nodes
	}{
		{"small volumes", NumbersOptions{Options: Options{Volumes: 3, First: leastVolume}}, nil},
		{"one chain", NumbersOptions{Options: Options{Volumes: 2, First: leastVolume}, HashNumber: func(uint64) uint64 { return 7 }}, nil},
		{"two nodes", NumbersOptions{Options: Options{Volumes: 5, First: leastVolume}}, nodes},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Port = i
			tables := newNumbers(t, c.o, c.nodes...)
			rapid.Check(t, func(t *rapid.T) {
				m := make(numberModel)
				if err := tables[0].Clear(background); err != nil {
					t.Fatal(err)
				}
				for range 20 {
					table := tables[rapid.IntRange(0, len(tables)-1).Draw(t, "node")]
					switch rapid.IntRange(0, 9).Draw(t, "step") {
					case 0:
						if n, err := table.Len(background); err != nil || n != int64(len(m)) {
							t.Fatalf("Len is %d, %v; want %d", n, err, len(m))
						}
					case 1:
						got := make(numberModel)
						if err := table.All(background, func(k, v uint64) bool { got[k] = v; return true }); err != nil || !maps.Equal(got, m) {
							t.Fatalf("All is %v, %v; want %v", got, err, m)
						}
					case 2: // many at once, so that volumes grow
						from, n := rapid.SampledFrom([]uint64{0, 500, 1500}).Draw(t, "from"), rapid.SampledFrom([]int{1, 50, 700}).Draw(t, "n")
						ops := make([]NumberOp, n)
						for i := range ops {
							ops[i] = NumberOp{Kind: Set, Key: from + uint64(i), Value: uint64(i)}
						}
						alike(t, table, m, ops)
					default:
						ops := rapid.SliceOfN(rapid.Custom(drawNumberOp), 1, 30).Draw(t, "ops")
						alike(t, table, m, ops)
					}
				}
				soundNumbers(t, tables)
			})
		})
	}
}
