// What programs of LLK23 with MPI share: the blocks are dealt to the ranks in rectangles. Edges between ranks are sent block by
// block, so that ranks work at the same time on different blocks.
#include "llk23.h"
#include <mpi.h>

static struct problem p;
static int me, ranks, dims[2];
static struct block *all;
static MPI_Request *(*receives)[SIDES], *(*sends)[SIDES];
static double *(*arriving)[SIDES];

static int owner(long i, long j)
{
	return (int)(i * dims[0] / p.down) * dims[1] + (int)(j * dims[1] / p.across);
}

static int mine(long n) { return owner(n / p.across, n % p.across) == me; }

// beside is the number of the block on a side, or -1.
static long beside(long i, long j, int side)
{
	i += (side == SOUTH) - (side == NORTH), j += (side == EAST) - (side == WEST);
	return i < 0 || j < 0 || i == p.down || j == p.across ? -1 : i * p.across + j;
}

// far says that a side's neighbour is on another rank.
static int far(long n, int side)
{
	long other = beside(n / p.across, n % p.across, side);
	return other >= 0 && owner(other / p.across, other % p.across) != me;
}

// start makes the requests of one block, whose edges have their values. MPI starts them again in each iteration. The tag names the side on which the
// edge arrives, and the block, of which messages are in order.
static void start(long n)
{
	for (int side = 0; side < SIDES; side++) {
		receives[n][side] = sends[n][side] = NULL;
		if (!far(n, side))
			continue;
		long other = beside(n / p.across, n % p.across, side);
		int rank = owner(other / p.across, other % p.across), count = side < WEST ? all[n].cols : all[n].rows;
		receives[n][side] = need(malloc(sizeof(MPI_Request))), sends[n][side] = need(malloc(sizeof(MPI_Request)));
		arriving[n][side] = lines(count);
		MPI_Recv_init(arriving[n][side], count, MPI_DOUBLE, rank, (n * SIDES + side) % 32000, MPI_COMM_WORLD, receives[n][side]);
		MPI_Send_init(all[n].edges[side], count, MPI_DOUBLE, rank, (other * SIDES + opposite[side]) % 32000, MPI_COMM_WORLD, sends[n][side]);
		MPI_Start(receives[n][side]);
		if (side == NORTH || side == WEST) // the neighbour's first iteration reads them
			MPI_Start(sends[n][side]);
	}
}

static void iterate(long k, long n)
{
	struct block *b = &all[n];
	for (int side = 0; side < SIDES; side++) {
		long other = beside(n / p.across, n % p.across, side);
		if (receives[n][side]) {
			MPI_Wait(receives[n][side], MPI_STATUS_IGNORE);
			take(b, side, arriving[n][side]);
			if (k < p.iters - 1)
				MPI_Start(receives[n][side]);
		} else if (other >= 0) {
			take(b, side, all[other].edges[opposite[side]]);
		}
	}
	sweep(&p, b);
	for (int side = 0; side < SIDES; side++) {
		if (sends[n][side])
			MPI_Wait(sends[n][side], MPI_STATUS_IGNORE);
		give(b, side);
		if (sends[n][side] && (k < p.iters - 1 || side == SOUTH || side == EAST))
			MPI_Start(sends[n][side]);
	}
}

// collect gives all blocks to rank 0.
static void collect(long n)
{
	struct block *b = &all[n];
	int from = owner(n / p.across, n % p.across);
	if (from == 0)
		return;
	if (me == 0)
		block_at(&p, b, n / p.across, n % p.across);
	for (long i = 0; i < b->rows; i++)
		if (me == 0)
			MPI_Recv(row_of(b, DATA, i), b->cols, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else if (me == from)
			MPI_Send(row_of(b, DATA, i), b->cols, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

// deal deals the blocks to dims[0] by dims[1] ranks, and makes this rank's with their values at first.
static void deal(void)
{
	if (dims[0] > p.down || dims[1] > p.across) {
		fprintf(stderr, "%d by %d ranks for %ld by %ld blocks, want a block for each\n", dims[0], dims[1], p.down, p.across);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	long count = p.down * p.across;
	all = need(calloc(count, sizeof *all)), arriving = need(calloc(count, sizeof *arriving));
	receives = need(calloc(count, sizeof *receives)), sends = need(calloc(count, sizeof *sends));
	for (long n = 0; n < count; n++)
		if (mine(n))
			block_at(&p, &all[n], n / p.across, n % p.across);
}

// run makes iteration k.
static void run(long k)
{
	for (long n = 0; n < p.down * p.across; n++)
		if (mine(n))
			iterate(k, n);
}

// finish waits until all edges are sent, and reports how long the run took.
static void finish(double begun)
{
	for (long n = 0; n < p.down * p.across; n++)
		for (int side = 0; side < SIDES; side++)
			if (sends[n][side])
				MPI_Wait(sends[n][side], MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	double took = seconds() - begun;
	for (long n = 0; n < p.down * p.across && p.out; n++)
		collect(n);
	if (me == 0)
		report(&p, all, took);
	MPI_Finalize();
}
