// The calls of listing 1 of Schmid, Besta and Hoefler (HPDC'16) on a window of MPI-3 RMA.
// Every word has a cache line of its own (Uffmann 2022, figure 3.4). All processes run on one
// machine, so the window is one of shared memory: the fastest kind of both libraries. Open MPI
// 4.1.4 crashes with the other kind here (osc/rdma over btl/vader).

// The words of each rank.
enum {
	COUNTER,                // what SOB and WCSB operate on
	TAIL, NEXT, STATUS,     // of D-MCS and of the root
	TAIL2, NEXT2, STATUS2,  // of the element
	WORDS
};

static int rank, ranks;
static int crowded; // there are more processes than processors
static MPI_Win window;
static volatile int64_t *own;

static void open_window(void)
{
	MPI_Win_allocate_shared(WORDS * LINE, LINE, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
	memset((void *)own, 0, WORDS * LINE);
	MPI_Win_sync(window);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(void)
{
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
}

static void put(int64_t value, int target, int word)
{
	MPI_Put(&value, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window);
	MPI_Win_flush(target, window);
}

static int64_t get(int target, int word)
{
	int64_t value;
	MPI_Get(&value, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window);
	MPI_Win_flush(target, window);
	return value;
}

static int64_t swap(int64_t value, int target, int word)
{
	int64_t old;
	MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, word, MPI_REPLACE, window);
	MPI_Win_flush(target, window);
	return old;
}

static int64_t compare_and_swap(int64_t value, int64_t expected, int target, int word)
{
	int64_t old;
	MPI_Compare_and_swap(&value, &expected, &old, MPI_INT64_T, target, word, window);
	MPI_Win_flush(target, window);
	return old;
}

// load reads a word of this process directly, as the authors' program does where it waits.
static int64_t load(int word) { return __atomic_load_n(&own[word * (LINE / 8)], __ATOMIC_ACQUIRE); }

// store writes a word of this process directly.
static void store(int word, int64_t value)
{
	own[word * (LINE / 8)] = value;
	MPI_Win_sync(window);
}

// progress is what a waiting process does between two looks. MPI_Iprobe makes the library go
// on (Uffmann 2022, section 3.3). A process yields if another one may need the processor.
static void progress(void)
{
	int flag;
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Win_sync(window);
	if (crowded)
		sched_yield();
	else
		pause_once();
}
