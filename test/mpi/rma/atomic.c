/* atomic.c - atomicity under contention: all ranks, the owner included, update the same elements at
 * once. Nothing is lost, tickets are unique, a lock made of compare_and_swap excludes. */
#include "rw.h"

enum { ROUNDS = 60, BIG = 3000 };

/* Accumulate, get_accumulate and fetch_and_op with MPI_SUM mixed on the same elements of a type. */
static void sums(struct rw *w, MPI_Datatype t, int size, size_t off, int count, const char *what)
{
    char *out = mt_alloc((size_t)(size * count)), *in = mt_alloc((size_t)(size * count));
    int i, k, r, bad = 0;
    uint64_t v, want;

    memset(out, 0, (size_t)(size * count));
    for (i = 0; i < count; i++) {
        v = 1;
        memcpy(out + i * size, &v, (size_t)size);           /* little endian */
    }
    rw_own(w);
    memset(w->mem + off, 0, (size_t)(size * count));
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
    for (k = 0; k < ROUNDS; k++)
        for (r = 0; r < w->size; r++) {
            MPI_Aint d = rw_disp(w, r, off);

            switch ((k + w->rank) % 3) {
            case 0: MPI_Accumulate(out, count, t, r, d, count, t, MPI_SUM, w->win); break;
            case 1:
                MPI_Get_accumulate(out, count, t, in, count, t, r, d, count, t, MPI_SUM, w->win);
                break;
            default:
                for (i = 0; i < count && i < 20; i++)
                    MPI_Fetch_and_op(out, in + i * size, t, r, MPI_Aint_add(d, i * size), MPI_SUM,
                                     w->win);
                if (count > 20)
                    MPI_Accumulate(out, count - 20, t, r, MPI_Aint_add(d, 20 * size), count - 20, t,
                                   MPI_SUM, w->win);
            }
            if (k % 4 == 0)
                MPI_Win_flush(r, w->win);
            else if (k % 3 == 1)
                MPI_Win_flush_local(r, w->win);
        }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
    rw_own(w);
    want = (uint64_t)ROUNDS * (uint64_t)w->size;
    for (i = 0; i < count; i++) {
        v = 0;
        memcpy(&v, w->mem + off + i * size, (size_t)size);
        bad += size < 8 ? v != (want & ((1ull << 8 * size) - 1)) : v != want;
    }
    rw_disown(w);
    MUST(bad == 0, "%s, %d elements of %d bytes at %zu, %s: %d lost updates", what, count, size,
         off, rw_flavour_names[w->flavour], bad);
    free(out);
    free(in);
    MPI_Barrier(w->comm);
}

/* Tickets by fetch_and_op, get_accumulate and compare_and_swap on one counter: each once. */
static void tickets(struct rw *w, int how)
{
    int n = ROUNDS * w->size, i;
    int64_t one = 1, got, seen, next;
    char *taken = calloc((size_t)n, 1), *all = calloc((size_t)n, 1);

    rw_own(w);
    memset(w->mem, 0, 8);
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < ROUNDS; i++) {
        MPI_Aint d = rw_disp(w, 0, 0);

        if (how == 0 || (how == 2 && (i + w->rank) % 2)) {
            MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, d, MPI_SUM, w->win);
            MPI_Win_flush(0, w->win);
        } else if (how == 2) {
            MPI_Get_accumulate(&one, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, 0, d, 1, MPI_INT64_T,
                               MPI_SUM, w->win);
            MPI_Win_flush(0, w->win);
        } else {
            seen = 0;
            for (;;) {
                next = seen + 1;
                MPI_Compare_and_swap(&next, &seen, &got, MPI_INT64_T, 0, d, w->win);
                MPI_Win_flush(0, w->win);
                if (got == seen)
                    break;
                seen = got;
            }
        }
        if (MUST(got >= 0 && got < n, "ticket %lld of %d", (long long)got, n))
            taken[got]++;
    }
    MPI_Win_unlock_all(w->win);
    MPI_Reduce(taken, all, n, MPI_CHAR, MPI_SUM, 0, w->comm);
    for (i = 0; i < n && w->rank == 0; i++)
        if (!MUST(all[i] == 1, "ticket %d was given %d times (way %d, %s)", i, all[i], how,
                  rw_flavour_names[w->flavour]))
            break;
    free(taken);
    free(all);
    MPI_Barrier(w->comm);
}

/* A lock word taken by compare_and_swap guards a counter that is read and written by get and
 * put. */
static void spin_lock(struct rw *w)
{
    int64_t mine = w->rank + 1, zero = 0, got, v, back;
    int i;

    rw_own(w);
    memset(w->mem, 0, 16);
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < ROUNDS / 2; i++) {
        do {
            MPI_Compare_and_swap(&mine, &zero, &got, MPI_INT64_T, 0, rw_disp(w, 0, 0), w->win);
            MPI_Win_flush(0, w->win);
        } while (got != 0);
        MPI_Get(&v, 1, MPI_INT64_T, 0, rw_disp(w, 0, 8), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(0, w->win);
        v++;
        MPI_Put(&v, 1, MPI_INT64_T, 0, rw_disp(w, 0, 8), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(0, w->win);
        MPI_Fetch_and_op(&zero, &back, MPI_INT64_T, 0, rw_disp(w, 0, 0), MPI_REPLACE, w->win);
        MPI_Win_flush(0, w->win);
        CHECK_EQ(back, mine);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
    rw_own(w);
    if (w->rank == 0)
        CHECK_EQ(*(int64_t *)(void *)(w->mem + 8), (int64_t)(ROUNDS / 2) * w->size);
    rw_disown(w);
    MPI_Barrier(w->comm);
}

/* MPI_NO_OP and REPLACE beside other operations: readers see whole elements. */
static void tearing(struct rw *w)
{
    int i;

    rw_own(w);
    memset(w->mem, 0, 8);
    rw_disown(w);
    MPI_Barrier(w->comm);
    MPI_Win_lock_all(0, w->win);
    for (i = 0; i < ROUNDS * 3; i++) {
        if (w->rank % 2) {
            uint64_t pattern = 0x0101010101010101ull * (uint64_t)(i % 200), back;

            MPI_Fetch_and_op(&pattern, &back, MPI_UINT64_T, 0, rw_disp(w, 0, 0), MPI_REPLACE,
                             w->win);
            MPI_Win_flush(0, w->win);
            CHECK(back % 0x0101010101010101ull == 0);
        } else {
            uint64_t back = 0;

            MPI_Fetch_and_op(NULL, &back, MPI_UINT64_T, 0, rw_disp(w, 0, 0), MPI_NO_OP, w->win);
            MPI_Win_flush(0, w->win);
            CHECK(back % 0x0101010101010101ull == 0);
        }
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w;
    int f, how, aligned, no_cas;

    mt_init(&argc, &argv);
    aligned = argc > 1 && strstr(argv[1], "aligned") != NULL;
    no_cas = argc > 1 && strstr(argv[1], "no-cas") != NULL;
    for (f = 0; f < RW_FLAVOURS; f++) {
        if (!rw_make(&w, f, 8 * BIG + 8192, MPI_COMM_WORLD))
            continue;
        sums(&w, MPI_INT8_T, 1, 3, 40, "sum");
        sums(&w, MPI_INT16_T, 2, 6, 40, "sum");
        sums(&w, MPI_INT32_T, 4, 4092, 40, "sum");
        sums(&w, MPI_INT64_T, 8, 4088, 40, "sum");
        sums(&w, MPI_UINT64_T, 8, 64, BIG, "sum of many");
        if (!aligned)
            sums(&w, MPI_INT64_T, 8, 4093, 30, "sum, misaligned");    /* elements across a page */
        for (how = 0; how < 3; how++)
            if (!(no_cas && how == 1))
                tickets(&w, how);
        if (!no_cas)
            spin_lock(&w);
        tearing(&w);
        rw_free(&w);
    }
    return mt_finish();
}
