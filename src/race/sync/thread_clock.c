/* thread_clock.c - the clocks of this process's threads, and the CLOCK messages that carry them to
 * others. Start with race_acquire() and race_release(). */
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "race/report/report.h"
#include "race/watched.h"

/* The thread's loads and stores so far have its clock and vector clock of now. */
static void flush(const struct race *r)
{
    if (r->runtime)
        r->runtime->flush();
}

uint64_t race_tick(void)
{
    struct race_thread *t = race_self();
    flush(proc->race);
    return t->ended = ++t->clock;
}

void race_op_tick(void)
{
    flush(proc->race);
    race_self()->clock++;
}

struct race_vclock *race_release(void)
{
    const struct race_thread *t = race_self();
    race_advice_release();
    struct race_vclock *v = race_vclock_with(t->vclock, t->tid, t->clock);
    if (!v)
        race_no_memory();
    return v;
}

void race_set_vclock(struct race_thread *t, struct race_vclock *v)
{
    race_vclock_drop(t->vclock);
    t->vclock = v;
    t->vclock_no = ++proc->race->vclock_nos;
    if (t->clock < v->floor) /* it slept while others ended a phase */
        t->clock = v->floor;
}

void race_acquire(const struct race_vclock *v)
{
    struct race_thread *t = race_self();
    if (race_vclock_includes(t->vclock, v, t->tid))
        return;
    flush(proc->race);
    struct race_vclock *both = race_vclock_join(t->vclock, v);
    if (!both) /* what is left out would make races */
        race_no_memory();
    race_set_vclock(t, both);
}

/* --- CLOCK ------------------------------------------------------------------------------------ */

struct clock_msg {
    uint64_t win; /* 0: before a message */
    uint32_t number;
    int32_t assert;          /* of MPI_Win_start, and where it stands */
    uint64_t site;
}; /* the vector clock */

void race_send_clock(int dst, const struct race_win *x, uint32_t number,
                     const struct race_vclock *v)
{
    struct clock_msg m = {.number = number};
    if (x) {
        m.win = x->id;
        m.assert = x->assertions.start;
        m.site = x->assertions.start_site;
    }
    size_t len;
    void *b = race_pack(&m, sizeof m, v, am_max(dst), &len);
    proc->race->acks++;
    race_msg_send(dst, RACE_CLOCK, b, len);
    free(b);
}

static void received(struct race_vclock **at, struct race_vclock *v)
{
    struct race_vclock *both = race_vclock_join(*at, v);
    if (!both)
        race_no_memory();
    race_vclock_drop(*at);
    *at = both;
}

int race_on_clock(int src, const void *msg, size_t len)
{
    struct clock_msg m;
    size_t used;
    int cut;
    if (!proc->race || len < sizeof m)
        return 0;
    memcpy(&m, msg, sizeof m);
    struct race_vclock *v = race_unpack((const char *)msg + sizeof m, len - sizeof m, &used, &cut);
    struct race_win *x = m.win ? race_win_of(m.win) : NULL;
    struct race_origin *o = x ? race_origin_of(x, src) : NULL;
    struct race_peer *p = race_peer_of(src);
    if (v && o) {
        received(&o->at_complete, v);
        o->completes = m.number;
        race_assertion_start(o, m.number, m.assert, m.site);
    } else if (v && p && !m.win) {
        received(&p->received, v);
    }
    race_vclock_drop(v);
    race_msg_send(src, RACE_ACK, "", 1);
    return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static int has_left(void *arg)
{
    const struct race_peer *p = arg;
    return list_empty(&p->queue) || boot_failed_count();
}

/* One thread sends to another of its process. */
static void sending_to_self(struct race *r)
{
    struct race_peer *p = r->threads > 1 ? race_peer_of((int)r->me) : NULL;
    if (!p)
        return;
    race_tick();
    struct race_vclock *v = race_release();
    received(&p->received, v);
    race_vclock_drop(v);
    race_tick();
}

void race_sending(struct comm *c, int dest)
{
    struct race *r = proc->race;
    if (dest < 0 || r->off)
        return;
    int world = comm_peer_world(c, dest);
    if (!boot_is_own(world))
        return;
    if ((uint32_t)world == r->me) {
        sending_to_self(r);
        return;
    }
    struct race_peer *p = race_peer_of(world);
    const struct race_thread *t = race_self();
    if (r->runtime)
        r->runtime->flush(); /* loads and stores are news as well */
    if (!p || (p->sent_any && p->sent_vclock_no == t->vclock_no &&
               p->sent_clock == t->clock - t->quiet))
        return;
    race_tick();
    struct race_vclock *v = race_release();
    p->sent_any = 1;
    p->sent_vclock_no = t->vclock_no;
    p->sent_clock = t->clock - t->quiet;
    race_send_clock(world, NULL, 0, v);
    race_vclock_drop(v);
    progress_wait(has_left, p, "room for a clock of the race checker", world);
    if (!am_ordered(world)) /* the message might overtake it */
        race_wait_acks();
}

void race_received(struct comm *c, int source)
{
    if (source < 0 || source >= comm_peer_size(c))
        return;
    struct race_peer *p = map_get(&proc->race->peers, (uint64_t)comm_peer_world(c, source) + 1);
    if (!p || !p->received)
        return;
    race_acquire(p->received);
    if (proc->race->threads > 1) /* another thread may receive what was sent before */
        return;
    race_vclock_drop(p->received);
    p->received = NULL;
}
