/* verdicts.h - how many races this process has reported: the performance variables of race/. */
#ifndef CHECK_VERDICTS_H
#define CHECK_VERDICTS_H

#include <mpi.h>

enum { SURE = 2, WITH_POSSIBLE = 3 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle found[WITH_POSSIBLE];

static void open_variables(void)
{
    static const char *const names[] = {"race_found", "race_value", "race_possible"};
    int provided, at, n;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < WITH_POSSIBLE; i++)
        if (MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &at) ||
            MPI_T_pvar_handle_alloc(session, at, NULL, &found[i], &n))
            MPI_Abort(MPI_COMM_WORLD, 99);
}

/* kinds: SURE, WITH_POSSIBLE */
static unsigned long long verdicts(int kinds)
{
    unsigned long long v, sum = 0;
    for (int i = 0; i < kinds; i++) {
        MPI_T_pvar_read(session, found[i], &v);
        sum += v;
    }
    return sum;
}

#endif
