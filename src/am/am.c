/* am.c - active messages: what comes, one turn of progress, the begin and the end of the room
 * (am.h; doc/design/am.md). Start with receive() and am_progress(). */
#include "am/am_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/event.h"
#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "var/var.h"
#include "watch/watch.h"

enum { WARN_CREDIT = 2, WARN_TP = 4, WARN_LATE = 8, WARN_LOST = 32 }; /* 16 is AM_WARN_REACH */

/* Longest wait of am_finalize for room for the stored replies (ns). */
static const uint64_t DRAIN_NS = 10000000000u;

#define WARN_ONCE(a, bit, ...)      \
    do {                            \
        if (!((a)->warned & (bit))) \
            log_warn(__VA_ARGS__);  \
        (a)->warned |= (bit);       \
    } while (0)

void am_malformed(int src, const char *what)
{
    struct am *a = proc->am;
    struct am_peer *p = am_peer_known(src);
    a->malformed++;
    pvar_set_add(pvar_proc(), PVAR_AM_MALFORMED, 1);
    if (a->told >= AM_MALFORMED_ALL || (p && p->malformed >= AM_MALFORMED_PEER))
        return;
    a->told++;
    int last = a->told == AM_MALFORMED_ALL || (p && ++p->malformed == AM_MALFORMED_PEER);
    log_warn("process %d sent %s that fits nothing here; it is dropped%s", src, what,
             last ? "; more like it are only counted" : "");
}

/* --- receive ---------------------------------------------------------------------- */

/* A reply came: its credit is free again. */
static void credit_back(struct am *a, unsigned src)
{
    struct am_peer *p = am_peer_known((int)src);
    if (p && p->owed) {
        p->owed--;
        p->t->credits++;
    } else if ((!p || !p->dead) && !boot_has_left((int)src)) {
        WARN_ONCE(a, WARN_CREDIT, "rank %u sent a reply for which no request made room", src);
    }
}

static int holds_much(unsigned peer)
{
    const struct am_peer *p = am_peer_known((int)peer);
    return p && p->nzcopies > p->t->caps.replies;
}

/* Inline: a network's messages find cold caches after the kernel, so each call is expensive. */
static inline __attribute__((always_inline)) int
receive(struct am *a, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    const struct am_hdr *h = msg;
    /* A type that no room sends as a reply has no handler for one: that might answer, and no space
     * was reserved for it. */
    if (len < sizeof *h || h->type >= AM_TYPES || !a->handler[cls][h->type]) {
        am_malformed((int)peer, "a message of a type");
        if (cls == TP_REPLY)
            credit_back(a, peer);
        return 0;
    }
    /* It has no room for more answers while some wait: nothing more is done for it until they have
     * left. */
    if (cls == TP_REQUEST && __builtin_expect(!list_empty(&a->zcopiers), 0) && holds_much(peer))
        return TP_AGAIN;
    /* It could not be answered, and its sender would wait for ever: it is held until there is a way
     * back. */
    if (cls == TP_REQUEST && __builtin_expect(!am_peer_known((int)peer), 0) &&
        am_peer_way_back((int)peer))
        return TP_AGAIN;
    /* Before the handler, which may send the next request with this credit. */
    if (cls == TP_REPLY)
        credit_back(a, peer);
    int ret = a->handler[cls][h->type]((int)peer, h + 1, len - sizeof *h);
    WR_ASSERT(ret == 0 || cls == TP_REQUEST);
    if (ret == 0)
        pvar_set_add(pvar_proc(), PVAR_AM_RECEIVED, 1);
    return ret ? TP_AGAIN : 0;
}

static int am_recv(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    return receive(up, peer, cls, msg, len);
}

/* From a network, which is slow enough for one more check. */
static int am_recv_far(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    struct am *a = up;
    struct am_peer *p = am_peer_known((int)peer);
    if ((p ? p->asked : a->alive.blind == (int)peer + 1) || !a->alive.heard)
        am_heard(a, (int)peer, p);
    return receive(a, peer, cls, msg, len);
}

/* --- progress --------------------------------------------------------------------- */

/* Send what is stored for one peer while there is room; events. */
static int send_zcopy(struct am_peer *p)
{
    int events = 0;
    while (!list_empty(&p->zcopies)) {
        struct am_zcopy *k = LIST_OBJ(p->zcopies.next, struct am_zcopy, link);
        struct iovec v = {k->bytes, k->len};
        int err = p->t->ops->am(p->t->tp, (unsigned)p->rank, TP_REPLY, &v, 1, NULL);
        if (err == TP_AGAIN)
            return events;
        if (err && !boot_has_left(p->rank))
            WARN_ONCE(proc->am, WARN_LOST,
                      "a reply to rank %d is lost: %s; others are not reported", p->rank,
                      strerror(-err));
        list_del(&k->link);
        p->nzcopies--;
        free(k);
        pvar_set_add(pvar_proc(), PVAR_AM_SENT, 1);
        events++;
    }
    list_del(&p->link);
    return events;
}

/* --- failed processes ------------------------------------------------------------- */

int am_failed_count(void)
{
    const struct am *a = proc->am;
    return a ? a->deaths : boot_failed_count();
}

int am_failed(int rank)
{
    const struct am *a = proc->am;
    if (!a || rank < 0 || rank >= boot_universe())
        return boot_failed(rank);
    /* without memory for the list: at once */
    return a->failed ? a->failed[rank] == AM_FAILED : a->deaths && boot_failed(rank);
}

/* Before a look at the transports: which processes have failed. What they had sent comes in it. */
static __attribute__((noinline, cold)) void note_failing(struct am *a, int now)
{
    int n = boot_universe(); /* of other jobs, too */
    a->failing = now;
    a->passes = 0;
    if (!a->failed)
        a->failed = calloc((size_t)n, 1);
    for (int r = 0; a->failed && r < n; r++)
        if (a->failed[r] == AM_LIVES && boot_failed(r))
            a->failed[r] = AM_FAILING;
}

/* After it. Once for each rank: several may have failed. */
static void tell_failed(struct am *a)
{
    for (int r = 0, n = boot_universe(); a->failed && r < n; r++)
        if (a->failed[r] == AM_FAILING) {
            a->failed[r] = AM_FAILED;
            event_raise(EVENT_PEER_FAILED, 0, r, ++a->failures);
        }
}

/* One look may not take all. events: that it has found. */
static __attribute__((noinline, cold)) void act_on_failed(struct am *a, int events)
{
    enum { PASSES = 64 }; /* others may never stop to send */
    if (events && ++a->passes < PASSES)
        return;
    a->deaths = a->failing;
    tell_failed(a);
    am_peers_fail();
    for (int i = 0; i < AM_FAIL_HOOKS && a->on_death[i]; i++)
        a->on_death[i]();
    /* the failure detector's thread saw failures meanwhile: peers that are dead for a room are
     * dead here, before it sends again */
    am_peers_fail();
}

static int am_progress(void *arg)
{
    struct am *a = arg;
    int events = 0, failed = boot_failed_count();
    if (__builtin_expect(failed != a->failing, 0))
        note_failing(a, failed);
    for (int i = 0; i < a->ntps; i++) {
        int n = a->tps[i].ops->progress(a->tps[i].tp);
        if (n < 0)
            WARN_ONCE(a, WARN_TP, "transport %s: %s", a->tps[i].ops->name, strerror(-n));
        else
            events += n;
    }
    for (struct list *l = a->zcopiers.next, *next; l != &a->zcopiers; l = next) {
        next = l->next;
        events += send_zcopy(LIST_OBJ(l, struct am_peer, link));
    }
    if (__builtin_expect(a->alive.nlost != 0, 0))
        am_lost_look(a);
    if (__builtin_expect(a->deaths != a->failing, 0)) {
        act_on_failed(a, events);
        events++;
    }
    return events;
}

void am_on_death(void (*fn)(void))
{
    struct am *a = proc->am;
    int i = 0;
    while (i < AM_FAIL_HOOKS && a->on_death[i] && a->on_death[i] != fn)
        i++;
    WR_ASSERT(i < AM_FAIL_HOOKS);
    a->on_death[i] = fn;
}

void am_on_note(void (*fn)(uint32_t note))
{
    proc->am->on_note = fn;
}

static void am_noted(void *am, uint32_t note)
{
    const struct am *a = am;
    if (a->on_note)
        a->on_note(note);
}

/* --- life ------------------------------------------------------------------------- */

static void am_close(struct am *a)
{
    size_t cursor = 0;
    progress_hook_del(&a->hook);
    am_choice_close(a);
    for (struct map_entry *e; (e = map_next(&a->peers, &cursor)) != NULL;)
        am_peer_free(e->value);
    map_destroy(&a->peers);
    cursor = 0;
    for (struct map_entry *e; (e = map_next(&a->idle, &cursor)) != NULL;)
        free(e->value);
    map_destroy(&a->idle);
    am_cards_free(a);
    watch_drop(&am_watcher);
    boot_detector_stop();
    free(a->failed);
    free(a);
    proc->am = NULL;
}

/* The room, with nothing open. */
static int am_make(void)
{
    struct am *a = calloc(1, sizeof *a);
    if (!a)
        return -ENOMEM;
    proc->am = a;
    map_init(&a->peers);
    map_init(&a->idle);
    map_init(&a->cards);
    a->peers_max = AM_PEERS;
    list_init(&a->zcopiers);
    a->hook = (struct progress_hook){.fn = am_progress, .arg = a};
    a->env = a->far_env = (struct tp_env){
        .recv = am_recv, .lost = am_lost, .noted = am_noted, .up = a, .proc = proc};
    a->far_env.recv = am_recv_far;
    return 0;
}

int am_open(void)
{
    int err = am_make();
    if (err)
        return err;
    err = am_choice_open(proc->am);
    err = err ? err : am_choice_tell(proc->am);
    err = err ? err : am_liveness_answer();
    if (err) { /* progress/ has not started yet */
        am_choice_close(proc->am);
        boot_detector_stop();
        free(proc->am);
        proc->am = NULL;
    }
    return err;
}

int am_init(void)
{
    int err = 0, told = proc->am != NULL;
    if (!told)
        err = am_make();
    if (err)
        return err;
    struct am *a = proc->am;
    if (told)
        am_liveness_ask();
    err = told ? am_choice_follow(a) : am_choice_open(a);
    if (!err)
        err = am_choice_join(a);
    if (!err)
        err = am_publish();
    am_liveness_wait();
    if (!err)
        err = boot_barrier(); /* after it, every address and every record of the host page is
                               * there */
    if (!err)
        err = mem_meet();
    if (err) {
        am_close(a);
        return err;
    }
    progress_hook_add(&a->hook);
    am_liveness_init();
    return boot_detector_turn() || a->networks ? watch_add(&am_watcher) : 0;
}

static int no_zcopies(void *arg)
{
    return list_empty(&((struct am *)arg)->zcopiers);
}

void am_finalize(void)
{
    struct am *a = proc->am;
    if (!a)
        return;
    /* All have passed a barrier, so none waits for more. Room for the stored replies was reserved,
     * and a peer that has left has published its last head. */
    if (progress_wait_for(no_zcopies, a, "room for the last replies", -1, DRAIN_NS) != 0)
        WARN_ONCE(a, WARN_LATE, "replies to other processes could not be sent before the end");
    if (a->malformed > a->told)
        log_warn("%llu packets that fit nothing here were dropped in all",
                 (unsigned long long)a->malformed);
    am_close(a);
}
