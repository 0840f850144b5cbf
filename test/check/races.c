/* Programs with one race each, and beside each its twin that is ordered. races NAME: of three
 * ranks, the last two access the first words of rank 0. The two accesses of a race stand in lines
 * with the texts "first" and "second". */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, *base;
static MPI_Win win;

static void put(int n)
{
    MPI_Put(&rank, n, MPI_INT, 0, 0, n, MPI_INT, win);
}

static void fence_race(void)
{
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
    if (rank == 2)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    MPI_Win_fence(0, win);
}

static void fence_fine(void)
{
    for (int r = 1; r < ranks; r++) {
        MPI_Win_fence(r == 1 ? MPI_MODE_NOPRECEDE : 0, win);
        if (rank == r)
            put(1);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Lanes: even and odd words, which do not touch; then every word. */
static void lanes(int shift)
{
    MPI_Datatype even;
    int v[8] = {0};
    MPI_Type_vector(4, 1, 2, MPI_INT, &even);
    MPI_Type_commit(&even);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(v, 4, MPI_INT, 0, 0, 1, even, win); /* first */
    if (rank == 2)
        MPI_Put(v, 4, MPI_INT, 0, shift, 1, even, win); /* second */
    MPI_Win_fence(0, win);
    MPI_Type_free(&even);
}

static void lanes_race(void) { lanes(2); }
static void lanes_fine(void) { lanes(1); }

/* Every second word of many rows, by one row and two in turn: more lanes than an operation may
 * have, but most go on where the one before ends. */
static void rows(int shift)
{
    enum { PARTS = 100, WORDS = 2, ROWS = PARTS / 2 * 3 };
    MPI_Datatype even, row, all;
    int v[WORDS * ROWS] = {0}, lengths[PARTS], at[PARTS];
    for (int i = 0, next = 0; i < PARTS; next += lengths[i++]) {
        lengths[i] = 1 + i % 2;
        at[i] = next + i / 30; /* three gaps */
    }
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &even);
    MPI_Type_create_resized(even, 0, 2 * WORDS * sizeof(int), &row);
    MPI_Type_indexed(PARTS, lengths, at, row, &all);
    MPI_Type_commit(&all);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(v, WORDS * ROWS, MPI_INT, 0, 0, 1, all, win); /* first */
    if (rank == 2)
        MPI_Put(v, WORDS * ROWS, MPI_INT, 0, shift, 1, all, win); /* second */
    MPI_Win_fence(0, win);
    MPI_Type_free(&even);
    MPI_Type_free(&row);
    MPI_Type_free(&all);
}

static void rows_race(void) { rows(2); }
static void rows_fine(void) { rows(1); }

static void lock(int type)
{
    MPI_Win_lock(type, 0, 0, win);
    if (rank == 1)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
    if (rank == 2)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    MPI_Win_unlock(0, win);
}

static void lock_race(void) { lock(MPI_LOCK_SHARED); }
static void lock_fine(void) { lock(MPI_LOCK_EXCLUSIVE); }

/* Rank 1 informs rank 2 that its put is complete: at the target, or only here. */
static void message(int (*flush)(int rank, MPI_Win win))
{
    int got;
    MPI_Request r;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
        flush(0, win);
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    }
    MPI_Win_unlock_all(win);
}

static void message_race(void) { message(MPI_Win_flush_local); }
static void message_fine(void) { message(MPI_Win_flush); }
static void order_race(void) { message(MPIX_Win_order); } /* it completes nothing */

/* The put is on a duplicate: a flush of the window does not complete it. */
static void duplicate(int frees)
{
    int got;
    MPI_Win other;
    MPI_Request r;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPIX_Win_idup(win, MPI_INFO_NULL, &other, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, other); /* first */
        MPI_Win_flush(0, win);
        if (frees)
            MPI_Win_free(&other);
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
        if (!frees)
            MPI_Win_free(&other);
    } else if (rank == 2) {
        MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    }
    MPI_Win_unlock_all(win);
}

static void duplicate_race(void) { duplicate(0); }
static void duplicate_fine(void) { duplicate(1); }

/* Two puts to the same bytes, and what is read between them. */
static void order_fine(void)
{
    int got, two = 2;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPIX_Win_order(0, win);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPIX_Win_order(MPIX_ALL, win);
        MPI_Put(&two, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
}

/* Of another target. */
static void order_other_race(void)
{
    int two = 2;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
        MPIX_Win_order(2, win);
        MPI_Put(&two, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    }
    MPI_Win_unlock_all(win);
}

/* A complete request of an atomic operation says that it is applied. */
static void rfop_fine(void)
{
    MPI_Request r;
    int one = 1, none = 0, old;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPIX_Rfetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPIX_Rcompare_and_swap(&one, &none, &old, MPI_INT, 0, 1, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Put(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    }
    MPI_Win_unlock_all(win);
}

static void pscw(int together)
{
    MPI_Group all, g;
    const int zero = 0, both[2] = {1, 2};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int r = 1; r < ranks; r++) {
        int n = together ? 2 : 1;
        const int *from = together ? both : &r;
        if (rank == 0) {
            MPI_Group_incl(all, n, from, &g);
            MPI_Win_post(g, 0, win);
            MPI_Win_wait(win);
        } else if (rank == r || together) {
            MPI_Group_incl(all, 1, &zero, &g);
            MPI_Win_start(g, 0, win);
            if (rank == 1)
                MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
            if (rank == 2)
                MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
            MPI_Win_complete(win);
        }
        if (together)
            break;
    }
}

static void pscw_race(void) { pscw(1); }
static void pscw_fine(void) { pscw(0); }

static void accumulate(MPI_Op op, MPI_Datatype type)
{
    long long v = 1;
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win); /* first */
    if (rank == 2)
        MPI_Accumulate(&v, 1, type, 0, 0, 1, type, op, win); /* second */
    MPI_Win_fence(0, win);
}

static void operation_race(void) { accumulate(MPI_MAX, MPI_INT); }
static void type_race(void) { accumulate(MPI_SUM, MPI_UNSIGNED); }
static void accumulate_fine(void) { accumulate(MPI_SUM, MPI_INT); }

/* Two windows of one memory: updates through both are not atomic with each other. */
static void windows(int fence)
{
    int v = 1, *base, flag;
    MPI_Win other;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    MPI_Win_create(base, 64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, other);
    if (rank == 1)
        MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win); /* first */
    if (fence)
        MPI_Win_fence(0, win);
    if (rank == 2)
        MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, other); /* second */
    MPI_Win_fence(0, other);
    MPI_Win_fence(0, win);
    MPI_Win_free(&other);
}

static void windows_race(void) { windows(0); }
static void windows_fine(void) { windows(1); }

/* Both windows are only read at one place. What lies beside it makes the checker look at them. */
static void windows_read_fine(void)
{
    int v = 1, got, *base, flag;
    MPI_Win other;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    MPI_Win_create(base, 64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, other);
    if (rank == 1)
        MPI_Accumulate(&v, 1, MPI_INT, 0, 9, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP,
                       rank == 1 ? win : other);
    MPI_Win_unlock_all(other);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&other);
}

/* Assertions of rank 0 that rank 1 does not keep. */
static void noput_fence(void)
{
    int v = 1;
    for (int i = 0; i < 2; i++) {
        MPI_Win_fence(rank == 0 ? MPI_MODE_NOPUT : 0, win); /* second */
        if (rank == 1)
            MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win); /* first */
        MPI_Win_fence(0, win);
    }
}

/* Two places, of which each epoch tells one. */
static void noput_two(void)
{
    int v = 1;
    for (int i = 0; i < 2; i++) {
        MPI_Win_fence(rank == 0 ? MPI_MODE_NOPUT : 0, win); /* second */
        if (rank == 1) {
            MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win); /* first */
            MPI_Put(&v, 1, MPI_INT, 0, 5, 1, MPI_INT, win); /* next */
        }
        MPI_Win_fence(0, win);
    }
}

/* The fence that opens need not wait, and that with the assertion is not the first of its kind. */
static void noput_opening(void)
{
    int v = 1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE | (rank == 0 ? MPI_MODE_NOPUT : 0), win); /* second */
    if (rank == 1)
        MPI_Accumulate(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, win); /* first */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Far. MPI_MODE_NOPRECEDE is wrong, and has another checker. MPI_MODE_NOPUT holds: the put is of
 * the epoch before, though rank 0 has come to the next one. */
static void noput_before(void)
{
    int v = 1;
    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE | (rank == 0 ? MPI_MODE_NOPUT : 0), win);
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
}

/* Ranks 0 and 1: an epoch of rank 1 on the window of rank 0. */
static void epoch(int post, int start, int put)
{
    MPI_Group all, peer;
    int other = 1 - rank, v = 1;
    if (rank > 1)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    if (rank == 0) {
        MPI_Win_post(peer, post, win); /* second */
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Win_wait(win);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_start(peer, start, win); /* start */
        if (put)
            MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win); /* first */
        else
            MPI_Get(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
}

/* Its epoch is over before rank 0 opens it. */
static void nocheck_early(void)
{
    MPI_Group all, peer;
    int other = 1 - rank, v = 1;
    if (rank > 1)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_post(peer, MPI_MODE_NOCHECK, win); /* second */
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(peer, MPI_MODE_NOCHECK, win); /* first */
        MPI_Get(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
}

/* Rank 1 says that no other rank locks; rank 2 does meanwhile (all: rank 1 locks all), or later. */
static void nocheck(int mine, int other, int all, int later)
{
    if (rank == 1) {
        if (all)
            MPI_Win_lock_all(MPI_MODE_NOCHECK, win); /* all */
        else
            MPI_Win_lock(mine, 0, MPI_MODE_NOCHECK, win); /* first */
        if (later)
            MPI_Win_unlock(0, win);
        MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (all)
            MPI_Win_unlock_all(win);
        else if (!later)
            MPI_Win_unlock(0, win);
    } else if (rank == 2) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(other, 0, 0, win); /* second */
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nocheck_lock(void) { nocheck(MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE, 0, 0); }
static void nocheck_all(void) { nocheck(0, MPI_LOCK_EXCLUSIVE, 1, 0); }

static void nocheck_fine(void)
{
    nocheck(MPI_LOCK_SHARED, MPI_LOCK_SHARED, 0, 0);
    nocheck(MPI_LOCK_EXCLUSIVE, MPI_LOCK_EXCLUSIVE, 0, 1);
    nocheck(MPI_LOCK_SHARED, MPI_LOCK_SHARED, 1, 0);
    for (int i = 0; i < 3; i++) { /* each its own target */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win);
        MPI_Win_unlock(rank, win);
    }
}

static void noput_post(void) { epoch(MPI_MODE_NOPUT, 0, 1); }
static void nocheck_start(void) { epoch(0, MPI_MODE_NOCHECK, 0); }

static void assertions_fine(void)
{
    int v = 1, got;
    for (int i = 0; i < 3; i++) {
        MPI_Win_fence(i ? 0 : MPI_MODE_NOPRECEDE, win);
        if (rank == 1)
            MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_fence(rank == 0 ? MPI_MODE_NOPUT : 0, win);
        if (rank)
            MPI_Get(&got, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        else
            MPI_Put(&v, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        if (rank == 1)
            MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    }
    MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    epoch(MPI_MODE_NOPUT, 0, 0);
    epoch(0, 0, 1);
    epoch(MPI_MODE_NOCHECK, MPI_MODE_NOCHECK, 1);
}

/* The origin buffer of a put is in use until local completion. */
static void buffer(int flush)
{
    int v = 1;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
        if (flush)
            MPI_Win_flush_local(0, win);
        MPI_Get(&v, 1, MPI_INT, 0, 1, 1, MPI_INT, win); /* second */
    }
    MPI_Win_unlock_all(win);
}

static void buffer_race(void) { buffer(0); }
static void buffer_fine(void) { buffer(1); }

/* A put before the barrier whose unlock stands behind it. */
static void barrier(int flush)
{
    MPI_Win_lock_all(0, win);
    if (rank == 1)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
    if (flush)
        MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    MPI_Win_unlock_all(win);
}

static void barrier_race(void) { barrier(0); }
static void barrier_fine(void) { barrier(1); }

/* Only a part of the processes meets in the collective. */
static void subset(int bcast)
{
    MPI_Comm two;
    MPI_Request r;
    int v = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &two);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
        MPI_Win_flush(0, win);
    }
    if (bcast)
        MPI_Bcast(&v, 1, MPI_INT, rank > 0, two); /* rank 2 is the root: it hears nothing */
    else {
        MPI_Ibarrier(two, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (rank == 2)
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    MPI_Win_unlock_all(win);
    MPI_Comm_free(&two);
}

/* Persistent collectives that the processes start in orders of their own, again and again. */
static void persistent(int ordered)
{
    MPI_Request r[2];
    int v = 0;
    MPI_Bcast_init(&v, 1, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 12; i++) {
        const int last = i == 11, first = (rank + i / 2) % 2;
        if (rank == 1 + i % 2) {
            if (last)
                MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
            else
                MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* first */
            MPI_Win_flush(0, win);
        }
        if (i == 10 && !ordered) { /* rank 2 is the root: it hears nothing */
            MPI_Start(&r[0]);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            continue;
        }
        if (rank == 2)
            v = i + 1;
        MPI_Start(&r[first]);
        MPI_Start(&r[!first]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        if (v != i + 1)
            MPI_Abort(MPI_COMM_WORLD, 5);
    }
    MPI_Win_unlock_all(win);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void persistent_race(void) { persistent(0); }
static void persistent_fine(void) { persistent(1); }
static void subset_race(void) { subset(1); }
static void subset_fine(void) { subset(0); }

/* One thread's accesses of rank 0, each ordered by a fence or a lock. */
static void *ordered(void *arg)
{
    MPI_Win w = *(MPI_Win *)arg;
    int word = 0;
    for (int i = 0; i < 2000; i++) {
        MPI_Win_fence(0, w);
        if (rank == i % ranks && i % 2)
            MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
        else if (rank == i % ranks)
            MPI_Get(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    for (int i = 0; i < 300; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
        MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
        MPI_Win_unlock(0, w);
    }
    return NULL;
}

/* Two threads, each with a window: processes come to the collective calls of the two in an order
 * of their own. */
static void threads_fine(void)
{
    pthread_t second;
    MPI_Win its;
    int *memory;
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &its);
    if (pthread_create(&second, NULL, ordered, &its))
        MPI_Abort(MPI_COMM_WORLD, 1);
    ordered(&win);
    pthread_join(second, NULL);
    MPI_Win_free(&its);
}

/* Rank 1 puts to rank 0 with a notification. Rank 0 looks at `place` when it has seen counter
 * `seen`, or before. */
static void notify(int place, int seen, int before)
{
    int got;
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 2);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 4, 1, MPI_INT, win); /* plain */
        MPIX_Put_notify(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, 0, win); /* first */
        MPIX_Put_notify(&rank, 1, MPI_INT, 0, 8, 1, MPI_INT, 1, win);
    } else if (rank == 0) {
        for (int look = 0; look < 2; look++) {
            if (look == before)
                MPIX_Win_notify_wait(win, seen, 1);
            else
                MPI_Get(&got, 1, MPI_INT, 0, place, 1, MPI_INT, win); /* second */
        }
    }
    MPI_Win_unlock_all(win);
}

static void notify_race(void) { notify(0, 0, 1); }
static void notify_order_fine(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_notify_order", "target");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    notify(4, 0, 0);
}
static void notify_other_race(void) { notify(0, 1, 0); }
static void notify_plain_race(void) { notify(4, 0, 0); }

/* The same, and a message to rank 2 that the put has left: that says nothing of rank 0. */
static void notify_message_race(void)
{
    int got;
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 1);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPIX_Put_notify(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, 0, win); /* first */
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* second */
    } else {
        MPIX_Win_notify_wait(win, 0, 1);
    }
    MPI_Win_unlock_all(win);
}

/* One step's values come from the left, and the right says when its place is free again. */
static void notify_halo(int step)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, flag = 0, value, got;
    MPI_Request r;
    if (step % 3 == 0)
        MPIX_Accumulate_notify(&step, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, 0, win);
    else
        MPIX_Put_notify(&step, 1, MPI_INT, right, 0, 1, MPI_INT, 0, win);
    if (step % 4 == 0) {
        MPIX_Win_notify_take(win, 0, 1);
    } else if (step % 4 == 1) {
        while (!flag)
            MPIX_Win_notify_test(win, 0, 1, &flag);
        MPIX_Win_notify_set_value(win, 0, 0);
    } else if (step % 4 == 2) {
        MPIX_Win_notify_request(win, 0, 1, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPIX_Win_notify_take(win, 0, 1);
    } else {
        for (MPI_Count now = 0; now < 1;)
            MPIX_Win_notify_get_value(win, 0, &now);
        MPIX_Win_notify_take(win, 0, 1);
    }
    MPI_Get(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
    MPI_Win_flush(rank, win);
    MPIX_Put_notify(NULL, 0, MPI_INT, left, 0, 0, MPI_INT, 1, win);
    MPIX_Win_notify_wait(win, 1, step + 1);
    MPIX_Get_notify(&got, 1, MPI_INT, right, 1, 1, MPI_INT, 2, win);
    MPI_Win_flush_local(right, win);
    MPIX_Win_notify_wait(win, 2, step + 1);
    MPI_Put(&step, 1, MPI_INT, rank, 1, 1, MPI_INT, win); /* the left has read it */
    MPI_Win_flush(rank, win);
    MPIX_Put_notify(NULL, 0, MPI_INT, left, 0, 0, MPI_INT, 3, win);
    MPIX_Win_notify_wait(win, 3, step + 1);
}

/* Rank 2 may look when rank 0, which has seen it, says so, and when rank 1 does behind a flush. */
static void notify_told(int from)
{
    int got = 0;
    if (rank == 1)
        MPIX_Put_notify(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, 4, win);
    if (rank == 0)
        MPIX_Win_notify_take(win, 4, 1);
    if (rank == 1)
        MPI_Win_flush(0, win);
    if (rank == from)
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    if (rank == 2) {
        MPI_Recv(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void notify_fine(void)
{
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 5);
    MPI_Win_lock_all(0, win);
    for (int step = 0; step < 24; step++)
        notify_halo(step);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    notify_told(0);
    notify_told(1);
    MPI_Win_unlock_all(win);
}

/* The calls behind a race have returned: RACES_GO names a file for those that wait for that. */
static void goes_on(void)
{
    FILE *f = rank ? NULL : fopen(getenv("RACES_GO"), "w");
    if (f)
        fclose(f);
}

static void aborts(void)
{
    if (!rank)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(fence_race), CASE(fence_fine), CASE(lanes_race), CASE(lanes_fine), CASE(rows_race),
    CASE(rows_fine), CASE(lock_race), CASE(lock_fine), CASE(message_race), CASE(message_fine),
    CASE(rfop_fine), CASE(order_fine), CASE(order_race), CASE(order_other_race),
    CASE(duplicate_race), CASE(duplicate_fine),
    CASE(pscw_race), CASE(pscw_fine),
    CASE(operation_race), CASE(type_race), CASE(accumulate_fine), CASE(windows_race),
    CASE(windows_fine), CASE(windows_read_fine), CASE(noput_fence), CASE(noput_before),
    CASE(noput_opening), CASE(noput_two), CASE(noput_post),
    CASE(nocheck_start), CASE(nocheck_early),
    CASE(nocheck_lock), CASE(nocheck_all), CASE(nocheck_fine),
    CASE(assertions_fine), CASE(buffer_race),
    CASE(buffer_fine), CASE(barrier_race), CASE(barrier_fine), CASE(subset_race),
    CASE(subset_fine), CASE(persistent_race), CASE(persistent_fine), CASE(notify_race),
    CASE(notify_other_race), CASE(notify_plain_race),
    CASE(notify_message_race), CASE(notify_fine), CASE(notify_order_fine),
    CASE(threads_fine), CASE(goes_on), CASE(aborts)};

int main(int argc, char **argv)
{
    int threads = argc > 1 && !strcmp(argv[1], "threads_fine");
    const int created = getenv("RACES_CREATED") != NULL;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int a = 1; a < argc; a++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (!strcmp(argv[a], cases[i].name)) {
                static int memory[1024];
                if (created)
                    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL,
                                   MPI_COMM_WORLD, &win);
                else
                    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
                MPI_Win_set_name(win, "words");
                MPI_Barrier(MPI_COMM_WORLD); /* rank 0 has named it, too */
                cases[i].run();
                MPI_Win_free(&win);
            }
    MPI_Finalize();
    return 0;
}
