/* types.c - the types of messages and of the receives that take them (signature/):
 *
 *   types-exact-*    each difference is found, each pair of types and places once, by a note for
 *                    each message; also where messages wait for room
 *   types-random-*   the same where messages pass each other: nothing else is
 *   types-legal-*    all match: nothing is found
 *   types-pairs-*    the same of collective calls with an amount for each pair
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/proc.h"
#include "scenarios.h"
#include "var/var.h"

enum { MESSAGES = 30, LONG = 20000, KINDS = 3, PLACES = 3 };
static const MPI_Datatype kind[KINDS] = {MPI_INT, MPI_FLOAT, MPI_UNSIGNED};

struct message { /* number i has tag i */
    int from, to, sent, taken, n, place;
    int *out, *in;
    MPI_Request s, r;
};

static int dice(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (unsigned)n);
}

static void draw(struct message *m, uint64_t *state, int size, int legal)
{
    m->from = dice(state, size);
    m->to = dice(state, size);
    m->sent = dice(state, KINDS);
    m->taken = legal ? m->sent : dice(state, KINDS);
    m->n = dice(state, 4) ? 1 + dice(state, 100) : 1 + dice(state, LONG);
    m->place = dice(state, PLACES);
    m->out = calloc(LONG, sizeof *m->out);
    m->in = calloc(LONG, sizeof *m->in);
    m->s = m->r = MPI_REQUEST_NULL;
}

static void send_all(struct message *m, int me)
{
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].to == me && m[i].place == 0)
            OK(MPI_Irecv(m[i].in, LONG, kind[m[i].taken], m[i].from, i, MPI_COMM_WORLD, &m[i].r));
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].from == me)
            OK(MPI_Isend(m[i].out, m[i].n, kind[m[i].sent], m[i].to, i, MPI_COMM_WORLD, &m[i].s));
}

static void take_all(struct message *m, int me)
{
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].to == me && m[i].place == 1)
            OK(MPI_Recv(m[i].in, LONG, kind[m[i].taken], MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        else if (m[i].to == me && m[i].place == 2)
            OK(MPI_Irecv(m[i].in, LONG, kind[m[i].taken], m[i].from, i, MPI_COMM_WORLD, &m[i].r));
    for (int i = 0; i < MESSAGES; i++) {
        OK(MPI_Wait(&m[i].s, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&m[i].r, MPI_STATUS_IGNORE));
        free(m[i].out);
        free(m[i].in);
    }
}

/* Pairs of types and places that differ, each once. */
static int differences(const struct message *m, int me)
{
    int seen[KINDS][KINDS][PLACES] = {0}, n = 0;
    for (int i = 0; i < MESSAGES; i++)
        if (m[i].to == me && m[i].sent != m[i].taken)
            n += !seen[m[i].sent][m[i].taken][m[i].place]++;
    return n;
}

static int found(void)
{
    return (int)atomic_load_explicit(&pvar_proc()->v[PVAR_CHECK_VERDICTS], memory_order_relaxed);
}

static void run(int legal, int exact)
{
    struct message m[MESSAGES];
    uint64_t state = sim_seed() * 977 + 5;
    int size, me = sim_rank(), want, notes = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < MESSAGES; i++) {
        draw(&m[i], &state, size, legal);
        notes += m[i].from == me;
    }
    want = differences(m, me);
    send_all(m, me);
    take_all(m, me);
    if (found() > want || (exact && found() != want))
        sim_fail("%d differences of types were found, not %d", found(), want);
    if (exact && sim_sent(me, AM_SIGNATURE) != notes)
        sim_fail("%ld notes for %d messages", sim_sent(me, AM_SIGNATURE), notes);
}

static void exact(void *arg)
{
    run(0, 1);
}

static void mixed(void *arg)
{
    run(0, 0);
}

static void legal(void *arg)
{
    run(1, 0);
}

/* --- collective calls ------------------------------------------------------------------------- */

enum { CALLS = 12, MOST = 4, SITES = 5 };

struct pairs {
    int sent[MOST][MOST], taken[MOST][MOST]; /* kinds of what rank i sends to rank j */
    int n[MOST][MOST];
};

/* All ranks draw the same. */
static void draw_pairs(struct pairs *p, uint64_t *state, int legal)
{
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < MOST; j++) {
            p->sent[i][j] = dice(state, KINDS);
            p->taken[i][j] = legal || dice(state, 4) ? p->sent[i][j] : dice(state, KINDS);
            p->n[i][j] = dice(state, 3) ? dice(state, 5) : dice(state, 400);
        }
}

static int seen[MOST][SITES][KINDS][KINDS];

/* Pairs of types that differ, each once. Empty parts differ in no type. */
static int count(int me, int site, int n, int sent, int taken)
{
    return n && sent != taken && !seen[me][site][sent][taken]++;
}

static int exchange_all(const struct pairs *p, int me, int size, int *out, int *in)
{
    MPI_Datatype st[MOST], rt[MOST];
    int sn[MOST], rn[MOST], at[MOST], want = 0;
    for (int i = 0; i < size; i++) {
        st[i] = kind[p->sent[me][i]];
        rt[i] = kind[p->taken[i][me]];
        sn[i] = p->n[me][i];
        rn[i] = p->n[i][me];
        at[i] = 4 * 400 * i;
        want += count(me, 0, rn[i], p->sent[i][me], p->taken[i][me]);
    }
    OK(MPI_Alltoallw(out, sn, at, st, in, rn, at, rt, MPI_COMM_WORLD));
    return want;
}

/* What rank i sends to rank 0 is what it sends here, and what rank 0 takes of itself is the type of
 * all. */
static int gather_all(const struct pairs *p, int me, int size, int root, int *out, int *in)
{
    int rn[MOST], at[MOST], want = 0;
    MPI_Request r;
    for (int i = 0; i < size; i++) {
        rn[i] = p->n[i][0];
        at[i] = 400 * i;
        if (me == root)
            want += count(me, 1, rn[i], p->sent[i][0], p->taken[0][0]);
    }
    OK(MPI_Igatherv(out, rn[me], kind[p->sent[me][0]], in, rn, at, kind[p->taken[0][0]], root,
                    MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    return want;
}

/* Here all have the same type: MPI_Allgatherv has one for what it takes. Each process looks at the
 * one before it. */
static int gather_everywhere(const struct pairs *p, int me, int size, int *out, int *in)
{
    int rn[MOST], at[MOST], before = (me + size - 1) % size;
    for (int i = 0; i < size; i++) {
        rn[i] = p->n[i][1];
        at[i] = 400 * i;
    }
    OK(MPI_Allgatherv(out, rn[me], kind[p->sent[me][1]], in, rn, at, kind[p->taken[0][0]],
                      MPI_COMM_WORLD));
    return count(me, 2, rn[before], p->sent[before][1], p->taken[0][0]);
}

/* On a ring, both neighbours of two are one process. What goes down comes from above. */
static int exchange_beside(const struct pairs *p, int me, int size, MPI_Comm ring, int *out,
                           int *in)
{
    MPI_Datatype st[2], rt[2];
    MPI_Aint at[2] = {0, 4 * 401};
    int sn[2], rn[2], want = 0;
    for (int i = 0; i < 2; i++) {
        int peer = (me + (i ? 1 : size - 1)) % size;
        int sent = (p->sent[peer][me] + 1 - i) % KINDS;
        int taken = (p->taken[peer][me] + 1 - i) % KINDS;
        st[i] = kind[(p->sent[me][peer] + i) % KINDS];
        rt[i] = kind[taken];
        sn[i] = p->n[me][peer] + i;
        rn[i] = p->n[peer][me] + 1 - i;
        want += count(me, 3, rn[i], sent, taken);
    }
    OK(MPI_Neighbor_alltoallw(out, sn, at, st, in, rn, at, rt, ring));
    return want;
}

/* From the even ranks to the odd ones, and back. The n-th of a group looks at the n-th of the other
 * one, and at those whose number has the same remainder by the size of its own. */
static int gather_across(const struct pairs *p, int me, MPI_Comm across, int *out, int *in)
{
    int rn[MOST], at[MOST], want = 0, own, others;
    MPI_Comm_size(across, &own);
    MPI_Comm_remote_size(across, &others);
    for (int i = 0; i < others; i++) {
        int peer = 2 * i + !(me % 2);
        rn[i] = p->n[peer][2];
        at[i] = 400 * i;
        if (i % own == me / 2)
            want += count(me, 4, rn[i], p->sent[peer][0], p->taken[0][0]);
    }
    OK(MPI_Allgatherv(out, p->n[me][2], kind[p->sent[me][0]], in, rn, at, kind[p->taken[0][0]],
                      across));
    return want;
}

static MPI_Comm between_parities(int me)
{
    MPI_Comm half, across;
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 1, &across));
    OK(MPI_Comm_free(&half));
    return across;
}

static void run_pairs(int legal, int exact)
{
    struct pairs p;
    uint64_t state = sim_seed() * 7919 + 3;
    int size, me = sim_rank(), want = 0, *out = calloc(MOST * 401, sizeof *out),
        *in = calloc(MOST * 401, sizeof *in);
    MPI_Comm ring, across = between_parities(me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring));
    memset(seen[me], 0, sizeof seen[me]);
    for (int i = 0; i < CALLS; i++) {
        int call = dice(&state, 5);
        draw_pairs(&p, &state, legal);
        if (legal)
            for (int k = 0; k < MOST; k++)
                p.sent[k][0] = p.sent[k][1] = p.taken[k][0] = p.taken[k][1] = p.sent[0][0];
        want += call == 0   ? exchange_all(&p, me, size, out, in)
                : call == 1 ? gather_all(&p, me, size, i % size, out, in)
                : call == 2 ? gather_everywhere(&p, me, size, out, in)
                : call == 3 ? gather_across(&p, me, across, out, in)
                            : exchange_beside(&p, me, size, ring, out, in);
    }
    OK(MPI_Comm_free(&across));
    OK(MPI_Comm_free(&ring));
    for (int i = 0; i < size; i++) /* notes of a process come before its next message */
        OK(MPI_Sendrecv(out, 1, MPI_INT, (me + i) % size, i, in, 1, MPI_INT,
                        (me + size - i) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (found() > want || (exact && found() != want))
        sim_fail("%d differences of amounts were found, not %d", found(), want);
    free(out);
    free(in);
}

static void exact_pairs(void *arg)
{
    run_pairs(0, 1);
}

static void mixed_pairs(void *arg)
{
    run_pairs(0, 0);
}

static void legal_pairs(void *arg)
{
    run_pairs(1, 1);
}

static void checked(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_TYPE_CHECK", "1");
}

/* No message waits for room, and all come in order. */
static void roomy(struct sim_knobs *k)
{
    checked(k);
    k->ordered = 1;
    k->again_percent = k->refuse_percent = 0;
    k->inbox = 1 << 20;
}

/* Messages wait for room, and come in order. */
static void waiting(struct sim_knobs *k)
{
    checked(k);
    k->ordered = 1;
}

static void passing(struct sim_knobs *k)
{
    checked(k);
    k->ordered = 0;
}

const struct scenario scenarios_types[] = {
    {"types-exact-2", 2, 1, exact, NULL, roomy},
    {"types-exact-4", 4, 1, exact, NULL, roomy},
    {"types-exact-full-3", 3, 1, exact, NULL, waiting},
    {"types-random-3", 3, 1, mixed, NULL, passing},
    {"types-legal-3", 3, 1, legal, NULL, checked},
    {"types-pairs-exact-2", 2, 1, exact_pairs, NULL, roomy},
    {"types-pairs-exact-4", 4, 1, exact_pairs, NULL, roomy},
    {"types-pairs-random-3", 3, 1, mixed_pairs, NULL, passing},
    {"types-pairs-legal-4", 4, 1, legal_pairs, NULL, checked},
    {NULL, 0, 0, NULL, NULL, NULL},
};
