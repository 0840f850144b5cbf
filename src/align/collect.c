/* collect.c - the collector: states of all that wait, rounds of questions, verdict (stall.c). Start
 * with stall_keep(), then turn(). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "align/stall.h"
#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "finding/finding.h"
#include "var/var.h"

static const uint64_t GATHER_NS = 50000000u;   /* for the states of others */
static const uint64_t BETWEEN_NS = 100000000u; /* the two turns */
/* All of the core answer within it; doubled for those that did not. */
static const uint64_t SAME_NS = 1000000000u, SAME_MAX_NS = 64000000000u;
enum { STATES_MAX = 4096, LINES = 12 };

struct stall_state {
    struct state_msg m;
    const struct wait_item *item;
    const struct wait_comm *comm;
    uint16_t same; /* the last turn of the round that it has answered */
    int silent;    /* it did not answer in time: it counts again when it does */
    int more;      /* verdict: it stands in the line of an earlier one */
    int proven;    /* quiet: it is in a core */
    char bytes[] __attribute__((aligned(8)));
};

/* --- states ----------------------------------------------------------------------------------- */

static void wake(struct stall *s)
{
    if (!s->due)
        s->due = time_now() + GATHER_NS;
    progress_hook_add(&s->hook);
}

static void end_round(struct stall *s)
{
    free(s->core);
    free(s->peers);
    free(s->npeers);
    s->core = NULL;
    s->peers = s->npeers = NULL;
    s->turn = 0;
    s->ncore = s->pause = 0;
}

static void drop(struct stall *s, int world)
{
    struct stall_state *st = map_get(&s->states, (uint64_t)world + 1);
    if (!st)
        return;
    for (int i = 0; i < s->ncore; i++)
        if (s->core[i] == st) {
            end_round(s);
            wake(s);
        }
    map_del(&s->states, (uint64_t)world + 1);
    free(st);
}

/* The communicators of the core on which a process waits have this verdict at all that wait. */
static void send_verdict(const struct stall *s, const struct stall_state *st)
{
    struct verdict_msg m = {0};
    for (int i = 0; i < s->nkeys; i++)
        for (int j = 0; j < st->m.comms; j++)
            if (st->comm[j].key == s->keys[i])
                m.key[m.n++] = s->keys[i];
    if (st->m.world == boot_rank())
        stall_verdict(&m, s->why);
    else if (m.n)
        post_send(st->m.world, STALL_VERDICT, &m, sizeof m, s->why, strlen(s->why) + 1);
}

void stall_keep(struct stall *s, const struct state_msg *m, const void *tail)
{
    size_t items = m->items * sizeof(struct wait_item);
    size_t len = items + m->comms * sizeof(struct wait_comm);
    drop(s, m->world);
    if (s->states.count >= STATES_MAX)
        return;
    struct stall_state *st = malloc(sizeof *st + len);
    if (!st || map_put(&s->states, (uint64_t)m->world + 1, st)) {
        free(st);
        return;
    }
    st->m = *m;
    st->same = 0;
    st->silent = st->proven = 0;
    memcpy(st->bytes, tail, len);
    st->item = (const struct wait_item *)st->bytes;
    st->comm = (const struct wait_comm *)(st->bytes + items);
    site_learn(m->module, m->path);
    if (s->over) {
        if (s->why)
            send_verdict(s, st);
        drop(s, m->world);
        return;
    }
    wake(s);
}

static int by_world(const void *x, const void *y)
{
    const struct waiter *a = x, *b = y;
    return (a->world > b->world) - (a->world < b->world);
}

/* All that have reported, in rank order; NULL: no memory. */
static struct waiter *waiters(const struct stall *s, int *n)
{
    struct waiter *w = calloc(s->states.count + 1, sizeof *w);
    size_t at = 0;
    *n = 0;
    for (struct map_entry *e; w && (e = map_next(&s->states, &at)) != NULL;) {
        const struct stall_state *st = e->value;
        if (st->silent || st->proven)
            continue;
        w[(*n)++] = (struct waiter){.world = st->m.world, .mode = (enum wait_mode)st->m.mode,
                                    .items = st->m.items, .comms = st->m.comms,
                                    .item = st->item, .comm = st->comm};
    }
    if (w)
        qsort(w, (size_t)*n, sizeof *w, by_world);
    return w;
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void ask_all(struct stall *s, uint16_t turn)
{
    s->turn = turn;
    s->pause = 0;
    s->awaited = s->ncore;
    s->end = time_now() + s->timeout;
    for (int i = 0; i < s->ncore; i++) {
        const struct stall_state *st = s->core[i];
        struct ask_msg m = {.id = st->m.id, .round = s->round, .turn = turn,
                            .n = (uint16_t)s->npeers[i]};
        const int32_t *peer = s->peers + i * CORE_MAX;
        if (st->m.world == boot_rank())
            stall_asked(s, boot_rank(), &m, peer);
        else
            post_send(st->m.world, STALL_ASK, &m, sizeof m, peer, m.n * sizeof *peer);
    }
}

static void add_peer(struct stall *s, int i, int world)
{
    int *peer = s->peers + i * CORE_MAX;
    for (int j = 0; j < s->npeers[i]; j++)
        if (peer[j] == world)
            return;
    if (s->core[i]->m.world != world)
        peer[s->npeers[i]++] = world;
}

static void begin_round(struct stall *s, const struct waiter *w, const struct stuck_core *c)
{
    s->core = calloc((size_t)c->n, sizeof(struct stall_state *));
    s->peers = calloc((size_t)c->n * CORE_MAX, sizeof *s->peers);
    s->npeers = calloc((size_t)c->n, sizeof *s->npeers);
    if (!s->core || !s->peers || !s->npeers) {
        end_round(s);
        return;
    }
    s->ncore = c->n;
    s->round++;
    for (int i = 0; i < c->n; i++) {
        s->core[i] = map_get(&s->states, (uint64_t)w[c->member[i]].world + 1);
        s->core[i]->same = 0;
    }
    for (int e = 0; e < c->edges; e++)
        for (int i = 0; i < c->n; i++) {
            if (c->member[i] == c->from[e])
                add_peer(s, i, w[c->to[e]].world);
            if (c->member[i] == c->to[e])
                add_peer(s, i, w[c->from[e]].world);
        }
    ask_all(s, 1);
}

static void look(struct stall *s)
{
    int n;
    struct waiter *w = waiters(s, &n);
    struct stuck_core *c = malloc(sizeof *c);
    if (w && c && graph_strike(w, n) && graph_core(w, n, c))
        begin_round(s, w, c);
    free(c);
    free(w);
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* Into a sorted list of n ranks. */
static void insert(int *rank, int n, int world)
{
    for (; n && rank[n - 1] > world; n--)
        rank[n] = rank[n - 1];
    rank[n] = world;
}

/* The ranks that member i of the core waits for. */
static void targets(const struct waiter *w, const struct stuck_core *c, int i, char *buf,
                    size_t len)
{
    int rank[CORE_MAX] = {0}, n = 0;
    for (int j = 0; j < c->n; j++)
        for (int e = 0; e < c->edges; e++)
            if (c->from[e] == c->member[i] && c->to[e] == c->member[j]) {
                insert(rank, n++, w[c->to[e]].world);
                break;
            }
    char list[80];
    text_ranks(rank, n, list, sizeof list);
    snprintf(buf, len, "rank%s %s", n > 1 ? "s" : "", list);
}

struct verdict {
    const struct waiter *w;
    const struct stuck_core *c;
    struct stall *s;
    char *brief;
    size_t at;
    int lines;
};

static void append(struct verdict *v, const char *text)
{
    size_t room = TEXT_SHORT - v->at, n = strlen(text);
    if (n >= room)
        return;
    memcpy(v->brief + v->at, text, n + 1);
    v->at += n;
}

/* The members of the core that do and need the same as i, in one line. */
static void report_group(struct verdict *v, int i)
{
    const struct stall_state *st = v->s->core[i];
    char list[80], site[96] = "", needs[100], text[400];
    int rank[CORE_MAX] = {0}, n = 0;
    targets(v->w, v->c, i, needs, sizeof needs);
    for (int j = i; j < v->c->n; j++) {
        struct stall_state *other = v->s->core[j];
        char also[100];
        targets(v->w, v->c, j, also, sizeof also);
        if (other->more || other->m.site != st->m.site || strcmp(other->m.call, st->m.call) ||
            strcmp(also, needs))
            continue;
        other->more = 1;
        insert(rank, n++, other->m.world);
    }
    text_ranks(rank, n, list, sizeof list);
    if (st->m.site)
        site_text_known(st->m.site, site, sizeof site);
    if (v->lines++ < LINES) {
        if (st->m.mode == WAIT_ENDED)
            log_warn("  rank%s %-8s %s", n > 1 ? "s" : " ", list, st->m.call);
        else
            log_warn("  rank%s %-8s %-36s %s%swaits for %s", n > 1 ? "s" : " ", list, st->m.call,
                     site, *site ? ", " : "", needs);
    }
    int at = snprintf(text, sizeof text, "%srank%s %s: %s%s%s", v->lines > 1 ? "; " : "",
                      n > 1 ? "s" : "", list, st->m.call, *site ? " " : "", site);
    if (st->m.mode != WAIT_ENDED)
        snprintf(text + at, sizeof text - (size_t)at, " waits for %s", needs);
    append(v, text);
}

/* The lines of the program that the verdict names; 0: they are looked up. */
static int lines_known(const struct stall *s)
{
    uint64_t site[LINES];
    int n = 0, known = 1;
    for (int i = 0; i < s->ncore && !proc->check->quiet; i++) {
        int j = 0;
        while (j < n && site[j] != s->core[i]->m.site)
            j++;
        if (j == n && n < LINES)
            known &= site_lookup(site[n++] = s->core[i]->m.site);
    }
    return known;
}

/* Does a process of the core wait for a message, which no error of a collective call ends? */
static int holds_messages(const struct stall *s)
{
    for (int i = 0; i < s->ncore; i++)
        for (int j = 0; j < s->core[i]->m.items; j++)
            if (s->core[i]->item[j].need == NEED_PROCESS || s->core[i]->item[j].need == NEED_ANY)
                return 1;
    return 0;
}

static void end_all(struct stall *s, const char *brief)
{
    char why[TEXT_SHORT + 64];
    size_t at = 0;
    if (holds_messages(s)) {
        snprintf(why, sizeof why, "fatal error (MPI_ERR_NOT_SAME): %s", brief);
        boot_abort(MPI_ERR_NOT_SAME, why);
    }
    for (int i = 0; i < s->ncore; i++)
        for (int j = 0; j < s->core[i]->m.items; j++) {
            int k = 0;
            while (k < s->nkeys && s->keys[k] != s->core[i]->item[j].key)
                k++;
            if (k == s->nkeys && k < STALL_KEYS)
                s->keys[s->nkeys++] = s->core[i]->item[j].key;
        }
    s->why = strdup(brief);
    for (struct map_entry *e; s->why && (e = map_next(&s->states, &at)) != NULL;)
        send_verdict(s, e->value);
}

/* Does a process of the core wait for the end of a send? */
static int holds_sends(const struct stall *s)
{
    for (int i = 0; i < s->ncore; i++)
        if (s->core[i]->m.sends)
            return 1;
    return 0;
}

static void title(const struct stall *s, int stuck)
{
    int rank[CORE_MAX] = {0}, n = 0;
    char list[80], more[48] = "";
    for (int i = 0; i < s->ncore; i++) {
        insert(rank, n++, s->core[i]->m.world);
    }
    text_ranks(rank, n, list, sizeof list);
    if (stuck > n)
        snprintf(more, sizeof more, " (%d more wait, too)", stuck - n);
    log_warn("deadlock of rank%s %s%s:", n > 1 ? "s" : "", list, more);
    if (cvar.check_sends && holds_sends(s))
        log_warn("  (MPIR_CVAR_CHECK_SENDS=1: sends wait for their receives, as if no message were "
                 "buffered)");
}

static void add_finding(const struct stall *s, const char *brief)
{
    struct finding f = {.class = "deadlock"};
    char at[FINDING_PLACE];
    for (int i = 0; i < s->ncore && finding_wanted(); i++) {
        finding_rank(&f, s->core[i]->m.world);
        site_text_known(s->core[i]->m.site, at, sizeof at);
        finding_place(&f, at);
    }
    snprintf(f.text, sizeof f.text, "%s", brief);
    finding_add(&f);
}

/* mpiexec says it when it is asked. */
static void mark_core(struct stall *s)
{
    for (int i = 0; i < s->ncore; i++) {
        struct verdict_msg m = {.key = {s->core[i]->m.id}};
        s->core[i]->proven = 1;
        if (s->core[i]->m.world == boot_rank())
            stall_verdict(&m, "");
        else
            post_send(s->core[i]->m.world, STALL_VERDICT, &m, sizeof m, "", 1);
    }
    wake(s); /* others may wait for each other */
}

static void report_core(struct verdict *v, int stuck)
{
    struct stall *s = v->s;
    s->over = 1;
    pvar_set_add(pvar_proc(), PVAR_CHECK_VERDICTS, 1);
    append(v, "deadlock: ");
    title(s, stuck);
    for (int i = 0; i < s->ncore; i++)
        s->core[i]->more = 0;
    for (int i = 0; i < s->ncore; i++)
        if (!s->core[i]->more)
            report_group(v, i);
    if (v->lines > LINES)
        log_warn("  and %d more", v->lines - LINES);
    add_finding(s, v->brief);
    end_all(s, v->brief);
}

static void report_stall(struct stall *s)
{
    int n;
    struct waiter *w = waiters(s, &n);
    struct stuck_core *c = malloc(sizeof *c);
    struct verdict v = {.w = w, .c = c, .s = s, .brief = calloc(1, TEXT_SHORT)};
    /* the same states as before, but for new ones: the same core, if it is still one */
    int stuck = w && c && v.brief ? graph_strike(w, n) : 0;
    if (stuck && graph_core(w, n, c) == s->ncore) {
        int same = 1;
        for (int i = 0; i < c->n; i++)
            same &= s->core[i]->m.world == w[c->member[i]].world;
        if (same && proc->check->quiet)
            mark_core(s);
        else if (same)
            report_core(&v, stuck);
    }
    end_round(s);
    free(v.brief);
    free(c);
    free(w);
}

/* --- answers and time ------------------------------------------------------------------------- */

/* An answer that came too late for its round: it neither computes nor waits for something else. */
static void note_answer(struct stall *s, int world)
{
    struct stall_state *st = map_get(&s->states, (uint64_t)world + 1);
    if (st && st->silent) {
        st->silent = 0;
        wake(s);
    }
}

void stall_same(struct stall *s, const struct round_msg *m)
{
    if (!m->same) {
        const struct stall_state *st = map_get(&s->states, (uint64_t)m->world + 1);
        if (st && st->m.id == m->id) /* not a later wait's */
            drop(s, m->world);
        return;
    }
    note_answer(s, m->world);
    if (!s->turn || m->round != s->round || m->turn != s->turn || s->pause)
        return;
    for (int i = 0; i < s->ncore; i++)
        if (s->core[i]->m.world == m->world && s->core[i]->same != m->turn) {
            s->core[i]->same = m->turn;
            s->awaited--;
        }
    if (s->awaited)
        return;
    s->pause = 1;
    s->end = time_now() + (s->turn == 1 ? BETWEEN_NS : 0);
    lines_known(s); /* most are there after the second turn */
    progress_hook_add(&s->hook);
}

/* Those that have not answered compute, as far as is known. */
static void mark_silent(struct stall *s)
{
    for (int i = 0; i < s->ncore; i++)
        s->core[i]->silent = s->core[i]->same != s->turn;
    end_round(s);
    s->timeout = s->timeout < SAME_MAX_NS ? 2 * s->timeout : s->timeout;
    wake(s);
}

static int turn(void *arg)
{
    struct stall *s = arg;
    uint64_t now = time_now();
    if (s->over || calls_may_differ()) {
        end_round(s);
        s->due = 0;
    }
    if (s->turn && now >= s->end) {
        if (!s->pause)
            mark_silent(s);
        else if (s->turn == 1)
            ask_all(s, 2);
        else if (lines_known(s))
            report_stall(s);
        else
            s->end = now + PLACES_NS;
    } else if (!s->turn && s->due && now >= s->due) {
        s->due = 0;
        look(s);
    }
    if (!s->turn && !s->due)
        progress_hook_del(&s->hook);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

void collect_init(struct stall *s)
{
    map_init(&s->states);
    s->hook.fn = turn;
    s->hook.arg = s;
    s->timeout = SAME_NS;
}

void collect_finalize(struct stall *s)
{
    size_t at = 0;
    end_round(s);
    progress_hook_del(&s->hook);
    for (struct map_entry *e; (e = map_next(&s->states, &at)) != NULL;)
        free(e->value);
    map_destroy(&s->states);
    free(s->why);
}
