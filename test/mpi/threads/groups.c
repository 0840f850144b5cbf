/* groups.c - threads make communicators at once, each by a call that only its tag or text tells
 * from the others: no thread gets the communicator of another. The calls begin in another order on
 * each process. */
#include "../mt.h"

#include <pthread.h>
#include <unistd.h>

/* The two texts have one 31-bit hash by FNV-1a, as one text has with itself. */
enum way { TEXT_1, TEXT_2, TAG_0, TAG_LAST, TAG_LAST_BUT_1, CREATE, INTER_1, INTER_2, WAYS };

static MPI_Group all, low, high;
static int lower;

static int make(enum way way, MPI_Comm *c)
{
    static const char *const text[2] = {"costarring", "liquid"};
    const MPI_Info none = MPI_INFO_NULL;
    const int last = 2147483647; /* MPI_TAG_UB */

    switch (way) {
    case TEXT_1:
    case TEXT_2:
        return MPI_Comm_create_from_group(all, text[way == TEXT_2], none, MPI_ERRORS_RETURN, c);
    case TAG_0: return MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, c);
    case TAG_LAST: return MPI_Comm_create_group(MPI_COMM_WORLD, all, last, c);
    case TAG_LAST_BUT_1: return MPI_Comm_create_group(MPI_COMM_WORLD, all, last - 1, c);
    case CREATE: return MPI_Comm_create(MPI_COMM_WORLD, all, c);
    default: /* with the texts of the others: they do not meet */
        return MPI_Intercomm_create_from_groups(lower ? low : high, 0, lower ? high : low, 0,
                                                text[way == INTER_2], none, MPI_ERRORS_RETURN, c);
    }
}

static int wrong[WAYS];

static void *body(void *arg)
{
    int way = (int)(intptr_t)arg, got[64], n, i;
    MPI_Comm c = MPI_COMM_NULL;

    usleep((useconds_t)((way + 3 * mt_rank) % WAYS) * 3000);
    wrong[way] = make((enum way)way, &c) != MPI_SUCCESS;
    if (wrong[way])
        return NULL;
    if (way >= INTER_1)
        MPI_Comm_remote_size(c, &n);
    else
        MPI_Comm_size(c, &n);
    MPI_Allgather(&way, 1, MPI_INT, got, 1, MPI_INT, c);
    for (i = 0; i < n; i++)
        wrong[way] += got[i] != way;
    MPI_Comm_free(&c);
    return NULL;
}

/* Several calls with one text follow each other. */
static void again(void)
{
    MPI_Comm c[5];
    int i, n, same;

    for (i = 0; i < 5; i++)
        CHECK_EQ(MPI_Comm_create_from_group(i % 2 ? all : lower ? low : high, "again",
                                            MPI_INFO_NULL, MPI_ERRORS_RETURN, &c[i]),
                 MPI_SUCCESS);
    for (i = 0; i < 5; i++) {
        MPI_Comm_size(c[i], &n);
        MPI_Allreduce(&i, &same, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(same, n * i);
        MPI_Comm_free(&c[i]);
    }
}

int main(int argc, char **argv)
{
    pthread_t th[WAYS];
    int range[3] = { 0, 0, 1 }, i, round;

    if (!mt_init_threads(&argc, &argv))
        return mt_finish();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    range[1] = mt_size / 2 - 1;
    MPI_Group_range_incl(all, 1, &range, &low);
    MPI_Group_difference(all, low, &high);
    lower = mt_rank < mt_size / 2;
    for (round = 0; round < 4; round++) {
        for (i = 0; i < WAYS; i++)
            pthread_create(&th[i], NULL, body, (void *)(intptr_t)i);
        for (i = 0; i < WAYS; i++) {
            pthread_join(th[i], NULL);
            MUST(wrong[i] == 0, "round %d, way %d: not one communicator", round, i);
        }
    }
    again();
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    MPI_Group_free(&all);
    return mt_finish();
}
