/* handles.c - memory handles of dynamic windows: every operation by them, on memory of each kind;
 * how they end, alone and with their memory; what is refused, and that it touches nothing. */
#include "rw.h"

enum { LONGS = 4000, PART = 1500, MANY = 1100 };

static int left, right;
static MPI_Win win;

static MPI_Aint longs(int n)
{
    return n * (MPI_Aint)sizeof(int64_t);
}

/* To the left neighbour goes mine; the right one's comes. */
static MPI_Aint passed(MPI_Aint mine)
{
    MPI_Aint theirs;

    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 1, &theirs, 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return theirs;
}

/* A put of n elements to the right: the class of its error, from the call or from the flush. */
static int put_class(MPI_Aint at, int n)
{
    static const int64_t bad[PART] = {-1};
    int err = MPI_Put(bad, n, MPI_INT64_T, right, at, n, MPI_INT64_T, win);

    return mt_class(err ? err : MPI_Win_flush(right, win));
}

static int get_class(MPI_Aint at, int n)
{
    static int64_t to[PART];
    int err = MPI_Get(to, n, MPI_INT64_T, right, at, n, MPI_INT64_T, win);

    return mt_class(err ? err : MPI_Win_flush(right, win));
}

static int sum_class(MPI_Aint at)
{
    int64_t one = 1, old;
    int err = MPI_Fetch_and_op(&one, &old, MPI_INT64_T, right, at, MPI_SUM, win);

    return mt_class(err ? err : MPI_Win_flush(right, win));
}

/* Puts and gets of n elements, until a network that moves them by itself knows the key. */
static void move_all(MPI_Aint at, int n, int64_t first)
{
    int64_t from[PART], to[PART];
    int round, i, bad = 0;

    for (round = 0; round < 4; round++) {
        for (i = 0; i < n; i++) {
            from[i] = first + i + round;
            to[i] = -1;
        }
        MPI_Put(from, n, MPI_INT64_T, right, at, n, MPI_INT64_T, win);
        MPI_Win_flush(right, win);
        MPI_Get(to, n, MPI_INT64_T, right, at, n, MPI_INT64_T, win);
        MPI_Win_flush(right, win);
        for (i = 0; i < n; i++)
            bad += to[i] != from[i];
    }
    MUST(bad == 0, "%d elements: %d wrong", n, bad);
}

static void single_ones(MPI_Aint at, const int64_t *mem)
{
    int64_t one = 1, old = -1, want, new = 77, got[3] = {0, 0, 0}, v[3] = {1, 2, 3};
    MPI_Datatype every2;
    MPI_Request r;
    int i;

    MPI_Put(&one, 1, MPI_INT64_T, right, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(right, win);
    for (i = 0; i < 10; i++)
        MPI_Accumulate(&one, 1, MPI_INT64_T, right, at, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(right, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, right, at, MPI_SUM, win);
    MPI_Win_flush(right, win);
    CHECK_EQ(old, 11);
    want = 12;
    MPI_Compare_and_swap(&new, &want, &old, MPI_INT64_T, right, at, win);
    MPI_Win_flush(right, win);
    CHECK_EQ(old, 12);
    MPI_Get_accumulate(&one, 1, MPI_INT64_T, got, 1, MPI_INT64_T, right, at, 1, MPI_INT64_T,
                       MPI_NO_OP, win);
    MPI_Win_flush(right, win);
    CHECK_EQ(got[0], 77);
    MPI_Type_vector(3, 1, 2, MPI_INT64_T, &every2);
    MPI_Type_commit(&every2);
    MPI_Rput(v, 3, MPI_INT64_T, right, at + longs(8), 1, every2, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget(got, 3, MPI_INT64_T, right, at + longs(8), 1, every2, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got[0] == 1 && got[1] == 2 && got[2] == 3);
    MPI_Type_free(&every2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    CHECK(mem[0] == 77 && mem[8] == 1 && mem[9] == 0 && mem[10] == 2 && mem[12] == 3);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Beyond its memory, and before it: refused, and the memory around it stays. mem: LONGS, of which
 * the handle has PART from LONGS / 2 on. */
static void range(MPI_Aint at, const int64_t *mem)
{
    int i, bad = 0;

    CHECK_EQ(put_class(at + longs(PART) - 4, 1), MPI_ERR_RMA_RANGE);
    CHECK_EQ(put_class(at + longs(PART), 1), MPI_ERR_RMA_RANGE);
    CHECK_EQ(put_class(at + longs(1), PART), MPI_ERR_RMA_RANGE);
    CHECK_EQ(put_class(at - 8, 1), MPI_ERR_RMA_RANGE);
    CHECK_EQ(get_class(at + longs(2), PART), MPI_ERR_RMA_RANGE);
    CHECK_EQ(sum_class(at + longs(PART) - 4), MPI_ERR_RMA_RANGE);
    CHECK_EQ(put_class(at + longs(PART - 1), 1), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < LONGS; i++)
        bad += (i < LONGS / 2 || i >= LONGS / 2 + PART) && mem[i] != 0;
    MUST(bad == 0, "%d elements outside were changed", bad);
    CHECK_EQ(mem[LONGS / 2 + PART - 1], -1);
}

/* It has ended: refused. */
static void is_stale(MPI_Aint at, const char *how)
{
    MUST(put_class(at, 1) == MPI_ERR_RMA_RANGE, "put by a handle, %s", how);
    MUST(put_class(at, PART) == MPI_ERR_RMA_RANGE, "long put by a handle, %s", how);
    MUST(get_class(at, PART) == MPI_ERR_RMA_RANGE, "get by a handle, %s", how);
    MUST(sum_class(at) == MPI_ERR_RMA_RANGE, "sum by a handle, %s", how);
}

/* Of memory of one kind, made and ended in every way. The address as a displacement stays valid as
 * long as the memory is attached. */
static void one_kind(int64_t *mem, int attach)
{
    int64_t *part = mem + LONGS / 2;
    MPI_Aint mine, theirs, again, address;

    memset(mem, 0, (size_t)longs(LONGS));
    if (attach)
        MPI_Win_attach(win, mem, longs(LONGS));
    CHECK(MPIX_Memhandle_create(win, part, longs(PART), &mine) == MPI_SUCCESS);
    theirs = passed(mine);
    MPI_Get_address(part, &address);
    address = passed(address);
    move_all(theirs, 1, mt_rank);
    move_all(theirs, PART, mt_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(part, 0, (size_t)longs(PART));
    MPI_Barrier(MPI_COMM_WORLD);
    single_ones(theirs, part);
    range(theirs, mem);
    CHECK_EQ(put_class(address, 1), MPI_SUCCESS);

    /* a second handle of the same memory lives on */
    CHECK(MPIX_Memhandle_create(win, part, longs(PART), &again) == MPI_SUCCESS && again != mine);
    again = passed(again);
    move_all(again, PART, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPIX_Memhandle_free(win, mine) == MPI_SUCCESS);
    CHECK_EQ(mt_class(MPIX_Memhandle_free(win, mine)), MPI_ERR_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    is_stale(theirs, "freed");
    move_all(again, PART, 2);
    CHECK_EQ(put_class(address, 1), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);

    /* the memory goes, and comes back: no old handle is of it */
    CHECK(MPI_Win_detach(win, attach ? mem : part) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(mem, 0, (size_t)longs(LONGS));
    MPI_Barrier(MPI_COMM_WORLD);
    is_stale(again, "detached");
    CHECK(MPIX_Memhandle_create(win, part, longs(PART), &mine) == MPI_SUCCESS);
    theirs = passed(mine);
    is_stale(again, "detached, attached again");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(part[0] == 0 && part[PART - 1] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    move_all(theirs, PART, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPIX_Memhandle_free(win, mine) == MPI_SUCCESS); /* and detaches it */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(put_class(address, 1), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* More than a process shows to others, used and ended in mixed order. */
static void many(void)
{
    int64_t *mem = mt_alloc((size_t)longs(MANY));
    MPI_Aint *mine = mt_alloc(sizeof *mine * MANY), *theirs = mt_alloc(sizeof *theirs * MANY);
    int i, bad = 0;

    memset(mem, 0, (size_t)longs(MANY));
    MPI_Win_attach(win, mem, longs(MANY));
    for (i = 0; i < MANY; i++)
        MPIX_Memhandle_create(win, mem + i, longs(1), &mine[i]);
    MPI_Sendrecv(mine, MANY, MPI_AINT, left, 1, theirs, MANY, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (i = 0; i < MANY; i++) {
        int64_t v = mt_rank * MANY + i;

        MPI_Put(&v, 1, MPI_INT64_T, right, theirs[i], 1, MPI_INT64_T, win);
        MPI_Win_flush_local(right, win);
    }
    MPI_Win_flush(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < MANY; i++)
        bad += mem[i] != left * MANY + i;
    MUST(bad == 0, "%d handles: %d wrong", MANY, bad);
    for (i = 0; i < MANY; i++)
        bad += MPIX_Memhandle_free(win, mine[i * 7 % MANY]) != MPI_SUCCESS;
    CHECK_EQ(bad, 0);
    MPI_Win_detach(win, mem);
    free(mem), free(mine), free(theirs);
}

/* On a duplicate, with a notification, and in the other epochs. */
static void elsewhere(void)
{
    int64_t *mem, v[PART] = {5}, one = 1;
    MPI_Aint mine, theirs;
    MPI_Request r;
    MPI_Win dup;
    int i;

    MPI_Alloc_mem(longs(LONGS), MPI_INFO_NULL, &mem);
    memset(mem, 0, (size_t)longs(LONGS));
    MPIX_Memhandle_create(win, mem, longs(LONGS), &mine);
    theirs = passed(mine);
    MPIX_Win_idup(win, MPI_INFO_NULL, &dup, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (i = 0; i < 3; i++) {
        MPI_Put(v, PART, MPI_INT64_T, right, theirs, PART, MPI_INT64_T, dup);
        MPI_Win_flush(right, dup);
    }
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPIX_Put_notify(v, PART, MPI_INT64_T, right, theirs + longs(PART), PART, MPI_INT64_T, 0, win);
    MPIX_Put_notify(&one, 1, MPI_INT64_T, right, theirs + longs(2 * PART), 1, MPI_INT64_T, 0, win);
    MPIX_Win_notify_wait(win, 0, 2);
    CHECK(mem[PART] == 5 && mem[2 * PART] == 1);
    MPI_Win_flush_all(win);
    MPI_Win_free(&dup);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT64_T, right, theirs + longs(3), 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    CHECK(mem[0] == 5 && mem[3] == 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(&one, 1, MPI_INT64_T, right, theirs + longs(4), 1, MPI_INT64_T, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(mem[4], 1);
    MPIX_Memhandle_free(win, mine);
    MPI_Free_mem(mem);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
}

static void wrong_ones(int64_t *mem)
{
    MPI_Win other;
    MPI_Aint h = 5;
    void *base;

    CHECK_EQ(mt_class(MPIX_Memhandle_create(win, mem, -1, &h)), MPI_ERR_SIZE);
    CHECK_EQ(mt_class(MPIX_Memhandle_create(win, NULL, 8, &h)), MPI_ERR_BASE);
    CHECK_EQ(mt_class(MPIX_Memhandle_create(win, mem, 8, NULL)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Memhandle_free(win, h)), MPI_ERR_ARG);
    MPI_Win_attach(win, mem, 64);
    CHECK_EQ(mt_class(MPIX_Memhandle_create(win, mem + 4, 64, &h)), MPI_ERR_RMA_ATTACH);
    CHECK(h == 5);
    CHECK(MPIX_Memhandle_create(win, mem, 0, &h) == MPI_SUCCESS);
    CHECK_EQ(mt_class(MPIX_Memhandle_free(win, h + 1)), MPI_ERR_ARG);
    CHECK(MPIX_Memhandle_free(win, h) == MPI_SUCCESS && MPI_Win_detach(win, mem) == MPI_SUCCESS);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPIX_Memhandle_create(other, mem, 8, &h)), MPI_ERR_RMA_FLAVOR);
    CHECK_EQ(mt_class(MPIX_Memhandle_create(other, mem, 0, &h)), MPI_ERR_RMA_FLAVOR);
    CHECK_EQ(mt_class(MPIX_Memhandle_free(other, h)), MPI_ERR_ARG);
    MPI_Win_free(&other);
}

/* A handle of this process that has ended has no address, so no type of absolute addresses finds
 * memory by it. */
static void ended_and_absolute(int64_t *mem)
{
    MPI_Aint h, at[2];
    MPI_Datatype two;
    int one[2] = {1, 1};
    int64_t from[2] = {7, 7};

    MPIX_Memhandle_create(win, mem, 64, &h);
    MPIX_Memhandle_free(win, h);
    MPI_Win_attach(win, mem, 64);
    MPI_Get_address(mem, &at[0]);
    MPI_Get_address(mem + 4, &at[1]);
    MPI_Type_create_hindexed(2, one, at, MPI_INT64_T, &two);
    MPI_Type_commit(&two);
    mem[0] = mem[4] = 3;
    CHECK_EQ(mt_class(MPI_Put(from, 2, MPI_INT64_T, mt_rank, h, 1, two, win)), MPI_ERR_RMA_RANGE);
    CHECK(mem[0] == 3 && mem[4] == 3);
    MPI_Type_free(&two);
    MPI_Win_detach(win, mem);
}

int main(int argc, char **argv)
{
    int64_t *mem = mt_alloc((size_t)longs(LONGS)), *shared;
    MPI_Aint h;

    mt_init(&argc, &argv);
    left = (mt_rank + mt_size - 1) % mt_size;
    right = (mt_rank + 1) % mt_size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Alloc_mem(longs(LONGS), MPI_INFO_NULL, &shared);
    wrong_ones(mem);
    MPI_Win_lock_all(0, win);
    ended_and_absolute(mem);
    one_kind(mem, 0);
    one_kind(shared, 0);
    one_kind(mem, 1);
    one_kind(shared, 1);
    many();
    elsewhere();
    MPI_Win_unlock_all(win);
    MPIX_Memhandle_create(win, mem, longs(LONGS), &h); /* ends with the window */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Free_mem(shared);
    free(mem);
    return mt_finish();
}
