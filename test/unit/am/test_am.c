/* test_am.c - am/am.c: bad arguments, credit, refusal, unknown types, late, finalize drains,
 * request reply, pretended nodes. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "am/am_types.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "tp/tp_types.h"
#include "var/var.h"

Suite *suite_am(void);

enum { ASK = AM_TEST, ANSWER, HINT, STUBBORN };

static struct {
    uint64_t asked[64], answered[64]; /* by peer */
    uint64_t hints;
    int refuse;
    uint64_t refused;
} seen;

struct ask { /* header of a request */
    uint64_t seq;
    uint32_t answers, bytes; /* replies wanted; payload bytes of each */
};

static void start(void)
{
    memset(&seen, 0, sizeof seen);
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    job_check(am_init() == 0);
}

static void stop(void)
{
    job_check(boot_barrier() == 0);
    am_finalize();
    progress_finalize();
    mem_finalize();
}

static void fill(char *p, size_t n, uint64_t seq)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(seq * 17 + i * 3);
}

static int on_ask(int src, const void *msg, size_t len)
{
    struct ask a;
    char text[2048];
    job_check(len >= sizeof a && ((uintptr_t)msg & 7) == 0);
    memcpy(&a, msg, sizeof a);
    job_check(a.bytes <= sizeof text);
    job_check(a.seq == seen.asked[src]++);
    fill(text, a.bytes, a.seq);
    for (uint32_t i = 0; i < a.answers; i++) {
        struct iovec v[2] = {{&a, sizeof a}, {text, a.bytes}};
        job_check(am_reply(src, ANSWER, v, 2) == 0);
    }
    return 0;
}

static int on_answer(int src, const void *msg, size_t len)
{
    const struct ask *a = msg;
    char text[2048];
    job_check(len == sizeof *a + a->bytes);
    fill(text, a->bytes, a->seq);
    job_check(!memcmp(a + 1, text, a->bytes));
    seen.answered[src]++;
    return 0;
}

static int on_hint(int src, const void *msg, size_t len)
{
    seen.hints++;
    return 0;
}

static int send_ask(int dst, uint64_t seq, uint32_t answers, uint32_t bytes)
{
    struct ask a = {seq, answers, bytes};
    struct iovec v = {&a, sizeof a};
    return am_request(dst, ASK, &v, 1, answers);
}

static int reached(void *arg)
{
    const uint64_t *p = arg; /* counter, goal */
    return *(const uint64_t *)(uintptr_t)p[0] >= p[1];
}

static void await(const uint64_t *counter, uint64_t goal)
{
    uint64_t a[2] = {(uintptr_t)counter, goal};
    progress_wait(reached, a, "a counter of the test", -1);
}

/* Every process asks every other (itself too), each request wants 0..3 replies, and answers
 * meanwhile: credits run out all the time, and nothing may be lost, refused or out of order. */
static void storm(void)
{
    enum { N = 1500 };
    start();
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    job_check(boot_barrier() == 0);
    uint64_t sent[64] = {0}, want[64] = {0};
    int size = boot_size(), left = size;
    while (left)
        for (int p = 0; p < size; p++) {
            if (sent[p] == N)
                continue;
            uint32_t k = sent[p] % 4;
            int err = send_ask(p, sent[p], k, (uint32_t)(sent[p] * 37 % 2000));
            job_check(err == 0 || err == AM_AGAIN);
            if (err) {
                progress_test();
                continue;
            }
            want[p] += k;
            left -= ++sent[p] == N;
        }
    for (int p = 0; p < size; p++) {
        await(&seen.asked[p], N);
        await(&seen.answered[p], want[p]);
    }
    const struct am *a = proc->am;
    for (int i = 0; i < a->ntps; i++)
        job_check(a->tps[i].credits == a->tps[i].caps.replies);
    stop();
}

START_TEST(request_reply)
{
    static const char *const small[] = {"MPIR_CVAR_SHM_CELLS=4", "MPIR_CVAR_SHM_CELL_BYTES=4K",
                                        NULL};
    ck_assert_int_eq(job_run(1, NULL, storm, 60), 0);
    ck_assert_int_eq(job_run(2, NULL, storm, 60), 0);
    ck_assert_int_eq(job_run(7, NULL, storm, 60), 0);
    ck_assert_int_eq(job_run(4, small, storm, 60), 0);
}
END_TEST

/* The same between pretended nodes: the rings serve the whole host. */
START_TEST(pretended_nodes)
{
    static const char *const alone[] = {"MPIR_CVAR_NOLOCAL=1", NULL};
    static const char *const cliques[] = {"MPIR_CVAR_NUM_CLIQUES=2", NULL};
    ck_assert_int_eq(job_run(3, alone, storm, 60), 0);
    ck_assert_int_eq(job_run(4, cliques, storm, 60), 0);
}
END_TEST

static void arguments(void)
{
    start();
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    am_handler(HINT, on_hint);
    job_check(boot_barrier() == 0);
    int other = 1 - boot_rank();
    size_t max = am_max(other);
    job_check(max == (size_t)cvar.shm_cell_bytes + 64 - 16 - 8);
    job_check(am_ordered(other) && am_ordered(boot_rank()));
    char *big = calloc(1, max + 1);
    struct iovec v[AM_IOV] = {{big, max + 1}};
    job_check(am_request(other, HINT, v, 1, 0) == -EMSGSIZE);
    job_check(am_reply(other, HINT, v, 1) == -EMSGSIZE);
    v[0].iov_len = max;
    job_check(am_request(other, HINT, v, 1, 0) == 0);
    v[0].iov_len = 0;
    job_check(am_request(other, HINT, v, 1, 0) == 0);
    job_check(am_request(other, HINT, NULL, 0, 0) == 0);
    job_check(am_request(other, HINT, v, AM_IOV, 0) == -EINVAL);
    job_check(am_request(other, AM_TYPES, v, 1, 0) == -EINVAL);
    job_check(am_request(other, -1, v, 1, 0) == -EINVAL);
    job_check(am_request(-1, HINT, v, 1, 0) == -EINVAL);
    job_check(am_request(2, HINT, v, 1, 0) == -EINVAL);
    job_check(am_max(2) == 0 && am_max(-1) == 0);
    job_check(am_request(other, HINT, v, 1, (unsigned)cvar.shm_cells + 1) == -EINVAL);
    const struct tp_ops *ops;
    struct tp_caps caps;
    job_check(am_tp_to(other, &ops, &caps) != NULL && !strcmp(ops->name, "shm"));
    job_check(am_tp_to(boot_rank(), &ops, &caps) != NULL && !strcmp(ops->name, "self"));
    await(&seen.hints, 3);
    free(big);
    stop();
}

START_TEST(bad_arguments)
{
    ck_assert_int_eq(job_run(2, NULL, arguments, 20), 0);
}
END_TEST

/* Credits: all taken, given back by am_credit_return, and by replies. */
static void credits(void)
{
    start();
    am_handler(HINT, on_hint);
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0) {
        unsigned all = (unsigned)cvar.shm_cells;
        struct iovec v = {NULL, 0};
        job_check(am_request(1, HINT, &v, 1, all) == 0);
        job_check(send_ask(1, 0, 1, 8) == AM_AGAIN);
        job_check(am_request(1, HINT, &v, 1, 0) == 0);
        am_credit_return(1, all - 3);
        job_check(send_ask(1, 0, 3, 8) == 0);
        while (send_ask(1, 1, all - 3, 8) == AM_AGAIN)
            progress_test();
        await(&seen.answered[1], all);
        job_check(send_ask(1, 2, all - 2, 8) == AM_AGAIN); /* three were never answered */
        am_credit_return(1, 3);
        job_check(send_ask(1, 2, all, 8) == 0);
        await(&seen.answered[1], 2 * all);
        job_words()[0] = 1;
    } else {
        await(job_words(), 1);
        job_check(seen.hints == 2 && seen.asked[0] == 3);
    }
    stop();
}

START_TEST(credit)
{
    ck_assert_int_eq(job_run(2, NULL, credits, 20), 0);
}
END_TEST

static int on_stubborn(int src, const void *msg, size_t len)
{
    if (seen.refuse) {
        seen.refused++;
        return AM_AGAIN;
    }
    job_check(*(const uint64_t *)msg == seen.asked[src]++);
    return 0;
}

/* A handler that refuses: the requests come later, in order; replies and other peers are not held
 * up. */
static void refusing(void)
{
    enum { N = 200 };
    start();
    am_handler(STUBBORN, on_stubborn);
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    seen.refuse = boot_rank() == 0;
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0) {
        for (uint64_t i = 0; i < N; i++)
            while (send_ask(1, i, 1, 100) == AM_AGAIN)
                progress_test();
        await(&seen.answered[1], N);
        await(&seen.asked[2], N);
        await(&seen.refused, 1);
        seen.refuse = 0;
        await(&seen.asked[1], N);
    } else {
        for (uint64_t i = 0; i < N; i++) {
            struct iovec v = {&i, sizeof i};
            int err;
            while ((err = boot_rank() == 1 ? am_request(0, STUBBORN, &v, 1, 0)
                                           : send_ask(0, i, 0, 0)) ==
                   AM_AGAIN)
                progress_test();
            job_check(err == 0);
        }
        if (boot_rank() == 1)
            await(&seen.asked[0], N);
    }
    stop();
}

START_TEST(refusal)
{
    ck_assert_int_eq(job_run(3, NULL, refusing, 20), 0);
}
END_TEST

/* A question that comes as a reply is refused before its handler runs: no room for its answers was
 * reserved. A reply that was not asked for, of a type that comes so, is its handler's to judge. */
static void as_replies(void)
{
    start();
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    am_reply_handler(STUBBORN, on_answer); /* the later handler of a type takes both, too */
    am_handler(STUBBORN, on_stubborn);
    am_handler(HINT, on_hint);
    job_check(boot_barrier() == 0);
    const struct tp_ops *ops;
    struct tp_caps caps;
    int other = 1 - boot_rank();
    struct tp *tp = am_tp_to(other, &ops, &caps);
    struct {
        struct am_hdr h;
        struct ask a;
    } m = {.h.type = ASK, .a = {0, 3, 0}};
    struct iovec v = {&m, sizeof m};
    const uint16_t types[] = {ASK, AM_HELLO, ANSWER, STUBBORN};
    for (int i = 0; i < 4; i++) {
        m.h.type = types[i];
        m.a.answers = i < 2 ? 3 : 0;
        job_check(ops->am(tp, (unsigned)other, TP_REPLY, &v, 1, NULL) == 0);
    }
    await(&seen.answered[other], 1);
    await(&seen.asked[other], 1); /* by STUBBORN: on_ask would have counted, too */
    struct am *a = proc->am;
    job_check(seen.asked[other] == 1 && seen.answered[other] == 1 && a->malformed == 2);
    /* As a request it is answered. */
    job_check(am_request(other, HINT, NULL, 0, 0) == 0);
    await(&seen.hints, 1);
    stop();
}

START_TEST(requests_as_replies)
{
    ck_assert_int_eq(job_run(2, NULL, as_replies, 20), 0);
}
END_TEST

/* Packets of types without a handler are dropped, with one warning, and their credits come back. */
static void hostile(void)
{
    start();
    am_handler(HINT, on_hint);
    job_check(boot_barrier() == 0);
    /* past am_request, as a damaged peer would */
    const struct tp_ops *ops;
    struct tp_caps caps;
    int other = 1 - boot_rank();
    struct tp *tp = am_tp_to(other, &ops, &caps);
    uint64_t bad[3] = {0xffff, AM_TYPES, AM_TEST + 5};
    struct iovec v = {bad, 8};
    for (int i = 0; i < 3; i++) {
        v.iov_base = &bad[i];
        job_check(ops->am(tp, (unsigned)other, TP_REQUEST, &v, 1, NULL) == 0);
    }
    v.iov_len = 3; /* shorter than our header */
    job_check(ops->am(tp, (unsigned)other, TP_REQUEST, &v, 1, NULL) == 0);
    job_check(ops->am(tp, (unsigned)other, TP_REPLY, &v, 1, NULL) == 0);
    job_check(am_request(other, HINT, NULL, 0, 0) == 0);
    await(&seen.hints, 1);
    /* All are counted, few are reported, of many processes too. */
    struct am *a = proc->am;
    job_check(a->malformed >= 4 && a->told == AM_MALFORMED_PEER);
    for (int i = 0; i < 1000; i++)
        am_malformed(100000 + i, "a thing");
    job_check(a->told == AM_MALFORMED_ALL && a->malformed >= 1004);
    job_check(atomic_load(&pvar_proc()->v[PVAR_AM_MALFORMED]) == a->malformed);
    stop();
}

START_TEST(unknown_types)
{
    ck_assert_int_eq(job_run(2, NULL, hostile, 20), 0);
}
END_TEST

/* Rank 0 computes (no progress) until all have sent as many replies as they may; then looks.  Kept
 * replies and sleeping senders must all come to an end. */
static void late_reader(void)
{
    start();
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0) {
        uint64_t n = 0;
        int size = boot_size();
        uint64_t sent[64] = {0};
        for (int p = 1;; p = p + 1 < size ? p + 1 : 1) {
            if (send_ask(p, sent[p], 4, 500) == AM_AGAIN)
                break;
            sent[p]++;
            n += 4;
        }
        job_words()[0] = 1;
        for (int p = 1; p < size; p++)
            await(&seen.answered[p], sent[p] * 4);
        job_check(n == (uint64_t)cvar.shm_cells / 4 * 4);
        job_words()[1] = 1;
    } else {
        await(&job_words()[0], 1);
        await(&job_words()[1], 1);
    }
    stop();
}

START_TEST(late)
{
    ck_assert_int_eq(job_run(5, NULL, late_reader, 20), 0);
}
END_TEST

/* The last replies are sent by am_finalize itself. */
static void drain(void)
{
    start();
    am_handler(ASK, on_ask);
    am_reply_handler(ANSWER, on_answer);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0)
        for (uint64_t i = 0; i < 10; i++)
            job_check(send_ask(1, i, 4, 100) == 0);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1)
        await(&seen.asked[0], 10);
    stop();
}

START_TEST(finalize_drains)
{
    static const char *const small[] = {"MPIR_CVAR_SHM_CELLS=64", NULL};
    ck_assert_int_eq(job_run(2, small, drain, 20), 0);
}
END_TEST

Suite *suite_am(void)
{
    Suite *s = suite_create("am/am");
    TCase *t = tcase_create("am");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, bad_arguments);
    tcase_add_test(t, credit);
    tcase_add_test(t, refusal);
    tcase_add_test(t, unknown_types);
    tcase_add_test(t, requests_as_replies);
    tcase_add_test(t, late);
    tcase_add_test(t, finalize_drains);
    tcase_add_test(t, request_reply);
    tcase_add_test(t, pretended_nodes);
    suite_add_tcase(s, t);
    return s;
}
