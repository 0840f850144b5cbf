/* pv.h - performance variables of a window, and control variables, by name. */
#ifndef PV_H
#define PV_H

#include "../mt.h"

static MT_UNUSED long long pv_read(MPI_Win win, const char *name)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int i = -1, n = 0, err;
    char full[128];

    snprintf(full, sizeof full, "%s_win", name); /* without the ending: sums over all windows */
    name = full;
    err = MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &i);
    if (err)
        err = MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_HIGHWATERMARK, &i);
    if (err)
        err = MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &i);
    if (err)
        err = MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &i);
    if (!MUST(!err, "no performance variable %s", name))
        return -1;
    MPI_T_pvar_session_create(&s);
    err = MPI_T_pvar_handle_alloc(s, i, &win, &h, &n);
    if (!err)
        err = MPI_T_pvar_read(s, h, &v);
    MUST(!err, "performance variable %s cannot be read", name);
    MPI_T_pvar_handle_free(s, &h);
    MPI_T_pvar_session_free(&s);
    return (long long)v;
}

static MT_UNUSED long long pv_cvar(const char *name)
{
    MPI_T_cvar_handle h;
    int i = -1, n = 0;
    union {
        int i;
        long long ll;
    } v = {.ll = 0};

    if (!MUST(MPI_T_cvar_get_index(name, &i) == MPI_SUCCESS, "no control variable %s", name))
        return -1;
    if (MPI_T_cvar_handle_alloc(i, NULL, &h, &n) == MPI_SUCCESS) {
        char text[8], about[8];
        int len = sizeof text, alen = sizeof about, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum e;

        MPI_T_cvar_get_info(i, text, &len, &verbosity, &type, &e, about, &alen, &bind, &scope);
        MPI_T_cvar_read(h, &v);
        MPI_T_cvar_handle_free(&h);
        return type == MPI_INT ? v.i : v.ll;
    }
    MUST(0, "control variable %s cannot be read", name);
    return -1;
}

/* Before mt_init() or after it. */
static MT_UNUSED void pv_begin(void)
{
    int provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}

#endif
