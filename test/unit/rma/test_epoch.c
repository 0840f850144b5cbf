#include "unit.h"

#include "unit_rma.h"
#include "world.h"

/* The tables of epoch.c, written down a second time, from the definitions. */

static struct rma_near near_rec;
static int group[] = {1, 2};

static struct rma_win *window(int state)
{
    static struct rma_win w;
    memset(&w, 0, sizeof w);
    list_init(&w.slots_used);
    w.state = (uint8_t)state;
    w.size = 4;
    w.all_near = 1; /* rma_called_grant() is not asked */
    w.near.near = &near_rec;
    w.start = group;
    w.nstart = 2;
    w.nwaiting = 1;
    w.barriers = 1;
    w.locks = 1;
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
    /*  to: UNSET, F_ISSUED, F_GRANTED, P_ISSUED, P_GRANTED, LA_CALLED, LA_ISSUED, LA_GRANTED, PER_TARGET */
    static const char legal[WIN_STATES][WIN_STATES + 1] = {
        [WIN_UNSET] = "110101011",         [WIN_FENCE_ISSUED] = "111101011",     [WIN_FENCE_GRANTED] = "111101011",
        [WIN_PSCW_ISSUED] = "100110000",   [WIN_PSCW_GRANTED] = "100010000",     [WIN_LOCK_ALL_CALLED] = "100001100",
        [WIN_LOCK_ALL_ISSUED] = "000000110", [WIN_LOCK_ALL_GRANTED] = "100000010", [WIN_PER_TARGET] = "100000001"};
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
    static const unsigned all = 1u << WIN_FENCE_GRANTED | 1u << WIN_LOCK_ALL_CALLED | 1u << WIN_LOCK_ALL_ISSUED |
                                1u << WIN_LOCK_ALL_GRANTED;
    static const unsigned passive = 1u << WIN_LOCK_ALL_CALLED | 1u << WIN_LOCK_ALL_ISSUED | 1u << WIN_LOCK_ALL_GRANTED |
                                    1u << WIN_PER_TARGET;
    for (int s = 0; s < WIN_STATES; s++) {
        struct rma_win *w = window(s);
        w->evicted = w->starved = 1;
        w->near.count = 3;
        rma_win_goto(w, s);
        ck_assert_uint_eq(atomic_load(&w->near.all), all >> s & 1 ? 3 : 0);
        ck_assert_uint_eq(atomic_load(&w->near.quiet), (all & passive) >> s & 1 ? 3 : 0);
        ck_assert_int_eq(atomic_load(&w->near.passive), passive >> s & 1);
        /* a target element makes flush more than a fence */
        w->ntargets = 1;
        rma_near_admit(w);
        ck_assert_uint_eq(atomic_load(&w->near.all), all >> s & 1 ? 3 : 0);
        ck_assert(!atomic_load(&w->near.quiet) && !atomic_load(&w->near.passive));
        w->ntargets = 0;
        /* and so does an answer to an evicted element's DONE, which must be waited for */
        rma_acks_add(w, 1);
        ck_assert(!atomic_load(&w->near.quiet) && !atomic_load(&w->near.passive));
        rma_acks_add(w, -1);
        ck_assert_uint_eq(atomic_load(&w->near.quiet), (all & passive) >> s & 1 ? 3 : 0);
        ck_assert_int_eq(atomic_load(&w->near.passive), passive >> s & 1);
        /* what belongs to an epoch ends with it */
        ck_assert_int_eq(w->evicted && w->starved, s != WIN_UNSET);
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
    /* far: no element, evicted before, CALLED, ISSUED, GRANTED; near: unlocked, locked; far, not in the group */
    static const char want[WIN_STATES][9] = {
        [WIN_UNSET] = "NNNNNNNN",           [WIN_FENCE_ISSUED] = "QQQQQQQQ",     [WIN_FENCE_GRANTED] = "IIIIIIII",
        [WIN_PSCW_ISSUED] = "QQQQQQQN",     [WIN_PSCW_GRANTED] = "IIIIIIIN",     [WIN_LOCK_ALL_CALLED] = "LLLQIIIL",
        [WIN_LOCK_ALL_ISSUED] = "WWLQIIIW", [WIN_LOCK_ALL_GRANTED] = "IIIIIIII", [WIN_PER_TARGET] = "NILQININ"};
    for (int s = 0; s < WIN_STATES; s++)
        for (int i = 0; i < 8; i++) {
            struct rma_win *w = window(s);
            struct rma_near n = {.lock = i == 6 ? RMA_LOCKED_EXCLUSIVE : RMA_UNLOCKED};
            struct rma_target t = {.w = w, .state = (uint8_t)(i - 2)};
            w->evicted = i == 1;
            enum verdict v = rma_admit(w, i == 7 ? 3 : 1, i == 5 || i == 6 ? &n : NULL, i >= 2 && i <= 4 ? &t : NULL);
            ck_assert_msg(letter(v) == want[s][i], "state %d, case %d: %c, not %c", s, i, letter(v), want[s][i]);
        }
}
END_TEST

START_TEST(may_issue)
{
    /* CALLED, ISSUED, GRANTED, ISSUED and refused */
    static const char want[WIN_STATES][5] = {
        [WIN_UNSET] = "QQQQ",           [WIN_FENCE_ISSUED] = "QQQQ",     [WIN_FENCE_GRANTED] = "IQIQ",
        [WIN_PSCW_ISSUED] = "QQQQ",     [WIN_PSCW_GRANTED] = "IQIQ",     [WIN_LOCK_ALL_CALLED] = "LQIL",
        [WIN_LOCK_ALL_ISSUED] = "LQIL", [WIN_LOCK_ALL_GRANTED] = "IQIQ", [WIN_PER_TARGET] = "LQIL"};
    for (int s = 0; s < WIN_STATES; s++)
        for (int i = 0; i < 4; i++) {
            struct rma_target t = {.w = window(s), .state = i == 3 ? TARGET_LOCK_ISSUED : (uint8_t)i,
                                   .flags = i == 3 ? TARGET_REFUSED : 0};
            ck_assert_msg(letter(rma_may_issue(&t)) == want[s][i], "state %d, case %d", s, i);
        }
}
END_TEST

START_TEST(questions)
{
    static const char want[][WIN_STATES + 1] = {
        [ASK_FENCE_MAY] = "111000000",   [ASK_START_MAY] = "111000000",    [ASK_LOCK_MAY] = "111000001",
        [ASK_LOCK_ALL_MAY] = "111000000", [ASK_IN_PSCW] = "000110000",     [ASK_IN_LOCK_ALL] = "000001110",
        [ASK_IN_PASSIVE] = "000001111",  [ASK_FREE_MAY] = "111000000",     [ASK_BARRIER_OUT] = "010000000",
        [ASK_POSTS_OUT] = "000100000",   [ASK_SWITCHING] = "000000100",    [ASK_LAZY_ALL] = "000001000",
        [ASK_ALL_LOCKED] = "000000010",  [ASK_PER_TARGET] = "000000001",   [ASK_ACTIVE] = "001010000",
        [ASK_UNSET] = "100000000",       [ASK_IN_FENCE] = "011000000",     [ASK_ON_ALL] = "001001110",
        [ASK_ALL_PENDING] = "000001100"};
    for (int s = 0; s < WIN_STATES; s++)
        for (int q = 0; q < (int)(sizeof want / sizeof *want); q++) {
            struct rma_win *w = window(s);
            ck_assert_msg(rma_ask(w, q) == want[q][s] - '0', "state %d, question %d", s, q);
            /* operations since the fence: nothing but a fence may follow it */
            atomic_store(&w->near.pvars.v[PVAR_RMA_GET], 1);
            int opens = q == ASK_START_MAY || q == ASK_LOCK_MAY || q == ASK_LOCK_ALL_MAY || q == ASK_FREE_MAY;
            int in_fence = s == WIN_FENCE_ISSUED || s == WIN_FENCE_GRANTED;
            ck_assert_msg(rma_ask(w, q) == (opens && in_fence ? 0 : want[q][s] - '0'), "state %d, question %d", s, q);
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
    memset(&b, 0, sizeof b);
    b.w = window(WIN_PER_TARGET);
    list_init(&b.slot.targets);
    list_init(&b.slot.used);
    list_init(&b.t.ops);
    list_init(&b.t.called);
    list_init(&b.t.ready);
    list_push(&b.w->slots_used, &b.slot.used);
    list_push(&b.slot.targets, &b.t.link);
    b.t.w = b.w;
    b.t.state = TARGET_LOCK_GRANTED;
    for (int i = 0; i < 2; i++) {
        b.op[i] = (struct rma_op){.t = &b.t, .bytes = 8, .sent = i ? 0 : 8};
        list_push(&b.t.ops, &b.op[i].link);
    }
    b.t.next = &b.op[1].link;
    b.t.nops = b.w->nops = 2;
    b.t.queued = b.w->ntargets = 1;
    return &b;
}

static void break_it(void *arg)
{
    const char *what = arg;
    struct broken *b = sound();
    struct rma_target other = {.w = NULL};
    struct list head;
    if (!strcmp(what, "R1 element of another target"))
        b->op[1].t = &other;
    else if (!strcmp(what, "R1 next is not on the list"))
        b->t.next = &other.link;
    else if (!strcmp(what, "R2 sum"))
        b->w->nops = 3;
    else if (!strcmp(what, "R2 pool"))
        b->w->op_quota.free = 1;
    else if (!strcmp(what, "R2 queued"))
        b->t.queued = 2;
    else if (!strcmp(what, "R3 empty slot on the list"))
        list_del(&b->t.link);
    else if (!strcmp(what, "R6 granted and called")) {
        list_init(&head);
        list_push(&head, &b->t.called);
    } else if (!strcmp(what, "R7 acks in UNSET")) {
        b->w = window(WIN_UNSET);
        b->w->acks = 1;
    } else if (!strcmp(what, "E1 element in UNSET"))
        b->w->state = WIN_UNSET;
    else if (!strcmp(what, "E2 no barrier")) {
        b->w->state = WIN_FENCE_ISSUED;
        b->w->barriers = 0;
    } else if (!strcmp(what, "E4 no post missing")) {
        b->w->state = WIN_PSCW_ISSUED;
        b->w->nwaiting = 0;
    } else if (!strcmp(what, "E9 no lock"))
        b->w->locks = 0;
    else if (!strcmp(what, "E10 CALLED and sent"))
        b->t.state = TARGET_LOCK_CALLED;
    else if (!strcmp(what, "E10 ISSUED and not riding"))
        b->t.state = TARGET_LOCK_ISSUED;
    rma_check_invariants(b->w);
}

START_TEST(invariants)
{
    static const char *const breaks[] = {
        "R1 element of another target", "R1 next is not on the list", "R2 sum", "R2 pool", "R2 queued",
        "R3 empty slot on the list", "R6 granted and called", "R7 acks in UNSET", "E1 element in UNSET",
        "E2 no barrier", "E4 no post missing", "E9 no lock", "E10 CALLED and sent", "E10 ISSUED and not riding"};
    rma_check_invariants(sound()->w);
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++)
        ck_assert_msg(world_dies(break_it, (void *)(uintptr_t)breaks[i]), "%s is not seen", breaks[i]);
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
