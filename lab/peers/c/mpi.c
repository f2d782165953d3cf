// Locks on MPI-3 RMA. Each worker is a process. MPI_Win_lock is the library's own; the others
// are written from their papers (mpi_queues.h), once for every MPI.
#include "bench.h"
#include <mpi.h>
#include "mpi_window.h"
#include "mpi_queues.h"

// MPI_Win_lock of rank 0's memory. A section has an operation, as MPI may put off the lock
// until there is one (Uffmann 2022, section 4.2).
static MPI_Win theirs = MPI_WIN_NULL;
static int64_t *their_memory;

static void open_theirs(void)
{
	MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &their_memory, &theirs);
}

static void lock_theirs(int how)
{
	int64_t word;
	MPI_Win_lock(how, 0, 0, theirs);
	MPI_Get(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, theirs);
	MPI_Win_flush(0, theirs);
}

static void acquire_theirs(int me) { lock_theirs(MPI_LOCK_EXCLUSIVE); }
static void read_theirs(int me) { lock_theirs(MPI_LOCK_SHARED); }
static void release_theirs(int me) { MPI_Win_unlock(0, theirs); }

static const struct lock locks[] = {
	{"MPI_Win_lock", open_theirs, acquire_theirs, release_theirs, read_theirs, release_theirs},
	{"D-MCS", open_dmcs, acquire_dmcs, release_dmcs},
	{"RMA-MCS", open_tree, acquire_tree, release_tree},
	{"C-MCS-MCS", open_cohort, acquire_cohort, release_cohort},
};

// The word of SOB and WCSB is at rank 0.
static uint64_t read_word(void) { return get(0, COUNTER); }
static void write_word(uint64_t value) { put(value, 0, COUNTER); }

// share_memory is zeroed, on rank 0, and all processes see it. They run on one machine. MPI does not
// align it to a line, and a store of 64 bytes (AVX-512) fails elsewhere. Maps begin with a page, so all
// processes round up by as much.
static void *share_memory(size_t bytes, MPI_Win *window)
{
	void *memory;
	MPI_Aint size;
	int unit;
	MPI_Win_allocate_shared(rank == 0 ? bytes + LINE : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, window);
	MPI_Win_shared_query(*window, 0, &size, &unit, &memory);
	memory = (void *)(((uintptr_t)memory + LINE - 1) & -(uintptr_t)LINE);
	if (rank == 0)
		memset(memory, 0, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	return memory;
}

int main(int argc, char **argv)
{
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	read_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	asked.workers = ranks;
	crowded = ranks > sysconf(_SC_NPROCESSORS_ONLN);
	const struct lock *l = lock_named(locks, sizeof locks / sizeof *locks);
	MPI_Win seen, results;
	all = share_memory(sizeof *all, &seen);
	struct worker *workers = share_memory(ranks * sizeof *workers, &results);
	open_window();
	l->open();
	MPI_Barrier(MPI_COMM_WORLD);
	pthread_t timer;
	if (rank == 0)
		pthread_create(&timer, NULL, keep_time, NULL);
	atomic_fetch_add(&all->ready, 1);
	measure(l, rank, &workers[rank]);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		pthread_join(timer, NULL);
		report(workers);
		fflush(stdout);
	}
	close_window();
	if (of_waiters != MPI_WIN_NULL)
		MPI_Win_free(&of_waiters);
	if (theirs != MPI_WIN_NULL)
		MPI_Win_free(&theirs);
	MPI_Win_free(&results);
	MPI_Win_free(&seen);
	MPI_Finalize();
}
