// Conjugate gradients with MPI: each process has rows of its own, and gets a row of p from each neighbour.
#include <mpi.h>

#include "cg.h"

static double add(struct worker *w, double mine)
{
	(void)w;
	double all;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

// add_exact adds the digits, each of which has room for the digits of 2^31 processes.
static double add_exact(struct worker *w, struct exact *mine)
{
	(void)w;
	struct exact all = {.pending = 1};
	exact_carry(mine);
	MPI_Allreduce(mine->digit, all.digit, DIGITS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	return exact_value(&all);
}

static void edges(struct worker *w)
{
	int before = w->number > 0 ? w->number - 1 : MPI_PROC_NULL, behind = w->number < w->workers - 1 ? w->number + 1 : MPI_PROC_NULL;
	double *first = w->p + w->low * w->step, *last = w->p + (w->high - 1) * w->step;
	int n = (int)w->problem->side;
	MPI_Sendrecv(first, n, MPI_DOUBLE, before, 0, last + w->step, n, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(last, n, MPI_DOUBLE, behind, 1, first - w->step, n, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	struct problem o = arguments(argc, argv);
	struct worker w = {.problem = &o, .step = step_of(&o)};
	MPI_Comm_rank(MPI_COMM_WORLD, &w.number);
	MPI_Comm_size(MPI_COMM_WORLD, &w.workers);
	w.low = bound(&o, w.number, w.workers), w.high = bound(&o, w.number + 1, w.workers);
	double **fields[] = {&w.x, &w.r, &w.p, &w.q};
	for (int i = 0; i < 4; i++) {
		*fields[i] = field(&w, w.low, w.high);
		memset(*fields[i] + (w.low - 1) * w.step - 8, 0, (w.high - w.low + 2) * w.step * sizeof(double));
	}
	prepare(&w);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = seconds();
	solve(&w);
	MPI_Barrier(MPI_COMM_WORLD);
	double took = seconds() - start;
	for (int i = 0; o.out && i < w.workers; i++) {
		if (i == w.number)
			append(&w);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (w.number == 0)
		report(&o, took);
	MPI_Finalize();
}
