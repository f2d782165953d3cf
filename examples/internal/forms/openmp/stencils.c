// The examples' kernels with OpenMP: stencils NAME SIDE SWEEPS prints the seconds of the sweeps and a checksum of
// the cells. Each loop adds in the order of the Go kernel. A parallel loop ends with a barrier; in place, blocks
// are tasks with depend clauses.
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n, sweeps;

static uint64_t sum = 14695981039346656037u;

static void add(const void *cells, long bytes)
{
	for (const uint8_t *b = cells; bytes > 0; b++, bytes--)
		sum = (sum ^ *b) * 1099511628211u;
}

// allocate touches each page where it will be swept.
static void *allocate(size_t cells, size_t size)
{
	char *m = malloc(cells * size);
	size_t bytes = cells * size;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < bytes; i += 4096)
		memset(m + i, 0, bytes - i < 4096 ? bytes - i : 4096);
	return m;
}

static double height(long y, long x) { return (double)((y * 7 + x * 13) % 101); }

static double heat(void)
{
	double *a = allocate(n + 2, 8), *b = allocate(n + 2, 8);
	for (long i = 0; i < n + 2; i++)
		a[i] = b[i] = height(0, i);
	double begin = omp_get_wtime();
	for (long s = 0; s < sweeps; s++) {
#pragma omp parallel for schedule(static)
		for (long i = 1; i <= n; i++)
			b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
		double *t = a;
		a = b, b = t;
	}
	double took = omp_get_wtime() - begin;
	add(a + 1, n * 8);
	return took;
}

static double cube(void)
{
	const double sixth = 1. / 6;
	long row = n + 2, plane = row * row;
	double *a = allocate(plane * row, 8), *b = allocate(plane * row, 8);
#pragma omp parallel for schedule(static)
	for (long z = 0; z < row; z++)
		for (long y = 0; y < row; y++)
			for (long x = 0; x < row; x++)
				a[z * plane + y * row + x] = b[z * plane + y * row + x] = height(z + y, x);
	double begin = omp_get_wtime();
	for (long s = 0; s < sweeps; s++) {
#pragma omp parallel for schedule(static)
		for (long z = 1; z <= n; z++)
			for (long y = 1; y <= n; y++) {
				const double *o = a + z * plane + y * row;
				double *to = b + z * plane + y * row;
				for (long x = 1; x <= n; x++)
					to[x] = sixth * o[x - plane] + sixth * o[x + plane] + sixth * o[x - row] + sixth * o[x + row] + sixth * o[x - 1] + sixth * o[x + 1];
			}
		double *t = a;
		a = b, b = t;
	}
	double took = omp_get_wtime() - begin;
	for (long z = 1; z <= n; z++)
		for (long y = 1; y <= n; y++)
			add(a + z * plane + y * row + 1, n * 8);
	return took;
}

static double *plate(void)
{
	long row = n + 2;
	double *a = allocate(row * row, 8);
#pragma omp parallel for schedule(static)
	for (long y = 0; y < row; y++)
		for (long x = 0; x < row; x++)
			a[y * row + x] = height(y, x);
	return a;
}

static double wave(void)
{
	const double speed = 0.25;
	long row = n + 2;
	double *a = plate(), *b = plate();
	double begin = omp_get_wtime();
	for (long s = 0; s < sweeps; s++) {
#pragma omp parallel for schedule(static)
		for (long y = 1; y <= n; y++) {
			const double *o = a + y * row;
			double *to = b + y * row;
			for (long x = 1; x <= n; x++)
				to[x] = -1 * to[x] + (2 - 4 * speed) * o[x] + speed * o[x - row] + speed * o[x + row] + speed * o[x - 1] + speed * o[x + 1];
		}
		double *t = a;
		a = b, b = t;
	}
	double took = omp_get_wtime() - begin;
	for (long y = 1; y <= n; y++)
		add(a + y * row + 1, n * 8);
	return took;
}

static double seidel(void)
{
	enum { blocks = 8 };
	long row = n + 2;
	double *a = plate();
	char token[blocks + 2][blocks + 2] __attribute__((unused));
	double begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
	for (long s = 0; s < sweeps; s++)
		for (long i = 1; i <= blocks; i++)
			for (long j = 1; j <= blocks; j++) {
				long top = 1 + n * (i - 1) / blocks, bottom = 1 + n * i / blocks;
				long left = 1 + n * (j - 1) / blocks, right = 1 + n * j / blocks;
#pragma omp task depend(in : token[i - 1][j], token[i][j - 1], token[i + 1][j], token[i][j + 1]) depend(inout : token[i][j])
				for (long y = top; y < bottom; y++) {
					double *o = a + y * row;
					double west = o[left - 1];
					for (long x = left; x < right; x++)
						o[x] = west = (o[x - row] + west + o[x + row] + o[x + 1]) / 4;
				}
			}
	double took = omp_get_wtime() - begin;
	for (long y = 1; y <= n; y++)
		add(a + y * row + 1, n * 8);
	return took;
}

// A torus keeps a copy of its other side around it.
static double life(void)
{
	long row = n + 2;
	uint8_t *a = allocate(row * row, 1), *b = allocate(row * row, 1);
	for (long y = 0; y < n; y++)
		for (long x = 0; x < n; x++)
			a[(y + 1) * row + x + 1] = (long)height(y + 1, x + 1) % 3 == 0;
	double begin = omp_get_wtime();
	for (long s = 0; s < sweeps; s++) {
		for (long y = 1; y <= n; y++)
			a[y * row] = a[y * row + n], a[y * row + n + 1] = a[y * row + 1];
		memcpy(a, a + n * row, row);
		memcpy(a + (n + 1) * row, a + row, row);
#pragma omp parallel for schedule(static)
		for (long y = 1; y <= n; y++) {
			const uint8_t *o = a + y * row;
			uint8_t *to = b + y * row;
			for (long x = 1; x <= n; x++) {
				uint8_t c = o[x - row - 1] + o[x - row] + o[x - row + 1] + o[x - 1] + o[x + 1] + o[x + row - 1] + o[x + row] + o[x + row + 1];
				to[x] = c == 3 || (c == 2 && o[x] == 1);
			}
		}
		uint8_t *t = a;
		a = b, b = t;
	}
	double took = omp_get_wtime() - begin;
	for (long y = 1; y <= n; y++)
		add(a + y * row + 1, n);
	return took;
}

// A pixel is four numbers, so its neighbours are four numbers away.
static double filter(void)
{
	long row = 4 * (n + 2);
	uint16_t *a = allocate(row * (n + 2), 2), *b = allocate(row * (n + 2), 2);
	for (long y = 0; y < n + 2; y++)
		for (long i = 0; i < row; i++)
			a[y * row + i] = b[y * row + i] = 600 * ((y * 7 + i / 4 * 13) % 101) + i % 4;
	double begin = omp_get_wtime();
	for (long s = 0; s < sweeps; s++) {
#pragma omp parallel for schedule(static)
		for (long y = 1; y <= n; y++) {
			const uint16_t *o = a + y * row;
			uint16_t *to = b + y * row;
			for (long i = 4; i < 4 * (n + 1); i++) {
				uint32_t total = 8 + o[i - row - 4] + 2 * o[i - row] + o[i - row + 4] + 2 * o[i - 4] + 4 * o[i] + 2 * o[i + 4] +
						 o[i + row - 4] + 2 * o[i + row] + o[i + row + 4];
				to[i] = total / 16;
			}
		}
		uint16_t *t = a;
		a = b, b = t;
	}
	double took = omp_get_wtime() - begin;
	for (long y = 1; y <= n; y++)
		add(a + y * row + 4, n * 8);
	return took;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(void);
	} all[] = {{"heat", heat}, {"jacobi3d", cube}, {"wave", wave}, {"gaussseidel", seidel}, {"life", life}, {"filter", filter}};
	for (unsigned i = 0; argc == 4 && i < sizeof all / sizeof *all; i++)
		if (strcmp(argv[1], all[i].name) == 0) {
			n = atol(argv[2]), sweeps = atol(argv[3]);
			printf("%.9f ", all[i].run());
			printf("%016llx\n", (unsigned long long)sum);
			return 0;
		}
	fprintf(stderr, "usage: stencils NAME SIDE SWEEPS\n");
	return 2;
}
