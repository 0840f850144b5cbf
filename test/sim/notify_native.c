/* notify_native.c - notified operations of which the network moves the data: exact numbers of
 * messages, failures of the network, deaths. */
#include "notify.h"
#include "race/watched.h"

enum { LINE = 64 /* longs that go natively, or are pulled */ };

static const struct rma_key *key_of(const struct job *j, int rank)
{
    return rma_target_find(inside(j->win), rank)->key;
}

/* The lock of that rank, and the key of its window: the next long put is the network's own. */
static void key_held(const struct job *j, int rank)
{
    long v[LINE] = {0};
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, j->win));
    OK(MPI_Put(v, LINE, MPI_LONG, rank, 0, LINE, MPI_LONG, j->win));
    OK(MPI_Win_flush(rank, j->win));
    while (key_of(j, rank)->state != KEY_READY)
        turn();
}

/* The target keeps no more for counters that there are not: it refuses the next of them. */
enum { KEPT = 1024, REFUSED = 4 + KEPT };
static void no_more_early(const struct job *j)
{
    for (int i = 4; i < REFUSED; i++)
        put_n(j, NULL, 0, 0, i);
}

static void let_go(void)
{
    sim_hold(-1, 0, 0);
    sim_let_go(SIM_NATIVE_OPS, 1);
}

static void turns(int n)
{
    while (n-- > 0)
        turn();
}

static void native_origin(const struct job *j)
{
    long v[LINE], r[LINE];
    for (int i = 0; i < LINE; i++)
        v[i] = i + 1;
    key_held(j, 1);
    int behind = key_of(j, 1)->then_am;
    struct counts c = mark(0), b = mark(1);
    put_n(j, v, 1, LINE, 0);
    SENT(&c, 1, PUT); /* a short one: one message carries both */
    c = mark(0);
    sim_hold(SIM_NATIVE_OPS, 0, 1);
    put_n(j, v, LINE, 0, 1);
    SENT(&c, behind, DONE);
    turns(40);
    SENT(&c, behind, DONE);
    let_go();
    hear(1);
    SENT(&c, 1, DONE);
    sim_hold(SIM_NATIVE_OPS, 0, 1);
    c = mark(0);
    OK(MPIX_Get_notify(r, LINE, MPI_LONG, 1, 0, LINE, MPI_LONG, 2, j->win));
    turns(40);
    SIM_CHECK(since_all(&c) == 0);
    let_go();
    hear(1);
    SENT(&c, 1, DONE);
    OK(MPI_Win_flush_local(1, j->win));
    SENT(&c, 1, DONE);
    SIM_CHECK(memcmp(r, v, sizeof v) == 0 && since_all(&b) == 0);
    no_more_early(j);
    put_n(j, r, LINE, LINE, REFUSED); /* the data are there */
    ERR(MPIX_ERR_INVALID_NOTIFICATION, MPI_Win_flush(1, j->win));
    OK(MPI_Win_unlock(1, j->win));
}

/* The data go by the network, the notification behind them: at once if it keeps that order. */
static void native_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(2 * LINE);
    if (j.rank == 0) {
        native_origin(&j);
    } else {
        OK(MPIX_Win_notify_wait(j.win, 1, 1));
        for (int i = 0; i < LINE; i++)
            SIM_CHECK(j.mem[i] == i + 1);
        tell(0);
        OK(MPIX_Win_notify_wait(j.win, 2, 1));
        for (int i = 0; i < LINE; i++)
            j.mem[i] = -1; /* they were read */
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < LINE && j.rank == 1; i++)
        SIM_CHECK(j.mem[LINE + i] == i + 1);
    job_close(&j);
}

enum { PIECE = 2048 / (int)sizeof(long) /* the most that the card moves at once */,
       PARTS = PIECE + 8 };

/* The card takes the first piece of a get and has no room for the buffer of the rest, which comes
 * by message. The notification leaves when both are here. Odd seeds: the message is the last; with
 * its answer the get is complete while it is the first of its queue. */
static void parted_get(const struct job *j)
{
    long r[PARTS];
    int last = (int)(sim_seed() % 2);
    memset(r, 0, sizeof r);
    key_held(j, 1);
    tell(1);
    hear(1);
    struct counts c = mark(0), b = mark(1);
    sim_hold(last ? AM_RMA + RMA_PKT_DATA : SIM_NATIVE_OPS, last, !last);
    OK(MPIX_Get_notify(r, PARTS, MPI_LONG, 1, 0, PARTS, MPI_LONG, 2, j->win));
    SENT(&c, 1, GET);
    while (since(&b, RMA_PKT_DATA) < 1 || !r[last ? 0 : PARTS - 1])
        turn();
    turns(40);
    SENT(&c, 1, GET);
    SENT(&b, 1, DATA);
    SIM_CHECK(r[0] == last && r[PARTS - 1] == (last ? 0 : PARTS));
    sim_hold(-1, 0, 0);
    sim_let_go(last ? AM_RMA + RMA_PKT_DATA : SIM_NATIVE_OPS, !last);
    hear(1);
    SENT2(&c, 1, GET, 1, DONE);
    SENT(&b, 1, DATA);
    OK(MPI_Win_flush_local(1, j->win));
    for (int i = 0; i < PARTS; i++)
        SIM_CHECK(r[i] == i + 1);
    SENT2(&c, 1, GET, 1, DONE);
    put_n(j, r, 1, 0, 0); /* the queue goes on */
    SENT3(&c, 1, GET, 1, DONE, 1, PUT);
    OK(MPI_Win_unlock(1, j->win));
}

static void parts_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(PARTS);
    MPI_Count n = -1;
    if (j.rank == 0) {
        parted_get(&j);
    } else {
        hear(0);
        for (int i = 0; i < PARTS; i++)
            j.mem[i] = i + 1;
        tell(0);
        OK(MPIX_Win_notify_wait(j.win, 2, 1));
        for (int i = 0; i < PARTS; i++)
            j.mem[i] = -1; /* all were read */
        tell(0);
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        OK(MPIX_Win_notify_get_value(j.win, 2, &n));
        SIM_CHECK(n == 1 && j.mem[0] == 1);
    }
    job_close(&j);
}

/* The put carries the notification: no message. One for a counter that the key did not tell of has
 * a message behind it. */
static void carried_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(LINE);
    long v[LINE];
    for (int i = 0; i < LINE; i++)
        v[i] = i + 1;
    if (j.rank == 0) {
        key_held(&j, 1);
        int behind = key_of(&j, 1)->then_am;
        struct counts c = mark(0), b = mark(1);
        sim_hold(SIM_NATIVE_OPS, 0, 1);
        put_n(&j, v, LINE, 0, 1);
        turns(40);
        let_go();
        hear(1);
        SIM_CHECK(since_all(&c) == 0);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, behind, DONE); /* its answer confirms puts where the network keeps that order */
        SENT(&b, behind, ACK);
        put_n(&j, v, LINE, 0, 4);
        hear(1);
        SENT(&c, behind + 1, DONE);
        OK(MPI_Win_unlock(1, j.win));
    } else {
        MPI_Count n = -1;
        OK(MPIX_Win_notify_get_value(j.win, 1, &n));
        SIM_CHECK(n == 0);
        OK(MPIX_Win_notify_wait(j.win, 1, 1));
        for (int i = 0; i < LINE; i++)
            SIM_CHECK(j.mem[i] == i + 1);
        tell(0);
        OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 5));
        OK(MPIX_Win_notify_wait(j.win, 4, 1));
        OK(MPIX_Win_notify_get_value(j.win, 1, &n));
        SIM_CHECK(n == 1);
        tell(0);
    }
    job_close(&j);
}

/* With mpix_notify_order=target it does not carry it: an earlier message may be under way. */
static void carried_order(void *arg)
{
    (void)arg;
    struct job j = notify_open(LINE + 1);
    long v[LINE] = {1};
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpix_notify_order", "target"));
    OK(MPI_Win_set_info(j.win, info));
    OK(MPI_Info_free(&info));
    if (j.rank == 0) {
        key_held(&j, 1);
        sim_hold(AM_RMA + RMA_PKT_PUT, 0, 1);
        OK(MPI_Put(v, 1, MPI_LONG, 1, LINE, 1, MPI_LONG, j.win));
        put_n(&j, v, LINE, 0, 1);
        turns(100);
        sim_hold(-1, 0, 0);
        sim_let_go(AM_RMA + RMA_PKT_PUT, 1);
        hear(1);
        OK(MPI_Win_unlock(1, j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 1, 1));
        SIM_CHECK(j.mem[LINE] == 1 && j.mem[0] == 1);
        tell(0);
    }
    job_close(&j);
}

/* What the network could not do is not counted. */
static void native_fails(void *arg)
{
    (void)arg;
    struct job j = notify_open(2 * LINE);
    long v[LINE] = {0};
    if (j.rank == 0) {
        key_held(&j, 1);
        struct counts c = mark(0);
        put_n(&j, v, LINE, 0, 1);
        ERR(MPI_ERR_OTHER, MPI_Win_flush(1, j.win));
        SIM_CHECK(since_all(&c) == 0);
        put_n(&j, v, 1, 0, 0);
        OK(MPI_Win_unlock(1, j.win));
    } else {
        MPI_Count n = -1;
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        OK(MPIX_Win_notify_get_value(j.win, 1, &n));
        SIM_CHECK(n == 0);
        SIM_CHECK(!proc->race || race_note_awaits(inside(j.win), 1, 1)); /* it knows that, too */
    }
    job_close(&j);
}

/* Rank 1 dies with notified puts under way: what is counted is there. */
static void native_death(void *arg)
{
    enum { PUTS = 4 };
    (void)arg;
    struct job j = job_of_mortals(PUTS * LINE);
    OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 1) {
        long v[LINE];
        for (int i = 0; i < LINE; i++)
            v[i] = 1;
        key_held(&j, 0);
        for (int i = 0; i < PUTS; i++)
            OK(MPIX_Put_notify(v, LINE, MPI_LONG, 0, i * LINE, LINE, MPI_LONG, 0, j.win));
        turns((int)(sim_random() % 60));
        sim_die();
    }
    for (int over = 0; !over;) {
        MPI_Count n = -1;
        over = boot_failed(1);
        OK(MPIX_Win_notify_get_value(j.win, 0, &n));
        for (int i = 0, left = LINE; i < PUTS * LINE; i++) {
            left = i % LINE ? left - (int)j.mem[i] : LINE - (int)j.mem[i];
            n -= left == 0;
        }
        SIM_CHECK(n <= 0);
        turn();
    }
    (void)MPI_Win_free(&j.win);
}

/* A target that fetches the data counts when it has them all; else the rest of them notifies. */
static void pulled_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(LINE);
    long v[LINE];
    for (int i = 0; i < LINE; i++)
        v[i] = i;
    if (j.rank == 0) {
        lock_all_held(&j);
        struct counts c = mark(0), b = mark(1);
        OK(MPIX_Accumulate_notify(v, LINE, MPI_LONG, 1, 0, LINE, MPI_LONG, MPI_SUM, 0, j.win));
        hear(1);
        SENT2(&c, 1, PULL, sim_seed() % 2, ACC);
        SENT(&b, 1, PULLED);
        put_n(&j, v, LINE, 0, 1);
        hear(1);
        SENT3(&c, 2, PULL, sim_seed() % 2, ACC, sim_seed() % 2, PUT);
        SENT(&b, 2, PULLED);
        no_more_early(&j);
        OK(MPIX_Accumulate_notify(v, LINE, MPI_LONG, 1, 0, LINE, MPI_LONG, MPI_SUM, REFUSED,
                                  j.win));
        ERR(MPIX_ERR_INVALID_NOTIFICATION, MPI_Win_flush(1, j.win));
        OK(MPI_Win_unlock_all(j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        for (int i = 0; i < LINE; i++)
            SIM_CHECK(j.mem[i] == i);
        memset(j.mem, 0, LINE * sizeof(long));
        tell(0);
        OK(MPIX_Win_notify_wait(j.win, 1, 1));
        for (int i = 0; i < LINE; i++)
            SIM_CHECK(j.mem[i] == i);
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < LINE && j.rank == 1; i++)
        SIM_CHECK(j.mem[i] == 2 * i);
    job_close(&j);
}

/* One message carries both halves of what is short. */
static void short_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(LINE);
    long v[LINE] = {1};
    if (j.rank == 0) {
        lock_all_held(&j);
        struct counts c = mark(0), b = mark(1);
        OK(MPIX_Accumulate_notify(v, LINE, MPI_LONG, 1, 0, LINE, MPI_LONG, MPI_SUM, 0, j.win));
        put_n(&j, v, LINE, 0, 0);
        hear(1);
        SENT2(&c, 1, ACC, 1, PUT);
        SIM_CHECK(since_all(&b) == 0);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 2));
        SIM_CHECK(j.mem[0] == 1);
        tell(0);
    }
    job_close(&j);
}

static void native(struct sim_knobs *k)
{
    notify_quiet(k);
    k->native = SIM_NATIVE_ALL;
    k->native_min = 64;
    k->native_ordered = 0;
    scenario_cvar("MPIR_CVAR_RMA_PULLS", "0");
    scenario_cvar("MPIR_CVAR_NOTIFY_NATIVE_MIN", "64");
}

static void native_behind(struct sim_knobs *k)
{
    native(k);
    k->native_ordered = 1;
}

static void native_carries(struct sim_knobs *k)
{
    native(k);
    k->native_notes = 1;
    k->native_ordered = (int)(k->seed % 2);
    scenario_cvar("MPIR_CVAR_NOTIFY_IMMEDIATE", "1");
}

static void native_carries_breaks(struct sim_knobs *k)
{
    native_carries(k);
    k->native_ordered = 0;
    k->native_put_fails = 100;
}

static void native_in_part(struct sim_knobs *k)
{
    native(k);
    k->native_reg = 1;
    k->native_locked = PIECE * (int)sizeof(long);
}

static void native_breaks(struct sim_knobs *k)
{
    native(k);
    k->native_put_fails = 100;
}

static void native_breaks_watched(struct sim_knobs *k)
{
    native_breaks(k);
    scenario_cvar("MPIR_CVAR_RACE", "rma");
}

static void native_mortal(struct sim_knobs *k)
{
    native(k);
    k->mortal = 1;
    k->ordered = (int)(k->seed / 2 % 2);
    k->native_ordered = (int)(k->seed % 2);
    k->max_delay = 60;
}

static void native_carries_mortal(struct sim_knobs *k)
{
    native_mortal(k);
    k->native_notes = 1;
    scenario_cvar("MPIR_CVAR_NOTIFY_IMMEDIATE", "1");
}

static void pulled(struct sim_knobs *k)
{
    native(k);
    k->native_fails = k->seed % 2 ? 100 : 0; /* then the data come by message */
    scenario_cvar("MPIR_CVAR_RMA_PULLS", "4");
}

static void not_pulled(struct sim_knobs *k)
{
    pulled(k);
    scenario_cvar("MPIR_CVAR_NOTIFY_NATIVE_MIN", "513");
}

const struct scenario scenarios_notify_native[] = {
    {"count-notify-native", 2, 1, native_counts, NULL, native},
    {"count-notify-then-am", 2, 1, native_counts, NULL, native_behind},
    {"count-notify-carried", 2, 1, carried_counts, NULL, native_carries},
    {"notify-carried-order", 2, 1, carried_order, NULL, native_carries},
    {"count-notify-parts", 2, 1, parts_counts, NULL, native_in_part},
    {"count-notify-pulled", 2, 1, pulled_counts, NULL, pulled},
    {"count-notify-short", 2, 1, short_counts, NULL, not_pulled},
    {"notify-native-fails", 2, 1, native_fails, NULL, native_breaks},
    {"notify-native-fails-race", 2, 1, native_fails, NULL, native_breaks_watched},
    {"notify-carried-fails", 2, 1, native_fails, NULL, native_carries_breaks},
    {"notify-carried-death", 2, 1, native_death, NULL, native_carries_mortal},
    {"notify-native-death", 2, 1, native_death, NULL, native_mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
