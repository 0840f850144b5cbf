/* trace.c - the ring of a process, and what goes into it. Start with trace_call(). */
#include "profile/trace_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "obj/comm.h"
#include "place/place.h"
#include "rma/rma.h"

/* A receive that was posted and is not complete. */
struct trace_receive {
    uint64_t message; /* 0: not known, so that its coming is not noted */
    uint64_t kind;    /* kind_of() */
    uint64_t bytes;
    int peer;
};

/* The processor may be taken away in between: the shortest of some tries counts. */
void trace_both_clocks(uint64_t *ticks, uint64_t *ns)
{
    enum { TRIES = 16 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = trace_ticks(), now = time_now(), took = trace_ticks() - before;
        if (took >= best)
            continue;
        best = took;
        *ticks = before + took / 2;
        *ns = now;
    }
}

uint64_t trace_room(void)
{
    uint64_t room = 1;
    while (2 * room <= (uint64_t)cvar.trace_events)
        room *= 2;
    return room;
}

int trace_open(struct trace *t, struct trace_event *ring, uint64_t room)
{
    t->room = room;
    t->ring = ring;
    t->chunk = malloc(sizeof *t->chunk);
    map_init(&t->sent);
    map_init(&t->got);
    map_init(&t->posted);
    trace_both_clocks(&t->tick0, &t->ns0);
    return t->chunk ? 0 : -ENOMEM;
}

void trace_close(struct trace *t)
{
    size_t at = 0;
    if (!t)
        return;
    for (struct map_entry *e; (e = map_next(&t->posted, &at)) != NULL;)
        free(e->value);
    map_destroy(&t->posted);
    map_destroy(&t->sent);
    map_destroy(&t->got);
    free(t->chunk);
}

int trace_calls_seen(void)
{
    return proc->profile->trace->calls;
}

static struct trace *tracing(void)
{
    return proc->profile ? proc->profile->trace : NULL;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The address of the thread's own variable, without what all have alike. */
static uint32_t thread_bits(void)
{
    return proc->threaded && !proc->helped ? (uint32_t)((uintptr_t)thread_self() >> 4) | 1 : 0;
}

/* The place of one more event. Only several threads need an atomic addition. */
static struct trace_event *place(struct trace *t)
{
    unsigned long long n;
    if (proc->threaded) {
        n = atomic_fetch_add_explicit(&t->n, 1, memory_order_relaxed);
    } else {
        n = atomic_load_explicit(&t->n, memory_order_relaxed);
        atomic_store_explicit(&t->n, n + 1, memory_order_relaxed);
    }
    return &t->ring[n & (t->room - 1)];
}

static struct trace_event *note(struct trace *t, const struct trace_at *at, enum trace_kind kind)
{
    const char *name = at->name;
    const void *site = site_program_call(at->site, &name);
    struct trace_event *e = place(t);
    t->calls = 1;
    *e = (struct trace_event){.at = at->began,
                              .name.text = name,
                              .peer = -1,
                              .window = -1,
                              .site = (uint64_t)(uintptr_t)site,
                              .kind = (uint16_t)kind,
                              .thread = thread_bits()};
    e->lasts = trace_ticks() - at->began;
    t->now.name = NULL;
    return e;
}

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    enum { BUILTIN = 1 };
    if (count <= 0)
        return 0;
    if ((unsigned)type >> 30 == BUILTIN)
        return (uint64_t)count * ((unsigned)type >> 8 & 0xff);
    const struct dt_type *d = obj_find(OBJ_TYPE, type);
    return d && d->size > 0 ? (uint64_t)count * (uint64_t)d->size : 0;
}

void trace_call(const struct trace_at *at)
{
    struct trace *t = tracing();
    if (t)
        note(t, at, TRACE_CALL);
}

void trace_enters(const struct trace_at *at)
{
    struct trace *t = tracing();
    if (t)
        t->now = *at;
}

void trace_finalizing(const struct trace_at *at)
{
    struct trace *t = tracing();
    if (t)
        t->now = t->last = *at;
}

void trace_window(const struct trace_at *at, MPI_Win win, int rank, MPI_Count count,
                  MPI_Datatype type)
{
    struct trace *t = tracing();
    if (!t)
        return;
    struct trace_event *e = note(t, at, TRACE_WINDOW);
    struct rma_win *w = obj_find(OBJ_WIN, win);
    const struct comm *c = w ? rma_win_comm(w) : NULL;
    e->window = win;
    if (c && rank >= 0 && rank < c->size)
        e->peer = comm_world(c, rank);
    e->bytes = bytes_of(count, type);
}

void trace_tested(const struct trace_at *at, MPI_Win win, int flag)
{
    struct trace *t = tracing();
    if (!t)
        return;
    struct trace_event *e = note(t, at, TRACE_WINDOW);
    e->window = win;
    e->why = flag != 0;
}

void trace_collective(const struct trace_at *at, MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
    struct trace *t = tracing();
    (void)comm;
    if (t)
        note(t, at, TRACE_COLLECTIVE)->bytes = bytes_of(count, type);
}

void trace_wait(struct trace *t, const struct progress_seen *s)
{
    uint64_t ns = s->until - s->since;
    const char *front = site_front_call(s->site);
    struct trace_event *e = place(t);
    *e = (struct trace_event){.at = trace_ticks(),
                              .lasts = ns,
                              .peer = s->peer,
                              .window = -1,
                              .name.text = front        ? front
                                           : proc->call ? proc->call
                                                        : "(no call)",
                              .message = progress_polls() - s->polls,
                              .kind = TRACE_WAIT,
                              .why = (uint16_t)profile_why_of(s),
                              .thread = thread_bits()};
}

void trace_state(struct trace *t, struct rma_win *w, int world, const char *state)
{
    struct trace_event *e = place(t);
    *e = (struct trace_event){.at = trace_ticks(),
                              .name.text = state ? state : "",
                              .peer = world,
                              .window = ((const struct obj *)w)->handle,
                              .kind = TRACE_STATE,
                              .thread = thread_bits()};
}

/* --- messages --------------------------------------------------------------------------------- */

/* A source or a tag; and the count of a kind of which a message was not counted. */
enum { ANY = -1 };
#define UNSURE ((void *)UINTPTR_MAX)

static uint64_t kind_of(uint32_t ctx, int source, int dest, int tag)
{
    uint64_t ends = hash_mix(ctx, (uint64_t)(uint32_t)source << 32 | (uint32_t)dest);
    return hash_mix(ends, (uint32_t)tag);
}

/* Both ends find the same number: the k-th message of its kind is the k-th one that comes. One that
 * is not counted would shift all later ones: from then on those that it may have been have number
 * 0, and no line. */
static uint64_t number_of(struct map *counts, uint32_t ctx, int source, int dest, int tag)
{
    uint64_t kind = kind_of(ctx, source, dest, tag);
    for (int i = 0; i < 4; i++)
        if (map_get(counts, kind_of(ctx, i & 1 ? ANY : source, dest, i & 2 ? ANY : tag)) == UNSURE)
            return 0;
    uintptr_t n = (uintptr_t)map_get(counts, kind) + 1;
    return map_put(counts, kind, (void *)n) ? 0 : hash_mix(kind, n) | 1;
}

static const struct comm *peer_of(MPI_Comm comm, int rank, int *world)
{
    const struct comm *c = obj_find(OBJ_COMM, comm);
    *world = ANY;
    if (c && rank == MPI_ANY_SOURCE)
        return c;
    if (!c || rank < 0 || rank >= comm_peer_size(c))
        return NULL;
    *world = comm_peer_world(c, rank);
    return c;
}

static void lock_maps(void)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
}

static void unlock_maps(void)
{
    if (proc->threaded)
        lock_release(&proc->lock);
}

void trace_sent(const struct trace_at *at, MPI_Comm comm, int dest, int tag, MPI_Count count,
                MPI_Datatype type)
{
    struct trace *t = tracing();
    int world;
    if (!t)
        return;
    struct trace_event *e = note(t, at, TRACE_SENT);
    const struct comm *c = peer_of(comm, dest, &world);
    e->bytes = bytes_of(count, type);
    if (!c)
        return;
    e->peer = world;
    lock_maps();
    e->message = number_of(&t->sent, c->ctx_send, boot_rank(), world, tag);
    unlock_maps();
}

void trace_got(const struct trace_at *at, MPI_Comm comm, int source, int tag, MPI_Count count,
               MPI_Datatype type)
{
    struct trace *t = tracing();
    int world;
    if (!t)
        return;
    struct trace_event *e = note(t, at, TRACE_GOT);
    const struct comm *c = peer_of(comm, source, &world);
    e->bytes = bytes_of(count, type);
    if (!c)
        return;
    e->peer = world;
    lock_maps();
    e->message = number_of(&t->got, c->ctx_recv, world, boot_rank(), tag);
    unlock_maps();
}

static void remember(struct trace *t, const struct trace_receive *r, MPI_Request request)
{
    struct trace_receive *kept = malloc(sizeof *kept);
    uint64_t key = (uint32_t)request;
    if (!kept)
        return;
    *kept = *r;
    free(map_del(&t->posted, key)); /* one that was freed or cancelled unseen */
    if (map_put(&t->posted, key, kept))
        free(kept);
}

/* world: a rank, or ANY. */
static void expect(struct trace *t, const struct comm *c, int world, int tag, int counted,
                   uint64_t bytes, MPI_Request request)
{
    struct trace_receive r = {.bytes = bytes, .peer = world};
    tag = tag >= 0 ? tag : ANY;
    lock_maps();
    r.kind = kind_of(c->ctx_recv, world, boot_rank(), tag);
    if (counted && world != ANY && tag != ANY)
        r.message = number_of(&t->got, c->ctx_recv, world, boot_rank(), tag);
    else
        map_put(&t->got, r.kind, UNSURE);
    remember(t, &r, request);
    unlock_maps();
}

void trace_posted(const struct trace_at *at, MPI_Comm comm, int source, int tag, MPI_Count count,
                  MPI_Datatype type, MPI_Request request)
{
    struct trace *t = tracing();
    int world;
    if (!t)
        return;
    struct trace_event *e = note(t, at, TRACE_CALL);
    const struct comm *c = peer_of(comm, source, &world);
    e->bytes = bytes_of(count, type);
    e->peer = world;
    if (c)
        expect(t, c, world, tag, 1, e->bytes, request);
}

void trace_persistent(const struct trace_at *at, MPI_Comm comm, int source, int tag,
                      MPI_Request request)
{
    struct trace *t = tracing();
    int world;
    if (!t)
        return;
    note(t, at, TRACE_CALL);
    const struct comm *c = peer_of(comm, source, &world);
    if (c)
        expect(t, c, world, tag, 0, 0, request);
}

void trace_uncounted(MPI_Comm comm, int sends, int peer, int tag)
{
    struct trace *t = tracing();
    int world, me = boot_rank();
    const struct comm *c = t ? peer_of(comm, peer, &world) : NULL;
    if (!c)
        return;
    tag = tag >= 0 ? tag : ANY;
    lock_maps();
    if (sends)
        map_put(&t->sent, kind_of(c->ctx_send, me, world, tag), UNSURE);
    else
        map_put(&t->got, kind_of(c->ctx_recv, world, me, tag), UNSURE);
    unlock_maps();
}

/* A receive that is posted behind it may get its message, and so the numbers of those are wrong. */
void trace_cancel(const MPI_Request *request)
{
    struct trace *t = tracing();
    size_t at = 0;
    if (!t || !request)
        return;
    lock_maps();
    const struct trace_receive *r = map_get(&t->posted, (uint32_t)*request);
    if (!r)
        t->sends_unsure = 1; /* that are in the ring already, too */
    else
        map_put(&t->got, r->kind, UNSURE);
    for (struct map_entry *e; r && (e = map_next(&t->posted, &at)) != NULL;) {
        struct trace_receive *other = e->value;
        if (other->kind == r->kind)
            other->message = 0;
    }
    unlock_maps();
}

void trace_free(const MPI_Request *request)
{
    struct trace *t = tracing();
    if (!t || !request)
        return;
    lock_maps();
    free(map_del(&t->posted, (uint32_t)*request));
    unlock_maps();
}

/* They may be complete, unseen. A request that gets the handle of one is another one. */
static void forget(struct trace *t, int n, const MPI_Request *list)
{
    lock_maps();
    for (int i = 0; i < n; i++) {
        struct trace_receive *r = map_get(&t->posted, (uint32_t)list[i]);
        if (r)
            r->message = 0;
    }
    unlock_maps();
}

void trace_before(struct trace_requests *r, int n, const MPI_Request *list)
{
    struct trace *t = tracing();
    r->n = 0;
    if (!t || !t->posted.count || !list)
        return;
    for (int i = 0; i < n && i < TRACE_REQUESTS; i++)
        r->was[r->n++] = list[i];
    if (n > TRACE_REQUESTS)
        forget(t, n - TRACE_REQUESTS, list + TRACE_REQUESTS);
}

void trace_failed(const struct trace_requests *r)
{
    struct trace *t = tracing();
    if (t)
        forget(t, r->n, r->was);
}

static void arrived(struct trace *t, const struct trace_at *at, MPI_Request request)
{
    struct trace_receive *r = map_del(&t->posted, (uint32_t)request);
    if (!r || !r->message) {
        free(r);
        return;
    }
    struct trace_event *e = note(t, at, TRACE_ARRIVED);
    e->at = trace_ticks();
    e->lasts = 0;
    e->peer = r->peer;
    e->bytes = r->bytes;
    e->message = r->message;
    free(r);
}

void trace_completed(const struct trace_at *at, const struct trace_requests *r,
                     const MPI_Request *list)
{
    struct trace *t = tracing();
    if (!t)
        return;
    lock_maps();
    for (int i = 0; i < r->n; i++)
        if (r->was[i] != list[i])
            arrived(t, at, r->was[i]);
    unlock_maps();
    note(t, at, TRACE_CALL);
}

/* --- windows ---------------------------------------------------------------------------------- */

void trace_win_closed(struct trace *t, struct rma_win *w)
{
    struct trace_win *x = &t->win[t->wins++ % TRACE_WINS];
    *x = (struct trace_win){.handle = ((const struct obj *)w)->handle, .until = trace_ticks()};
    strncpy(x->name, rma_win_name(w), PROFILE_NAME - 1);
}
