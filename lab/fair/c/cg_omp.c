// Conjugate gradients with OpenMP. Threads share the fields, and each has rows of its own.
#include <omp.h>

#include "cg.h"

enum { MOST = 256 };

// parts has what each thread adds, for even and for odd sums: a thread that is one sum ahead overwrites nothing that others read.
static struct {
	_Alignas(64) double sum;
	struct exact exact;
} parts[2][MOST];

static int turn_of(void)
{
	static _Thread_local int sums;
	return sums++ & 1;
}

static double add(struct worker *w, double mine)
{
	int t = turn_of();
	parts[t][w->number].sum = mine;
#pragma omp barrier
	double all = 0;
	for (int i = 0; i < w->workers; i++)
		all += parts[t][i].sum;
	return all;
}

static double add_exact(struct worker *w, struct exact *mine)
{
	int t = turn_of();
	exact_carry(mine);
	parts[t][w->number].exact = *mine;
#pragma omp barrier
	struct exact all = parts[t][0].exact;
	for (int i = 1; i < w->workers; i++) {
		struct exact part = parts[t][i].exact;
		exact_merge(&all, &part);
	}
	return exact_value(&all);
}

static void edges(struct worker *w)
{
	(void)w;
#pragma omp barrier
}

int main(int argc, char **argv)
{
	struct problem o = arguments(argc, argv);
	struct worker first = {.problem = &o, .step = step_of(&o)};
	double **fields[] = {&first.x, &first.r, &first.p, &first.q}, start = 0, took = 0;
	for (int i = 0; i < 4; i++)
		*fields[i] = field(&first, 0, o.side);
	if (omp_get_max_threads() > MOST)
		abort();
#pragma omp parallel
	{
		struct worker w = first;
		w.number = omp_get_thread_num(), w.workers = omp_get_num_threads();
		w.low = bound(&o, w.number, w.workers), w.high = bound(&o, w.number + 1, w.workers);
		prepare(&w);
#pragma omp barrier
#pragma omp master
		start = seconds();
		solve(&w);
#pragma omp barrier
#pragma omp master
		took = seconds() - start;
		for (int i = 0; o.out && i < w.workers; i++) {
			if (i == w.number)
				append(&w);
#pragma omp barrier
		}
	}
	report(&o, took);
}
