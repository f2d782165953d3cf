// The locks of Concurrency Kit. All spin and none yields.
#include "threads.h"
#include <ck_brlock.h>
#include <ck_cohort.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>

// ONE declares a lock of one structure: what opens it, acquires and releases it.
#define ONE(name, type, init, lock, unlock)                                             \
	static type *name;                                                              \
	static void open_##name(void) { init(name = shared_memory(sizeof *name)); }     \
	static void acquire_##name(int me) { lock(name); }                              \
	static void release_##name(int me) { unlock(name); }

ONE(fas, ck_spinlock_fas_t, ck_spinlock_fas_init, ck_spinlock_fas_lock, ck_spinlock_fas_unlock)
ONE(ticket, ck_spinlock_ticket_t, ck_spinlock_ticket_init, ck_spinlock_ticket_lock, ck_spinlock_ticket_unlock)
ONE(rwlock, ck_rwlock_t, ck_rwlock_init, ck_rwlock_write_lock, ck_rwlock_write_unlock)
ONE(pflock, ck_pflock_t, ck_pflock_init, ck_pflock_write_lock, ck_pflock_write_unlock)
ONE(brlock, ck_brlock_t, ck_brlock_init, ck_brlock_write_lock, ck_brlock_write_unlock)

static void read_rwlock(int me) { ck_rwlock_read_lock(rwlock); }
static void unread_rwlock(int me) { ck_rwlock_read_unlock(rwlock); }
static void read_pflock(int me) { ck_pflock_read_lock(pflock); }
static void unread_pflock(int me) { ck_pflock_read_unlock(pflock); }

// Each reader of a big-reader lock has a counter of its own.
struct reader { _Alignas(LINE) ck_brlock_reader_t of; };
static struct reader *readers;

static void open_brlock_and_readers(void)
{
	open_brlock();
	readers = shared_memory(asked.workers * sizeof *readers);
	for (int i = 0; i < asked.workers; i++)
		ck_brlock_read_register(brlock, &readers[i].of);
}

static void read_brlock(int me) { ck_brlock_read_lock(brlock, &readers[me].of); }
static void unread_brlock(int me) { ck_brlock_read_unlock(&readers[me].of); }

// A queue, and a node for each worker.
struct node { _Alignas(LINE) ck_spinlock_mcs_context_t of; };
static ck_spinlock_mcs_t *mcs;
static struct node *nodes;

static void open_mcs(void)
{
	mcs = shared_memory(sizeof *mcs);
	nodes = shared_memory(asked.workers * sizeof *nodes);
	ck_spinlock_mcs_init(mcs);
}

static void acquire_mcs(int me) { ck_spinlock_mcs_lock(mcs, &nodes[me].of); }
static void release_mcs(int me) { ck_spinlock_mcs_unlock(mcs, &nodes[me].of); }

// A worker of CLH goes on with the node of its predecessor.
struct place { _Alignas(LINE) ck_spinlock_clh_t of; };
struct own { _Alignas(LINE) ck_spinlock_clh_t *place; };
static ck_spinlock_clh_t **clh;
static struct own *owns;

static void open_clh(void)
{
	clh = shared_memory(sizeof *clh);
	struct place *places = shared_memory((asked.workers + 1) * sizeof *places);
	owns = shared_memory(asked.workers * sizeof *owns);
	ck_spinlock_clh_init(clh, &places[asked.workers].of);
	for (int i = 0; i < asked.workers; i++)
		owns[i].place = &places[i].of;
}

static void acquire_clh(int me) { ck_spinlock_clh_lock(clh, owns[me].place); }
static void release_clh(int me) { ck_spinlock_clh_unlock(&owns[me].place); }

// C-TKT-TKT: a ticket lock for each node, and one for all.
static void ticket_lock(void *l, void *c) { ck_spinlock_ticket_lock(l); }
static void ticket_unlock(void *l, void *c) { ck_spinlock_ticket_unlock(l); }
static bool ticket_locked(void *l, void *c) { return ck_spinlock_ticket_locked(l); }
CK_COHORT_PROTOTYPE(tickets, ticket_lock, ticket_unlock, ticket_locked, ticket_lock, ticket_unlock, ticket_locked)

struct team {
	_Alignas(LINE) CK_COHORT_INSTANCE(tickets) cohort;
	_Alignas(LINE) ck_spinlock_ticket_t lock;
};
static struct team *teams;

static void open_cohort(void)
{
	ck_spinlock_ticket_t *global = shared_memory(sizeof *global);
	ck_spinlock_ticket_init(global);
	teams = shared_memory(asked.nodes * sizeof *teams);
	for (int i = 0; i < asked.nodes; i++) {
		ck_spinlock_ticket_init(&teams[i].lock);
		CK_COHORT_INIT(tickets, &teams[i].cohort, global, &teams[i].lock, asked.locality);
	}
}

static struct team *team_of(int me) { return &teams[(long)me * asked.nodes / asked.workers]; }
static void acquire_cohort(int me) { CK_COHORT_LOCK(tickets, &team_of(me)->cohort, NULL, NULL); }
static void release_cohort(int me) { CK_COHORT_UNLOCK(tickets, &team_of(me)->cohort, NULL, NULL); }

static const struct lock locks[] = {
	{"ck_spinlock_fas", open_fas, acquire_fas, release_fas},
	{"ck_spinlock_ticket", open_ticket, acquire_ticket, release_ticket},
	{"ck_spinlock_mcs", open_mcs, acquire_mcs, release_mcs},
	{"ck_spinlock_clh", open_clh, acquire_clh, release_clh},
	{"ck_cohort", open_cohort, acquire_cohort, release_cohort},
	{"ck_rwlock", open_rwlock, acquire_rwlock, release_rwlock, read_rwlock, unread_rwlock},
	{"ck_pflock", open_pflock, acquire_pflock, release_pflock, read_pflock, unread_pflock},
	{"ck_brlock", open_brlock_and_readers, acquire_brlock, release_brlock, read_brlock, unread_brlock},
};

int main(int argc, char **argv) { return run(locks, sizeof locks / sizeof *locks, argc, argv); }
