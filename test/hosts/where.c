/* where.c - the processes that share a host are found: memory is shared inside a host and not
 * across, and a window reaches all. Arguments: hosts of the job; ranks are spread evenly. */
#include "mt.h"

static char names[64][MPI_MAX_PROCESSOR_NAME];

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    int hosts = argc > 1 ? atoi(argv[1]) : 1, len, near_size, near_rank, *base, *mine;
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Comm near;
    MPI_Win win;
    MPI_Aint size;

    CHECK(mt_size <= 64);
    MPI_Get_processor_name(name, &len);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &near_size);
    MPI_Comm_rank(near, &near_rank);
    int alike = 0, different = 0;
    for (int i = 0; i < mt_size; i++) {
        int first = 1;
        alike += !strcmp(names[i], name);
        for (int k = 0; k < i; k++)
            first = first && strcmp(names[k], names[i]);
        different += first;
    }
    CHECK_EQ(near_size, alike);
    CHECK_EQ(different, hosts);

    /* One memory inside the host. */
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, near, &mine, &win);
    *mine = -1;
    MPI_Win_fence(0, win);
    int next = (near_rank + 1) % near_size, unit;
    MPI_Win_shared_query(win, next, &size, &unit, &base);
    *base = mt_rank;
    MPI_Win_fence(0, win);
    int writer = *mine, group_rank = (near_rank + near_size - 1) % near_size;
    MPI_Group all, here;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(near, &here);
    MPI_Group_translate_ranks(here, 1, &group_rank, all, &len);
    CHECK_EQ(writer, len);
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    MPI_Win_free(&win);

    /* One window over all of them, near and far in one epoch. */
    MPI_Win_allocate((MPI_Aint)sizeof(int) * mt_size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &mine, &win);
    memset(mine, 0xff, sizeof(int) * (size_t)mt_size);
    MPI_Win_fence(0, win);
    for (int i = 0; i < mt_size; i++)
        MPI_Put(&mt_rank, 1, MPI_INT, i, mt_rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < mt_size; i++)
        CHECK_EQ(mine[i], i);
    MPI_Win_free(&win);
    MPI_Comm_free(&near);
    return mt_finish();
}
