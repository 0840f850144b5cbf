/* serves.c - MPIX_WIN_PROGRESS is right both ways. Rank 0 computes. What the attribute calls
 * MPIX_PROGRESS_ALONE or MPIX_PROGRESS_THREAD ends meanwhile; then a signal ends the computing.
 * What it calls MPIX_PROGRESS_TARGET does not end before rank 0 calls MPI. `serves known`: nothing
 * is MPIX_PROGRESS_UNKNOWN. */
#define _GNU_SOURCE
#include "rw.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 7, BLOCKS = 100, NOTE = 0 };
static const struct {
    const char *name;
    int shift;
} kinds[KINDS] = {{"put", MPIX_PROGRESS_PUT},
                  {"get", MPIX_PROGRESS_GET},
                  {"accumulate", MPIX_PROGRESS_ACCUMULATE},
                  {"fetch", MPIX_PROGRESS_FETCH},
                  {"lock", MPIX_PROGRESS_LOCK},
                  {"notification", MPIX_PROGRESS_NOTIFICATION},
                  {"strided", MPIX_PROGRESS_STRIDED}};
static volatile sig_atomic_t over;
static MPI_Datatype strided;
static int known;

static void on_signal(int sig)
{
    (void)sig;
    over = 1;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void one(struct rw *w, int kind)
{
    static int64_t v = 1, got, many[2 * BLOCKS];
    MPI_Aint at = rw_disp(w, 0, 64);

    switch (kind) {
    case 0: MPI_Put(&v, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, w->win); break;
    case 1: MPI_Get(&got, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, w->win); break;
    case 2: MPI_Accumulate(&v, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_SUM, w->win); break;
    case 3: MPI_Fetch_and_op(&v, &got, MPI_INT64_T, 0, at, MPI_SUM, w->win); break;
    case 5:
        MPIX_Put_notify(&v, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, NOTE, w->win);
        break;
    default: MPI_Put(many, 1, strided, 0, at, 1, strided, w->win); break;
    }
}

/* Empty far epochs send nothing: a put makes its lock be taken. */
static void locked(struct rw *w, int far)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
    if (far)
        one(w, 0);
    MPI_Win_unlock(0, w->win);
}

/* Rank 1. The others are of no matter. */
static void origin(struct rw *w, int kind, int is, int put_is)
{
    pid_t target;
    double ends, until;

    if (kind != 4) { /* the lock is held already */
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
        one(w, 0);
        MPI_Win_flush(0, w->win);
    }
    MPI_Recv(&target, sizeof target, MPI_BYTE, 0, 1, w->comm, MPI_STATUS_IGNORE);
    MPI_Recv(&until, 1, MPI_DOUBLE, 0, 1, w->comm, MPI_STATUS_IGNORE);
    if (kind != 4) {
        one(w, kind);
        MPI_Win_flush(0, w->win);
    } else {
        locked(w, is != MPIX_PROGRESS_ALONE && put_is == is);
    }
    ends = now();
    if (is == MPIX_PROGRESS_TARGET)
        MUST(ends >= until, "%s: %s ended %.3f s before its target called MPI",
             rw_flavour_names[w->flavour], kinds[kind].name, until - ends);
    else
        MUST(ends < until, "%s: %s did not end while its target computed",
             rw_flavour_names[w->flavour], kinds[kind].name);
    if (ends < until)
        kill(target, SIGUSR1);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 2, w->comm); /* the signal has been sent, or none is */
    if (kind != 4)
        MPI_Win_unlock(0, w->win);
}

static void target(struct rw *w, int is)
{
    pid_t me = getpid();
    double until;

    over = 0;
    MPI_Send(&me, sizeof me, MPI_BYTE, 1, 1, w->comm);
    until = now() + (is == MPIX_PROGRESS_TARGET ? 0.2 : 20);
    MPI_Send(&until, 1, MPI_DOUBLE, 1, 1, w->comm);
    while (!over && now() < until)
        ;
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, w->comm, MPI_STATUS_IGNORE);
}

static const char *text_of(MPI_Win win, char *value)
{
    MPI_Info i;
    int flag;

    MPI_Win_get_info(win, &i);
    MPI_Info_get(i, "mpix_progress", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag);
    MPI_Info_free(&i);
    return value;
}

/* The text says the same. */
static void text(struct rw *w, int bits)
{
    static const char *const words[] = {"alone", "thread", "target", "unknown"};
    char value[MPI_MAX_INFO_VAL + 1], want[MPI_MAX_INFO_VAL + 1];
    size_t at = 0;
    int k;

    for (k = 0; k < KINDS; k++)
        at += (size_t)snprintf(want + at, sizeof want - at, "%s%s:%s", k ? "," : "", kinds[k].name,
                               words[bits >> kinds[k].shift & 3]);
    MUST(!strcmp(text_of(w->win, value), want), "%s, not %s", value, want);
}

/* The same by target: this rank is not in need of itself, and the worst of all is `worst`. */
static void by_target(struct rw *w, const char *name, int worst)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    int i, k, n = 0, index, all = 0;
    unsigned long long *v;

    MUST(!MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index), "no variable %s", name);
    MPI_T_pvar_session_create(&s);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, index, NULL, &h, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, index, &w->win, &h, &n), MPI_SUCCESS);
    CHECK_EQ(n, w->size);
    v = mt_alloc(sizeof *v * (size_t)w->size);
    CHECK_EQ(MPI_T_pvar_read(s, h, v), MPI_SUCCESS);
    CHECK_EQ(v[w->rank], 0);
    for (i = 0; i < w->size; i++)
        for (k = 0; k < KINDS; k++)
            if ((all >> kinds[k].shift & 3) < (int)(v[i] >> kinds[k].shift & 3))
                all = (all & ~(3 << kinds[k].shift)) | ((int)v[i] & 3 << kinds[k].shift);
    CHECK_EQ(all, worst);
    CHECK_EQ(MPI_T_pvar_readreset(s, h, v), MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK_EQ(MPI_T_pvar_write(s, h, v), MPI_T_ERR_PVAR_NO_WRITE);
    free(v);
    MPI_T_pvar_handle_free(s, &h);
    MPI_T_pvar_session_free(&s);
}

/* Rank 0 puts, and only some of it is known to be done: never more than that. A handle outlives its
 * window, and reads no later one. */
static void counted(void)
{
    enum { MANY = 20 };
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    int i, n, index, rank, size;
    long *mem, v = 7;
    unsigned long long *waits;
    MPI_Win win;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mem = mt_alloc(MANY * sizeof *mem);
    waits = mt_alloc(sizeof *waits * (size_t)size);
    MPI_Win_create(mem, MANY * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_T_pvar_get_index("rma_outstanding", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_session_create(&s);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, index, &win, &h, &n), MPI_SUCCESS);
    MPI_Win_lock_all(0, win);
    for (i = 0; rank == 0 && i < MANY; i++)
        MPI_Put(&v, 1, MPI_LONG, size - 1, i, 1, MPI_LONG, win);
    CHECK_EQ(MPI_T_pvar_read(s, h, waits), MPI_SUCCESS);
    for (i = 0; i < size; i++)
        CHECK(waits[i] <= (rank == 0 && i == size - 1 ? MANY : 0));
    MPI_Win_flush_all(win);
    CHECK_EQ(MPI_T_pvar_read(s, h, waits), MPI_SUCCESS);
    for (i = 0; i < size; i++)
        CHECK_EQ(waits[i], 0);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    CHECK_EQ(MPI_T_pvar_read(s, h, waits), MPI_T_ERR_INVALID_HANDLE);
    MPI_Win_create(mem, MANY * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK_EQ(MPI_T_pvar_read(s, h, waits), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_session_free(&s);
    MPI_Win_free(&win);
    free(waits);
    free(mem);
}

static void each(struct rw *w)
{
    int *bits, flag, k, err, is, worst;

    MPI_Win_get_attr(w->win, MPIX_WIN_PROGRESS, &bits, &flag);
    MUST(flag, "the window has no attribute MPIX_WIN_PROGRESS");
    worst = *bits;
    text(w, worst);
    by_target(w, "rma_progress", worst);
    by_target(w, "rma_outstanding", 0);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    err = MPI_Win_set_attr(w->win, MPIX_WIN_PROGRESS, bits);
    CHECK_EQ(mt_class(err), MPI_ERR_KEYVAL);
    err = MPI_Win_delete_attr(w->win, MPIX_WIN_PROGRESS);
    CHECK_EQ(mt_class(err), MPI_ERR_KEYVAL);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
    MPIX_Win_notify_set_num(w->win, MPI_INFO_NULL, 1);
    MPI_Barrier(w->comm);
    for (k = 0; k < KINDS && w->size > 1; k++) {
        is = worst >> kinds[k].shift & 3;
        CHECK(!known || is != MPIX_PROGRESS_UNKNOWN);
        if (is == MPIX_PROGRESS_UNKNOWN)
            continue;
        if (w->rank == 0)
            target(w, is);
        else if (w->rank == 1)
            origin(w, k, is, worst >> MPIX_PROGRESS_PUT & 3);
        MPI_Barrier(w->comm);
    }
}

int main(int argc, char **argv)
{
    struct rw w;
    int f, provided;

    known = argc > 1 && !strcmp(argv[1], "known");
    mt_init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    signal(SIGUSR1, on_signal);
    MPI_Type_vector(BLOCKS, 1, 2, MPI_INT64_T, &strided);
    MPI_Type_commit(&strided);
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, 4096, MPI_COMM_WORLD))
            continue;
        each(&w);
        rw_free(&w);
    }
    counted();
    MPI_T_finalize();
    MPI_Type_free(&strided);
    return mt_finish();
}
