// Queue locks on a window: D-MCS, RMA-MCS and C-MCS-MCS. A queue stores rank+1, so that zeroed
// memory is an empty queue.

// D-MCS: listings 2 and 3. Uffmann (2022, section 4.3.1) found Put and direct loads of own
// words faster than Accumulate and Get. STATUS is 1 while a process waits.

static void open_dmcs(void) {}

static void acquire_dmcs(int me)
{
	store(NEXT, 0);
	store(STATUS, 1);
	int64_t pred = swap(me + 1, 0, TAIL);
	if (!pred)
		return;
	put(me + 1, pred - 1, NEXT);
	while (load(STATUS))
		progress();
}

static void release_dmcs(int me)
{
	int64_t succ = load(NEXT);
	if (!succ) {
		if (compare_and_swap(0, me + 1, 0, TAIL) == me + 1)
			return;
		while (!(succ = load(NEXT)))
			progress();
	}
	put(0, succ - 1, STATUS);
}

// RMA-MCS: listings 4 and 5 for two levels, the machine and its nodes (section 3.5). A process
// takes the queue of its node and, if it is the first there, the root's. The listings queue up
// at the root with the process that came first, but another one may have to release it. So an
// element has one node at the root, in the memory of its first rank.

enum { WAIT = 1 << 30, ACQUIRE_PARENT, ACQUIRE_START = 1 };

// head is the first rank of this process's element.
static int head;

static void open_tree(void)
{
	int element = (long)rank * asked.nodes / ranks;
	head = 0;
	while ((long)head * asked.nodes / ranks < element)
		head++;
}

// enter_root is for a process that has the queue of its element.
static void enter_root(void)
{
	put(0, head, NEXT);
	put(WAIT, head, STATUS);
	int64_t pred = swap(head + 1, 0, TAIL);
	if (!pred)
		return;
	put(head + 1, pred - 1, NEXT);
	while (get(head, STATUS) == WAIT)
		progress();
}

static void leave_root(void)
{
	int64_t succ = get(head, NEXT);
	if (!succ) {
		if (compare_and_swap(0, head + 1, 0, TAIL) == head + 1)
			return;
		while (!(succ = get(head, NEXT)))
			progress();
	}
	put(ACQUIRE_START, succ - 1, STATUS);
}

static void acquire_tree(int me)
{
	store(NEXT2, 0);
	store(STATUS2, WAIT);
	int64_t pred = swap(me + 1, head, TAIL2);
	if (pred) {
		put(me + 1, pred - 1, NEXT2);
		int64_t status;
		while ((status = load(STATUS2)) == WAIT)
			progress();
		if (status != ACQUIRE_PARENT)
			return;
	}
	store(STATUS2, ACQUIRE_START);
	enter_root();
}

static void release_tree(int me)
{
	int64_t succ = load(NEXT2), status = load(STATUS2);
	if (succ && status < asked.locality) {
		put(status + 1, succ - 1, STATUS2);
		return;
	}
	leave_root();
	if (!succ) {
		if (compare_and_swap(0, me + 1, head, TAIL2) == me + 1)
			return;
		while (!(succ = load(NEXT2)))
			progress();
	}
	put(ACQUIRE_PARENT, succ - 1, STATUS2);
}

// C-MCS-MCS (Uffmann 2022, section 5.4): the lock of a node is an MCS lock in shared memory,
// with C's own atomic operations and no RMA. The lock of the machine is D-MCS with one node for
// each element. The local grant carries the number of hand-overs.

struct waiter {
	_Alignas(LINE) _Atomic int64_t next;
	_Alignas(LINE) _Atomic int64_t status;
	_Alignas(LINE) _Atomic int64_t tail; // of the element whose first rank this is
};
static struct waiter *waiters;
static MPI_Win of_waiters = MPI_WIN_NULL;

static void open_cohort(void)
{
	MPI_Aint size;
	int unit;
	MPI_Win_allocate_shared(sizeof *waiters, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &waiters, &of_waiters);
	memset(waiters, 0, sizeof *waiters);
	MPI_Win_shared_query(of_waiters, 0, &size, &unit, &waiters);
	open_tree();
}

static void acquire_cohort(int me)
{
	struct waiter *w = &waiters[me];
	atomic_store_explicit(&w->next, 0, memory_order_relaxed);
	atomic_store_explicit(&w->status, WAIT, memory_order_relaxed);
	int64_t pred = atomic_exchange(&waiters[head].tail, me + 1);
	if (pred) {
		atomic_store_explicit(&waiters[pred - 1].next, me + 1, memory_order_release);
		int64_t status;
		while ((status = atomic_load_explicit(&w->status, memory_order_acquire)) == WAIT)
			progress();
		if (status != ACQUIRE_PARENT)
			return;
	}
	atomic_store_explicit(&w->status, ACQUIRE_START, memory_order_relaxed);
	enter_root();
}

static void release_cohort(int me)
{
	struct waiter *w = &waiters[me];
	int64_t succ = atomic_load_explicit(&w->next, memory_order_acquire);
	int64_t status = atomic_load_explicit(&w->status, memory_order_relaxed);
	if (succ && status < asked.locality) {
		atomic_store_explicit(&waiters[succ - 1].status, status + 1, memory_order_release);
		return;
	}
	leave_root();
	if (!succ) {
		int64_t self = me + 1;
		if (atomic_compare_exchange_strong(&waiters[head].tail, &self, 0))
			return;
		while (!(succ = atomic_load_explicit(&w->next, memory_order_acquire)))
			progress();
	}
	atomic_store_explicit(&waiters[succ - 1].status, ACQUIRE_PARENT, memory_order_release);
}
