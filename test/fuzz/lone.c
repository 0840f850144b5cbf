/* lone.c - the job around one real process (lone.h): its peers, its calls as fibers, its memory
 * and network. */
#include "lone.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "am/am_types.h"
#include "base/jobpage.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "coll/agree.h"
#include "coll/coll.h"
#include "dt/dt.h"
#include "fiber.h"
#include "mem/mem_types.h"
#include "mpi.h"
#include "p2p/p2p_types.h"
#include "progress/progress.h"
#include "rma/rma_types.h"
#include "tp/tp.h"

#if defined(__SANITIZE_ADDRESS__)
#define LONE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LONE_ASAN 1
#endif
#endif
#ifdef LONE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { STACK = 512 * 1024, CALLS = 16, TURNS_MAX = 20000, TURN_IDLE = 3, OFFERS = 4, GUARD = 1024 };

static struct lone {
    struct lone_knobs k;
    struct fiber home, fiber;
    int in_fiber;
    int idle;              /* yields in a row with nothing done */
    long turns;
    uint64_t rng;
    const char *what, *call;
    struct call {
        const char *name;
        void (*fn)(void *arg);
        void *arg;
    } queue[CALLS];
    unsigned first, last;
    int busy;              /* a call is under way */
    int refuse;
    struct lone_sent sent[LONE_SENT];
    unsigned nsent;
    struct job_page *page;
    am_fn *handler[AM_TYPES];
    enum tp_class cls; /* of what came last */
    int thread; /* its address names the one thread */
} lone;

/* --- the scheduler of one fiber -------------------------------------------------------------- */

static void fuzz_yield(const char *what, int peer, int idle)
{
    (void)peer;
    lone.turns++;
    lone.what = what;
    if (lone.turns > TURNS_MAX)
        fuzz_fail("no end: %s waits for %s", lone.call ? lone.call : "no call", what ? what : "?");
    if (!lone.in_fiber)
        return;
    lone.idle = idle ? lone.idle + 1 : 0;
    if (lone.idle < TURN_IDLE)
        return;
    lone.in_fiber = 0;
    fiber_switch(&lone.fiber, &lone.home);
}

static uint64_t fuzz_now(void)
{
    /* What the network has of the dead is waited for a second. */
    return (uint64_t)lone.turns * (lone.k.native ? 1000000u : 50000u);
}

static uint64_t fuzz_random(void)
{
    return lone.rng = lone.rng * 6364136223846793005ull + 1442695040888963407ull;
}

static void *fuzz_self(void)
{
    return &lone.thread;
}

static const struct sched_ops fuzz_sched = {.yield = fuzz_yield, .now = fuzz_now,
                                            .random = fuzz_random, .self = fuzz_self};

static void fiber_body(void *arg)
{
    (void)arg;
    for (;;) {
        while (lone.first != lone.last) {
            struct call c = lone.queue[lone.first++ % CALLS];
            lone.busy = 1;
            lone.call = c.name;
            proc->call = c.name;
            c.fn(c.arg);
            free(c.arg);
            lone.busy = 0;
            fuzz_reached("call", c.name);
        }
        lone.in_fiber = 0;
        fiber_switch(&lone.fiber, &lone.home);
    }
}

int lone_call(const char *name, void (*fn)(void *arg), void *arg)
{
    if (lone.last - lone.first == CALLS) {
        free(arg);
        return 0;
    }
    if (fuzz_verbose())
        fprintf(stderr, "    %s\n", name);
    lone.queue[lone.last++ % CALLS] = (struct call){name, fn, arg};
    return 1;
}

void lone_turn(void)
{
    lone.idle = 0;
    lone.in_fiber = 1;
    fiber_switch(&lone.home, &lone.fiber);
    progress_poll();
}

int lone_idle(void)
{
    return !lone.busy && lone.first == lone.last;
}

/* --- job services ----------------------------------------------------------------------------- */

static int fuzz_init(int *rank, int *size, int *appnum)
{
    *rank = *appnum = 0;
    *size = LONE_RANKS;
    proc->boot->page = lone.page;
    return 0;
}

static int fuzz_put(const char *key, const void *value, size_t len)
{
    (void)key;
    (void)value;
    (void)len;
    return 0;
}

static int fuzz_get(const char *key, void *value, size_t *len)
{
    static const char address[] = {4, 'f', 'u', 'z', 'z', 0, 0};
    if (strncmp(key, "am.", 3))
        return -ENOENT;
    memcpy(value, address, sizeof address);
    *len = sizeof address;
    return 0;
}

static int fuzz_barrier(void)
{
    return 0;
}

static int fuzz_node_map(char *text, size_t len)
{
    snprintf(text, len, lone.k.near ? "(vector,(0,1,4))" : "(vector,(0,4,1))");
    return 0;
}

static int fuzz_job_id(char *text, size_t len)
{
    snprintf(text, len, "fuzz.%ld", (long)getpid());
    return 0;
}

static void fuzz_abort(int code, const char *why)
{
    fuzz_fail("boot_abort(%d): %s", code, why ? why : "");
}

static int fuzz_finalize(void)
{
    proc->boot->page = NULL; /* not a mapping */
    return 0;
}

static const struct boot_ops fuzz_boot = {.name = "fuzz", .init = fuzz_init, .put = fuzz_put,
                                          .get = fuzz_get, .barrier = fuzz_barrier,
                                          .node_map = fuzz_node_map, .job_id = fuzz_job_id,
                                          .abort = fuzz_abort, .finalize = fuzz_finalize};

/* --- the transport ---------------------------------------------------------------------------- */

struct tp {
    struct tp_env env;
};

static int fuzz_open(const struct tp_env *env, struct tp **out, struct tp_caps *caps)
{
    struct tp *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->env = *env;
    *caps = (struct tp_caps){.flags = lone.k.ordered ? TP_AM_ORDERED : 0,
                             .am_max = (size_t)lone.k.am_max,
                             .gather = (size_t)lone.k.gather,
                             .replies = (unsigned)lone.k.replies,
                             .put_min = SIZE_MAX,
                             .get_min = SIZE_MAX,
                             .pull_min = SIZE_MAX,
                             .rma_max = 128};
    if (lone.k.native) {
        caps->flags |= TP_PUT | TP_GET;
        caps->pull_min = 32;
    }
    *out = t;
    return 0;
}

static int fuzz_address(struct tp *t, void *buf, size_t *len)
{
    (void)t;
    (void)buf;
    *len = 0;
    return 0;
}

static int fuzz_connect(struct tp *t, unsigned peer, const void *addr, size_t len)
{
    (void)t;
    (void)addr;
    (void)len;
    FUZZ_CHECK(peer < LONE_RANKS);
    return 0;
}

/* Put and get: what comes is of no interest, that memory is written and read while it may be is the
 * sanitizer's to say. The key decides how it ends: bit 0 with an error, bit 1 after the others are
 * dead only; bit 2: it is no key. */
enum { NET_CALLS = 64, KEY = 8, FAILS = 1, NEVER = 2, NO_KEY = 4 };

static struct {
    struct tp_done *d;
    char *dst;
    size_t len;
    int how;
} calls[NET_CALLS];
static unsigned ncalls, nmems;

struct tp_mem {
    char *base;
    size_t len;
};

struct tp_far {
    int how;
};

static int fuzz_reg(struct tp *t, void *base, size_t len, int space, int access,
                    struct tp_mem **mem)
{
    (void)t, (void)space, (void)access;
    *mem = malloc(sizeof **mem);
    FUZZ_CHECK(*mem && len);
    **mem = (struct tp_mem){base, len};
    nmems++;
    return 0;
}

static int fuzz_pack(struct tp *t, struct tp_mem *mem, void *key, size_t *len)
{
    (void)t, (void)mem;
    FUZZ_CHECK(*len >= KEY);
    memset(key, 0, KEY);
    *len = KEY;
    return 0;
}

static void fuzz_dereg(struct tp *t, struct tp_mem *mem)
{
    (void)t;
    nmems--;
    free(mem);
}

static int fuzz_import(struct tp *t, unsigned peer, const void *key, size_t len,
                       struct tp_far **far)
{
    (void)t;
    FUZZ_CHECK(peer < LONE_RANKS);
    if (len != KEY || *(const unsigned char *)key & NO_KEY)
        return -EPROTO;
    *far = malloc(sizeof **far);
    FUZZ_CHECK(*far != NULL);
    (*far)->how = *(const unsigned char *)key;
    return 0;
}

static void fuzz_drop(struct tp *t, struct tp_far *far)
{
    (void)t;
    free(far);
}

static int call_add(struct tp_done *d, char *dst, size_t len, int how)
{
    if (ncalls == NET_CALLS || lone.refuse)
        return TP_AGAIN;
    calls[ncalls].d = d;
    calls[ncalls].dst = dst;
    calls[ncalls].len = len;
    calls[ncalls++].how = how;
    return TP_PENDING;
}

static int net_get(struct tp *t, struct tp_far *far, uint64_t off, void *dst, size_t len,
                   struct tp_mem *dmem, struct tp_done *d)
{
    (void)t, (void)off, (void)dmem;
    return call_add(d, dst, len, far->how);
}

static int net_put(struct tp *t, struct tp_far *far, uint64_t off, const void *src, size_t len,
                   struct tp_mem *smem, struct tp_done *d)
{
    static char sink[4096];
    (void)t, (void)off, (void)smem;
    memcpy(sink, src, len);
    return call_add(d, NULL, 0, far->how);
}

static int fuzz_flush(struct tp *t, unsigned peer, struct tp_done *d)
{
    (void)t;
    FUZZ_CHECK(peer < LONE_RANKS);
    return call_add(d, NULL, 0, 0);
}

/* What is under way ends; all: what never would, too. */
static int calls_end(int all)
{
    unsigned n = ncalls, left = 0;
    for (unsigned i = 0; i < n; i++) {
        struct tp_done *d = calls[i].d;
        if (calls[i].how & NEVER && !all) {
            calls[left++] = calls[i];
            continue;
        }
        if (calls[i].len)
            memset(calls[i].dst, 1, calls[i].len);
        d->fn(d, calls[i].how & FAILS ? -EIO : 0);
    }
    memmove(calls + left, calls + n, (ncalls - n) * sizeof *calls);
    ncalls -= n - left;
    return (int)(n - left);
}

static void fuzz_close(struct tp *t)
{
    calls_end(1);
    FUZZ_CHECK(ncalls == 0 && nmems == 0);
    free(t);
}

static int fuzz_am(struct tp *t, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                   struct tp_done *d)
{
    struct am_hdr h;
    size_t len = 0, at = 0;
    (void)t;
    (void)d;
    FUZZ_CHECK(peer < LONE_RANKS);
    for (int i = 0; i < n; i++)
        len += iov[i].iov_len;
    if (len > (size_t)lone.k.am_max)
        return -EMSGSIZE;
    if (lone.refuse)
        return TP_AGAIN;
    struct lone_sent *s = &lone.sent[lone.nsent++ % LONE_SENT];
    memcpy(&h, iov[0].iov_base, sizeof h);
    *s = (struct lone_sent){.dst = (int)peer, .type = h.type, .cls = cls, .len = len - sizeof h};
    for (int i = 1; i < n; i++) {
        /* All of it is read, so that the sanitizer sees whether it may be. */
        static char sink[1 << 20];
        memcpy(sink, iov[i].iov_base, iov[i].iov_len);
        size_t keep = iov[i].iov_len < LONE_KEEP - at ? iov[i].iov_len : LONE_KEEP - at;
        memcpy(s->bytes + at, sink, keep);
        at += keep;
    }
    return 0;
}

/* What is offered during the next pass. */
static struct {
    int src, cls, there;
    size_t len;
    void *bytes;
} inbox;
static struct tp *the_tp;

static int fuzz_progress(struct tp *t)
{
    the_tp = t;
    int ended = ncalls ? calls_end(0) : 0;
    if (!inbox.there)
        return ended;
    int rc = t->env.recv(t->env.up, (unsigned)inbox.src, (enum tp_class)inbox.cls, inbox.bytes,
                         inbox.len);
    FUZZ_CHECK(rc == 0 || (rc == TP_AGAIN && inbox.cls == TP_REQUEST));
    inbox.there = rc != 0;
    return 1;
}

static int fuzz_fd(struct tp *t, int arm)
{
    (void)t;
    (void)arm;
    return -1;
}

static const struct tp_ops fuzz_tp = {.name = "fuzz", .near = 1, .open = fuzz_open,
                                      .address = fuzz_address, .reg = fuzz_reg, .pack = fuzz_pack,
                                      .dereg = fuzz_dereg, .import = fuzz_import, .drop = fuzz_drop,
                                      .put = net_put, .get = net_get, .flush = fuzz_flush,
                                      .connect = fuzz_connect, .close = fuzz_close, .am = fuzz_am,
                                      .progress = fuzz_progress, .fd = fuzz_fd};

void lone_deliver(int src, enum tp_class cls, int type, const void *msg, size_t len)
{
    struct am_hdr h = {.type = (uint16_t)type};
    /* Exactly as long as it is, so that the sanitizer sees the end. */
    inbox.bytes = malloc(sizeof h + len);
    FUZZ_CHECK(inbox.bytes != NULL);
    memcpy(inbox.bytes, &h, sizeof h);
    if (len)
        memcpy((char *)inbox.bytes + sizeof h, msg, len);
    inbox.src = src;
    inbox.cls = lone.cls = cls;
    inbox.len = sizeof h + len;
    inbox.there = 1;
    for (int i = 0; i < OFFERS && inbox.there; i++)
        progress_poll();
    inbox.there = 0;
    free(inbox.bytes);
}

void lone_refuse(int on)
{
    lone.refuse = on;
}

struct lone_sent *lone_sent_back(unsigned back)
{
    return back < lone.nsent && back < LONE_SENT ? &lone.sent[(lone.nsent - 1 - back) % LONE_SENT]
                                                 : NULL;
}

void lone_discard(void)
{
    lone.nsent = 0;
}

struct lone_sent *lone_last(int dst, enum tp_class cls, int type)
{
    struct lone_sent *s;
    for (unsigned i = 0; (s = lone_sent_back(i)) != NULL; i++)
        if (s->dst == dst && s->cls == cls && s->type == type)
            return s;
    return NULL;
}

/* --- handlers counted ------------------------------------------------------------------------- */

static const char *type_name(int type)
{
    static const char *const p2p[] = {"EAGER",     "EAGER_SYNC",  "RTS",       "FIN",
                                      "PULL",      "DATA",        "ACK",       "CANCEL",
                                      "CANCELLED", "EAGER_FIRST", "EAGER_MORE", "PREPOST",
                                      "FORGET",    "VOID",        "WRITTEN",   "REFUSED"};
    if (type >= AM_RMA && type < AM_RMA + RMA_PKTS)
        return rma_packet_name[type - AM_RMA];
    if (type >= AM_P2P && type < P2P_PACKETS_END)
        return p2p[type - AM_P2P];
    if (type == AM_COLL + COLL_PKT_AGREE)
        return "AGREE";
    if (type == AM_COLL + COLL_PKT_REVOKE)
        return "REVOKE";
    return "?";
}

/* It may be short: what comes before its turn is stored, and looked at later. */
static const char *name_of(int type, const void *msg, size_t len)
{
    return type == P2P_RTS && len >= sizeof(struct p2p_rts) &&
                   ((const struct p2p_rts *)msg)->flags & P2P_RTS_WRITING
               ? "RTS(WRITING)"
               : type_name(type);
}

/* Packets that were found malformed; am counts those of agreements. */
static uint64_t refused(void)
{
    return proc->rma->malformed + proc->p2p->malformed + proc->am->malformed;
}

/* What a handler may answer: am refuses it as a reply before the handler runs. */
static int comes_as_reply(int type)
{
    enum { TO_TARGET, TO_ORIGIN };
    switch (type) {
#define P(name, direction, handler)  \
    case AM_RMA + RMA_PKT_##name:    \
        return direction == TO_ORIGIN;
        RMA_PACKETS(P)
#undef P
    }
    return type == P2P_DATA;
}

/* Count the packets that a handler found good enough to act on. */
static int counted(int type, int src, const void *msg, size_t len)
{
    uint64_t bad = refused();
    struct rma_hdr h;
    int rma = type >= AM_RMA;
    const struct rma_win *w = rma ? rma_packet_window(src, msg, len, &h) : NULL;
    int good = !rma || w;
    if (type == AM_RMA + RMA_PKT_DELEGATE && len == sizeof h) { /* whose end is no length */
        memcpy(&h, msg, sizeof h);
        good = rma_win_named(h.win, h.src) != NULL;
    }
    if (type == AM_RMA + RMA_PKT_FREEING && good) /* is it waited for? */
        good = w->free.under_way && w->free.peer == src;
    FUZZ_CHECK(lone.cls == TP_REQUEST || comes_as_reply(type));
    int rc = lone.handler[type](src, msg, len);
    if (good && !rc && bad == refused() && src != LONE_HONEST)
        fuzz_reached(rma                ? "rma-packet"
                     : type < AM_COLL ? "p2p-packet"
                                      : "coll-packet", name_of(type, msg, len));
    return rc;
}

#define COUNTED(n)                                                \
    static int counted_##n(int src, const void *msg, size_t len)  \
    {                                                             \
        return counted(n, src, msg, len);                         \
    }
#define ALL(X)                                                                                     \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30)      \
    X(31) X(48) X(49)                                                                              \
    X(64) X(65) X(66) X(67) X(68) X(69) X(70) X(71) X(72) X(73) X(74) X(75) X(76) X(77) X(78)      \
    X(79) X(80) X(81) X(82) X(83) X(84) X(85) X(86) X(87) X(88) X(89) X(90) X(91)
ALL(COUNTED)
_Static_assert(AM_P2P == 16 && P2P_PACKETS_END == 32 && AM_COLL + COLL_PKT_AGREE == 48 &&
               AM_COLL + COLL_PKT_REVOKE == 49 && AM_RMA == 64 && RMA_PKTS == 28,
               "ALL has every packet type");

static void count_handlers(void)
{
    memcpy(lone.handler, proc->am->handler[TP_REQUEST], sizeof lone.handler);
#define PUT(n) am_handler(n, counted_##n);
    ALL(PUT)
    /* am's own, the greeting of liveness.c, looks at nothing that came */
    for (int t = AM_P2P; t < AM_TYPES; t++)
        /* none is left out */
        FUZZ_CHECK(!lone.handler[t] == (proc->am->handler[TP_REQUEST][t] == lone.handler[t]));
}

/* --- life ------------------------------------------------------------------------------------- */

static struct cvars defaults;

void lone_defaults(void)
{
    char why[256];
    if (defaults.rma_packet)
        return;
    if (var_init(why, sizeof why))
        fuzz_fail("%s", why);
    defaults = cvar;
    sched = &fuzz_sched;
    fiber_adopt(&lone.home);
    FUZZ_CHECK(fiber_make(&lone.fiber, STACK, fiber_body, NULL) == 0);
}

void lone_up(const struct lone_knobs *k)
{
    static const struct tp_ops *const transports[] = {&fuzz_tp, NULL};
    lone_defaults();
    lone.k = *k;
    lone.turns = lone.idle = 0;
    lone.rng = 1;
    lone.first = lone.last = 0;
    lone.nsent = 0;
    lone.refuse = 0;
    if (!lone.page)
        lone.page = malloc(job_page_bytes(LONE_RANKS));
    FUZZ_CHECK(lone.page != NULL);
    memset(lone.page, 0, job_page_bytes(LONE_RANKS));
    lone.page->magic = JOB_PAGE_MAGIC;
    lone.page->version = JOB_PAGE_VERSION;
    lone.page->size = LONE_RANKS;
    FUZZ_CHECK(boot_init(&fuzz_boot) == 0 && tp_use(transports) == 0);
    FUZZ_CHECK(mem_init() == 0 && progress_init() == 0 && am_init() == 0 && obj_init() == 0 &&
               dt_init() == 0);
    FUZZ_CHECK(p2p_init() == 0 && coll_init() == 0 && rma_init() == 0);
    atomic_store(&proc->phase, PROC_INIT);
    for (int i = 0; i < LONE_RANKS && k->near; i++) /* memory of "others" is this process's own */
        atomic_store(&proc->mem->record[i].pid, (int)getpid());
    count_handlers();
}

void lone_fail(int rank)
{
    if (atomic_exchange(&lone.page->dead[rank], 1))
        return;
    atomic_fetch_add(&lone.page->dead_count, 1);
}

void lone_end(void)
{
    lone.refuse = 0;
    for (int r = 1; r < LONE_RANKS; r++)
        lone_fail(r);
    for (int i = 0; i < 3 || !lone_idle(); i++)
        lone_turn(); /* fuzz_yield() ends it when it takes too long */
}

void lone_down(void)
{
    FUZZ_CHECK(lone_idle());
    proc->call = NULL;
    rma_finalize();
    coll_finalize();
    p2p_finalize();
    dt_finalize();
    obj_finalize();
    am_finalize();
    progress_finalize();
    mem_finalize();
    boot_finalize();
    FUZZ_CHECK(tp_use(NULL) == 0);
    atomic_store(&proc->phase, PROC_NEW);
    cvar = defaults;
}

/* --- memory ----------------------------------------------------------------------------------- */

void guarded_make(struct guarded *g, size_t size)
{
    size_t room = (size + 7) & ~(size_t)7;
    g->size = size;
    g->all = malloc(room + 2 * GUARD);
    FUZZ_CHECK(g->all != NULL);
    memset(g->all, 0x5a, room + 2 * GUARD);
    g->mem = g->all + GUARD;
    memset(g->mem, 0, size);
    ASAN_POISON_MEMORY_REGION(g->all, GUARD);
    ASAN_POISON_MEMORY_REGION(g->mem + size, room - size + GUARD);
}

/* Without a sanitizer: what should not have been touched is as it was. */
void guarded_check(const struct guarded *g)
{
    size_t room = (g->size + 7) & ~(size_t)7;
    ASAN_UNPOISON_MEMORY_REGION(g->all, room + 2 * GUARD);
    for (const char *p = g->all; p < g->mem; p++)
        FUZZ_CHECK(*p == 0x5a);
    for (const char *p = g->mem + g->size; p < g->mem + room + GUARD; p++)
        FUZZ_CHECK(*p == 0x5a);
}

void guarded_free(struct guarded *g)
{
    if (!g->all)
        return;
    guarded_check(g);
    free(g->all);
    g->all = NULL;
}

/* --- one input -------------------------------------------------------------------------------- */

static void run_record(const struct lone_target *t, const struct record *r)
{
    static const char *const name[LONE_OPS] = {"packet", "answer", "serve", "call",
                                               "turn",   "refuse", "death"};
    unsigned op = r->op % LONE_OPS;
    if (fuzz_verbose())
        fprintf(stderr, "  %s\n", name[op]);
    switch (op) {
    case LONE_PACKET: t->packet(r); break;
    case LONE_ANSWER: t->answer(r); break;
    case LONE_SERVE: t->serve(); break;
    case LONE_CALL: t->call(r); break;
    case LONE_TURN: lone_turn(); break;
    case LONE_REFUSE: lone_refuse(r->a & 1); break;
    case LONE_DEATH: lone_fail(1 + (r->a & 1)); break;
    }
}

int lone_input(const struct lone_target *t, const uint8_t *data, size_t size)
{
    uint8_t settings[16];
    struct record r;
    FUZZ_CHECK(fuzz_settings <= sizeof settings);
    if (size < fuzz_settings || size > 16384)
        return -1;
    memcpy(settings, data, fuzz_settings);
    struct feed f = {data + fuzz_settings, data + size};
    t->up(settings);
    t->check();
    for (int n = 0; n < 200 && feed_record(&f, &r); n++) {
        run_record(t, &r);
        lone_turn();
        t->check();
    }
    lone_refuse(0);
    t->honest();
    lone_end();
    lone_call("close", t->finish, NULL);
    lone_end();
    t->down();
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
