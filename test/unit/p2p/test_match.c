#include "unit.h"

#include "p2p/p2p_types.h"
#include "rooms.h"
#include "unit_p2p.h"

/* The matching tables alone, against a list walked in order. */

enum { N = 2000, LIVE = 60 };

static struct p2p_req posted[N];
static struct p2p_unex kept[N];

static void tables(void)
{
    struct p2p_req *order[N];
    struct p2p_unex *came[N];
    int norder = 0, ncame = 0, nposted = 0, nkept = 0;
    unsigned r = 99;
    rooms_up();
    for (int step = 0; step < N; step++) {
        r = r * 1103515245u + 12345u;
        int rank = (int)(r >> 8) % 3, tag = (int)(r >> 12) % 3;
        uint32_t ctx = 4096 + 4 * ((r >> 16) % 2);
        if ((r >> 20) % 2) { /* a receive, maybe with wildcards */
            int want = (r >> 22) % 3 ? rank : MPI_ANY_SOURCE, wtag = (r >> 24) % 3 ? tag : MPI_ANY_TAG;
            struct p2p_unex *expect = NULL;
            int at = 0;
            for (; at < ncame && !expect; at++)
                if (came[at]->m.ctx == ctx && (want < 0 || came[at]->m.rank == want) && (wtag < 0 || came[at]->m.tag == wtag))
                    expect = came[at];
            job_check(match_find(ctx, want, wtag) == expect);
            if (expect) {
                match_take(expect);
                memmove(&came[at - 1], &came[at], sizeof *came * (size_t)(ncame - at));
                ncame--;
            } else if (norder < LIVE) {
                struct p2p_req *q = &posted[nposted++];
                q->ctx = ctx;
                q->rank = want;
                q->tag = wtag;
                match_post(q);
                order[norder++] = q;
            }
        } else {
            struct p2p_match m = {.ctx = ctx, .rank = rank, .tag = tag};
            struct p2p_req *expect = NULL;
            int at = 0;
            for (; at < norder && !expect; at++)
                if (order[at]->ctx == ctx && (order[at]->rank < 0 || order[at]->rank == rank) &&
                    (order[at]->tag < 0 || order[at]->tag == tag))
                    expect = order[at];
            job_check(match_arrival(&m) == expect);
            if (expect) {
                memmove(&order[at - 1], &order[at], sizeof *order * (size_t)(norder - at));
                norder--;
            } else if (ncame < LIVE) {
                struct p2p_unex *u = &kept[nkept++];
                u->m = m;
                match_keep(u);
                came[ncame++] = u;
            }
        }
    }
    while (norder)
        match_unpost(order[--norder]);
    while (ncame)
        match_take(came[--ncame]);
    rooms_down();
}

START_TEST(first_come_first_matched)
{
    ck_assert_int_eq(job_run(1, NULL, tables, 60), 0);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, first_come_first_matched);
}
ROOMS_SUITE(match, "p2p/match")
