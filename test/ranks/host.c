/* host.c - the launcher of ranks that are threads of one process. */
#include "host.h"

#include <mpi.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/env/init.h"
#include "boot/boot.h"
#include "boot/boot_types.h"
#include "var/var.h"

enum { RANKS = 16, MAPS = 4096 };

static struct host {
    int size;
    void (*body)(int);
    pthread_barrier_t meet;
    pthread_mutex_t lock; /* values, maps */
    struct value {
        struct value *next;
        char key[64];
        size_t len;
        char bytes[BOOT_PIECE_MAX];
    } *values;
    struct map {
        dev_t dev;
        ino_t ino;
        void *at;
        size_t len;
        int refs;
    } map[MAPS];
    struct rank {
        struct proc proc;
        int me;
        pthread_t thread;
    } rank[RANKS];
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int me(void)
{
    for (int r = 0; r < host.size; r++)
        if (proc == &host.rank[r].proc)
            return r;
    abort();
}

/* --- one mapping of a segment for all ranks --------------------------------------------------- */

void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *at, size_t len);

static struct map *find_map(const struct stat *st, void *at)
{
    for (int i = 0; i < MAPS; i++) {
        struct map *m = &host.map[i];
        if (st   ? m->refs && m->dev == st->st_dev && m->ino == st->st_ino
            : at ? m->refs && m->at == at
                 : !m->refs)
            return m;
    }
    return NULL;
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
    struct stat st;
    if (!(flags & MAP_SHARED) || fd < 0 || fstat(fd, &st))
        return __real_mmap(at, len, prot, flags, fd, off);
    pthread_mutex_lock(&host.lock);
    struct map *m = find_map(&st, NULL);
    if (!m && (m = find_map(NULL, NULL)) != NULL)
        *m = (struct map){st.st_dev, st.st_ino, __real_mmap(at, len, prot, flags, fd, off), len, 0};
    if (!m || m->at == MAP_FAILED || m->len != len) /* the library maps segments whole */
        abort();
    m->refs++;
    pthread_mutex_unlock(&host.lock);
    return m->at;
}

int __wrap_munmap(void *at, size_t len)
{
    pthread_mutex_lock(&host.lock);
    struct map *m = find_map(NULL, at);
    int rc = !m || --m->refs == 0 ? __real_munmap(at, len) : 0;
    pthread_mutex_unlock(&host.lock);
    return rc;
}

/* --- job services ----------------------------------------------------------------------------- */

static int host_init(int *rank, int *size, int *appnum)
{
    *rank = me();
    *size = host.size;
    *appnum = 0;
    return 0;
}

static int host_put(const char *key, const void *value, size_t len)
{
    struct value *v = calloc(1, sizeof *v);
    if (!v || len > sizeof v->bytes)
        abort();
    snprintf(v->key, sizeof v->key, "%s", key);
    memcpy(v->bytes, value, len);
    v->len = len;
    pthread_mutex_lock(&host.lock);
    v->next = host.values;
    host.values = v;
    pthread_mutex_unlock(&host.lock);
    return 0;
}

static int host_get(const char *key, void *value, size_t *len)
{
    pthread_mutex_lock(&host.lock);
    struct value *v = host.values;
    while (v && strcmp(v->key, key))
        v = v->next;
    pthread_mutex_unlock(&host.lock);
    if (!v)
        return -ENOENT;
    if (v->len > *len)
        return -EMSGSIZE;
    memcpy(value, v->bytes, v->len);
    *len = v->len;
    return 0;
}

static int host_meet(void)
{
    pthread_barrier_wait(&host.meet);
    return 0;
}

static int host_node_map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,1,%d))", host.size);
    return 0;
}

static int host_job_id(char *text, size_t len)
{
    snprintf(text, len, "ranks-%ld", (long)getpid());
    return 0;
}

static void host_abort(int code, const char *why)
{
    fprintf(stderr, "rank %d aborts: %s\n", me(), why ? why : "");
    _exit(code ? code : 1);
}

static const struct boot_ops host_ops = {.name = "ranks", .init = host_init, .put = host_put,
                                         .get = host_get, .barrier = host_meet,
                                         .node_map = host_node_map, .job_id = host_job_id,
                                         .abort = host_abort, .finalize = host_meet};

static void *one_rank(void *arg)
{
    struct rank *r = arg;
    char why[256];
    int provided;
    host_join(&r->proc);
    for (int turn = 0; turn < host.size; turn++) {
        /* variables are common: one after the other, and none after that */
        if (turn == r->me && var_init(why, sizeof why) != 0) {
            fprintf(stderr, "%s\n", why);
            _exit(2);
        }
        host_meet();
    }
    api_start(MPI_THREAD_MULTIPLE, &provided, &host_ops);
    host.body(r->me);
    MPI_Barrier(MPI_COMM_WORLD);
    if (api_stop() != MPI_SUCCESS)
        _exit(3);
    return NULL;
}

void host_run(int size, void (*body)(int rank))
{
    if (size < 1 || size > RANKS)
        _exit(2);
    host.size = size;
    host.body = body;
    pthread_barrier_init(&host.meet, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        host.rank[r].me = r;
        pthread_create(&host.rank[r].thread, NULL, one_rank, &host.rank[r]);
    }
    for (int r = 0; r < size; r++)
        pthread_join(host.rank[r].thread, NULL);
    for (struct value *v = host.values, *next; v; v = next) {
        next = v->next;
        free(v);
    }
    host.values = NULL;
}
