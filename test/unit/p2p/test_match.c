/* test_match.c - p2p/match.c: as two plain lists. */
#include "live.h"
#include "unit.h"

#include <stdlib.h>

Suite *suite_match(void);

/* Against a model: two plain lists, searched from the front (MPI-3.1 3.5, "order"). */
enum { MANY = 4000, RANKS = 7 /* mask of the ranks, above which rounds stand */ };

static struct p2p_req *posted[MANY];
static struct p2p_unex *kept[MANY];
static int nposted, nkept;
static unsigned dice;

static int roll(int n)
{
    dice = dice * 1103515245u + 12345u;
    return (int)((dice >> 16) % (unsigned)n);
}

static uint32_t word(int round, int rank)
{
    return (uint32_t)round * (RANKS + 1) | ((uint32_t)rank & RANKS);
}

/* Two rounds mostly; so many of all that some keys with wildcards share a bin. */
static int some_round(void)
{
    return roll(8) ? roll(2) : roll(64);
}

static int fits(uint32_t ctx, uint32_t src, int tag, const struct p2p_match *m)
{
    int rank = src % (RANKS + 1) == word(0, MPI_ANY_SOURCE) ? MPI_ANY_SOURCE : (int)(src & RANKS);
    return m->ctx == ctx && src / (RANKS + 1) == m->src / (RANKS + 1) &&
           (rank == MPI_ANY_SOURCE || rank == (int)(m->src & RANKS)) &&
           (tag == MPI_ANY_TAG || tag == m->tag);
}

static void message(void)
{
    struct p2p_match m = {(uint32_t)roll(2) * CTX_STEP, word(some_round(), roll(3)), roll(4), 0};
    int i = 0;
    while (i < nposted && !fits(posted[i]->ctx, posted[i]->src, posted[i]->tag, &m))
        i++;
    struct p2p_req *q = match_arrival(&m);
    job_check(q == (i < nposted ? posted[i] : NULL));
    if (q) {
        memmove(&posted[i], &posted[i + 1], (size_t)(--nposted - i) * sizeof posted[0]);
        free(q);
    } else {
        struct p2p_unex *u = calloc(1, sizeof *u);
        u->m = m;
        match_keep(u);
        kept[nkept++] = u;
    }
}

static void receive(void)
{
    uint32_t ctx = (uint32_t)roll(2) * CTX_STEP;
    uint32_t src = word(some_round(), roll(4) ? roll(3) : MPI_ANY_SOURCE);
    int tag = roll(4) ? roll(4) : MPI_ANY_TAG, i = 0;
    while (i < nkept && !fits(ctx, src, tag, &kept[i]->m))
        i++;
    struct p2p_unex *u = match_find(ctx, src, tag);
    job_check(u == (i < nkept ? kept[i] : NULL));
    if (u) {
        match_take(u);
        memmove(&kept[i], &kept[i + 1], (size_t)(--nkept - i) * sizeof kept[0]);
        free(u);
    } else {
        struct p2p_req *q = calloc(1, sizeof *q);
        q->ctx = ctx;
        q->src = src;
        q->tag = tag;
        match_post(q);
        posted[nposted++] = q;
    }
}

static void cancel(void)
{
    if (!nposted)
        return;
    int i = roll(nposted);
    match_unpost(posted[i]);
    free(posted[i]);
    memmove(&posted[i], &posted[i + 1], (size_t)(--nposted - i) * sizeof posted[0]);
}

static void body(void)
{
    proc->p2p = calloc(1, sizeof *proc->p2p);
    match_init(proc->p2p);
    proc->p2p->ranks = RANKS;
    for (dice = 1; dice < 40; dice++) {
        unsigned seed = dice;
        int bias = roll(5) + 3; /* queues that stay short, and others that grow long */
        for (int i = 0; i < 2000; i++) {
            if (roll(10) < bias)
                message();
            else
                receive();
            if (roll(20) == 0)
                cancel();
        }
        while (nposted)
            cancel();
        while (nkept) {
            match_take(kept[--nkept]);
            free(kept[nkept]);
        }
        job_check(proc->p2p->unexpected == 0);
        for (int kind = 0; kind < P2P_KEYS; kind++)
            job_check(proc->p2p->posted_kind[kind] == 0);
        dice = seed;
    }
}

START_TEST(as_two_plain_lists)
{
    ck_assert_int_eq(job_run(1, NULL, body, 60), 0);
}
END_TEST

Suite *suite_match(void)
{
    Suite *s = suite_create("p2p/match");
    TCase *t = tcase_create("match");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, as_two_plain_lists);
    suite_add_tcase(s, t);
    return s;
}
