// Conjugate gradients for all peers: A x = b on a plate, as in examples/poisson. A is the Laplacian with x = 0 around the
// plate, and b is 1 in each cell. A worker is a thread or a process. It has rows of its own.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "exact.h"

// problem is a plate of side by side cells.
struct problem {
	long side, sweeps;
	int exact; // the sums are exact, as ours
	int late;  // x takes its step together with p, which both read
	const char *out; // x goes there; NULL: nowhere
};

static inline struct problem arguments(int argc, char **argv)
{
	struct problem p = {0};
	if (argc == 4 || argc == 5) {
		p.side = atol(argv[1]), p.sweeps = atol(argv[2]);
		p.exact = strcmp(argv[3], "exact") == 0;
		p.late = strcmp(argv[3], "late") == 0 || p.exact;
		p.out = argc > 4 ? argv[4] : NULL;
	}
	if (p.side < 1 || p.sweeps < 1 || !(p.late || strcmp(argv[3], "plain") == 0)) {
		fprintf(stderr, "usage: %s side sweeps plain|late|exact [file]\n", argv[0]);
		exit(2);
	}
	return p;
}

// worker has the rows from low to high of all fields. Beside each row of p are zeros, and a row begins a cache line. Row -1 and
// row high of p are those of neighbours, or zeros.
struct worker {
	const struct problem *problem;
	int number, workers;
	long low, high, step;
	double *x, *r, *p, *q; // row 0 of the plate
};

static inline long bound(const struct problem *p, int worker, int workers) { return p->side * worker / workers; }

// field is memory for some rows, with a row more on both sides.
static inline double *field(const struct worker *w, long low, long high)
{
	size_t bytes = ((high - low + 2) * w->step * sizeof(double) + (2 << 20) - 1) >> 21 << 21;
	char *m = aligned_alloc(2 << 20, bytes);
	if (!m)
		abort();
	madvise(m, bytes, MADV_HUGEPAGE);
	return (double *)m + (1 - low) * w->step + 8;
}

static inline long step_of(const struct problem *p) { return (p->side + 23) / 8 * 8; }

// prepare sets the rows of a worker. Each thread touches its own rows first.
static inline void prepare(struct worker *w)
{
	long low = w->low - (w->low == 0), high = w->high + (w->high == w->problem->side);
	for (long y = low; y < high; y++)
		for (long i = -8; i < w->step - 8; i++) {
			int inside = 0 <= i && i < w->problem->side && w->low <= y && y < w->high;
			w->x[y * w->step + i] = w->q[y * w->step + i] = 0;
			w->r[y * w->step + i] = w->p[y * w->step + i] = inside;
		}
}

// The file that includes this one says how workers add a number or an exact sum, and how they see their neighbours' rows of p.
static double add(struct worker *w, double mine);
static double add_exact(struct worker *w, struct exact *mine);
static void edges(struct worker *w);

// multiply computes q = A p, and p·q of a row.
static inline double multiply(double *restrict q, const double *restrict p, long step, long n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (long i = 0; i < n; i++) {
		q[i] = 4 * p[i] - p[i - step] - p[i + step] - p[i - 1] - p[i + 1];
		sum += p[i] * q[i];
	}
	return sum;
}

// reduce_row computes r -= α q, and r·r of a row.
static inline double reduce_row(double *restrict r, const double *restrict q, double alpha, long n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (long i = 0; i < n; i++) {
		r[i] -= alpha * q[i];
		sum += r[i] * r[i];
	}
	return sum;
}

static inline double both(double *restrict x, double *restrict r, const double *restrict p, const double *restrict q, double alpha, long n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (long i = 0; i < n; i++) {
		x[i] += alpha * p[i];
		r[i] -= alpha * q[i];
		sum += r[i] * r[i];
	}
	return sum;
}

static inline void turn(double *restrict p, const double *restrict r, double beta, long n)
{
	for (long i = 0; i < n; i++)
		p[i] = beta * p[i] + r[i];
}

static inline void both_turn(double *restrict x, double *restrict p, const double *restrict r, double alpha, double beta, long n)
{
	for (long i = 0; i < n; i++) {
		x[i] += alpha * p[i];
		p[i] = beta * p[i] + r[i];
	}
}

// sweeps makes all sweeps. Each call has a text of its own.
static inline __attribute__((always_inline)) void sweeps(struct worker *w, const int exact, const int late)
{
	const struct problem *o = w->problem;
	long n = o->side, step = w->step;
	double rr = (double)n * n;
	struct exact sum;
	for (long s = 0; s < o->sweeps; s++) {
		double part = 0, before = rr;
		if (exact)
			exact_clear(&sum);
		edges(w);
		for (long y = w->low; y < w->high; y++) {
			part += multiply(w->q + y * step, w->p + y * step, step, n);
			if (exact)
				exact_dot(&sum, w->p + y * step, w->q + y * step, n);
		}
		double alpha = rr / (exact ? add_exact(w, &sum) : add(w, part));
		part = 0;
		if (exact)
			exact_clear(&sum);
		for (long y = w->low; y < w->high; y++) {
			double *r = w->r + y * step, *q = w->q + y * step;
			part += late ? reduce_row(r, q, alpha, n) : both(w->x + y * step, r, w->p + y * step, q, alpha, n);
			if (exact)
				exact_dot(&sum, r, r, n);
		}
		rr = exact ? add_exact(w, &sum) : add(w, part);
		double beta = rr / before;
		for (long y = w->low; y < w->high; y++)
			if (late)
				both_turn(w->x + y * step, w->p + y * step, w->r + y * step, alpha, beta, n);
			else
				turn(w->p + y * step, w->r + y * step, beta, n);
	}
}

static void solve(struct worker *w)
{
	if (w->problem->exact)
		sweeps(w, 1, 1);
	else
		sweeps(w, 0, w->problem->late);
}

static inline double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// report prints the time of a sweep.
static inline void report(const struct problem *p, double seconds) { printf("%.2f us/sweep\n", seconds * 1e6 / p->sweeps); }

// append writes the rows of a worker to the end of the file.
static inline void append(const struct worker *w)
{
	FILE *f = fopen(w->problem->out, w->low == 0 ? "wb" : "ab");
	for (long y = w->low; f && y < w->high; y++)
		fwrite(w->x + y * w->step, sizeof(double), w->problem->side, f);
	if (!f || fclose(f)) {
		perror(w->problem->out);
		exit(1);
	}
}
