/* reuse.c - an origin buffer is the program's again after a call that completes it (MPI-3.1 11.3.5,
 * 11.5.4): flush_local, flush_local_all, flush, the end of a request, unlock. It is written over at
 * once; what arrives must be what was there before. Meanwhile the target computes now and then, or
 * does the same itself.
 *
 *   reuse [ROUNDS] */
#include "rw.h"

enum { SLOTS = 12, PART = 200 * 1024, LOCAL = 5 };
static const size_t lengths[] = {8,     1000,  4096,  16376,  16384, 16391,
                                 30000, 65536, 65541, 150000, PART};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One operation from buf to slot `slot` of rank t, over before it returns as far as the origin
 * goes. */
static void one(struct rw *w, int t, int slot, int how, int acc, size_t len, unsigned seed,
                char *buf)
{
    MPI_Aint at = rw_disp(w, t, (size_t)(w->rank * SLOTS + slot) * PART);
    MPI_Request r = MPI_REQUEST_NULL;

    mt_fill(buf, len, seed);
    if (how == 2 && acc)
        MPI_Raccumulate(buf, (int)len, MPI_BYTE, t, at, (int)len, MPI_BYTE, MPI_REPLACE, w->win,
                        &r);
    else if (how == 2)
        MPI_Rput(buf, (int)len, MPI_BYTE, t, at, (int)len, MPI_BYTE, w->win, &r);
    else if (acc)
        MPI_Accumulate(buf, (int)len, MPI_BYTE, t, at, (int)len, MPI_BYTE, MPI_REPLACE, w->win);
    else
        MPI_Put(buf, (int)len, MPI_BYTE, t, at, (int)len, MPI_BYTE, w->win);
    switch (how) {
    case 0: MPI_Win_flush_local(t, w->win); break;
    case 1: MPI_Win_flush_local_all(w->win); break;
    case 2: MPI_Wait(&r, MPI_STATUS_IGNORE); break;
    case 3: MPI_Win_flush(t, w->win); break;
    default:
        MPI_Win_unlock(t, w->win);
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
    }
    memset(buf, 0xa5, len);
}

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        ;
}

static void rounds(struct rw *w, int n, char *buf)
{
    unsigned seed;
    int round, s, t;

    for (round = 0; round < n; round++) {
        for (t = 0; t < w->size; t++)
            MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
        for (s = 0; s < SLOTS; s++) {
            t = (w->rank + 1 + s % (w->size > 1 ? w->size - 1 : 1)) % w->size;
            one(w, t, s, (s + round) % LOCAL, (s / 2 + round) % 3 == 0,
                lengths[(unsigned)(s + round * 5) % LENGTHS],
                (unsigned)(round * 1000 + w->rank * 100 + s), buf);
            if ((s + w->rank + round) % 7 == 0)
                compute(0.002);
        }
        for (t = 0; t < w->size; t++)
            MPI_Win_unlock(t, w->win);
        MPI_Barrier(w->comm);
        for (t = 0; t < w->size; t++)
            for (s = 0; s < SLOTS; s++) {
                size_t len = lengths[(unsigned)(s + round * 5) % LENGTHS];
                seed = (unsigned)(round * 1000 + t * 100 + s);
                if ((t + 1 + s % (w->size > 1 ? w->size - 1 : 1)) % w->size != w->rank)
                    continue;
                long wrong = mt_wrong(w->mem + (size_t)(t * SLOTS + s) * PART, len, seed);
                MUST(wrong < 0, "%s, round %d: byte %ld of %zu from rank %d in slot %d is wrong",
                     rw_flavour_names[w->flavour], round, wrong, len, t, s);
            }
        MPI_Barrier(w->comm);
    }
}

int main(int argc, char **argv)
{
    static const int flavours[] = {RW_ALLOCATE, RW_DYNAMIC};
    struct rw w;
    char *buf;
    int i, size;

    mt_init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buf = mt_alloc(PART);
    for (i = 0; i < 2; i++) {
        rw_make(&w, flavours[i], (size_t)size * SLOTS * PART, MPI_COMM_WORLD);
        rounds(&w, argc > 1 ? atoi(argv[1]) : 12, buf);
        rw_free(&w);
    }
    free(buf);
    return mt_finish();
}
