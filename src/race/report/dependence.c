/* dependence.c - the dependences of the operations on each window, as a graph (DOT) in the file of
 * MPIR_CVAR_RACE_GRAPH. Start with race_graph_edge() and race_graph_write().
 *
 *   node   accesses of one thread from one place of the program to one window of one process
 *   edge   a pair that conflicts, from the earlier one to the later one. Its text is what orders
 *          them: the call that completed the earlier one, and how it reached the later thread
 *
 * Each process has the part of its own memory; they write one after the other at MPI_Finalize. */
#include "race/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "boot/boot.h"
#include "var/var.h"

enum { MOST_NODES = 4096, MOST_EDGES = 16384, RACES = 1 << 16 };
enum reached { BY_ITSELF, BY_ALL, BY_OTHERS };

struct cluster { /* a window of this process, or its buffers */
    struct cluster *next;
    uint64_t win; /* 0: buffers, or freed */
    unsigned number;
    uint64_t made; /* freed: where it was made, and its name */
    char label[80];
};
struct node {
    struct node *next;
    const struct cluster *in;
    unsigned number;
    uint64_t site, at, end, runs;
    uint32_t tid;
    uint8_t call, kind, buffer, joined; /* joined: by an edge */
};
struct edge {
    struct edge *next;
    const struct node *from, *to;
    uint64_t site, runs;
    unsigned call; /* RACES | rule: nothing orders them */
    enum reached reached;
};
struct race_graph {
    struct cluster *clusters;
    struct node *nodes;
    struct edge *edges;
    struct map by_node, by_edge;
    unsigned nclusters, nnodes, nedges;
    uint64_t left_out;
};

int race_graph_init(void)
{
    struct race *r = proc->race;
    if (!*cvar.race_graph)
        return 0;
    r->graph = calloc(1, sizeof *r->graph);
    if (!r->graph)
        return -ENOMEM;
    map_init(&r->graph->by_node);
    map_init(&r->graph->by_edge);
    return 0;
}

void race_graph_free(void)
{
    struct race_graph *g = proc->race->graph;
    if (!g)
        return;
    for (struct cluster *c = g->clusters, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    for (struct node *n = g->nodes, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    for (struct edge *e = g->edges, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    map_destroy(&g->by_node);
    map_destroy(&g->by_edge);
    free(g);
    proc->race->graph = NULL;
}

/* --- collecting ------------------------------------------------------------------------------- */

static struct cluster *cluster_of(struct race_graph *g, uint64_t win)
{
    for (struct cluster *c = g->clusters; c; c = c->next)
        if (c->win == win && (win || !*c->label))
            return c;
    struct cluster *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->win = win;
    c->number = g->nclusters++;
    c->next = g->clusters;
    g->clusters = c;
    return c;
}

static struct node *node_of(struct race_graph *g, const struct race_access *r)
{
    struct cluster *c = cluster_of(g, r->effect.flags & RACE_BUFFER ? 0 : r->batch->win);
    int buffer = (r->effect.flags & RACE_BUFFER) != 0;
    if (!c)
        return NULL;
    uint64_t key = hash_mix(hash_mix(hash_mix(1, r->site), r->batch->tid), c->number);
    key = hash_mix(key, (uint64_t)r->call << 16 | (uint64_t)r->effect.kind << 8 | (uint64_t)buffer);
    struct node *n = map_get(&g->by_node, key);
    if (n)
        return n;
    n = g->nnodes < MOST_NODES ? calloc(1, sizeof *n) : NULL;
    if (!n || map_put(&g->by_node, key, n)) {
        free(n);
        return NULL;
    }
    *n = (struct node){.next = g->nodes,
                       .in = c,
                       .number = g->nnodes++,
                       .site = r->site,
                       .at = r->interval.at,
                       .end = race_interval_end(&r->interval),
                       .tid = r->batch->tid,
                       .call = r->call,
                       .kind = r->effect.kind,
                       .buffer = (uint8_t)buffer};
    g->nodes = n;
    return n;
}

void race_graph_node(const struct race_access *r)
{
    struct race_graph *g = proc->race->graph;
    struct node *n = g ? node_of(g, r) : NULL;
    if (!n)
        return;
    n->at = r->interval.at < n->at ? r->interval.at : n->at;
    n->end = race_interval_end(&r->interval) > n->end ? race_interval_end(&r->interval) : n->end;
    n->runs += r->weight;
}

static void add_edge(struct race_graph *g, const struct race_access *a, const struct race_access *b,
                     unsigned call, uint64_t site, enum reached reached)
{
    struct node *from = node_of(g, a), *to = node_of(g, b);
    uint64_t key = from && to ? hash_mix(hash_mix(hash_mix(1, from->number), to->number), call) : 0;
    key = hash_mix(hash_mix(key, site), reached);
    struct edge *e = from && to ? map_get(&g->by_edge, key) : NULL;
    if (e) {
        e->runs++;
        return;
    }
    e = from && to && g->nedges < MOST_EDGES ? calloc(1, sizeof *e) : NULL;
    if (!e || map_put(&g->by_edge, key, e)) {
        free(e);
        g->left_out++;
        return;
    }
    *e = (struct edge){g->edges, from, to, site, 1, call, reached};
    g->edges = e;
    g->nedges++;
    from->joined = to->joined = 1;
}

void race_graph_edge(const struct race_access *early, const struct race_access *late)
{
    struct race_graph *g = proc->race->graph;
    const struct race_batch *b = early->batch;
    uint64_t issued = race_issued(late);
    if (!g)
        return;
    if (race_is_noted(early, late)) {
        add_edge(g, early, late, RACE_CALL_NOTE, 0, BY_OTHERS);
        return;
    }
    enum reached reached = b->tid == late->batch->tid                          ? BY_ITSELF
                       : b->done >> RACE_PHASE_BITS < issued >> RACE_PHASE_BITS ? BY_ALL
                                                                           : BY_OTHERS;
    add_edge(g, early, late, b->done_call, b->done_site, reached);
}

void race_graph_race(const struct race_conflict *f)
{
    struct race_graph *g = proc->race->graph;
    if (g && !f->possible)
        add_edge(g, f->old, f->now, RACES | f->rule, 0, BY_OTHERS);
}

/* Its name is known for the last time; another one may get its number. */
void race_graph_win_freed(struct race_win *x)
{
    struct race_graph *g = proc->race->graph;
    for (struct cluster *c = g ? g->clusters : NULL; c; c = c->next) {
        if (c->win != x->id)
            continue;
        snprintf(c->label, sizeof c->label, "window %.64s", rma_win_name(x->w));
        c->made = x->site;
        c->win = 0;
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Quoted as DOT wants it. */
static const char *quoted(const char *s, char *buf, size_t len)
{
    size_t n = 0;
    for (; *s && n + 3 < len; s++) {
        if ((unsigned char)*s < ' ')
            continue;
        if (*s == '"' || *s == '\\')
            buf[n++] = '\\';
        buf[n++] = *s;
    }
    buf[n] = 0;
    return buf;
}

static void put_node(int fd, const struct node *n)
{
    char at[160], text[320], thread[32] = "", times[48] = "";
    uint32_t ranks = (uint32_t)boot_size();
    race_site_text(n->site, at, sizeof at);
    if (n->tid >= ranks)
        snprintf(thread, sizeof thread, ", thread %u", n->tid / ranks);
    if (n->runs != 1)
        snprintf(times, sizeof times, ", %llu times", (unsigned long long)n->runs);
    dprintf(fd, "    n%d_%u [label=\"%s%s\\nrank %u%s%s%s\\n%llu bytes%s\"];\n", race_rank(),
            n->number, race_call_text(n->call, n->site),
            !n->buffer ? "" : n->kind == RACE_LOAD ? " reads" : " writes", n->tid % ranks, thread,
            *at ? "\\n" : "", quoted(at, text, sizeof text), (unsigned long long)(n->end - n->at),
            times);
}

static void put_edge(int fd, const struct edge *e)
{
    static const char *const how[] = {"", "\\nand a collective call of all",
                                      "\\nand a message, lock or group"};
    char at[160] = "", text[320], times[48] = "";
    int races = (e->call & RACES) != 0;
    const char *call = races     ? "nothing\\n"
                       : e->call ? race_call_text(e->call, e->site)
                                 : "program order";
    if (!races)
        race_site_text(e->site, at, sizeof at);
    if (e->runs > 1)
        snprintf(times, sizeof times, "\\n%llu times", (unsigned long long)e->runs);
    const char *rest = races ? race_rule_text((enum race_rule)(e->call & (RACES - 1))) : at;
    dprintf(fd, "  n%d_%u -> n%d_%u [%slabel=\"%s%s%s%s%s\"];\n", race_rank(), e->from->number,
            race_rank(), e->to->number, races ? "color=red, dir=none, " : "", call,
            *at ? "\\n" : "", quoted(rest, text, sizeof text), races ? "" : how[e->reached], times);
}

/* Buffers that nothing depends on are of no interest. */
static int is_shown(const struct node *n, const struct cluster *c)
{
    return n->in == c && (n->joined || c->win || *c->label);
}

static void put_head(int fd, const struct cluster *c)
{
    char made[160], label[280], text[600];
    snprintf(label, sizeof label, "%s", c->win ? "a window" : "buffers and own memory");
    if (*c->label) {
        race_site_text(c->made, made, sizeof made);
        snprintf(label, sizeof label, "%s, made at %s", c->label, made);
    }
    dprintf(fd, "  subgraph cluster_%d_%u {\n    label=\"%s\\nat rank %d\";\n", race_rank(),
            c->number, quoted(label, text, sizeof text), race_rank());
}

/* Lines are awaited here, and other threads may add edges meanwhile: those may have no node in this
 * file, so the list is taken first. */
static void put_part(int fd, const struct race_graph *g)
{
    const struct edge *edges = g->edges;
    for (const struct cluster *c = g->clusters; c; c = c->next) {
        int any = 0;
        for (const struct node *n = g->nodes; n; n = n->next)
            any |= is_shown(n, c);
        if (!any)
            continue;
        put_head(fd, c);
        for (const struct node *n = g->nodes; n; n = n->next)
            if (is_shown(n, c))
                put_node(fd, n);
        dprintf(fd, "  }\n");
    }
    for (const struct edge *e = edges; e; e = e->next)
        put_edge(fd, e);
    if (g->left_out)
        dprintf(fd, "  // %llu dependences of rank %d left out\n",
                (unsigned long long)g->left_out, race_rank());
}

void race_graph_write(void)
{
    const struct race_graph *g = proc->race->graph;
    const int how = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    for (int rank = 0; g && rank < boot_size(); rank++) {
        if (rank == race_rank()) {
            int fd = open(cvar.race_graph, rank ? how : how | O_TRUNC, 0644);
            if (fd < 0)
                log_warn("MPIR_CVAR_RACE_GRAPH: %s: %s", cvar.race_graph, strerror(errno));
            if (fd >= 0 && !rank)
                dprintf(fd, "digraph dependences {\n  node [shape=box];\n");
            if (fd >= 0)
                put_part(fd, g);
            if (fd >= 0 && rank == boot_size() - 1)
                dprintf(fd, "}\n");
            if (fd >= 0)
                close(fd);
        }
        if (coll_barrier(proc->obj->world))
            return;
    }
}
