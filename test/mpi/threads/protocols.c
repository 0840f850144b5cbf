/* protocols.c - every protocol between ranks, by several threads of each, with communicators and
 * windows of their own.
 *
 *   protocols [THREADS [ROUNDS]]          2 20; ranks are processes
 *   ranks RANKS [THREADS [ROUNDS]]        ranks are threads of one process (test/ranks/host.h,
 *                                         maint/sanitize)
 *
 * Data that a protocol guards are moved and looked at as plain memory, several words at a time:
 * ThreadSanitizer reports what the protocol does not order; the checks report wrong values. */
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef RANKS_HOST
#include "host.h"
#else
struct proc;
static struct proc *proc;
static void host_join(struct proc *p) { (void)p; }
#endif

enum { WORDS = 3, THREADS_MAX = 4, RANKS_MAX = 16 };

static int ranks, threads = 2, rounds = 20; /* set before the first rank starts */

/* One thread of one rank, with communicator and windows of its own. */
struct self {
    struct proc *proc;
    int me, t;
    MPI_Comm comm;
    pthread_t thread;
};

static void fail(const struct self *s, const char *what, int line)
{
    fprintf(stderr, "rank %d thread %d: protocols.c:%d: %s\n", s->me, s->t, line, what);
    _exit(1);
}
#define CHECK(s, cond) ((cond) ? (void)0 : fail(s, #cond, __LINE__))
#define OK(s, call) CHECK(s, (call) == MPI_SUCCESS)

static int right(const struct self *s) { return (s->me + 1) % ranks; }
static int left(const struct self *s) { return (s->me + ranks - 1) % ranks; }

static MPI_Win make(struct self *s, size_t words, int64_t **mem, int created)
{
    MPI_Win win;
    if (created) {
        *mem = malloc(words * sizeof **mem);
        OK(s, MPI_Win_create(*mem, (MPI_Aint)(words * sizeof **mem), sizeof **mem, MPI_INFO_NULL,
                             s->comm, &win));
    } else {
        OK(s, MPI_Win_allocate((MPI_Aint)(words * sizeof **mem), sizeof **mem, MPI_INFO_NULL,
                               s->comm, mem, &win));
    }
    OK(s, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->me, 0, win));
    memset(*mem, 0, words * sizeof **mem);
    OK(s, MPI_Win_unlock(s->me, win));
    OK(s, MPI_Barrier(s->comm));
    return win;
}

static void drop(struct self *s, MPI_Win *win, int64_t *mem, int created)
{
    OK(s, MPI_Barrier(s->comm));
    OK(s, MPI_Win_free(win));
    if (created)
        free(mem);
}

/* Reader-writer lock: under the exclusive one all words of a target are moved on, the owner by load
 * and store. */
static void locks(struct self *s, int created)
{
    int64_t *mem, got[WORDS];
    MPI_Win win = make(s, WORDS, &mem, created);
    for (int i = 0; i < rounds; i++) {
        int to = (s->me + i) % ranks, exclusive = i % 3 != 2;
        OK(s, MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, to, 0, win));
        if (to == s->me) {
            memcpy(got, mem, sizeof got);
        } else {
            OK(s, MPI_Get(got, WORDS, MPI_INT64_T, to, 0, WORDS, MPI_INT64_T, win));
            OK(s, MPI_Win_flush(to, win));
        }
        CHECK(s, got[1] == got[0] && got[2] == got[0]);
        for (int w = 0; w < WORDS; w++)
            got[w]++;
        if (exclusive && to == s->me)
            memcpy(mem, got, sizeof got);
        else if (exclusive)
            OK(s, MPI_Put(got, WORDS, MPI_INT64_T, to, 0, WORDS, MPI_INT64_T, win));
        OK(s, MPI_Win_unlock(to, win));
    }
    int64_t sum = 0, want = 0;
    OK(s, MPI_Barrier(s->comm));
    OK(s, MPI_Win_lock(MPI_LOCK_SHARED, s->me, 0, win));
    sum = mem[0];
    OK(s, MPI_Win_unlock(s->me, win));
    OK(s, MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, s->comm));
    for (int i = 0; i < rounds; i++)
        want += i % 3 != 2;
    CHECK(s, sum == want * ranks);
    drop(s, &win, mem, created);
}

static void locks_allocated(struct self *s) { locks(s, 0); }
static void locks_created(struct self *s) { locks(s, 1); }

/* Accumulates of every kind on the same elements, across a stripe too; one lock_all epoch. */
static void accumulates_on(struct self *s, int created)
{
    enum { MANY = 700 }; /* more than one stripe */
    int64_t *mem, one[MANY], old, was, zero = 0;
    MPI_Win win = make(s, MANY, &mem, created);
    for (int i = 0; i < MANY; i++)
        one[i] = 1;
    OK(s, MPI_Win_lock_all(0, win));
    for (int i = 0; i < rounds; i++)
        for (int to = 0; to < ranks; to++) {
            OK(s, MPI_Accumulate(one, i % 8 ? 5 : MANY, MPI_INT64_T, to, 0, i % 8 ? 5 : MANY,
                                 MPI_INT64_T, MPI_SUM, win));
            OK(s, MPI_Fetch_and_op(one, &old, MPI_INT64_T, to, 1, MPI_SUM, win));
            OK(s, MPI_Compare_and_swap(&zero, &zero, &was, MPI_INT64_T, to, 2, win));
            OK(s, MPI_Win_flush(to, win));
            CHECK(s, old >= 0 && old <= 2 * (int64_t)rounds * ranks);
        }
    OK(s, MPI_Win_unlock_all(win));
    OK(s, MPI_Barrier(s->comm));
    OK(s, MPI_Win_lock(MPI_LOCK_SHARED, s->me, 0, win));
    CHECK(s, mem[0] == (int64_t)rounds * ranks && mem[1] == 2 * mem[0] && mem[2] == mem[0]);
    CHECK(s, mem[MANY - 1] == (int64_t)(rounds + 7) / 8 * ranks);
    OK(s, MPI_Win_unlock(s->me, win));
    drop(s, &win, mem, created);
}

static void accumulates(struct self *s) { accumulates_on(s, 0); }
static void accumulates_created(struct self *s) { accumulates_on(s, 1); }

/* Flags and data: put, flush, then a flag by an atomic; the reader polls it and reads the data. */
static void messages(struct self *s)
{
    int64_t *mem, data[WORDS], seen, i;
    MPI_Win win = make(s, WORDS + 2, &mem, 0);
    OK(s, MPI_Win_lock_all(0, win));
    for (i = 1; i <= rounds; i++) {
        for (int w = 0; w < WORDS; w++)
            data[w] = i + w;
        OK(s, MPI_Put(data, WORDS, MPI_INT64_T, right(s), 0, WORDS, MPI_INT64_T, win));
        OK(s, MPI_Win_flush(right(s), win));
        OK(s,
           MPI_Accumulate(&i, 1, MPI_INT64_T, right(s), WORDS, 1, MPI_INT64_T, MPI_REPLACE, win));
        OK(s, MPI_Win_flush(right(s), win));
        do {
            OK(s, MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, s->me, WORDS, MPI_NO_OP, win));
            OK(s, MPI_Win_flush(s->me, win));
        } while (seen != i && !sched_yield());
        OK(s, MPI_Win_sync(win));
        for (int w = 0; w < WORDS; w++)
            CHECK(s, mem[w] == i + w);
        /* read */
        OK(s, MPI_Accumulate(&i, 1, MPI_INT64_T, left(s), WORDS + 1, 1, MPI_INT64_T, MPI_REPLACE,
                             win));
        OK(s, MPI_Win_flush(left(s), win));
        do {
            OK(s, MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, s->me, WORDS + 1, MPI_NO_OP, win));
            OK(s, MPI_Win_flush(s->me, win));
        } while (seen != i && !sched_yield());
    }
    OK(s, MPI_Win_unlock_all(win));
    drop(s, &win, mem, 0);
}

static MPI_Group only(struct self *s, int rank)
{
    MPI_Group all, one;
    OK(s, MPI_Comm_group(s->comm, &all));
    OK(s, MPI_Group_incl(all, 1, &rank, &one));
    OK(s, MPI_Group_free(&all));
    return one;
}

/* Post and start between neighbours; between epochs memory is read and written as one's own. */
static void pairs(struct self *s)
{
    int64_t *mem, out[WORDS];
    MPI_Win win = make(s, WORDS, &mem, 0);
    MPI_Group to = only(s, right(s)), from = only(s, left(s));
    for (int i = 0; i < rounds; i++) {
        OK(s, MPI_Win_post(from, 0, win));
        OK(s, MPI_Win_start(to, 0, win));
        for (int w = 0; w < WORDS; w++)
            out[w] = (int64_t)i * 100 + s->me * 10 + w;
        OK(s, MPI_Put(out, WORDS, MPI_INT64_T, right(s), 0, WORDS, MPI_INT64_T, win));
        OK(s, MPI_Win_complete(win));
        OK(s, MPI_Win_wait(win));
        for (int w = 0; w < WORDS; w++) {
            CHECK(s, mem[w] == (int64_t)i * 100 + left(s) * 10 + w);
            mem[w] = -1;
        }
    }
    OK(s, MPI_Group_free(&to));
    OK(s, MPI_Group_free(&from));
    drop(s, &win, mem, 0);
}

static void fences(struct self *s)
{
    int64_t *mem, out[WORDS];
    MPI_Win win = make(s, (size_t)(WORDS * ranks), &mem, 0);
    for (int i = 0; i < rounds; i++) {
        OK(s, MPI_Win_fence(i % 2 ? 0 : MPI_MODE_NOPRECEDE, win));
        for (int w = 0; w < WORDS; w++)
            out[w] = (int64_t)i * 100 + s->me * 10 + w;
        for (int to = 0; to < ranks; to++)
            OK(s, MPI_Put(out, WORDS, MPI_INT64_T, to, s->me * WORDS, WORDS, MPI_INT64_T, win));
        OK(s, MPI_Win_fence(i % 2 ? 0 : MPI_MODE_NOSUCCEED, win));
        for (int k = 0; k < ranks * WORDS; k++) {
            CHECK(s, mem[k] == (int64_t)i * 100 + k / WORDS * 10 + k % WORDS);
            mem[k] = -1;
        }
        OK(s, MPI_Barrier(s->comm));
    }
    OK(s, MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    drop(s, &win, mem, 0);
}

/* Load and store on each other's memory, between barriers. */
static void shared(struct self *s)
{
    int64_t *mem, *other;
    MPI_Win win;
    MPI_Aint size;
    int unit;
    const char *far = getenv("MPIR_CVAR_NOLOCAL");
    if ((far && *far != '0') || getenv("MPIR_CVAR_NUM_CLIQUES"))
        return;
    OK(s, MPI_Win_allocate_shared(WORDS * 8, 8, MPI_INFO_NULL, s->comm, &mem, &win));
    OK(s, MPI_Win_shared_query(win, right(s), &size, &unit, &other));
    OK(s, MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int i = 0; i < rounds; i++) {
        for (int w = 0; w < WORDS; w++)
            other[w] = i + w;
        OK(s, MPI_Win_sync(win));
        OK(s, MPI_Barrier(s->comm));
        OK(s, MPI_Win_sync(win));
        for (int w = 0; w < WORDS; w++)
            CHECK(s, mem[w] == i + w);
        OK(s, MPI_Barrier(s->comm));
    }
    OK(s, MPI_Win_unlock_all(win));
    OK(s, MPI_Win_free(&win));
}

static void dynamic(struct self *s)
{
    MPI_Win win;
    MPI_Aint at[RANKS_MAX];
    OK(s, MPI_Win_create_dynamic(MPI_INFO_NULL, s->comm, &win));
    for (int i = 0; i < rounds / 4 + 1; i++) {
        int64_t *mem = calloc(WORDS, sizeof *mem), out[WORDS] = {i, i + 1, i + 2}, one = 1;
        OK(s, MPI_Win_attach(win, mem, WORDS * sizeof *mem));
        OK(s, MPI_Get_address(mem, &at[s->me]));
        OK(s, MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, at, 1, MPI_AINT, s->comm));
        OK(s, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(s), 0, win));
        OK(s, MPI_Put(out, WORDS, MPI_INT64_T, right(s), at[right(s)], WORDS, MPI_INT64_T, win));
        OK(s, MPI_Win_unlock(right(s), win));
        OK(s, MPI_Barrier(s->comm));
        OK(s, MPI_Win_lock_all(0, win));
        for (int to = 0; to < ranks; to++)
            OK(s, MPI_Accumulate(&one, 1, MPI_INT64_T, to, at[to], 1, MPI_INT64_T, MPI_SUM, win));
        OK(s, MPI_Win_unlock_all(win));
        OK(s, MPI_Barrier(s->comm));
        OK(s, MPI_Win_lock(MPI_LOCK_SHARED, s->me, 0, win));
        CHECK(s, mem[0] == i + ranks && mem[1] == i + 1 && mem[2] == i + 2);
        OK(s, MPI_Win_unlock(s->me, win));
        OK(s, MPI_Win_detach(win, mem));
        free(mem);
    }
    OK(s, MPI_Win_free(&win));
}

static void requests(struct self *s)
{
    int64_t *mem, out[WORDS] = {1, 2, 3}, in[WORDS];
    MPI_Request q;
    MPI_Win win = make(s, (size_t)(WORDS * ranks), &mem, 0);
    OK(s, MPI_Win_lock_all(0, win));
    for (int i = 0; i < rounds; i++) {
        int to = (s->me + i) % ranks;
        out[0] = i;
        OK(s, MPI_Rput(out, WORDS, MPI_INT64_T, to, s->me * WORDS, WORDS, MPI_INT64_T, win, &q));
        OK(s, MPI_Wait(&q, MPI_STATUS_IGNORE));
        OK(s, MPI_Win_flush(to, win));
        OK(s, MPI_Rget(in, WORDS, MPI_INT64_T, to, s->me * WORDS, WORDS, MPI_INT64_T, win, &q));
        OK(s, MPI_Wait(&q, MPI_STATUS_IGNORE));
        CHECK(s, !memcmp(in, out, sizeof in));
    }
    OK(s, MPI_Win_unlock_all(win));
    drop(s, &win, mem, 0);
}

/* Rings, single copies, matching: short and long messages in both directions. */
static void letters(struct self *s)
{
    static const int len[] = {0, 1, 100, 3000, 20000, 200000};
    for (int i = 0; i < rounds; i++) {
        int n = len[i % 6];
        char *out = malloc((size_t)n + 1), *in = malloc((size_t)n + 1);
        MPI_Request q[2];
        memset(out, i + s->me, (size_t)n + 1);
        OK(s, MPI_Irecv(in, n, MPI_CHAR, left(s), i, s->comm, &q[0]));
        OK(s, MPI_Isend(out, n, MPI_CHAR, right(s), i, s->comm, &q[1]));
        OK(s, MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
        for (int k = 0; k < n; k++)
            CHECK(s, in[k] == (char)(i + left(s)));
        free(out);
        free(in);
    }
}

static void collectives(struct self *s)
{
    int64_t all[RANKS_MAX], x[WORDS], big[2000];
    for (int i = 0; i < rounds; i++) {
        int root = i % ranks;
        for (int w = 0; w < WORDS; w++)
            x[w] = s->me == root ? i + w : -1;
        OK(s, MPI_Bcast(x, WORDS, MPI_INT64_T, root, s->comm));
        for (int w = 0; w < WORDS; w++)
            CHECK(s, x[w] == i + w);
        OK(s, MPI_Barrier(s->comm));
        OK(s, MPI_Allreduce(MPI_IN_PLACE, x, WORDS, MPI_INT64_T, MPI_SUM, s->comm));
        CHECK(s, x[1] == (int64_t)(i + 1) * ranks);
        x[0] = s->me + i;
        OK(s, MPI_Allgather(x, 1, MPI_INT64_T, all, 1, MPI_INT64_T, s->comm));
        for (int r = 0; r < ranks; r++)
            CHECK(s, all[r] == r + i);
        OK(s, MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT64_T, all, 1, MPI_INT64_T, s->comm));
        for (int k = 0; k < 2000; k++)
            big[k] = s->me + k;
        OK(s, MPI_Reduce(s->me == root ? MPI_IN_PLACE : big, big, 2000, MPI_INT64_T, MPI_MAX, root,
                         s->comm));
        CHECK(s, s->me != root || big[1999] == ranks - 1 + 1999);
    }
}

static void windows(struct self *s)
{
    for (int i = 0; i < rounds / 4 + 1; i++) {
        int64_t *mem, x = i;
        MPI_Win win = make(s, 4, &mem, i % 2);
        OK(s, MPI_Win_fence(0, win));
        OK(s, MPI_Put(&x, 1, MPI_INT64_T, right(s), 1, 1, MPI_INT64_T, win));
        OK(s, MPI_Win_fence(0, win));
        CHECK(s, mem[1] == i);
        drop(s, &win, mem, i % 2);
    }
}

static const struct {
    const char *name;
    void (*fn)(struct self *);
} parts[] = {{"locks", locks_allocated},   {"locks-created", locks_created},
             {"accumulates", accumulates}, {"accumulates-created", accumulates_created},
             {"messages", messages},       {"pairs", pairs},
             {"fences", fences},           {"shared", shared},
             {"dynamic", dynamic},         {"requests", requests},
             {"letters", letters},         {"collectives", collectives},
             {"windows", windows}};

static void *one_thread(void *arg)
{
    struct self *s = arg;
    host_join(s->proc);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (getenv("PROTOCOLS_ONLY") && strcmp(getenv("PROTOCOLS_ONLY"), parts[i].name))
            continue;
        if (getenv("PROTOCOLS_TRACE"))
            fprintf(stderr, "rank %d thread %d: %s\n", s->me, s->t, parts[i].name);
        parts[i].fn(s);
    }
    return NULL;
}

static void body(int rank)
{
    struct self self[THREADS_MAX] = {0};
    for (int t = 0; t < threads; t++) {
        self[t] = (struct self){.proc = proc, .me = rank, .t = t};
        OK(&self[t], MPI_Comm_dup(MPI_COMM_WORLD, &self[t].comm));
    }
    for (int t = 0; t < threads; t++)
        pthread_create(&self[t].thread, NULL, one_thread, &self[t]);
    for (int t = 0; t < threads; t++)
        pthread_join(self[t].thread, NULL);
    for (int t = 0; t < threads; t++)
        OK(&self[t], MPI_Comm_free(&self[t].comm));
}

#ifdef RANKS_HOST
int main(int argc, char **argv)
{
    ranks = argc > 1 ? atoi(argv[1]) : 3;
    if (argc > 2)
        threads = atoi(argv[2]);
    if (argc > 3)
        rounds = atoi(argv[3]);
    if (ranks < 1 || ranks > RANKS_MAX || threads < 1 || threads > THREADS_MAX || rounds < 1)
        return 2;
    host_run(ranks, body);
    printf(" No Errors\n");
    return 0;
}
#else
int main(int argc, char **argv)
{
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1)
        threads = atoi(argv[1]);
    if (argc > 2)
        rounds = atoi(argv[2]);
    if (ranks > RANKS_MAX || threads < 1 || threads > THREADS_MAX || rounds < 1 ||
        provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    body(rank);
    MPI_Finalize();
    if (!rank)
        printf(" No Errors\n");
    return 0;
}
#endif
