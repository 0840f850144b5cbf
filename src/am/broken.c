/* broken.c - one question to the failure detector, and connections that broke: their processes are
 * asked whether they live (liveness.c has the others). Start with am_lost_why(). */
#include "am/am_types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"

/* A connection broke: within this time, the failure detector has a better reason (ns). */
static const uint64_t GRACE_NS = 5000000000u;

void am_ask_by(int rank, void (*fn)(int rank, const void *card, size_t len))
{
    unsigned char card[BOOT_CARD_MAX];
    if (rank < 0 || rank == boot_rank() || rank >= boot_universe() || boot_failed(rank) ||
        boot_has_left(rank))
        return;
    size_t len = am_peer_card(rank, card);
    struct am_peer *p = len ? am_peer_known(rank) : NULL;
    if (p)
        p->asked = 1;
    else if (len)
        proc->am->alive.blind = rank + 1;
    if (len)
        fn(rank, card, len);
}

/* The first of another host is asked at once: only a process that has answered before can fall
 * silent. */
void am_met(struct am_peer *p)
{
    struct am_alive *l = &proc->am->alive;
    if (l->met || !p->card || boot_is_near(p->rank))
        return;
    l->met = 1;
    p->asked = 1;
    boot_detector_ask(p->rank, p->card, p->card_bytes);
}

void am_heard(struct am *a, int rank, struct am_peer *p)
{
    if (p)
        p->asked = 0;
    else
        a->alive.blind = 0;
    /* of another job, before its card: it may be of this host */
    if (!boot_is_own(rank) && !am_card_known(a, rank))
        return;
    if (!boot_is_near(rank))
        a->alive.heard = 1;
    boot_detector_hear(rank);
}

static void give_up(struct am_alive *l, unsigned i)
{
    int rank = l->lost[i].rank;
    if (boot_has_left(rank)) /* its word came behind the report */
        am_peer_left(rank);
    else
        boot_fail_now(rank, l->lost[i].why);
    l->lost[i] = l->lost[--l->nlost];
}

static struct am_broken *lost_of(struct am_alive *l, int rank)
{
    for (unsigned i = 0; i < l->nlost; i++)
        if (l->lost[i].rank == rank)
            return &l->lost[i];
    return NULL;
}

int am_is_lost(const struct am *a, int rank)
{
    return lost_of((struct am_alive *)(uintptr_t)&a->alive, rank) != NULL;
}

void am_lost_why(struct am *a, int rank, const char *why)
{
    struct am_alive *l = &a->alive;
    if (am_is_lost(a, rank) || boot_failed(rank))
        return;
    if (l->nlost == AM_LOST)
        give_up(l, 0);
    l->lost[l->nlost].rank = rank;
    l->lost[l->nlost].at = time_now();
    l->lost[l->nlost].doubted = 0;
    snprintf(l->lost[l->nlost].why, sizeof l->lost[0].why, "%s", why);
    l->nlost++;
    am_ask_by(rank, boot_detector_ask);
}

void am_lost(void *am, unsigned peer, int err)
{
    char why[BOOT_WHY_MAX];
    struct am *a = am;
    struct am_broken *l = lost_of(&a->alive, (int)peer);
    /* This process ends, too, and tells no other one: whether that one has left, and its word was
     * discarded, or has failed makes no difference here. */
    if ((a->leaving || a->has_told) && !boot_is_own((int)peer))
        boot_leaves((int)peer);
    if (boot_has_left((int)peer)) {
        am_peer_left((int)peer);
        return;
    }
    snprintf(why, sizeof why, "the connection to it broke (%s)", strerror(-err));
    if (l && l->doubted) {
        snprintf(l->why, sizeof l->why, "%s", why);
        l->doubted = 0;
    }
    am_lost_why(a, (int)peer, why);
}

/* A transport may refuse before it reports that the peer is lost. */
int am_in_doubt(int dst)
{
    const struct am_peer *p = am_peer_known(dst);
    if (!p || p->dead || p->t->ops->near)
        return 0;
    struct am *a = proc->am;
    if (boot_has_left(dst))
        return 0;
    if (!am_is_lost(a, dst)) {
        am_lost(a, (unsigned)dst, -ENOTCONN);
        struct am_broken *l = lost_of(&a->alive, dst);
        if (l)
            l->doubted = 1;
    }
    return am_is_lost(a, dst);
}

void am_lost_look(struct am *a)
{
    struct am_alive *l = &a->alive;
    for (unsigned i = 0; i < l->nlost;) {
        if (boot_failed(l->lost[i].rank))
            l->lost[i] = l->lost[--l->nlost];
        else if (boot_has_left(l->lost[i].rank) || time_now() - l->lost[i].at > GRACE_NS)
            give_up(l, i);
        else
            i++;
    }
}
