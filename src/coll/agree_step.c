/* agree_step.c - the rules of an agreement, as seen by one member (doc/design/survive.md). Nothing
 * here waits.
 *
 *      tree:         UP from the leaves, ACCEPT down, ACK up, DECIDE down
 *      coordinator:  REPORT of all living members, ACCEPT to them, ACK of them, DECIDE to them
 *
 * The first member is the root. When a member is known to have failed, the lowest living one
 * coordinates, and each member that knows of it leaves the tree for ever. From then on a member
 * that has left (survive_gone) is waited for no more than one that has failed, and is not named.
 *
 * A1. A member accepts no value of a ballot that is lower than one that it has reported to.
 * A2. A value is decided when all living members have accepted it in one ballot.
 * A3. A member that begins a ballot has heard what each living member has accepted. It proposes the
 *     value of the highest ballot among it.
 *
 * Start with agree_begin() and agree_take(). */
#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "coll/agree.h"
#include "coll/coll_types.h"

static int has_failed(const struct agree *a, int m)
{
    return boot_failed(agree_world(a, m));
}

static int is_gone(const struct agree *a, int m)
{
    return survive_gone(agree_world(a, m));
}

static void send_to(const struct agree *a, int m, enum agree_step step, uint32_t ballot)
{
    agree_send(a, agree_world(a, m), step, ballot);
}

static void send_to_living(const struct agree *a, enum agree_step step)
{
    for (int m = 0; m < a->n; m++)
        if (m != a->me && !is_gone(a, m))
            send_to(a, m, step, a->run->ballot);
}

/* --- values ------------------------------------------------------------------------- */

static void merge(struct agree_part *p, const struct agree_part *q)
{
    p->flag[0] &= q->flag[0];
    p->flag[1] &= q->flag[1];
    if (p->call != q->call)
        p->call = 0;
    p->alone &= q->alone;
    p->alike &= q->alike != 0 && p->acked == q->acked && p->acked_sum == q->acked_sum;
}

/* Of what the members that are heard have contributed, and of the failures seen here. */
static void form(struct agree *a)
{
    struct agree_run *run = a->run;
    struct agree_value *v = &run->value;
    uint32_t failed = 0;
    *v = (struct agree_value){.flag = {run->part.flag[0], run->part.flag[1]},
                              .call = run->part.call, .alone = run->part.alone};
    for (int m = 0; m < a->n; m++) {
        if (!has_failed(a, m))
            continue;
        failed++;
        if ((uint32_t)m < run->from)
            continue;
        if (v->nfailed < AGREE_NAMED)
            v->failed[v->nfailed++] = (uint32_t)m;
        else
            v->more = 1;
    }
    /* What a member has acknowledged has failed. So if all have acknowledged the same, this one
     * has, and it knows of no other failure. */
    v->unacked = !run->part.alike || run->part.acked != failed;
    int ids = v->call != AGREE_SHRINK || v->more ? 0 : a->group[1] ? 4 : 1;
    for (int i = 0; i < ids; i++)
        v->ctx[i] = ctx_make();
}

/* --- along the tree -------------------------------------------------------------------- */

static int parent(int m)
{
    return m & (m - 1);
}

/* The children of m: m + 1, m + 2, m + 4 ..., below the lowest bit of m. Bit i: m + (1 << i). */
static uint32_t children(const struct agree *a)
{
    uint32_t set = 0;
    for (int i = 0; i < 31 && (1 << i) < a->n - a->me && !(a->me & ((1 << (i + 1)) - 1)); i++)
        set |= 1u << i;
    return set;
}

static void send_down(const struct agree *a, enum agree_step step)
{
    for (int i = 0; i < 31; i++)
        if (a->run->below >> i & 1)
            send_to(a, a->me + (1 << i), step, AGREE_TREE);
}

static void climb(struct agree *a)
{
    struct agree_run *run = a->run;
    if (run->ballot != AGREE_TREE)
        return;
    if (!run->up_sent && run->ups == run->below) {
        run->up_sent = 1;
        if (a->me) {
            send_to(a, parent(a->me), AGREE_UP, AGREE_TREE);
        } else {
            form(a);
            run->accepted = AGREE_TREE + 1;
            send_down(a, AGREE_ACCEPT);
        }
    }
    if (!run->accepted || run->ack_sent || run->acks != run->below)
        return;
    run->ack_sent = 1;
    if (a->me) {
        send_to(a, parent(a->me), AGREE_ACK, AGREE_TREE);
    } else {
        send_down(a, AGREE_DECIDE);
        agree_end(a);
    }
}

/* --- with a coordinator ------------------------------------------------------------------ */

/* To coordinator c: all members before it are gone. */
static void report(struct agree *a, int c)
{
    struct agree_run *run = a->run;
    if ((uint32_t)c + 1 <= run->ballot)
        return;
    run->ballot = (uint32_t)c + 1; /* A1 */
    send_to(a, c, AGREE_REPORT, run->ballot);
}

static void heard_begin(struct agree *a)
{
    struct agree_run *run = a->run;
    if (!run->heard && !(run->heard = calloc((size_t)a->n, 1)))
        log_fatal("no memory to coordinate %d processes", a->n);
}

static void propose(struct agree *a)
{
    struct agree_run *run = a->run;
    if (!run->accepted) /* A3: else a member has accepted a value */
        form(a);
    run->accepted = run->ballot + 1;
    run->heard[a->me] = AGREE_ACCEPTED;
    run->proposes = 1;
    run->next = 0;
    send_to_living(a, AGREE_ACCEPT);
}

/* Of the coordinator: has it heard of all living members? */
static void look(struct agree *a)
{
    struct agree_run *run = a->run;
    for (;;) {
        int want = run->proposes ? AGREE_ACCEPTED : AGREE_REPORTED;
        while (run->next < a->n && (run->heard[run->next] >= want || is_gone(a, run->next)))
            run->next++;
        if (run->next < a->n)
            return;
        if (run->proposes)
            break;
        propose(a);
    }
    agree_end(a); /* A2: all of them are told */
}

void agree_failed(struct agree *a)
{
    struct agree_run *run = a->run;
    int c = 0;
    while (c < a->me && is_gone(a, c))
        c++;
    if (c < a->me) {
        report(a, c);
        return;
    }
    heard_begin(a);
    if (!run->coordinates) {
        run->coordinates = 1;
        run->ballot = (uint32_t)a->me + 1;
        run->heard[a->me] = AGREE_REPORTED;
        send_to_living(a, AGREE_ASK); /* those that have ended it answer */
    }
    look(a);
}

/* --- messages ------------------------------------------------------------------------------ */

/* The bit of child m; 0: it is none. */
static uint32_t child_bit(const struct agree *a, int m)
{
    return m > a->me && parent(m) == a->me ? (uint32_t)(m - a->me) : 0;
}

static int take_up(struct agree *a, int m, const struct agree_msg *msg)
{
    struct agree_run *run = a->run;
    uint32_t bit = child_bit(a, m);
    if (!bit)
        return 0;
    if (run->ballot != AGREE_TREE || run->ups & bit)
        return 1;
    run->ups |= bit;
    merge(&run->part, &msg->part);
    climb(a);
    return 1;
}

static int take_accept(struct agree *a, int m, const struct agree_msg *msg)
{
    struct agree_run *run = a->run;
    int tree = msg->ballot == AGREE_TREE;
    if (tree ? !a->me || m != parent(a->me) : msg->ballot != (uint32_t)m + 1)
        return 0;
    if (msg->ballot < run->ballot) /* A1 */
        return 1;
    run->ballot = msg->ballot;
    run->accepted = msg->ballot + 1;
    run->value = msg->value;
    if (!tree) {
        send_to(a, m, AGREE_ACK, msg->ballot);
        return 1;
    }
    send_down(a, AGREE_ACCEPT);
    climb(a);
    return 1;
}

static int take_ack(struct agree *a, int m, const struct agree_msg *msg)
{
    struct agree_run *run = a->run;
    if (msg->ballot == AGREE_TREE) {
        uint32_t bit = child_bit(a, m);
        if (!bit)
            return 0;
        run->acks |= bit;
        climb(a);
        return 1;
    }
    if (!run->proposes || msg->ballot != run->ballot)
        return 0;
    run->heard[m] = AGREE_ACCEPTED;
    look(a);
    return 1;
}

static int take_report(struct agree *a, int m, const struct agree_msg *msg)
{
    struct agree_run *run = a->run;
    if (msg->ballot != (uint32_t)a->me + 1 || m <= a->me || msg->accepted > msg->ballot)
        return 0;
    heard_begin(a);
    if (run->proposes || run->heard[m] != AGREE_NOT)
        return 1; /* of a member that has failed meanwhile */
    run->heard[m] = AGREE_REPORTED;
    merge(&run->part, &msg->part);
    if (msg->accepted > run->accepted) { /* A3 */
        run->accepted = msg->accepted;
        run->value = msg->value;
    }
    if (run->coordinates)
        look(a);
    return 1;
}

int agree_take(struct agree *a, int m, const struct agree_msg *msg)
{
    switch (msg->step) {
    case AGREE_UP:
        return take_up(a, m, msg);
    case AGREE_ACCEPT:
        return take_accept(a, m, msg);
    case AGREE_ACK:
        return take_ack(a, m, msg);
    case AGREE_REPORT:
        return take_report(a, m, msg);
    case AGREE_ASK:
        if (msg->ballot != (uint32_t)m + 1)
            return 0;
        if (m < a->me)
            report(a, m);
        return 1;
    default: /* AGREE_DECIDE */
        a->run->value = msg->value;
        if (msg->ballot == AGREE_TREE)
            send_down(a, AGREE_DECIDE);
        agree_end(a);
        return 1;
    }
}

void agree_begin(struct agree *a)
{
    a->run->below = children(a);
    climb(a);
}
