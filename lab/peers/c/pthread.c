// The locks of POSIX threads.
#include "threads.h"

static pthread_mutex_t *mutex;
static pthread_rwlock_t *rwlock;
static pthread_spinlock_t *spin;

static int sharing(void) { return asked.processes ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE; }

static void open_mutex(void)
{
	pthread_mutexattr_t how;
	pthread_mutexattr_init(&how);
	pthread_mutexattr_setpshared(&how, sharing());
	mutex = shared_memory(sizeof *mutex);
	pthread_mutex_init(mutex, &how);
}

static void lock_mutex(int me) { pthread_mutex_lock(mutex); }
static void unlock_mutex(int me) { pthread_mutex_unlock(mutex); }

static void open_rwlock(void)
{
	pthread_rwlockattr_t how;
	pthread_rwlockattr_init(&how);
	pthread_rwlockattr_setpshared(&how, sharing());
	rwlock = shared_memory(sizeof *rwlock);
	pthread_rwlock_init(rwlock, &how);
}

static void lock_write(int me) { pthread_rwlock_wrlock(rwlock); }
static void lock_read(int me) { pthread_rwlock_rdlock(rwlock); }
static void unlock_rwlock(int me) { pthread_rwlock_unlock(rwlock); }

static void open_spin(void)
{
	spin = shared_memory(sizeof *spin);
	pthread_spin_init(spin, sharing());
}

static void lock_spin(int me) { pthread_spin_lock(spin); }
static void unlock_spin(int me) { pthread_spin_unlock(spin); }

static const struct lock locks[] = {
	{"pthread_mutex", open_mutex, lock_mutex, unlock_mutex},
	{"pthread_rwlock", open_rwlock, lock_write, unlock_rwlock, lock_read, unlock_rwlock},
	{"pthread_spin", open_spin, lock_spin, unlock_spin},
};

int main(int argc, char **argv) { return run(locks, sizeof locks / sizeof *locks, argc, argv); }
