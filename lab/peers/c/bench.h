// The benchmarks of the papers, for any lock in C. One call measures one lock:
//
//	peer LOCK BENCHMARK WORKERS NODES F_W SECONDS TURNS T_L PROCESSES CHECKED INSIDE OUTSIDE SEED
//
// The workers acquire and release until the time is over. The first tenth warms up and is not
// counted. If TURNS is above 0, each worker counts so many sections instead, after a tenth more. If CHECKED is 1, each section looks for others that should not be there, with the
// same reads and writes as our own benchmark. INSIDE and OUTSIDE are more work, in nanoseconds.
// The result is one line of JSON.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64 };

// What a run is asked to do.
static struct {
	const char *lock, *benchmark;
	int workers, nodes;
	double writes, seconds; // the share of writers (F_W), the counted time
	uint64_t turns;         // counted sections of each worker, or 0
	long locality;          // T_L
	int processes;          // workers are processes, not threads
	int checked;
	double inside, outside; // more work, in seconds
	uint64_t seed;
} asked;

// A lock. A lock that does not tell readers from writers has no read.
struct lock {
	const char *name;
	void (*open)(void);
	void (*acquire)(int me);
	void (*release)(int me);
	void (*acquire_read)(int me);
	void (*release_read)(int me);
};

// The benchmarks.
enum benchmark { LATENCY, EMPTY, SINGLE_OPERATION, CRITICAL_WORK, OUTSIDE_WORK };
static const struct {
	const char *name;
	enum benchmark kind;
} benchmarks[] = {
	{"LB", LATENCY}, {"ECSB", EMPTY}, {"SOB", SINGLE_OPERATION}, {"WCSB", CRITICAL_WORK}, {"WARB", OUTSIDE_WORK},
};

// The line that every section looks at: who writes, how many have written, who was the last.
struct witness { _Alignas(LINE) volatile uint64_t owner, changes, last; };

// What all workers see. stage is what a section counts for.
enum { WARMING, COUNTED, OVER };
struct shared {
	_Alignas(LINE) _Atomic int stage;
	_Alignas(LINE) _Atomic int ready;
	struct witness witness;
	_Alignas(LINE) volatile uint64_t counter; // of SOB and WCSB
	double counted; // seconds
};

// What one worker has done.
struct worker {
	_Alignas(LINE) uint64_t sections, wrong;
	double seconds; // that were counted, with TURNS
	double latency; // seconds of acquire and release, in LB
};

static struct shared *all;

static void complain(const char *what, const char *which)
{
	fprintf(stderr, "%s %s\n", what, which);
	exit(2);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// draw is a random number (xorshift).
static inline uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

// spin works for a time.
static void spin_for(double seconds)
{
	for (double end = now() + seconds; now() < end;)
		;
}

// work works for 1 to 4 microseconds, and for some time more.
static void work(uint64_t *state, double more)
{
	spin_for(1e-6 + 3e-6 * (draw(state) >> 11) * 0x1p-53 + more);
}

// pause_once tells the processor that this thread spins.
static inline void pause_once(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void read_arguments(int argc, char **argv)
{
	if (argc != 14)
		complain("usage:", "LOCK BENCHMARK WORKERS NODES F_W SECONDS TURNS T_L PROCESSES CHECKED INSIDE OUTSIDE SEED");
	asked.lock = argv[1];
	asked.benchmark = argv[2];
	asked.workers = atoi(argv[3]);
	asked.nodes = atoi(argv[4]);
	asked.writes = atof(argv[5]);
	asked.seconds = atof(argv[6]);
	asked.turns = strtoull(argv[7], NULL, 10);
	asked.locality = atol(argv[8]);
	asked.processes = atoi(argv[9]);
	asked.checked = atoi(argv[10]);
	asked.inside = 1e-9 * atof(argv[11]);
	asked.outside = 1e-9 * atof(argv[12]);
	asked.seed = strtoull(argv[13], NULL, 10);
}

static const struct lock *lock_named(const struct lock *locks, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(locks[i].name, asked.lock) == 0)
			return &locks[i];
	complain("no such lock:", asked.lock);
	return NULL;
}

static enum benchmark benchmark_named(void)
{
	for (unsigned i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++)
		if (strcmp(benchmarks[i].name, asked.benchmark) == 0)
			return benchmarks[i].kind;
	complain("no such benchmark:", asked.benchmark);
	return EMPTY;
}

// read_word and write_word are of the word that SOB and WCSB use. A peer whose memory is remote has
// its own.
static uint64_t read_word(void);
static void write_word(uint64_t value);

// enter looks at the witness when a section begins, and returns what leave has to find.
static inline uint64_t enter(int me, int write, struct worker *w)
{
	struct witness *line = &all->witness;
	w->wrong += line->owner != 0;
	(void)line->last;
	uint64_t changes = line->changes;
	if (write)
		line->owner = line->last = me + 1;
	return changes;
}

static inline void leave(int me, int write, uint64_t changes, struct worker *w)
{
	struct witness *line = &all->witness;
	w->wrong += line->owner != (write ? (uint64_t)me + 1 : 0) || line->changes != changes;
	if (write) {
		line->owner = 0;
		line->changes = changes + 1;
	}
}

// section is what a worker does while it holds the lock.
static inline void section(enum benchmark kind, uint64_t *state)
{
	switch (kind) {
	case SINGLE_OPERATION:
		read_word();
		break;
	case CRITICAL_WORK:
		write_word(read_word() + 1);
		work(state, asked.inside);
		return;
	default:
		break;
	}
	if (asked.inside > 0)
		spin_for(asked.inside);
}

// stage_of is what a worker's next section counts for.
static inline int stage_of(uint64_t *warming, struct worker *w)
{
	if (!asked.turns)
		return atomic_load_explicit(&all->stage, memory_order_relaxed);
	if (*warming > 0) {
		if (--*warming == 0)
			w->seconds = now();
		return WARMING;
	}
	if (w->sections < asked.turns)
		return COUNTED;
	w->seconds = now() - w->seconds;
	return OVER;
}

// measure is what a worker does.
static void measure(const struct lock *l, int me, struct worker *result)
{
	enum benchmark kind = benchmark_named();
	struct worker w = {0};
	uint64_t state = (asked.seed + 1) * 0x9e3779b97f4a7c15u + me * 0xbf58476d1ce4e5b9u + 1;
	uint64_t writers = asked.writes >= 1 || !l->acquire_read ? UINT64_MAX : (uint64_t)(asked.writes * 0x1p64);
	uint64_t warming = asked.turns / 10 + 1;
	for (int stage; (stage = stage_of(&warming, &w)) != OVER;) {
		int write = writers == UINT64_MAX || draw(&state) < writers;
		double comes = kind == LATENCY ? now() : 0;
		(write ? l->acquire : l->acquire_read)(me);
		uint64_t changes = asked.checked ? enter(me, write, &w) : 0;
		double has = kind == LATENCY ? now() : 0;
		section(kind, &state);
		double goes = kind == LATENCY ? now() : 0;
		if (asked.checked)
			leave(me, write, changes, &w);
		(write ? l->release : l->release_read)(me);
		if (kind == LATENCY)
			w.latency += stage * (has - comes + now() - goes);
		else if (kind == OUTSIDE_WORK)
			work(&state, asked.outside);
		else if (asked.outside > 0)
			spin_for(asked.outside);
		w.sections += stage;
	}
	*result = w;
}

// keep_time is a thread that says when the counted time begins and ends.
static void *keep_time(void *unused)
{
	(void)unused;
	if (asked.turns)
		return NULL;
	while (atomic_load(&all->ready) < asked.workers)
		usleep(100);
	usleep(1e6 * asked.seconds / 9);
	double begin = now();
	atomic_store(&all->stage, COUNTED);
	usleep(1e6 * asked.seconds);
	atomic_store(&all->stage, OVER);
	all->counted = now() - begin;
	return NULL;
}

// report prints the result.
static void report(const struct worker *workers)
{
	uint64_t wrong = 0;
	printf("{\"seconds\":[");
	for (int i = 0; i < asked.workers; i++)
		printf(i ? ",%.9g" : "%.9g", asked.turns ? workers[i].seconds : all->counted);
	printf("],\"sections\":[");
	for (int i = 0; i < asked.workers; i++) {
		printf(i ? ",%lu" : "%lu", workers[i].sections);
		wrong += workers[i].wrong;
	}
	printf("],\"latency\":[");
	for (int i = 0; i < asked.workers; i++)
		printf(i ? ",%.9g" : "%.9g", workers[i].latency);
	printf("],\"wrong\":%lu}\n", wrong);
}
