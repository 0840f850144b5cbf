/* rmaperf.c - what one-sided operations and messages cost between two ranks.
 *
 *   rmaperf --list                       names and units of the rows
 *   rmaperf [--ms N] [--after ROW] [--rows ROW,ROW...]
 *
 * Portable MPI-3: the same source is built for each library (test/perf/run).  Before a row its name
 * is printed, after it the value, so that a driver sees where a library hangs or dies and can go on
 * with --after.  A row repeats its body until one batch lasts --ms milliseconds (default 10), then
 * times 15 batches; the value is their lower quartile: whatever else the machine does only adds
 * time.  Rank 0 is the origin; rank 1 waits in a barrier, that is inside MPI, except in the "busy"
 * rows, where it computes meanwhile. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 15, WINDOW = 4 << 20 };
#define BUSY 0.4                     /* seconds */
enum flavour { ALLOCATE, SHARED, CREATE, DYNAMIC, HANDLE };
enum op { PUT, GET, ACC, GACC, FOP, CAS, LOCKED };

struct perf {
    int rank, flavour, quick;
    int64_t sent, seen;              /* in this window: notifications and flags */
    double batch;                    /* seconds */
    double each;                     /* measured in a "busy" row, seconds */
    MPI_Win win;
    char *mem, *buf, *res;
    MPI_Aint base;                   /* of rank 1's window */
    MPI_Group peer;
    MPI_Datatype type;               /* of strided rows */
    int type_bytes;
};

struct row {
    const char *name, *unit;         /* us: lower is better; others: higher */
    /* rank 0: n times; per_op: both ranks */
    void (*body)(struct perf *p, const struct row *r, long n);
    /* both: rank 1 runs the body as well; HALF: there and back, half of it is shown */
    int flavour, op, size, both;
};
enum { BUSY_ROW = 2, HALF = 3 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ windows */

static void open_window(struct perf *p, int flavour)
{
    MPI_Group all;
    int one = 1 - p->rank;

    p->flavour = flavour;
    p->base = 0;
    p->sent = p->seen = 0;
    switch (flavour) {
    case ALLOCATE:
        MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p->mem, &p->win);
        break;
    case SHARED:
        MPI_Win_allocate_shared(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p->mem, &p->win);
        break;
    case CREATE:
        p->mem = aligned_alloc(4096, WINDOW);
        MPI_Win_create(p->mem, WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p->win);
        break;
#ifdef MPIX_NOTIFY_MAX
    case HANDLE:
        MPI_Alloc_mem(WINDOW, MPI_INFO_NULL, &p->mem);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &p->win);
        MPIX_Memhandle_create(p->win, p->mem, WINDOW, &p->base);
        MPI_Bcast(&p->base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
        break;
#endif
    default:
        p->mem = aligned_alloc(4096, WINDOW);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &p->win);
        MPI_Win_attach(p->win, p->mem, WINDOW);
        MPI_Get_address(p->mem, &p->base);
        MPI_Bcast(&p->base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    }
    memset(p->mem, 0, WINDOW);
    MPI_Win_get_group(p->win, &all);
    MPI_Group_incl(all, 1, &one, &p->peer);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(struct perf *p)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&p->peer);
    if (p->flavour == DYNAMIC)
        MPI_Win_detach(p->win, p->mem);
    MPI_Win_free(&p->win);
    if (p->flavour == HANDLE)
        MPI_Free_mem(p->mem);
    else if (p->flavour >= CREATE)
        free(p->mem);
}

/* ------------------------------------------------------------------ bodies */

/* A program names its operation where it calls it: no choice is made per call in the loops
 * below. */
#define INLINE inline __attribute__((always_inline))

static INLINE void operation(struct perf *p, int op, int bytes)
{
    MPI_Aint d = p->base;
    int n = bytes / 8;

    switch (op) {
    case PUT: MPI_Put(p->buf, bytes, MPI_BYTE, 1, d, bytes, MPI_BYTE, p->win); break;
    case GET: MPI_Get(p->buf, bytes, MPI_BYTE, 1, d, bytes, MPI_BYTE, p->win); break;
    case ACC: MPI_Accumulate(p->buf, n, MPI_INT64_T, 1, d, n, MPI_INT64_T, MPI_SUM, p->win); break;
    case GACC:
        MPI_Get_accumulate(p->buf, n, MPI_INT64_T, p->res, n, MPI_INT64_T, 1, d, n, MPI_INT64_T,
                           MPI_SUM, p->win);
        break;
    case FOP: MPI_Fetch_and_op(p->buf, p->res, MPI_INT64_T, 1, d, MPI_SUM, p->win); break;
    default: MPI_Compare_and_swap(p->buf, p->buf + 8, p->res, MPI_INT64_T, 1, d, p->win); break;
    }
}

static INLINE void repeat(struct perf *p, int op, int bytes, long n, int flush)
{
    while (n--) {
        operation(p, op, bytes);
        if (flush)
            MPI_Win_flush(1, p->win);
    }
}

static INLINE void op_all(struct perf *p, const struct row *r, long n, int flush)
{
    MPI_Win_lock_all(0, p->win);
    switch (r->op) {
    case PUT: repeat(p, PUT, r->size, n, flush); break;
    case GET: repeat(p, GET, r->size, n, flush); break;
    case ACC: repeat(p, ACC, r->size, n, flush); break;
    case GACC: repeat(p, GACC, r->size, n, flush); break;
    case FOP: repeat(p, FOP, r->size, n, flush); break;
    default: repeat(p, CAS, r->size, n, flush);
    }
    MPI_Win_unlock_all(p->win);
}

static void op_flush(struct perf *p, const struct row *r, long n)
{
    op_all(p, r, n, 1);
}

/* Operations without a flush between them. */
static void op_rate(struct perf *p, const struct row *r, long n)
{
    op_all(p, r, n, 0);
}

static void strided(struct perf *p, const struct row *r, long n)
{
    MPI_Win_lock_all(0, p->win);
    while (n--) {
        if (r->name[8] == 'a')
            MPI_Accumulate(p->buf, 1, p->type, 1, p->base, 1, p->type, MPI_SUM, p->win);
        else if (r->name[8] == 'p')
            MPI_Put(p->buf, 1, p->type, 1, p->base, 1, p->type, p->win);
        else
            MPI_Get(p->buf, 1, p->type, 1, p->base, 1, p->type, p->win);
        MPI_Win_flush(1, p->win);
    }
    MPI_Win_unlock_all(p->win);
}

static void flush_empty(struct perf *p, const struct row *r, long n)
{
    (void)r;
    MPI_Win_lock_all(0, p->win);
    while (n--)
        MPI_Win_flush(1, p->win);
    MPI_Win_unlock_all(p->win);
}

static void lock_put(struct perf *p, const struct row *r, long n)
{
    while (n--) {
        MPI_Win_lock(r->op == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 1,
                     r->op == 2 ? MPI_MODE_NOCHECK : 0, p->win);
        if (r->size)
            operation(p, PUT, 8);
        MPI_Win_unlock(1, p->win);
    }
}

static void lock_all_empty(struct perf *p, const struct row *r, long n)
{
    (void)r;
    while (n--) {
        MPI_Win_lock_all(0, p->win);
        MPI_Win_unlock_all(p->win);
    }
}

/* both ranks */
static void fence(struct perf *p, const struct row *r, long n)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, p->win);
    while (n--) {
        if (p->rank == 0 && r->size)
            operation(p, r->op, r->size);
        MPI_Win_fence(0, p->win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, p->win);
}

static void pscw(struct perf *p, const struct row *r, long n)
{
    while (n--)
        if (p->rank == 0) {
            MPI_Win_start(p->peer, 0, p->win);
            if (r->size)
                operation(p, r->op, r->size);
            MPI_Win_complete(p->win);
        } else {
            MPI_Win_post(p->peer, 0, p->win);
            MPI_Win_wait(p->win);
        }
}

static void window_life(struct perf *p, const struct row *r, long n)
{
    struct perf q = *p;

    while (n--) {
        char *m;

        switch (r->op) {
        case ALLOCATE: MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &q.win); break;
        case SHARED:
            MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &q.win);
            break;
        case CREATE: MPI_Win_create(p->buf, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &q.win); break;
        default: MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &q.win);
        }
        MPI_Win_free(&q.win);
    }
}

/* A word of each line. */
static void read_all(const void *from, int bytes)
{
    const volatile char *mem = from;
    for (int i = 0; i < bytes; i += 64)
        (void)*(const volatile int64_t *)(mem + i);
}

/* op 1: what is sent is written before, as a program does. Memory that nothing writes stays in the
 * caches of both cores, from where one copy takes half the time of two.
 * op 2: what was received is read, as in the rows "notified". */
static void pingpong(struct perf *p, const struct row *r, long n)
{
    while (n--) {
        if (r->op == 1)
            memset(p->buf, (int)n, (size_t)r->size);
        if (p->rank == 0) {
            MPI_Send(p->buf, r->size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(p->res, r->size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(p->res, r->size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (r->op == 2)
                read_all(p->res, r->size);
            MPI_Send(p->buf, r->size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        if (r->op == 2 && p->rank == 0)
            read_all(p->res, r->size);
    }
}

/* --- "notified": data in the window of the other rank, which waits for them, reads them and
 * answers in the same way. The word behind the data, in a line of its own, is a flag. */

/* A program's loads need calls of MPI between them where messages bring what it waits for. */
static void await_flag(struct perf *p, MPI_Aint at)
{
    const int64_t *flag = (int64_t *)(p->mem + at);
    int there;

    for (unsigned i = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) < p->seen + 1; i++)
        if (i % 64 == 0)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    p->seen++;
}

static MPI_Aint flag_at(const struct row *r)
{
    return (r->size + 63) / 64 * 64;
}

/* One way today: put, flush, put of a flag, flush. */
static void by_flag(struct perf *p, const struct row *r, long n)
{
    int other = 1 - p->rank, mine = p->rank == 0;
    MPI_Aint at = flag_at(r);

    MPI_Win_lock_all(0, p->win);
    for (n *= 2; n--; mine = !mine) {
        int64_t flag = p->sent + 1;

        if (!mine) {
            await_flag(p, at);
            read_all(p->mem, r->size);
            continue;
        }
        MPI_Put(p->buf, r->size, MPI_BYTE, other, 0, r->size, MPI_BYTE, p->win);
        MPI_Win_flush(other, p->win);
        MPI_Put(&flag, 8, MPI_BYTE, other, at, 8, MPI_BYTE, p->win);
        MPI_Win_flush(other, p->win);
        p->sent++;
    }
    MPI_Win_unlock_all(p->win);
}

static void by_pscw(struct perf *p, const struct row *r, long n)
{
    int other = 1 - p->rank, mine = p->rank == 0;

    for (n *= 2; n--; mine = !mine)
        if (mine) {
            MPI_Win_start(p->peer, 0, p->win);
            MPI_Put(p->buf, r->size, MPI_BYTE, other, 0, r->size, MPI_BYTE, p->win);
            MPI_Win_complete(p->win);
        } else {
            MPI_Win_post(p->peer, 0, p->win);
            MPI_Win_wait(p->win);
            read_all(p->mem, r->size);
        }
}

/* What the machine lets: a line with data and flag, by loads and stores. */
static void by_line(struct perf *p, const struct row *r, long n)
{
    int64_t *theirs, *mine = (int64_t *)p->mem;
    MPI_Aint bytes;
    int unit, turn = p->rank == 0;

    (void)r;
    MPI_Win_shared_query(p->win, 1 - p->rank, &bytes, &unit, &theirs);
    MPI_Win_lock_all(0, p->win);
    for (n *= 2; n--; turn = !turn)
        if (turn) {
            *(volatile int64_t *)&theirs[1] = n;
            __atomic_store_n(theirs, ++p->sent, __ATOMIC_RELEASE);
        } else {
            while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < p->seen + 1)
                ;
            (void)*(volatile int64_t *)&mine[1];
            p->seen++;
        }
    MPI_Win_unlock_all(p->win);
}

#ifdef MPIX_NOTIFY_MAX
/* op 1: the waiter asks for the value again and again; else it takes one. */
static void notified(struct perf *p, const struct row *r, long n)
{
    int other = 1 - p->rank, mine = p->rank == 0;

    MPI_Win_lock_all(0, p->win);
    for (n *= 2; n--; mine = !mine) {
        MPI_Count value = 0;

        if (mine) {
            MPIX_Put_notify(p->buf, r->size, MPI_BYTE, other, 0, r->size, MPI_BYTE, 0, p->win);
            continue;
        }
        if (r->op == 0)
            MPIX_Win_notify_take(p->win, 0, 1);
        else
            while (value <= p->seen)
                MPIX_Win_notify_get_value(p->win, 0, &value);
        p->seen++;
        read_all(p->mem, r->size);
    }
    MPI_Win_unlock_all(p->win);
}

static void notify_rate(struct perf *p, const struct row *r, long n)
{
    MPI_Win_lock_all(0, p->win);
    while (n--)
        MPIX_Put_notify(p->buf, r->size, MPI_BYTE, 1, 0, r->size, MPI_BYTE, 0, p->win);
    MPI_Win_unlock_all(p->win);
}
#endif

static void collective(struct perf *p, const struct row *r, long n)
{
    while (n--)
        if (r->op == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (r->op == 1)
            MPI_Allreduce(p->buf, p->res, r->size / 8, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        else {
            if (r->op == 3 && p->rank == 0) /* as in pingpong() */
                memset(p->buf, (int)n, (size_t)r->size);
            MPI_Bcast(p->buf, r->size, MPI_BYTE, 0, MPI_COMM_WORLD);
        }
}

/* ------------------------------------------------------------------ rows */

/* Operations, each flushed, while rank 1 computes: twice as many each time until they take a
 * batch's time, or more at once. */
static void busy(struct perf *p, const struct row *r, long n)
{
    const struct row lock = { .op = 0, .size = 8 };
    double end, t;
    volatile double x = 1;

    if (p->rank == 1) {
        for (end = now() + BUSY; now() < end;)
            x = x * 1.0000001;
        return;
    }
    for (end = now() + BUSY / 8; now() < end;)      /* let it begin */
        x = x * 1.0000001;
    for (n = 1;; n *= 2) {
        t = now();
        if (r->op == LOCKED)
            lock_put(p, &lock, n);
        else
            op_flush(p, r, n);
        t = now() - t;
        if (t >= p->batch)
            break;
    }
    p->each = t / (double)n;
}

#define LAT(name, flavour, op) { name "+flush " #flavour, "us", op_flush, flavour, op, 8, 0 }
#define LAT4(name, op)                                                                             \
    LAT(name, ALLOCATE, op), LAT(name, SHARED, op), LAT(name, CREATE, op), LAT(name, DYNAMIC, op)
#define RATE(name, flavour, op) { name " rate " #flavour, "Mop/s", op_rate, flavour, op, 8, 0 }
#define BW(name, flavour, op, size) { name " " #flavour, "GB/s", op_flush, flavour, op, size, 0 }

static const struct row rows[] = {
    LAT4("put8", PUT),
    LAT4("get8", GET),
    LAT4("acc8", ACC),
    LAT4("gacc8", GACC),
    LAT4("fop8", FOP),
    LAT4("cas8", CAS),
    {"lock excl+put8+unlock ALLOCATE", "us", lock_put, ALLOCATE, 0, 8, 0},
    {"lock shared+put8+unlock ALLOCATE", "us", lock_put, ALLOCATE, 1, 8, 0},
    {"lock nocheck+put8+unlock ALLOCATE", "us", lock_put, ALLOCATE, 2, 8, 0},
    {"lock excl+put8+unlock CREATE", "us", lock_put, CREATE, 0, 8, 0},
    {"lock shared+put8+unlock CREATE", "us", lock_put, CREATE, 1, 8, 0},
    {"lock nocheck+put8+unlock CREATE", "us", lock_put, CREATE, 2, 8, 0},
    {"lock excl+put8+unlock SHARED", "us", lock_put, SHARED, 0, 8, 0},
    {"lock excl+put8+unlock DYNAMIC", "us", lock_put, DYNAMIC, 0, 8, 0},
    {"lock_all+unlock_all ALLOCATE", "us", lock_all_empty, ALLOCATE, 0, 0, 0},
    {"lock excl+unlock ALLOCATE", "us", lock_put, ALLOCATE, 0, 0, 0},
    {"lock_all+unlock_all CREATE", "us", lock_all_empty, CREATE, 0, 0, 0},
    {"flush empty ALLOCATE", "us", flush_empty, ALLOCATE, 0, 0, 0},
    {"both: fop8+flush ALLOCATE", "us", op_flush, ALLOCATE, FOP, 8, 1},
    {"both: acc8+flush ALLOCATE", "us", op_flush, ALLOCATE, ACC, 8, 1},
    {"both: lock excl+put8+unlock ALLOCATE", "us", lock_put, ALLOCATE, 0, 8, 1},
    {"both: acc 64K ALLOCATE", "GB/s", op_flush, ALLOCATE, ACC, 65536, 1},
    {"both: fop8+flush CREATE", "us", op_flush, CREATE, FOP, 8, 1},
    {"fence+acc8 ALLOCATE", "us", fence, ALLOCATE, ACC, 8, 1},
    {"pscw+acc8 ALLOCATE", "us", pscw, ALLOCATE, ACC, 8, 1},
    {"pscw empty ALLOCATE", "us", pscw, ALLOCATE, PUT, 0, 1},
    {"fence+put8 ALLOCATE", "us", fence, ALLOCATE, PUT, 8, 1},
    {"fence+put8 CREATE", "us", fence, CREATE, PUT, 8, 1},
    {"fence+put8 SHARED", "us", fence, SHARED, PUT, 8, 1},
    {"fence+put8 DYNAMIC", "us", fence, DYNAMIC, PUT, 8, 1},
    {"fence empty ALLOCATE", "us", fence, ALLOCATE, PUT, 0, 1},
    {"pscw+put8 ALLOCATE", "us", pscw, ALLOCATE, PUT, 8, 1},
    {"pscw+put8 CREATE", "us", pscw, CREATE, PUT, 8, 1},
    {"pscw+put8 SHARED", "us", pscw, SHARED, PUT, 8, 1},
    {"pscw+put8 DYNAMIC", "us", pscw, DYNAMIC, PUT, 8, 1},
    RATE("put8", ALLOCATE, PUT),
    RATE("get8", ALLOCATE, GET),
    RATE("acc8", ALLOCATE, ACC),
    RATE("fop8", ALLOCATE, FOP),
    RATE("put8", SHARED, PUT),
    RATE("cas8", ALLOCATE, CAS),
    RATE("gacc8", ALLOCATE, GACC),
    RATE("put8", DYNAMIC, PUT),
    RATE("put8", CREATE, PUT),
    RATE("get8", CREATE, GET),
    RATE("acc8", CREATE, ACC),
    RATE("fop8", CREATE, FOP),
    BW("put 1K", ALLOCATE, PUT, 1024),
    BW("put 4K", ALLOCATE, PUT, 4096),
    BW("put 4M", ALLOCATE, PUT, 4 << 20),
    BW("get 4K", ALLOCATE, GET, 4096),
    BW("put 4K", CREATE, PUT, 4096),
    BW("acc 4K", ALLOCATE, ACC, 4096),
    BW("acc 1M", ALLOCATE, ACC, 1 << 20),
    BW("put 64K", ALLOCATE, PUT, 65536),
    BW("put 1M", ALLOCATE, PUT, 1 << 20),
    BW("get 64K", ALLOCATE, GET, 65536),
    BW("get 1M", ALLOCATE, GET, 1 << 20),
    BW("put 64K", CREATE, PUT, 65536),
    BW("put 1M", CREATE, PUT, 1 << 20),
    BW("get 64K", CREATE, GET, 65536),
    BW("get 1M", CREATE, GET, 1 << 20),
    BW("get 1K", ALLOCATE, GET, 1024),
    BW("get 4M", ALLOCATE, GET, 4 << 20),
    BW("acc 4M", ALLOCATE, ACC, 4 << 20),
    BW("gacc 4K", ALLOCATE, GACC, 4096),
    BW("gacc 1M", ALLOCATE, GACC, 1 << 20),
    BW("put 64K", SHARED, PUT, 65536),
    BW("put 64K", DYNAMIC, PUT, 65536),
    BW("acc 64K", SHARED, ACC, 65536),
    BW("acc 64K", DYNAMIC, ACC, 65536),
    BW("acc 64K", ALLOCATE, ACC, 65536),
    BW("acc 64K", CREATE, ACC, 65536),
    BW("gacc 64K", ALLOCATE, GACC, 65536),
    {"strided put 512x128 ALLOCATE", "GB/s", strided, ALLOCATE, 512, 128, 0},
    {"strided put 1024x8 ALLOCATE", "GB/s", strided, ALLOCATE, 1024, 8, 0},
    {"strided put 512x128 CREATE", "GB/s", strided, CREATE, 512, 128, 0},
    {"strided put 1024x8 CREATE", "GB/s", strided, CREATE, 1024, 8, 0},
    {"strided acc 512x128 ALLOCATE", "GB/s", strided, ALLOCATE, 512, 128, 0},
    {"strided get 512x128 ALLOCATE", "GB/s", strided, ALLOCATE, 512, 128, 0},
    {"strided get 512x128 CREATE", "GB/s", strided, CREATE, 512, 128, 0},
    {"strided get 1024x8 CREATE", "GB/s", strided, CREATE, 1024, 8, 0},
    {"window allocate+free", "us", window_life, ALLOCATE, ALLOCATE, 0, 1},
    {"window shared+free", "us", window_life, ALLOCATE, SHARED, 0, 1},
    {"window create+free", "us", window_life, ALLOCATE, CREATE, 0, 1},
    {"window dynamic+free", "us", window_life, ALLOCATE, DYNAMIC, 0, 1},
    {"busy target: put8 ALLOCATE", "us", busy, ALLOCATE, PUT, 8, BUSY_ROW},
    {"busy target: get8 ALLOCATE", "us", busy, ALLOCATE, GET, 8, BUSY_ROW},
    {"busy target: acc8 ALLOCATE", "us", busy, ALLOCATE, ACC, 8, BUSY_ROW},
    {"busy target: fop8 ALLOCATE", "us", busy, ALLOCATE, FOP, 8, BUSY_ROW},
    {"busy target: cas8 ALLOCATE", "us", busy, ALLOCATE, CAS, 8, BUSY_ROW},
    {"busy target: put 64K ALLOCATE", "GB/s", busy, ALLOCATE, PUT, 65536, BUSY_ROW},
    {"busy target: acc 64K ALLOCATE", "GB/s", busy, ALLOCATE, ACC, 65536, BUSY_ROW},
    {"busy target: lock excl+put8+unlock ALLOCATE", "us", busy, ALLOCATE, LOCKED, 8, BUSY_ROW},
    {"busy target: put8 CREATE", "us", busy, CREATE, PUT, 8, BUSY_ROW},
    {"busy target: acc8 CREATE", "us", busy, CREATE, ACC, 8, BUSY_ROW},
    {"busy target: fop8 CREATE", "us", busy, CREATE, FOP, 8, BUSY_ROW},
    {"busy target: cas8 CREATE", "us", busy, CREATE, CAS, 8, BUSY_ROW},
    {"busy target: fop8 DYNAMIC", "us", busy, DYNAMIC, FOP, 8, BUSY_ROW},
    {"send/recv 8", "us", pingpong, ALLOCATE, 0, 8, HALF},
    {"send/recv 1K", "us", pingpong, ALLOCATE, 0, 1024, HALF},
    {"send/recv 64K", "us", pingpong, ALLOCATE, 0, 65536, HALF},
    {"send/recv 1M", "us", pingpong, ALLOCATE, 0, 1 << 20, HALF},
    {"send/recv 64K written", "us", pingpong, ALLOCATE, 1, 65536, HALF},
    {"send/recv 1M written", "us", pingpong, ALLOCATE, 1, 1 << 20, HALF},
    {"send/recv 64K read", "us", pingpong, ALLOCATE, 2, 65536, HALF},
    {"send/recv 256K read", "us", pingpong, ALLOCATE, 2, 1 << 18, HALF},
    {"send/recv 1M read", "us", pingpong, ALLOCATE, 2, 1 << 20, HALF},
#ifdef MPIX_NOTIFY_MAX
    {"put_notify8 rate ALLOCATE", "Mop/s", notify_rate, ALLOCATE, 0, 8, 0},
    {"notified 8 polled ALLOCATE", "us", notified, ALLOCATE, 1, 8, HALF},
    {"notified 8 ALLOCATE", "us", notified, ALLOCATE, 0, 8, HALF},
    {"notified 1K ALLOCATE", "us", notified, ALLOCATE, 0, 1024, HALF},
    {"notified 64K ALLOCATE", "us", notified, ALLOCATE, 0, 65536, HALF},
    {"notified 256K ALLOCATE", "us", notified, ALLOCATE, 0, 1 << 18, HALF},
    {"notified 1M ALLOCATE", "us", notified, ALLOCATE, 0, 1 << 20, HALF},
    {"notified 8 CREATE", "us", notified, CREATE, 0, 8, HALF},
    {"notified 64K CREATE", "us", notified, CREATE, 0, 65536, HALF},
    LAT("put8", HANDLE, PUT),
    LAT("get8", HANDLE, GET),
    LAT("fop8", HANDLE, FOP),
    RATE("put8", HANDLE, PUT),
    BW("put 64K", HANDLE, PUT, 65536),
    BW("get 64K", HANDLE, GET, 65536),
    BW("put 1M", HANDLE, PUT, 1 << 20),
#endif
    {"line of data and flag SHARED", "us", by_line, SHARED, 0, 8, HALF},
    {"put+flush+flag 8 ALLOCATE", "us", by_flag, ALLOCATE, 0, 8, HALF},
    {"put+flush+flag 1K ALLOCATE", "us", by_flag, ALLOCATE, 0, 1024, HALF},
    {"put+flush+flag 64K ALLOCATE", "us", by_flag, ALLOCATE, 0, 65536, HALF},
    {"put+flush+flag 1M ALLOCATE", "us", by_flag, ALLOCATE, 0, 1 << 20, HALF},
    {"put+flush+flag 8 CREATE", "us", by_flag, CREATE, 0, 8, HALF},
    {"put by pscw 8 ALLOCATE", "us", by_pscw, ALLOCATE, 0, 8, HALF},
    {"put by pscw 1K ALLOCATE", "us", by_pscw, ALLOCATE, 0, 1024, HALF},
    {"put by pscw 64K ALLOCATE", "us", by_pscw, ALLOCATE, 0, 65536, HALF},
    {"put by pscw 1M ALLOCATE", "us", by_pscw, ALLOCATE, 0, 1 << 20, HALF},
    {"barrier", "us", collective, ALLOCATE, 0, 0, 1},
    {"allreduce 8", "us", collective, ALLOCATE, 1, 8, 1},
    {"allreduce 64K", "us", collective, ALLOCATE, 1, 65536, 1},
    {"bcast 64K", "us", collective, ALLOCATE, 2, 65536, 1},
    {"bcast 64K written", "us", collective, ALLOCATE, 3, 65536, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

static double batch(struct perf *p, const struct row *r, long n)
{
    double t;

    MPI_Barrier(MPI_COMM_WORLD);
    t = now();
    if (p->rank == 0 || r->both)
        r->body(p, r, n);
    t = now() - t;
    MPI_Barrier(MPI_COMM_WORLD);
    return t;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double measure(struct perf *p, const struct row *r)
{
    double t[BATCHES], each;
    long n = 1;
    int i, batches = r->both == BUSY_ROW ? 1 : BATCHES;

    while (r->both != BUSY_ROW) {
        each = batch(p, r, n);
        MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (each >= p->batch || n >= 1 << 26)
            break;
        n = each < p->batch / 20 ? n * 10 : (long)((double)n * p->batch / each * 1.1) + 1;
    }
    for (i = 0; i < batches; i++) {
        each = batch(p, r, n);
        t[i] = r->both == BUSY_ROW ? p->each : each / (double)n;
    }
    qsort(t, (size_t)batches, sizeof *t, by_value);
    each = t[batches / 4];
    if (strcmp(r->unit, "Mop/s") == 0)
        return 1e-6 / each;
    if (strcmp(r->unit, "GB/s") == 0)
        return 1e-9 * (r->body == strided ? r->op : 1) * r->size / each;
    return each * 1e6 / (r->both == HALF ? 2 : 1);
}

static int wanted(const char *list, const char *name)
{
    const char *p = list;
    size_t n = strlen(name);

    if (!list)
        return 1;
    for (; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == 0))
            return 1;
    return 0;
}

static void run(struct perf *p, const struct row *r)
{
    double v;

    if (p->rank == 0) {
        printf("row %s\n", r->name);
        fflush(stdout);
    }
    open_window(p, r->flavour);
#ifdef MPIX_NOTIFY_MAX
    if (r->body == notified || r->body == notify_rate)
        MPIX_Win_notify_set_num(p->win, MPI_INFO_NULL, 1);
#endif
    if (r->body == strided) {
        MPI_Type_vector(r->op, r->size / 8, 2 * r->size / 8, MPI_INT64_T, &p->type);
        MPI_Type_commit(&p->type);
    }
    v = measure(p, r);
    if (p->rank == 0) {
        printf("value %.6g %s\n", v, r->name);
        fflush(stdout);
    }
    if (r->body == strided)
        MPI_Type_free(&p->type);
    close_window(p);
}

int main(int argc, char **argv)
{
    struct perf p;
    const char *after = NULL, *list = NULL;
    int i, size, on;

    memset(&p, 0, sizeof p);
    p.batch = 0.010;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (i = 0; i < ROWS; i++)
                printf("%s\t%s\n", rows[i].name, rows[i].unit);
            return 0;
        }
        if (i + 1 < argc && strcmp(argv[i], "--ms") == 0)
            p.batch = atof(argv[++i]) * 1e-3;
        else if (i + 1 < argc && strcmp(argv[i], "--after") == 0)
            after = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--rows") == 0)
            list = argv[++i];
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        if (p.rank == 0)
            printf("rmaperf runs on two ranks\n");
        MPI_Finalize();
        return 2;
    }
    /* on pages, as windows are: else copies suffer or not from 4 KiB aliasing as malloc likes */
    p.buf = aligned_alloc(4096, WINDOW);
    p.res = aligned_alloc(4096, WINDOW);
    if (!p.buf || !p.res)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(p.buf, 0, WINDOW);
    memset(p.res, 0, WINDOW);
    for (i = 0, on = after == NULL; i < ROWS; i++) {
        if (on && wanted(list, rows[i].name))
            run(&p, &rows[i]);
        if (after && strcmp(after, rows[i].name) == 0)
            on = 1;
    }
    if (p.rank == 0)
        printf("end\n");
    free(p.buf);
    free(p.res);
    MPI_Finalize();
    return 0;
}
