/* leak.c - what the program leaves behind at MPI_Finalize (leak.h). Start with leak_ending(). */
#include "leak/leak.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/vec.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "dt/dt.h"
#include "obj/comm.h"
#include "obj/request.h"
#include "p2p/p2p.h"
#include "place/place.h"
#include "var/var.h"
#include "watch/watch.h"

enum {
    AGREED = 64, /* places of rank 0 that the other processes count theirs to */
    LINES = 20   /* of a process: beyond them it prints a number */
};

struct leak_place {
    uint64_t site; /* site_portable(); 0: not known */
    int kind;      /* enum obj_kind */
    int n;         /* objects that were made there and are left */
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

static const struct watcher watcher = {
    .made = on_made, .comm_made = on_comm_made, .comm_freed = on_comm_freed};

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

static void left_at(int kind, uint64_t at)
{
    struct leak *k = proc->leak;
    uint64_t site = at > 1 ? site_portable(at) : 0;
    for (int i = 0; i < k->places; i++)
        if (k->place[i].kind == kind && k->place[i].site == site) {
            k->place[i].n++;
            return;
        }
    if (VEC_FITS(k->place, k->place_room, k->places + 1, AGREED))
        k->place[k->places++] = (struct leak_place){site, kind, 1};
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

static int may_print(struct leak *k)
{
    if (k->lines == LINES)
        k->more++;
    else
        k->lines++;
    return !k->more;
}

/* `by`: "", or how many processes have some. */
static void print_place(struct leak *k, const struct leak_place *p, long long n, const char *by)
{
    char line[200] = "";
    if (!may_print(k))
        return;
    site_text(p->site, line, sizeof line);
    log_warn("not freed at MPI_Finalize: %lld %s%s made at %s%s", n, kind_name[p->kind],
             n == 1 ? "" : "s", *line ? line : "an unknown place", by);
}

/* Rank 0 names its places, and prints them for all. The others print what is theirs alone. */
static void print_places(struct leak *k)
{
    struct comm *world = proc->obj->world;
    struct leak_place told[AGREED] = {0};
    int64_t count[2 * AGREED] = {0}; /* objects; processes that have some */
    int n = world->rank ? 0 : k->places < AGREED ? k->places : AGREED;
    if (n)
        memcpy(told, k->place, (size_t)n * sizeof *told);
    int together = world->size > 1 && !boot_failed_count() &&
                   !coll_bcast_bytes(&n, sizeof n, 0, world) &&
                   !coll_bcast_bytes(told, (size_t)n * sizeof *told, 0, world);
    for (int i = 0; i < k->places; i++) {
        int t = 0;
        while (t < n && (told[t].kind != k->place[i].kind || told[t].site != k->place[i].site))
            t++;
        if (t < n && (together || !world->rank)) {
            count[t] = k->place[i].n;
            count[AGREED + t] = 1;
        } else {
            print_place(k, &k->place[i], k->place[i].n, "");
        }
    }
    if (together)
        together = !coll_allreduce_i64(count, 2 * AGREED, COLL_SUM, world);
    for (int t = 0; t < n && !world->rank; t++) {
        char by[64] = "";
        if (together)
            snprintf(by, sizeof by, ", by %d of %d processes", (int)count[AGREED + t],
                     world->size);
        print_place(k, &told[t], (long long)count[t], by);
    }
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
    obj_each(OBJ_REQUEST, left_request, &left);
    if (left.active && may_print(k))
        log_warn("not completed at MPI_Finalize: %d request%s (%s%s)", left.active,
                 left.active == 1 ? "" : "s", left.some, left.named > 3 ? ", ..." : "");
    if (left.idle && may_print(k))
        log_warn("not freed at MPI_Finalize: %d persistent request%s", left.idle,
                 left.idle == 1 ? "" : "s");
}

void leak_ending(void)
{
    struct leak *k = proc->leak;
    if (!k)
        return;
    print_requests(k);
    find_objects(k);
    print_places(k);
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
        if (may_print(k))
            log_warn("never received: %d message%s from rank %d of %s with tag %d", m->n,
                     m->n == 1 ? "" : "s", m->source, comm_name(m->ctx), m->tag);
    }
    if (k->more)
        log_warn("%d more kinds of what is left were not printed", k->more);
}
