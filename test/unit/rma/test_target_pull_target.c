/* test_target_pull_target.c - operations whose data a pretended network fetches (rings of shared
 * memory, read and written by process_vm_readv and process_vm_writev); packets and answers as a
 * hostile process would send them. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "keys.h"
#include "tp/tp_types.h"
#include "unit_rma.h"
#include "world.h"

enum { MOST = 4096, N = 3000, LATE = 16 };

/* How a call of the network ends: now, from progress, not for want of room (each other one), gets
 * with an error, puts with one, never. */
enum how { NOW, LATER, AGAIN, NO_GET, NO_PUT, NEVER };

static struct {
    enum how how;
    int local, then_am;  /* it asks for registered memory; TP_PUT_THEN_AM */
    unsigned calls, gets, puts, flushes;
    struct late {
        struct tp_done *d;
        int err;
    } late[LATE];
    unsigned nlate;
} net;

static int net_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    int err = tp_shm_ops.open(env, tp, caps);
    caps->flags |= TP_GET | TP_PUT | (net.local ? TP_REG_LOCAL : 0) |
                   (net.then_am ? TP_PUT_THEN_AM : 0);
    caps->put_min = caps->get_min = SIZE_MAX;
    caps->pull_min = 100;
    caps->rma_max = MOST;
    return err;
}

static int net_reg(struct tp *tp, void *base, size_t len, int space, int access,
                   struct tp_mem **mem)
{
    return keys_reg(base, len, mem);
}

static int answer(struct tp_done *d, int err)
{
    if (net.how == NOW)
        return err;
    job_check(net.nlate < LATE);
    net.late[net.nlate].d = d;
    net.late[net.nlate++].err = err;
    return TP_PENDING;
}

static int no_room(void)
{
    return net.how == AGAIN && net.calls++ % 2;
}

static int net_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
                   struct tp_mem *dmem, struct tp_done *d)
{
    job_check(off + len <= far->m.len && len <= MOST && (dmem != NULL) == net.local);
    if (no_room())
        return TP_AGAIN;
    struct iovec here = {dst, len}, there = {(void *)(uintptr_t)(far->m.addr + off), len};
    int fails = net.how == NO_GET && net.gets++ == 1; /* the second */
    net.gets += net.how != NO_GET;
    if (!fails && net.how != NEVER)
        job_check(mem_cma_read(boot_host_index((int)far->peer), &here, 1, &there, 1) == 0);
    return answer(d, fails ? -EIO : 0);
}

static int net_put(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
                   struct tp_mem *smem, struct tp_done *d)
{
    job_check(off + len <= far->m.len && len <= MOST && (smem != NULL) == net.local);
    if (no_room())
        return TP_AGAIN;
    struct iovec here = {(void *)(uintptr_t)src, len},
                 there = {(void *)(uintptr_t)(far->m.addr + off), len};
    net.puts++;
    if (net.how != NO_PUT)
        job_check(mem_cma_write(boot_host_index((int)far->peer), &here, 1, &there, 1) == 0);
    return answer(d, net.how == NO_PUT ? -EIO : 0);
}

static int net_flush(struct tp *tp, unsigned peer, struct tp_done *d)
{
    if (no_room())
        return TP_AGAIN;
    net.flushes++;
    return answer(d, 0);
}

static int net_progress(struct tp *tp)
{
    struct late over[LATE];
    int n = tp_shm_ops.progress(tp);
    unsigned late = net.how == NEVER ? 0 : net.nlate;
    memcpy(over, net.late, sizeof over);
    net.nlate -= late;
    for (unsigned i = 0; i < late; i++)
        over[i].d->fn(over[i].d, over[i].err);
    return n + (int)late;
}

static const char *const far[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_RMA_PULL_BYTES=2500", NULL};
static const char *const off[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_RMA_NATIVE=0", NULL};
static const char *const none[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_RMA_PULLS=0", NULL};
static const char *const long_only[] = {"MPIR_CVAR_NOLOCAL=1", "MPIR_CVAR_RMA_PULL_MIN=24001",
                                        NULL};

static int run(int n, const char *const *sets, enum how how, void (*body)(void))
{
    static struct tp_ops net_ops;
    static const struct tp_ops *const list[] = {&tp_self_ops, &net_ops, NULL};
    net_ops = tp_shm_ops;
    net_ops.name = "pretended"; /* longer than its place in a packet */
    net_ops.open = net_open;
    net_ops.reg = net_reg;
    net_ops.pack = keys_pack;
    net_ops.dereg = keys_dereg;
    net_ops.import = keys_import;
    net_ops.drop = keys_drop;
    net_ops.get = net_get;
    net_ops.put = net_put;
    net_ops.flush = net_flush;
    net_ops.progress = net_progress;
    net.how = how;
    if (tp_use(list) != 0)
        return -1;
    int failed = world_run(n, sets, body);
    tp_use(NULL);
    return failed;
}

/* --- all that comes --------------------------------------------------------------------------- */

static struct rma_win *w;
static long v[N], got[N];

/* An accumulate and one with results, each flushed; MPI error class of the second. */
static int twice(void)
{
    int cls = 0;
    w = world_window(N);
    for (int i = 0; i < N; i++) {
        v[i] = i;
        got[i] = -1;
        world_memory(w)[i] = 0;
    }
    world_barrier();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_ACC, 1, v, NULL, N, 0) == MPI_SUCCESS &&
                  rma_flush(w, 1) == MPI_SUCCESS);
        job_check(keys.regs == 0);
        job_check(world_op(w, RMA_GACC, 1, v, got, N, 0) == MPI_SUCCESS);
        cls = err_class(rma_flush(w, 1));
        job_check(keys.regs == 0 && rma_unlock_all(w) == MPI_SUCCESS);
    }
    world_barrier();
    for (int i = 0; i < N && boot_rank() == 1 && net.how != NO_PUT; i++)
        job_check(world_memory(w)[i] == 2 * i);
    job_check(keys.regs == 0 && keys.fars == 0);
    return cls;
}

static void works(void)
{
    int cls = twice();
    unsigned pieces = (N + 2500 / 8 - 1) / (2500 / 8);
    for (int i = 0; i < N && boot_rank() == 0; i++)
        job_check(got[i] == i);
    if (boot_rank() == 1)
        job_check(net.gets == 2 * pieces && net.puts == pieces && net.flushes == !net.then_am);
    job_check(cls == 0 && rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(fetched)
{
    for (int how = NOW; how <= AGAIN; how++) {
        net.local = how == LATER;
        net.then_am = how == AGAIN;
        ck_assert_int_eq(run(2, far, (enum how)how, works), 0);
    }
}
END_TEST

/* The first piece is there, the second not: the rest comes by message, and nothing twice. */
static void cut(void)
{
    int cls = twice();
    for (int i = 0; i < N && boot_rank() == 0; i++)
        job_check(got[i] == i);
    if (boot_rank() == 1)
        job_check(net.gets > 2);
    job_check(cls == 0 && rma_win_free(w) == MPI_SUCCESS);
}

/* Results that are lost cannot be made again. */
static void lost(void)
{
    int cls = twice();
    job_check(cls == (boot_rank() == 0 ? MPI_ERR_OTHER : 0) && rma_win_free(w) == MPI_SUCCESS);
}

/* A put and a get, for which this network has no native way. */
static void moved(void)
{
    w = world_window(N);
    for (int i = 0; i < N; i++) {
        v[i] = 3 * i;
        got[i] = -1;
        world_memory(w)[i] = -2;
    }
    world_barrier();
    if (boot_rank() == 0) {
        job_check(rma_lock_all(w, 0) == MPI_SUCCESS);
        job_check(world_op(w, RMA_PUT, 1, v, NULL, N, 0) == MPI_SUCCESS &&
                  rma_flush(w, 1) == MPI_SUCCESS && keys.regs == 0);
        job_check(world_op(w, RMA_GET, 1, NULL, got, N, 0) == MPI_SUCCESS &&
                  rma_flush(w, 1) == MPI_SUCCESS && keys.regs == 0);
        job_check(rma_unlock_all(w) == MPI_SUCCESS);
        for (int i = 0; i < N; i++)
            job_check(got[i] == 3 * i);
    }
    world_barrier();
    for (int i = 0; i < N && boot_rank() == 1; i++)
        job_check(world_memory(w)[i] == 3 * i);
    job_check(keys.regs == 0 && keys.fars == 0);
}

static void moves(void)
{
    unsigned pieces = (N + 2500 / 8 - 1) / (2500 / 8);
    moved();
    if (boot_rank() == 1)
        job_check(net.gets == pieces && net.puts == pieces && net.flushes == !net.then_am);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Lost on the way there or back: both can be done by message all the same. */
static void moves_in_the_end(void)
{
    moved();
    if (boot_rank() == 1)
        job_check(net.gets + net.puts > 0);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(puts_and_gets)
{
    for (int how = NOW; how <= AGAIN; how++) {
        net.local = how == LATER;
        net.then_am = how == AGAIN;
        ck_assert_int_eq(run(2, far, (enum how)how, moves), 0);
    }
    ck_assert_int_eq(run(2, far, NO_GET, moves_in_the_end), 0);
    ck_assert_int_eq(run(2, far, NO_PUT, moves_in_the_end), 0);
}
END_TEST

static void not_used(void)
{
    int cls = twice();
    for (int i = 0; i < N && boot_rank() == 0; i++)
        job_check(got[i] == i);
    job_check(net.gets == 0 && net.puts == 0 && cls == 0 && rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(failing)
{
    ck_assert_int_eq(run(2, far, NO_GET, cut), 0);
    ck_assert_int_eq(run(2, far, NO_PUT, lost), 0);
    ck_assert_int_eq(run(2, off, LATER, not_used), 0);
    ck_assert_int_eq(run(2, none, LATER, not_used), 0);
    ck_assert_int_eq(run(2, long_only, LATER, not_used), 0);
}
END_TEST

/* --- packets ---------------------------------------------------------------------------------- */

static _Alignas(8) char packet[512];

static size_t fetch(struct rma_hdr h, struct rma_pull_data d, const void *key)
{
    h.len = (uint32_t)(sizeof d + 32);
    memcpy(packet, &h, sizeof h);
    memcpy(packet + sizeof h, &d, sizeof d);
    memcpy(packet + sizeof h + sizeof d, key, 32);
    return sizeof h + h.len;
}

/* The answer: MPI error class; -1: none. */
static int deliver(int src, size_t len)
{
    caught.n = 0;
    job_check(rma_on_pull(src, packet, len) == 0);
    world_poll(3);
    job_check(caught.n <= 1);
    return caught.n ? caught.got[0].h.aop : -1;
}

/* A wrong length, or in the name of another. */
static void forged(void)
{
    w = world_window(N);
    memset(world_memory(w), 0, N * sizeof(long));
    world_barrier();
    if (boot_rank() == 1) {
        struct tp_mem key[2] = {{(uintptr_t)v, sizeof v}, {(uintptr_t)got, sizeof got}};
        const struct rma_hdr h = {.type = RMA_PKT_PULL, .aop = DT_SUM, .win = w->id, .src = 0,
                                  .dt = MPI_LONG, .op = 5};
        const struct rma_pull_data d = {.count = 20, .key = 32, .transport = "pretende"};
        world_catch();
        size_t len = fetch(h, d, key);
        for (size_t n = 0; n < len; n++)
            job_check(deliver(0, n) == -1);
        job_check(deliver(1, len) == -1); /* a member's rank, from another */
    }
    world_barrier();
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* What a place, a type or an operation must not be; keys that are none.  Nothing is fetched. */
static void judged(void)
{
    static const uint64_t bad[] = {N, N - 19, UINT64_MAX, INT64_MAX, 1ull << 61, UINT64_MAX / 8};
    static const uint64_t counts[] = {N + 1, UINT64_MAX, UINT64_MAX / 8 + 1, 1ull << 62};
    w = world_window(N);
    memset(world_memory(w), 0, N * sizeof(long));
    struct rma_hdr h = {.type = RMA_PKT_PULL, .aop = DT_SUM, .win = w->id,
                        .src = (uint32_t)w->rank, .dt = MPI_LONG, .op = 5};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        h.disp = bad[i];
        job_check(rma_part(w, &h, 20, 0, 0, NULL, NULL) == MPI_ERR_RMA_RANGE);
    }
    h.disp = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        job_check(rma_part(w, &h, counts[i], 0, 0, NULL, NULL) != 0);
    job_check(rma_part(w, &h, 20, 152, 16, v, NULL) == MPI_ERR_COUNT &&
              rma_part(w, &h, 20, 161, 0, v, NULL) == MPI_ERR_COUNT);
    job_check(rma_part(w, &h, N, 0, 0, NULL, NULL) == 0);
    const uint32_t types[] = {0, UINT32_MAX, MPI_DATATYPE_NULL, MPI_COMM_WORLD, MPI_DOUBLE_INT};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        h.dt = types[i];
        job_check(rma_part(w, &h, 2, 0, 0, NULL, NULL) == MPI_ERR_TYPE);
    }
    h.dt = MPI_LONG;
    const uint8_t ops[] = {DT_OPS, 255, DT_MAXLOC, DT_NO_OP};
    for (size_t i = 0; i < sizeof ops; i++) {
        h.aop = ops[i];
        job_check(rma_part(w, &h, 2, 0, 0, NULL, NULL) == MPI_ERR_OP);
    }
    for (int i = 0; i < N; i++)
        job_check(world_memory(w)[i] == 0);
    job_check(rma_win_free(w) == MPI_SUCCESS);
}

/* Keys, names and lengths that do not fit are answered at once, and nothing stays. */
static void key_lengths(void)
{
    struct tp_mem key[2] = {{(uintptr_t)v, sizeof v}, {(uintptr_t)got, sizeof got}};
    w = world_window(N);
    memset(world_memory(w), 0, N * sizeof(long));
    world_barrier();
    if (boot_rank() == 0) {
        struct rma_hdr h = {.type = RMA_PKT_PULL, .win = w->id, .src = 0, .dt = MPI_LONG, .op = 5};
        const struct rma_pull_data d[] = {
            {.count = 20, .key = 16, .result = 16, .transport = "another"},
            {.count = 20, .key = 16, .result = 17, .transport = "pretende"},
            {.count = 20, .key = 33, .transport = "pretende"},
            {.count = 20, .key = UINT32_MAX, .result = 33, .transport = "pretende"},
            {.count = 20, .key = 15, .result = 17, .transport = "pretende"},
            {.count = 20, .key = 32, .transport = "pretende"},
            {.count = 0, .key = 16, .result = 16, .transport = "pretende"},
            {.count = N + 1, .key = 16, .result = 16, .transport = "pretende"},
            /* an accumulate without data; then neither put nor get; a put and a get, too long */
            {.count = 20, .result = 32, .transport = "pretende"},
            {.count = 20, .key = 16, .result = 16, .transport = "pretende"},
            {.count = N + 1, .key = 32, .transport = "pretende"},
            {.count = N + 1, .result = 32, .transport = "pretende"}};
        static const int cls[] = {0,
                                  MPI_ERR_OTHER,
                                  MPI_ERR_OTHER,
                                  MPI_ERR_OTHER,
                                  0,
                                  0,
                                  0,
                                  MPI_ERR_RMA_RANGE,
                                  MPI_ERR_OTHER,
                                  MPI_ERR_OTHER,
                                  MPI_ERR_RMA_RANGE,
                                  MPI_ERR_RMA_RANGE};
        enum { SUMS = 9 /* of them; the others have no operation */ };
        world_catch();
        for (size_t i = 0; i < sizeof d / sizeof *d; i++) {
            caught.n = 0;
            h.aop = i < SUMS ? DT_SUM : 0;
            struct iovec m = {packet, fetch(h, d[i], key)};
            job_check(am_request(1, AM_RMA + RMA_PKT_PULL, &m, 1, 1) == 0);
            while (!caught.n)
                world_poll(1);
            job_check(caught.n == 1 && caught.got[0].h.type == RMA_PKT_PULLED &&
                      caught.got[0].h.aop == cls[i]);
            job_check(caught.got[0].h.disp == 0 && caught.got[0].h.op == 5);
        }
    }
    world_barrier();
    for (int i = 0; i < N; i++)
        job_check(world_memory(w)[i] == 0);
    job_check(keys.fars == 0 && keys.regs == 0 && net.gets == 0 && rma_win_free(w) == MPI_SUCCESS);
}

START_TEST(packets)
{
    ck_assert_int_eq(run(2, far, NOW, forged), 0);
    ck_assert_int_eq(run(1, far, NOW, judged), 0);
    ck_assert_int_eq(run(2, far, NOW, key_lengths), 0);
}
END_TEST

/* --- answers ---------------------------------------------------------------------------------- */

static void fetched_is(uint32_t op, int src, uint64_t done, int cls)
{
    struct rma_hdr h = {.type = RMA_PKT_PULLED, .aop = (uint8_t)cls, .win = w->id,
                        .src = (uint32_t)src, .op = op, .disp = done};
    job_check(rma_on_pulled(src, &h, sizeof h) == 0);
    job_check(rma_on_pulled(src, &h, sizeof h - 1) == 0);
}

/* Answers that were not asked for, from another process, with too much, with half an element;
 * and what stays with the network (F1). */
static void answers(void)
{
    w = world_window(N);
    world_barrier();
    if (boot_rank() == 0) {
        static const uint64_t done[] = {sizeof v + 8, UINT64_MAX, 12};
        for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
            job_check(rma_lock_all(w, MPI_MODE_NOCHECK) == MPI_SUCCESS);
            job_check(world_op(w, RMA_ACC, 1, v, NULL, N, 0) == MPI_SUCCESS);
            struct rma_target *t = rma_target_find(w, 1);
            t->flags |= TARGET_DRAIN;
            rma_issue_target(t);
            job_check(t->queued == 1 && t->natives == 1 && t->offer && keys.regs == 1 &&
                      !rma_target_due(t));
            struct rma_op *op = LIST_OBJ(t->next, struct rma_op, link);
            job_check(op->flags & OP_PULLED && !op->sent);
            fetched_is(op->id + 1, 1, sizeof v, 0);
            fetched_is(0, 1, sizeof v, 0);
            fetched_is(op->id, 2, sizeof v, 0);
            fetched_is(op->id, 0, sizeof v, 0);
            job_check(t->queued == 1 && keys.regs == 1);
            fetched_is(op->id, 1, done[i], 0);
            job_check(t->queued == 0 && t->natives == 0 && !t->offer && keys.regs == 0);
            job_check(err_class(rma_flush(w, 1)) == MPI_ERR_OTHER &&
                      rma_unlock_all(w) == MPI_SUCCESS);
        }
        world_quit();
    }
    world_barrier();
    job_check(net.nlate > 0 && keys.fars > 0);
    fflush(NULL);
    rma_finalize(); /* with gets under way */
    job_check(keys.fars > 0);
    net.how = LATER;
    for (unsigned i = 0; i < net.nlate; i++)
        net.late[i].d->fn(net.late[i].d, 0);
    job_check(keys.fars == 0);
    _exit(0);
}

START_TEST(answers_late)
{
    ck_assert_int_eq(run(2, far, NEVER, answers), 0);
}
END_TEST

Suite *suite_fetch(void)
{
    Suite *s = suite_create("rma/fetch");
    TCase *t = tcase_create("fetch");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, packets);
    tcase_add_test(t, answers_late);
    suite_add_tcase(s, t);
    /* an emulator of processors refuses process_vm_readv */
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 120);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, fetched);
    tcase_add_test(k, failing);
    tcase_add_test(k, puts_and_gets);
    suite_add_tcase(s, k);
    return s;
}
