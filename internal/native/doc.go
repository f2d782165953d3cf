// Package native builds and starts peers: programs in C that ours are measured against. The
// text of a peer is embedded in our program and is compiled when it is needed, for the
// processor at hand.
//
//	program, err := native.OpenMPI.Build(ctx, native.Source{
//		Name: "locks", Files: sources, Main: "peers/mpi.c",
//	})
//	if errors.Is(err, native.ErrMissing) {
//		fmt.Println(err) // "locks: not installed: Open MPI (Debian: openmpi-bin libopenmpi-dev)"
//		return nil
//	}
//	defer program.Close()
//	output, err := program.Command(ctx, 8, "ECSB").Output()
//
// A Toolchain is a compiler with what starts its programs: C, OpenMPI and MPICH. Build looks
// for both, and for the headers, before it compiles. If one is missing, the error matches
// ErrMissing, and names the Debian package that has it.
package native
