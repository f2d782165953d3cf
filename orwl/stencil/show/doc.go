// Package show makes a program of a grid: [Main] is its main function, with flags for what people want of a run. They see
// the field while it runs, how far it is, and a picture or a film of it.
//
//	show.Main(func(ctx context.Context, r *show.Run) error {
//		g := r.Grid(stencil.Options{Size: stencil.Size{60}})
//		u := stencil.NewField(g, "heat", stencil.FieldOptions[float64]{Halo: stencil.Around(1)})
//		return r.Sweep(ctx, 1000, kernel, show.Field(u))
//	})
//
// A program with a main function of its own gets the flags with two lines:
//
//	var look = show.Flags(flag.CommandLine)
//	...
//	err := look.Run(ctx, show.Field(u)) // instead of rt.Run(ctx)
//
// -plot heat.png draws the field as it is after the run. -plot heat.gif is a film of the run. It begins with the
// initial state, and each frame shows all cells after the same sweep. A grid of one dimension is drawn as a curve, and of
// one of three dimensions the plane in the middle is drawn. On several nodes, node 0 draws.
//
// -live draws the field in the terminal while the run goes on.
//
// -data writes the fields for NumPy, zarr or ParaView: see package files.
//
// -progress draws a bar on a terminal, and elsewhere logs a line for each tenth.
package show
