// The schedule of a task graph, as Schedule.write writes it, and the tasks that all peers run.
// They are those of runner.go: the same checks, kernels and checksum.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __FMA__
#include <immintrin.h>
#endif

enum { EMPTY, COMPUTE_BOUND, MEMORY_BOUND, LOAD_IMBALANCE };
enum { SCRATCH_MARK = 0x5c, LINE = 64 };

struct pair {
	int64_t step, column;
};

struct list {
	long count, *columns;
};

struct column {
	long first, last;
	struct list start, *inputs; // inputs by set
};

// tally is what the tasks of a column have done. Each has its own cache line.
struct tally {
	_Alignas(LINE) uint64_t tasks, sum;
	double product;
};

struct schedule {
	long steps, width, sets, set0, fields, kernel, iterations, samples, pairs, scratch;
	struct column *columns;
	long *loads;
	struct tally *tallies;
	char **scratches;
	struct pair ***outputs; // by field and column
	char *wrong;            // what a task has found
};

static void *need(void *p)
{
	if (p == NULL) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

// aligned returns zeroed memory in cache lines of its own.
static void *aligned(size_t bytes)
{
	size_t lines = (bytes + LINE) / LINE * LINE;
	return memset(need(aligned_alloc(LINE, lines)), 0, lines);
}

static void *several(size_t n, size_t bytes) { return need(calloc(n + 1, bytes)); }

static inline long set_of(const struct schedule *s, long step) { return s->sets == 1 ? 0 : (step + s->set0) % s->sets; }

static inline int active(const struct schedule *s, long step, long c)
{
	return s->columns[c].first <= step && step <= s->columns[c].last;
}

static inline const struct list *inputs_of(const struct schedule *s, long step, long c)
{
	const struct column *col = &s->columns[c];
	return step == col->first ? &col->start : &col->inputs[set_of(s, step)];
}

static inline struct pair *output_of(const struct schedule *s, long step, long c) { return s->outputs[step % s->fields][c]; }

// square is x*x + x, rounded once where the processor can. gcc fuses no such chain by itself on each processor.
typedef double four __attribute__((vector_size(32)));
static inline four square(four x)
{
#ifdef __FMA__
	return _mm256_fmadd_pd(x, x, x);
#else
	return x * x + x;
#endif
}

// compute repeats x = x*x + x in 16 vectors of four lanes. All begin with the same values, so gcc would compute only one
// of them: the empty assembly hides from it what they are.
static double compute(long iterations)
{
	four x[16];
#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) {
		x[i] = (four){4, 3, 2, 1};
		__asm__("" : "+x"(x[i]));
	}
	for (long n = 0; n < iterations; n++)
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++)
			x[i] = square(x[i]);
	double product = 1;
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 4; j++)
			product *= x[i][j];
	return product;
}

static void memory(char *scratch, long bytes, long samples, long iterations, long step)
{
	long size = bytes / samples, at = step * iterations % samples;
	while (iterations > 0) {
		long n = iterations < samples - at ? iterations : samples - at, half = n * size / 2;
		memcpy(scratch + at * size + half, scratch + at * size, half);
		iterations -= n;
		at = (at + n) % samples;
	}
}

static inline uint64_t mix(uint64_t hash, int64_t step, int64_t column)
{
	hash = (hash ^ (uint64_t)((step << 32) + column)) * 0x9e3779b97f4a7c15u;
	return hash << 31 | hash >> 33;
}

// complain keeps the first thing that is wrong.
static void complain(struct schedule *s, const char *what, long step, long c)
{
	char *text = need(malloc(100));
	snprintf(text, 100, "%s: step %ld, column %ld", what, step, c);
	if (!__sync_bool_compare_and_swap(&s->wrong, NULL, text))
		free(text);
}

// run_task runs the task of a column in a step. Its inputs are where they belong.
static void run_task(struct schedule *s, long step, long c)
{
	const struct list *inputs = inputs_of(s, step, c);
	uint64_t hash = 0;
	for (long i = 0; i < inputs->count; i++) {
		long d = inputs->columns[i];
		const struct pair *in = output_of(s, step - 1, d);
		for (long k = 0; k < s->pairs; k++)
			if (in[k].step != step - 1 || in[k].column != d)
				complain(s, "wrong input", step, c);
		hash = mix(hash, in->step, in->column);
	}
	struct pair *out = output_of(s, step, c);
	for (long k = 0; k < s->pairs; k++)
		out[k] = (struct pair){step, c};
	long n = s->loads ? s->loads[step * s->width + c] : s->iterations;
	struct tally *t = &s->tallies[c];
	if (s->kernel == COMPUTE_BOUND || s->kernel == LOAD_IMBALANCE)
		t->product = compute(n);
	else if (s->kernel == MEMORY_BOUND)
		memory(s->scratches[c], s->scratch, s->samples, n, step);
	if (s->scratch > 0 && (s->scratches[c][0] != SCRATCH_MARK || s->scratches[c][s->scratch - 1] != SCRATCH_MARK))
		complain(s, "wrong scratch", step, c);
	// Patterns in which a column does not read itself run its steps at the same time.
	__atomic_fetch_add(&t->sum, mix(hash, step, c), __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->tasks, 1, __ATOMIC_RELAXED);
}

static FILE *input;

// read_number returns 0 at the end of the input.
static int read_number(long *n) { return fscanf(input, "%ld", n) == 1; }

static long number(void)
{
	long n;
	if (!read_number(&n)) {
		fprintf(stderr, "the schedule ends early\n");
		exit(1);
	}
	return n;
}

static struct list read_list(void)
{
	struct list l = {.count = number()};
	l.columns = several(l.count, sizeof(long));
	for (long i = 0; i < l.count; i++)
		l.columns[i] = number();
	return l;
}

static void read_schedule(struct schedule *s)
{
	struct list head = read_list();
	memset(s, 0, sizeof *s);
	memcpy(s, head.columns, 10 * sizeof(long)); // the fields are in this order
	free(head.columns);
	s->columns = several(s->width, sizeof(struct column));
	for (long c = 0; c < s->width; c++) {
		struct column *col = &s->columns[c];
		struct list range = read_list();
		col->first = range.columns[0], col->last = range.columns[1];
		free(range.columns);
		col->start = read_list();
		col->inputs = several(s->sets, sizeof(struct list));
		for (long set = 0; set < s->sets; set++)
			col->inputs[set] = read_list();
	}
	if (s->kernel == LOAD_IMBALANCE) {
		s->loads = several(s->steps * s->width, sizeof(long));
		for (long i = 0; i < s->steps * s->width; i++)
			s->loads[i] = number();
	}
	s->tallies = aligned(s->width * sizeof(struct tally));
	s->scratches = several(s->width, sizeof(char *));
	s->outputs = several(s->fields, sizeof(struct pair **));
	for (long c = 0; c < s->width; c++)
		s->scratches[c] = memset(aligned(s->scratch), SCRATCH_MARK, s->scratch);
	for (long f = 0; f < s->fields; f++) {
		s->outputs[f] = several(s->width, sizeof(struct pair *));
		for (long c = 0; c < s->width; c++)
			s->outputs[f][c] = aligned(s->pairs * sizeof(struct pair));
	}
}

static void free_schedule(struct schedule *s)
{
	for (long f = 0; f < s->fields; f++) {
		for (long c = 0; c < s->width; c++)
			free(s->outputs[f][c]);
		free(s->outputs[f]);
	}
	for (long c = 0; c < s->width; c++) {
		free(s->scratches[c]);
		free(s->columns[c].start.columns);
		for (long set = 0; set < s->sets; set++)
			free(s->columns[c].inputs[set].columns);
		free(s->columns[c].inputs);
	}
	free(s->outputs), free(s->scratches), free(s->tallies), free(s->loads), free(s->columns), free(s->wrong);
}
