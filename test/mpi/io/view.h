/* view.h - a view with gaps, and counters of the library, for the programs of this folder. */
#ifndef VIEW_H
#define VIEW_H

#include "../mt.h"

/* Rank r sees every every-th block, from the r-th on. Bytes. */
static MT_UNUSED void view_set(MPI_File f, int block, int every)
{
    MPI_Datatype t, ft;
    MPI_Type_contiguous(block, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, (MPI_Aint)block * every, &ft);
    MPI_Type_commit(&ft);
    CHECK_EQ(MPI_File_set_view(f, (MPI_Offset)mt_rank * block, MPI_BYTE, ft, "native",
                               MPI_INFO_NULL), 0);
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
}

/* A counter of the process. After MPI_T_init_thread. */
static MT_UNUSED long long pv_get(const char *counter)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int i = -1, n = 0;
    if (!MUST(!MPI_T_pvar_get_index(counter, MPI_T_PVAR_CLASS_COUNTER, &i), "no %s", counter))
        return -1;
    MPI_T_pvar_session_create(&s);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &n), 0);
    CHECK_EQ(MPI_T_pvar_read(s, h, &v), 0);
    MPI_T_pvar_handle_free(s, &h);
    MPI_T_pvar_session_free(&s);
    return (long long)v;
}

#endif
