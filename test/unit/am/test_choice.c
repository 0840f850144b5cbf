/* test_choice.c - am/choice.c: no such transport, networks, one for all, not for all,
 * and cards of processes of other jobs. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "am/am_types.h"
#include "base/proc.h"
#include "boot/boot_types.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "tp/tp_types.h"
#include "var/var.h"

Suite *suite_choice(void);

static void wrong_transport(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    job_check(am_init() == -EINVAL);
    job_check(proc->am == NULL);
    progress_finalize();
    mem_finalize();
}

/* A name that there is not ends the job: am_init() does not return. */
static void unknown_transport(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    if (am_init() == 0)
        am_finalize();
    progress_finalize();
    mem_finalize();
}

START_TEST(no_such_transport)
{
    static const char *const none[] = {"MPIR_CVAR_TRANSPORT=pigeons", NULL};
    static const char *const shm[] = {"MPIR_CVAR_TRANSPORT=shm", NULL};
    static const char *const cells[] = {"MPIR_CVAR_SHM_CELLS=48", NULL};
    ck_assert_int_eq(job_run(1, shm, unknown_transport, 20), 0);
    ck_assert_int_eq(job_run(1, none, unknown_transport, 20), 1);
    ck_assert_int_eq(job_run(1, cells, wrong_transport, 20), 0);
}
END_TEST

/* --- the choice of a network: fakes that count how often they are opened and closed ----------- */

static struct {
    int opened, closed;
} fakes[3]; /* two without put, one with it */

static int fake_open(int which, unsigned flags, const struct tp_env *env, struct tp **tp,
                     struct tp_caps *caps)
{
    fakes[which].opened++;
    int err = tp_none_ops.open(env, tp, caps);
    caps->flags = flags;
    return err;
}

static int plain_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    return fake_open(0, TP_GET, env, tp, caps);
}
static int other_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    return fake_open(1, 0, env, tp, caps);
}
static int put_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    return fake_open(2, TP_PUT, env, tp, caps);
}

static void plain_close(struct tp *tp) { fakes[0].closed++; tp_none_ops.close(tp); }
static void other_close(struct tp *tp) { fakes[1].closed++; tp_none_ops.close(tp); }
static void put_close(struct tp *tp) { fakes[2].closed++; tp_none_ops.close(tp); }

/* Networks in the order given ("poP": plain, other, put): the one that is kept, and how many were
 * opened for that. */
static void chosen(const char *order, const char *kept, int opened)
{
    struct tp_ops nets[3];
    const struct tp_ops *list[5] = {&tp_self_ops};
    memset(fakes, 0, sizeof fakes);
    for (int i = 0; order[i]; i++) {
        nets[i] = tp_none_ops;
        nets[i].name = order[i] == 'p' ? "plain" : order[i] == 'o' ? "other" : "put";
        nets[i].open = order[i] == 'p' ? plain_open : order[i] == 'o' ? other_open : put_open;
        nets[i].close = order[i] == 'p' ? plain_close : order[i] == 'o' ? other_close : put_close;
        list[i + 1] = &nets[i];
    }
    job_check(tp_use(list) == 0);
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    const struct am *a = proc->am;
    job_check(a->ntps == 2 && am_networks() == 1 && !strcmp(a->tps[1].ops->name, kept));
    job_check(fakes[0].opened + fakes[1].opened + fakes[2].opened == opened);
    job_check(fakes[0].closed + fakes[1].closed + fakes[2].closed == opened - 1);
    job_check(boot_barrier() == 0);
    am_finalize();
    progress_finalize();
    mem_finalize();
    job_check(fakes[0].closed + fakes[1].closed + fakes[2].closed == opened);
    job_check(tp_use(NULL) == 0);
}

static void choices(void)
{
    chosen("P", "put", 1);
    chosen("p", "plain", 1);
    chosen("Ppo", "put", 1);   /* the rest stays shut */
    chosen("pPo", "put", 2);
    chosen("poP", "put", 3);
    chosen("po", "plain", 2);  /* none has it: the first */
}

static void by_name(void)
{
    chosen("pPo", "other", 1);
}

START_TEST(networks)
{
    static const char *const other[] = {"MPIR_CVAR_TRANSPORT=other", NULL};
    ck_assert_int_eq(job_run(1, NULL, choices, 20), 0);
    ck_assert_int_eq(job_run(1, other, by_name, 20), 0);
}
END_TEST

/* --- one network for the job: what rank 0 has ------------------------------------------------- */

static struct {
    const char *here; /* the variant that this process takes by itself */
    const char *only; /* the one that opens here; NULL: any */
    char open[16];    /* what was opened last */
    int left;         /* networks that are open */
} kinds;

static int kind_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    const char *v = env->variant ? env->variant : kinds.here;
    if (kinds.only && strcmp(v, kinds.only) != 0)
        return -ENODEV;
    int err = tp_none_ops.open(env, tp, caps);
    kinds.left += !err;
    strcpy(kinds.open, v);
    return err;
}

static void kind_close(struct tp *tp)
{
    kinds.left--;
    tp_none_ops.close(tp);
}

static void kind_variant(struct tp *tp, char *text, size_t len)
{
    snprintf(text, len, "%s", kinds.open);
}

/* Start as MPI_Init does: the network, a barrier, the rest. */
static void start_by(const struct tp_ops *const *list)
{
    job_check(tp_use(list) == 0 && am_open() == 0);
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
}

static void stop(void)
{
    job_check(boot_barrier() == 0);
    am_finalize();
    progress_finalize();
    mem_finalize();
    job_check(tp_use(NULL) == 0);
}

/* Each process would take another variant, or another network: all have rank 0's, once. */
static void follow(void)
{
    struct tp_ops kind = tp_none_ops, first = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &tp_shm_ops, &kind, NULL};
    const struct tp_ops *const more[] = {&tp_self_ops, &tp_shm_ops, &first, &kind, NULL};
    static const char *const names[] = {"iron", "zinc", "iron"};
    kind.name = "kind";
    kind.open = kind_open;
    kind.close = kind_close;
    kind.variant = kind_variant;
    first.name = "first";
    kinds.here = names[boot_rank()];
    start_by(list);
    job_check(!strcmp(kinds.open, "iron") && kinds.left == 1);
    job_check(proc->am->ntps == 3 && am_networks() == 1 && proc->am->tps[2].ops == &kind);
    stop();
    job_check(kinds.left == 0);
    /* The last has one more, and by itself would take it. */
    start_by(boot_rank() == 2 ? more : list);
    job_check(!strcmp(kinds.open, "iron") && kinds.left == 1);
    job_check(proc->am->ntps == 3 && am_networks() == 1 && proc->am->tps[2].ops == &kind);
    stop();
}

/* Without am_open() there is no barrier in between: each keeps its own. */
static void alone(void)
{
    struct tp_ops kind = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &tp_shm_ops, &kind, NULL};
    kind.name = "kind";
    kind.open = kind_open;
    kind.variant = kind_variant;
    kinds.here = boot_rank() ? "zinc" : "iron";
    job_check(tp_use(list) == 0);
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    job_check(!strcmp(kinds.open, kinds.here));
    stop();
}

/* What rank 0 has does not open on rank 1, whose am_init() does not return. */
static void apart(void)
{
    struct tp_ops kind = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &tp_shm_ops, &kind, NULL};
    kind.name = "kind";
    kind.open = kind_open;
    kind.variant = kind_variant;
    kinds.here = kinds.only = boot_rank() ? "zinc" : "iron";
    job_check(tp_use(list) == 0 && am_open() == 0);
    job_check(mem_init() == 0 && progress_init() == 0);
    if (boot_rank() == 0)
        _exit(0);
    am_init();
    _exit(0);
}

/* Likewise a network that rank 1 has not at all, and none open on rank 0. */
static void unknown(void)
{
    struct tp_ops kind = tp_none_ops, other = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &tp_shm_ops, &kind, NULL};
    const struct tp_ops *const others[] = {&tp_self_ops, &tp_shm_ops, &other, NULL};
    kind.name = "kind";
    other.name = "other";
    job_check(tp_use(boot_rank() ? others : list) == 0 && am_open() == 0);
    job_check(mem_init() == 0 && progress_init() == 0);
    if (boot_rank() != 0)
        am_init();
    _exit(0);
}

static void none_there(void)
{
    struct tp_ops kind = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &tp_shm_ops, &kind, NULL};
    kind.name = "kind";
    kind.open = kind_open;
    kinds.here = "zinc";
    kinds.only = boot_rank() ? NULL : "iron";
    job_check(tp_use(list) == 0 && am_open() == 0);
    job_check(mem_init() == 0 && progress_init() == 0);
    if (boot_rank() != 0)
        am_init();
    _exit(0);
}

START_TEST(one_for_all)
{
    ck_assert_int_eq(job_run(3, NULL, follow, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, alone, 20), 0);
}
END_TEST

START_TEST(not_for_all)
{
    ck_assert_int_eq(job_run(2, NULL, apart, 20), 1);
    ck_assert_int_eq(job_run(2, NULL, unknown, 20), 1);
    ck_assert_int_eq(job_run(2, NULL, none_there, 20), 1);
}
END_TEST

/* --- cards of processes that the network reaches ---------------------------------------------- */

static int long_address(struct tp *tp, void *buf, size_t *len)
{
    if (*len < TP_ADDRESS_MAX)
        return -EMSGSIZE;
    memset(buf, 7, *len = TP_ADDRESS_MAX);
    return 0;
}

/* The longest address is on a card. With each that is known the limit of files grows. One of
 * another network is refused, and so is a network that must close everywhere at once. */
static void cards(void)
{
    enum { FIRST = 100, MANY = 50 };
    struct tp_ops kind = tp_none_ops;
    const struct tp_ops *const list[] = {&tp_self_ops, &tp_shm_ops, &kind, NULL};
    unsigned char card[AM_CARD_MAX];
    struct rlimit l;
    job_check(getrlimit(RLIMIT_NOFILE, &l) == 0);
    l.rlim_cur = 300;
    job_check(setrlimit(RLIMIT_NOFILE, &l) == 0);
    kind.name = "ofi";
    kind.open = kind_open;
    kind.variant = kind_variant;
    kind.address = long_address;
    kinds.here = "shm 4096";
    start_by(list);
    struct boot *b = proc->boot, had = *b;
    b->family = (struct family *)b; /* others are met directly */
    b->far = 1;
    b->universe = 2 * FIRST;
    job_check(am_guests() == -EPROTONOSUPPORT);
    strcpy(kinds.open, "tcp 4096");
    job_check(am_guests() == 0);
    int len = am_card(card, sizeof card);
    job_check(len > TP_ADDRESS_MAX && am_card(card, TP_ADDRESS_MAX) == -EMSGSIZE);
    proc->am->alive.heard = 0;
    am_heard(proc->am, FIRST, NULL); /* before its card: it may be of this host, as it is */
    job_check(!proc->am->alive.heard);
    for (int i = FIRST; i < FIRST + MANY; i++)
        job_check(am_card_learn(i, card, (size_t)len) == 0 && boot_is_near(i));
    job_check(getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur == 256 + 2 * (1 + MANY));
    strcpy(kinds.open, "tcp 8192");
    job_check(am_card_learn(FIRST + MANY, card, (size_t)len) == -ENETUNREACH);
    b->family = had.family;
    b->far = had.far;
    b->universe = had.universe;
    stop();
}

START_TEST(far_cards)
{
    ck_assert_int_eq(job_run(1, NULL, cards, 20), 0);
}
END_TEST

Suite *suite_choice(void)
{
    Suite *s = suite_create("am/choice");
    TCase *t = tcase_create("choice");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, no_such_transport);
    tcase_add_test(t, networks);
    tcase_add_test(t, one_for_all);
    tcase_add_test(t, not_for_all);
    tcase_add_test(t, far_cards);
    suite_add_tcase(s, t);
    return s;
}
