// A cube whose cells become the mean of their six neighbours, with OpenMP. Threads share the rows of a plane. Several
// sweeps follow each other one plane apart, so that planes are in the cache. With one sweep in a pass it is the plain
// loop with a barrier after each sweep.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long side, row, plane;

static double *cells(void)
{
	size_t bytes = (plane * row * sizeof(double) + (2 << 20) - 1) >> 21 << 21;
	char *m = aligned_alloc(2 << 20, bytes);
	if (!m)
		abort();
	madvise(m, bytes, MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < bytes; i += 4096)
		memset(m + i, 0, 4096);
	for (long i = 0; i < plane; i++)
		((double *)m)[i] = 1; // the plane before the first one is hot
	return (double *)m;
}

static inline void mean(double *restrict to, const double *from)
{
	const double sixth = 1. / 6;
	for (long x = 0; x < side; x++)
		to[x] = sixth * from[x - plane] + sixth * from[x + plane] + sixth * from[x - row] + sixth * from[x + row] +
			sixth * from[x - 1] + sixth * from[x + 1];
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: %s side sweeps sweeps-in-a-pass\n", argv[0]);
		return 2;
	}
	side = atol(argv[1]), row = side + 2, plane = row * row;
	long sweeps = atol(argv[2]), deep = atol(argv[3]);
	double *both[2] = {cells(), cells()}, start = omp_get_wtime();
#pragma omp parallel
	for (long done = 0; done < sweeps; done += deep) {
		long these = sweeps - done < deep ? sweeps - done : deep;
		long apart = these == 1 ? side : 1; // planes between two barriers
		for (long step = 1; step <= side + these - 1; step += apart)
			for (long k = 0; k < these; k++) {
				double *from = both[(done + k) & 1], *to = both[(done + k + 1) & 1];
				for (long z = step - k; z < step - k + apart; z++)
					if (1 <= z && z <= side) {
#pragma omp for schedule(static) nowait
						for (long y = 1; y <= side; y++)
							mean(to + z * plane + y * row + 1, from + z * plane + y * row + 1);
					}
#pragma omp barrier
			}
	}
	printf("%.4f ns/cell\n", (omp_get_wtime() - start) * 1e9 / ((double)side * side * side * sweeps));
	return both[sweeps & 1][plane + row + 1] < 0; // keeps the result
}
