/* rma.c - target "rma": packets of a hostile peer against windows of every flavour, while this
 * process has operations, locks and epochs of its own under way. After each input: nothing outside
 * of a window was touched, and the queues are within their bounds. An honest peer is served, and
 * every call ends when the others die. */
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "coll/coll.h"
#include "dt/make.h"
#include "lone.h"
#include "p2p/p2p.h"
#include "rma/engine/engine_types.h"
#include "rma/rma_types.h"

const size_t fuzz_settings = 4;

enum { WINDOWS = 4, TYPES = 14, PREDEFINED = 9, BUFFERS = 96, REQUESTS = 64, DYNAMIC = 3 };
enum fix { FIX_SRC = 1, FIX_LEN = 2, FIX_BASE = 4, FIX_INNER = 8, FIX_BOX = 16, FIX_BACK = 32 };

static struct world {
    struct rma_win *w[WINDOWS];
    struct rankmap *map;
    struct guarded created, region[2];
    struct guarded box; /* of this process, the only near one: what DELEGATE names lies there */
    struct dt_type *type[TYPES];
    void *buffer[BUFFERS];
    unsigned buffers;
    MPI_Request req[REQUESTS];
    unsigned reqs;
    struct group *group;
} world;

/* --- set-up ---------------------------------------------------------------------------------- */

/* A window of one becomes one of four: all that depends on which ranks are near was decided for
 * the one. */
static void widen(struct rma_win *w)
{
    rma_slots_free(w);
    w->map = world.map;
    w->size = LONE_RANKS;
    w->all_near = 0;
    w->native.pull_min = rma_pull_least();
    FUZZ_CHECK(rma_slots_init(w) == 0);
    free(w->node.boxes); /* now there is one, as if a peer reached the memory of w by CMA */
    w->node.boxes = calloc(w->nears, sizeof *w->node.boxes);
    FUZZ_CHECK(w->node.boxes && w->nears == 1);
    w->node.boxes[0].at = world.box.mem;
}

static void windows_up(int single)
{
    struct comm *self = proc->obj->self;
    void *base;
    struct info *hints = info_make();
    FUZZ_CHECK(hints && (world.map = rankmap_stride(0, 1, LONE_RANKS)) != NULL);
    if (single)
        info_put(hints, "mpi_accumulate_granularity", "8");
    guarded_make(&world.created, 203);
    guarded_make(&world.box, RMA_BOX_ALL);
    FUZZ_CHECK(!rma_win_create(world.created.mem, 203, 1, hints, self, &world.w[0]));
    FUZZ_CHECK(!rma_win_allocate(4096 + 512, 8, hints, self, &base, &world.w[1]));
    FUZZ_CHECK(!rma_win_allocate_shared(256, 4, hints, self, &base, &world.w[2]));
    FUZZ_CHECK(!rma_win_create_dynamic(hints, self, &world.w[DYNAMIC]));
    guarded_make(&world.region[0], 136);
    guarded_make(&world.region[1], 64);
    FUZZ_CHECK(!rma_win_attach(world.w[DYNAMIC], world.region[0].mem, 80));
    FUZZ_CHECK(!rma_win_attach(world.w[DYNAMIC], world.region[0].mem + 80, 56));
    FUZZ_CHECK(!rma_win_attach(world.w[DYNAMIC], world.region[1].mem, 64));
    info_drop(hints);
    for (int i = 0; i < WINDOWS; i++)
        widen(world.w[i]);
}

static void types_up(void)
{
    static const int basic[PREDEFINED] = {
        MPI_BYTE, MPI_LONG, MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_DOUBLE_INT, MPI_C_DOUBLE_COMPLEX,
        MPI_LONG_DOUBLE, MPI_SHORT_INT};
    static const int64_t lens[] = {2, 1, 3}, at[] = {0, 24, 40}, down[] = {32, 0, 16};
    struct dt_type **t = world.type, *both[3];
    for (int i = 0; i < PREDEFINED; i++)
        t[i] = dt_find(basic[i]);
    FUZZ_CHECK(!dt_make_vector(3, 1, 2, t[2], &t[9]) &&
               !dt_make_indexed_b(3, lens, 0, at, t[4], &t[10]));
    FUZZ_CHECK(!dt_make_indexed_b(3, NULL, 1, down, t[1], &t[11]) &&
               !dt_make_resized(t[5], -4, 32, &t[12]));
    both[0] = t[0];
    both[1] = t[3];
    both[2] = t[9];
    FUZZ_CHECK(!dt_make_struct(3, lens, at, both, &t[13]));
}

static void settings(const uint8_t *s, struct lone_knobs *k)
{
    static const int longest[] = {4096, 512, 16384, 1024};
    *k = (struct lone_knobs){.ordered = !(s[0] & 1),
                             .near = s[0] >> 1 & 1,
                             .am_max = longest[s[0] >> 2 & 3],
                             .replies = s[0] & 16 ? 4 : 32,
                             .gather = s[2] & 2 ? 400 : 0,
                             .native = s[2] >> 2 & 1};
    cvar.rma_pull_bytes = 100;
    cvar.rma_pulls = s[2] & 8 ? 1 : 3;
    cvar.rma_packet = s[0] & 32 ? 512 : 4096;
    cvar.rma_hold = s[0] & 64 ? 0 : 4;
    cvar.rma_delay = s[0] >> 7;
    if (s[1] & 1) {
        cvar.rma_op_win = cvar.rma_target_win = cvar.rma_slots = 1;
        cvar.rma_op_global = s[1] >> 1 & 1;
        cvar.rma_target_global = s[1] >> 2 & 1;
    } else {
        cvar.rma_op_win = cvar.rma_target_win = 8;
        cvar.rma_op_global = cvar.rma_target_global = 64;
    }
    cvar.rma_lock_entries = s[1] & 8 ? 1 : 3;
    cvar.rma_lock_bytes = s[1] & 16 ? 0 : 300;
    cvar.rma_small = s[1] & 32 ? 16 : 512;
    cvar.rma_switch_out = s[1] & 64 ? 1 : 2;
}

static void up(const uint8_t *s)
{
    struct lone_knobs k;
    memset(&world, 0, sizeof world);
    lone_defaults();
    settings(s, &k);
    lone_up(&k);
    windows_up(s[2] & 1);
    types_up();
    int ranks[] = {1, 2};
    struct rankmap *m = rankmap_make(ranks, 2);
    FUZZ_CHECK(m && (world.group = group_make(m, MPI_UNDEFINED)) != NULL);
    rankmap_drop(m);
}

static void down(void)
{
    for (unsigned i = 0; i < world.buffers; i++)
        free(world.buffer[i]);
    for (int i = PREDEFINED; i < TYPES; i++)
        dt_drop(world.type[i]);
    group_drop(world.group);
    for (int i = 0; i < WINDOWS; i++)
        rma_win_drop(world.w[i]);
    rankmap_drop(world.map);
    guarded_free(&world.created);
    guarded_free(&world.box);
    guarded_free(&world.region[0]);
    guarded_free(&world.region[1]);
    lone_down();
}

/* --- truths ----------------------------------------------------------------------------------- */

static void check(void)
{
    for (int i = 0; i < WINDOWS; i++) {
        const struct rma_win *w = world.w[i];
        size_t bytes = 0;
        unsigned n = 0;
        rma_check_invariants(w);
        for (const struct list *l = w->target.lockq.entries.next; l != &w->target.lockq.entries;
             l = l->next) {
            const struct lock_entry *e = LIST_OBJ(l, struct lock_entry, link);
            bytes += e->packet ? e->hdr.len : 0;
            n++;
        }
        FUZZ_CHECK(n == w->target.lockq.count && n <= (unsigned)cvar.rma_lock_entries);
        FUZZ_CHECK(bytes == w->target.lockq.bytes && bytes <= (size_t)cvar.rma_lock_bytes);
        FUZZ_CHECK(w->target.lockq.admitted <= w->target.lockq.stamps);
        FUZZ_CHECK(w->target.lockq.holders.count <= LONE_RANKS &&
                   w->target.errors.count <= LONE_RANKS && w->access.posts.count <= LONE_RANKS);
        FUZZ_CHECK(w->fence.barriers <= 2);
    }
}

/* --- packets ---------------------------------------------------------------------------------- */

static uint64_t dynamic_base(uint64_t disp)
{
    return disp + (uintptr_t)world.region[disp >> 63].mem;
}

static void header_fix(struct rma_hdr *h, int src, unsigned fix)
{
    if (h->win < 8)
        h->win = world.w[h->win % WINDOWS]->id;
    if (fix & FIX_SRC)
        h->src = (uint32_t)src;
    if (fix & FIX_BASE && h->win == world.w[DYNAMIC]->id)
        h->disp = dynamic_base(h->disp);
}

/* The places of a COALESCED, entries of `step` bytes, in dynamic windows. */
static void places_fix(char *at, size_t left, size_t step)
{
    for (; left >= sizeof(uint64_t) && step; at += step, left -= step) {
        uint64_t disp;
        memcpy(&disp, at, sizeof disp);
        disp = dynamic_base(disp);
        memcpy(at, &disp, sizeof disp);
        if (left < step)
            return;
    }
}

static void inner_fix(char *at, size_t left, int src, unsigned fix)
{
    struct rma_hdr h;
    while (left >= sizeof h) {
        memcpy(&h, at, sizeof h);
        header_fix(&h, src, fix);
        memcpy(at, &h, sizeof h);
        size_t n = sizeof h + rma_pad(h.len);
        if (n > left)
            return;
        at += n;
        left -= n;
    }
}

/* What follows a DELEGATE is the asker's slot of the box.  A bundle has q.number operations; the
 * place of the first one is in the window if that is dynamic. */
static void box_fix(char *m, size_t left, unsigned fix)
{
    struct rma_delegated q;
    memcpy(&q, m, sizeof q);
    if (q.aop != RMA_COPY_MANY || q.slot >= RMA_BUNDLES)
        return;
    struct acc_bundle *b =
        (void *)(world.box.mem + RMA_BOX_BYTES + q.slot * RMA_BUNDLE_BYTES);
    size_t most = RMA_BUNDLE_BYTES - sizeof *b;
    atomic_store(&b->number, q.bundle);
    atomic_store(&b->back, fix & FIX_BACK ? q.bundle : 0);
    b->ops = q.number;
    if (q.win == world.w[DYNAMIC]->id && fix & FIX_BASE)
        places_fix(m + sizeof q, left, left);
    memcpy(b + 1, m + sizeof q, left < most ? left : most);
}

/* Types as inputs number them: as they came to be, so that the corpus keeps its meaning. */
static const uint8_t packet_of[] = {
    RMA_PKT_PUT, RMA_PKT_GET, RMA_PKT_ACC, RMA_PKT_GACC, RMA_PKT_CAS, RMA_PKT_BATCH, RMA_PKT_LOCK,
    RMA_PKT_DONE, RMA_PKT_POST, RMA_PKT_DATA, RMA_PKT_ACK, RMA_PKT_GRANTED, RMA_PKT_REFUSED,
    RMA_PKT_KEY_ASK, RMA_PKT_KEY, RMA_PKT_ANSWERS, RMA_PKT_FREEING_ASK, RMA_PKT_FREEING,
    RMA_PKT_DELEGATE, RMA_PKT_COALESCED, RMA_PKT_PULL, RMA_PKT_PULLED, RMA_PKT_HANDLE_ENDS,
    RMA_PKT_HANDLE_LEFT, RMA_PKT_FORWARD, RMA_PKT_FORWARDED, RMA_PKT_COPY, RMA_PKT_COPIED};
_Static_assert(sizeof packet_of == RMA_PKTS, "packet_of has every type");

/* The first sixteen stand where they did when there were no others, and so do those after them but
 * for the last numbers. */
static const uint8_t last_numbers[] = {24, 25, 26, 27, 22, 23, 18, 20, 19, 21};
enum { LAST = 256 - sizeof last_numbers };
static unsigned packet_nth(unsigned a)
{
    return a < 240 ? a % 16 : a < LAST ? 16 + a % 2 : last_numbers[a - LAST];
}

static unsigned number_of(unsigned nth)
{
    unsigned a = LAST;
    while (nth >= 18 && last_numbers[a - LAST] != nth)
        a++;
    return nth < 16 ? nth : nth < 18 ? 240 + nth - 16 : a;
}

static int is_answer(int type)
{
    return type == RMA_PKT_COPIED || type == RMA_PKT_HANDLE_LEFT || type == RMA_PKT_PULLED ||
           type == RMA_PKT_ANSWERS || type == RMA_PKT_FREEING || type == RMA_PKT_KEY ||
           type == RMA_PKT_DATA || type == RMA_PKT_ACK || type == RMA_PKT_GRANTED ||
           type == RMA_PKT_REFUSED;
}

/* a: packet type; b: source, class; c: what of the header is put right. */
static void run_packet(const struct record *r)
{
    struct rma_hdr h;
    int src = 1 + (r->b & 1), type = packet_of[packet_nth(r->a)];
    /* for near processes, and here only this one is near */
    if (type == RMA_PKT_DELEGATE && !(r->b & 4))
        src = 0;
    int reply = is_answer(type) ^ (r->b >> 1 & 1);
    char *m = malloc(r->len + 1);
    FUZZ_CHECK(m != NULL);
    memcpy(m, r->data, r->len);
    if (r->len >= sizeof h) {
        memcpy(&h, m, sizeof h);
        header_fix(&h, src, r->c);
        if (r->c & FIX_LEN && !(r->c & FIX_BOX))
            h.len = (uint32_t)(r->len - sizeof h);
        memcpy(m, &h, sizeof h);
        if (h.type == RMA_PKT_COALESCED && r->c & FIX_BASE && h.win == world.w[DYNAMIC]->id &&
            h.count) {
            /* is no place */
            memcpy(&h.disp, r->data + offsetof(struct rma_hdr, disp), sizeof h.disp);
            memcpy(m, &h, sizeof h);
            places_fix(m + sizeof h, r->len - sizeof h, (r->len - sizeof h) / h.count);
        }
        if ((type == RMA_PKT_ANSWERS || h.type == RMA_PKT_BATCH) && r->c & FIX_INNER)
            inner_fix(m + sizeof h, r->len - sizeof h, src, r->c);
    }
    size_t len = r->len;
    if (type == RMA_PKT_DELEGATE && r->c & FIX_BOX && len > sizeof h) {
        box_fix(m, len - sizeof h, r->c);
        len = sizeof h;
    }
    lone_deliver(src, reply ? TP_REPLY : TP_REQUEST, AM_RMA + type, m, len);
    free(m);
}

/* --- answers that fit ------------------------------------------------------------------------- */

struct reply {
    struct rma_hdr h;
    size_t data;
    struct rma_fault f; /* if it is refused */
};

static size_t asked(const struct rma_hdr *h, const char *payload, size_t kept)
{
    struct rma_ext e;
    if (h->flags & RMA_F_EXT) {
        if (kept < sizeof e)
            return 0;
        memcpy(&e, payload, sizeof e);
        return e.want;
    }
    struct dt_type *t = dt_find((MPI_Datatype)h->dt);
    return t ? (size_t)t->size * h->count : 0;
}

static unsigned reply_to(const struct rma_hdr *h, const char *payload, size_t kept, int *granted,
                         struct reply *out)
{
    struct rma_ext e = {0};
    struct rma_pull_data f;
    if (h->type == RMA_PKT_PULL) {
        if (kept < sizeof f)
            return 0;
        memcpy(&f, payload, sizeof f);
        uint64_t bytes = f.count * (uint64_t)dt_find((MPI_Datatype)h->dt)->size;
        *out = (struct reply){
            .h = {.type = RMA_PKT_PULLED, .win = h->win, .op = h->op, .disp = bytes}};
        return 1;
    }
    if (h->type == RMA_PKT_FREEING_ASK) {
        *out = (struct reply){.h = {.type = RMA_PKT_FREEING, .win = h->win, .count = 1}};
        return 1;
    }
    if (h->type == RMA_PKT_HANDLE_ENDS) {
        *out = (struct reply){{.type = RMA_PKT_HANDLE_LEFT, .win = h->win, .disp = h->disp}};
        return 1;
    }
    int data = h->type == RMA_PKT_GET || h->type == RMA_PKT_GACC || h->type == RMA_PKT_CAS;
    int wants = h->flags & (RMA_F_DONE | RMA_F_UNLOCK);
    if (!data && !wants && !(h->flags & RMA_F_ACK))
        return 0;
    if (h->flags & RMA_F_EXT && kept >= sizeof e)
        memcpy(&e, payload, sizeof e);
    *out = (struct reply){.h = {.type = data ? RMA_PKT_DATA : RMA_PKT_ACK,
                                .win = h->win,
                                .op = h->op,
                                .token = h->token,
                                .disp = e.offset}};
    out->f = (struct rma_fault){.disp = h->disp, .count = h->count, .dt = h->dt, .type = h->type,
                                .bytes = h->win == world.w[DYNAMIC]->id ? RMA_FAULT_DYNAMIC : 64};
    if (data) {
        out->data = asked(h, payload, kept);
        out->h.count = (uint32_t)out->data;
    }
    if (wants)
        out->h.flags |= RMA_F_SIGNALED;
    if (*granted)
        out->h.flags |= RMA_F_GRANTED;
    *granted = 0;
    return 1;
}

enum { REPLIES = 16 };

static unsigned replies_to(const struct lone_sent *s, struct reply *out)
{
    struct rma_hdr h, one;
    size_t kept = (s->len < LONE_KEEP ? s->len : LONE_KEEP) - sizeof h;
    const char *p = s->bytes + sizeof h;
    unsigned n = 0;
    memcpy(&h, s->bytes, sizeof h);
    int granted = (h.flags & RMA_F_LOCK) != 0;
    if (h.type == RMA_PKT_BATCH)
        for (size_t at = 0; n < REPLIES - 1 && at + sizeof one <= kept;
             at += sizeof one + rma_pad(one.len)) {
            memcpy(&one, p + at, sizeof one);
            n += reply_to(&one, p + at + sizeof one, kept - at - sizeof one, &granted, &out[n]);
        }
    else
        n = reply_to(&h, p, kept, &granted, out);
    if (granted)
        out[n++] = (struct reply){.h = {.type = RMA_PKT_GRANTED, .win = h.win}};
    return n;
}

/* Bytes that the peer changes: pairs of a place and what to add. */
static void changed(char *m, size_t *len, const uint8_t *change, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (change[i] == 0xff)
            *len -= *len > change[i + 1] ? change[i + 1] : 0;
        else if (change[i] < *len)
            m[change[i]] = (char)(m[change[i]] + change[i + 1]);
    }
}

/* All answers to one packet in one. */
static void answers_send(int src, struct reply *r, unsigned replies, const uint8_t *change,
                         size_t n)
{
    static _Alignas(8) char m[16384];
    struct rma_hdr all = {.type = RMA_PKT_ANSWERS, .win = r->h.win, .src = (uint32_t)src};
    size_t len = sizeof all;
    for (unsigned i = 0; i < replies; i++) {
        struct rma_hdr *h = &r[i].h;
        if (h->type == RMA_PKT_GRANTED || len + sizeof *h + rma_pad(r[i].data) > sizeof m)
            continue;
        h->src = (uint32_t)src;
        h->len = (uint32_t)r[i].data;
        memcpy(m + len, h, sizeof *h);
        memset(m + len + sizeof *h, 0x33, rma_pad(r[i].data));
        len += sizeof *h + rma_pad(r[i].data);
        all.count++;
    }
    all.len = (uint32_t)(len - sizeof all);
    memcpy(m, &all, sizeof all);
    changed(m, &len, change, n);
    lone_deliver(src, TP_REPLY, AM_RMA + RMA_PKT_ANSWERS, m, len);
}

static void reply_send(int src, struct reply *r, const uint8_t *change, size_t n)
{
    static _Alignas(8) char m[8192];
    r->h.src = (uint32_t)src;
    if (r->data > sizeof m - sizeof r->h)
        r->data = sizeof m - sizeof r->h;
    r->h.len = (uint32_t)r->data;
    unsigned type = r->h.type;
    size_t len = sizeof r->h + r->data;
    memcpy(m, &r->h, sizeof r->h);
    memset(m + sizeof r->h, 0x33, r->data);
    for (size_t i = 0; i + 1 < n; i += 2) { /* place, what to add */
        if (change[i] < sizeof r->h)
            m[change[i]] = (char)(m[change[i]] + change[i + 1]);
        else if (change[i] == 0xff && len > change[i + 1])
            len -= change[i + 1];
        else if (change[i] == 0xfe)
            type = packet_of[9 + change[i + 1] % 4]; /* DATA to REFUSED */
        else if (change[i] == 0xfd) { /* with this error class, and what belongs to it */
            r->h.aop = change[i + 1];
            r->h.len = sizeof r->f;
            len = sizeof r->h + sizeof r->f;
            memcpy(m, &r->h, sizeof r->h);
            memcpy(m + sizeof r->h, &r->f, sizeof r->f);
        }
    }
    lone_deliver(src, TP_REPLY, AM_RMA + (int)type, m, len);
}

static int is_request(const struct lone_sent *s)
{
    return s->cls == TP_REQUEST && s->type >= AM_RMA &&
           (s->type < AM_RMA + RMA_PKT_DATA || s->type == AM_RMA + RMA_PKT_PULL ||
            s->type == AM_RMA + RMA_PKT_FREEING_ASK || s->type == AM_RMA + RMA_PKT_HANDLE_ENDS) &&
           s->len >= sizeof(struct rma_hdr);
}

/* An answer to the a-th last request, changed by the data. */
static void run_answer(const struct record *r)
{
    struct reply reply[REPLIES];
    struct lone_sent *s;
    unsigned left = r->a % 16;
    for (unsigned i = 0; (s = lone_sent_back(i)) != NULL; i++)
        if (is_request(s) && !left--)
            break;
    unsigned n = s ? replies_to(s, reply) : 0;
    int src = n && !(r->b & 1) ? s->dst : 1 + (r->b >> 1 & 1);
    if (n > 1 && r->b & 4)
        answers_send(src, reply, n, r->data, r->len);
    else if (n)
        reply_send(src, &reply[r->c % n], r->data, r->len);
}

/* Honest answers to all requests that have none. */
static void serve(void)
{
    struct reply reply[REPLIES];
    struct lone_sent *s;
    for (unsigned i = LONE_SENT; i-- > 0;) {
        if (!(s = lone_sent_back(i)) || !is_request(s) || s->served)
            continue;
        s->served = 1;
        int dst = s->dst;
        unsigned n = replies_to(s, reply);
        if (n > 1 && i % 2 && reply[n - 1].h.type != RMA_PKT_GRANTED) {
            answers_send(dst, reply, n, NULL, 0);
            continue;
        }
        for (unsigned k = 0; k < n; k++)
            reply_send(dst, &reply[k], NULL, 0);
    }
}

/* --- calls of this process -------------------------------------------------------------------- */

enum call {
    C_PUT, C_GET, C_ACC, C_GACC, C_FOP, C_CAS, C_RPUT, C_RGET, C_RACC, C_RGACC, C_LOCK, C_LOCK_EXCL,
    C_LOCK_NOCHECK, C_UNLOCK, C_LOCK_ALL, C_LOCK_ALL_NOCHECK, C_UNLOCK_ALL, C_FLUSH, C_FLUSH_ALL,
    C_FLUSH_LOCAL, C_FENCE, C_FENCE_OPEN, C_FENCE_CLOSE, C_POST, C_START, C_START_NOCHECK,
    C_COMPLETE, C_WAIT, C_TEST, C_WAIT_REQ, C_DETACH, C_ATTACH, C_LEAVE, CALLS
};
static const char *const call_name[CALLS] = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "rput",
    "rget", "raccumulate", "rget_accumulate", "lock", "lock(exclusive)", "lock(nocheck)", "unlock",
    "lock_all", "lock_all(nocheck)", "unlock_all", "flush", "flush_all", "flush_local", "fence",
    "fence(open)", "fence(close)", "post", "start", "start(nocheck)", "complete", "wait", "test",
    "wait(request)", "detach", "attach", "leave"};

/* As with packets: the first 32 stand where they did when there were no others. */
enum { FIRST_CALLS = 32, LAST_CALL = 255 };
static enum call call_nth(unsigned a)
{
    return (enum call)(a == LAST_CALL ? (unsigned)C_LEAVE : a % FIRST_CALLS);
}
_Static_assert((int)C_LEAVE == (int)FIRST_CALLS && (int)CALLS == (int)C_LEAVE + 1,
               "each call has a number");

struct step {
    enum call what;
    struct rma_win *w;
    int rank;
    unsigned type, op;
    int64_t disp, count;
};

/* Memory for (t, count), exactly as long as it must be; the address that MPI gets. */
static void *buffer_for(const struct dt_type *t, int64_t count)
{
    int64_t lo, hi;
    if (world.buffers == BUFFERS || dt_bounds(t, (size_t)count, &lo, &hi))
        return NULL;
    char *m = calloc(1, (size_t)(hi - lo) + 1);
    FUZZ_CHECK(m != NULL);
    world.buffer[world.buffers++] = m;
    return m - lo;
}

static void operate(const struct step *s)
{
    enum rma_kind kind = (enum rma_kind)(s->what < C_RPUT ? s->what : s->what - C_RPUT);
    int one = kind == RMA_FOP || kind == RMA_CAS;
    struct dt_type
        *t = world.type[one ? s->type % (kind == RMA_CAS ? 3 : PREDEFINED) : s->type % TYPES];
    struct rma_args a = {.kind = kind, .rank = s->rank, .disp = s->disp,
                         .tcount = one ? 1 : s->count, .ttype = t};
    if (kind != RMA_PUT && kind != RMA_GET && kind != RMA_CAS) {
        a.op = dt_op_find((MPI_Op)(0x58000000 | (int)(1 + s->op % (DT_OPS - 1))));
        if (dt_op_check(a.op, t, DT_FOR_ACC))
            a.op = dt_op_find(MPI_REPLACE);
        if (dt_op_check(a.op, t, DT_FOR_ACC))
            return;
    }
    if (kind != RMA_GET) {
        a.otype = t;
        a.ocount = a.tcount;
        if (!(a.origin = buffer_for(t, a.ocount)))
            return;
    }
    if (kind != RMA_PUT && kind != RMA_ACC) {
        a.rtype = t;
        a.rcount = a.tcount;
        if (!(a.result = buffer_for(t, a.rcount)))
            return;
    }
    if (kind == RMA_CAS && !(a.compare = buffer_for(t, 1)))
        return;
    if (s->what >= C_RPUT && world.reqs == REQUESTS)
        return;
    MPI_Request q = MPI_REQUEST_NULL;
    rma_op_begin(s->w, &a, s->what >= C_RPUT ? &q : NULL);
    if (q != MPI_REQUEST_NULL)
        world.req[world.reqs++] = q;
}

static void wait_request(unsigned i)
{
    struct request *q = obj_find(OBJ_REQUEST, world.req[i]);
    FUZZ_CHECK(q != NULL);
    request_wait(q);
    request_finish(q, MPI_STATUS_IGNORE);
    world.req[i] = world.req[--world.reqs];
}

/* What MPI_Win_free does when a member is dead, but that the window stays. */
static void leave(struct rma_win *w)
{
    if (!rma_in(w, SET_UNSET) || w->expo != EXPO_NONE)
        return;
    w->free.under_way = 1;
    rma_free_sync(w);
    w->free.under_way = 0;
}

static void synchronize(const struct step *s)
{
    struct rma_win *w = s->w;
    int flag;
    switch (s->what) {
    case C_LOCK: rma_lock(w, MPI_LOCK_SHARED, s->rank, 0); break;
    case C_LOCK_EXCL: rma_lock(w, MPI_LOCK_EXCLUSIVE, s->rank, 0); break;
    case C_LOCK_NOCHECK: rma_lock(w, MPI_LOCK_SHARED, s->rank, MPI_MODE_NOCHECK); break;
    case C_UNLOCK: rma_unlock(w, s->rank); break;
    case C_LOCK_ALL: rma_lock_all(w, 0); break;
    case C_LOCK_ALL_NOCHECK: rma_lock_all(w, MPI_MODE_NOCHECK); break;
    case C_UNLOCK_ALL: rma_unlock_all(w); break;
    case C_FLUSH: rma_flush(w, s->rank); break;
    case C_FLUSH_ALL: rma_flush_all(w); break;
    case C_FLUSH_LOCAL: rma_flush_local(w, s->rank); break;
    case C_FENCE: rma_fence(w, 0); break;
    case C_FENCE_OPEN: rma_fence(w, MPI_MODE_NOPRECEDE); break;
    case C_FENCE_CLOSE: rma_fence(w, MPI_MODE_NOSUCCEED); break;
    case C_POST: rma_post(w, world.group, 0); break;
    case C_START: rma_start(w, world.group, 0); break;
    case C_START_NOCHECK: rma_start(w, world.group, MPI_MODE_NOCHECK); break;
    case C_COMPLETE: rma_complete(w); break;
    case C_WAIT: rma_wait(w); break;
    case C_TEST: rma_test(w, &flag); break;
    case C_WAIT_REQ:
        if (world.reqs)
            wait_request((unsigned)s->disp % world.reqs);
        break;
    case C_DETACH: rma_win_detach(world.w[DYNAMIC], world.region[1].mem); break;
    case C_ATTACH: rma_win_attach(world.w[DYNAMIC], world.region[1].mem, 64); break;
    case C_LEAVE: leave(s->w); break;
    default: break;
    }
}

static void step_run(void *arg)
{
    const struct step *s = arg;
    if (s->what < C_LOCK)
        operate(s);
    else
        synchronize(s);
}

/* a: call; b: window, target; c: type, operation; data: displacement (2 bytes), count. */
static void run_call(const struct record *r)
{
    struct step *s = malloc(sizeof *s);
    uint8_t d[4];
    FUZZ_CHECK(s != NULL);
    feed_copy(d, sizeof d, r->data, r->data + r->len);
    *s = (struct step){.what = call_nth(r->a),
                       .w = world.w[r->b % WINDOWS],
                       .rank = r->b >> 4 & 3,
                       .type = r->c & 15,
                       .op = (unsigned)(r->c >> 4) ^ d[3],
                       .disp = d[0] | (d[1] & 0x7f) << 8,
                       .count = d[2]};
    if (s->w == world.w[DYNAMIC] && s->what < C_LOCK)
        s->disp = (int64_t)dynamic_base((uint64_t)s->disp);
    lone_call(call_name[s->what], step_run, s);
    lone_turn();
}

/* Close whatever is open: the others are dead, so it ends. */
static void close_epochs(void *arg)
{
    (void)arg;
    while (world.reqs)
        wait_request(0);
    for (int i = 0; i < WINDOWS; i++) {
        struct rma_win *w = world.w[i];
        if (w->expo != EXPO_NONE)
            rma_wait(w);
        if (rma_in(w, SET_PSCW))
            rma_complete(w);
        else if (rma_in(w, SET_LOCK_ALL))
            rma_unlock_all(w);
        for (int rank = 0; rank < LONE_RANKS && rma_in(w, SET_PER_TARGET); rank++)
            rma_unlock(w, rank);
        FUZZ_CHECK(!rma_in(w, SET_PER_TARGET)); /* evicted or not, each lock was known */
        if (rma_in(w, SET_FENCE))
            rma_fence(w, MPI_MODE_NOSUCCEED);
        if (rma_in(w, SET_UNSET))
            FUZZ_CHECK(!w->table.nops && !w->table.ntargets);
        FUZZ_CHECK(!w->table.nops);
    }
}

/* --- an honest peer --------------------------------------------------------------------------- */

static const struct rma_hdr *honest_ask(struct rma_win *w, enum rma_packet type, uint64_t disp,
                                        const void *data, size_t len)
{
    static uint32_t token;
    char m[sizeof(struct rma_hdr) + 8];
    struct rma_hdr h = {.type = (uint8_t)type, .flags = RMA_F_DONE, .win = w->id,
                        .src = LONE_HONEST, .dt = MPI_BYTE, .disp = disp,
                        .count = type == RMA_PKT_DONE ? 0 : 8, .len = (uint32_t)len,
                        .token = ++token, .op = 9};
    memcpy(m, &h, sizeof h);
    if (len)
        memcpy(m + sizeof h, data, len);
    lone_discard();
    lone_deliver(LONE_HONEST, TP_REQUEST, AM_RMA + (int)type, m, sizeof h + len);
    progress_poll();
    struct lone_sent *s = lone_last(LONE_HONEST, TP_REPLY,
                                    AM_RMA + (type == RMA_PKT_GET ? RMA_PKT_DATA : RMA_PKT_ACK));
    FUZZ_CHECK(s != NULL);
    const struct rma_hdr *a = (const struct rma_hdr *)s->bytes;
    FUZZ_CHECK(a->token == h.token && a->flags & RMA_F_SIGNALED && a->win == w->id);
    return a;
}

static void honest(void)
{
    const char v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    progress_poll();
    for (int i = 0; i < WINDOWS; i++) {
        struct rma_win *w = world.w[i];
        uint64_t disp = i == DYNAMIC ? dynamic_base(16) : 3;
        FUZZ_CHECK(honest_ask(w, RMA_PKT_DONE, 0, NULL, 0)->aop == 0);
        FUZZ_CHECK(honest_ask(w, RMA_PKT_PUT, disp, v, 8)->aop == 0);
        const struct rma_hdr *a = honest_ask(w, RMA_PKT_GET, disp, NULL, 0);
        FUZZ_CHECK(a->aop == 0 && a->len == 8 && !memcmp(a + 1, v, 8));
    }
}

/* --- one input -------------------------------------------------------------------------------- */

static const struct lone_target target = {
    .up = up, .packet = run_packet, .answer = run_answer, .serve = serve,
    .call = run_call, .check = check, .honest = honest, .finish = close_epochs, .down = down,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return lone_input(&target, data, size);
}

/* --- new records ------------------------------------------------------------------------------ */

static uint32_t some_type(struct rng *r)
{
    static const uint32_t t[] = {MPI_BYTE,
                                 MPI_LONG,
                                 MPI_INT,
                                 MPI_DOUBLE,
                                 MPI_SHORT,
                                 MPI_DOUBLE_INT,
                                 MPI_LONG_DOUBLE_INT,
                                 MPI_C_DOUBLE_COMPLEX,
                                 MPI_LONG_DOUBLE,
                                 MPI_SHORT_INT,
                                 MPI_2INT,
                                 MPI_C_BOOL,
                                 MPI_CHAR,
                                 MPI_UINT8_T,
                                 MPI_AINT,
                                 MPI_PACKED,
                                 MPI_FLOAT_INT};
    return t[rng_below(r, rng_below(r, 2) ? 3 : sizeof t / sizeof *t)];
}

static unsigned some_bytes(uint32_t dt) /* without asking the library, which may not be up */
{
    return dt == (uint32_t)MPI_DOUBLE_INT        ? 12
           : dt == (uint32_t)MPI_FLOAT_INT       ? 8
           : dt == (uint32_t)MPI_LONG_DOUBLE_INT ? 20
                                                 : dt >> 8 & 0xff;
}

static size_t some_flat(struct rng *r, uint32_t dt, char *out)
{
    int64_t w[24];
    size_t n = 0;
    unsigned e = some_bytes(dt), nodes = 1 + rng_below(r, 3);
    e = e ? e : 4;
    w[n++] = (int64_t)(0x57d7 | nodes << 16);
    w[n++] = 0;
    w[n++] = (int64_t)(e * (1 + rng_below(r, 8)));
    w[n++] = rng_below(r, 4) ? 0 : (int64_t)(8 * rng_below(r, 8));
    w[n++] = rng_below(r, 4) ? (int64_t)dt : 0;
    w[n++] = 0; /* a block */
    w[n++] = (int64_t)(e * (1 + rng_below(r, 3)));
    for (unsigned i = 1; i < nodes; i++) {
        unsigned kind = 1 + rng_below(r, 2), k = 2 + rng_below(r, 3);
        w[n++] = (int64_t)(kind | (i - 1) << 8);
        w[n++] = k;
        if (kind == 1)
            w[n++] = (int64_t)(e * (1 + rng_below(r, 9)));
        else
            for (unsigned j = 0; j < k && n < 22; j++)
                w[n++] = (int64_t)(e * j * 2);
    }
    memcpy(out, w, n * 8);
    return n * 8;
}

/* Header and payload of something an origin might send. */
static size_t some_op(struct rng *r, unsigned type, char *out, unsigned flags)
{
    struct rma_hdr h = {.type = (uint8_t)type, .win = rng_below(r, WINDOWS), .dt = some_type(r),
                        .disp = rng_below(r, 3) ? rng_below(r, 24) : rng_edge(r),
                        .op = 1 + rng_below(r, 8), .token = rng_below(r, 4),
                        .count = 1 + rng_below(r, 4), .flags = (uint16_t)flags};
    size_t at = sizeof h, data, e = some_bytes(h.dt);
    h.aop = (uint8_t)(1 + rng_below(r, DT_OPS));
    if (type == RMA_PKT_CAS)
        h.count = 1;
    data = h.count * e;
    if (type <= RMA_PKT_GACC && rng_below(r, 2)) {
        struct rma_ext x = {.count = 1 + rng_below(r, 3), .want = 8u * (1 + rng_below(r, 4))};
        size_t more = 0;
        h.flags |= RMA_F_EXT;
        if (rng_below(r, 3) == 0) {
            x.offset = 8 * rng_below(r, 3);
        } else if (rng_below(r, 2)) {
            more = some_flat(r, h.dt, out + at + sizeof x);
            x.flat_len = (uint32_t)more;
        } else {
            x.nruns = 1 + rng_below(r, 3);
            for (unsigned i = 0; i < x.nruns; i++, more += 16) {
                struct rma_run run = {8 * (int64_t)rng_below(r, 20),
                                      e ? e * (1 + rng_below(r, 2)) : 8};
                memcpy(out + at + sizeof x + more, &run, sizeof run);
                x.want = (i ? x.want : 0) + run.len;
            }
        }
        memcpy(out + at, &x, sizeof x);
        at += sizeof x + more;
        data = x.want;
    }
    if (type == RMA_PKT_PULL) {
        struct rma_pull_data f = {.count = 4 + rng_below(r, 30), .key = rng_below(r, 4) ? 8 : 0,
                                   .result = rng_below(r, 2) ? 8 : 0, .transport = "fuzz"};
        if (rng_below(r, 3) == 0) { /* a put or a get, mostly */
            h.aop = 0;
            f.result = f.key && rng_below(r, 8) ? 0 : 8;
        }
        memcpy(out + at, &f, sizeof f);
        at += sizeof f;
        for (unsigned i = 0; i < f.key + f.result; i++) /* their first bytes decide how it ends */
            out[at++] = (char)(i % 8 || rng_below(r, 2) ? 0 : rng_below(r, 8));
    }
    if (type == RMA_PKT_GET || type > RMA_PKT_CAS || (type == RMA_PKT_GACC && h.aop == DT_NO_OP))
        data = 0;
    if (type == RMA_PKT_CAS)
        data *= 2;
    if (data > 200)
        data = 200;
    memset(out + at, (int)rng_below(r, 3), data);
    at += data;
    h.len = (uint32_t)(at - sizeof h);
    memcpy(out, &h, sizeof h);
    return at;
}

/* Operations that are alike, some of them out of range; now and then a header that disagrees. */
static size_t some_coalesced(struct rng *r, char *out, unsigned flags)
{
    struct rma_hdr h = {.type = RMA_PKT_COALESCED, .win = rng_below(r, WINDOWS), .dt = some_type(r),
                        .disp = 1 + rng_below(r, 3), .token = rng_below(r, 4),
                        .count = 1 + rng_below(r, 6), .flags = (uint16_t)flags,
                        .aop = (uint8_t)(rng_below(r, 2) ? rng_below(r, DT_OPS + 1) : 0)};
    size_t at = sizeof h, step = sizeof(uint64_t) + rma_pad((size_t)h.disp * some_bytes(h.dt));
    for (unsigned i = 0; i < h.count; i++, at += step) {
        uint64_t disp = rng_below(r, 4) ? rng_below(r, 24) : rng_edge(r);
        memset(out + at, (int)rng_below(r, 3), step);
        memcpy(out + at, &disp, sizeof disp);
    }
    h.len = (uint32_t)(at - sizeof h);
    if (rng_below(r, 8) == 0)
        h.count = (uint32_t)rng_edge(r);
    if (rng_below(r, 8) == 0)
        h.disp = rng_edge(r);
    memcpy(out, &h, sizeof h);
    return at;
}

static unsigned some_flags(struct rng *r)
{
    static const unsigned f[] = {0,
                                 0,
                                 RMA_F_DONE,
                                 RMA_F_UNLOCK,
                                 RMA_F_SHARED,
                                 RMA_F_EXCLUSIVE,
                                 RMA_F_SHARED | RMA_F_UNLOCK,
                                 RMA_F_EXCLUSIVE | RMA_F_UNLOCK,
                                 RMA_F_SHARED | RMA_F_JOIN,
                                 RMA_F_COMPLETE,
                                 RMA_F_ACK,
                                 RMA_F_COMPLETE | RMA_F_DONE,
                                 RMA_F_SHARED | RMA_F_STAMP,
                                 RMA_F_SHARED | RMA_F_DONE};
    return rng_below(r, 8) ? f[rng_below(r, sizeof f / sizeof *f)] : (unsigned)rng_edge(r);
}

static size_t some_packet(struct rng *r, uint8_t *to)
{
    char m[2048] = {0};
    unsigned nth = rng_below(r, RMA_PKTS), type = packet_of[nth], src = rng_below(r, 2);
    size_t len;
    if (type == RMA_PKT_BATCH) {
        struct rma_hdr h = {.type = RMA_PKT_BATCH, .win = rng_below(r, WINDOWS),
                            .flags = (uint16_t)some_flags(r), .count = 1 + rng_below(r, 5)};
        len = sizeof h;
        for (unsigned i = 0; i < h.count; i++) {
            unsigned f = i + 1 == h.count ? some_flags(r) & ~(unsigned)RMA_F_LOCK : 0;
            size_t n = len < 1024 && rng_below(r, 4) == 0 ? some_coalesced(r, m + len, f)
                                                          : some_op(r, rng_below(r, 5), m + len, f);
            ((struct rma_hdr *)(m + len))->win = h.win;
            len += sizeof h + rma_pad(n - sizeof h);
        }
        h.len = (uint32_t)(len - sizeof h);
        memcpy(m, &h, sizeof h);
    } else if (type == RMA_PKT_COALESCED) {
        len = some_coalesced(r, m, some_flags(r));
    } else {
        len = some_op(r, type, m, some_flags(r));
    }
    return record_put(to, LONE_PACKET, number_of(nth), src | (rng_below(r, 16) ? 0 : 2),
                      rng_below(r, 16) ? 15 : rng_below(r, 16), m, len);
}

/* A piece or a bundle of a near process. */
static size_t some_delegated(struct rng *r, uint8_t *to)
{
    static const uint8_t how[] = {RMA_COPY_IN, RMA_COPY_OUT, RMA_COPY_MANY, RMA_COPY_MANY};
    char m[400] = {0};
    struct rma_delegated q = {.type = RMA_PKT_DELEGATE, .aop = how[rng_below(r, 4)],
                              .slot = (uint16_t)rng_below(r, 10), .win = rng_below(r, WINDOWS),
                              .number = 1 + rng_below(r, 5), .disp = rng_below(r, 60)};
    size_t len = sizeof q;
    if (q.aop == RMA_COPY_MANY)
        q.bundle = rng_below(r, 8) ? 1 + rng_below(r, 9) : rng_edge(r);
    else
        q.len = rng_below(r, 8) ? 1 + rng_below(r, 40) : rng_edge(r);
    for (unsigned i = 0; i < 5 && q.aop == RMA_COPY_MANY; i++) {
        struct rma_bundled e = {.at = rng_below(r, 16) ? rng_below(r, 60) : rng_edge(r),
                                .len = rng_below(r, 16) ? 1 + rng_below(r, 30)
                                                        : (uint32_t)rng_edge(r),
                                .get = rng_below(r, 2)};
        memcpy(m + len, &e, sizeof e);
        len += sizeof e + (e.len < 40 ? rma_pad(e.len) : 0);
    }
    memcpy(m, &q, sizeof q);
    unsigned fix = FIX_SRC | FIX_BASE | FIX_BOX | (rng_below(r, 8) ? 0u : FIX_BACK);
    return record_put(to, LONE_PACKET, number_of(18), 0, fix, m, len + (len == sizeof q));
}

static size_t some_call(struct rng *r, uint8_t *to)
{
    const uint8_t d[4] = {(uint8_t)rng_below(r, 24), 0,
                          (uint8_t)(1 + rng_below(r, rng_below(r, 4) ? 4 : 200)),
                          (uint8_t)rng_below(r, 16)};
    unsigned rank = rng_below(r, 8) ? 1 + rng_below(r, 3) : 0;
    unsigned what = rng_below(r, CALLS);
    return record_put(to, LONE_CALL, what == C_LEAVE ? (unsigned)LAST_CALL : what,
                      rng_below(r, WINDOWS) | rank << 4, rng_below(r, 256), d, sizeof d);
}

size_t fuzz_template(struct rng *r, uint8_t *to, size_t room)
{
    (void)room;
    uint8_t d[8];
    switch (rng_below(r, 13)) {
    case 0:
    case 1:
    case 2: return some_call(r, to);
    case 12: return some_delegated(r, to);
    case 3:
        for (size_t i = 0; i < sizeof d; i++)
            d[i] = (uint8_t)(i & 1 ? rng_edge(r) : rng_below(r, 44));
        return record_put(to, LONE_ANSWER, rng_below(r, 4), rng_below(r, 4), rng_below(r, 4), d,
                          2 * rng_below(r, 5));
    case 4: return record_put(to, LONE_SERVE, 0, 0, 0, NULL, 0);
    case 5:
        return record_put(to, rng_below(r, 4) ? LONE_SERVE : LONE_REFUSE, rng_below(r, 2), 0, 0,
                          NULL, 0);
    case 6:
        return rng_below(r, 8) ? some_packet(r, to)
                               : record_put(to, LONE_DEATH, rng_below(r, 2), 0, 0, NULL, 0);
    default: return some_packet(r, to);
    }
}
