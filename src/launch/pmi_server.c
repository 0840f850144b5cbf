/* pmi_server.c - the PMI-1 server: one state machine for each rank, a barrier, the store
 * (doc/pmi-wire.md). Start with pmi_feed(). */
#include "launch/pmi_server.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/kvs.h"

/* All commands have one signature; not every function needs all parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum rank_state { NOT_YET, INITIALIZED, FINALIZED };

struct pmi_rank {
    enum rank_state state;
    int in_barrier, gone;
    /* asked for the next barrier without waiting for the end of this one; a third one is dropped */
    int ahead;
    int multi; /* inside mcmd=.. endcmd */
    int deaf;  /* broke the rules: nothing more is read from it */
    pid_t pid;
    uint64_t where;
    size_t have;
    char *line; /* PMI_LINE_MAX bytes, while a line is incomplete */
};

struct pmi_server {
    struct pmi_host host;
    int size, universe;
    int waiting;   /* live ranks in the barrier */
    int gone;      /* ranks that will never enter it */
    int met;       /* some rank has called MPI_Init */
    char job[PMI_KVS_MAX];
    struct kvs kvs;
    struct pmi_rank *rank;
};

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

static void barrier_check(struct pmi_server *s)
{
    while (s->waiting && s->waiting + s->gone >= s->size) {
        s->waiting = 0;
        for (int r = 0; r < s->size; r++) {
            struct pmi_rank *k = &s->rank[r];
            if (!k->in_barrier)
                continue;
            k->in_barrier = k->ahead; /* as if it had asked now */
            k->ahead = 0;
            s->waiting += k->in_barrier;
            say(s, r, "cmd=barrier_out\n");
        }
    }
}

void pmi_gone(struct pmi_server *s, int rank, int go_on)
{
    struct pmi_rank *r = &s->rank[rank];
    if (r->gone)
        return;
    r->gone = 1;
    s->waiting -= r->in_barrier;
    r->in_barrier = r->ahead = 0;
    if (go_on) {
        s->gone++;
        barrier_check(s);
    }
}

/* --- requests ------------------------------------------------------------------- */

static void on_init(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    int version = 0, subversion = 0, pid = 0;
    const char *where = pmi_line_get(l, "where");
    pmi_line_int(l, "pmi_version", 0, INT_MAX, &version);
    pmi_line_int(l, "pmi_subversion", 0, INT_MAX, &subversion);
    pmi_line_int(l, "pid", 1, INT_MAX, &pid);
    int ok = version == 1;
    if (ok) {
        s->rank[rank].state = INITIALIZED;
        s->met = 1;
        s->rank[rank].pid = pid;
        s->rank[rank].where = where ? strtoull(where, NULL, 16) : 0;
        if (!pid && s->host.stranger)
            s->host.stranger(s->host.arg, rank);
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
    say(s, rank, "cmd=my_kvsname kvsname=%s rc=0\n", s->job);
}

static void on_put(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "kvsname"), *key = pmi_line_get(l, "key"),
               *value = pmi_line_get(l, "value");
    const char *msg = NULL;
    if (!name || strcmp(name, s->job))
        msg = "unknown_kvsname";
    else if (!key || !*key || strlen(key) >= PMI_KEY_MAX)
        msg = "bad_key";
    else if (!value || strlen(value) >= PMI_VALUE_MAX)
        msg = "bad_value";
    else if (kvs_put(&s->kvs, key, value))
        msg = "no_memory";
    say(s, rank, "cmd=put_result rc=%d msg=%s\n", msg ? -1 : 0, msg ? msg : "success");
}

static void on_get(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    const char *name = pmi_line_get(l, "kvsname"), *key = pmi_line_get(l, "key");
    const char *value = key && name && !strcmp(name, s->job) ? kvs_get(&s->kvs, key) : NULL;
    if (value)
        say(s, rank, "cmd=get_result rc=0 msg=success value=%s\n", value);
    else
        say(s, rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void on_barrier(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    struct pmi_rank *r = &s->rank[rank];
    if (r->gone)
        return;
    if (r->in_barrier) {
        r->ahead = 1;
        return;
    }
    r->in_barrier = 1;
    s->waiting++;
    barrier_check(s);
}

static void on_finalize(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    s->rank[rank].state = FINALIZED;
    say(s, rank, "cmd=finalize_ack rc=0\n");
}

static void on_abort(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    int code = 1;
    char why[1024] = "";
    size_t n = sizeof why - 1;
    const char *text = pmi_line_get(l, "text");
    pmi_line_int(l, "exitcode", INT_MIN, INT_MAX, &code);
    if (text && !pmi_unhex(text, why, &n))
        why[n] = 0;
    s->host.aborted(s->host.arg, rank, code, why);
}

/* Requests that this server does not serve (starting more ranks, names): a plain refusal, so that
 * the client goes on. */
static void refuse(struct pmi_server *s, int rank, const char *answer)
{
    say(s, rank, "cmd=%s rc=-1 msg=not_supported info=not_supported\n", answer);
}

static void on_publish(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    refuse(s, rank, "publish_result");
}

static void on_unpublish(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    refuse(s, rank, "unpublish_result");
}

static void on_lookup(struct pmi_server *s, int rank, const struct pmi_line *l)
{
    refuse(s, rank, "lookup_result");
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
    {"publish_name", on_publish},
    {"unpublish_name", on_unpublish},
    {"lookup_name", on_lookup},
};

static void broken(struct pmi_server *s, int rank, const char *how)
{
    s->rank[rank].deaf = 1;
    s->host.broken(s->host.arg, rank, how);
}

static void on_line(struct pmi_server *s, int rank, char *text)
{
    struct pmi_rank *r = &s->rank[rank];
    struct pmi_line l;
    if (r->multi || !strncmp(text, "mcmd=", 5)) {
        r->multi = strcmp(text, "endcmd") != 0;
        if (!r->multi)
            refuse(s, rank, "spawn_result");
        return;
    }
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
    struct pmi_rank *r = &s->rank[rank];
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

int pmi_server_new(struct pmi_server **out, int size, int universe, const char *job,
                   const struct pmi_host *host)
{
    char mapping[64];
    struct pmi_server *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    kvs_init(&s->kvs);
    s->host = *host;
    s->size = size;
    s->universe = universe;
    snprintf(s->job, sizeof s->job, "%s", job);
    snprintf(mapping, sizeof mapping, "(vector,(0,1,%d))", size);
    if (!(s->rank = calloc((size_t)size, sizeof *s->rank)) ||
        kvs_put(&s->kvs, "PMI_process_mapping", mapping)) {
        pmi_server_free(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

void pmi_server_free(struct pmi_server *s)
{
    if (!s)
        return;
    for (int r = 0; s->rank && r < s->size; r++)
        free(s->rank[r].line);
    free(s->rank);
    kvs_free(&s->kvs);
    free(s);
}

int pmi_initialized(const struct pmi_server *s, int rank)
{
    return s->rank[rank].state == INITIALIZED;
}

int pmi_finalized(const struct pmi_server *s, int rank)
{
    return s->rank[rank].state == FINALIZED;
}

int pmi_met(const struct pmi_server *s)
{
    return s->met;
}

pid_t pmi_pid(const struct pmi_server *s, int rank)
{
    return s->rank[rank].pid;
}

uint64_t pmi_where(const struct pmi_server *s, int rank)
{
    return s->rank[rank].where;
}

int pmi_waiting(const struct pmi_server *s)
{
    return s->waiting;
}
