/* types.c - the types of messages and of the receives that take them (signature/):
 *
 *   types-exact-*    each difference is found, each pair of types and places once, by a note for
 *                    each message
 *   types-random-*   the same where messages wait for room, or pass each other: nothing else is
 *   types-legal-*    all match: nothing is found
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>

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

const struct scenario scenarios_types[] = {
    {"types-exact-2", 2, 1, exact, NULL, roomy},
    {"types-exact-4", 4, 1, exact, NULL, roomy},
    {"types-random-3", 3, 1, mixed, NULL, checked},
    {"types-legal-3", 3, 1, legal, NULL, checked},
    {NULL, 0, 0, NULL, NULL, NULL},
};
