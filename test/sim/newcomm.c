/* newcomm.c - communicators in whose creation a process dies, at any step of it: every other one
 * returns from the call, with the communicator or with that error. This holds too if the one it
 * waits for lives and has left with an error. */
#include "doom.h"
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

const struct scenario scenarios_newcomm[] = {
    {"newcomm-dies-4", 4, 1, creations, NULL, mortal},
    {"newcomm-dies-7", 7, 1, creations, NULL, mortal},
    {"newcomm-dies-apart-5", 5, 1, meetings, NULL, mortal},
    {"newcomm-dies-apart-8", 8, 1, meetings, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
