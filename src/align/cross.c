/* cross.c - messages that cross a collective call (levels 2 and 3). Start with cross_sending() and
 * cross_received().
 *
 *      sender                                    receiver
 *   MPI_Bcast, its call k on c
 *   MPI_Send -------- ALIGN_CROSS (c, k, n) --> a note: what has number n, or a later one, was sent
 *            -------- message n ------------->  behind call k
 *                                              MPI_Recv(source) returns, after fewer calls on c
 *
 * The receiver waits for a message that the sender sends behind call k, and makes call k behind the
 * wait. Where call k waits for all, neither goes on (MPI-3.1 5.13). Only blocking calls count, and
 * only waits for a message of a named process: MPI_Recv, MPI_Wait, MPI_Waitall.
 *
 * A note that is missing or late hides such a message. None is ever too early: it names the number
 * of the next packet, and is not sent while earlier messages wait for room. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "align/cross.h"
#include "align/stall.h"
#include "base/log.h"
#include "boot/boot.h"
#include "finding/finding.h"
#include "obj/err.h"
#include "p2p/p2p.h"
#include "var/var.h"

static struct align_cross *cross_of(struct align *a)
{
    if (!a->cross && (a->cross = calloc(1, sizeof *a->cross)) != NULL)
        map_init(&a->cross->known);
    return a->cross;
}

/* Another thread may make the call that is missing; survivors of a failure differ lawfully. */
static int is_judged(const struct align *a)
{
    return cvar.coll_check >= CHECK_GUARD && a && !a->between && !a->verdict &&
           proc->thread_level != MPI_THREAD_MULTIPLE && !calls_may_differ();
}

/* --- the sender ------------------------------------------------------------------------------- */

static const struct align_entry *last_blocking(const struct align_history *h)
{
    for (uint32_t i = 0; i < h->room && i < h->calls; i++) {
        const struct align_entry *e = &h->ring[(h->calls - 1 - i) % h->room];
        if ((e->what >> WHAT_FORM & 3) == WATCH_BLOCKING)
            return e;
    }
    return NULL;
}

void cross_sending(struct comm *c, int dest)
{
    struct align *a = c->check;
    int world = comm_peer_world(c, dest);
    if (!is_judged(a) || !a->h.blocking || world == boot_rank() || p2p_has_queued())
        return;
    struct align_cross *x = cross_of(a);
    const struct align_entry *e = last_blocking(&a->h);
    if (!x || !e || (uintptr_t)map_get(&x->known, (uint64_t)world + 1) == a->h.blocking)
        return;
    struct cross_msg m = {.key = a->key, .blocking = a->h.blocking, .seq = p2p_sent_to(world),
                          .call = *e};
    site_renew();
    m.call.site = site_portable(e->site);
    struct iovec v = {&m, sizeof m};
    if (!am_request(world, ALIGN_CROSS, &v, 1, 0)) /* no room: one note less */
        map_put(&x->known, (uint64_t)world + 1, (void *)(uintptr_t)m.blocking);
}

/* --- the receiver ----------------------------------------------------------------------------- */

/* Notes of calls that this process has made, too, are of no use. */
static void discard(struct align_cross *x, uint32_t blocking)
{
    int n = 0;
    for (int i = 0; i < x->notes; i++)
        if (x->note[i].m.blocking > blocking)
            x->note[n++] = x->note[i];
    x->notes = n;
}

static int on_cross(int src, const void *msg, size_t len)
{
    struct cross_note n = {.world = src};
    if (!proc->check)
        return 0;
    if (len != sizeof n.m) {
        am_malformed(src, "a note of a collective call");
        return 0;
    }
    memcpy(&n.m, msg, sizeof n.m);
    struct align *a = align_find(n.m.key, 1);
    struct align_cross *x = a && !a->final ? cross_of(a) : NULL;
    if (!x || n.m.blocking <= a->h.blocking)
        return 0;
    discard(x, a->h.blocking);
    if (x->notes < CROSS_NOTES)
        x->note[x->notes++] = n;
    return 0;
}

/* At level 3 it is an error at all members. */
static void end_calls(const struct align *a, const char *brief)
{
    struct verdict_msg m = {.n = 1, .key = {a->key}};
    for (int i = 0; i < a->comm->size; i++)
        if (comm_world(a->comm, i) != boot_rank())
            post_send(comm_world(a->comm, i), STALL_VERDICT, &m, sizeof m, brief,
                      strlen(brief) + 1);
    stall_verdict(&m, brief);
}

struct places {
    uint64_t sent, took;
};

static int lines_known(void *arg)
{
    const struct places *p = arg;
    int sent = site_lookup(p->sent), took = site_lookup(p->took);
    return sent && took;
}

static void report(struct align *a, const struct cross_note *n, const struct p2p_took *t)
{
    char call[96], sent[128], wait[96], took[128], brief[TEXT_SHORT];
    struct places p = {n->m.call.site, site_portable(site_here())};
    progress_wait_for(lines_known, &p, "file and line of a call", -1, 2 * SITE_NS);
    text_call(&n->m.call, call, sizeof call);
    site_text_known(p.sent, sent, sizeof sent);
    site_text_known(p.took, took, sizeof took);
    snprintf(wait, sizeof wait, "%s(source %d, tag %d)", proc->call ? proc->call : "a receive",
             t->source, t->tag);
    align_rename(a);
    snprintf(brief, sizeof brief,
             "a message crosses a collective call on %.60s: rank %d sends it behind %.70s %.70s, "
             "rank %d waits for it before", a->name, t->source, call, sent, a->rank);
    log_warn("%sa message crosses a collective call on %s:",
             cvar.coll_check >= CHECK_STRICT ? "" : "warning: ", a->name);
    log_warn("  rank  %-9d %s %s, then it sends", t->source, call, sent);
    log_warn("  rank  %-9d %s %s, before its call of that number", a->rank, wait, took);
    log_warn("  where the collective call waits for all, neither goes on.");
    pvar_set_add(pvar_proc(), PVAR_CHECK_VERDICTS, 1);
    struct finding f = {.class = "crossing", .ranks = 2, .rank = {n->world, boot_rank()}};
    finding_place(&f, sent);
    finding_place(&f, took);
    snprintf(f.text, sizeof f.text, "%s", brief);
    finding_add(&f);
    if (cvar.coll_check >= CHECK_STRICT)
        end_calls(a, brief);
}

void cross_received(struct comm *c, const struct p2p_took *t)
{
    struct align *a = align_of(c);
    struct align_cross *x = is_judged(a) ? a->cross : NULL;
    const struct cross_note *found = NULL;
    struct cross_note note;
    if (!x || a->crossed)
        return;
    discard(x, a->h.blocking);
    for (int i = 0; i < x->notes && !found; i++)
        if (x->note[i].world == t->world && (int32_t)(t->seq - x->note[i].m.seq) >= 0)
            found = &x->note[i];
    if (!found)
        return;
    a->crossed = 1;
    note = *found; /* others may come while the report waits for its lines */
    report(a, &note, t);
}

void cross_waited(struct request *const *r, int n)
{
    struct p2p_took t;
    for (int i = 0; i < n; i++)
        if (r[i] && p2p_request_took(r[i], &t))
            cross_received(r[i]->comm, &t);
}

void cross_init(void)
{
    am_handler(ALIGN_CROSS, on_cross);
}
