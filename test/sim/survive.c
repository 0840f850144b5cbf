/* survive.c - windows after failures: members die at any step of an epoch of any kind; while it is
 * open the others revoke the communicator, agree, acknowledge and shrink; the sums in a window of
 * those that live are right. */
#include "ulfm.h"

enum { KINDS = 5, EPOCHS = 3, TRIES = 100 };

struct life {
    MPI_Comm c, next; /* next: of those that live, once it is made */
    int rank, size;
    long v; /* what is added */
};

static void join(struct life *x, MPI_Comm c)
{
    x->c = c;
    x->next = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_rank(c, &x->rank);
    MPI_Comm_size(c, &x->size);
    x->v = x->rank + 1;
}

static void move_on(struct life *x)
{
    MPI_Comm c = x->next;
    if (c == MPI_COMM_NULL)
        OK(MPIX_Comm_shrink(x->c, &c));
    OK(MPI_Comm_free(&x->c));
    join(x, c);
}

/* --- the five ------------------------------------------------------------------------------ */

static void acknowledge(const struct life *x)
{
    MPI_Group dead, world;
    int n, err, tries = 0, was[SIM_RANKS];
    do {
        SIM_CHECK(all_say(x->c, 1, &err) == 1);
        OK(MPIX_Comm_failure_ack(x->c));
    } while (err && ++tries < TRIES);
    SIM_CHECK(!err);
    OK(MPIX_Comm_failure_get_acked(x->c, &dead));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI_Group_size(dead, &n);
    for (int i = 0; i < n; i++) {
        MPI_Group_translate_ranks(dead, 1, &i, world, &was[i]);
        SIM_CHECK(boot_failed(was[i]));
    }
    MPI_Group_free(&world);
    MPI_Group_free(&dead);
}

/* One revokes, or dies before. */
static void all_five(struct life *x)
{
    if (x->rank != (int)(sim_seed() / 5 % (unsigned)x->size)) {
        int err = class_of(MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 1, x->c,
                                    MPI_STATUS_IGNORE));
        SIM_CHECK(err == MPIX_ERR_REVOKED || err == MPIX_ERR_PROC_FAILED);
    }
    OK(MPIX_Comm_revoke(x->c));
    ERR(MPIX_ERR_REVOKED, MPI_Barrier(x->c));
    acknowledge(x);
    OK(MPIX_Comm_shrink(x->c, &x->next));
}

/* --- epochs -------------------------------------------------------------------------------- */

static void add(const struct life *x, MPI_Win win, int target)
{
    may_fail(MPI_Accumulate(&x->v, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win));
}

static void add_to_all(const struct life *x, MPI_Win win)
{
    for (int t = 0; t < x->size; t++)
        add(x, win, t);
}

static void in_pscw(struct life *x, MPI_Win win)
{
    MPI_Group all, others;
    OK(MPI_Comm_group(x->c, &all));
    OK(MPI_Group_excl(all, 1, &x->rank, &others));
    OK(MPI_Win_post(others, 0, win));
    int err = MPI_Win_start(others, 0, win);
    may_fail(err);
    all_five(x);
    if (!err) {
        for (int t = 0; t < x->size; t++)
            if (t != x->rank)
                add(x, win, t);
        may_fail(MPI_Win_complete(win));
    }
    may_fail(MPI_Win_wait(win));
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

static void in_lock(struct life *x, MPI_Win win)
{
    int last = x->size - 1, err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    may_fail(err);
    if (!err) {
        add(x, win, 0);
        may_fail(MPI_Win_flush(0, win));
        may_fail(MPI_Win_unlock(0, win));
    }
    err = MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
    may_fail(err);
    all_five(x);
    if (err)
        return;
    add(x, win, last);
    may_fail(MPI_Win_unlock(last, win));
}

static void epoch(struct life *x, MPI_Win win, int kind)
{
    switch (kind) {
    case 0:
        may_fail(MPI_Win_fence(0, win));
        add_to_all(x, win);
        all_five(x);
        add_to_all(x, win);
        may_fail(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        break;
    case 1: in_pscw(x, win); break;
    case 2: in_lock(x, win); break;
    case 3:
        may_fail(MPI_Win_lock_all(0, win));
        add_to_all(x, win);
        may_fail(MPI_Win_flush_all(win));
        all_five(x);
        add_to_all(x, win);
        may_fail(MPI_Win_unlock_all(win));
        break;
    default: all_five(x); break;
    }
}

/* A window that all have; MPI_WIN_NULL: a member has failed. */
static MPI_Win window(const struct life *x, long **mem)
{
    MPI_Win win = MPI_WIN_NULL;
    int err = MPI_Win_allocate(sizeof **mem, sizeof **mem, MPI_INFO_NULL, x->c, mem, &win), unacked;
    may_fail(err);
    if (!err) {
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        **mem = 0;
    }
    if (!all_say(x->c, !err, &unacked) && !err)
        may_fail(MPI_Win_free(&win));
    return win;
}

static void sums(const struct life *x)
{
    long *mem;
    MPI_Win win = window(x, &mem);
    int err, unacked;
    if (win == MPI_WIN_NULL)
        return;
    err = MPI_Win_lock_all(0, win);
    may_fail(err);
    if (!err) {
        add_to_all(x, win);
        err = MPI_Win_unlock_all(win);
        may_fail(err);
    }
    if (all_say(x->c, !err, &unacked) && !unacked)
        SIM_CHECK(*mem == (long)x->size * (x->size + 1) / 2);
    may_fail(MPI_Win_free(&win));
}

static void epochs(void *arg)
{
    int rank, size;
    long *mem;
    struct life x;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    join(&x, copy_of(MPI_COMM_WORLD));
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_doomed(rank, size))
        sim_die_at(1 + (int)(sim_random() % (60u * (unsigned)size)));
    for (unsigned i = 0; i < EPOCHS; i++) {
        MPI_Win win = window(&x, &mem);
        if (win != MPI_WIN_NULL) {
            epoch(&x, win, (int)((sim_seed() + i) % KINDS));
            may_fail(MPI_Win_free(&win));
        }
        move_on(&x);
        sums(&x);
    }
    end_doomed(rank, size);
    move_on(&x);
    OK(MPI_Comm_free(&x.c));
}

/* --- windows that are shrunk ------------------------------------------------------------------ */

/* Each member has its name in its part. */
static void names_are_there(MPI_Win win)
{
    MPI_Group g, world;
    int n, err = MPI_Win_lock_all(0, win);
    may_fail(err);
    if (err)
        return;
    OK(MPI_Win_get_group(win, &g));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI_Group_size(g, &n);
    for (int t = 0; t < n; t++) {
        long got = -1;
        int name;
        MPI_Group_translate_ranks(g, 1, &t, world, &name);
        err = MPI_Get(&got, 1, MPI_LONG, t, 0, 1, MPI_LONG, win);
        may_fail(err);
        int e = MPI_Win_flush(t, win);
        may_fail(e);
        SIM_CHECK(err || e || got == 100 + name);
    }
    may_fail(MPI_Win_unlock_all(win));
    MPI_Group_free(&world);
    MPI_Group_free(&g);
}

/* Members die at any step. Either window is freed first; the memory stays. */
static void shrinks(void *arg)
{
    int rank, size;
    long *mem;
    MPI_Win win, made;
    struct life x;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    join(&x, copy_of(MPI_COMM_WORLD));
    MPI_Aint bytes = sim_seed() % 3 ? (MPI_Aint)sizeof *mem : 300000;
    OK(MPI_Win_allocate(bytes, sizeof *mem, MPI_INFO_NULL, x.c, &mem, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    *mem = 100 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_doomed(rank, size))
        sim_die_at(1 + (int)(sim_random() % (60u * (unsigned)size)));
    for (unsigned i = 0; i < EPOCHS; i++) {
        if ((sim_seed() + i) % 4 == 0)
            names_are_there(win);
        made = shrunk(x.c, win);
        SIM_CHECK(*mem == 100 + rank);
        names_are_there(made);
        if ((sim_seed() + i) % 3 == 0) { /* the new one first */
            may_fail(MPI_Win_free(&made));
            names_are_there(win);
        } else {
            may_fail(MPI_Win_free(&win));
            win = made;
            names_are_there(win);
        }
        SIM_CHECK(*mem == 100 + rank);
    }
    may_fail(MPI_Win_free(&win));
    end_doomed(rank, size);
    OK(MPI_Comm_free(&x.c));
}

/* One agreement: that of the communicator of the living. */
static void shrinks_exactly(void *arg)
{
    int rank, size;
    long *mem, sent = 0;
    MPI_Win win, made, next;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Win_allocate(sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    *mem = 100 + rank;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    ERR(MPI_ERR_RMA_SYNC, MPIX_Win_shrink(win, &made));
    OK(MPI_Win_unlock(rank, win));
    OK(MPIX_Win_shrink(win, &made));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        sent += sim_sent(r, AM_COLL + COLL_PKT_AGREE);
    SIM_CHECK(sent == 4L * (size - 1));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPIX_Win_shrink(made, &next));
    SIM_CHECK(inside(next)->from == inside(win) && inside(win)->users == 2);
    SIM_CHECK(!inside(made)->users); /* it goes when it is freed */
    OK(MPI_Win_free(&win));
    OK(MPI_Win_free(&made));
    names_are_there(next);
    OK(MPI_Win_free(&next));
}

/* --- locks of the dead ---------------------------------------------------------------------- */

/* The lock of rank r of win, process 2, which is dead: an error that names it, at the call where it
 * is near, else with the first operation. */
static void is_locked_no_more(MPI_Win win, int r)
{
    static const int types[] = {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
    int near = rma_near_of(inside(win), r) != NULL, len;
    char text[MPI_MAX_ERROR_STRING];
    for (int i = 0; i < 4; i++) {
        long v = 1;
        int err = MPI_Win_lock(types[i % 2], r, 0, win);
        if (!err && !near) {
            err = MPI_Put(&v, 1, MPI_LONG, r, 0, 1, MPI_LONG, win);
            err = err ? err : MPI_Win_flush(r, win);
            (void)MPI_Win_unlock(r, win);
        }
        ERR(MPIX_ERR_PROC_FAILED, err);
        MPI_Error_string(err, text, &len);
        SIM_CHECK(strstr(text, "(process 2) died"));
    }
}

static void others_lock(MPI_Win win, int dead)
{
    int n;
    MPI_Group g;
    OK(MPI_Win_get_group(win, &g));
    MPI_Group_size(g, &n);
    MPI_Group_free(&g);
    for (int r = 0; r < n; r++) {
        if (r == dead)
            continue;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win));
        OK(MPI_Win_unlock(r, win));
    }
}

/* Rank 2 dies while the window of the living is made, or behind it: that may have it as a member.
 * It may hold a lock then. */
static void locks_of_the_dead(void *arg)
{
    int rank, size, was = 2, is = 0;
    long *mem;
    struct life x;
    MPI_Win win, made = MPI_WIN_NULL;
    MPI_Group before, now;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    join(&x, copy_of(MPI_COMM_WORLD));
    win = window(&x, &mem);
    may_fail(MPI_Barrier(MPI_COMM_WORLD)); /* rank 2 may be dead when others leave it */
    if (rank == 2)
        sim_die_at(1 + (int)(sim_random() % 120));
    int err = MPIX_Win_shrink(win, &made);
    if (rank == 2) {
        if (!err && sim_seed() % 4 == 0)
            (void)MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, made);
        sim_die();
    }
    may_fail(err);
    hear_of_death(2);
    is_locked_no_more(win, 2);
    others_lock(win, 2);
    if (err)
        return;
    OK(MPI_Win_get_group(win, &before));
    OK(MPI_Win_get_group(made, &now));
    MPI_Group_translate_ranks(before, 1, &was, now, &is);
    if (is != MPI_UNDEFINED)
        is_locked_no_more(made, is);
    others_lock(made, is);
    MPI_Group_free(&before);
    MPI_Group_free(&now);
}

static void mixed(struct sim_knobs *k)
{
    mortal(k);
    k->nodes = 1 + (int)(k->seed % 3);
}

const struct scenario scenarios_survive[] = {
    {"ulfm-epochs-3", 3, 1, epochs, NULL, mortal},
    {"ulfm-epochs-5", 5, 1, epochs, NULL, mortal},
    {"ulfm-epochs-8", 8, 1, epochs, NULL, mortal},
    {"ulfm-windows-4", 4, 1, shrinks, NULL, mortal},
    {"ulfm-windows-7", 7, 1, shrinks, NULL, mortal},
    {"ulfm-windows-locks-4", 4, 1, locks_of_the_dead, NULL, mixed},
    {"ulfm-windows-counts-1", 1, 1, shrinks_exactly, NULL, NULL},
    {"ulfm-windows-counts-6", 6, 1, shrinks_exactly, NULL, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};
