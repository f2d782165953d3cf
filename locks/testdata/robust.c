/* A process that competes for a pthread mutex in shared memory, the peer of
 * BenchmarkRatios/Processes: robust, as whoever cares about crashes has it, and
 * as our locks are.
 *
 *   robust init    prepares the mutex
 *   robust         competes: for each line that it reads it enters and leaves
 *                  empty sections until the turn is over, and prints how many
 *
 * Descriptor 3 is the memory: the stage of the turn, and on another line the
 * mutex. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { warming, counting, over };

struct shared {
    _Atomic uint64_t stage;
    char line[120];
    pthread_mutex_t mutex;
};

static int prepare(pthread_mutex_t *mutex) {
    pthread_mutexattr_t a;
    return pthread_mutexattr_init(&a) || pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) ||
           pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) || pthread_mutex_init(mutex, &a);
}

static void section(struct shared *m) {
    pthread_mutex_lock(&m->mutex);
    pthread_mutex_unlock(&m->mutex);
}

int main(int argc, char **argv) {
    struct shared *m = mmap(0, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    if (m == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    if (argc > 1 && !strcmp(argv[1], "init"))
        return prepare(&m->mutex);
    for (char line[16]; fgets(line, sizeof line, stdin);) {
        uint64_t n = 0, stage;
        section(m);
        puts("ready");
        fflush(stdout);
        while ((stage = atomic_load(&m->stage)) != over) {
            section(m);
            n += stage;
        }
        printf("%llu\n", (unsigned long long)n);
        fflush(stdout);
    }
    return 0;
}
