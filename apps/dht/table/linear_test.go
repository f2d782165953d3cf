package table

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/orwl/go-orwl/orwl"
)

// history is what clients saw of a table.
type history struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

// note is what a client saw: input is done by do.
func (h *history) note(client int, inputs []any, do func() []any) {
	call := time.Since(h.began).Nanoseconds()
	outputs := do()
	done := time.Since(h.began).Nanoseconds()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, in := range inputs {
		h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: outputs[i], Return: done})
	}
}

// perKey is the model of a table whose keys are independent of each other. Step tells
// the state after an op, and whether the result is right.
func perKey[S comparable, I, O any](key func(I) string, zero S, step func(S, I, O) (bool, S)) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return zero },
		Partition: func(ops []porcupine.Operation) (parts [][]porcupine.Operation) {
			of := make(map[string][]porcupine.Operation)
			for _, o := range ops {
				k := key(o.Input.(I))
				of[k] = append(of[k], o)
			}
			for _, p := range of {
				parts = append(parts, p)
			}
			return parts
		},
		Step: func(state, in, out any) (bool, any) { return step(state.(S), in.(I), out.(O)) },
	}
}

// value is the state of one key.
type value struct {
	there bool
	v     string
}

// bytesStep is the model of TestStringsModel, for one key.
func bytesStep(s value, o Op, r Result) (bool, value) {
	m := &model{keys: make(map[string]entry)}
	if s.there {
		m.keys[string(o.Key)] = entry{value: s.v}
	}
	right := same(r, m.do(o))
	e, there := m.keys[string(o.Key)]
	return right, value{there, e.value}
}

const (
	linearClients = 4
	linearOps     = 400
	linearKeys    = 12
)

// compete lets clients do batches of one or a few ops.
func compete(t *testing.T, model porcupine.Model, batch func(r *rand.Rand, client int, size int, h *history)) {
	t.Helper()
	h := &history{began: time.Now()}
	var all sync.WaitGroup
	for c := range linearClients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 5))
			for n := 0; n < linearOps; {
				size := []int{1, 1, 3}[r.IntN(3)]
				batch(r, c, size, h)
				n += size
			}
		})
	}
	all.Wait()
	if result := porcupine.CheckOperationsTimeout(model, h.ops, time.Minute); result != porcupine.Ok {
		t.Errorf("%d operations: %v", len(h.ops), result)
	}
}

// worlds calls f with a name, and with one node or two.
func worlds(t *testing.T, f func(t *testing.T, port int, nodes []*orwl.Nodes)) {
	t.Run("one process", func(t *testing.T) { f(t, 0, nil) })
	nodes := crew(t, 2)
	t.Run("two nodes", func(t *testing.T) { f(t, 1, nodes) })
}

// TestStringsLinear checks what clients saw of few keys in few volumes, that grow.
func TestStringsLinear(t *testing.T) {
	model := perKey(func(o Op) string { return string(o.Key) }, value{}, bytesStep)
	worlds(t, func(t *testing.T, port int, nodes []*orwl.Nodes) {
		tables := newStrings(t, Options{Port: port, Volumes: 3, First: leastVolume}, nodes...)
		compete(t, model, func(r *rand.Rand, client, size int, h *history) {
			ops, inputs, keys := make([]Op, size), make([]any, size), r.Perm(linearKeys)
			for i := range ops {
				ops[i] = Op{
					Kind: []Kind{Get, Get, Set, Delete, Append, Length}[r.IntN(6)], Key: fmt.Append(nil, "key", keys[i]),
					Value: fmt.Appendf(nil, "%d.%d,", client, r.IntN(1000)),
				}
				if ops[i].Kind == Set {
					ops[i].If, ops[i].Old = Condition(r.IntN(int(Equal))), true
				}
				inputs[i] = ops[i]
			}
			h.note(client, inputs, func() (outputs []any) {
				results := make([]Result, size)
				tables[client%len(tables)].Do(background, ops, results)
				for _, result := range results {
					outputs = append(outputs, result)
				}
				return outputs
			})
		})
		for _, table := range tables {
			table.sound(t)
		}
	})
}

// TestLinearCanFail gives the checks a history that no table has: a value is read after
// it was deleted.
func TestLinearCanFail(t *testing.T) {
	key := []byte("key")
	h := []porcupine.Operation{
		{Input: Op{Kind: Set, Key: key, Value: []byte("v")}, Output: Result{Done: true}, Call: 1, Return: 2},
		{Input: Op{Kind: Delete, Key: key}, Output: Result{Found: true}, Call: 3, Return: 4},
		{Input: Op{Kind: Get, Key: key}, Output: Result{Found: true, Value: []byte("v")}, Call: 5, Return: 6},
	}
	model := perKey(func(o Op) string { return string(o.Key) }, value{}, bytesStep)
	if porcupine.CheckOperations(model, h) {
		t.Error("a deleted value may be read")
	}
	if !porcupine.CheckOperations(model, h[:2]) {
		t.Error("a value may not be deleted")
	}
}
