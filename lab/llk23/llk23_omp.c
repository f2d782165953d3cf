// LLK23 with OpenMP: a task for each block and iteration, ordered by depend
// clauses. With one block it is the sequential sweep.
#include "llk23.h"

int main(int argc, char **argv)
{
	struct problem p = arguments(argc, argv);
	struct matrix m = new_matrix(1, 1, p.rows, p.cols);
#pragma omp parallel for
	for (long i = 0; i < p.rows + 2; i++)
		fill_row(&m, i);

	// A token stands for each block, with a border that nobody writes.
	long width = p.across + 2;
	char *token = calloc((p.down + 2) * width, 1);
	double start = seconds();
#pragma omp parallel
#pragma omp single
	for (long k = 0; k < p.iters; k++)
		for (long i = 0; i < p.down; i++)
			for (long j = 0; j < p.across; j++) {
				char *t __attribute__((unused)) = token + (i + 1) * width + j + 1;
				long top = begin(p.rows, p.down, i), bottom = begin(p.rows, p.down, i + 1);
				long left = begin(p.cols, p.across, j), right = begin(p.cols, p.across, j + 1);
#pragma omp task depend(in : t[-width], t[-1], t[1], t[width]) depend(inout : t[0])
				sweep(&p, &m, top + 1, left + 1, bottom - top, right - left);
			}
	double took = seconds() - start;

	struct result r = new_result(&p);
	for (long i = 0; i < p.rows + 2; i++)
		add(&r, data(&m, i), p.cols + 2);
	report(&p, &r, took);
}
