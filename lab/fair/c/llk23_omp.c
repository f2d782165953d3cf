// LLK23 with OpenMP: a task for each block and iteration, ordered by depend clauses.
#include "llk23.h"

int main(int argc, char **argv)
{
	struct problem p = arguments(argc, argv);
	struct block *all = need(calloc(p.down * p.across + 1, sizeof *all)), *none = &all[p.down * p.across];
	for (long n = 0; n < p.down * p.across; n++)
		block_at(&p, &all[n], n / p.across, n % p.across);
	double start = seconds();
#pragma omp parallel
#pragma omp single
	for (long k = 0; k < p.iters; k++)
		for (long i = 0; i < p.down; i++)
			for (long j = 0; j < p.across; j++) {
				struct block *b = &all[i * p.across + j];
				struct block *n = i > 0 ? b - p.across : none, *s = i < p.down - 1 ? b + p.across : none;
				struct block *w = j > 0 ? b - 1 : none, *e = j < p.across - 1 ? b + 1 : none;
#pragma omp task depend(in : n[0], s[0], w[0], e[0]) depend(inout : b[0])
				{
					struct block *beside[SIDES] = {n, s, w, e};
					for (int side = 0; side < SIDES; side++)
						if (beside[side] != none)
							take(b, side, beside[side]->edges[opposite[side]]);
					sweep(&p, b);
					for (int side = 0; side < SIDES; side++)
						give(b, side);
				}
			}
	report(&p, all, seconds() - start);
}
