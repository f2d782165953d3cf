// LLK23 for all peers: the values at first, blocks, kernels, and the report.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATA, ZB, ZR, ZU, ZV, ZZ, PLANES };
enum { NORTH, SOUTH, WEST, EAST, SIDES };
static const int opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};

// problem is a matrix of rows by cols inside its ring, in blocks.
struct problem {
	long rows, cols, down, across, iters;
	const char *kernel;
	const char *out; // the final matrix goes there; NULL: nowhere
};

static inline struct problem arguments(int argc, char **argv)
{
	struct problem p = {0};
	if (argc >= 7) {
		long *numbers[] = {&p.rows, &p.cols, &p.down, &p.across, &p.iters};
		for (int i = 0; i < 5; i++)
			*numbers[i] = atol(argv[1 + i]);
		p.kernel = argv[6];
		p.out = argc > 7 ? argv[7] : NULL;
	}
	if (p.down < 1 || p.across < 1 || p.rows < p.down || p.cols < p.across || p.iters < 1) {
		fprintf(stderr, "usage: %s rows columns blocks-down blocks-across iterations kernel [file]\n", argv[0]);
		exit(2);
	}
	return p;
}

// initial is element (i,j) of a plane. It counts from 0, over the matrix with its ring.
static inline double initial(int plane, uint64_t i, uint64_t j)
{
	uint64_t z = (plane + 1) * 0x9E3779B97F4A7C15u + i * 0xBF58476D1CE4E5B9u + j * 0x94D049BB133111EBu;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	z ^= z >> 31;
	double u = (double)(z >> 11) * 0x1p-53;
	return plane == DATA ? u : plane == ZZ ? 0.01 * u : 0.25 * u;
}

static inline void *need(void *p)
{
	if (p == NULL) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

// block is a rectangle of the matrix in memory of its own. Data has a border of width 1. Rows of the interior begin
// cache lines.
struct block {
	long top, left, rows, cols; // the first element is (top,left) of the matrix with its ring
	long step, apart;           // from one row to the next: of data, and of coefficients
	double *planes[PLANES];     // the first element of the interior
	double *edges[SIDES];       // copies of the outermost elements, which neighbours read
};

static inline double *lines(long doubles) { return need(aligned_alloc(64, (doubles + 7) / 8 * 64)); }

static inline double *row_of(const struct block *b, int plane, long i)
{
	return b->planes[plane] + i * (plane == DATA ? b->step : b->apart);
}

// edge is where the elements of a side are: the outermost of the interior, or the border outside of them.
static inline double *edge(const struct block *b, int side, int outside, long *step, long *count)
{
	*step = side == NORTH || side == SOUTH ? 1 : b->step;
	*count = side == NORTH || side == SOUTH ? b->cols : b->rows;
	switch (side) {
	case NORTH:
		return row_of(b, DATA, -outside);
	case SOUTH:
		return row_of(b, DATA, b->rows - 1 + outside);
	case WEST:
		return b->planes[DATA] - outside;
	default:
		return b->planes[DATA] + b->cols - 1 + outside;
	}
}

static inline void take(struct block *b, int side, const double *values)
{
	long step, count;
	double *to = edge(b, side, 1, &step, &count);
	for (long n = 0; n < count; n++)
		to[n * step] = values[n];
}

static inline void give(struct block *b, int side)
{
	long step, count;
	const double *from = edge(b, side, 0, &step, &count);
	for (long n = 0; n < count; n++)
		b->edges[side][n] = from[n * step];
}

static inline void new_block(struct block *b, long top, long left, long rows, long cols)
{
	*b = (struct block){top, left, rows, cols, (cols + 2 + 7) / 8 * 8 + 8, (cols + 7) / 8 * 8};
	b->planes[DATA] = lines(b->step * (rows + 2)) + b->step + 8;
	for (int plane = ZB; plane < PLANES; plane++)
		b->planes[plane] = lines(b->apart * rows);
	for (long i = -1; i <= rows; i++) {
		for (long j = -1; j <= cols; j++)
			row_of(b, DATA, i)[j] = initial(DATA, top + i, left + j);
		for (int plane = ZB; plane < PLANES && 0 <= i && i < rows; plane++)
			for (long j = 0; j < cols; j++)
				row_of(b, plane, i)[j] = initial(plane, top + i, left + j);
	}
	for (int side = 0; side < SIDES; side++) {
		b->edges[side] = lines(rows > cols ? rows : cols);
		give(b, side);
	}
}

// row_listing is rowListing of kernel_listing.go, for columns from a first one on.
static inline void row_listing(const struct block *b, long i, long first, long cols)
{
	const double *north = row_of(b, DATA, i - 1) + first, *south = row_of(b, DATA, i + 1) + first;
	const double *zb = row_of(b, ZB, i) + first, *zr = row_of(b, ZR, i) + first, *zu = row_of(b, ZU, i) + first;
	const double *zv = row_of(b, ZV, i) + first, *zz = row_of(b, ZZ, i) + first;
	double *here = row_of(b, DATA, i) + first, west = here[-1];
	for (long j = 0; j < cols; j++) {
		double q = north[j] * zb[j] + west * zv[j] + here[j + 1] * zu[j] + south[j] * zr[j] + zz[j] - here[j];
		here[j] = west = here[j] + 0.175 * q;
	}
}

// row_fast is rowFast of kernel_fast.go.
static inline void row_fast(const struct block *b, long i, long first, long cols)
{
	const double *north = row_of(b, DATA, i - 1) + first, *south = row_of(b, DATA, i + 1) + first;
	const double *zb = row_of(b, ZB, i) + first, *zr = row_of(b, ZR, i) + first, *zu = row_of(b, ZU, i) + first;
	const double *zv = row_of(b, ZV, i) + first, *zz = row_of(b, ZZ, i) + first;
	double *here = row_of(b, DATA, i) + first, west = here[-1];
	for (long j = 0; j < cols; j++) {
		double p = here[j + 1] * zu[j] + south[j] * zr[j] + (zz[j] - here[j]) + north[j] * zb[j];
		here[j] = west = (here[j] + 0.175 * p) + (0.175 * zv[j]) * west;
	}
}

// row_bound reads and writes what the others do, and has no chain from west to east. It shows what the memory allows.
static inline void row_bound(const struct block *b, long i, long first, long cols)
{
	const double *restrict north = row_of(b, DATA, i - 1) + first, *restrict south = row_of(b, DATA, i + 1) + first;
	const double *restrict zb = row_of(b, ZB, i) + first, *restrict zr = row_of(b, ZR, i) + first;
	const double *restrict zu = row_of(b, ZU, i) + first, *restrict zv = row_of(b, ZV, i) + first;
	const double *restrict zz = row_of(b, ZZ, i) + first;
	double *restrict here = row_of(b, DATA, i) + first;
	for (long j = 0; j < cols; j++)
		here[j] += 0.175 * (here[j] * zu[j] + south[j] * zr[j] + (zz[j] - here[j]) + north[j] * zb[j] + here[j] * zv[j]);
}

static inline void sweep(const struct problem *p, const struct block *b)
{
	void (*row)(const struct block *, long, long, long) = p->kernel[0] == 'l' ? row_listing : p->kernel[0] == 'f' ? row_fast : row_bound;
	for (long i = 0; i < b->rows; i++)
		row(b, i, 0, b->cols);
}

// begin is the first of the elements that the i-th of n parts has, from 0.
static inline long begin(long elements, long n, long i) { return elements * i / n; }

// block_at makes block (i,j).
static inline void block_at(const struct problem *p, struct block *b, long i, long j)
{
	long top = begin(p->rows, p->down, i), left = begin(p->cols, p->across, j);
	new_block(b, 1 + top, 1 + left, begin(p->rows, p->down, i + 1) - top, begin(p->cols, p->across, j + 1) - left);
}

static inline double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// report prints ns for each element and iteration. It writes the matrix, with its ring, from the rows of all blocks.
static inline void report(const struct problem *p, const struct block *all, double took)
{
	printf("%.4f ns/element\n", took * 1e9 / ((double)p->rows * p->cols * p->iters));
	if (p->out == NULL)
		return;
	FILE *f = need(fopen(p->out, "wb"));
	double *row = lines(p->cols + 2);
	long i = 0;
	for (; i < p->rows + 2; i++) {
		for (long j = 0; j < p->cols + 2; j++)
			row[j] = initial(DATA, i, j);
		for (const struct block *b = all; b < all + p->down * p->across; b++)
			if (b->top <= i && i < b->top + b->rows)
				memcpy(row + b->left, row_of(b, DATA, i - b->top), b->cols * sizeof *row);
		if (fwrite(row, sizeof *row, p->cols + 2, f) != (size_t)p->cols + 2)
			break;
	}
	if (fclose(f) != 0 || i < p->rows + 2) {
		perror("writing the matrix");
		exit(1);
	}
}
