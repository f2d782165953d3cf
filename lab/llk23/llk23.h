// What the peers have in common: the initial values, the kernels, the checksum.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATA, ZB, ZR, ZU, ZV, ZZ, PLANES };

// problem is what to compute: a matrix of rows by cols inside its ring, in
// blocks, and which kernel.
struct problem {
	long rows, cols, down, across, iters;
	int fast;
	const char *out; // where the final matrix goes, or NULL
};

static inline struct problem arguments(int argc, char **argv)
{
	struct problem p = {0};
	if (argc >= 7) {
		long *numbers[] = {&p.rows, &p.cols, &p.down, &p.across, &p.iters};
		for (int i = 0; i < 5; i++)
			*numbers[i] = atol(argv[1 + i]);
		p.fast = strcmp(argv[6], "fast") == 0;
		p.out = argc > 7 ? argv[7] : NULL;
	}
	if (p.down < 1 || p.across < 1 || p.rows < p.down || p.cols < p.across || p.iters < 1 ||
	    (!p.fast && strcmp(argv[6], "listing") != 0)) {
		fprintf(stderr, "usage: %s rows columns blocks-down blocks-across iterations listing|fast [file]\n", argv[0]);
		exit(2);
	}
	return p;
}

// initial is element (i,j) of a plane, 0-based over the matrix with its ring.
static inline double initial(int plane, uint64_t i, uint64_t j)
{
	uint64_t z = (plane + 1) * 0x9E3779B97F4A7C15u + i * 0xBF58476D1CE4E5B9u + j * 0x94D049BB133111EBu;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	z ^= z >> 31;
	double u = (double)(z >> 11) * 0x1p-53;
	return plane == DATA ? u : plane == ZZ ? 0.01 * u : 0.25 * u;
}

// matrix is all planes of a rectangle whose first element is (top,left) of the
// whole. Data has a border of width 1, the others have none.
struct matrix {
	long top, left, rows, cols;
	double *planes[PLANES];
};

static inline double *data(const struct matrix *m, long i) { return m->planes[DATA] + i * (m->cols + 2); }

static inline double *coefficient(const struct matrix *m, int plane, long i)
{
	return m->planes[plane] + (i - 1) * m->cols;
}

static inline void fill_row(const struct matrix *m, long i)
{
	for (long j = 0; j < m->cols + 2; j++)
		data(m, i)[j] = initial(DATA, m->top - 1 + i, m->left - 1 + j);
	if (i > 0 && i <= m->rows)
		for (int plane = ZB; plane < PLANES; plane++)
			for (long j = 0; j < m->cols; j++)
				coefficient(m, plane, i)[j] = initial(plane, m->top - 1 + i, m->left + j);
}

static inline struct matrix new_matrix(long top, long left, long rows, long cols)
{
	struct matrix m = {top, left, rows, cols, {0}};
	for (int plane = 0; plane < PLANES; plane++) {
		long border = plane == DATA ? 2 : 0;
		m.planes[plane] = malloc(sizeof(double) * (rows + border) * (cols + border));
		if (m.planes[plane] == NULL) {
			fprintf(stderr, "no memory for %ld by %ld elements\n", rows, cols);
			exit(1);
		}
	}
	return m;
}

// sweep_listing is rowListing of kernel_listing.go for rows top.. and columns
// left.. of m, 1-based.
static inline void sweep_listing(const struct matrix *m, long top, long left, long rows, long cols)
{
	for (long i = top; i < top + rows; i++) {
		const double *restrict north = data(m, i - 1) + left, *restrict south = data(m, i + 1) + left;
		const double *restrict zb = coefficient(m, ZB, i) + left - 1, *restrict zr = coefficient(m, ZR, i) + left - 1;
		const double *restrict zu = coefficient(m, ZU, i) + left - 1, *restrict zv = coefficient(m, ZV, i) + left - 1;
		const double *restrict zz = coefficient(m, ZZ, i) + left - 1;
		double *restrict here = data(m, i) + left, west = here[-1];
		for (long j = 0; j < cols; j++) {
			double q = north[j] * zb[j] + west * zv[j] + here[j + 1] * zu[j] + south[j] * zr[j] + zz[j] - here[j];
			here[j] = west = here[j] + 0.175 * q;
		}
	}
}

// sweep_fast is rowFast of kernel_fast.go.
static inline void sweep_fast(const struct matrix *m, long top, long left, long rows, long cols)
{
	for (long i = top; i < top + rows; i++) {
		const double *restrict north = data(m, i - 1) + left, *restrict south = data(m, i + 1) + left;
		const double *restrict zb = coefficient(m, ZB, i) + left - 1, *restrict zr = coefficient(m, ZR, i) + left - 1;
		const double *restrict zu = coefficient(m, ZU, i) + left - 1, *restrict zv = coefficient(m, ZV, i) + left - 1;
		const double *restrict zz = coefficient(m, ZZ, i) + left - 1;
		double *restrict here = data(m, i) + left, west = here[-1];
		for (long j = 0; j < cols; j++) {
			double p = here[j + 1] * zu[j] + south[j] * zr[j] + (zz[j] - here[j]) + north[j] * zb[j];
			here[j] = west = (here[j] + 0.175 * p) + (0.175 * zv[j]) * west;
		}
	}
}

static inline void sweep(const struct problem *p, const struct matrix *m, long top, long left, long rows, long cols)
{
	(p->fast ? sweep_fast : sweep_listing)(m, top, left, rows, cols);
}

// begin is the first of the elements that the i-th of n parts has, 0-based.
static inline long begin(long elements, long n, long i) { return elements * i / n; }

static inline double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// result takes the final matrix in order, ring included.
struct result {
	uint64_t fnv;
	FILE *out;
};

static inline struct result new_result(const struct problem *p)
{
	struct result r = {0xcbf29ce484222325u, p->out ? fopen(p->out, "wb") : NULL};
	if (p->out && r.out == NULL) {
		perror(p->out);
		exit(1);
	}
	return r;
}

static inline void add(struct result *r, const double *values, long n)
{
	for (const unsigned char *c = (const unsigned char *)values; c < (const unsigned char *)(values + n); c++)
		r->fnv = (r->fnv ^ *c) * 0x100000001b3u;
	if (r->out && fwrite(values, sizeof(double), n, r->out) != (size_t)n) {
		perror("writing the matrix");
		exit(1);
	}
}

// report prints ns per element and iteration, and the checksum.
static inline void report(const struct problem *p, struct result *r, double took)
{
	if (r->out && fclose(r->out) != 0) {
		perror("writing the matrix");
		exit(1);
	}
	printf("%.4f %016llx\n", took * 1e9 / ((double)p->rows * p->cols * p->iters), (unsigned long long)r->fnv);
}
