// Workers that are threads, or processes that share memory.
#include "bench.h"
#include <sys/mman.h>
#include <sys/wait.h>

static char *arena;
static size_t taken;
enum { ARENA = 1 << 24 };

// shared_memory is zeroed, begins a cache line, and all workers see it.
static void *shared_memory(size_t bytes)
{
	if (!arena) {
		arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (arena == MAP_FAILED)
			complain("mmap:", "no shared memory");
	}
	void *p = arena + taken;
	taken += (bytes + 2 * LINE - 1) / LINE * LINE;
	if (taken > ARENA)
		complain("shared memory:", "too many workers");
	return p;
}

static uint64_t read_word(void) { return all->counter; }
static void write_word(uint64_t value) { all->counter = value; }

static const struct lock *measured;
static struct worker *workers;

static void *begin(void *number)
{
	int me = (intptr_t)number;
	atomic_fetch_add(&all->ready, 1);
	measure(measured, me, &workers[me]);
	return NULL;
}

static void run_threads(pthread_t *threads)
{
	for (intptr_t i = 0; i < asked.workers; i++)
		if (pthread_create(&threads[i], NULL, begin, (void *)i))
			complain("pthread_create:", "too many threads");
}

static void run_processes(void)
{
	for (intptr_t i = 0; i < asked.workers; i++) {
		pid_t child = fork();
		if (child < 0)
			complain("fork:", "too many processes");
		if (child == 0) {
			begin((void *)i);
			_exit(0);
		}
	}
}

static int run(const struct lock *locks, int count, int argc, char **argv)
{
	read_arguments(argc, argv);
	measured = lock_named(locks, count);
	benchmark_named();
	all = shared_memory(sizeof *all);
	workers = shared_memory(asked.workers * sizeof *workers);
	measured->open();
	pthread_t timer, *threads = calloc(asked.workers, sizeof *threads);
	if (asked.processes)
		run_processes();
	else
		run_threads(threads);
	pthread_create(&timer, NULL, keep_time, NULL);
	pthread_join(timer, NULL);
	for (int i = 0; i < asked.workers; i++) {
		int status = 0;
		if (!asked.processes)
			pthread_join(threads[i], NULL);
		else if (wait(&status) < 0 || status)
			complain("wait:", "a process failed");
	}
	report(workers);
	return 0;
}
