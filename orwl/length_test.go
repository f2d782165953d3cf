package orwl

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// An array has as many elements as it was declared with, whatever their number of bytes is: by each way to its
// elements, on each node, with fault pages and with snapshots.
func TestLengthOfArray(t *testing.T) {
	for name, o := range map[string]Options{"": {}, "fault pages": {FaultPages: true}} {
		if o.FaultPages && runtime.GOOS != "linux" {
			continue // there are none
		}
		for _, snapshots := range []bool{false, true} {
			for _, count := range []int{1, 2} {
				t.Run(fmt.Sprint(name, " snapshots ", snapshots, " nodes ", count), func(t *testing.T) {
					nodes := make([]*Nodes, 1)
					if count > 1 {
						nodes = crew(t, count)
						defer disband(t, nodes)
					}
					each(nodes, func(_ int, n *Nodes) {
						o := o
						o.Nodes = n
						lengthOfArray(t, mustNew(t, o), snapshots)
					})
				})
			}
		}
	}
}

// lengthOfArray runs a program whose arrays have 3 float32 and 5 bytes. Its tasks are on the first and the last node.
func lengthOfArray(t *testing.T, rt *Runtime, snapshots bool) {
	a, b := Array[float32](rt, "a", 3), Array[uint8](rt, "b", 5)
	rt.Home(a, 0)
	if snapshots {
		rt.Snapshots(a)
	}
	write, read := rt.Task("write").On(rt.Nodes()-1), rt.Task("read").On(0)
	outA, outB := Writes[float32](write, a), Writes[uint8](write, b)
	inA, inB := Reads[float32](read, a), Reads[uint8](read, b)
	write.Each(2, func(round int) error {
		if round == 1 {
			outA.Slice()[2] = 4
			return nil
		}
		if len(outA.Slice()) != 3 || len(outB.Slice()) != 5 || len(Write[float32](outA.Access())) != 3 {
			t.Errorf("the writer has %d and %d elements", len(outA.Slice()), len(outB.Slice()))
		}
		copy(outA.Slice(), []float32{1, 2, 3})
		copy(outB.Slice(), "bytes")
		return nil
	})
	read.Each(2, func(round int) error {
		got := make([]float32, 9)
		if want := []float32{1, 2, []float32{3, 4}[round]}; !slices.Equal(got[:inA.View().Copy(got)], want) {
			t.Errorf("the reader has %v in round %d, want %v", got, round, want)
		}
		if inB.View().Len() != 5 || inB.View().At(4) != 's' || Read[float32](inA.Access()).Len() != 3 {
			t.Errorf("the reader has %d elements", inB.View().Len())
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
		return
	}
	values := func(want ...float32) {
		t.Helper()
		if got, err := Values[float32](t.Context(), a); err != nil || !slices.Equal(got, want) {
			t.Errorf("values %v, %v, want %v", got, err, want)
		}
	}
	values(1, 2, 4)
	if snapshots {
		if got, _, err := Snapshot[float32](t.Context(), rt, a); err != nil || !slices.Equal(got, []float32{1, 2, 4}) {
			t.Errorf("a snapshot has %v, %v", got, err)
		}
	}
	_, err := rt.gather(t.Context(), "looked", nil)
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	must(err)
	if rt.Node() == rt.Nodes()-1 {
		must(Fill(t.Context(), a, func(v []float32) {
			if copy(v, []float32{5, 6, 7}); len(v) != 3 {
				t.Errorf("%d elements to fill", len(v))
			}
		}))
		values(5, 6, 7)
	}
	must(rt.flushAll(t.Context()))
	_, err = rt.gather(t.Context(), "filled", nil)
	must(err)
	values(5, 6, 7)
	_, err = rt.gather(t.Context(), "over", nil)
	must(err)
}
