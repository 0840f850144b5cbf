/* test_core_state.c - rma/core/state.c: transitions, fast flags, admit, may issue, questions,
 * invariants. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_rma.h"
#include "world.h"

/* The tables of state.c, written down a second time, from the definitions. */

static struct rma_near near_rec;
static int group[] = {1, 2};

static struct rma_win *window(int state)
{
    static struct rma_win w;
    memset(&w, 0, sizeof w);
    list_init(&w.table.used);
    w.state = (uint8_t)state;
    w.size = 4;
    w.all_near = 1; /* rma_called_grant() is not asked */
    w.near.near = w.records = &near_rec;
    w.access.start = group;
    w.access.nstart = 2;
    w.access.nwaiting = 1;
    w.fence.barriers = 1;
    w.passive.locks = 1;
    return &w;
}

struct move {
    int from, to;
};

static void go_win(void *arg)
{
    const struct move *m = arg;
    rma_win_goto(window(m->from), m->to);
}

static void go_target(void *arg)
{
    const struct move *m = arg;
    struct rma_target t = {.state = (uint8_t)m->from};
    static struct rma room;
    proc->rma = &room; /* in a process of its own: see world_dies() */
    rma_target_goto(&t, m->to);
}

static void go_expo(void *arg)
{
    const struct move *m = arg;
    struct rma_win *w = window(WIN_UNSET);
    w->expo = (uint8_t)m->from;
    rma_expo_goto(w, m->to);
}

START_TEST(transitions)
{
    /*  to: UNSET, F_ISSUED, F_GRANTED, P_ISSUED, P_GRANTED, LA_CALLED, LA_ISSUED, LA_GRANTED,
     *  PER_TARGET */
    static const char legal[WIN_STATES][WIN_STATES + 1] = {
        [WIN_UNSET] = "110101011",           [WIN_FENCE_ISSUED] = "111101011",
        [WIN_FENCE_GRANTED] = "111101011",   [WIN_PSCW_ISSUED] = "100110000",
        [WIN_PSCW_GRANTED] = "100010000",    [WIN_LOCK_ALL_CALLED] = "100001100",
        [WIN_LOCK_ALL_ISSUED] = "000000110", [WIN_LOCK_ALL_GRANTED] = "100000010",
        [WIN_PER_TARGET] = "100000001"};
    for (int i = 0; i < WIN_STATES; i++)
        for (int j = 0; j < WIN_STATES; j++) {
            struct move m = {i, j};
            if (legal[i][j] == '1')
                go_win(&m);
            else
                ck_assert_msg(world_dies(go_win, &m), "%d -> %d is legal", i, j);
        }
    for (int i = 0; i < TARGET_STATES; i++)
        for (int j = 0; j < TARGET_STATES; j++) {
            struct move m = {i, j};
            int ok = (i == TARGET_LOCK_CALLED && j == TARGET_LOCK_ISSUED) ||
                     (i == TARGET_LOCK_ISSUED && j == TARGET_LOCK_GRANTED) ||
                     (i == TARGET_LOCK_GRANTED && j == TARGET_LOCK_ISSUED);
            ck_assert_int_eq(world_dies(go_target, &m), !ok);
        }
    for (int i = 0; i < EXPO_STATES; i++)
        for (int j = 0; j < EXPO_STATES; j++) {
            struct move m = {i, j};
            ck_assert_int_eq(world_dies(go_expo, &m), i == j);
        }
}
END_TEST

START_TEST(fast_flags)
{
    static const unsigned all = 1u << WIN_FENCE_GRANTED | 1u << WIN_LOCK_ALL_CALLED |
                                1u << WIN_LOCK_ALL_ISSUED | 1u << WIN_LOCK_ALL_GRANTED;
    static const unsigned passive = 1u << WIN_LOCK_ALL_CALLED | 1u << WIN_LOCK_ALL_ISSUED |
                                    1u << WIN_LOCK_ALL_GRANTED | 1u << WIN_PER_TARGET;
    for (int s = 0; s < WIN_STATES; s++) {
        struct rma_win *w = window(s);
        w->starved = 1;
        ck_assert_int_eq(rma_evicted_put(&w->passive.evicted, 3, 0), 0);
        w->near.count = 3;
        rma_win_goto(w, s);
        ck_assert_uint_eq(atomic_load(&w->near.all), all >> s & 1 ? 3 : 0);
        ck_assert_uint_eq(atomic_load(&w->near.quiet), (all & passive) >> s & 1 ? 3 : 0);
        ck_assert_int_eq(atomic_load(&w->near.passive), passive >> s & 1);
        /* a target element makes flush more than a fence */
        w->table.ntargets = 1;
        rma_near_admit(w);
        ck_assert_uint_eq(atomic_load(&w->near.all), all >> s & 1 ? 3 : 0);
        ck_assert(!atomic_load(&w->near.quiet) && !atomic_load(&w->near.passive));
        /* but not of what is mapped, nor does such an answer */
        w->all_mapped = 1;
        w->acks = 1;
        rma_near_admit(w);
        ck_assert_uint_eq(atomic_load(&w->near.quiet), (all & passive) >> s & 1 ? 3 : 0);
        /* with threads, or ranks that are not consecutive */
        w->near.by_target = 1;
        atomic_store(&w->near.quiet, 0);
        rma_near_admit(w);
        ck_assert_int_eq(atomic_load(&w->near.quiet_each), (all & passive) >> s & 1);
        ck_assert_int_eq(atomic_load(&w->near.spread_all), all >> s & 1);
        ck_assert(!atomic_load(&w->near.quiet));
        w->near.by_target = w->all_mapped = 0;
        w->acks = 0;
        w->table.ntargets = 0;
        /* and so does an answer to an evicted element's DONE, which must be waited for */
        rma_acks_add(w, 1);
        ck_assert(!atomic_load(&w->near.quiet) && !atomic_load(&w->near.passive));
        rma_acks_add(w, -1);
        ck_assert_uint_eq(atomic_load(&w->near.quiet), (all & passive) >> s & 1 ? 3 : 0);
        ck_assert_int_eq(atomic_load(&w->near.passive), passive >> s & 1);
        /* what belongs to an epoch ends with it */
        ck_assert_int_eq(rma_evicted(&w->passive.evicted, 3) && w->starved, s != WIN_UNSET);
        rma_evicted_clear(&w->passive.evicted);
    }
    /* near.open: locked, or posted in an open PSCW epoch */
    struct rma_win *w = window(WIN_PSCW_ISSUED);
    w->nears = 1;
    near_rec = (struct rma_near){.started = 1};
    rma_win_goto(w, WIN_PSCW_GRANTED);
    ck_assert_int_eq(atomic_load(&near_rec.open), 1);
    rma_win_goto(w, WIN_UNSET);
    ck_assert_int_eq(atomic_load(&near_rec.open), 0);
    near_rec.lock = RMA_LOCKED_SHARED;
    rma_near_opened(w, &near_rec);
    ck_assert_int_eq(atomic_load(&near_rec.open), 1);
}
END_TEST

static char letter(enum verdict v)
{
    return "NILQW"[v];
}

START_TEST(admit)
{
    /* far: no element, evicted before, CALLED, ISSUED, GRANTED; near: unlocked, locked; far, not in
     * the group */
    static const char want[WIN_STATES][9] = {
        [WIN_UNSET] = "NNNNNNNN",           [WIN_FENCE_ISSUED] = "QQQQQQQQ",
        [WIN_FENCE_GRANTED] = "IIIIIIII",   [WIN_PSCW_ISSUED] = "QQQQQQQN",
        [WIN_PSCW_GRANTED] = "IIIIIIIN",    [WIN_LOCK_ALL_CALLED] = "LLLQIIIL",
        [WIN_LOCK_ALL_ISSUED] = "WWLQIIIW", [WIN_LOCK_ALL_GRANTED] = "IIIIIIII",
        [WIN_PER_TARGET] = "NILQININ"};
    for (int s = 0; s < WIN_STATES; s++)
        for (int i = 0; i < 8; i++) {
            struct rma_win *w = window(s);
            struct rma_near n = {.lock = i == 6 ? RMA_LOCKED_EXCLUSIVE : RMA_UNLOCKED};
            struct rma_target t = {.w = w, .state = (uint8_t)(i - 2)};
            if (i == 1)
                ck_assert_int_eq(rma_evicted_put(&w->passive.evicted, 1, 0), 0);
            enum verdict v = rma_admit(w, i == 7 ? 3 : 1, i == 5 || i == 6 ? &n : NULL,
                                       i >= 2 && i <= 4 ? &t : NULL);
            ck_assert_msg(letter(v) == want[s][i], "state %d, case %d: %c, not %c", s, i, letter(v),
                          want[s][i]);
            rma_evicted_clear(&w->passive.evicted);
        }
}
END_TEST

START_TEST(may_issue)
{
    /* CALLED, ISSUED, GRANTED, ISSUED and refused */
    static const char want[WIN_STATES][5] = {
        [WIN_UNSET] = "QQQQ",           [WIN_FENCE_ISSUED] = "QQQQ",
        [WIN_FENCE_GRANTED] = "IQIQ",   [WIN_PSCW_ISSUED] = "QQQQ",
        [WIN_PSCW_GRANTED] = "IQIQ",    [WIN_LOCK_ALL_CALLED] = "LQIL",
        [WIN_LOCK_ALL_ISSUED] = "LQIL", [WIN_LOCK_ALL_GRANTED] = "IQIQ",
        [WIN_PER_TARGET] = "LQIL"};
    for (int s = 0; s < WIN_STATES; s++)
        for (int i = 0; i < 4; i++) {
            struct rma_target t = {.w = window(s),
                                   .state = i == 3 ? TARGET_LOCK_ISSUED : (uint8_t)i,
                                   .flags = i == 3 ? TARGET_REFUSED : 0};
            ck_assert_msg(letter(rma_may_issue(&t)) == want[s][i], "state %d, case %d", s, i);
        }
}
END_TEST

START_TEST(questions)
{
    static const char want[][WIN_STATES + 1] = {
        [SET_FENCE_MAY] = "111000000",   [SET_START_MAY] = "111000000",
        [SET_LOCK_MAY] = "111000001",    [SET_LOCK_ALL_MAY] = "111000000",
        [SET_PSCW] = "000110000",     [SET_LOCK_ALL] = "000001110",
        [SET_PASSIVE] = "000001111",  [SET_FREE_MAY] = "111000000",
        [SET_BARRIER_OUT] = "010000000", [SET_POSTS_OUT] = "000100000",
        [SET_SWITCHING] = "000000100",   [SET_LAZY_ALL] = "000001000",
        [SET_ALL_LOCKED] = "000000010",  [SET_PER_TARGET] = "000000001",
        [SET_ACTIVE] = "001010000",      [SET_UNSET] = "100000000",
        [SET_FENCE] = "011000000",    [SET_ON_ALL] = "001001110",
        [SET_ALL_PENDING] = "000001100"};
    for (int s = 0; s < WIN_STATES; s++)
        for (int q = 0; q < (int)(sizeof want / sizeof *want); q++) {
            struct rma_win *w = window(s);
            ck_assert_msg(rma_in(w, q) == want[q][s] - '0', "state %d, question %d", s, q);
            /* operations since the fence: nothing but a fence may follow it */
            atomic_store(&w->near.pvars.v[PVAR_RMA_GET], 1);
            int opens = q == SET_START_MAY || q == SET_LOCK_MAY || q == SET_LOCK_ALL_MAY ||
                        q == SET_FREE_MAY;
            int in_fence = s == WIN_FENCE_ISSUED || s == WIN_FENCE_GRANTED;
            ck_assert_msg(rma_in(w, q) == (opens && in_fence ? 0 : want[q][s] - '0'),
                          "state %d, question %d", s, q);
        }
    for (int s = 0; s < WIN_STATES; s++)
        ck_assert_ptr_nonnull(rma_state_name(window(s)));
}
END_TEST

/* --- the checker itself: one window per broken truth ------------------------------------ */

struct broken {
    struct rma_slot slot;
    struct rma_target t;
    struct rma_op op[2];
    struct rma_win *w;
};

/* A sound window in PER_TARGET with one granted target: op[0] has left, op[1] has not. */
static struct broken *sound(void)
{
    static struct broken b;
    static struct list active;
    memset(&b, 0, sizeof b);
    b.w = window(WIN_PER_TARGET);
    list_init(&b.slot.targets);
    list_init(&b.slot.used);
    list_init(&b.t.ops);
    list_init(&b.t.called);
    list_init(&b.t.ready);
    list_push(&b.w->table.used, &b.slot.used);
    list_push(&b.slot.targets, &b.t.link);
    b.t.w = b.w;
    b.t.state = TARGET_LOCK_GRANTED;
    for (int i = 0; i < 2; i++) {
        b.op[i] = (struct rma_op){.t = &b.t, .bytes = 8, .sent = i ? 0 : 8};
        list_push(&b.t.ops, &b.op[i].link);
    }
    b.t.next = &b.op[1].link;
    b.t.nops = b.w->table.nops = 2;
    b.t.queued = b.w->table.ntargets = 1;
    b.t.held = b.w->held = 1;
    list_init(&active);
    list_init(&b.w->active);
    list_push(&active, &b.w->active);
    return &b;
}

/* Each names what it breaks and the words of the assertion that has to see it, so that none stands
 * in for another. */
static const struct truth {
    const char *what, *asserted;
} truths[] = {
    {"R1 element of another target", "op->t == t"},
    {"R1 next is not on the list", "past || t->next == &t->ops"},
    {"R2 sum", "ops == w->table.nops"},
    {"R2 pool", "w->table.op_quota.free <= w->table.op_quota.size"},
    {"R2 queued", "queued == t->queued"},
    {"R3 empty slot on the list", "!list_empty(&s->targets)"},
    {"R3 element of another window", "t->w == w"},
    {"R4 ready for nothing", "due"},
    {"R4 due and not ready", "!rma_target_due(t)"},
    {"R6 granted and called", "list_empty(&t->called) == !asked"},
    {"R6 asked and not called", "list_empty(&t->called) == !asked"},
    {"R6 called in another epoch", "list_empty(&t->called)"},
    {"R7 acks in UNSET", "w->acks == 0"},
    {"R8 sum", "natives == t->natives"},
    {"R8 flushing more than is out", "t->flushing + t->tx_out <= t->native_out"},
    {"R9 native accumulate and no mark", "t->atomics"},
    {"R15 held back and no age", "assertion failed: t->held"},
    {"R15 older than its window knows", "w->held <= t->held"},
    {"R15 window not polled", "!list_empty(&w->active)"},
    {"E1 element in UNSET", "targets == 0"},
    {"E2 no barrier", "w->fence.barriers > 0"},
    {"E3 barrier out", "w->fence.barriers == 0"},
    {"E4 no post missing", "w->access.nwaiting > 0"},
    {"E5 post missing", "w->access.nwaiting == 0"},
    {"E6 near word not held", "near_locks(w) + w->passive.lazies == w->nears"},
    {"E6 element that does not join", "t->flags & TARGET_JOIN"},
    {"E7 no switch", "w->passive.sw != NULL"},
    {"E7 a switch too many", "w->passive.sw != NULL"},
    {"E8 near word not held", "near_locks(w) + w->passive.lazies == w->nears"},
    {"E8 element not granted", "t->state == TARGET_LOCK_GRANTED"},
    {"E9 no lock", "w->passive.locks > 0"},
    {"E9 more held than called", "seen <= w->passive.locks"},
    {"E9 more called than held", "w->passive.locks - seen <= 1"},
    {"E10 CALLED and sent", "op->sent == 0"},
    {"E10 ISSUED and not piggybacked", "op->flags & (OP_PIGGYBACKED | OP_DONE)"},
};

/* A sound window in one of LOCK_ALL's states, with one near member, whose word is held. */
static struct broken *sound_all(int state)
{
    struct broken *b = sound();
    b->w->state = (uint8_t)state;
    b->w->nears = 1;
    near_rec = (struct rma_near){.lock = RMA_LOCKED_SHARED};
    b->t.flags = TARGET_JOIN;
    b->w->passive.sw = state == WIN_LOCK_ALL_ISSUED ? (struct lockall_switch *)(void *)b : NULL;
    return b;
}

static struct broken *broken_by(const char *what)
{
    static struct rma_target other;
    static struct list head;
    static struct dt_type elem;
    static struct rma_win w;
    struct broken *b = sound();
    list_init(&head);
    if (!strcmp(what, "R1 element of another target"))
        b->op[1].t = &other;
    else if (!strcmp(what, "R1 next is not on the list"))
        b->t.next = &other.link;
    else if (!strcmp(what, "R2 sum"))
        b->w->table.nops = 3;
    else if (!strcmp(what, "R2 pool"))
        b->w->table.op_quota.free = 1;
    else if (!strcmp(what, "R2 queued"))
        b->t.queued = 2;
    else if (!strcmp(what, "R3 empty slot on the list"))
        list_del(&b->t.link);
    else if (!strcmp(what, "R3 element of another window")) {
        w = *b->w;
        b->t.w = &w;
    } else if (!strcmp(what, "R4 ready for nothing"))
        list_push(&head, &b->t.ready);
    else if (!strcmp(what, "R4 due and not ready"))
        b->t.flags = TARGET_DRAIN;
    else if (!strcmp(what, "R6 granted and called"))
        list_push(&head, &b->t.called);
    else if (!strcmp(what, "R6 asked and not called")) {
        b->t.state = TARGET_LOCK_ISSUED;
        b->op[0].flags = OP_PIGGYBACKED;
    } else if (!strcmp(what, "R6 called in another epoch")) {
        b = sound_all(WIN_LOCK_ALL_CALLED);
        list_push(&head, &b->t.called);
    } else if (!strcmp(what, "R7 acks in UNSET")) {
        b->w = window(WIN_UNSET);
        b->w->acks = 1;
    } else if (!strcmp(what, "R8 sum"))
        b->t.natives = 1;
    else if (!strcmp(what, "R8 flushing more than is out"))
        b->t.flushing = 1;
    else if (!strcmp(what, "R15 held back and no age"))
        b->t.held = 0;
    else if (!strcmp(what, "R15 older than its window knows"))
        b->w->held = 2;
    else if (!strcmp(what, "R15 window not polled"))
        list_del(&b->w->active);
    else if (!strcmp(what, "R9 native accumulate and no mark")) {
        b->op[0].natives = b->t.natives = 1;
        b->op[0].elem = &elem;
    } else if (!strcmp(what, "E1 element in UNSET"))
        b->w->state = WIN_UNSET;
    else if (!strcmp(what, "E2 no barrier")) {
        b->w->state = WIN_FENCE_ISSUED;
        b->w->fence.barriers = 0;
    } else if (!strcmp(what, "E3 barrier out"))
        b->w->state = WIN_FENCE_GRANTED;
    else if (!strcmp(what, "E4 no post missing")) {
        b->w->state = WIN_PSCW_ISSUED;
        b->w->access.nwaiting = 0;
    } else if (!strcmp(what, "E5 post missing"))
        b->w->state = WIN_PSCW_GRANTED;
    else if (!strcmp(what, "E6 near word not held")) {
        b = sound_all(WIN_LOCK_ALL_CALLED);
        near_rec.lock = RMA_UNLOCKED;
    } else if (!strcmp(what, "E6 element that does not join")) {
        b = sound_all(WIN_LOCK_ALL_CALLED);
        b->t.flags = 0;
    } else if (!strcmp(what, "E7 no switch")) {
        b = sound_all(WIN_LOCK_ALL_ISSUED);
        b->w->passive.sw = NULL;
    } else if (!strcmp(what, "E7 a switch too many"))
        b->w->passive.sw = (struct lockall_switch *)(void *)b;
    else if (!strcmp(what, "E8 near word not held")) {
        b = sound_all(WIN_LOCK_ALL_GRANTED);
        near_rec.lock = RMA_UNLOCKED;
    } else if (!strcmp(what, "E8 element not granted")) {
        b = sound_all(WIN_LOCK_ALL_GRANTED);
        b->t.state = TARGET_LOCK_ISSUED;
        b->op[0].flags = OP_PIGGYBACKED;
    } else if (!strcmp(what, "E9 no lock"))
        b->w->passive.locks = 0;
    else if (!strcmp(what, "E9 more held than called")) {
        b->w->nears = 1;
        near_rec = (struct rma_near){.lock = RMA_LOCKED_SHARED};
    } else if (!strcmp(what, "E9 more called than held"))
        b->w->passive.locks = 3;
    else if (!strcmp(what, "E10 CALLED and sent")) {
        b->t.state = TARGET_LOCK_CALLED;
        list_push(&head, &b->t.called);
    } else if (!strcmp(what, "E10 ISSUED and not piggybacked")) {
        b->t.state = TARGET_LOCK_ISSUED;
        list_push(&head, &b->t.called);
    }
    return b;
}

/* What the check prints before it ends a process of its own; nothing if it is content. */
static void check_says(const char *what, char *text, size_t room)
{
    int ends[2];
    size_t n = 0;
    ssize_t got;
    fflush(NULL);
    job_check(pipe(ends) == 0);
    pid_t pid = fork();
    job_check(pid >= 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], 2);
        rma_check_invariants(broken_by(what)->w);
        _exit(0);
    }
    close(ends[1]);
    while (n < room - 1 && (got = read(ends[0], text + n, room - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = 0;
    close(ends[0]);
    waitpid(pid, NULL, 0);
}

/* In a process of a job: E6 depends on whether a process has failed. */
static void each_is_seen(void)
{
    static const int all[] = {WIN_LOCK_ALL_CALLED, WIN_LOCK_ALL_ISSUED, WIN_LOCK_ALL_GRANTED};
    char text[400];
    rma_check_invariants(sound()->w);
    for (int i = 0; i < 3; i++)
        rma_check_invariants(sound_all(all[i])->w);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        check_says(truths[i].what, text, sizeof text);
        if (!strstr(text, "assertion failed: ") || !strstr(text, truths[i].asserted)) {
            fprintf(stderr, "%s: the check says \"%s\", not \"%s\"\n", truths[i].what, text,
                    truths[i].asserted);
            job_check(!"an invariant is not seen");
        }
    }
}

START_TEST(invariants)
{
    ck_assert_int_eq(world_run(1, NULL, each_is_seen), 0);
}
END_TEST

Suite *suite_epoch(void)
{
    Suite *s = suite_create("rma/epoch");
    TCase *t = tcase_create("epoch");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, transitions);
    tcase_add_test(t, fast_flags);
    tcase_add_test(t, admit);
    tcase_add_test(t, may_issue);
    tcase_add_test(t, questions);
    tcase_add_test(t, invariants);
    suite_add_tcase(s, t);
    return s;
}
