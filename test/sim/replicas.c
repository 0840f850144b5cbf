/* replicas.c - windows whose parts other members keep, too (the key mpix_win_replicas), while
 * members die at any step of epochs of each kind: what was flushed to a process that died is in the
 * copy that MPIX_Win_recover names, no call waits for ever, and the window of the living has copies
 * again. */
#include "ulfm.h"

#include <stdio.h>

enum { KINDS = 8, ROUNDS = 3, EPOCHS = 100 };
/* Words of a part: for each origin two that it puts to, R apart, and two that it accumulates to, R
 * apart; one that its owner stores to; one that counts under an exclusive lock; one that all add
 * to. */
enum { R = SIM_RANKS, ACC = 2 * R, OWN = 4 * R, COUNT, SUM, WORDS };

/* Of all processes, also of those that die later: [origin][owner], by rank in MPI_COMM_WORLD. */
static struct all {
    long put[R][R], flushed[R][R];
    long acc[R][R], accumulated[R][R];
    long added[R][R], summed[R][R];    /* to SUM */
    long stored[R], fenced[R];   /* [owner] */
    long counting[R], counted[R];
    int found[ROUNDS][R];        /* processes that have the part of a failed one */
} all;

struct part {
    int rank, size, k, round; /* in MPI_COMM_WORLD; copies */
    MPI_Comm c;
    MPI_Win win;
    MPI_Datatype pair;
    long *mem;
    int n, me, name[R]; /* of win: members, own rank, ranks in MPI_COMM_WORLD */
    long value[R][2], got[R];
    long from[R][2], old[R][3], before[R], one; /* of accumulates */
    struct {
        long put, acc, added;
    } now[R]; /* called in this window; added: and not flushed */
    struct limit limit; /* when it revokes */
};

static int ends(int err)
{
    int c = class_of(err);
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (!c || c == MPIX_ERR_PROC_FAILED || c == MPIX_ERR_REVOKED)
        return c;
    MPI_Error_string(err, text, &len);
    sim_fail("%s", text);
}

/* A window of all that have it, zero here and in the copies, or none. */
static void window(struct part *x)
{
    MPI_Info info;
    char text[8];
    int unacked;
    OK(MPI_Info_create(&info));
    snprintf(text, sizeof text, "%d", x->k);
    OK(MPI_Info_set(info, "mpix_win_replicas", text));
    OK(MPI_Info_set(info, "mpix_notify_num", "1"));
    x->win = MPI_WIN_NULL;
    int err = MPI_Win_allocate(WORDS * (MPI_Aint)sizeof(long), sizeof(long), info, x->c, &x->mem,
                               &x->win);
    MPI_Info_free(&info);
    may_fail(err);
    if (!err)
        MPI_Win_set_errhandler(x->win, MPI_ERRORS_RETURN);
    if (all_say(x->c, !err, &unacked)) {
        memset(x->mem, 0, WORDS * sizeof(long));
        err = MPI_Win_fence(MPI_MODE_NOSUCCEED, x->win); /* what was stored is copied */
        may_fail(err);
    }
    if (!all_say(x->c, !err, &unacked) && x->win != MPI_WIN_NULL) {
        may_fail(MPI_Win_free(&x->win));
        x->win = MPI_WIN_NULL;
    }
}

/* --- operations ------------------------------------------------------------------------------ */

static long next(struct part *x, int t)
{
    int name = x->name[t];
    x->value[name][0] = x->value[name][1] = x->now[name].put = ++all.put[x->rank][name];
    return x->value[name][0];
}

/* The same number to both words: by one put of a type with a gap, or by two. */
static int put(struct part *x, int t)
{
    long *v = x->value[x->name[t]];
    (void)next(x, t);
    if (sim_random() % 2)
        return ends(MPI_Put(v, 2, MPI_LONG, t, x->rank, 1, x->pair, x->win));
    int err = ends(MPI_Put(v, 1, MPI_LONG, t, x->rank, 1, MPI_LONG, x->win));
    return err ? err : ends(MPI_Put(v + 1, 1, MPI_LONG, t, R + x->rank, 1, MPI_LONG, x->win));
}

/* The next number to both words, by any operation that makes it of the last one. */
static int accumulate(struct part *x, int t)
{
    int name = x->name[t], err = 0, how = (int)(sim_random() % 5);
    long *v = x->from[name], *old = x->old[name], *was = &x->before[name];
    *was = all.acc[x->rank][name]++;
    if (*was != all.accumulated[x->rank][name])
        how = 0; /* what is there is not known */
    x->now[name].acc = *was + 1;
    v[0] = v[1] = how == 1 || how == 3 ? 1 : *was + 1;
    for (int i = 0; i < (how < 2 ? 1 : 2) && !err; i++) {
        int at = ACC + i * R + x->rank;
        if (how == 0)
            err = MPI_Accumulate(v, 2, MPI_LONG, t, at, 1, x->pair, MPI_REPLACE, x->win);
        else if (how == 1)
            err = MPI_Get_accumulate(v, 2, MPI_LONG, old, 2, MPI_LONG, t, at, 1, x->pair, MPI_SUM,
                                     x->win);
        else if (how == 2)
            err = MPI_Compare_and_swap(v + i, was, old + i, MPI_LONG, t, at, x->win);
        else if (how == 3)
            err = MPI_Fetch_and_op(v + i, old + i, MPI_LONG, t, at, MPI_SUM, x->win);
        else
            err = MPI_Accumulate(v + i, 1, MPI_LONG, t, at, 1, MPI_LONG, MPI_MAX, x->win);
        err = ends(err);
    }
    return err;
}

static int add(struct part *x, int t)
{
    x->one = 1;
    all.added[x->rank][x->name[t]]++;
    x->now[x->name[t]].added++;
    return ends(sim_random() % 2
                    ? MPI_Accumulate(&x->one, 1, MPI_LONG, t, SUM, 1, MPI_LONG, MPI_SUM, x->win)
                    : MPI_Fetch_and_op(&x->one, &x->old[x->name[t]][2], MPI_LONG, t, SUM, MPI_SUM,
                                       x->win));
}

/* One put, or some accumulates, or both. */
static int change(struct part *x, int t)
{
    int how = (int)(sim_random() % 4), err = how != 1 ? put(x, t) : 0;
    if (!err && how)
        err = accumulate(x, t);
    if (!err && how > 1)
        err = add(x, t);
    return err;
}

static void put_is_there(struct part *x, int t)
{
    int name = x->name[t], me = x->rank;
    if (x->now[name].put)
        all.flushed[me][name] = x->now[name].put;
    if (x->now[name].acc)
        all.accumulated[me][name] = x->now[name].acc;
    all.summed[me][name] += x->now[name].added;
    x->now[name].added = 0;
}

static void store(struct part *x)
{
    x->mem[OWN] = ++all.stored[x->rank];
}

static void store_is_there(struct part *x)
{
    all.fenced[x->rank] = all.stored[x->rank];
}

/* --- epochs: until the window is revoked ----------------------------------------------------- */

static void in_fences(struct part *x)
{
    for (int first = 1;; first = 0) {
        int stores = sim_random() % 2;
        if (stores)
            store(x);
        if (over(&x->limit) || ends(MPI_Win_fence((first ? MPI_MODE_NOPRECEDE : 0) |
                                          (stores ? 0 : MPI_MODE_NOSTORE), x->win)))
            return;
        if (stores)
            store_is_there(x);
        for (int t = 0; t < x->n; t++)
            if (!first)
                put_is_there(x, t);
        for (int t = 0; t < x->n; t++)
            if (change(x, t))
                return;
    }
}

static void in_pscw(struct part *x)
{
    MPI_Group g, others;
    OK(MPI_Win_get_group(x->win, &g));
    OK(MPI_Group_excl(g, 1, &x->me, &others));
    for (int err = 0; !err && x->n > 1;) {
        store(x);
        if (over(&x->limit) || ends(MPI_Win_post(others, 0, x->win)))
            break;
        store_is_there(x);
        if (over(&x->limit) || ends(MPI_Win_start(others, 0, x->win)))
            break;
        for (int t = 0; t < x->n && !err; t++)
            if (t != x->me)
                err = change(x, t);
        if (err || over(&x->limit) || (err = ends(MPI_Win_complete(x->win))) != 0)
            break;
        for (int t = 0; t < x->n; t++)
            if (t != x->me)
                put_is_there(x, t);
        if (sim_random() % 2) {
            err = ends(MPI_Win_wait(x->win));
        } else {
            for (int flag = 0; !flag && !err;)
                err = ends(MPI_Win_test(x->win, &flag));
        }
    }
    MPI_Group_free(&others);
    MPI_Group_free(&g);
}

/* One counter of each part, which all change: each sees the last value and puts the next. */
static void in_locks(struct part *x)
{
    for (unsigned i = 0; i < EPOCHS; i++) {
        int t = (int)((sim_seed() + i / 4) % (unsigned)x->n), name = x->name[t];
        if (over(&x->limit) || ends(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, x->win)))
            return;
        if (t == x->me)
            store(x);
        if (ends(MPI_Get(&x->got[name], 1, MPI_LONG, t, COUNT, 1, MPI_LONG, x->win)) ||
            ends(MPI_Win_flush(t, x->win)))
            return;
        x->got[name]++;
        if (x->got[name] > all.counting[name])
            all.counting[name] = x->got[name];
        long mine = x->got[name];
        if (ends(MPI_Put(&x->got[name], 1, MPI_LONG, t, COUNT, 1, MPI_LONG, x->win)) ||
            change(x, t) || over(&x->limit) || ends(MPI_Win_unlock(t, x->win)))
            return;
        put_is_there(x, t);
        if (mine > all.counted[name])
            all.counted[name] = mine;
        if (t == x->me)
            store_is_there(x);
    }
}

static int put_by_request(struct part *x, int t)
{
    long v = next(x, t);
    MPI_Request r[2];
    for (int i = 0; i < 2; i++) {
        long from = v;
        int at = i * R + x->rank;
        int err = ends(MPI_Rput(&from, 1, MPI_LONG, t, at, 1, MPI_LONG, x->win, &r[i]));
        err = err ? err : ends(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
        if (err)
            return err;
    }
    int name = x->name[t];
    long n = x->now[name].acc = ++all.acc[x->rank][name], old;
    for (int i = 0; i < 2; i++) {
        int at = ACC + i * R + x->rank;
        int err = ends(i ? MPI_Raccumulate(&n, 1, MPI_LONG, t, at, 1, MPI_LONG, MPI_REPLACE, x->win,
                                           &r[i])
                         : MPI_Rget_accumulate(&n, 1, MPI_LONG, &old, 1, MPI_LONG, t, at, 1,
                                               MPI_LONG, MPI_REPLACE, x->win, &r[i]));
        err = err ? err : ends(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
        if (err)
            return err;
    }
    return MPI_SUCCESS;
}

static int put_and_note(struct part *x, int t)
{
    return put(x, t) || ends(MPIX_Put_notify(x->value[x->name[t]], 1, MPI_LONG, t, x->rank, 1,
                                             MPI_LONG, 0, x->win));
}

/* how 0: a flush each; 1: one for all; 2: requests; 3: notified, in order; 4: at the end. */
static void in_lock_all(struct part *x, int how)
{
    for (int i = 0; i < EPOCHS; i++) {
        int err = ends(MPI_Win_lock_all(sim_random() % 4 ? 0 : MPI_MODE_NOCHECK, x->win));
        if (err)
            return;
        for (int t = 0; !err && t < x->n; t++) {
            err = over(&x->limit);
            if (!err)
                err = how == 2   ? put_by_request(x, t)
                      : how == 3 ? put_and_note(x, t)
                                 : change(x, t);
            if (!err && how == 3)
                err = ends(MPIX_Win_order(sim_random() % 2 ? t : MPIX_ALL, x->win));
            if (!err && how != 1 && how != 4) {
                if ((err = ends(MPI_Win_flush(t, x->win))) == 0)
                    put_is_there(x, t);
            }
        }
        if (!err && how == 1 && (err = ends(MPI_Win_flush_all(x->win))) == 0)
            for (int t = 0; t < x->n; t++)
                put_is_there(x, t);
        if (err || over(&x->limit) || ends(MPI_Win_unlock_all(x->win)))
            return;
        for (int t = 0; t < x->n; t++)
            put_is_there(x, t);
    }
}

static void epochs(struct part *x, int kind)
{
    switch (kind) {
    case 0: in_fences(x); break;
    case 1: in_pscw(x); break;
    case 2: in_locks(x); break;
    default: in_lock_all(x, kind - 3); break;
    }
}

/* --- and then -------------------------------------------------------------------------------- */

/* All that was flushed to `name` is in its part, here or in a copy. */
static void holds(const struct part *x, int name, const long *mem)
{
    for (int o = 0; o < x->size; o++)
        for (int i = 0; i < 2; i++)
            if (mem[i * R + o] < all.flushed[o][name] || mem[i * R + o] > all.put[o][name])
                sim_fail("part of %d: %ld of rank %d, not %ld to %ld", name, mem[i * R + o], o,
                         all.flushed[o][name], all.put[o][name]);
    long least = 0, most = 0;
    for (int o = 0; o < x->size; o++) {
        least += all.summed[o][name];
        most += all.added[o][name];
        for (int i = 0; i < 2; i++)
            if (mem[ACC + i * R + o] < all.accumulated[o][name] ||
                mem[ACC + i * R + o] > all.acc[o][name])
                sim_fail("part of %d: rank %d made it %ld, not %ld to %ld", name, o,
                         mem[ACC + i * R + o], all.accumulated[o][name], all.acc[o][name]);
    }
    if (mem[SUM] < least || mem[SUM] > most)
        sim_fail("part of %d: %ld in all, not %ld to %ld", name, mem[SUM], least, most);
    SIM_CHECK(mem[OWN] >= all.fenced[name] && mem[OWN] <= all.stored[name]);
    SIM_CHECK(mem[COUNT] >= all.counted[name] && mem[COUNT] <= all.counting[name]);
}

/* Of the members old has and x has not. */
static void recovered(struct part *x, const struct part *old)
{
    int lost = old->n - x->n, far = 0;
    void *base = NULL;
    for (int i = 0; i < old->n; i++) {
        int name = old->name[i], lives = 0;
        for (int j = 0; j < x->n; j++)
            lives |= x->name[j] == name;
        if (lives) {
            ERR(MPI_ERR_RANK, MPIX_Win_recover(x->win, i, &base));
            continue;
        }
        int err = class_of(MPIX_Win_recover(x->win, i, &base));
        SIM_CHECK(!err || err == MPIX_ERR_PROC_FAILED);
        SIM_CHECK(!err || lost > x->k || lost > old->n - 1);
        if (!err && base) {
            all.found[x->round][name]++;
            holds(x, name, base);
        }
        far += !err;
    }
    ERR(MPI_ERR_RANK, MPIX_Win_recover(x->win, old->n, &base));
    ERR(MPI_ERR_RANK, MPIX_Win_recover(x->win, -1, &base));
    SIM_CHECK(lost > x->k || far == lost || x->k > old->n - 1);
}

static int has_doomed(const struct part *x)
{
    for (int i = 0; i < x->n; i++)
        if (is_doomed(x->name[i], x->size))
            return 1;
    return 0;
}

static void goes_on(struct part *x)
{
    struct part old = *x;
    int unacked, first = sim_seed() % 2;
    x->win = shrunk(x->c, x->win);
    members_of(x->win, &x->n, &x->me, x->name);
    recovered(x, &old);
    if (first)
        may_fail(MPI_Win_free(&old.win));
    if (first)
        recovered(x, &old);
    holds(x, x->rank, x->mem);
    (void)all_say(x->c, 1, &unacked);
    for (int i = 0; i < old.n && !has_doomed(x); i++)
        SIM_CHECK(all.found[x->round][old.name[i]] <= 1 + first);
    if (!first)
        may_fail(MPI_Win_free(&old.win));
}

static void begin(struct part *x)
{
    uint64_t h = (sim_seed() + 77u * (unsigned)x->round + 1) * 0x9e3779b97f4a7c15ull;
    x->limit.gives_up = x->me == (int)((h >> 33) % (unsigned)x->n);
    x->limit.turns = (int)((h >> 20) % 12);
    memset(x->now, 0, sizeof x->now);
}

static void dies_at_any_step(void *arg)
{
    struct part x = {.k = 1 + (int)(sim_seed() / 8 % 3)};
    (void)arg;
    scene_of(&x.rank, &x.size, &all, sizeof all);
    OK(MPI_Type_vector(2, 1, R, MPI_LONG, &x.pair));
    OK(MPI_Type_commit(&x.pair));
    x.c = copy_of(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    int dies = is_doomed(x.rank, x.size);
    if (dies)
        sim_die_at(1 + (int)(sim_random() % (120u * (unsigned)x.size)));
    window(&x);
    for (x.round = 0; x.round < ROUNDS && x.win != MPI_WIN_NULL; x.round++) {
        members_of(x.win, &x.n, &x.me, x.name);
        begin(&x);
        epochs(&x, (int)((sim_seed() + 3u * (unsigned)x.round) % KINDS));
        OK(MPIX_Win_revoke(x.win));
        goes_on(&x);
    }
    if (x.win != MPI_WIN_NULL)
        may_fail(MPI_Win_free(&x.win));
    if (dies)
        sim_die();
    OK(MPI_Type_free(&x.pair));
    OK(MPI_Comm_free(&x.c));
}

/* --- scenarios ------------------------------------------------------------------------------- */

static void unordered(struct sim_knobs *k)
{
    mortal_far(k);
    k->ordered = 0;
}

const struct scenario scenarios_replicas[] = {
    {"replicas-die-2", 2, 1, dies_at_any_step, NULL, mortal},
    {"replicas-die-4", 4, 1, dies_at_any_step, NULL, mortal},
    {"replicas-die-7", 7, 1, dies_at_any_step, NULL, mortal},
    {"replicas-die-near-5", 5, 1, dies_at_any_step, NULL, mortal_near},
    {"replicas-die-far-5", 5, 1, dies_at_any_step, NULL, mortal_far},
    {"replicas-die-unordered-4", 4, 1, dies_at_any_step, NULL, unordered},
    {"replicas-die-poor-4", 4, 1, dies_at_any_step, NULL, mortal_poor},
    {NULL, 0, 0, NULL, NULL, NULL},
};
