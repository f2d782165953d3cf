// Package stencil sweeps over grids whose cells are computed from their neighbours: heat, waves,
// flows, images, cellular automata. It cuts a grid of one to three dimensions into blocks, makes a
// task of each, and exchanges their edges, on one node or on several.
//
//	rt, err := orwl.New(orwl.Options{})
//	if err != nil {
//		return err
//	}
//	g := stencil.New(rt, stencil.Options{Size: stencil.Size{100, 100}})
//	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{
//		Halo:    stencil.Around(1),
//		Initial: func(at []int) float64 { return float64(at[0]) },
//	})
//	err = g.Sweep(100, func(b *stencil.Block) {
//		for r := range b.Rows() {
//			old, new := u.Old(r), u.New(r)
//			north, south := u.Old(r, -1, 0), u.Old(r, 1, 0)
//			west, east := u.Old(r, 0, -1), u.Old(r, 0, 1)
//			for i := range new {
//				new[i] = old[i] + 0.1*(north[i]+south[i]+west[i]+east[i]-4*old[i])
//			}
//		}
//	})
//	if err != nil {
//		return err
//	}
//	if err := rt.Run(ctx); err != nil {
//		return err
//	}
//	values, err := u.Values(ctx)
//	fmt.Printf("%.3f %v\n", values[50*100+50], err) // a slope is in balance
//	// Output:
//	// 50.000 <nil>
//
// A kernel gets rows as slices. It finds the neighbours' cells around its block, so it need not know where a block ends.
// Around a periodic grid it finds the cells of the other side. Around any other grid, cells have the values that Initial
// gives them, or mirror the cells inside. The Go compiler makes no vector instructions from a loop: [Apply] uses them.
//
// # Stages and reductions
//
// A sweep may be a list of stages instead of a kernel: see [Grid.Stage]. Kernels add to reductions, which later stages
// read, and which may end the run: see [Reduction].
//
// The result equals a sequential sweep's, bit for bit, however the grid is cut and on how many
// nodes it is. [Grid.Verify] makes such a sweep and compares.
//
// # Jacobi and in place
//
// With [Jacobi] a sweep reads the values of the sweep before. With [InPlace], as in Gauss-Seidel's method, it finds this
// sweep's values in the cells before. Blocks then compute in a wavefront. No block waits for all others: a block is at
// most one sweep ahead of its neighbours.
//
// # Several sweeps between exchanges
//
// With Options.Sweeps a block makes several sweeps before it exchanges edges, which are as many times wider. A grid that
// does not fit into the caches then comes from memory once instead of several times. Jacobi computes the wide edges
// twice. In place no cell is computed twice.
//
// # Lives
//
// A grid in [orwl.Run] goes on when a node is lost. With a folder it also does when all processes are gone, on as many nodes
// as it likes: see [orwl.Survive]. The result is the same, bit for bit.
//
// # How it works
//
// Each block has a resource with its cells, and one for the edge that each neighbour reads. A step task per block, or one
// for each of its pieces, takes them in each pass: see [orwl.Task.Each]. tiling.go says which cells a pass computes, and
// from which neighbour each other cell comes. The rest follows from these two.
package stencil
