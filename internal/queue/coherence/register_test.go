package coherence

import (
	"math/rand/v2"
	"testing"
)

// A register does what a map does, whether it has an index or not.
func TestRegister(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	var r register[int]
	want := make(map[ID]int)
	indexed, emptied := 0, 0
	most := few
	for step := range 12000 {
		if step%500 == 0 {
			most = 1 + chance.IntN(4*few)
		}
		id := ID(chance.IntN(6 * few))
		switch v, known := want[id]; {
		case !known && len(want) < most:
			r.add(id, step)
			want[id] = step
		case known && v%3 > 0 || len(want) > most:
			r.remove(id)
			delete(want, id)
		default:
			r.remove(id + 6*few) // there is none
		}
		if len(r.all) != len(want) {
			t.Fatalf("step %d: %d entries, want %d", step, len(r.all), len(want))
		}
		for id := range ID(7 * few) {
			v, known := want[id]
			if _, got := r.find(id); (got != nil) != known || known && *got != v {
				t.Fatalf("step %d: %d is %v, want %d, %t", step, id, got, v, known)
			}
		}
		if (r.index != nil) != (len(want) > few) && r.index == nil {
			t.Fatalf("step %d: %d entries have no index", step, len(want))
		}
		if r.index != nil {
			indexed++
			if len(r.index) != len(want) {
				t.Fatalf("step %d: %d entries, %d in the index", step, len(want), len(r.index))
			}
		}
		if len(want) == 0 && (r.index != nil || cap(r.all) > 2*few) {
			t.Fatalf("step %d: an idle register keeps an index of %d and room for %d", step, len(r.index), cap(r.all))
		}
		if chance.IntN(1000) == 0 {
			r.clear()
			clear(want)
			emptied++
		}
	}
	if indexed == 0 || emptied == 0 {
		t.Errorf("indexed %d times, cleared %d times", indexed, emptied)
	}
}

// A small register has no index, and keeps its room.
func TestRegisterOfFew(t *testing.T) {
	var r register[int]
	fill := func() {
		for id := range ID(few) {
			r.add(id, 0)
		}
		if r.index != nil {
			t.Errorf("%d entries have an index", len(r.all))
		}
		for id := range ID(few) {
			r.remove(id)
		}
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%v allocations, though there was room", n)
	}
}
