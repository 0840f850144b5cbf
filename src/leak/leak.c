/* leak.c - what the program leaves behind at MPI_Finalize (leak.h). Start with leak_ending(). */
#include "leak/leak.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/vec.h"
#include "dt/dt.h"
#include "finding/finding.h"
#include "obj/comm.h"
#include "obj/request.h"
#include "p2p/p2p.h"
#include "place/place.h"
#include "var/var.h"
#include "watch/watch.h"

enum {
    AGREED = 64,       /* places in a message; what is more a process prints itself */
    LINES = 20,        /* of a process: beyond them it prints a number */
    RANKS = FINDING_RANKS,
    TAG = INT_MIN + 65 /* coll_types.h has the others of this stream */
};

struct leak_place { /* also in messages */
    uint64_t site;  /* site_portable(); 0: not known */
    int64_t n;      /* objects that were made there and are left */
    int32_t kind;   /* enum obj_kind */
    int32_t processes; /* that have some */
    int32_t rank[RANKS]; /* the first ones of these */
};

struct leak_message {
    uint32_t ctx;
    int source, tag, n;
};

struct leak {
    /* Where it was made: a return address, or 1. Objects from before leak_init() are the library's
     * own, and are not there. */
    struct map made;  /* by handle */
    struct map comms; /* by address: those of the program alone, since other rooms have some, too */
    struct leak_place *place;
    int places, place_room;
    struct leak_message *message;
    int messages, message_room;
    int lines, more; /* printed; left out */
};

static const char *const kind_name[OBJ_KINDS] = {
    [OBJ_COMM] = "communicator", [OBJ_GROUP] = "group", [OBJ_TYPE] = "datatype",
    [OBJ_FILE] = "file", [OBJ_OP] = "operation", [OBJ_WIN] = "window",
};

/* --- while the program runs ------------------------------------------------------------------- */

/* Without memory it is forgotten. */
static void note(struct map *to, uint64_t key, const void *site)
{
    uint64_t at = site ? (uint64_t)(uintptr_t)site : site_here();
    (void)map_put(to, key, (void *)(uintptr_t)(at ? at : 1));
}

static void on_made(int kind, const struct obj *o)
{
    (void)kind;
    note(&proc->leak->made, (uint32_t)o->handle, NULL);
}

static void on_comm_made(struct comm *c, struct comm *n, enum watch_call call, const void *site)
{
    (void)c;
    (void)call;
    note(&proc->leak->comms, (uint64_t)(uintptr_t)n, site);
}

static void on_comm_freed(struct comm *c, enum watch_call call, const void *site)
{
    (void)call;
    (void)site;
    map_del(&proc->leak->comms, (uint64_t)(uintptr_t)c);
}

/* Others may still use it, as a persistent collective does an operation. */
static void on_gone(int kind, const struct obj *o)
{
    (void)kind;
    map_del(&proc->leak->made, (uint32_t)o->handle);
}

static const struct watcher watcher = {
    .made = on_made, .gone = on_gone, .comm_made = on_comm_made, .comm_freed = on_comm_freed};

int leak_init(void)
{
    if (!cvar.leak_check)
        return 0;
    struct leak *k = proc->leak = calloc(1, sizeof *k);
    if (!k)
        return -ENOMEM;
    map_init(&k->made);
    map_init(&k->comms);
    site_here(); /* the first one loads libgcc_s: not under a lock that others wait for */
    return watch_add(&watcher);
}

void leak_finalize(void)
{
    struct leak *k = proc->leak;
    if (!k)
        return;
    watch_drop(&watcher);
    map_destroy(&k->made);
    map_destroy(&k->comms);
    free(k->place);
    free(k->message);
    free(k);
    proc->leak = NULL;
}

/* --- what is left ----------------------------------------------------------------------------- */

/* What is left of this kind from this place, a new record if there is none; NULL: no memory. */
static struct leak_place *place_of(struct leak *k, int kind, uint64_t site)
{
    for (int i = 0; i < k->places; i++)
        if (k->place[i].kind == kind && k->place[i].site == site)
            return &k->place[i];
    if (!VEC_FITS(k->place, k->place_room, k->places + 1, AGREED))
        return NULL;
    k->place[k->places] = (struct leak_place){.site = site, .kind = kind};
    return &k->place[k->places++];
}

static void left_at(int kind, uint64_t at)
{
    struct leak_place *p = place_of(proc->leak, kind, at > 1 ? site_portable(at) : 0);
    if (!p)
        return;
    p->n++;
    p->processes = 1;
    p->rank[0] = proc->obj->world->rank;
}

static void left_object(void *object, void *arg)
{
    const struct obj *o = object;
    const int *kind = arg;
    const struct dt_type *t = *kind == OBJ_TYPE ? object : NULL;
    /* Those of Fortran's kinds are predefined; a freed one may still be used by others. */
    if (t && (t->flags & DT_PREDEFINED || t->holders <= 0))
        return;
    void *at = map_get(&proc->leak->made, (uint32_t)o->handle);
    if (at)
        left_at(*kind, (uint64_t)(uintptr_t)at);
}

static void find_objects(struct leak *k)
{
    static const int kinds[] = {OBJ_WIN, OBJ_FILE, OBJ_TYPE, OBJ_GROUP, OBJ_OP};
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&k->comms, &cursor));)
        left_at(OBJ_COMM, (uint64_t)(uintptr_t)e->value);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int kind = kinds[i];
        obj_each((enum obj_kind)kind, left_object, &kind);
    }
}

/* A finding, in a line of its own as far as there may be lines. f has its ranks and places. */
static void say(struct leak *k, struct finding *f, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void say(struct leak *k, struct finding *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    if (k->lines < LINES)
        log_warn("%s", f->text);
    else
        k->more++;
    k->lines += k->lines < LINES;
    finding_add(f);
}

/* Of how many processes; of one, which. */
static void print_place(struct leak *k, const struct leak_place *p)
{
    char line[FINDING_PLACE] = "", by[64];
    struct finding f = {.class = "leak"};
    if (k->lines < LINES || finding_wanted()) /* the text may take its time */
        site_text(p->site, line, sizeof line);
    if (p->processes == 1)
        snprintf(by, sizeof by, "rank %d", p->rank[0]);
    else
        snprintf(by, sizeof by, "%d of %d processes", p->processes, proc->obj->world->size);
    for (int i = 0; i < p->processes && i < RANKS; i++)
        finding_rank(&f, p->rank[i]);
    finding_place(&f, line);
    say(k, &f, "not freed at MPI_Finalize: %lld %s%s made at %s, by %s", (long long)p->n,
        kind_name[p->kind], p->n == 1 ? "" : "s", *line ? line : "an unknown place", by);
}

/* More of these; without room this process prints them. */
static void add_place(struct leak *k, const struct leak_place *p)
{
    struct leak_place *q = place_of(k, p->kind, p->site);
    if (!q) {
        print_place(k, p);
        return;
    }
    q->n += p->n;
    for (int i = 0; i < p->processes && i < RANKS && q->processes + i < RANKS; i++)
        q->rank[q->processes + i] = p->rank[i];
    q->processes += p->processes;
}

static void add_child(struct leak *k, struct leak_place *from, int child)
{
    MPI_Status status = {.MPI_ERROR = MPI_SUCCESS};
    struct comm *world = proc->obj->world;
    char none;
    if (p2p_recv(from ? (void *)from : &none, from ? AGREED * (MPI_Aint)sizeof *from : 0,
                 dt_find(MPI_BYTE), child, TAG, world, P2P_TOOL, &status))
        return; /* it has failed, or there is no memory */
    int n = (int)(status_count(&status) / (int64_t)sizeof *from);
    for (int i = 0; i < n; i++)
        if (from[i].kind > 0 && from[i].kind < OBJ_KINDS && kind_name[from[i].kind] &&
            from[i].processes > 0)
            add_place(k, &from[i]);
}

/* The places of all processes go up a binomial tree to rank 0, which prints them. Messages of this
 * stream and tag are no collective call: so it does not matter which calls the program has made. A
 * process always sends to its parent, so a parent never waits for a living child. */
static void gather_places(struct leak *k)
{
    struct comm *world = proc->obj->world;
    struct leak_place none;
    struct leak_place *from = calloc(AGREED, sizeof *from);
    unsigned rank = (unsigned)world->rank, size = (unsigned)world->size;
    for (unsigned step = 1; step < size; step <<= 1) {
        if (rank & step) {
            int n = k->places < AGREED ? k->places : AGREED;
            for (int i = n; i < k->places; i++)
                print_place(k, &k->place[i]);
            (void)p2p_send(n ? k->place : &none, n * (MPI_Aint)sizeof none, dt_find(MPI_BYTE),
                           (int)(rank - step), TAG, world, P2P_TOOL);
            free(from);
            return;
        }
        if (rank + step < size)
            add_child(k, from, (int)(rank + step));
    }
    free(from);
    for (int i = 0; i < k->places; i++)
        print_place(k, &k->place[i]);
}

/* --- requests --------------------------------------------------------------------------------- */

struct left_requests {
    int active, idle;
    char some[160]; /* what the first ones are */
    int named;
};

static void left_request(void *object, void *arg)
{
    enum { NAMED = 3 };
    const struct request *r = object;
    struct left_requests *left = arg;
    if (r->freed)
        return;
    if (!r->active) {
        left->idle++;
        return;
    }
    left->active++;
    if (left->named++ < NAMED) {
        size_t n = strlen(left->some);
        snprintf(left->some + n, sizeof left->some - n, "%s%s", n ? ", " : "", r->what);
    }
}

static void print_requests(struct leak *k)
{
    struct left_requests left = {0};
    struct finding f = {.class = "request", .ranks = 1, .rank = {proc->obj->world->rank}};
    obj_each(OBJ_REQUEST, left_request, &left);
    if (left.active)
        say(k, &f, "not completed at MPI_Finalize: %d request%s (%s%s)", left.active,
            left.active == 1 ? "" : "s", left.some, left.named > 3 ? ", ..." : "");
    if (left.idle)
        say(k, &f, "not freed at MPI_Finalize: %d persistent request%s", left.idle,
            left.idle == 1 ? "" : "s");
}

void leak_ending(void)
{
    struct leak *k = proc->leak;
    if (!k)
        return;
    print_requests(k);
    find_objects(k);
    gather_places(k);
}

/* --- messages --------------------------------------------------------------------------------- */

static void left_message(uint32_t ctx, int source, int tag, void *arg)
{
    struct leak *k = arg;
    for (int i = 0; i < k->messages; i++) {
        struct leak_message *m = &k->message[i];
        if (m->ctx == ctx && m->source == source && m->tag == tag) {
            m->n++;
            return;
        }
    }
    if (VEC_FITS(k->message, k->message_room, k->messages + 1, AGREED))
        k->message[k->messages++] = (struct leak_message){ctx, source, tag, 1};
}

struct comm_of {
    uint32_t ctx;
    const struct comm *found;
};

static void is_comm(void *object, void *arg)
{
    struct comm_of *x = arg;
    const struct comm *c = object;
    if (c->ctx_recv == x->ctx)
        x->found = c;
}

static const char *comm_name(uint32_t ctx)
{
    struct comm_of x = {ctx, NULL};
    if (ctx == proc->obj->world->ctx_recv)
        return "MPI_COMM_WORLD";
    if (ctx == proc->obj->self->ctx_recv)
        return "MPI_COMM_SELF";
    obj_each(OBJ_COMM, is_comm, &x);
    return x.found && *x.found->name ? x.found->name : "a communicator without a name";
}

void leak_ended(void)
{
    struct leak *k = proc->leak;
    if (!k)
        return;
    p2p_never_received(left_message, k);
    for (int i = 0; i < k->messages; i++) {
        const struct leak_message *m = &k->message[i];
        struct finding f = {.class = "message", .ranks = 1, .rank = {proc->obj->world->rank}};
        say(k, &f, "never received: %d message%s from rank %d of %s with tag %d", m->n,
            m->n == 1 ? "" : "s", m->source, comm_name(m->ctx), m->tag);
    }
    if (k->more)
        log_warn("%d more kinds of what is left were not printed", k->more);
}
