/* report.c - the report (src/profile) of two and of many ranks: rank 0 prints one short page that
 * names the true cause.  For it no process sends or keeps more than a tree of pages needs, whatever
 * the number of ranks. */
#include <stdio.h>

#include "memory.h"
#include "profile/profile_types.h"
#include "scripted.h"
#include "sim_types.h"

enum { ROUNDS = 6, LATE = 20000 /* steps, a microsecond each */ };

static struct {
    int ended, pages;
} seen;

/* --- the program: the last rank comes late to each barrier ---------------------------------- */

static void program(void *arg)
{
    int rank, size;
    MPI_Win win;
    long *mem, one = 1;
    (void)arg;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (!rank)
        seen.ended = seen.pages = 0;
    OK(MPI_Win_allocate(sizeof one, sizeof one, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    OK(MPI_Win_set_name(win, "ring"));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&one, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == size - 1)
            sim_compute(LATE);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Win_free(&win));
}

/* --- what it costs -------------------------------------------------------------------------- */

void __real_profile_gather(struct profile_page *p);
void __wrap_profile_gather(struct profile_page *p);
void __real_profile_page_print(const struct profile_page *p, const char *name,
                               struct profile_text *out);
void __wrap_profile_page_print(const struct profile_page *p, const char *name,
                               struct profile_text *out);

/* In the binomial tree. */
static int children_of(int rank, int size)
{
    int n = 0;
    for (int step = 1; step < size && !(rank & step); step *= 2)
        n += rank + step < size;
    return n;
}

void __wrap_profile_gather(struct profile_page *p)
{
    /* A page travels in pieces; beside them it is announced, asked for, and confirmed, and credits
     * go back. One that comes early is kept. */
    enum { PIECE = 3072, PAGE = sizeof(struct profile_page) / PIECE + 8, SLACK = 512 };
    int rank = sim_rank(), size = the_sim->k.ranks, children = children_of(rank, size);
    long before = sim_sent(rank, -1), held = memory_bytes(rank);
    SIM_CHECK(children <= 7 && (1 << children) <= 2 * size);
    (void)memory_most(rank);
    __real_profile_gather(p);
    long sent = sim_sent(rank, -1) - before, most = memory_most(rank) - held;
    sim_event("the report took %ld messages, %ld bytes; %d children", sent, most, children);
    SIM_CHECK(sent <= PAGE * (children + (rank > 0)));
    SIM_CHECK(most <= children * (long)sizeof(struct profile_page) + (children + 1) * SLACK);
    seen.ended++;
}

/* The page is judged, and then not printed. */
void __wrap_profile_page_print(const struct profile_page *p, const char *name,
                               struct profile_text *out)
{
    __real_profile_page_print(p, name, out);
    struct profile_advice advice[PROFILE_ADVICE];
    int n = profile_advise(p, advice), size = the_sim->k.ranks;
    if (the_sim->k.verbose)
        fputs(out->s, stdout);
    SIM_CHECK(p->ranks == size && !p->missing && seen.ended >= 1);
    SIM_CHECK(profile_lines(out) <= PROFILE_LINES);
    SIM_CHECK(n && !strcmp(advice[0].cause, "late-arrival"));
    SIM_CHECK(strstr(out->s, "late arrival at a barrier") != NULL);
    const struct profile_wait *barrier = NULL;
    uint64_t waits = 0, of_calls = 0;
    for (uint32_t i = 0; i < p->waits; i++) {
        waits += p->wait[i].ns;
        if (!strcmp(p->wait[i].call, "MPI_Barrier") &&
            (!barrier || p->wait[i].ns > barrier->ns))
            barrier = &p->wait[i];
    }
    SIM_CHECK(barrier && profile_late_rank(p, barrier) == size - 1);
    SIM_CHECK(barrier->ns > (uint64_t)(size - 1) * ROUNDS * LATE * 900);
    for (uint32_t i = 0; i < p->calls; i++)
        of_calls += p->call[i].ns;
    SIM_CHECK(waits == p->waiting && of_calls == waits);
    SIM_CHECK(p->wins >= 1 && !strcmp(p->win[0].name, "ring"));
    SIM_CHECK(p->win[0].v[PVAR_RMA_PUT] == (uint64_t)size);
    out->n = 0;
    seen.pages++;
}

/* --- the scenarios -------------------------------------------------------------------------- */

static void reported(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_REPORT", "1");
    k->quiet_rank = -1;
    k->mortal = 1; /* no rank dies, but memory is counted */
}

static void on_hosts(struct sim_knobs *k)
{
    reported(k);
    k->nodes = k->ranks / 8;
}

const struct scenario scenarios_report[] = {
    {"report-2", 2, 1, program, NULL, reported},
    {"report-7", 7, 1, program, NULL, reported},
    {"report-128", 128, 1, program, NULL, on_hosts},
    {NULL, 0, 0, NULL, NULL, NULL},
};
