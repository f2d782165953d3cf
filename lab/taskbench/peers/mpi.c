// Task graphs with MPI: each process has contiguous columns. Before a step it exchanges the
// outputs of the last one with all others at once, each column once for each process.
#include "schedule.h"
#include <mpi.h>

static int me, processes;

// message brings the output of a column to a process.
struct message {
	long column;
	int to;
	struct list readers; // columns there
};

struct graph {
	struct schedule schedule;
	MPI_Comm world;
	struct message **messages; // by set: those from or to this process
	long *counts;
};

static int owner(const struct schedule *s, long c)
{
	int p = c * processes / s->width;
	while ((p + 1) * s->width / processes <= c)
		p++;
	while (p * s->width / processes > c)
		p--;
	return p;
}

// plan_set finds the messages of a set of dependences.
static void plan_set(struct graph *g, long set)
{
	struct schedule *s = &g->schedule;
	long room = 0, count = 0;
	struct message *all = NULL;
	for (int to = 0; to < processes; to++) {
		long *found = several(s->width, sizeof(long)); // number of the message, plus 1
		for (long c = 0; c < s->width; c++) {
			if (owner(s, c) != to)
				continue;
			struct list *in = &s->columns[c].inputs[set];
			for (long i = 0; i < in->count; i++) {
				long d = in->columns[i];
				if (owner(s, d) == to || (owner(s, d) != me && to != me))
					continue;
				if (!found[d]) {
					if (count == room)
						all = need(realloc(all, (room = 2 * room + 8) * sizeof *all));
					all[count] = (struct message){.column = d, .to = to, .readers.columns = several(s->width, sizeof(long))};
					found[d] = ++count;
				}
				struct list *readers = &all[found[d] - 1].readers;
				readers->columns[readers->count++] = c;
			}
		}
		free(found);
	}
	for (long i = 0; i < count; i++)
		all[i].readers.columns = need(realloc(all[i].readers.columns, (all[i].readers.count + 1) * sizeof(long)));
	g->messages[set] = all;
	g->counts[set] = count;
}

// due says whether a message is for a task of this step.
static int due(const struct schedule *s, const struct message *m, long step)
{
	if (!active(s, step - 1, m->column))
		return 0;
	for (long i = 0; i < m->readers.count; i++)
		if (active(s, step, m->readers.columns[i]))
			return 1;
	return 0;
}

static void run_step(struct graph *g, long step, MPI_Request *requests)
{
	struct schedule *s = &g->schedule;
	long set = set_of(s, step);
	int n = 0;
	for (long i = 0; i < g->counts[set]; i++) {
		const struct message *m = &g->messages[set][i];
		if (step == 0 || !due(s, m, step))
			continue;
		struct pair *at = output_of(s, step - 1, m->column);
		int bytes = s->pairs * sizeof *at;
		if (m->to == me)
			MPI_Irecv(at, bytes, MPI_BYTE, owner(s, m->column), m->column, g->world, &requests[n++]);
		else
			MPI_Isend(at, bytes, MPI_BYTE, m->to, m->column, g->world, &requests[n++]);
	}
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	for (long c = me * s->width / processes; c < (me + 1) * s->width / processes; c++)
		if (active(s, step, c))
			run_task(s, step, c);
}

// receive_job gives all processes the text of a job. It returns 0 at the end of the input.
static int receive_job(void)
{
	long bytes = 0;
	char *text = NULL;
	input = stdin;
	if (me == 0 && read_number(&bytes)) {
		text = need(malloc(bytes + 1));
		getchar(); // the end of the line
		if (fread(text, 1, bytes, stdin) != (size_t)bytes)
			bytes = 0;
	}
	MPI_Bcast(&bytes, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	if (bytes == 0)
		return 0;
	if (me != 0)
		text = need(malloc(bytes + 1));
	MPI_Bcast(text, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
	text[bytes] = 0;
	input = need(fmemopen(text, bytes, "r"));
	return 1;
}

static void run_job(void)
{
	long count = number(), steps = 0, most = 0;
	struct graph *all = several(count, sizeof *all);
	for (long i = 0; i < count; i++) {
		struct graph *g = &all[i];
		read_schedule(&g->schedule);
		MPI_Comm_dup(MPI_COMM_WORLD, &g->world);
		g->messages = several(g->schedule.sets, sizeof *g->messages);
		g->counts = several(g->schedule.sets, sizeof *g->counts);
		for (long set = 0; set < g->schedule.sets; set++) {
			plan_set(g, set);
			most = g->counts[set] > most ? g->counts[set] : most;
		}
		steps = g->schedule.steps > steps ? g->schedule.steps : steps;
	}
	MPI_Request *requests = several(most, sizeof *requests);

	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	for (long step = 0; step < steps; step++)
		for (long i = 0; i < count; i++)
			if (step < all[i].schedule.steps)
				run_step(&all[i], step, requests);
	MPI_Barrier(MPI_COMM_WORLD);
	double took = MPI_Wtime() - start;

	uint64_t own[3] = {0}, sum[3]; // tasks, checksum, processes with something wrong
	for (long i = 0; i < count; i++) {
		struct schedule *s = &all[i].schedule;
		for (long c = 0; c < s->width; c++)
			own[0] += s->tallies[c].tasks, own[1] += s->tallies[c].sum;
		if (s->wrong)
			fprintf(stderr, "process %d: %s\n", me, s->wrong), own[2] = 1;
	}
	MPI_Reduce(own, sum, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0 && sum[2])
		printf("%ld processes found something wrong\n", (long)sum[2]);
	else if (me == 0)
		printf("done %.9g %lu %lx\n", took, sum[0], sum[1]);
	fflush(stdout);
	free(requests);
	for (long i = 0; i < count; i++) {
		for (long set = 0; set < all[i].schedule.sets; set++) {
			for (long m = 0; m < all[i].counts[set]; m++)
				free(all[i].messages[set][m].readers.columns);
			free(all[i].messages[set]);
		}
		free(all[i].messages), free(all[i].counts);
		MPI_Comm_free(&all[i].world);
		free_schedule(&all[i].schedule);
	}
	free(all);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &processes);
	while (receive_job()) {
		run_job();
		fclose(input);
	}
	MPI_Finalize();
}
