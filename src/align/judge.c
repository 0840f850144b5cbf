/* judge.c - rings go to rank 0 of the communicator, which compares, prints, and informs the others.
 * Start with judge_send_ring() and judge_look().
 *
 *   member                       judge
 *      ALIGN_RING  ------------>   compares with its own and with those that came before
 *      <------------- ALIGN_ACK    (to MPI_Finalize) the ring is here
 *      <------------- ALIGN_ASK    there is a difference, or an error: send yours
 *      <----------- ALIGN_ALIKE    (to those with an error) all have come as far, and agree
 *      <------------ ALIGN_SOON    (to those with an error) the verdict waits for its lines
 *      <--------- ALIGN_VERDICT    the text; the communicator's calls end with MPI_ERR_NOT_SAME
 *
 * Histories only grow, so a difference that two rings show is a proof. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "finding/finding.h"
#include "obj/err.h"
#include "var/var.h"

static const uint64_t GATHER_NS = 300000000u;  /* at most twice, for the rings of all others */
static const uint64_t EXPLAIN_NS = 1000000000u; /* an error waits so long for a verdict */
static const uint64_t SOON_NS = 2000000000u;   /* those with an error are asked again to wait */

struct ring_msg {
    uint64_t key, module;
    int32_t rank, between, size, world;
    uint32_t calls;
    uint16_t n;
    uint8_t final, soft, wish, blind, unused[6];
    char name[64], path[160];
};
_Static_assert(sizeof(struct ring_msg) % 8 == 0, "entries follow, aligned");

struct word_msg {
    uint64_t key;
};

/* --- sending ---------------------------------------------------------------------------------- */

static int end_of(const struct align *a)
{
    return a->final ? a->final : proc->check->ending ? ALIGN_FINALIZED : ALIGN_GOES_ON;
}

/* Behind the last rings of all the judge forgets the record. A ring that came later would make a
 * new one, in which this process seems to have made calls that the judge has not. */
void judge_send_ring(struct align *a, enum ring_wish wish)
{
    if (a->closed)
        return;
    align_rename(a);
    struct ring_msg m = {.key = a->key, .rank = a->rank, .between = a->between, .size = a->size,
                         .world = boot_rank(), .calls = a->h.calls, .final = (uint8_t)end_of(a),
                         .soft = (uint8_t)a->h.soft, .wish = (uint8_t)wish,
                         .blind = (uint8_t)(calls_may_differ() != 0)};
    size_t max = am_max(a->judge), room = max > sizeof m ? (max - sizeof m) / sizeof *a->h.ring : 0;
    uint32_t n = room < a->h.room ? (uint32_t)room : a->h.room;
    struct align_entry *e = n ? malloc(n * sizeof *e) : NULL;
    m.n = (uint16_t)(e ? history_copy(&a->h, e, n < UINT16_MAX ? n : UINT16_MAX) : 0);
    site_renew();
    if (m.n)
        site_module(e[m.n - 1].site, &m.module, m.path, sizeof m.path);
    for (uint32_t i = 0; i < m.n; i++)
        e[i].site = site_portable(e[i].site);
    snprintf(m.name, sizeof m.name, "%s", a->name);
    if (max >= sizeof m) {
        proc->check->acks += wish == RING_ACK;
        a->sent = a->h.calls + 1;
        a->closed = a->final != 0;
        post_send(a->judge, ALIGN_RING, &m, sizeof m, e, m.n * sizeof *e);
    }
    free(e);
}

static void send_word(int dst, int type, uint64_t key)
{
    struct word_msg m = {key};
    if (dst != boot_rank())
        post_send(dst, type, &m, sizeof m, NULL, 0);
}

/* To all members that the judge knows of. */
static void to_all(const struct align *a, int type, const void *extra, size_t len)
{
    struct word_msg m = {a->key};
    const struct rankmap *groups[2] = {a->comm ? a->comm->map : NULL,
                                       a->comm ? a->comm->remote : NULL};
    for (int g = 0; g < 2; g++)
        for (int i = 0; groups[g] && i < groups[g]->size; i++)
            if (rankmap_world(groups[g], i) != boot_rank())
                post_send(rankmap_world(groups[g], i), type, &m, sizeof m, extra, len);
    for (struct list *l = a->others.next; !a->comm && l != &a->others; l = l->next)
        post_send(LIST_OBJ(l, struct align_others, link)->world, type, &m, sizeof m, extra, len);
}

/* --- a verdict -------------------------------------------------------------------------------- */

/* This process as a view; e has room for its ring. */
static struct align_view own_view(const struct align *a, struct align_entry *e)
{
    uint32_t n = history_copy(&a->h, e, a->h.room);
    site_renew();
    for (uint32_t i = 0; i < n; i++)
        e[i].site = site_portable(e[i].site);
    int final = end_of(a);
    return (struct align_view){.rank = a->rank < 0 ? boot_rank() : a->rank,
                               .between = a->between, .calls = a->h.calls,
                               .first = a->h.calls - n + 1, .final = final,
                               .soft = a->h.soft, .e = e};
}

static int by_rank(const void *x, const void *y)
{
    const struct align_view *a = x, *b = y;
    return a->rank - b->rank;
}

/* All that is known, in rank order; NULL: no memory. *e holds the own entries. With packed data at
 * one member (a root of gather), others may lawfully differ in types among themselves. */
static struct align_view *all_views(const struct align *a, int *n, struct align_entry **e)
{
    int many = 1;
    for (const struct list *l = a->others.next; l != &a->others; l = l->next)
        many++;
    struct align_view *v = malloc((size_t)many * sizeof *v);
    *e = malloc((a->h.room + 1) * sizeof **e);
    if (!v || !*e) {
        free(v);
        free(*e);
        *e = NULL;
        return NULL;
    }
    v[0] = own_view(a, *e);
    *n = 1;
    for (const struct list *l = a->others.next; l != &a->others; l = l->next)
        v[(*n)++] = LIST_OBJ(l, struct align_others, link)->v;
    qsort(v, (size_t)*n, sizeof *v, by_rank);
    int soft = 0;
    for (int i = 0; i < *n; i++)
        soft |= v[i].soft;
    for (int i = 0; i < *n; i++)
        v[i].soft = soft;
    return v;
}

/* The first call in which any two differ: one of the two differs from the longest. */
static uint32_t first_difference(const struct align_view *v, int n)
{
    uint32_t first = 0, k;
    int longest = 0;
    for (int i = 1; i < n; i++)
        longest = v[i].calls > v[longest].calls ? i : longest;
    for (int i = 0; i < n; i++)
        if (i != longest && (k = views_differ(&v[i], &v[longest])) && (!first || k < first))
            first = k;
    return first;
}

static int world_of(const struct align *a, const struct align_view *v)
{
    for (const struct list *l = a->others.next; l != &a->others; l = l->next)
        if (LIST_OBJ(l, struct align_others, link)->v.rank == v->rank)
            return LIST_OBJ(l, struct align_others, link)->world;
    return boot_rank();
}

/* For machines. The text has ranks of the communicator. */
static void add_finding(const struct align *a, const struct align_view *v, int n, uint32_t k,
                        const char *brief)
{
    struct finding f = {.class = "collective"};
    uint64_t site[TEXT_LINES];
    char at[FINDING_PLACE];
    if (!finding_wanted())
        return;
    for (int i = 0; i < n; i++)
        if (shows_call(&v[i], k))
            finding_rank(&f, world_of(a, &v[i]));
    int sites = text_sites(v, n, k, site);
    for (int i = 0; i < sites; i++) {
        site_text_known(site[i], at, sizeof at);
        finding_place(&f, at);
    }
    snprintf(f.text, sizeof f.text, "%s", brief);
    finding_add(&f);
}

static void report_verdict(struct align *a, const struct align_view *v, int n, uint32_t k)
{
    struct align_text *t = malloc(sizeof *t);
    pvar_set_add(pvar_proc(), PVAR_CHECK_VERDICTS, 1);
    if (!t)
        return;
    align_rename(a);
    text_verdict(v, n, k, a->name, site_text, t);
    for (int i = 0; i < t->n; i++)
        log_warn("%s", t->line[i]);
    add_finding(a, v, n, k, t->brief);
    judge_verdict(a, t->brief);
    to_all(a, ALIGN_VERDICT, t->brief, strlen(t->brief) + 1);
    judge_end_job(a);
    free(t);
}

/* The lines of the program that the verdict about call k names; 0: they are looked up. */
static int lines_known(const struct align_view *v, int n, uint32_t k)
{
    uint64_t site[TEXT_LINES];
    int many = text_sites(v, n, k, site), known = 1;
    for (int i = 0; i < many; i++)
        known &= site_lookup(site[i]);
    return known;
}

static void look_no_more(struct align *a)
{
    proc->check->pending -= a->look != 0;
    a->look = 0;
    a->only_places = 0;
}

static void look_in(struct align *a, uint64_t ns)
{
    proc->check->pending += a->look == 0;
    a->look = time_now() + ns;
    a->only_places = 0;
    check_later(proc->check);
}

/* Others that wait behind an error wait longer. */
static void await_lines(struct align *a)
{
    uint64_t now = time_now();
    look_in(a, PLACES_NS);
    if (a->doubted && now >= a->soon_at) {
        a->soon = 1;
        a->soon_at = now + SOON_NS;
        to_all(a, ALIGN_SOON, NULL, 0);
    }
}

/* When all members' calls are here, and when no more can come. */
static void look_at_places(struct align *a, const struct align_view *v, int n, enum judge_when now)
{
    if ((n < a->size && now != LOOK_LAST) || !places_look(a, v, n, now == LOOK_LAST))
        return;
    look_in(a, PLACES_NS); /* for the lines */
    a->only_places = 1;
}

/* A process has met an error. It waits until all members have come as far, and there is no
 * difference. */
static void look_at_undecided(struct align *a, const struct align_view *v, int n)
{
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < n; i++)
        least = v[i].calls < least && !v[i].final ? v[i].calls : least;
    if (!a->doubted || n < a->size || least <= a->alike)
        return;
    a->alike = least;
    to_all(a, ALIGN_ALIKE, &least, sizeof least);
}

/* Level 3: the order across communicators. Behind a verdict about another one, processes differ
 * lawfully, and that one may come a little later: this is never reported early. */
static uint32_t look_at_order(struct align_view *v, int n)
{
    if (cvar.coll_check < CHECK_STRICT || proc->check->told)
        return 0;
    for (int i = 0; i < n; i++)
        v[i].order = 1;
    uint32_t k = first_difference(v, n);
    for (int i = 0; !k && i < n; i++)
        v[i].order = 0;
    return k;
}

static int all_known(const struct align *a, const struct align_view *v, int n, uint32_t k)
{
    int said = 0;
    for (int i = 0; i < n; i++)
        said += shows_call(&v[i], k);
    return said == a->size;
}

/* The calls differ from call k on. said: all that there is to say about it is here. */
static void look_at_difference(struct align *a, const struct align_view *v, int n, uint32_t k,
                               int said, enum judge_when now)
{
    int lines = lines_known(v, n, k);
    if (now == LOOK_DUE && !said && !a->asked_again) {
        a->asked_again = 1; /* it answered before it came to this call */
        look_in(a, GATHER_NS);
        to_all(a, ALIGN_ASK, NULL, 0);
    } else if (now == LOOK_EARLY && !said) {
        if (a->look && !a->only_places)
            return;
        look_in(a, GATHER_NS);
        to_all(a, ALIGN_ASK, NULL, 0);
    } else if (!lines && now != LOOK_LAST) { /* LOOK_LAST: no other thread is in MPI */
        await_lines(a);
    } else {
        look_no_more(a);
        report_verdict(a, v, n, k);
    }
}

void judge_look(struct align *a, enum judge_when now)
{
    struct align_entry *e;
    int n, order = 0;
    /* A deadlock was reported meanwhile; or members may leave calls, and differ lawfully. */
    if (a->look && (a->verdict || calls_may_differ()))
        look_no_more(a);
    if (a->verdict || calls_may_differ() || list_empty(&a->others))
        return;
    struct align_view *v = all_views(a, &n, &e);
    uint32_t differs = v ? first_difference(v, n) : 0;
    if (v && !differs)
        order = (differs = look_at_order(v, n)) != 0;
    if (differs) /* the reason for another order may be about to come */
        look_at_difference(a, v, n, differs,
                           all_known(a, v, n, differs) && !(order && now == LOOK_EARLY), now);
    else if (a->look) /* packed data of one more explain it */
        look_no_more(a);
    if (v && !differs)
        look_at_undecided(a, v, n);
    if (v && !differs && cvar.coll_check_places)
        look_at_places(a, v, n, now);
    free(v);
    free(e);
}

/* --- handlers --------------------------------------------------------------------------------- */

static void keep_ring(struct align *a, const struct ring_msg *m, const struct align_entry *e)
{
    struct list *l = a->others.next;
    while (l != &a->others && LIST_OBJ(l, struct align_others, link)->world != m->world)
        l = l->next;
    if (l != &a->others) {
        struct align_others *old = LIST_OBJ(l, struct align_others, link);
        if (old->v.calls > m->calls || old->v.final)
            return;
        list_del(l);
        free(old);
    }
    struct align_others *o = malloc(sizeof *o + m->n * sizeof *e);
    if (!o)
        return;
    o->world = m->world;
    if (m->n)
        memcpy(o->e, e, m->n * sizeof *e);
    o->v = (struct align_view){.rank = m->rank, .between = m->between != 0, .calls = m->calls,
                               .first = m->calls - m->n + 1, .final = m->final, .soft = m->soft,
                               .e = o->e};
    list_push(&a->others, &o->link);
    a->finals += m->final != 0;
}

/* The communicator is gone here, and the last rings of all others have come. 1: so is a. */
static int drop_if_over(struct align *a)
{
    int over = a->final && !a->comm && a->rank >= 0 && a->finals == a->size - 1 && !a->look;
    if (over)
        align_drop(a);
    return over;
}

static int on_ring(int src, const void *msg, size_t len)
{
    struct ring_msg m;
    if (!proc->check)
        return 0;
    if (len >= sizeof m)
        memcpy(&m, msg, sizeof m);
    if (len < sizeof m || len != sizeof m + m.n * sizeof(struct align_entry) || m.n > m.calls ||
        m.final > ALIGN_FINALIZED || m.world != src || m.rank < 0) {
        am_malformed(src, "a ring of collective calls");
        return 0;
    }
    if (m.wish == RING_ACK)
        send_word(src, ALIGN_ACK, m.key);
    m.name[sizeof m.name - 1] = m.path[sizeof m.path - 1] = 0;
    struct align *a = align_find(m.key, 1);
    if (!a)
        return 0;
    if (a->rank < 0) { /* this process has made no call on it */
        a->size = m.size;
        a->between = m.between != 0;
        snprintf(a->name, sizeof a->name, "%s", m.name);
    }
    proc->check->blind |= m.blind != 0;
    site_learn(m.module, m.path);
    keep_ring(a, &m, (const struct align_entry *)((const char *)msg + sizeof m));
    if (a->verdict)
        post_send(src, ALIGN_VERDICT, &(struct word_msg){m.key}, sizeof(struct word_msg),
                  a->verdict, strlen(a->verdict) + 1);
    if (m.wish == RING_EXPLAIN && !a->verdict) { /* this process may not have come so far */
        a->doubted = 1;
        a->alike = 0;
        to_all(a, ALIGN_ASK, NULL, 0);
    }
    judge_look(a, LOOK_EARLY);
    drop_if_over(a);
    return 0;
}

static int on_ack(int src, const void *msg, size_t len)
{
    (void)src, (void)msg, (void)len;
    if (proc->check && proc->check->acks)
        proc->check->acks--;
    return 0;
}

static int on_ask(int src, const void *msg, size_t len)
{
    struct word_msg m;
    if (!proc->check || len != sizeof m)
        return 0;
    memcpy(&m, msg, sizeof m);
    struct align *a = align_find(m.key, 0);
    if (a && a->judge == src)
        judge_send_ring(a, RING_ONLY);
    return 0;
}

static int on_verdict(int src, const void *msg, size_t len)
{
    struct word_msg m;
    char text[TEXT_SHORT];
    if (!proc->check || len <= sizeof m || len > sizeof m + sizeof text)
        return 0;
    memcpy(&m, msg, sizeof m);
    memcpy(text, (const char *)msg + sizeof m, len - sizeof m);
    text[len - sizeof m - 1] = 0;
    struct align *a = align_find(m.key, 0);
    if (!a || a->judge != src)
        return 0;
    judge_verdict(a, text);
    judge_end_job(a);
    return 0;
}

static int on_alike(int src, const void *msg, size_t len)
{
    struct word_msg m;
    uint32_t calls;
    if (!proc->check || len < sizeof m + sizeof calls)
        return 0;
    memcpy(&m, msg, sizeof m);
    memcpy(&calls, (const char *)msg + sizeof m, sizeof calls);
    struct align *a = align_find(m.key, 0);
    if (a && a->judge == src && calls > a->alike)
        a->alike = calls;
    return 0;
}

/* --- time ------------------------------------------------------------------------------------- */

void judge_stall(void)
{
    struct check *k = proc->check;
    size_t at = 0;
    int sent = 0;
    pvar_set_add(pvar_proc(), PVAR_CHECK_STALLS, 1);
    for (struct map_entry *e; sent < STALL_RINGS && (e = map_next(&k->aligns, &at)) != NULL;) {
        struct align *a = e->value;
        if (a->judge == boot_rank() || a->judge < 0)
            judge_look(a, LOOK_EARLY);
        else if (a->comm && !a->verdict && a->sent != a->h.calls + 1 && ++sent)
            judge_send_ring(a, RING_ONLY);
    }
}

static int on_soon(int src, const void *msg, size_t len)
{
    struct word_msg m;
    if (!proc->check || len != sizeof m)
        return 0;
    memcpy(&m, msg, sizeof m);
    struct align *a = align_find(m.key, 0);
    if (a && a->judge == src)
        a->soon = 1;
    return 0;
}

static int has_verdict(void *arg)
{
    const struct align *a = arg;
    return a->verdict || a->alike >= a->h.calls || calls_may_differ();
}

void judge_explain(struct align *a)
{
    static const char what[] = "the comparison of collective calls";
    if (a->verdict)
        return;
    if (a->judge == boot_rank()) {
        a->doubted = 1;
        a->alike = 0;
        to_all(a, ALIGN_ASK, NULL, 0);
    } else {
        judge_send_ring(a, RING_EXPLAIN);
    }
    progress_wait_for(has_verdict, a, what, -1, EXPLAIN_NS);
    while (a->soon && !has_verdict(a)) { /* look-ups wait for each other: the judge says so again */
        a->soon = 0;
        progress_wait_for(has_verdict, a, what, -1, SITE_NS + EXPLAIN_NS);
    }
}

static int hook(void *arg)
{
    struct check *k = arg;
    int events = post_drain(k);
    uint64_t now = k->pending || k->abort_at ? time_now() : 0;
    size_t at = 0;
    if (k->abort_at && now >= k->abort_at)
        boot_abort(MPI_ERR_NOT_SAME, k->abort_why);
    for (struct map_entry *e; k->pending && (e = map_next(&k->aligns, &at)) != NULL;) {
        struct align *a = e->value;
        if (a->look && now >= a->look) {
            judge_look(a, LOOK_DUE);
            events++;
            if (drop_if_over(a)) /* the others come in the next turn */
                break;
        }
    }
    if (list_empty(&k->posts) && !k->pending && !k->abort_at)
        progress_hook_del(&k->hook);
    return events;
}

void judge_init(void)
{
    struct check *k = proc->check;
    k->hook.fn = hook;
    k->hook.arg = k;
    am_handler(ALIGN_RING, on_ring);
    am_handler(ALIGN_ACK, on_ack);
    am_handler(ALIGN_ASK, on_ask);
    am_handler(ALIGN_VERDICT, on_verdict);
    am_handler(ALIGN_ALIKE, on_alike);
    am_handler(ALIGN_SOON, on_soon);
}
