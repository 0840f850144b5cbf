/* nonblocking.c - nonblocking collective accesses: a chain of collective steps and of jobs for
 * threads, driven by the progress engine.
 *
 *   call: own part of the decision
 *   hook: reduction --> independent: one job, end
 *             \--> for each round (chunks.h), a write:
 *                    heads   to each aggregator: how many bytes, and which runs of its chunk
 *                    bodies  the data; the aggregator puts them into a buffer
 *                    job     writes the buffer, while the next round goes on in the other one
 *                  a read:   heads, bodies: runs that did not fit the head; job; answers: the data
 *             --> when all jobs are done: reduction of errors, end
 *
 * Accesses of one file follow each other in the order of the calls, on a communicator of their own:
 * its steps may mix with no blocking call. There are no windows here: hooks may not wait, and a
 * fence does. A process with an error of its own takes part to the end, with nothing to send. The
 * failure of a process ends the access at once: it ends the others' steps, too. Where there is no
 * memory to take part, the job ends. Start with later_begin(). */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "coll/coll.h"
#include "io/chunks.h"
#include "io/shares.h"

enum { BATCH = 256 };

enum stage {
    STAGE_DECIDE, STAGE_HEADS, STAGE_SLOT, STAGE_BODIES, STAGE_READ, STAGE_ANSWERS, STAGE_FILES,
    STAGE_OUTCOME, STAGE_ALONE, STAGE_DRAIN
};

struct later;
struct slot { /* a buffer, and the job that reads or writes it */
    struct job job;
    struct transfer x;
    struct later *m;
    int busy;
    int64_t off;
    size_t skip, len;
    char *buffer, *map;
};

struct later {
    struct io_request q;
    struct list link;    /* of the file */
    struct list running; /* of the room; the first of each file */
    enum stage stage;
    struct request *step; /* the collective step that is under way */
    int64_t all[ALL_COUNT], outcome[OUTCOME_COUNT + 1]; /* the last one: of `lost` */
    struct coll_piece *pieces; /* place for the messages of a step: two of each node and member */
    struct chunks k;
    int64_t round;
    int nodes, mine; /* aggregators; which of them this process is, or -1 */
    struct share *to;   /* of each aggregator */
    struct share *from; /* of each member, at an aggregator */
    char *memory;       /* buffers and maps */
    int err;
    int lost;  /* the error of a message of a wrong length: that of its sender tells more */
    size_t at; /* own data before this position are done */
    struct slot slot[2];
};

static struct io_file *file_of(const struct later *m)
{
    return m->q.c.a.f;
}

static void fail(struct later *m, int err)
{
    m->err = m->err ? m->err : err;
}

/* The chain ends here. What this process sent in later accesses would be taken for the steps that
 * it leaves out: so they end at once, too. */
static void give_up(struct later *m, int err)
{
    fail(m, io_step(file_of(m)->aside, err));
    m->stage = STAGE_DRAIN;
    file_of(m)->aside_ended = err_class(err);
}

static void no_memory(struct later *m)
{
    fail(m, err_make(MPI_ERR_NO_MEM, "%s: no memory for a collective access", io_call()));
}

/* --- shares ----------------------------------------------------------------------------------- */
/* Own blocks of a round; the places of data ascend, so they follow each other. */
static void shares_of_round(struct later *m)
{
    const struct transfer *x = &m->q.c.x;
    struct iovec b[BATCH];
    int64_t end = chunks_end(&m->k, m->round), chunk = m->k.chunk;
    while (m->at < x->len && !m->err) {
        size_t bytes, n = view_blocks(x->ftype, x->disp, x->from + (int64_t)m->at, x->len - m->at,
                                      b, BATCH, &bytes);
        for (size_t i = 0; i < n && !m->err; i++) {
            int64_t off = (int64_t)(uintptr_t)b[i].iov_base, left = (int64_t)b[i].iov_len, part;
            for (; left && off < end && !m->err; left -= part, off += part) {
                int64_t k = (off - m->k.base) / chunk, within = (off - m->k.base) % chunk;
                struct share *s = &m->to[k % m->k.nodes];
                part = chunk - within < left ? chunk - within : left;
                part = part < end - off ? part : end - off;
                if (!s->head.runs)
                    s->pos = m->at;
                if (!share_add(s, within, part))
                    no_memory(m);
                m->at += (size_t)part;
            }
            if (left)
                return;
        }
    }
}

/* --- steps ------------------------------------------------------------------------------------ */
static void reduce(struct later *m, int64_t *v, int n)
{
    struct comm *c = file_of(m)->aside;
    int err = io_may_meet(c);
    if (!err)
        err = coll_iallreduce(MPI_IN_PLACE, v, n, dt_find(MPI_INT64_T), dt_op_find(MPI_MAX), c,
                              &m->step);
    if (err)
        give_up(m, err);
}

/* Does an aggregator have a chunk in this round? */
static size_t chunk_of(const struct later *m, int64_t round, int node)
{
    int64_t off;
    size_t skip;
    return round < m->k.rounds && node >= 0 ? chunks_at(&m->k, round, node, &off, &skip) : 0;
}

/* The messages of a step. */
struct list_of {
    struct coll_piece *p;
    int n;
};

static void put(struct list_of *l, int rank, void *buf, size_t bytes)
{
    l->p[l->n++] = (struct coll_piece){rank, buf, bytes};
}

/* Calls each() for every aggregator that this process sends to, and for every member that it
 * receives from as an aggregator; at most two messages each. */
static void exchange(struct later *m, void (*ours)(struct list_of *l, int rank, struct share *s),
                     void (*theirs)(struct list_of *l, int rank, struct share *s), int back)
{
    struct io_file *f = file_of(m);
    int aggregates = chunk_of(m, m->round, m->mine) > 0, size = f->comm->size;
    struct list_of a = {m->pieces, 0}, b = {m->pieces + 2 * m->k.nodes, 0};
    for (int i = 0; i < m->k.nodes; i++)
        if (chunk_of(m, m->round, i))
            ours(&a, chunks_rank(f->comm, m->k.nodes, i), &m->to[i]);
    for (int r = 0; r < size && aggregates; r++)
        theirs(&b, r, &m->from[r]);
    int err = io_may_meet(f->aside);
    if (!err)
        err = back ? coll_iexchange(f->aside, a.p, a.n, b.p, b.n, &m->step)
                   : coll_iexchange(f->aside, b.p, b.n, a.p, a.n, &m->step);
    if (err)
        give_up(m, err);
}

static void head_piece(struct list_of *l, int rank, struct share *s)
{
    put(l, rank, &s->head, sizeof s->head);
}

static void runs_piece(struct list_of *l, int rank, struct share *s)
{
    size_t n = s->head.runs > HEAD_RUNS ? (size_t)(s->head.runs - HEAD_RUNS) : 0;
    if (n)
        put(l, rank, s->more, n <= s->room ? n * sizeof *s->more : 0);
}

static void data_piece(struct list_of *l, int rank, struct share *s)
{
    if (s->head.bytes)
        put(l, rank, s->data, s->data ? (size_t)s->head.bytes : 0);
}

static void body_pieces(struct list_of *l, int rank, struct share *s)
{
    runs_piece(l, rank, s);
    data_piece(l, rank, s);
}

/* --- memory of a step ------------------------------------------------------------------------- */
/* Own data for an aggregator, or the place for them: the program's memory if it is one piece. An
 * error sends nothing, and the head says so. */
static void own_data(struct later *m, struct share *s)
{
    const struct transfer *x = &m->q.c.x;
    if (!s->head.bytes)
        return;
    if (dt_is_block(x->mtype, x->mcount)) {
        s->data = (char *)dt_start(x->mtype, x->buf) + s->pos;
        return;
    }
    if (!(s->data = malloc((size_t)s->head.bytes))) {
        no_memory(m);
        share_reset(s);
        return;
    }
    s->own = 1;
    if (x->write)
        dt_pack(x->mtype, x->mcount, x->buf, s->pos, s->data, (size_t)s->head.bytes);
}

/* Place for what a member sends: the buffer if it is one piece. Without memory, or with a head that
 * says what cannot be, its message is too long for what is expected, which ends the step with an
 * error and without a wait. */
static void place_for(struct later *m, struct share *s, struct slot *slot)
{
    int64_t len = (int64_t)chunk_of(m, m->round, m->mine);
    if (s->head.bytes < 0 || s->head.bytes > len || s->head.runs < 0 ||
        s->head.runs > s->head.bytes) {
        fail(m, err_make(MPI_ERR_OTHER, "%s: a message of another kind came", io_call()));
        s->bad = 1;
        return;
    }
    if (!share_fits(s, s->head.runs))
        no_memory(m);
    if (!m->k.write || !s->head.bytes)
        return;
    if (share_is_one_piece(s) && slot->buffer && share_is_whole(&m->k, s, (size_t)len)) {
        s->data = slot->buffer + s->head.run[0].at;
        return;
    }
    s->data = malloc((size_t)s->head.bytes);
    s->own = 1;
    if (!s->data)
        no_memory(m);
}

/* --- the file --------------------------------------------------------------------------------- */
static void slot_run(struct job *j)
{
    struct slot *s = LIST_OBJ(j, struct slot, job);
    uint64_t since = time_now();
    if (s->x.write)
        chunks_write(&s->x, s->off, s->len, (size_t)s->m->k.unit, s->buffer, s->map);
    else
        posix_block(&s->x, s->off + (int64_t)s->skip, s->buffer + s->skip, s->len - s->skip);
    s->x.ns = time_now() - since;
}

static void slot_done(struct job *j)
{
    struct slot *s = LIST_OBJ(j, struct slot, job);
    struct transfer *x = &s->m->q.c.x;
    s->busy = 0;
    if (!x->err) {
        x->err = s->x.err;
        x->at = s->x.at;
    }
    x->calls += s->x.calls;
    x->locks += s->x.locks;
    x->moved += s->x.moved;
    x->ns += s->x.ns;
}

static void slot_start(struct later *m, int64_t round)
{
    struct slot *s = &m->slot[round & 1];
    if (m->mine < 0 || !s->buffer || round >= m->k.rounds)
        return;
    s->len = chunks_at(&m->k, round, m->mine, &s->off, &s->skip);
    if (!s->len)
        return;
    s->x = (struct transfer){.fd = m->q.c.x.fd, .write = m->k.write, .guard = m->q.c.x.guard,
                             .mutex = m->q.c.x.mutex, .file = m->q.c.x.file};
    s->job = (struct job){.run = slot_run, .done = slot_done};
    s->m = m;
    s->busy = 1;
    job_start(&s->job);
}

/* --- rounds ----------------------------------------------------------------------------------- */
static void start_round(struct later *m)
{
    if (m->round == m->k.rounds) {
        m->stage = STAGE_FILES;
        return;
    }
    m->stage = STAGE_HEADS;
    for (int i = 0; i < m->k.nodes; i++)
        share_reset(&m->to[i]);
    for (int r = 0; m->mine >= 0 && r < file_of(m)->comm->size; r++)
        share_reset(&m->from[r]);
    if (!m->err)
        shares_of_round(m);
    for (int i = 0; i < m->k.nodes; i++) {
        if (m->err)
            share_reset(&m->to[i]);
        own_data(m, &m->to[i]);
    }
    exchange(m, head_piece, head_piece, 0);
}

static void start_bodies(struct later *m)
{
    m->stage = STAGE_BODIES;
    for (int r = 0; chunk_of(m, m->round, m->mine) && r < file_of(m)->comm->size; r++)
        place_for(m, &m->from[r], &m->slot[m->round & 1]);
    if (m->k.write)
        exchange(m, body_pieces, body_pieces, 0);
    else
        exchange(m, runs_piece, runs_piece, 0);
}

/* A write: the data are here. A share that is wrong comes of a step that failed. */
static void take_bodies(struct later *m)
{
    struct slot *slot = &m->slot[m->round & 1];
    size_t len = chunk_of(m, m->round, m->mine);
    for (int r = 0; len && r < file_of(m)->comm->size; r++) {
        struct share *s = &m->from[r];
        if (s->data && slot->buffer && share_is_whole(&m->k, s, len))
            share_place(&m->k, s, slot->buffer, slot->map);
    }
    slot_start(m, m->round);
    m->round++;
    start_round(m);
}

/* A read: the buffer is filled, and what each member wants is known. */
static void start_answers(struct later *m)
{
    struct slot *slot = &m->slot[m->round & 1];
    size_t len = chunk_of(m, m->round, m->mine);
    m->stage = STAGE_ANSWERS;
    for (int r = 0; len && r < file_of(m)->comm->size; r++) {
        struct share *s = &m->from[r];
        int whole = slot->buffer && share_is_whole(&m->k, s, len);
        if (!s->head.bytes)
            continue;
        if (whole && share_is_one_piece(s)) {
            s->data = slot->buffer + s->head.run[0].at;
            continue;
        }
        s->own = 1;
        s->data = whole ? malloc((size_t)s->head.bytes) : NULL;
        if (s->data)
            share_place(&m->k, s, slot->buffer, slot->map);
        else
            no_memory(m); /* the answer is empty, an error at its receiver */
    }
    slot_start(m, m->round + 1);
    exchange(m, data_piece, data_piece, 1);
}

static void take_answers(struct later *m)
{
    const struct transfer *x = &m->q.c.x;
    for (int i = 0; i < m->k.nodes; i++) {
        struct share *s = &m->to[i];
        if (s->own && s->data && !m->err && !m->lost)
            dt_unpack(x->mtype, x->mcount, x->buf, s->pos, s->data, (size_t)s->head.bytes);
    }
    m->round++;
    start_round(m);
}

/* --- begin and end ---------------------------------------------------------------------------- */
static void make_buffers(struct later *m)
{
    size_t chunk = (size_t)m->k.chunk, maps = m->k.write ? (size_t)(m->k.chunk / m->k.unit) : 0;
    if (m->mine < 0)
        return;
    if (!(m->memory = malloc(2 * (chunk + maps)))) {
        no_memory(m);
        return;
    }
    for (int i = 0; i < 2; i++) {
        m->slot[i].buffer = m->memory + (size_t)i * chunk;
        m->slot[i].map = m->memory + 2 * chunk + (size_t)i * maps;
        memset(m->slot[i].map, 0, maps);
    }
}

static void decided(struct later *m)
{
    struct io_file *f = file_of(m);
    if (!m->err && m->all[ALL_ERROR])
        fail(m, err_make((int)m->all[ALL_ERROR],
                         "%s: file \"%s\": the collective access failed on another process",
                         io_call(), f->name));
    if (m->err || !chunks_pay(f, m->all)) {
        m->stage = m->err ? STAGE_DRAIN : STAGE_ALONE;
        return;
    }
    int64_t room = (m->all[ALL_ROOM] + CHUNK_PAGE - 1) / CHUNK_PAGE * CHUNK_PAGE;
    chunks_plan(&m->k, m->all, room, m->q.c.x.write);
    make_buffers(m);
    io_count(f, STAT_ROUNDS, (uint64_t)m->k.rounds);
    if (!m->k.write)
        slot_start(m, 0);
    start_round(m);
}

static void ended(struct later *m)
{
    m->q.c.x.done = m->at;
    m->err = outcome_of_all(&m->q.c, m->err, m->outcome);
    if (!m->err && m->lost)
        m->err = m->lost;
    else if (!m->err && m->outcome[OUTCOME_COUNT])
        m->err = err_make(MPI_ERR_TRUNCATE, "%s: file \"%s\": another process lost a message",
                          io_call(), file_of(m)->name);
    m->stage = STAGE_DRAIN;
}

static void settle(struct later *m)
{
    int err = request_finish(m->step, NULL);
    m->step = NULL;
    if (err && err_class(err) != MPI_ERR_TRUNCATE)
        give_up(m, err);
    else
        m->lost = err ? err : m->lost; /* all go on */
}

static int is_ready(const struct later *m)
{
    const struct slot *now = &m->slot[m->round & 1], *other = &m->slot[~m->round & 1];
    if (m->step)
        return m->step->done;
    if (m->stage == STAGE_SLOT || m->stage == STAGE_READ)
        return !now->busy;
    return !now->busy && !other->busy;
}

static void next(struct later *m)
{
    if (m->step)
        settle(m);
    switch (m->stage) {
    case STAGE_DECIDE: decided(m); break;
    case STAGE_HEADS:
        if (m->k.write)
            m->stage = STAGE_SLOT;
        else
            start_bodies(m);
        break;
    case STAGE_SLOT: start_bodies(m); break;
    case STAGE_BODIES:
        if (m->k.write)
            take_bodies(m);
        else
            m->stage = STAGE_READ;
        break;
    case STAGE_READ: start_answers(m); break;
    case STAGE_ANSWERS: take_answers(m); break;
    case STAGE_FILES:
        m->stage = STAGE_OUTCOME;
        outcome_own(&m->q.c, m->err, m->outcome);
        m->outcome[OUTCOME_COUNT] = m->lost != 0;
        reduce(m, m->outcome, OUTCOME_COUNT + 1);
        break;
    case STAGE_OUTCOME: ended(m); break;
    default: break;
    }
}

static int drive(void *arg);

/* The first one of a file. */
static void start(struct later *m)
{
    struct io_room *r = io_self();
    struct io_file *f = file_of(m);
    if (f->aside_ended)
        give_up(m, err_make(f->aside_ended,
                            "%s: file \"%s\": an earlier collective access was given up",
                            io_call(), f->name));
    else
        reduce(m, m->all, ALL_COUNT);
    list_push(&r->later, &m->running);
    r->later_hook.fn = drive;
    r->later_hook.arg = r;
    r->later_hook.program = 1; /* as in workers.c */
    progress_hook_add(&r->later_hook);
}

static void finish(struct later *m)
{
    struct io_file *f = file_of(m);
    list_del(&m->running);
    list_del(&m->link);
    free(m->pieces);
    shares_free(m->to, m->nodes);
    shares_free(m->from, f->comm->size);
    free(m->memory);
    if (!list_empty(&f->later))
        start(LIST_OBJ(f->later.next, struct later, link));
    if (m->stage == STAGE_ALONE)
        io_request_alone(&m->q);
    else
        io_request_end(&m->q, m->err);
}

/* Hook of the progress engine. */
static int drive(void *arg)
{
    struct io_room *r = arg;
    int n = 0;
    for (struct list *l = r->later.next, *after; l != &r->later; l = after) {
        struct later *m = LIST_OBJ(l, struct later, running);
        const char *call = proc->call;
        after = l->next;
        proc->call = m->q.r.what;
        for (; m->stage < STAGE_ALONE && is_ready(m); n++)
            next(m);
        proc->call = call;
        if (m->stage >= STAGE_ALONE && is_ready(m)) {
            finish(m);
            n++;
        }
    }
    if (list_empty(&r->later))
        progress_hook_del(&r->later_hook);
    return n;
}

int later_begin(const struct io_args *a, int err, int64_t offset, size_t bytes, MPI_Request *req)
{
    struct io_file *f = a->f;
    struct later *m = (struct later *)io_request_make(a, sizeof *m);
    if (!m) /* it cannot even tell the others, which would wait for ever */
        log_fatal("%s: no memory to take part in a collective access", io_call());
    m->nodes = f->hints.cb_nodes;
    m->mine = -1;
    for (int i = 0; i < m->nodes; i++)
        m->mine = chunks_rank(f->comm, m->nodes, i) == f->comm->rank ? i : m->mine;
    m->pieces = calloc(2 * ((size_t)m->nodes + (size_t)f->comm->size), sizeof *m->pieces);
    m->to = calloc((size_t)m->nodes, sizeof *m->to);
    m->from = m->mine < 0 ? NULL : calloc((size_t)f->comm->size, sizeof *m->from);
    if (!err)
        err = access_prepare(&m->q.c, a, offset, bytes);
    if (!err && (!m->pieces || !m->to || (m->mine >= 0 && !m->from)))
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory for a collective access", io_call());
    if (!err)
        err = request_publish(&m->q.r, req);
    m->q.silent = err != 0;
    m->err = err;
    chunks_own(&m->q.c, err, m->all);
    f->pending++;
    list_push(&f->later, &m->link);
    if (f->later.next == &m->link)
        start(m);
    return err;
}

void later_free(void)
{
    progress_hook_del(&io_self()->later_hook);
}
