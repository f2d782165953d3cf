// LLK23 with MPI: the blocks are dealt out to the ranks in rectangles, and the
// frontiers between rectangles are exchanged block by block, so that ranks work
// at the same time on different blocks.
#include "llk23.h"
#include <mpi.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };
static const int opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};

// frontier is one block's part of the rectangle's edge, on its way out.
struct frontier {
	double *values;
	MPI_Request request;
};

static struct problem p;
static struct matrix m;
static int neighbour[SIDES], place[2], dims[2];
static long down, across; // blocks of this rank
static double *buffer;

// begins is where block b of this rank's n begins in its rectangle.
static long begins(int dim, long elements, long blocks, long b)
{
	long first = begin(blocks, dims[dim], place[dim]);
	return begin(elements, blocks, first + b) - begin(elements, blocks, first);
}

// edge is the elements of a side of a rectangle of data: the outermost of the
// interior, or the border outside of them.
static double *edge(int side, int outside, long top, long left, long rows, long cols, long *step, long *count)
{
	*step = side == NORTH || side == SOUTH ? 1 : m.cols + 2;
	*count = side == NORTH || side == SOUTH ? cols : rows;
	long i = side == NORTH ? top - outside : side == SOUTH ? top + rows - 1 + outside : top;
	long j = side == WEST ? left - outside : side == EAST ? left + cols - 1 + outside : left;
	return data(&m, i) + j;
}

static int outermost(int side, long i, long j)
{
	return neighbour[side] != MPI_PROC_NULL &&
	       (side == NORTH ? i == 0 : side == SOUTH ? i == down - 1 : side == WEST ? j == 0 : j == across - 1);
}

static void receive(int side, long top, long left, long rows, long cols)
{
	long step, count;
	double *to = edge(side, 1, top, left, rows, cols, &step, &count);
	MPI_Recv(buffer, count, MPI_DOUBLE, neighbour[side], side, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (long n = 0; n < count; n++)
		to[n * step] = buffer[n];
}

static void post(struct frontier *f, int side, long top, long left, long rows, long cols)
{
	long step, count;
	const double *from = edge(side, 0, top, left, rows, cols, &step, &count);
	MPI_Wait(&f->request, MPI_STATUS_IGNORE);
	for (long n = 0; n < count; n++)
		f->values[n] = from[n * step];
	MPI_Isend(f->values, count, MPI_DOUBLE, neighbour[side], opposite[side], MPI_COMM_WORLD, &f->request);
}

static void iterate(struct frontier *out)
{
	for (long k = 0; k < p.iters; k++)
		for (long i = 0; i < down; i++)
			for (long j = 0; j < across; j++) {
				long top = begins(0, p.rows, p.down, i), rows = begins(0, p.rows, p.down, i + 1) - top++;
				long left = begins(1, p.cols, p.across, j), cols = begins(1, p.cols, p.across, j + 1) - left++;
				// North and west of this iteration, south and east of the last.
				for (int side = 0; side < SIDES; side++)
					if (outermost(side, i, j) && (k > 0 || side == NORTH || side == WEST))
						receive(side, top, left, rows, cols);
				sweep(&p, &m, top, left, rows, cols);
				for (int side = 0; side < SIDES; side++)
					if (outermost(side, i, j) && (k < p.iters - 1 || side == SOUTH || side == EAST))
						post(&out[(i * across + j) * SIDES + side], side, top, left, rows, cols);
			}
	for (long n = 0; n < down * across * SIDES; n++)
		MPI_Wait(&out[n].request, MPI_STATUS_IGNORE);
}

// collect gives the whole matrix to rank 0, row by row.
static void collect(MPI_Comm grid, int rank, struct result *r)
{
	double *row = malloc(sizeof(double) * (p.cols + 2));
	for (long i = 0; i < p.rows + 2; i++) {
		for (long j = 0; j < p.cols + 2; j++)
			row[j] = i == 0 || i == p.rows + 1 || j == 0 || j == p.cols + 1 ? initial(DATA, i, j) : 0;
		for (int c = 0; c < dims[1] && i > 0 && i <= p.rows; c++) {
			int at[2] = {0, c}, owner;
			while (begin(p.rows, p.down, begin(p.down, dims[0], at[0] + 1)) < i)
				at[0]++;
			MPI_Cart_rank(grid, at, &owner);
			long left = begin(p.cols, p.across, begin(p.across, dims[1], c));
			long right = begin(p.cols, p.across, begin(p.across, dims[1], c + 1));
			if (owner == rank && rank == 0)
				memcpy(row + 1 + left, data(&m, i - m.top + 1) + 1, sizeof(double) * (right - left));
			else if (owner == rank)
				MPI_Send(data(&m, i - m.top + 1) + 1, right - left, MPI_DOUBLE, 0, SIDES, MPI_COMM_WORLD);
			else if (rank == 0)
				MPI_Recv(row + 1 + left, right - left, MPI_DOUBLE, owner, SIDES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		if (rank == 0)
			add(r, row, p.cols + 2);
	}
	free(row);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	p = arguments(argc, argv);
	int ranks, rank, periods[2] = {0, 0};
	MPI_Comm grid;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Dims_create(ranks, 2, dims);
	if (dims[0] > p.down || dims[1] > p.across) {
		fprintf(stderr, "%d by %d ranks for %ld by %ld blocks, want at least a block for each\n", dims[0], dims[1], p.down, p.across);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Cart_coords(grid, rank, 2, place);
	MPI_Cart_shift(grid, 0, 1, &neighbour[NORTH], &neighbour[SOUTH]);
	MPI_Cart_shift(grid, 1, 1, &neighbour[WEST], &neighbour[EAST]);

	down = begin(p.down, dims[0], place[0] + 1) - begin(p.down, dims[0], place[0]);
	across = begin(p.across, dims[1], place[1] + 1) - begin(p.across, dims[1], place[1]);
	m = new_matrix(1 + begin(p.rows, p.down, begin(p.down, dims[0], place[0])),
		       1 + begin(p.cols, p.across, begin(p.across, dims[1], place[1])),
		       begins(0, p.rows, p.down, down), begins(1, p.cols, p.across, across));
	for (long i = 0; i < m.rows + 2; i++)
		fill_row(&m, i);
	long longest = m.rows > m.cols ? m.rows : m.cols;
	buffer = malloc(sizeof(double) * longest);
	struct frontier *out = malloc(sizeof *out * down * across * SIDES);
	for (long n = 0; n < down * across * SIDES; n++) {
		out[n].request = MPI_REQUEST_NULL;
		int side = n % SIDES;
		out[n].values = outermost(side, n / SIDES / across, n / SIDES % across) ? malloc(sizeof(double) * longest) : NULL;
	}

	MPI_Barrier(MPI_COMM_WORLD);
	double start = seconds();
	iterate(out);
	MPI_Barrier(MPI_COMM_WORLD);
	double took = seconds() - start;

	struct result r = {0};
	if (rank == 0)
		r = new_result(&p);
	collect(grid, rank, &r);
	if (rank == 0)
		report(&p, &r, took);
	MPI_Finalize();
}
