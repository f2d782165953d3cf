// LLK23 with MPI. Each rank has whole rows, and saves them every so many sweeps. If one rank is lost, mpirun ends the others. A loop of the
// shell starts all of them again:
//
//	until mpirun -n 2 llk23_kill_mpi rows columns blocks 1 iterations kernel file folder every; do :; done
//
// The lines between "Recovery begins" and "Recovery ends" are what a program has to say for that. Package fair counts them.
#include "llk23_mpi.h"

// Recovery begins.
#include <unistd.h>

static const char *folder;
static long every; // sweeps from one checkpoint to the next

static void must(int done, const char *what)
{
	if (!done) {
		perror(what);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

// file names the rows of this rank after so many sweeps.
static const char *file(long swept)
{
	static char name[4096];
	must(snprintf(name, sizeof name, "%s/%d.%ld", folder, me, swept) < (int)sizeof name, "the name of a checkpoint");
	return name;
}

// rows reads or writes all rows of this rank.
static void rows(FILE *f, int reads)
{
	must(f != NULL, "a checkpoint");
	for (long n = 0; n < p.down * p.across; n++)
		for (long i = 0; mine(n) && i < all[n].rows; i++) {
			double *row = row_of(&all[n], DATA, i);
			size_t cols = all[n].cols;
			must((reads ? fread(row, sizeof *row, cols, f) : fwrite(row, sizeof *row, cols, f)) == cols, "a checkpoint");
		}
}

// save keeps the checkpoint before this one, too: another rank may not have come to this one.
static void save(long swept)
{
	char whole[4096];
	strcpy(whole, file(swept));
	const char *part = file(-1);
	FILE *f = fopen(part, "wb");
	rows(f, 0);
	must(fflush(f) == 0 && fsync(fileno(f)) == 0 && fclose(f) == 0 && rename(part, whole) == 0, "a checkpoint");
	unlink(file(swept - 2 * every));
}

// restore reads the newest checkpoint that all ranks have, and returns its sweep, or 0.
static long restore(void)
{
	long swept = p.iters / every * every;
	while (swept > 0 && access(file(swept), R_OK) != 0)
		swept -= every;
	MPI_Allreduce(MPI_IN_PLACE, &swept, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
	if (swept == 0)
		return 0;
	FILE *f = fopen(file(swept), "rb");
	rows(f, 1);
	fclose(f);
	for (long n = 0; n < p.down * p.across; n++)
		for (int side = 0; mine(n) && side < SIDES; side++)
			give(&all[n], side);
	return swept;
}
// Recovery ends.

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	p = arguments(argc, argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	dims[0] = ranks, dims[1] = 1;
	deal();
	// Recovery begins.
	folder = argc > 9 ? argv[8] : ".";
	every = argc > 9 ? atol(argv[9]) : p.iters + 1;
	must(every > 0, "sweeps from one checkpoint to the next");
	long from = restore();
	// Recovery ends.
	for (long n = 0; n < p.down * p.across; n++)
		if (mine(n))
			start(n);
	// The last rank tells what it has done: all others end a sweep before it does.
	int tells = me == ranks - 1;
	if (tells)
		printf("begins at %ld\n", from), fflush(stdout);
	double begun = seconds();
	for (long k = from; k < p.iters; k++) {
		run(k);
		if (tells)
			printf("swept %ld\n", k + 1), fflush(stdout);
		double before = seconds();
		// Recovery begins.
		if ((k + 1) % every == 0)
			save(k + 1);
		// Recovery ends.
		if (tells && (k + 1) % every == 0)
			printf("saved in %.6f\n", seconds() - before), fflush(stdout);
	}
	finish(begun);
}
