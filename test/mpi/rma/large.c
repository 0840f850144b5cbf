/* large.c - windows and displacements beyond 2 and 4 GiB, the large-count forms of every call,
 * MPI_PROC_NULL and counts of zero for every operation in every kind of epoch. With --huge also one
 * transfer of more than 2 GiB into allocated memory, which takes that much of it. */
#include "rw.h"
#include <sys/mman.h>

static int64_t *at(struct rw *w, size_t bytes) { return (int64_t *)(void *)(w->mem + bytes); }

/* Every operation at one place of the neighbour; all of them in the form with large counts if
 * `c`. */
static void operations(MPI_Win win, int t, MPI_Aint d, int c, int requests, int64_t *got)
{
    static int64_t one = 1, two = 2, nine = 9;
    MPI_Request q[4];
    int n = 0;

    if (requests && c) {
        MPI_Rput_c(&two, 1, MPI_INT64_T, t, d, 1, MPI_INT64_T, win, &q[n++]);
        MPI_Rget_c(&got[0], 1, MPI_INT64_T, t, d + 8, 1, MPI_INT64_T, win, &q[n++]);
        MPI_Raccumulate_c(&two, 1, MPI_INT64_T, t, d + 16, 1, MPI_INT64_T, MPI_SUM, win, &q[n++]);
        MPI_Rget_accumulate_c(&two, 1, MPI_INT64_T, &got[1], 1, MPI_INT64_T, t, d + 24, 1,
                              MPI_INT64_T, MPI_SUM, win, &q[n++]);
    } else if (requests) {
        MPI_Rput(&two, 1, MPI_INT64_T, t, d, 1, MPI_INT64_T, win, &q[n++]);
        MPI_Rget(&got[0], 1, MPI_INT64_T, t, d + 8, 1, MPI_INT64_T, win, &q[n++]);
        MPI_Raccumulate(&two, 1, MPI_INT64_T, t, d + 16, 1, MPI_INT64_T, MPI_SUM, win, &q[n++]);
        MPI_Rget_accumulate(&two, 1, MPI_INT64_T, &got[1], 1, MPI_INT64_T, t, d + 24, 1,
                            MPI_INT64_T, MPI_SUM, win, &q[n++]);
    } else if (c) {
        MPI_Put_c(&two, 1, MPI_INT64_T, t, d, 1, MPI_INT64_T, win);
        MPI_Get_c(&got[0], 1, MPI_INT64_T, t, d + 8, 1, MPI_INT64_T, win);
        MPI_Accumulate_c(&two, 1, MPI_INT64_T, t, d + 16, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Get_accumulate_c(&two, 1, MPI_INT64_T, &got[1], 1, MPI_INT64_T, t, d + 24, 1,
                             MPI_INT64_T, MPI_SUM, win);
    } else {
        MPI_Put(&two, 1, MPI_INT64_T, t, d, 1, MPI_INT64_T, win);
        MPI_Get(&got[0], 1, MPI_INT64_T, t, d + 8, 1, MPI_INT64_T, win);
        MPI_Accumulate(&two, 1, MPI_INT64_T, t, d + 16, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Get_accumulate(&two, 1, MPI_INT64_T, &got[1], 1, MPI_INT64_T, t, d + 24, 1, MPI_INT64_T,
                           MPI_SUM, win);
    }
    MPI_Fetch_and_op(&one, &got[2], MPI_INT64_T, t, d + 32, MPI_SUM, win);
    MPI_Compare_and_swap(&nine, &one, &got[3], MPI_INT64_T, t, d + 40, win);
    if (n)
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
}

/* Memory that exists only where it is touched: as a window of 5 GiB, and attached. */
static void far_ends(void)
{
    static const size_t places[] = {0, ((size_t)1 << 31) - 24, (size_t)1 << 31,
                                    ((size_t)1 << 32) - 8, ((size_t)5 << 30) - 48};
    size_t bytes = (size_t)5 << 30;
    int dynamic, p, sync, t = (mt_rank + 1) % mt_size;
    char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    MUST(mem != MAP_FAILED, "no address space for 5 GiB");
    if (mem == MAP_FAILED)
        return;
    for (dynamic = 0; dynamic < 2; dynamic++) {
        struct rw w = {.mem = mem, .size = mt_size, .rank = mt_rank, .comm = MPI_COMM_WORLD};
        MPI_Aint here, *size, theirs = 0;
        int flag;

        if (dynamic) {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
            MPI_Win_attach(w.win, mem, (MPI_Aint)bytes);
            MPI_Get_address(mem, &here);
            MPI_Sendrecv(&here, 1, MPI_AINT, (mt_rank + mt_size - 1) % mt_size, 1, &theirs, 1,
                         MPI_AINT, t, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Win_create_c(mem, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
            MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &size, &flag);
            CHECK(flag && *size == (MPI_Aint)bytes);
        }
        MPI_Win_get_group(w.win, &w.all);
        for (p = 0; p < 5; p++)
            for (sync = 0; sync < RW_SYNCS; sync++) {
                int64_t got[4] = {-1, -1, -1, -1}, *m = at(&w, places[p]), i;
                static const int64_t before[] = {0, 11, 12, 13, 14, 1},
                                     after[] = {2, 11, 14, 15, 15, 9};
                int passive = sync >= RW_LOCK_EXCL;

                rw_own(&w);
                for (i = 0; i < 6; i++)
                    m[i] = before[i];
                rw_disown(&w);
                MPI_Barrier(MPI_COMM_WORLD);
                rw_begin(&w, sync, t);
                operations(w.win, t, theirs + (MPI_Aint)places[p], sync % 2, passive && p % 2, got);
                rw_end(&w, sync, t);
                MPI_Barrier(MPI_COMM_WORLD);
                MUST(got[0] == 11 && got[1] == 13 && got[2] == 14 && got[3] == 1,
                     "%s at %zu: fetched %lld %lld %lld %lld", rw_sync_names[sync], places[p],
                     (long long)got[0], (long long)got[1], (long long)got[2], (long long)got[3]);
                rw_own(&w);
                for (i = 0; i < 6; i++)
                    MUST(m[i] == after[i], "%s at %zu: cell %d is %lld", rw_sync_names[sync],
                         places[p], (int)i, (long long)m[i]);
                rw_disown(&w);
                MPI_Barrier(MPI_COMM_WORLD);
            }
        MPI_Group_free(&w.all);
        if (dynamic)
            MPI_Win_detach(w.win, mem);
        MPI_Win_free(&w.win);
    }
    munmap(mem, bytes);
}

/* A displacement unit that makes small displacements large, and a strided type over 4 GiB. */
static void wide(void)
{
    size_t bytes = (size_t)5 << 30;
    int t = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size, i;
    char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int64_t v[6], got[6] = {0};
    MPI_Datatype steps;
    MPI_Win win;

    MUST(mem != MAP_FAILED, "no address space for 5 GiB");
    if (mem == MAP_FAILED)
        return;
    MPI_Win_create(mem, (MPI_Aint)bytes, 1 << 30, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Type_create_hvector(5, 1, (MPI_Aint)1 << 30, MPI_INT64_T, &steps);
    MPI_Type_commit(&steps);
    for (i = 0; i < 6; i++)
        v[i] = 100 * mt_rank + i;
    MPI_Win_fence(0, win);
    MPI_Put(v, 5, MPI_INT64_T, t, 0, 1, steps, win);
    MPI_Win_fence(0, win);
    for (i = 0; i < 5; i++)
        CHECK_EQ(*(int64_t *)(void *)(mem + ((size_t)i << 30)), 100 * from + i);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(v + 5, 1, MPI_INT64_T, t, 4, 1, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    MPI_Get_c(got, 5, MPI_INT64_T, t, 0, 1, steps, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (i = 0; i < 5; i++)
        CHECK_EQ(got[i], 100 * mt_rank + (i == 4 ? 5 : i));
    MPI_Type_free(&steps);
    MPI_Win_free(&win);
    munmap(mem, bytes);
}

/* Creation and query with large counts. */
static void made_c(void)
{
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint size, unit, bytes = 8 * (mt_rank % 3);
    int64_t *p, *q;
    int n;

    MPI_Win_allocate_c(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win);
    MPI_Win_free(&win);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &n);
    MPI_Win_allocate_shared_c(16, 4 + n, MPI_INFO_NULL, node, &p, &win);
    MPI_Win_shared_query_c(win, n, &size, &unit, &q);
    CHECK(p == q && size == 16 && unit == 4 + n);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* No target, and no data: no operation touches anything, whatever its buffers are, and every
 * request completes. */
static void nothing(int flavour)
{
    struct rw w;
    int sync, k, t, passive;

    if (!rw_make(&w, flavour, 64, MPI_COMM_WORLD))
        return;
    memset(w.mem, 0x33, 64);
    t = (w.rank + 1) % w.size;
    MPI_Barrier(w.comm);
    for (sync = 0; sync < RW_SYNCS; sync++) {
        int64_t got[4] = {-1, -1, -1, -1}, v = 5;
        MPI_Aint end = rw_disp(&w, t, 64);
        MPI_Request q[8];

        passive = sync >= RW_LOCK_EXCL;
        rw_begin(&w, sync, t);
        for (k = 0; k < 4; k++)
            operations(w.win, MPI_PROC_NULL, k < 2 ? 0 : (MPI_Aint)1 << 40, k % 2, passive && k > 1,
                       got);
        MPI_Put(&v, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, w.win);
        MPI_Get(NULL, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, w.win);
        MPI_Put_c(NULL, 0, MPI_INT64_T, t, end, 0, MPI_BYTE, w.win);
        MPI_Get_c(got, 0, MPI_BYTE, t, end, 0, MPI_INT64_T, w.win);
        MPI_Accumulate(NULL, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, MPI_SUM, w.win);
        MPI_Accumulate_c(NULL, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, MPI_SUM, w.win);
        MPI_Get_accumulate(NULL, 0, MPI_INT64_T, got, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T,
                           MPI_SUM, w.win);
        MPI_Get_accumulate_c(NULL, 0, MPI_INT64_T, NULL, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T,
                             MPI_NO_OP, w.win);
        if (passive) {
            MPI_Rput(&v, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, w.win, &q[0]);
            MPI_Rget(got, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, w.win, &q[1]);
            MPI_Raccumulate(&v, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, MPI_SUM, w.win, &q[2]);
            MPI_Rget_accumulate(&v, 0, MPI_INT64_T, got, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T,
                                MPI_SUM, w.win, &q[3]);
            MPI_Rput_c(&v, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, w.win, &q[4]);
            MPI_Rget_c(got, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, w.win, &q[5]);
            MPI_Raccumulate_c(&v, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T, MPI_SUM, w.win, &q[6]);
            MPI_Rget_accumulate_c(&v, 0, MPI_INT64_T, got, 0, MPI_INT64_T, t, end, 0, MPI_INT64_T,
                                  MPI_SUM, w.win, &q[7]);
            MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
            MPI_Win_flush(MPI_PROC_NULL, w.win);
            MPI_Win_flush_local(MPI_PROC_NULL, w.win);
        }
        rw_end(&w, sync, t);
        for (k = 0; k < 4; k++)
            MUST(got[k] == -1, "%s, %s: result %d was written", rw_flavour_names[flavour],
                 rw_sync_names[sync], k);
        MPI_Barrier(w.comm);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w.win);
    MPI_Win_unlock(MPI_PROC_NULL, w.win);
    rw_own(&w);
    for (k = 0; k < 64; k++)
        CHECK_EQ(w.mem[k], 0x33);
    rw_disown(&w);
    MPI_Barrier(w.comm);
    rw_free(&w);
}

static void huge(void)
{
    size_t bytes = ((size_t)1 << 31) + 16;
    int last = mt_size - 1;
    char *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
         *mem, tail[32];
    MPI_Win win;

    MUST(out != MAP_FAILED, "no address space for 2 GiB");
    if (out == MAP_FAILED)
        return;
    MPI_Win_allocate(mt_rank == last ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
                     &win);
    memset(out + bytes - 20, 0x41 + mt_rank, 20); /* the rest is read from the page of zeros */
    MPI_Win_fence(0, win);
    if (mt_rank == 0)
        MPI_Put_c(out, (MPI_Count)bytes, MPI_BYTE, last, 0, (MPI_Count)bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    if (mt_rank == last)
        CHECK(mem[bytes - 1] == 0x41 && mem[bytes - 20] == 0x41 && mem[bytes - 21] == 0 &&
              mem[0] == 0);
    MPI_Get_c(tail, 32, MPI_BYTE, last, (MPI_Aint)bytes - 32, 32, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(tail[31] == 0x41 && tail[12] == 0x41 && tail[11] == 0);
    MPI_Win_free(&win);
    munmap(out, bytes);
}

int main(int argc, char **argv)
{
    int f;

    mt_init(&argc, &argv);
    far_ends();
    wide();
    made_c();
    for (f = 0; f < RW_FLAVOURS; f++)
        nothing(f);
    if (argc > 1 && strcmp(argv[1], "--huge") == 0)
        huge();
    return mt_finish();
}
