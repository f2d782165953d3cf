// Package files writes the fields of a grid to files that other programs read, and reads their initial values.
//
//	out, err := files.Create("run.zarr", 0, u, v) // by every node, after [stencil.Grid.Sweep]
//	err = out.Finish(ctx, rt.Run(ctx))
//
// The ending of the name says which files:
//
//	.npy    one field after the run, for NumPy. Node 0 writes it
//	.zarr   a folder with the fields after the run, as arrays of zarr version 3. Each node writes chunks
//	.pvti   the fields after the run, for ParaView and VTK. Each node writes pieces
//	.pvd    the same for a series: before the run, after every so many sweeps, and after the run
//
// Nodes of several machines write into one folder, so they must share a file system. A file has its name when it is
// complete, and a .zarr, .pvti or .pvd can be read when all its parts are there. A former one of the same name is replaced.
// A cell is a number, or an array of numbers.
//
//	in, err := files.Open[float64]("start.npy")
//	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{InitialRow: in.Row})
package files
