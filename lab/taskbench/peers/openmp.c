// Task graphs with OpenMP: a task for each column and step, ordered by depend clauses.
#include "schedule.h"
#include <omp.h>
#include <time.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define INPUT(i) ((char *)output_of(s, step - 1, in->columns[i]))[0]
// TASK makes a task. If a column has a scratch, its tasks take turns with it.
#define TASK(...)                                                                     \
	if (own) {                                                                    \
		PRAGMA(omp task __VA_ARGS__ depend(out : out[0]) depend(inout : own[0])) \
		run_task(s, step, c);                                                 \
	} else {                                                                      \
		PRAGMA(omp task __VA_ARGS__ depend(out : out[0]))                     \
		run_task(s, step, c);                                                 \
	}

// create makes the task of a column in a step. Few inputs are named one by one, which costs less.
static void create(struct schedule *s, long step, long c)
{
	const struct list *in = inputs_of(s, step, c);
	char *out __attribute__((unused)) = (char *)output_of(s, step, c);
	char *own = s->scratch > 0 ? s->scratches[c] : NULL;
	switch (in->count) {
	case 0:
		TASK()
		break;
	case 1:
		TASK(depend(in : INPUT(0)))
		break;
	case 2:
		TASK(depend(in : INPUT(0), INPUT(1)))
		break;
	case 3:
		TASK(depend(in : INPUT(0), INPUT(1), INPUT(2)))
		break;
	default:
		TASK(depend(iterator(long i = 0 : in->count), in : INPUT(i)))
	}
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void)
{
	long bytes;
	for (input = stdin; read_number(&bytes);) {
		long count = number();
		struct schedule *all = several(count, sizeof *all);
		long steps = 0;
		for (long g = 0; g < count; g++) {
			read_schedule(&all[g]);
			steps = all[g].steps > steps ? all[g].steps : steps;
		}
		// With 64 tasks for each thread, gcc's OpenMP has the thread that makes tasks run the next one at once. That
		// thread then sleeps until all are done which that task reads. So it works off the tasks before there are so
		// many. Task Bench's own program does not, and takes 1.3 to 2.4 times as long.
		long made = 0, most = 24 * omp_get_max_threads();
		double start = seconds();
#pragma omp parallel
#pragma omp single
		for (long step = 0; step < steps; step++)
			for (long g = 0; g < count; g++)
				for (long c = 0; c < all[g].width; c++) {
					if (!active(&all[g], step, c))
						continue;
					if (++made % most == 0) {
#pragma omp taskwait
					}
					create(&all[g], step, c);
				}
		double took = seconds() - start;

		uint64_t tasks = 0, sum = 0;
		const char *wrong = NULL;
		for (long g = 0; g < count; g++) {
			for (long c = 0; c < all[g].width; c++)
				tasks += all[g].tallies[c].tasks, sum += all[g].tallies[c].sum;
			wrong = all[g].wrong ? all[g].wrong : wrong;
		}
		if (wrong)
			printf("%s\n", wrong);
		else
			printf("done %.9g %lu %lx\n", took, tasks, sum);
		fflush(stdout);
		for (long g = 0; g < count; g++)
			free_schedule(&all[g]);
		free(all);
	}
}
