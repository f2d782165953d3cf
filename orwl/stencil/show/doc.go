// Package show is what a person sees of a stencil: the field while it runs, how far it is, and a picture or a
// film of it. A program gets the flags -live, -plot and -progress with two lines:
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
// -progress draws a bar on a terminal, and elsewhere logs a line for each tenth.
package show
