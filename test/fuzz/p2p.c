/* p2p.c - target "p2p": messages of a hostile peer while this process receives, sends, probes and
 * cancels. After each input: buffers are untouched around, an honest message arrives, and every
 * call and request ends when the others die. */
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "coll/agree.h"
#include "dt/make.h"
#include "lone.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

const size_t fuzz_settings = 3;

enum { BUFFERS = 24, TYPES = 6, HONEST_TAG = 32000, HONEST_BYTES = 40 };

/* A request of this process with its buffer; handles are of no interest here. */
struct slot {
    struct request *r;
    struct guarded g;
    int persistent;
};

static struct world {
    struct slot slot[BUFFERS];
    struct request *message[4]; /* of Mprobe */
    unsigned messages;
    struct dt_type *type[TYPES];
    struct guarded attached;
    struct mem_segment *words; /* the claim words of the peers; NULL: they are far */
    uint32_t honest_seq;
    struct lone_knobs k;
} world;

static const size_t sizes[] = {0, 1, 8, 40, 400, 900, 3000, 9000, 20000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* --- set-up ----------------------------------------------------------------------------------- */

static void up(const uint8_t *s)
{
    static const int longest[] = {4096, 512, 16384, 1024};
    memset(&world, 0, sizeof world);
    lone_defaults();
    world.k = (struct lone_knobs){.ordered = !(s[0] & 1), .near = s[0] >> 1 & 1,
                                  .am_max = longest[s[0] >> 2 & 3], .replies = s[0] & 16 ? 12 : 64,
                                  .native = s[1] >> 1 & 1};
    cvar.p2p_eager_max = s[0] & 32 ? 64 : 2000;
    cvar.p2p_eager_window = s[0] & 64 ? 1000 : 8000;
    cvar.p2p_cma_min = s[1] & 1 ? 0 : 1 << 20;
    cvar.p2p_prepost = 2;
    cvar.p2p_prepost_min = 40;
    lone_up(&world.k);
    proc->obj->ctx_refused = NULL; /* the calls are below api/, and stay on MPI_COMM_WORLD */
    struct dt_type **t = world.type;
    static const int64_t at[] = {0, 40, 16};
    static const int64_t lens[] = {8, 8, 16};
    t[0] = t[1] = dt_find(MPI_BYTE);
    t[2] = dt_find(MPI_LONG);
    FUZZ_CHECK(!dt_make_vector(5, 1, 3, t[0], &t[3]) &&
               !dt_make_indexed_b(3, lens, 0, at, t[0], &t[4]));
    FUZZ_CHECK(!dt_make_vector(4, 300, 400, t[0], &t[5]));
    guarded_make(&world.attached, 2000);
    FUZZ_CHECK(!world.k.near ||
               !mem_segment_create(P2P_OFFERS * sizeof(struct p2p_word), 0, &world.words));
    FUZZ_CHECK(!p2p_buffer_attach(NULL, world.attached.mem, 2000));
}

static void check(void);

static void down(void)
{
    check();
    for (int i = 3; i < TYPES; i++)
        dt_drop(world.type[i]);
    if (world.words)
        mem_segment_drop(world.words);
    lone_down();
    guarded_free(&world.attached);
    for (int i = 0; i < BUFFERS; i++)
        guarded_free(&world.slot[i].g);
}

static unsigned count(const struct list *head)
{
    unsigned n = 0;
    for (const struct list *l = head->next; l != head; l = l->next)
        n++;
    return n;
}

static void check(void)
{
    struct p2p *s = proc->p2p;
    unsigned posted = 0, kinds = 0, unex[P2P_KEYS] = {0};
    for (int i = 0; i < P2P_BINS; i++)
        posted += count(&s->posted[i]);
    for (int k = 0; k < P2P_KEYS; k++) {
        kinds += s->posted_kind[k];
        for (int i = 0; i < P2P_UNEX_BINS; i++)
            unex[k] += count(&s->unex[k][i]);
        FUZZ_CHECK(unex[k] == s->unexpected); /* P2 */
    }
    FUZZ_CHECK(posted == kinds); /* P1 */
    for (int r = 1; r < LONE_RANKS; r++) {
        const struct p2p_peer *p = map_get(&s->peers, (uint64_t)r);
        FUZZ_CHECK(!p || p->eager_out <= (size_t)cvar.p2p_eager_window); /* P5 */
        FUZZ_CHECK(!p || list_empty(&p->pending) == list_empty(&p->busy)); /* P4 */
    }
}

/* --- packets ---------------------------------------------------------------------------------- */

static size_t header_of(int type)
{
    switch (type) {
    case P2P_EAGER:
    case P2P_EAGER_MORE: return sizeof(struct p2p_match);
    case P2P_EAGER_SYNC: return sizeof(struct p2p_eager_sync);
    case P2P_EAGER_FIRST: return sizeof(struct p2p_eager_first);
    case P2P_RTS: return sizeof(struct p2p_rts);
    case P2P_PREPOST: return sizeof(struct p2p_prepost);
    default: return SIZE_MAX;
    }
}

/* A peer names memory of its own, and its words: both are this process's here. A peer of another
 * node names a key of its memory, of `key` bytes. */
static void offered(char *msg, int src, unsigned how, size_t key)
{
    struct p2p_prepost m;
    memcpy(&m, msg, sizeof m);
    m.addr = (uintptr_t)world.attached.mem;
    m.size %= 2001;
    m.key = (uint32_t)key;
    if (world.words)
        mem_segment_key(world.words, &m.words);
    const struct p2p_peer *p = peer_get(src);
    if (how & 1 && p)
        m.seen += p->seq_out;
    if (how & 2 && p && p->wants)
        m.gen = p->wants->gen;
    struct p2p_word *word = world.words ? world.words->base : NULL;
    if (word && m.slot < P2P_OFFERS && how & 4)
        atomic_store(&word[m.slot].w, word_make(m.version, WORD_OPEN, 0));
    memcpy(msg, &m, sizeof m);
}

/* The high bits of b: the packet is one of revocations or agreements, whatever a is. */
enum { REVOKES = 14, AGREES = 15 };

/* a: type; b: source, class; c: 1: the number is counted from the one that is due, 2: addresses are
 * in our memory. */
static void run_packet(const struct record *r)
{
    int src = 1 + (r->b & 1), type = P2P_EAGER + r->a % (P2P_PACKETS_END - P2P_EAGER);
    int reply = (type == P2P_DATA) ^ ((r->b & 14) == 14);
    if (r->b >> 4 == AGREES)
        type = AM_COLL + COLL_PKT_AGREE;
    if (r->b >> 4 == REVOKES)
        type = AM_COLL + COLL_PKT_REVOKE;
    size_t head = header_of(type);
    char *m = malloc(r->len + 1);
    FUZZ_CHECK(m != NULL);
    memcpy(m, r->data, r->len);
    if (r->len >= head && type != P2P_PREPOST) {
        struct p2p_match h;
        memcpy(&h, m, sizeof h);
        struct p2p_peer *p = peer_get(src);
        FUZZ_CHECK(p != NULL);
        if (r->c & 1)
            h.seq += p->seq_in;
        if (h.tag == HONEST_TAG)
            h.tag++;
        memcpy(m, &h, sizeof h);
    }
    if (type == P2P_RTS && r->c & 2)
        for (size_t at = head; at + sizeof(struct p2p_run) <= r->len;
             at += sizeof(struct p2p_run)) {
            struct p2p_run run;
            memcpy(&run, m + at, sizeof run);
            run.addr += (uintptr_t)world.attached.mem;
            memcpy(m + at, &run, sizeof run);
        }
    if (type == AM_COLL + COLL_PKT_REVOKE && r->len >= sizeof(uint64_t))
        m[0] |= CTX_STEP; /* not of MPI_COMM_WORLD */
    if (type == P2P_PREPOST && r->len >= head && (world.words || world.k.native))
        offered(m, src, r->c, r->len - head);
    lone_deliver(src, reply ? TP_REPLY : TP_REQUEST, type, m, r->len);
    free(m);
}

/* --- answers that fit ------------------------------------------------------------------------- */

static _Alignas(8) char out[20000];

static void send_out(int src, int type, size_t len, const uint8_t *change, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (change[i] < 48 && change[i] < len)
            out[change[i]] = (char)(out[change[i]] + change[i + 1]);
        else if (change[i] == 0xff && len > change[i + 1])
            len -= change[i + 1];
        else if (change[i] == 0xfe)
            len += change[i + 1];
    }
    lone_deliver(src, type == P2P_DATA ? TP_REPLY : TP_REQUEST, type, out, len);
}

/* Claims an offered receive for message 9, and reports that: at once, or behind its RTS. */
static void answer_offer(const struct p2p_prepost *m, unsigned variant, int src,
                         const uint8_t *change, size_t n)
{
    struct p2p_rts h = {.m = {m->ctx, m->src, m->tag == MPI_ANY_TAG ? 1 : m->tag, 9},
                        .sreq = 7, .size = variant % 4 ? m->size : m->size + 1};
    if (variant % 8 != 7)
        atomic_store(&proc->p2p->offers->word[m->slot].w,
                     word_make(m->version, WORD_CLAIMED, variant % 8 == 5 ? 8 : 9));
    if (variant & 1)
        h.flags = P2P_RTS_WRITTEN;
    if (variant & 1 && variant % 8 != 5) /* it names the receive */
        h.sreq = m->rreq;
    memcpy(out, &h, sizeof h);
    send_out(src, P2P_RTS, sizeof h, change, n);
    struct p2p_written w = {m->rreq, 7, variant / 8 % 2};
    memcpy(out, &w, sizeof w);
    send_out(src, P2P_WRITTEN, sizeof w, NULL, 0);
}

/* From another node: puts of message 9, and that they are there. */
static void answer_far(const struct p2p_prepost *m, unsigned variant, int src,
                       const uint8_t *change, size_t n)
{
    struct {
        struct p2p_rts h;
        uint64_t rreq;
    } x = {{.m = {m->ctx, m->src, m->tag == MPI_ANY_TAG ? 1 : m->tag, 9},
            .sreq = 7, .size = variant % 4 ? m->size : m->size + 1,
            .key = sizeof x.rreq, .flags = P2P_RTS_WRITING},
           variant % 8 == 5 ? m->rreq + 1 : m->rreq};
    memcpy(out, &x, sizeof x);
    send_out(src, P2P_RTS, sizeof x, change, n);
    struct p2p_written w = {m->rreq, 7, variant / 8 % 2};
    memcpy(out, &w, sizeof w);
    if (variant % 8 != 7)
        send_out(src, P2P_WRITTEN, sizeof w, NULL, 0);
}

/* What a receiver or sender answers to s. `variant` picks where several answers are right. */
static void answer(struct lone_sent *s, unsigned variant, int src, const uint8_t *change, size_t n)
{
    memset(out, 0x44, sizeof out);
    if (s->type == P2P_EAGER || s->type == P2P_EAGER_MORE || s->type == P2P_EAGER_FIRST) {
        struct p2p_ack a = {.bytes = s->len - sizeof(struct p2p_match) +
                                     (s->type == P2P_EAGER ? P2P_CHARGE : 0),
                            .seq = ((struct p2p_match *)s->bytes)->seq + 1};
        memcpy(out, &a, sizeof a);
        if (s->type != P2P_EAGER_FIRST)
            send_out(src, P2P_ACK, sizeof(struct p2p_ack), change, n);
    } else if (s->type == P2P_EAGER_SYNC || (s->type == P2P_RTS && variant % 4 == 0)) {
        uint64_t sreq = ((struct p2p_eager_sync *)s->bytes)->sreq;
        memcpy(out, &(struct p2p_fin){sreq}, sizeof(struct p2p_fin));
        send_out(src, P2P_FIN, sizeof(struct p2p_fin), change, n);
    } else if (s->type == P2P_RTS) {
        struct p2p_rts h;
        memcpy(&h, s->bytes, sizeof h);
        uint32_t segment = (uint32_t)world.k.am_max - 8 - (uint32_t)sizeof(struct p2p_data);
        uint64_t window = (uint64_t)segment * P2P_PULL_SEGMENTS;
        for (uint64_t off = 0; off < h.size && off < 4 * window; off += window) {
            struct p2p_pull m = {
                h.sreq, 5, off, h.size, (uint32_t)(h.size - off < window ? h.size - off : window),
                segment};
            memcpy(out, &m, sizeof m);
            send_out(src, P2P_PULL, sizeof m, change, n);
        }
    } else if (s->type == P2P_PULL) {
        struct p2p_pull m;
        memcpy(&m, s->bytes, sizeof m);
        for (uint32_t off = 0; off < m.len && m.segment; off += m.segment) {
            size_t part = m.len - off < m.segment ? m.len - off : m.segment;
            memcpy(out, &(struct p2p_data){m.rreq, m.off + off}, sizeof(struct p2p_data));
            send_out(src, P2P_DATA, sizeof(struct p2p_data) + part, change, n);
        }
    } else if (s->type == P2P_FORGET) {
        struct p2p_void m = {.gen = variant / 2, .seq = 1, .never = variant % 8 == 6};
        memcpy(out, &m, sizeof m);
        send_out(src, P2P_VOID, sizeof m, change, n);
    } else if (s->type == P2P_PREPOST) {
        const struct p2p_prepost *m = (struct p2p_prepost *)s->bytes;
        (m->key ? answer_far : answer_offer)(m, variant, src, change, n);
    } else if (s->type == P2P_WRITTEN) { /* of data that could not be put */
        struct p2p_written m;
        memcpy(&m, s->bytes, sizeof m);
        memcpy(out, &(struct p2p_pull){m.sreq, m.rreq, 0, 40, 40, 40}, sizeof(struct p2p_pull));
        send_out(src, P2P_PULL, sizeof(struct p2p_pull), change, n);
    } else if (s->type == P2P_CANCEL) {
        struct p2p_cancel m;
        memcpy(&m, s->bytes, sizeof m);
        m.done = (uint8_t)(variant & 1);
        memcpy(out, &m, sizeof m);
        send_out(src, P2P_CANCELLED, sizeof m, change, n);
    }
}

static void refuse(const struct lone_sent *s, int src, const uint8_t *change, size_t n)
{
    uint64_t sreq = s->type == P2P_RTS ? ((const struct p2p_rts *)s->bytes)->sreq
                                       : ((const struct p2p_eager_sync *)s->bytes)->sreq;
    memcpy(out, &(struct p2p_fin){sreq}, sizeof(struct p2p_fin));
    send_out(src, P2P_REFUSED, sizeof(struct p2p_fin), change, n);
}

static int is_request(const struct lone_sent *s)
{
    return s->cls == TP_REQUEST && s->type >= P2P_EAGER && s->type < P2P_PACKETS_END;
}

static void run_answer(const struct record *r)
{
    struct lone_sent *s;
    unsigned left = r->a % 16;
    for (unsigned i = 0; (s = lone_sent_back(i)) != NULL; i++)
        if (is_request(s) && !left--)
            break;
    struct lone_sent copy; /* the answer may bring out more */
    if (s && s->dst) {
        copy = *s;
        int src = r->b & 1 ? 1 + (r->b >> 1 & 1) : s->dst;
        if (r->c % 16 == 15 && (s->type == P2P_RTS || s->type == P2P_EAGER_SYNC))
            refuse(&copy, src, r->data, r->len);
        else
            answer(&copy, r->c, src, r->data, r->len);
    }
}

static void serve(void)
{
    struct lone_sent *s, copy;
    for (unsigned i = LONE_SENT; i-- > 0;) {
        if (!(s = lone_sent_back(i)) || !is_request(s) || s->served || !s->dst)
            continue;
        s->served = 1;
        copy = *s;
        answer(&copy, 1, copy.dst, NULL, 0);
    }
}

/* --- calls of this process -------------------------------------------------------------------- */

enum call {
    C_RECV,
    C_RECV_ANY,
    C_SEND,
    C_SSEND,
    C_BSEND,
    C_PERSISTENT,
    C_CANCEL,
    C_FINISH,
    C_IPROBE,
    C_MPROBE,
    C_MRECV,
    C_DROP,
    C_SENDRECV,
    CALLS
};
static const char *const call_name[CALLS] = {
    "irecv",  "irecv(any)", "isend",  "issend", "ibsend", "persistent", "cancel",
    "finish", "iprobe",     "mprobe", "mrecv",  "drop",   "isendrecv"};

struct step {
    enum call what;
    int rank, tag, index;
    unsigned type, size;
};

static struct slot *free_slot(void)
{
    for (int i = 0; i < BUFFERS; i++)
        if (!world.slot[i].r && !world.slot[i].g.all)
            return &world.slot[i];
    return NULL;
}

/* A buffer for about `bytes` of the type, exactly as long as it must be; *n: how many. */
static void *buffer_for(struct slot *s, const struct dt_type *t, size_t bytes, MPI_Aint *n)
{
    int64_t lo, hi;
    *n = (MPI_Aint)((bytes + (size_t)t->size - 1) / (size_t)t->size);
    FUZZ_CHECK(!dt_bounds(t, (size_t)*n, &lo, &hi));
    guarded_make(&s->g, (size_t)(hi - lo));
    return s->g.mem - lo;
}

static void begin(const struct step *x)
{
    struct comm *c = proc->obj->world;
    struct slot *s = free_slot();
    struct dt_type *t = world.type[x->type % TYPES];
    MPI_Aint n;
    /* A receive from any source, when the others are dead, waits for a message of its own. */
    if (!s || (x->what == C_RECV_ANY && boot_failed_count()))
        return;
    void *b = buffer_for(s, t, sizes[x->size % SIZES], &n);
    int any = x->what == C_RECV_ANY, flags = x->what == C_SSEND   ? P2P_SYNC
                                             : x->what == C_BSEND ? P2P_BUFFERED
                                                                  : P2P_STANDARD;
    if (x->what == C_RECV || any)
        p2p_irecv(b, n, t, any ? MPI_ANY_SOURCE : x->rank, any && x->tag & 1 ? MPI_ANY_TAG : x->tag,
                  c, 0, &s->r);
    else if (x->what == C_SENDRECV)
        p2p_isendrecv(b, n, t, x->rank, x->tag, NULL, 0, t, x->rank, x->tag, c, x->index & 1,
                      NULL, &s->r);
    else if (x->what == C_PERSISTENT && x->index & 1)
        p2p_recv_init(b, n, t, x->rank, x->tag, c, 0, &s->r);
    else if (x->what == C_PERSISTENT)
        p2p_send_init(b, n, t, x->rank, x->tag, c, flags, &s->r);
    else
        p2p_isend(b, n, t, x->rank, x->tag, c, flags, &s->r);
    if (x->what == C_PERSISTENT && s->r) {
        s->persistent = 1;
        request_start(s->r);
    }
}

static void forget(struct slot *s)
{
    guarded_free(&s->g);
    *s = (struct slot){0};
}

static void finish(struct slot *s)
{
    MPI_Status st;
    if (!s->r)
        return;
    request_wait(s->r);
    if (request_is_suspended(s->r)) { /* from any process: it waits for an acknowledgement */
        s->r->ops->cancel(s->r);
        request_wait(s->r);
    }
    request_finish(s->r, &st);
    if (s->persistent)
        request_release(s->r);
    forget(s);
}

static void message_take(struct request *m, const struct step *x)
{
    struct slot *s = free_slot();
    MPI_Aint n;
    if (!s) {
        request_release(m);
        return;
    }
    struct dt_type *t = world.type[x->type % TYPES];
    void *b = buffer_for(s, t, sizes[x->size % SIZES], &n);
    p2p_imrecv(b, n, t, m, &s->r);
}

static void step_run(void *arg)
{
    const struct step *x = arg;
    struct comm *c = proc->obj->world;
    struct slot *s = &world.slot[x->index % BUFFERS];
    struct request *m = NULL;
    MPI_Status st;
    int flag = 0, source = x->tag & 2 ? MPI_ANY_SOURCE : x->rank,
        tag = x->tag & 1 ? MPI_ANY_TAG : x->tag;
    switch (x->what) {
    case C_CANCEL:
        if (s->r)
            s->r->ops->cancel(s->r);
        break;
    case C_FINISH:
        finish(s);
        break;
    case C_IPROBE:
        p2p_probe(source, tag, c, &flag, NULL, &st);
        break;
    case C_MPROBE:
        if (world.messages < 4)
            p2p_probe(source, tag, c, &flag, &m, &st);
        if (flag && m)
            world.message[world.messages++] = m;
        break;
    case C_MRECV:
    case C_DROP:
        if (world.messages && x->what == C_MRECV)
            message_take(world.message[--world.messages], x);
        else if (world.messages)
            request_release(world.message[--world.messages]);
        break;
    default:
        begin(x);
    }
}

/* a: call; b: rank, type; c: size, flag; data: tag, index. */
static void run_call(const struct record *r)
{
    struct step *s = malloc(sizeof *s);
    uint8_t d[2];
    FUZZ_CHECK(s != NULL);
    feed_copy(d, sizeof d, r->data, r->data + r->len);
    *s = (struct step){.what = (enum call)(r->a % CALLS),
                       .rank = 1 + r->b % 3,
                       .type = r->b >> 4,
                       .size = r->c,
                       .tag = d[0] % 8,
                       .index = d[1]};
    lone_call(call_name[s->what], step_run, s);
    lone_turn();
}

/* --- an honest peer --------------------------------------------------------------------------- */

static void receive(void *arg)
{
    (void)arg;
    char b[HONEST_BYTES + 8] = {0};
    MPI_Status st;
    p2p_recv(b, sizeof b, dt_find(MPI_BYTE), LONE_HONEST, HONEST_TAG, proc->obj->world, P2P_TOOL,
             &st);
    FUZZ_CHECK(status_count(&st) == HONEST_BYTES && st.MPI_SOURCE == LONE_HONEST &&
               st.MPI_TAG == HONEST_TAG);
    for (int i = 0; i < HONEST_BYTES; i++)
        FUZZ_CHECK(b[i] == i);
}

static void honest(void)
{
    struct {
        struct p2p_match m;
        char data[HONEST_BYTES];
    } e = {.m = {proc->obj->world->ctx_recv | CTX_TOOL, LONE_HONEST, HONEST_TAG, 0}};
    lone_turn();
    if (!lone_idle())
        return; /* a call waits for what will not come */
    for (int i = 0; i < HONEST_BYTES; i++)
        e.data[i] = (char)i;
    lone_call("receive", receive, NULL);
    lone_turn();
    e.m.seq = world.honest_seq++;
    lone_deliver(LONE_HONEST, TP_REQUEST, P2P_EAGER, &e, sizeof e);
    lone_turn();
    FUZZ_CHECK(lone_idle());
}

/* --- one input -------------------------------------------------------------------------------- */

static void finish_all(void *arg)
{
    (void)arg;
    while (world.messages)
        request_release(world.message[--world.messages]);
    for (int i = 0; i < BUFFERS; i++)
        finish(&world.slot[i]);
    void *b;
    size_t n;
    p2p_buffer_detach(NULL, &b, &n);
    p2p_drain_wait();
    FUZZ_CHECK(list_empty(&proc->p2p->open) && list_empty(&proc->p2p->pulls) &&
               list_empty(&proc->p2p->busy));
}

static const struct lone_target target = {
    .up = up, .packet = run_packet, .answer = run_answer, .serve = serve,
    .call = run_call, .check = check, .honest = honest, .finish = finish_all, .down = down,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return lone_input(&target, data, size);
}

/* --- new records ------------------------------------------------------------------------------ */

static uint64_t some_wire_id(struct rng *r)
{
    return rng_below(r, 4) ? (uint64_t)(1 + rng_below(r, 4)) << 32 | (1 + rng_below(r, 6))
                           : rng_edge(r);
}

/* Of memory of a peer (lone.c): the name of the network, and how its puts and gets end. */
static size_t some_key(struct rng *r, char *to)
{
    enum { BYTES = 16 };
    memset(to, 0, BYTES);
    memcpy(to, "fuzz", rng_below(r, 16) ? 4 : 3);
    to[BYTES / 2] = (char)(rng_below(r, 2) ? rng_below(r, 8) : 0);
    return rng_below(r, 16) ? BYTES : rng_below(r, BYTES);
}

/* One of an agreement that this process has not entered. */
static size_t some_agreement(struct rng *r, uint8_t *to)
{
    struct agree_msg m = {.ctx = rng_below(r, 4), .number = rng_below(r, 4),
                          .step = rng_below(r, 8), .ballot = rng_below(r, 5)};
    uint32_t named = rng_below(r, 4);
    m.value.nfailed = rng_below(r, 8) ? named : (uint32_t)rng_edge(r);
    size_t len = offsetof(struct agree_msg, value.failed) + named * sizeof m.value.failed[0];
    return record_put(to, LONE_PACKET, 0, rng_below(r, 16) | AGREES << 4, 0, &m, len);
}

static size_t some_notice(struct rng *r, uint8_t *to)
{
    struct revoke_msg m = {.ctx = CTX_STEP * (1 + rng_below(r, 4)), .what = rng_below(r, 4)};
    m.other = rng_below(r, 4) ? m.ctx : CTX_STEP * rng_below(r, 5);
    return record_put(to, LONE_PACKET, 0, rng_below(r, 16) | REVOKES << 4, 0, &m, sizeof m);
}

static size_t some_packet(struct rng *r, uint8_t *to)
{
    _Alignas(8) char m[1200] = {0};
    int type = P2P_EAGER + (int)rng_below(r, P2P_PACKETS_END - P2P_EAGER);
    unsigned src = rng_below(r, 2);
    struct p2p_match h = {rng_below(r, 16) ? 0 : 4 * rng_below(r, 3), 1 + (int)src,
                          (int)rng_below(r, 8), 0};
    size_t len = header_of(type), data = rng_below(r, 4) ? rng_below(r, 60) : rng_below(r, 600);
    if (rng_below(r, 16) == 0)
        h.seq = (uint32_t)rng_edge(r);
    memcpy(m, &h, sizeof h);
    switch (type) {
    case P2P_EAGER:
    case P2P_EAGER_MORE: len += data; break;
    case P2P_EAGER_SYNC:
        ((struct p2p_eager_sync *)m)->sreq = some_wire_id(r);
        len += data;
        break;
    case P2P_EAGER_FIRST:
        ((struct p2p_eager_first *)m)->size = rng_below(r, 8) ? data + rng_below(r, 600)
                                                              : (uint32_t)rng_edge(r);
        ((struct p2p_eager_first *)m)->busy = rng_below(r, 2);
        len += data;
        break;
    case P2P_RTS: {
        struct p2p_rts *t = (struct p2p_rts *)m;
        t->sreq = some_wire_id(r);
        t->size = rng_below(r, 4) ? sizes[rng_below(r, SIZES)] : rng_edge(r);
        t->nruns = rng_below(r, 4);
        t->flags = (uint16_t)rng_below(r, 8) ? rng_below(r, 2) : rng_below(r, 16);
        if (t->flags & P2P_RTS_WRITING && rng_below(r, 8)) {
            t->nruns = 0;
            t->key = sizeof(uint64_t);
            *(uint64_t *)(m + len) = some_wire_id(r);
            len += sizeof(uint64_t);
        } else if (rng_below(r, 4) == 0) {
            t->nruns = 0;
            t->key = (uint16_t)some_key(r, m + len);
            len += t->key;
        }
        for (unsigned i = 0; i < t->nruns; i++, len += 16)
            *(struct p2p_run *)(m + len) = (struct p2p_run){
                rng_below(r, 8) ? rng_below(r, 500) : rng_edge(r),
                rng_below(r, 8) ? 1 + t->size / t->nruns : rng_edge(r)};
        break;
    }
    case P2P_FIN:
    case P2P_ACK:
        *(uint64_t *)m = type == P2P_FIN ? some_wire_id(r) : rng_below(r, 3000);
        len = 8;
        break;
    case P2P_PULL: {
        struct p2p_pull p = {some_wire_id(r),
                             rng_edge(r),
                             rng_below(r, 2) ? 0 : rng_edge(r),
                             sizes[rng_below(r, SIZES)],
                             rng_below(r, 4000),
                             1 + rng_below(r, 1000)};
        memcpy(m, &p, len = sizeof p);
        break;
    }
    case P2P_DATA: {
        struct p2p_data d = {some_wire_id(r), rng_below(r, 2) ? 0 : rng_edge(r)};
        memcpy(m, &d, sizeof d);
        len = sizeof d + data;
        break;
    }
    case P2P_PREPOST: {
        struct p2p_prepost p = {.rreq = some_wire_id(r), .size = sizes[rng_below(r, SIZES)],
                                .ctx = h.ctx, .src = h.src,
                                .tag = rng_below(r, 4) ? h.tag : MPI_ANY_TAG,
                                .seen = rng_below(r, 4) ? 0 : -(int)rng_below(r, 300),
                                .gen = rng_below(r, 3), .slot = rng_below(r, 66),
                                .version = rng_below(r, 3)};
        memcpy(m, &p, len = sizeof p);
        len += rng_below(r, 2) ? some_key(r, m + len) : 0;
        break;
    }
    case P2P_FORGET:
    case P2P_VOID:
    case P2P_WRITTEN:
        for (int i = 0; i < 6; i++)
            ((uint32_t *)m)[i] = rng_below(r, 4);
        len = type == P2P_FORGET ? sizeof(struct p2p_forget)
              : type == P2P_VOID ? sizeof(struct p2p_void)
                                 : sizeof(struct p2p_written);
        break;
    default: {
        struct p2p_cancel x = {some_wire_id(r), rng_below(r, 8), (uint8_t)rng_below(r, 2),
                               (uint8_t)rng_below(r, 2), 0};
        memcpy(m, &x, len = sizeof x);
    }
    }
    unsigned how = type == P2P_PREPOST ? rng_below(r, 8) : 3;
    return record_put(to, LONE_PACKET, (unsigned)(type - P2P_EAGER), src | rng_below(r, 8) << 1,
                      rng_below(r, 16) ? how : 0, m, len);
}

size_t fuzz_template(struct rng *r, uint8_t *to, size_t room)
{
    (void)room;
    uint8_t d[8];
    switch (rng_below(r, 12)) {
    case 0:
    case 1:
    case 2:
        d[0] = (uint8_t)rng_below(r, 8);
        d[1] = (uint8_t)rng_below(r, 8);
        return record_put(to, LONE_CALL, rng_below(r, CALLS),
                          rng_below(r, 2) | rng_below(r, TYPES) << 4, rng_below(r, SIZES), d, 2);
    case 3:
        for (size_t i = 0; i < sizeof d; i++)
            d[i] = (uint8_t)(i & 1 ? rng_edge(r) : rng_below(r, 48));
        return record_put(to, LONE_ANSWER, rng_below(r, 4), rng_below(r, 4), rng_below(r, 16), d,
                          2 * rng_below(r, 4));
    case 4: return record_put(to, LONE_SERVE, 0, 0, 0, NULL, 0);
    case 5:
        return record_put(to, rng_below(r, 4) ? LONE_SERVE : LONE_REFUSE, rng_below(r, 2), 0, 0,
                          NULL, 0);
    case 6:
        return rng_below(r, 8) ? some_packet(r, to)
                               : record_put(to, LONE_DEATH, rng_below(r, 2), 0, 0, NULL, 0);
    case 7:
        return rng_below(r, 4)   ? some_packet(r, to)
               : rng_below(r, 4) ? some_agreement(r, to)
                                 : some_notice(r, to);
    default: return some_packet(r, to);
    }
}
