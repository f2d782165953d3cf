package main

import "testing"

func TestDirections(t *testing.T) {
	seen := make(map[[2]int]bool)
	before := [2]int{-2, 0}
	for d := range directions {
		rows, cols := d.step()
		at := [2]int{rows, cols}
		if max(rows, -rows) > 1 || max(cols, -cols) > 1 || at == [2]int{} || seen[at] {
			t.Errorf("%v is %v", d, at)
		}
		seen[at] = true
		if at[0] < before[0] || at[0] == before[0] && at[1] < before[1] {
			t.Errorf("%v is at %v, the direction before at %v: the order is not that of the matrix", d, at, before)
		}
		before = at
		if r, c := d.opposite().step(); r != -rows || c != -cols {
			t.Errorf("the opposite of %v is %v", d, d.opposite())
		}
		if got, want := d.earlier(), rows < 0 || rows == 0 && cols < 0; got != want {
			t.Errorf("%v is earlier: %v, want %v", d, got, want)
		}
		if got, want := d.diagonal(), rows*cols != 0; got != want {
			t.Errorf("%v is diagonal: %v, want %v", d, got, want)
		}
	}
}

// TestEdgesMeet checks that what a block writes is where its neighbour has its
// border.
func TestEdgesMeet(t *testing.T) {
	for _, each := range []size{{1, 1}, {1, 7}, {5, 1}, {4, 3}} {
		f := newField(problem{rows: 3 * each.rows, cols: 3 * each.cols}, size{3, 3}, fused)
		for d := range directions {
			rows, cols := d.step()
			here, there := f.extent(1, 1), f.extent(1+rows, 1+cols)
			edge, border := here.edge(d), there.border(d.opposite())
			if edge.rows != border.rows || edge.cols != border.cols {
				t.Errorf("%v, %v: the edge is %+v, the border %+v", each, d, edge, border)
			}
			if here.top+edge.top != there.top+border.top || here.left+edge.left != there.left+border.left {
				t.Errorf("%v, %v: the edge is at %d,%d, the border at %d,%d", each, d,
					here.top+edge.top, here.left+edge.left, there.top+border.top, there.left+border.left)
			}
			if edge.top < 1 || edge.top+edge.rows > here.rows+1 || edge.left < 1 || edge.left+edge.cols > here.cols+1 {
				t.Errorf("%v, %v: the edge %+v is not inside", each, d, edge)
			}
		}
	}
}
