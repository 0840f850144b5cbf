/* holes.c - bytes that are not an operation's are neither written nor read: the gap inside an
 * element of MPI_SHORT_INT, what lies behind the last element of a window whose type is padded, and
 * the page behind that. They are others' to store at the same time (MPI-3.1 11.7: only accesses to
 * one location conflict), the owner's own data among them. */
#include "rw.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pairs as they lie in memory, and where their data end. */
struct di { double v; int i; };
struct li { long v; int i; };
struct ldi { long double v; int i; };
struct si { short v; int i; };
enum { HEAD = 16, ROOM = 64, BUSY_MS = 120 };

static const struct kind {
    const char *name;
    MPI_Datatype *type;
    int end;
} kinds[] = {
    {"DOUBLE_INT", &(MPI_Datatype){MPI_DOUBLE_INT}, offsetof(struct di, i) + sizeof(int)},
    {"LONG_INT", &(MPI_Datatype){MPI_LONG_INT}, offsetof(struct li, i) + sizeof(int)},
    {"LONG_DOUBLE_INT", &(MPI_Datatype){MPI_LONG_DOUBLE_INT},
     offsetof(struct ldi, i) + sizeof(int)},
    {"SHORT_INT", &(MPI_Datatype){MPI_SHORT_INT}, offsetof(struct si, i) + sizeof(int)},
    {"2INT", &(MPI_Datatype){MPI_2INT}, 2 * sizeof(int)},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void pair_set(const struct kind *k, void *at, int v, int i)
{
    struct di d = {v, i};
    struct li l = {v, i};
    struct ldi ld = {v, i};
    struct si s = {(short)v, i};
    int two[2] = {v, i};

    if (*k->type == MPI_DOUBLE_INT)
        memcpy(at, &d, sizeof d);
    else if (*k->type == MPI_LONG_INT)
        memcpy(at, &l, sizeof l);
    else if (*k->type == MPI_LONG_DOUBLE_INT)
        memcpy(at, &ld, sizeof ld);
    else if (*k->type == MPI_SHORT_INT)
        memcpy(at, &s, sizeof s);
    else
        memcpy(at, two, sizeof two);
}

static int pair_index(const struct kind *k, const void *at)
{
    int i;

    memcpy(&i, (const char *)at + k->end - (int)sizeof i, sizeof i);
    return i;
}

/* The owner's word behind the window, or a byte of the gap: stored and looked at until all others
 * are done, first without a call, so that they must come by themselves. */
static long watch(volatile unsigned char *byte, volatile int *done, int others)
{
    double t = MPI_Wtime();
    unsigned char v = 0;
    long lost = 0;
    int k, flag, busy = 1;

    while (busy || *done < others) {
        for (k = 0; k < 1000; k++) {
            *byte = ++v;
            for (volatile int pause = 0; pause < 5; pause++)
                ;
            lost += *byte != v;
        }
        busy = busy && MPI_Wtime() - t < BUSY_MS / 1000.0;
        if (!busy)
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    return lost;
}

static void accumulate_for_a_while(const struct kind *k, MPI_Win win, int at)
{
    char in[32], old[32];
    double t = MPI_Wtime();
    int turn;

    for (turn = 1; MPI_Wtime() - t < 2 * BUSY_MS / 1000.0; turn++) {
        pair_set(k, in, turn % 30000, turn);
        switch (turn % 3) {
        case 0: MPI_Accumulate(in, 1, *k->type, 0, at, 1, *k->type, MPI_MAXLOC, win); break;
        case 1:
            MPI_Get_accumulate(in, 1, *k->type, old, 1, *k->type, 0, at, 1, *k->type, MPI_REPLACE,
                               win);
            break;
        default: MPI_Fetch_and_op(in, old, *k->type, 0, at, MPI_MINLOC, win);
        }
        MPI_Win_flush(0, win);
    }
}

static void tell(MPI_Win win)
{
    int one = 1;

    MPI_Win_flush(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(0, win);
}

/*  count of ranks that are done | pair |, and whatever the owner has behind it. */
static void behind(const struct kind *k)
{
    char *mem = calloc(1, ROOM);
    MPI_Win win;

    MPI_Win_create(mem, mt_rank == 0 ? HEAD + k->end : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0) {
        long lost = watch((unsigned char *)mem + HEAD + k->end, (volatile int *)(void *)mem,
                          mt_size - 1);
        MUST(lost == 0, "MPI_%s: %ld stores behind the window were undone", k->name, lost);
    } else {
        accumulate_for_a_while(k, win, HEAD);
        tell(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    free(mem);
}

/* Rank 1 accumulates, the owner stores one byte of the gap, the others put and get one, each its
 * own element's. */
static void inside(int flavour)
{
    const struct kind *k = &kinds[3];
    struct rw w;

    if (!rw_make(&w, flavour, HEAD + (size_t)mt_size * sizeof(struct si), MPI_COMM_WORLD))
        return;
    MPI_Win_lock_all(0, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0) {
        long lost = watch((unsigned char *)w.mem + HEAD + sizeof(short),
                          (volatile int *)(void *)w.mem, mt_size - 1);
        MUST(lost == 0, "%s: %ld stores to a gap were undone", rw_flavour_names[flavour], lost);
    } else if (mt_rank == 1) {
        char in[32];
        double t = MPI_Wtime();
        for (int turn = 1; MPI_Wtime() - t < 2 * BUSY_MS / 1000.0; turn++) {
            pair_set(k, in, turn % 30000, turn);
            for (int i = 0; i < mt_size; i++)
                MPI_Accumulate(in, 1, MPI_SHORT_INT, 0,
                               rw_disp(&w, 0, HEAD + (size_t)i * sizeof(struct si)), 1,
                               MPI_SHORT_INT, turn % 2 ? MPI_REPLACE : MPI_MAXLOC, w.win);
            MPI_Win_flush(0, w.win);
        }
    } else {
        MPI_Aint at = rw_disp(&w, 0,
                              HEAD + (size_t)(mt_rank - 1) * sizeof(struct si) + sizeof(short));
        unsigned char v = 0, got;
        double t = MPI_Wtime();
        long lost = 0;
        while (MPI_Wtime() - t < 2 * BUSY_MS / 1000.0) {
            v++;
            MPI_Put(&v, 1, MPI_BYTE, 0, at, 1, MPI_BYTE, w.win);
            MPI_Win_flush(0, w.win);
            MPI_Get(&got, 1, MPI_BYTE, 0, at, 1, MPI_BYTE, w.win);
            MPI_Win_flush(0, w.win);
            lost += got != v;
        }
        MUST(lost == 0, "%s: %ld bytes put to a gap were overwritten", rw_flavour_names[flavour],
             lost);
    }
    if (mt_rank) {
        int one = 1;
        MPI_Accumulate(&one, 1, MPI_INT, 0, rw_disp(&w, 0, 0), 1, MPI_INT, MPI_SUM, w.win);
        MPI_Win_flush(0, w.win);
    }
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    rw_free(&w);
}

/* Behind the window there is no memory that may be touched. */
static void page_end(const struct kind *k)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *mem = all + page - k->end;
    char in[32], more[32], old[32];
    int err[4] = {0, 0, 0, 0}, i, next = (mt_rank + 1) % mt_size;
    MPI_Win win;

    CHECK(all != MAP_FAILED && mprotect(all + page, page, PROT_NONE) == 0);
    memset(in, 0, sizeof in);
    pair_set(k, in, 5, 50);
    memcpy(mem, in, (size_t)k->end);
    MPI_Win_create(mem, k->end, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank % 2)
        usleep(30000); /* in no call: peers come by themselves */
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    pair_set(k, in, 7, 70);
    err[0] = MPI_Accumulate(in, 1, *k->type, next, 0, 1, *k->type, MPI_MAXLOC, win);
    pair_set(k, more, 9, 90);
    err[1] = MPI_Fetch_and_op(more, old, *k->type, next, 0, MPI_REPLACE, win);
    err[2] = MPI_Win_flush(next, win);
    CHECK_EQ(pair_index(k, old), 70);
    err[3] = MPI_Get_accumulate(NULL, 0, MPI_BYTE, old, 1, *k->type, next, 0, 1, *k->type,
                                MPI_NO_OP, win);
    CHECK_EQ(MPI_Win_unlock(next, win), MPI_SUCCESS);
    CHECK_EQ(pair_index(k, old), 90);
    for (i = 0; i < 4; i++)
        MUST(err[i] == MPI_SUCCESS, "MPI_%s at the end of a page: call %d says class %d", k->name,
             i, mt_class(err[i]));
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    memset(old, 0, sizeof old);
    CHECK_EQ(MPI_Get(old, 1, *k->type, next, 0, 1, *k->type, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(next, win), MPI_SUCCESS);
    CHECK_EQ(pair_index(k, old), 90);
    pair_set(k, in, 11, 110);
    CHECK_EQ(MPI_Put(in, 1, *k->type, next, 0, 1, *k->type, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(next, win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(pair_index(k, mem), 110);
    MPI_Win_free(&win);
    munmap(all, 2 * page);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    for (int k = 0; k < KINDS; k++) {
        behind(&kinds[k]);
        page_end(&kinds[k]);
    }
    for (int f = 0; f < RW_FLAVOURS; f++)
        inside(f);
    return mt_finish();
}
