/* pmi_server.c - the PMI-1 server: one state machine for each rank; a barrier and a store for each
 * job (doc/pmi-wire.md). Start with pmi_feed(). */
#include "launch/pmi_server.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "launch/kvs.h"
#include "launch/ports.h"
#include "launch/spawn_request.h"

/* All commands have one signature; not every function needs all parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum rank_state { NOT_YET, INITIALIZED, FINALIZED };

struct pmi_rank {
    enum rank_state state;
    int in_barrier, gone;
    /* asked for the next barrier without waiting for the end of this one; a third one is dropped */
    int ahead;
    struct spawn_request *multi; /* inside mcmd=.. endcmd */
    int deaf;  /* broke the rules: nothing more is read from it */
    pid_t pid;
    uint64_t where;
    size_t have;
    char *line; /* PMI_LINE_MAX bytes, while a line is incomplete */
};

struct world { /* a job */
    int first, size;
    int waiting; /* live ranks in the barrier */
    int gone;    /* ranks that will never enter it */
    int ended;   /* ranks that have ended */
    int met;     /* it has met those that spawned it */
    char *name; /* NULL: forgotten */
    char *port; /* where it meets those that spawned it; NULL: the first job, or forgotten */
    struct kvs kvs;
    struct pmi_rank rank[];
};

struct pmi_server {
    struct pmi_host host;
    int universe, met; /* met: some rank has called MPI_Init */
    char job[PMI_KVS_MAX];
    struct world **world; /* by their first ranks */
    int nworlds, worlds_room;
    struct kvs all;   /* of all jobs */
    struct kvs names; /* of ports */
    uint64_t net;     /* network namespace of the first process; 0: not known yet */
    struct meets meets;
};

static struct world *world_of(const struct pmi_server *s, int rank)
{
    int lo = 0, hi = s->nworlds - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (s->world[mid]->first <= rank)
            lo = mid;
        else
            hi = mid - 1;
    }
    return s->world[lo];
}

static struct pmi_rank *at(const struct pmi_server *s, int rank)
{
    struct world *w = world_of(s, rank);
    return &w->rank[rank - w->first];
}

static void say(struct pmi_server *s, int rank, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct pmi_server *s, int rank, const char *fmt, ...)
{
    char line[PMI_LINE_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n < sizeof line)
        s->host.reply(s->host.arg, rank, line, (size_t)n);
}

/* --- barrier ------------------------------------------------------------------ */

static void barrier_check(struct pmi_server *s, struct world *w)
{
    while (w->waiting && w->waiting + w->gone >= w->size) {
        w->waiting = 0;
        for (int r = 0; r < w->size; r++) {
            struct pmi_rank *k = &w->rank[r];
            if (!k->in_barrier)
                continue;
            k->in_barrier = k->ahead; /* as if it had asked now */
            k->ahead = 0;
            w->waiting += k->in_barrier;
            say(s, w->first + r, "cmd=barrier_out\n");
        }
    }
}

void pmi_gone(struct pmi_server *s, int rank, int go_on)
{
    struct world *w = world_of(s, rank);
    struct pmi_rank *r = at(s, rank);
    if (r->gone)
        return;
    r->gone = 1;
    w->waiting -= r->in_barrier;
    r->in_barrier = r->ahead = 0;
    meets_gone(&s->meets, rank);
    if (w->port) /* closed already if they have met */
        meets_fail(&s->meets, w->port, -ECHILD);
    if (++w->ended == w->size) { /* no process asks for its values any more */
        kvs_free(&w->kvs);
        kvs_init(&w->kvs);
    }
    if (go_on) {
        w->gone++;
        barrier_check(s, w);
    }
}

/* --- requests ------------------------------------------------------------------- */

/* Processes that are in different network namespaces. */
static void net_compare(struct pmi_server *s, uint64_t net)
{
    s->net = s->net ? s->net : net;
    if (net && net != s->net && s->host.apart)
        s->host.apart(s->host.arg);
}

static void on_init(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    int version = 0, subversion = 0, pid = 0;
    const char *where = pmi_line_get(l, "where"), *net = pmi_line_get(l, "net");
    pmi_line_int(l, "pmi_version", 0, INT_MAX, &version);
    pmi_line_int(l, "pmi_subversion", 0, INT_MAX, &subversion);
    pmi_line_int(l, "pid", 1, INT_MAX, &pid);
    int ok = version == 1;
    if (ok) {
        struct pmi_rank *r = at(s, rank);
        r->state = INITIALIZED;
        s->met = 1;
        r->pid = pid;
        r->where = where ? strtoull(where, NULL, 16) : 0;
        if (!pid && s->host.stranger)
            s->host.stranger(s->host.arg, rank);
        if (net && world_of(s, rank)->first == 0)
            net_compare(s, strtoull(net, NULL, 16));
    }
    say(s, rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=%d\n", ok ? 0 : -1);
}

static void on_maxes(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    say(s, rank, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d rc=0\n", PMI_KVS_MAX,
        PMI_KEY_MAX, PMI_VALUE_MAX);
}

static void on_appnum(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    say(s, rank, "cmd=appnum appnum=%d rc=0\n", s->host.appnum(s->host.arg, rank));
}

static void on_universe(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    say(s, rank, "cmd=universe_size size=%d rc=0\n", s->universe);
}

static void on_kvsname(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    say(s, rank, "cmd=my_kvsname kvsname=%s rc=0\n", world_of(s, rank)->name);
}

/* The store of that name which this rank may use. */
static struct kvs *store(struct pmi_server *s, int rank, const char *name)
{
    struct world *w = world_of(s, rank);
    if (!name || !w->name)
        return NULL;
    return !strcmp(name, w->name) ? &w->kvs : !strcmp(name, "all") ? &s->all : NULL;
}

static void on_put(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "kvsname"), *key = pmi_line_get(l, "key"),
               *value = pmi_line_get(l, "value");
    struct kvs *kvs = store(s, rank, name);
    const char *msg = NULL;
    if (!kvs)
        msg = "unknown_kvsname";
    else if (!key || !*key || strlen(key) >= PMI_KEY_MAX)
        msg = "bad_key";
    else if (!value || strlen(value) >= PMI_VALUE_MAX)
        msg = "bad_value";
    else if (kvs_put(kvs, key, value))
        msg = "no_memory";
    say(s, rank, "cmd=put_result rc=%d msg=%s\n", msg ? -1 : 0, msg ? msg : "success");
}

static void on_get(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "kvsname"), *key = pmi_line_get(l, "key");
    const struct kvs *kvs = store(s, rank, name);
    const char *value = key && kvs ? kvs_get(kvs, key) : NULL;
    if (value)
        say(s, rank, "cmd=get_result rc=0 msg=success value=%s\n", value);
    else
        say(s, rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void on_barrier(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    struct world *w = world_of(s, rank);
    struct pmi_rank *r = at(s, rank);
    if (r->gone)
        return;
    if (r->in_barrier) {
        r->ahead = 1;
        return;
    }
    r->in_barrier = 1;
    w->waiting++;
    barrier_check(s, w);
}

static void on_finalize(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    at(s, rank)->state = FINALIZED;
    say(s, rank, "cmd=finalize_ack rc=0\n");
}

static void on_abort(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    int code = 1, own = 0;
    char why[1024] = "";
    size_t n = sizeof why - 1;
    const char *text = pmi_line_get(l, "text");
    pmi_line_int(l, "exitcode", INT_MIN, INT_MAX, &code);
    pmi_line_int(l, "own", 0, 1, &own);
    if (text && !pmi_unhex(text, why, &n))
        why[n] = 0;
    s->host.aborted(s->host.arg, rank, code, own, why);
}

/* --- ports, names, further jobs ---------------------------------------------------- */

static void on_open_port(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    char port[MEET_PORT_MAX], hex[2 * MEET_PORT_MAX + 1] = "";
    int rc = meets_open(&s->meets, rank, 0, port);
    if (!rc)
        pmi_hex(port, strlen(port), hex);
    say(s, rank, "cmd=port_result rc=%d value=%s\n", rc, rc ? "-" : hex);
}

/* A word of the line that is text in hexadecimal digits. 0 or -EINVAL. */
static int word(const struct pmi_line *l, const char *key, char text[MEET_PORT_MAX])
{
    const char *hex = pmi_line_get(l, key);
    size_t len = MEET_PORT_MAX - 1;
    if (!hex || pmi_unhex(hex, text, &len))
        return -EINVAL;
    text[len] = 0;
    return strlen(text) == len ? 0 : -EINVAL;
}

static void on_close_port(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    char port[MEET_PORT_MAX];
    int rc = word(l, "port", port) ? -ENOENT : meets_close(&s->meets, rank, port);
    say(s, rank, "cmd=port_result rc=%d\n", rc);
}

static void on_meet(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    char port[MEET_PORT_MAX];
    int number = 0, accepts = 0;
    const char *bring = pmi_line_get(l, "bring");
    pmi_line_int(l, "number", 0, INT_MAX, &number);
    pmi_line_int(l, "accepts", 0, 1, &accepts);
    int bad = word(l, "port", port) || !bring || strlen(bring) > MEET_BRING_MAX;
    int rc = bad ? -EINVAL
                 : meets_ask(&s->meets, rank, (unsigned)number, accepts, port, bring);
    if (rc)
        say(s, rank, "cmd=met number=%d rc=%d\n", number, rc);
}

static void answer(struct pmi_server *s, int rank, unsigned number, int rc, const char *brought)
{
    say(s, rank, "cmd=met number=%u rc=%d brought=%s\n", number, rc, brought ? brought : "-");
}

/* It was answered already if it waits no more. */
static void on_unmeet(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    int number = 0;
    pmi_line_int(l, "number", 0, INT_MAX, &number);
    if (meets_leave(&s->meets, rank, (unsigned)number))
        answer(s, rank, (unsigned)number, -ECANCELED, NULL);
}

/* The first meeting of a spawned job is that with those that spawned it. */
static void on_met(void *arg, int rank, unsigned number, int rc, const char *brought)
{
    if (!rc)
        world_of(arg, rank)->met = 1;
    answer(arg, rank, number, rc, brought);
}

static void on_publish(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "service"), *port = pmi_line_get(l, "port");
    int rc = !name || !port ? -EINVAL : kvs_get(&s->names, name) ? -EEXIST : 0;
    if (!rc)
        rc = kvs_put(&s->names, name, port);
    say(s, rank, "cmd=publish_result rc=%d\n", rc);
}

static void on_unpublish(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "service");
    say(s, rank, "cmd=unpublish_result rc=%d\n", name ? kvs_del(&s->names, name) : -EINVAL);
}

static void on_lookup(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "service"), *port = name ? kvs_get(&s->names, name) : NULL;
    say(s, rank, "cmd=lookup_result rc=%d value=%s\n", port ? 0 : -ENOENT, port ? port : "-");
}

static void on_spawn(struct pmi_server *s, int rank, struct spawn_request *q)
{
    unsigned number = q->number;
    int ours = number != 0, rc = spawn_request_check(q);
    if (!rc && s->host.spawn)
        rc = s->host.spawn(s->host.arg, rank, q);
    else
        spawn_request_free(q);
    if (!ours) /* not of this library: it waits for this answer */
        say(s, rank, "cmd=spawn_result rc=-1 msg=not_supported info=not_supported\n");
    else if (rc || !s->host.spawn)
        answer(s, rank, number, rc ? rc : -ENOTSUP, NULL);
}

void pmi_spawned(struct pmi_server *s, int by, unsigned number, int first, int rc)
{
    char hex[2 * MEET_PORT_MAX + 1];
    const char *port = world_of(s, first)->port;
    pmi_hex(port, strlen(port), hex);
    if (rc) /* those that spawn learn no name of it, and never accept there */
        meets_close(&s->meets, by, port);
    answer(s, by, number, rc, rc ? NULL : hex);
}

int pmi_alone(const struct pmi_server *s, int rank)
{
    const struct world *w = world_of(s, rank);
    return w->port && !w->met;
}

void pmi_world_fail(struct pmi_server *s, int first, int rc)
{
    meets_fail(&s->meets, world_of(s, first)->port, rc);
}

static const struct {
    const char *cmd;
    void (*fn)(struct pmi_server *, int, const struct pmi_line *);
} commands[] = {
    {"init", on_init},
    {"get_maxes", on_maxes},
    {"get_appnum", on_appnum},
    {"get_universe_size", on_universe},
    {"get_my_kvsname", on_kvsname},
    {"put", on_put},
    {"get", on_get},
    {"barrier_in", on_barrier},
    {"finalize", on_finalize},
    {"abort", on_abort},
    {"open_port", on_open_port},
    {"close_port", on_close_port},
    {"meet", on_meet},
    {"unmeet", on_unmeet},
    {"publish_name", on_publish},
    {"unpublish_name", on_unpublish},
    {"lookup_name", on_lookup},
};

static void broken(struct pmi_server *s, int rank, const char *how)
{
    at(s, rank)->deaf = 1;
    s->host.broken(s->host.arg, rank, how);
}

/* A line of mcmd=... endcmd. 1: it was one. */
static int on_multi(struct pmi_server *s, int rank, char *text)
{
    struct pmi_rank *r = at(s, rank);
    if (!r->multi && strncmp(text, "mcmd=", 5) != 0)
        return 0;
    if (!r->multi && !(r->multi = spawn_request_new())) {
        broken(s, rank, "out of memory");
    } else if (!strcmp(text, "endcmd")) {
        struct spawn_request *q = r->multi;
        r->multi = NULL;
        on_spawn(s, rank, q);
    } else {
        spawn_request_line(r->multi, text);
    }
    return 1;
}

static void on_line(struct pmi_server *s, int rank, char *text)
{
    struct pmi_line l;
    if (on_multi(s, rank, text))
        return;
    if (pmi_line_parse(text, &l)) {
        broken(s, rank, "a request has too many words");
        return;
    }
    const char *cmd = pmi_line_get(&l, "cmd");
    for (size_t i = 0; cmd && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].cmd, cmd)) {
            commands[i].fn(s, rank, &l);
            return;
        }
    broken(s, rank, "an unknown request");
}

void pmi_feed(struct pmi_server *s, int rank, const char *bytes, size_t len)
{
    struct pmi_rank *r = at(s, rank);
    if (!r->line && !(r->line = malloc(PMI_LINE_MAX))) {
        broken(s, rank, "out of memory");
        return;
    }
    for (size_t i = 0; i < len && !r->gone && !r->deaf; i++) {
        if (bytes[i] == '\n') {
            r->line[r->have] = 0;
            r->have = 0;
            on_line(s, rank, r->line);
        } else if (!bytes[i] || r->have == PMI_LINE_MAX - 1) {
            r->have = 0;
            broken(s, rank, bytes[i] ? "a line without end" : "a zero byte");
            return;
        } else {
            r->line[r->have++] = bytes[i];
        }
    }
    if (!r->have) {
        free(r->line);
        r->line = NULL;
    }
}

/* --- life --------------------------------------------------------------------------- */

int pmi_world_add(struct pmi_server *s, int first, int size, int by)
{
    char mapping[64], text[PMI_KVS_MAX], port[MEET_PORT_MAX];
    struct world *w = calloc(1, sizeof *w + (size_t)size * sizeof *w->rank);
    if (!w || !VEC_FITS(s->world, s->worlds_room, s->nworlds + 1, 4)) {
        free(w);
        return -ENOMEM;
    }
    kvs_init(&w->kvs);
    w->first = first;
    w->size = size;
    snprintf(mapping, sizeof mapping, "(vector,(0,1,%d))", size);
    if (first)
        snprintf(text, sizeof text, "%.200s.%d", s->job, first);
    else
        snprintf(text, sizeof text, "%s", s->job);
    int err = kvs_put(&w->kvs, "PMI_process_mapping", mapping);
    if (!err && !(w->name = strdup(text)))
        err = -ENOMEM;
    if (!err && first)
        err = meets_open(&s->meets, by, 1, port);
    if (!err && first && !(w->port = strdup(port))) {
        meets_close(&s->meets, by, port);
        err = -ENOMEM;
    }
    if (err) {
        kvs_free(&w->kvs);
        free(w->name);
        free(w);
        return err;
    }
    s->world[s->nworlds++] = w;
    return 0;
}

const char *pmi_world_port(const struct pmi_server *s, int rank)
{
    return world_of(s, rank)->port;
}

void pmi_world_forget(struct pmi_server *s, int first)
{
    struct world *w = world_of(s, first);
    free(w->name);
    free(w->port);
    w->name = w->port = NULL;
}

int pmi_server_new(struct pmi_server **out, int size, int universe, const char *job,
                   const struct pmi_host *host)
{
    struct pmi_server *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    kvs_init(&s->all);
    kvs_init(&s->names);
    s->host = *host;
    s->universe = universe;
    snprintf(s->job, sizeof s->job, "%s", job);
    meets_init(&s->meets, s->job, on_met, s);
    int err = pmi_world_add(s, 0, size, -1);
    if (err) {
        pmi_server_free(s);
        return err;
    }
    *out = s;
    return 0;
}

void pmi_server_free(struct pmi_server *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->nworlds; i++) {
        struct world *w = s->world[i];
        for (int r = 0; r < w->size; r++) {
            free(w->rank[r].line);
            spawn_request_free(w->rank[r].multi);
        }
        kvs_free(&w->kvs);
        free(w->name);
        free(w->port);
        free(w);
    }
    free(s->world);
    kvs_free(&s->all);
    kvs_free(&s->names);
    meets_free(&s->meets);
    free(s);
}

int pmi_initialized(const struct pmi_server *s, int rank)
{
    return at(s, rank)->state == INITIALIZED;
}

int pmi_finalized(const struct pmi_server *s, int rank)
{
    return at(s, rank)->state == FINALIZED;
}

int pmi_met(const struct pmi_server *s)
{
    return s->met;
}

pid_t pmi_pid(const struct pmi_server *s, int rank)
{
    return at(s, rank)->pid;
}

uint64_t pmi_where(const struct pmi_server *s, int rank)
{
    return at(s, rank)->where;
}

int pmi_waiting(const struct pmi_server *s, int rank)
{
    return world_of(s, rank)->waiting;
}

int pmi_missing(const struct pmi_server *s, int rank)
{
    const struct world *w = world_of(s, rank);
    int r = 0;
    if (!w->waiting || !w->ended)
        return -1;
    while (!w->rank[r].gone)
        r++;
    return w->first + r;
}
