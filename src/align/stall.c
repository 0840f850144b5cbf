/* stall.c - do processes wait for each other for ever? Start with on_turns(), which a wait calls
 * again and again.
 *
 *   member (a wait has lasted)                   collector: the lowest process that answers
 *      STALL_STATE    ----------------------->   for what it waits
 *      <----------------------- STALL_HAVE       else the next process is asked after 200 ms,
 *                                                at most four with -timeout alone
 *                                                waitgraph.c: a core that waits for itself alone?
 *      <------------------------ STALL_ASK       twice, to each process of the core:
 *      STALL_FLUSH <-----> STALL_FLUSHED         between those that wait for each other
 *      STALL_SAME     ----------------------->   it still waits, for the same
 *      <-------------------- STALL_VERDICT       all did: the deadlock is reported, and waits end
 *
 * Proof. All of the core were in the same waits when the last STATE came, and at the end, so at one
 * moment in between. What they had sent to each other before has arrived: a FLUSH and the reply to
 * it travel behind all requests and all replies of their sender. The second turn is for answers to
 * what arrived in the first. A process that computes answers nothing: then there is no verdict. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"
#include "align/stall.h"
#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "p2p/p2p.h"
#include "var/var.h"
#include "watch/watch.h"

static const uint64_t HAVE_NS = 200000000u;    /* the collector answers within it */
enum { COLLECTORS_MAX = 4 }; /* healthy jobs wait, too: no more are asked then */

/* --- the member: report for what it waits ----------------------------------------------------- */

static void to(int dst, int type, const void *msg, size_t len)
{
    if (dst != boot_rank())
        post_send(dst, type, msg, len, NULL, 0);
}

static void send_state(struct stall *s, const struct waits *x, int dst)
{
    struct state_msg m = {.id = x->id, .site = site_portable(x->site), .mode = x->mode,
                          .sends = (uint32_t)x->sends,
                          .items = (uint16_t)x->items, .world = boot_rank()};
    size_t max = am_max(dst), items = (size_t)x->items * sizeof *x->item;
    char *tail = malloc(items + sizeof x->comm);
    if (!tail || max < sizeof m + items) {
        free(tail);
        return;
    }
    size_t room = (max - sizeof m - items) / sizeof *x->comm;
    m.comms = (uint16_t)(room < (size_t)x->comms ? room : (size_t)x->comms);
    site_module(x->site, &m.module, m.path, sizeof m.path);
    snprintf(m.call, sizeof m.call, "%s", x->call);
    memcpy(tail, x->item, items);
    memcpy(tail + items, x->comm, m.comms * sizeof *x->comm);
    if (dst == boot_rank())
        stall_keep(s, &m, tail);
    else
        post_send(dst, STALL_STATE, &m, sizeof m, tail, items + m.comms * sizeof *x->comm);
    free(tail);
}

/* The next process that may be the collector. */
static void next_collector(struct stall *s)
{
    do
        s->collector++;
    while (s->collector < boot_rank() && boot_failed(s->collector));
}

static void send_waits(struct stall *s, const struct waits *x, uint64_t now)
{
    if (s->told != x->id) {
        s->told = x->id;
        s->have = 0;
        s->collector = boot_first();
    } else if (s->have || s->collector == boot_rank() || now - s->told_at < HAVE_NS) {
        return;
    } else if (proc->check->quiet && s->collector + 1 - boot_first() >= COLLECTORS_MAX) {
        return;
    } else {
        next_collector(s);
    }
    s->told_at = now;
    send_state(s, x, s->collector);
}

/* --- the member: does it still wait, and has all arrived? ------------------------------------- */

static void answer_same(const struct stall *s, int same)
{
    struct round_msg m = {.id = s->ask.id, .round = s->ask.round, .turn = s->ask.turn,
                          .world = boot_rank(), .same = (uint16_t)same};
    if (s->ask.collector == boot_rank())
        stall_same((struct stall *)(uintptr_t)s, &m);
    else
        to(s->ask.collector, STALL_SAME, &m, sizeof m);
}

static int same_round(const struct stall_count *a, const struct stall_ask *b)
{
    return a->collector == b->collector && a->round == b->round && a->turn == b->turn;
}

static void answer(struct stall *s, const struct waits *x)
{
    struct stall_ask *a = &s->ask;
    if (!a->on)
        return;
    if (!x || x->id != a->id) {
        a->on = 0;
        answer_same(s, 0);
        return;
    }
    if (p2p_has_queued()) /* it would arrive behind the FLUSH */
        return;
    if (!a->flushed) {
        struct round_msg m = {.round = a->round, .turn = a->turn, .world = a->collector};
        a->flushed = 1;
        for (int i = 0; i < a->n; i++) {
            m.sent = p2p_sent_to(a->peer[i]);
            post_ask(a->peer[i], STALL_FLUSH, &m, sizeof m, 1);
        }
    }
    int came = same_round(&s->came, a) ? s->came.n : 0;
    int back = same_round(&s->back, a) ? s->back.n : 0;
    if (came < a->n || back < a->n)
        return;
    a->on = 0;
    answer_same(s, 1);
}

static uint64_t stall_wait(void)
{
    return (uint64_t)cvar.coll_check_stall * 1000000u;
}

/* A wait that has lasted for so long. */
static void look(struct stall *s, const struct progress_waiting *w)
{
    const uint64_t ms = stall_wait();
    uint64_t now = time_now();
    if (now - s->rings_at >= ms / 4) {
        s->rings_at = now;
        judge_stall();
    }
    if (calls_may_differ())
        return;
    struct waits *x = malloc(sizeof *x);
    if (!x)
        return;
    int known = waits_describe(w, x);
    answer(s, known ? x : NULL);
    if (known && s->never == x->id)
        progress_never_ends();
    if (known && now - w->since >= ms + ms / 4) /* sequences that differ are reported first */
        send_waits(s, x, now);
    free(x);
}

static void on_turns(const struct progress_waiting *w)
{
    struct stall *s = proc->check->stall;
    const uint64_t ns = stall_wait();
    if (w->now - w->since < ns || (w->now - s->looked < ns / 4 && !s->soon))
        return;
    s->looked = w->now;
    s->soon = 0;
    look(s, w);
}

/* From a handler: as soon as the wait turns. */
static void look_soon(struct stall *s)
{
    s->soon = 1;
    progress_signal();
}

/* --- handlers -------------------------------------------------------------------------------- */

static struct stall *stall_of(size_t len, size_t want)
{
    return proc->check && proc->check->stall && len >= want ? proc->check->stall : NULL;
}

static int on_state(int src, const void *msg, size_t len)
{
    struct state_msg m;
    struct stall *s = stall_of(len, sizeof m);
    if (!s)
        return 0;
    memcpy(&m, msg, sizeof m);
    if (m.world != src || m.items > WAIT_ITEMS || m.comms > WAIT_COMMS || m.mode > WAIT_ENDED ||
        len != sizeof m + m.items * sizeof(struct wait_item) + m.comms * sizeof(struct wait_comm)) {
        am_malformed(src, "a state of waiting");
        return 0;
    }
    m.call[sizeof m.call - 1] = m.path[sizeof m.path - 1] = 0;
    stall_keep(s, &m, (const char *)msg + sizeof m);
    to(src, STALL_HAVE, &m.id, sizeof m.id);
    return 0;
}

static int on_have(int src, const void *msg, size_t len)
{
    uint64_t id;
    struct stall *s = stall_of(len, sizeof id);
    if (!s)
        return 0;
    memcpy(&id, msg, sizeof id);
    if (id == s->told && src == s->collector)
        s->have = 1;
    return 0;
}

void stall_asked(struct stall *s, int src, const struct ask_msg *m, const int32_t *peer)
{
    s->ask = (struct stall_ask){.on = 1, .collector = src, .round = m->round, .turn = m->turn,
                                .id = m->id, .n = m->n};
    memcpy(s->ask.peer, peer, m->n * sizeof *peer);
    look_soon(s);
}

static int on_ask(int src, const void *msg, size_t len)
{
    struct ask_msg m;
    struct stall *s = stall_of(len, sizeof m);
    if (!s)
        return 0;
    memcpy(&m, msg, sizeof m);
    int32_t peer[CORE_MAX];
    if (m.n > CORE_MAX || len != sizeof m + m.n * sizeof *peer) {
        am_malformed(src, "a question about a wait");
        return 0;
    }
    memcpy(peer, (const char *)msg + sizeof m, m.n * sizeof *peer);
    for (int i = 0; i < m.n; i++)
        if (!boot_is_own(peer[i]) || peer[i] == boot_rank())
            return 0;
    stall_asked(s, src, &m, peer);
    return 0;
}

static void count(struct stall_count *c, const struct round_msg *m)
{
    if (c->collector != m->world || c->round != m->round || c->turn != m->turn)
        *c = (struct stall_count){.collector = m->world, .round = m->round, .turn = m->turn};
    c->n++;
    look_soon(proc->check->stall);
}

static int on_flush(int src, const void *msg, size_t len)
{
    struct round_msg m;
    struct iovec v = {(void *)(uintptr_t)msg, sizeof m};
    if (len != sizeof m) { /* the reply was reserved */
        am_malformed(src, "a flush");
        return 0;
    }
    am_reply(src, STALL_FLUSHED, &v, 1);
    struct stall *s = stall_of(len, sizeof m);
    memcpy(&m, msg, sizeof m);
    if (s && p2p_all_came(src, m.sent)) /* else the round ends, and another one begins */
        count(&s->came, &m);
    return 0;
}

static int on_flushed(int src, const void *msg, size_t len)
{
    struct round_msg m;
    struct stall *s = stall_of(len, sizeof m);
    (void)src;
    if (!s)
        return 0;
    memcpy(&m, msg, sizeof m);
    count(&s->back, &m);
    return 0;
}

static int on_same(int src, const void *msg, size_t len)
{
    struct round_msg m;
    struct stall *s = stall_of(len, sizeof m);
    if (!s)
        return 0;
    memcpy(&m, msg, sizeof m);
    if (m.world == src)
        stall_same(s, &m);
    return 0;
}

void stall_verdict(const struct verdict_msg *m, const char *text)
{
    if (proc->check->quiet)
        proc->check->stall->never = m->key[0];
    for (uint32_t i = 0; i < m->n; i++) {
        struct align *a = align_find(m->key[i], 0);
        if (!a)
            continue;
        judge_verdict(a, text);
        judge_end_job(a);
    }
}

static int on_verdict(int src, const void *msg, size_t len)
{
    struct verdict_msg m;
    char text[TEXT_SHORT];
    struct stall *s = stall_of(len, sizeof m + 1);
    if (!s)
        return 0;
    memcpy(&m, msg, sizeof m);
    if (len > sizeof m + sizeof text || m.n > STALL_KEYS) {
        am_malformed(src, "a verdict");
        return 0;
    }
    memcpy(text, (const char *)msg + sizeof m, len - sizeof m);
    text[len - sizeof m - 1] = 0;
    stall_verdict(&m, text);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct watcher watcher = {.wait_turns = on_turns};

int stall_init(void)
{
    struct stall *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    proc->check->stall = s;
    collect_init(s);
    am_handler(STALL_STATE, on_state);
    am_handler(STALL_HAVE, on_have);
    am_handler(STALL_ASK, on_ask);
    am_handler(STALL_FLUSH, on_flush);
    am_reply_handler(STALL_FLUSHED, on_flushed);
    am_handler(STALL_SAME, on_same);
    am_handler(STALL_VERDICT, on_verdict);
    return watch_add(&watcher);
}

void stall_finalize(void)
{
    struct stall *s = proc->check->stall;
    watch_drop(&watcher);
    collect_finalize(s);
    free(s);
    proc->check->stall = NULL;
}
