/* test_by_network.c - data fetched by a network's own get: rings of shared memory that pretend to
 * be one, and read by process_vm_readv. */
#include "live.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "keys.h"
#include "tp/tp_types.h"

Suite *suite_native(void);

enum { MOST = 50000, N = 300000 };

/* How a get ends: now, from progress, not for want of room (each other one), with an error,
 * never. */
enum how { NOW, LATER, AGAIN, FAIL, NEVER };

struct late {
    struct late *next;
    struct tp_done *d;
};

static struct {
    enum how how;
    int local;             /* it asks for registered memory */
    int unwilling;         /* process 1 would get nothing */
    unsigned gets;
    struct late *late;
} net;

static int net_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    int err = tp_shm_ops.open(env, tp, caps);
    caps->flags |= TP_GET | (net.local ? TP_REG_LOCAL : 0);
    caps->get_min = 1;
    caps->pull_min = net.unwilling && boot_rank() == 1 ? SIZE_MAX : 1000;
    caps->rma_max = MOST;
    return err;
}

static int net_reg(struct tp *tp, void *base, size_t len, int space, int access,
                   struct tp_mem **mem)
{
    job_check(access == (boot_rank() == 0 ? TP_MAY_READ : 0)); /* process 0 sends */
    return keys_reg(base, len, mem);
}

static int net_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
                   struct tp_mem *dmem, struct tp_done *d)
{
    job_check(off + len <= far->m.len && len <= MOST && (dmem != NULL) == net.local);
    if (net.how == AGAIN && net.gets++ % 2)
        return TP_AGAIN;
    net.gets += net.how != AGAIN;
    struct iovec here = {dst, len}, there = {(void *)(uintptr_t)(far->m.addr + off), len};
    if (net.how != FAIL && net.how != NEVER)
        job_check(mem_cma_read(boot_host_index((int)far->peer), &here, 1, &there, 1) == 0);
    if (net.how == NOW)
        return 0;
    struct late *l = malloc(sizeof *l);
    *l = (struct late){net.late, d};
    net.late = l;
    return TP_PENDING;
}

/* What is under way ends, with this error. */
static int net_tell(int err)
{
    struct late *l = net.late;
    net.late = NULL;
    int n = 0;
    for (struct late *next; l; l = next, n++) {
        next = l->next;
        l->d->fn(l->d, err);
        free(l);
    }
    return n;
}

static int net_progress(struct tp *tp)
{
    return tp_shm_ops.progress(tp) + (net.how == NEVER ? 0 : net_tell(net.how == FAIL ? -EIO : 0));
}

static void net_start(enum how how)
{
    static struct tp_ops net_ops;
    static const struct tp_ops *const list[] = {&tp_self_ops, &net_ops, NULL};
    net_ops = tp_shm_ops;
    net_ops.name = "pretended"; /* longer than its place in a key */
    net_ops.open = net_open;
    net_ops.reg = net_reg;
    net_ops.pack = keys_pack;
    net_ops.dereg = keys_dereg;
    net_ops.import = keys_import;
    net_ops.drop = keys_drop;
    net_ops.get = net_get;
    net_ops.progress = net_progress;
    net.how = how;
    job_check(tp_use(list) == 0);
    live_start();
}

static void net_stop(void)
{
    job_check(keys.regs == 0 && keys.fars == 0 && !net.late);
    live_stop();
}

static const char *const far[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_P2P_EAGER_MAX=0", NULL};

/* --- all that comes --------------------------------------------------------------------- */

/* Blocks, one of them sent synchronously, and one that is truncated. */
static void fetch(void)
{
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *b = malloc(N);
    for (unsigned i = 0; i < 3; i++)
        if (c->rank == 0) {
            live_fill(b, N, i);
            ok(p2p_send(b, N, t, 1, 0, c, i == 1 ? P2P_SYNC : 0));
            memset(b, 0, N);
        } else if (i == 2) {
            char *small = calloc(1, 2000);
            int cls = err_class(p2p_recv(small, 1500, t, 0, 0, c, 0, NULL));
            job_check(cls == MPI_ERR_TRUNCATE && live_same(small, 1500, i) && !small[1500]);
            free(small);
        } else {
            ok(p2p_recv(b, N, t, 0, 0, c, 0, NULL));
            job_check(live_same(b, N, i));
        }
    job_check(c->rank ? net.gets >= 2 * ((N + MOST - 1) / MOST) + 1 : net.gets == 0);
    free(b);
}

static void body_now(void)
{
    net_start(NOW);
    fetch();
    net_stop();
}

static void body_later(void)
{
    net.local = 1;
    net_start(LATER);
    fetch();
    net_stop();
}

static void body_again(void)
{
    net_start(AGAIN);
    fetch();
    net_stop();
}

static void body_fail(void)
{
    net_start(FAIL);
    fetch();
    net_stop();
}

START_TEST(fetched)
{
    ck_assert_int_eq(job_run(2, far, body_now, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_later, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_again, 30), 0);
}
END_TEST

START_TEST(pulled_where_a_get_fails)
{
    ck_assert_int_eq(job_run(2, far, body_fail, 30), 0);
}
END_TEST

/* --- what is not fetched ------------------------------------------------------------------- */

static void body_not(void)
{
    net_start(NOW);
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR), *gappy = dt_find(MPI_DOUBLE_INT);
    char *b = calloc(1, N);
    if (c->rank == 0) {
        live_fill(b, N, 1);
        ok(p2p_send(b, 900, t, 1, 0, c, 0));                 /* too short to pay */
        ok(p2p_send(b, N / 16, gappy, 1, 0, c, 0));          /* a layout here, */
        ok(p2p_send(b, N / 16 * 12, t, 1, 0, c, 0));         /* there, */
        /* and one that is cancelled before a receive takes it */
        struct request *r;
        int flag;
        ok(p2p_isend(b, N, t, 1, 7, c, 0, &r));
        job_check(keys.regs == 1);
        ok(r->ops->cancel(r));
        request_wait(r);
        flag = status_cancelled(&r->status);
        ok(request_finish(r, NULL));
        job_check(flag && keys.regs == 0);
    } else {
        ok(p2p_recv(b, N, t, 0, 0, c, 0, NULL));
        ok(p2p_recv(b, N, t, 0, 0, c, 0, NULL));
        ok(p2p_recv(b, N / 16, gappy, 0, 0, c, 0, NULL));
    }
    live_meet();
    job_check(net.gets == 0);
    free(b);
    net_stop();
}

/* A process that would not get looks at no key, and names none. */
static void body_unwilling(void)
{
    net.unwilling = 1;
    net_start(NOW);
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *b = calloc(1, N);
    for (int from = 0; from < 2; from++)
        if (c->rank == from) {
            struct request *r;
            live_fill(b, N, 1);
            ok(p2p_isend(b, N, t, 1 - from, 0, c, 0, &r));
            job_check(keys.regs == (cvar.rma_native && c->rank == 0));
            request_wait(r);
            ok(request_finish(r, NULL));
        } else {
            ok(p2p_recv(b, N, t, from, 0, c, 0, NULL));
            job_check(live_same(b, N, 1));
        }
    job_check(keys.imports == 0 && net.gets == 0);
    free(b);
    net_stop();
}

START_TEST(not_fetched)
{
    static const char *const off[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_P2P_EAGER_MAX=0",
                                      "MPIR_CVAR_RMA_NATIVE=0", "MPIR_CVAR_P2P_NATIVE_MIN=1", NULL};
    ck_assert_int_eq(job_run(2, far, body_not, 30), 0);
    ck_assert_int_eq(job_run(2, far, body_unwilling, 30), 0);
    ck_assert_int_eq(job_run(2, off, body_unwilling, 30), 0);
}
END_TEST

/* Packets of a wrong length, and forged keys: another transport's, one that does not fit. */
static void body_forged(void)
{
    net_start(NOW);
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    struct {
        struct p2p_rts h;
        char key[24];
    } m = {.h = {.m = {c->ctx_recv, 0, 5, 0}, .size = 5000, .sreq = 1, .key = 24},
           .key = "another"};
    char b[5000];
    struct iovec v = {&m, sizeof m};
    m.h.key = 23; /* not its length */
    job_check(am_request(c->rank, P2P_RTS, &v, 1, 0) == 0);
    m.h.key = 8; /* runs as well */
    m.h.nruns = 1;
    job_check(am_request(c->rank, P2P_RTS, &v, 1, 0) == 0);
    for (int i = 0; i < 10; i++)
        progress_poll();
    job_check(proc->p2p->malformed == 2);
    struct p2p_rts h = {.m = m.h.m, .sreq = 1, .size = 5000, .key = 24};
    for (int i = 0; i < 2; i++) {
        struct p2p_req q = {.block = 1, .start = b, .size = sizeof b, .want = sizeof b, .type = t};
        struct p2p_peer *p = peer_get(1 - c->rank);
        h.key = i ? 9 : 24;
        memcpy(m.key, i ? "pretende" : "another", 8);
        job_check(native_read(&q, p, &h, m.key) == 0 && !q.native && keys.fars == 0 &&
                  keys.regs == 0);
    }
    live_stop();
}

START_TEST(forged)
{
    ck_assert_int_eq(job_run(2, far, body_forged, 30), 0);
}
END_TEST

/* --- death ------------------------------------------------------------------------------------ */

/* P13: the network has the data of a dead process and reports nothing. The receive waits for a
 * while, ends with an error, and the late answer finds what it needs. */
static int is_done(void *r)
{
    return ((struct request *)r)->done;
}

static void body_dead(void)
{
    net.local = 1;
    net_start(NEVER);
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_CHAR);
    char *b = calloc(1, N);
    struct request *r;
    if (c->rank == 0) {
        ok(p2p_isend(b, N, t, 1, 0, c, 0, &r));
        while (!job_words()[0])
            progress_poll();
        _exit(0);
    }
    ok(p2p_irecv(b, N, t, 0, 0, c, 0, &r));
    while (!net.late)
        progress_poll();
    uint64_t before = time_now();
    boot_fail_now(0, "its part in this test is over");
    while (!am_failed(0))
        progress_poll();
    progress_poll();
    job_check(!r->done && keys.regs == 1);
    progress_wait(is_done, r, "the end", -1);
    job_check(time_now() - before >= 900000000u && time_now() - before < 10000000000u);
    int cls = err_class(r->error);
    job_check(cls == MPIX_ERR_PROC_FAILED && keys.regs == 1 && keys.fars == 1);
    job_words()[0] = 1;
    net_tell(-EIO);
    job_check(keys.regs == 0 && keys.fars == 0);
    _exit(0); /* there is no other to end with */
}

START_TEST(given_up)
{
    ck_assert_int_eq(job_run(2, far, body_dead, 30), 0);
}
END_TEST

Suite *suite_native(void)
{
    Suite *s = suite_create("p2p/native");
    TCase *t = tcase_create("native");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, pulled_where_a_get_fails);
    tcase_add_test(t, not_fetched);
    tcase_add_test(t, forged);
    tcase_add_test(t, given_up);
    suite_add_tcase(s, t);
    t = tcase_create("fetched");
    tcase_set_timeout(t, 120);
    /* the pretended network's get is process_vm_readv(), which an emulator refuses */
    tcase_set_tags(t, "kernel");
    tcase_add_test(t, fetched);
    suite_add_tcase(s, t);
    return s;
}
