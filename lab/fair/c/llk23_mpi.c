// LLK23 with MPI.
#include "llk23_mpi.h"

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	p = arguments(argc, argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	// Columns are cut first, so ranks wait for each other less: the wavefront moves down.
	for (dims[1] = 1; dims[1] * dims[1] < ranks;)
		dims[1]++;
	while (ranks % dims[1])
		dims[1]++;
	dims[0] = ranks / dims[1];
	deal();
	for (long n = 0; n < p.down * p.across; n++)
		if (mine(n))
			start(n);
	MPI_Barrier(MPI_COMM_WORLD);
	double begun = seconds();
	for (long k = 0; k < p.iters; k++)
		run(k);
	finish(begun);
}
