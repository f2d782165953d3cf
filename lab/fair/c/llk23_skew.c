// LLK23 with several iterations over rows while they are in the cache. Each thread makes a pass of some iterations over
// the whole matrix, and follows the pass before at a distance of some rows. The matrix is one block.
//
//	kernel rows4     row after row, 4 iterations in a pass
//	kernel split8    the same with 8: a vector loop first, and then the chain from west to east
//	kernel chains8   8 rows of 8 iterations at once, so that the chains of all overlap
#include "llk23.h"
#include <omp.h>
#include <stdatomic.h>

enum { CHUNK = 40 };

// prepare does for some columns of a row all that does not wait for the west: here = base + factor * west.
static inline void prepare(const struct block *b, long i, long first, long cols, double *restrict base, double *restrict factor)
{
	const double *restrict north = row_of(b, DATA, i - 1) + first, *restrict south = row_of(b, DATA, i + 1) + first;
	const double *restrict zb = row_of(b, ZB, i) + first, *restrict zr = row_of(b, ZR, i) + first;
	const double *restrict zu = row_of(b, ZU, i) + first, *restrict zv = row_of(b, ZV, i) + first;
	const double *restrict zz = row_of(b, ZZ, i) + first, *restrict here = row_of(b, DATA, i) + first;
	for (long j = 0; j < cols; j++) {
		double p = here[j + 1] * zu[j] + south[j] * zr[j] + (zz[j] - here[j]) + north[j] * zb[j];
		base[j] = here[j] + 0.175 * p;
		factor[j] = 0.175 * zv[j];
	}
}

static inline void chain(const struct block *b, long i, long first, long cols, const double *base, const double *factor)
{
	double *here = row_of(b, DATA, i) + first, west = here[-1];
	for (long j = 0; j < cols; j++)
		here[j] = west = base[j] + factor[j] * west;
}

static void row_split(const struct block *b, long i, long first, long cols)
{
	enum { PART = 512 };
	double base[PART] __attribute__((aligned(64))), factor[PART] __attribute__((aligned(64)));
	for (long end = first + cols; first < end; first += PART) {
		long n = end - first < PART ? end - first : PART;
		prepare(b, i, first, n, base, factor);
		chain(b, i, first, n, base, factor);
	}
}

// chains computes row i in the first iteration of a pass, row i-1 in the second one, and so on. Each iteration is a chunk
// behind the one before.
static inline __attribute__((always_inline)) void chains(const int deep, const struct block *b, long i)
{
	double base[8][CHUNK] __attribute__((aligned(64))), factor[8][CHUNK] __attribute__((aligned(64)));
	long chunks = (b->cols + CHUNK - 1) / CHUNK, whole = b->cols / CHUNK;
	for (long c = 0; c < chunks + deep - 1; c++) {
		int low = c < chunks ? 0 : c - chunks + 1, high = c < deep ? c : deep - 1;
		for (int k = low; k <= high; k++) {
			long first = (c - k) * CHUNK;
			if (c - k < whole)
				prepare(b, i - k, first, CHUNK, base[k], factor[k]);
			else
				prepare(b, i - k, first, b->cols - first, base[k], factor[k]);
		}
		if (low == 0 && high == deep - 1 && c < whole) {
			double west[8], *here[8];
#pragma GCC unroll 8
			for (int k = 0; k < deep; k++)
				here[k] = row_of(b, DATA, i - k) + (c - k) * CHUNK, west[k] = here[k][-1];
			for (long j = 0; j < CHUNK; j++)
#pragma GCC unroll 8
				for (int k = 0; k < deep; k++)
					here[k][j] = west[k] = base[k][j] + factor[k][j] * west[k];
			continue;
		}
		for (int k = low; k <= high; k++) {
			long first = (c - k) * CHUNK, left = b->cols - first;
			chain(b, i - k, first, left < CHUNK ? left : CHUNK, base[k], factor[k]);
		}
	}
}

static void chains4(const struct block *b, long i) { chains(4, b, i); }
static void chains8(const struct block *b, long i) { chains(8, b, i); }

static const struct form {
	const char *name;
	int deep;
	void (*row)(const struct block *, long, long, long);
	void (*together)(const struct block *, long);
} forms[] = {
	{"rows1", 1, row_fast}, {"rows4", 4, row_fast}, {"split4", 4, row_split}, {"split8", 8, row_split},
	{"chains4", 4, row_split, chains4}, {"chains8", 8, row_split, chains8},
};

// pass makes a pass over the matrix. done counts the rows that a pass has finished.
static void pass(const struct form *f, const struct block *b, const _Atomic long *before, _Atomic long *done)
{
	for (long i = 0; i < b->rows + f->deep - 1; i++) {
		long want = i + 2 < b->rows ? i + 2 : b->rows; // the row to the south has to be of the pass before
		while (before && atomic_load_explicit(before, memory_order_acquire) < want)
			__builtin_ia32_pause();
		if (f->together && f->deep - 1 <= i && i < b->rows) {
			f->together(b, i);
		} else {
			for (int k = 0; k < f->deep; k++)
				if (0 <= i - k && i - k < b->rows)
					f->row(b, i - k, 0, b->cols);
		}
		if (i >= f->deep - 1)
			atomic_store_explicit(done, i - f->deep + 2, memory_order_release);
	}
}

int main(int argc, char **argv)
{
	struct problem p = arguments(argc, argv);
	const struct form *f = NULL;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(p.kernel, forms[i].name) == 0)
			f = &forms[i];
	if (!f || p.iters % f->deep || p.down * p.across != 1) {
		fprintf(stderr, "%s: want one block, a form such as chains8, and so many iterations that all passes are whole\n", p.kernel);
		return 2;
	}
	struct block b;
	block_at(&p, &b, 0, 0);
	struct { _Alignas(64) _Atomic long rows; } *done = need(aligned_alloc(64, 64 * (p.iters / f->deep)));
	memset(done, 0, 64 * (p.iters / f->deep));
	double start = seconds();
#pragma omp parallel
	for (long n = omp_get_thread_num(); n < p.iters / f->deep; n += omp_get_num_threads())
		pass(f, &b, n > 0 ? &done[n - 1].rows : NULL, &done[n].rows);
	report(&p, &b, seconds() - start);
}
