/* newcomm.c - communicators in whose creation a process dies, at any step of it: every other one
 * returns from the call, with the communicator or with that error. This holds too if the one it
 * waits for lives and has left with an error. And creations by several threads at once: each
 * thread gets its own, by so many messages. */
#include <limits.h>

#include "doom.h"
#include "p2p/p2p_packets.h"
#include "ulfm.h"

struct scene {
    int rank, size, low;
    MPI_Comm half, inter;
    int dying;
    struct doom doom;
};

/* The lower half and the rest, and what joins them. */
static void scene_open(struct scene *s)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->low = s->rank < s->size / 2;
    s->dying = (int)(sim_seed() % (unsigned)s->size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    OK(MPI_Comm_split(MPI_COMM_WORLD, s->low, 0, &s->half));
    OK(MPI_Intercomm_create(s->half, 0, MPI_COMM_WORLD, s->low ? s->size / 2 : 0, 5, &s->inter));
    MPI_Comm_set_errhandler(s->half, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->inter, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (s->rank == s->dying)
        doom_set(&s->doom, (int)(sim_random() % 120));
}

/* It may be over before its time has come. */
static void scene_close(struct scene *s)
{
    while (s->rank == s->dying)
        turn();
    MPI_Comm_free(&s->inter);
    MPI_Comm_free(&s->half);
}

/* The failure is the only error. A process that knows of it may be in another call. Others that
 * do not yet know take its messages for theirs; then the class may be another. */
static int judged(const struct scene *s, int err, int known)
{
    if (!err || !sim_gone(s->dying))
        OK(err);
    else if (known)
        ERR(MPIX_ERR_PROC_FAILED, err);
    return err;
}

static int dropped(int err, MPI_Comm *made)
{
    if (!err && *made != MPI_COMM_NULL)
        MPI_Comm_free(made);
    return err;
}

static int create_across(const struct scene *s, int without)
{
    MPI_Group all, g;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_group(s->inter, &all);
    MPI_Group_excl(all, without >= 0, &without, &g);
    int err = MPI_Comm_create(s->inter, g, &made);
    MPI_Group_free(&g);
    MPI_Group_free(&all);
    return dropped(err, &made);
}

static int idup_across(const struct scene *s)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request r;
    int err = MPI_Comm_idup(s->inter, &made, &r);
    if (!err)
        err = MPI_Wait(&r, MPI_STATUS_IGNORE);
    return dropped(err, &made);
}

enum { KINDS = 9 };

/* By all members of a communicator. A member that knows of the failure may go on to another
 * kind. */
static int create(const struct scene *s, int kind)
{
    MPI_Comm made = MPI_COMM_NULL;
    int err = MPI_SUCCESS, known = boot_failed(s->dying);
    switch (kind % KINDS) {
    case 0:
        err = MPI_Comm_split(s->inter, 0, -s->rank, &made);
        break;
    case 1: /* two colors, firsts of any rank */
        err = MPI_Comm_split(s->inter, s->rank % 2, (s->rank * 5 + (int)sim_seed()) % 7, &made);
        break;
    case 2:
        err = create_across(s, -1);
        break;
    case 3: /* rank 0 of either side stays out */
        err = create_across(s, 0);
        break;
    case 4:
        err = MPI_Intercomm_merge(s->inter, s->low, &made);
        break;
    case 5:
        err = MPI_Comm_dup(s->inter, &made);
        break;
    case 6:
        err = idup_across(s);
        break;
    case 7: /* edges to the next */
        err = MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &s->rank, (const int[]){1},
                                    (const int[]){(s->rank + 1) % s->size}, MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &made);
        break;
    default:
        err = MPI_Comm_split(MPI_COMM_WORLD, s->rank % 2, (s->rank * 5 + (int)sim_seed()) % 7,
                             &made);
        break;
    }
    return judged(s, dropped(err, &made), known);
}

static void creations(void *arg)
{
    struct scene s;
    int first = (int)(sim_seed() / 3 % KINDS), stride = (int)(sim_seed() / 7 % 3),
        err = MPI_SUCCESS;
    scene_open(&s);
    for (int i = 0; !err || s.rank == s.dying; i++) {
        if (sim_random() % 3 == 0)
            sim_compute((int)(sim_random() % 200));
        err = create(&s, first + i * stride);
    }
    for (int i = 0; i < 2 * KINDS; i++)
        (void)create(&s, first + i); /* ends, somehow */
    hear_of_death(s.dying);
    /* a process that knows of it begins nothing over both groups, whatever messages of others
     * are there */
    for (int i = 0; i < 5; i++)
        SIM_CHECK(create(&s, i));
    scene_close(&s);
}

/* By groups, neither of which knows the failed member of the other. */
static void meetings(void *arg)
{
    struct scene s;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group all, low, high;
    scene_open(&s);
    int range[2][3] = {{0, s.size / 2 - 1, 1}, {s.size / 2, s.size - 1, 1}};
    int lead_low = (int)(sim_seed() / 2 % (unsigned)(s.size / 2)),
        lead_high = (int)(sim_seed() / 3 % (unsigned)(s.size - s.size / 2));
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, &range[0], &low);
    MPI_Group_range_incl(all, 1, &range[1], &high);
    if (sim_random() % 2)
        sim_compute((int)(sim_random() % 300));
    int mine = s.low ? lead_low : lead_high, theirs = s.low ? lead_high : lead_low, err;
    if (sim_seed() % 4 < 3)
        err = MPI_Intercomm_create_from_groups(s.low ? low : high, mine, s.low ? high : low, theirs,
                                               "here", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    else
        err = MPI_Intercomm_create(s.half, mine, MPI_COMM_WORLD,
                                   s.low ? s.size / 2 + theirs : theirs, 3, &made);
    (void)judged(&s, dropped(err, &made), boot_failed(s.dying));
    err = MPI_Comm_create_group(MPI_COMM_WORLD, s.low ? low : high, 4, &made);
    (void)judged(&s, dropped(err, &made), 1);
    MPI_Group_free(&all);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    scene_close(&s);
}

/* --- by several threads at once --------------------------------------------------------------- */

enum at_once { TEXT_1, TEXT_2, INTER, GROUP_0, GROUP_LAST, GROUP_NEXT, CREATE, WAYS };

/* One rank's fields are written by its own fibers only. */
static struct made {
    MPI_Group all, half, other;
    int rank, size, open, left, done;
    uint64_t id[WAYS]; /* with which this process receives */
    MPI_Comm comm[WAYS];
    long sent;
} made_by[SIM_RANKS];

static uint64_t id_of(MPI_Comm comm)
{
    const struct comm *c = comm_find(comm);
    return (uint64_t)c->round_recv << 32 | c->ctx_recv;
}

/* The texts have one 31-bit hash (FNV-1a), and INTER has the text of the first. */
static int make(struct made *m, enum at_once way, MPI_Comm *c)
{
    switch (way) {
    case TEXT_1:
    case TEXT_2:
        return MPI_Comm_create_from_group(m->all, way == TEXT_1 ? "costarring" : "liquid",
                                          MPI_INFO_NULL, MPI_ERRORS_RETURN, c);
    case INTER:
        return MPI_Intercomm_create_from_groups(m->half, 0, m->other, 0, "costarring",
                                                MPI_INFO_NULL, MPI_ERRORS_RETURN, c);
    case CREATE:
        return MPI_Comm_create(MPI_COMM_WORLD, m->all, c);
    default:
        return MPI_Comm_create_group(MPI_COMM_WORLD, m->all,
                                     way == GROUP_0 ? 0 : INT_MAX - (way == GROUP_NEXT), c);
    }
}

static void make_at_once(struct made *m, enum at_once way)
{
    sim_compute((int)(sim_random() % 300));
    OK(make(m, way, &m->comm[way]));
    m->id[way] = id_of(m->comm[way]);
    m->left--;
}

static void at_once_thread(int thread, void *arg)
{
    struct made *m = &made_by[sim_rank()];
    (void)arg;
    while (!m->open)
        sim_compute(1);
    make_at_once(m, (enum at_once)thread);
}

/* Below `rank` in a binomial tree of n. */
static int below(int rank, int n)
{
    int many = 0;
    for (int mask = 1; rank + mask < n && !(rank & mask); mask <<= 1)
        many++;
    return many;
}

/* Four ranks far from each other: one message along each edge of the tree of each call. Between
 * groups: the tree, two broadcasts and the id of the local copy in each group of two; the leaders
 * send each other two messages. */
static void at_once_main(void *arg)
{
    (void)arg;
    struct made *m = &made_by[sim_rank()];
    int range[2][3] = {{0, 1, 1}, {2, 3, 1}};
    *m = (struct made){.left = WAYS};
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->size);
    MPI_Comm_group(MPI_COMM_WORLD, &m->all);
    MPI_Group_range_incl(m->all, 1, &range[m->rank / 2], &m->half);
    MPI_Group_range_incl(m->all, 1, &range[!(m->rank / 2)], &m->other);
    MPI_Barrier(MPI_COMM_WORLD);
    m->sent = sim_sent(m->rank, P2P_EAGER);
    m->open = 1;
    make_at_once(m, TEXT_1);
    while (m->left)
        sim_compute(1);
    m->sent = sim_sent(m->rank, P2P_EAGER) - m->sent;
    int leads = m->rank % 2 == 0;
    SIM_CHECK(m->sent == (WAYS - 1) * below(m->rank, m->size) + leads * (4 + 2));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int way = 0; way < WAYS; way++)
        SIM_CHECK(m->id[way] == made_by[way == INTER ? m->rank / 2 * 2 : 0].id[way]);
    MPI_Barrier(MPI_COMM_WORLD); /* all have looked */
    for (int way = 0; way < WAYS; way++)
        MPI_Comm_free(&m->comm[way]);
    MPI_Group_free(&m->other);
    MPI_Group_free(&m->half);
    MPI_Group_free(&m->all);
}

const struct scenario scenarios_newcomm[] = {
    {"newcomm-at-once-4", 4, WAYS, at_once_main, at_once_thread, far_away},
    {"newcomm-dies-4", 4, 1, creations, NULL, mortal},
    {"newcomm-dies-7", 7, 1, creations, NULL, mortal},
    {"newcomm-dies-apart-5", 5, 1, meetings, NULL, mortal},
    {"newcomm-dies-apart-8", 8, 1, meetings, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
