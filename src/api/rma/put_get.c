/* put_get.c - puts and gets (MPI-3.1 11.3.1, 11.3.2). Start with PMPI_Put(). */
#include "api/rma/onesided.h"

static int put(const char *call, struct side o, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_PUT, .rank = rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : onesided_side(&o, &a.otype);
    if (!err && rank != MPI_PROC_NULL)
        err = onesided_target(n, type, &a.ttype);
    return onesided_run(win, &a, req, err, o.site);
}

static int get(const char *call, struct side r, void *result, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_GET, .rank = rank, .result = result,
                         .rcount = (MPI_Aint)r.count, .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : onesided_side(&r, &a.rtype);
    if (!err && rank != MPI_PROC_NULL)
        err = onesided_target(n, type, &a.ttype);
    return onesided_run(win, &a, req, err, r.site);
}

static SLOW int put_slow(const void *origin, int ocount, MPI_Datatype otype, int rank,
                         MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win,
                         const void *site)
{
    return put("MPI_Put", SIDE_AT(origin, ocount, otype, site), rank, disp, tcount, ttype, win,
               NULL);
}

static SAME int put_same(const void *origin, const MPI_Win *win, const MPI_Datatype *type, int rank,
                         MPI_Aint disp, int count, const void *site)
{
    struct rma_near_table *room = rma_near_self();
    uint64_t bytes = (uint64_t)(int64_t)count * rma_near_bytes(*type);
    if (origin && room && rma_near_plain(room, *type)) {
        struct rma_win_near *w = rma_near_win(room, *win);
        if (UNLIKELY(!count) && w && onesided_nothing(w, rank, disp, PVAR_RMA_PUT))
            return MPI_SUCCESS;
        if (w ? onesided_near(w, rank, disp, bytes, origin, NULL) ||
                    onesided_far(w, rank, disp, count, *type, NULL, origin)
              : rma_mirror_put(*win, rank, disp, bytes, origin))
            return MPI_SUCCESS;
    }
    return put_slow(origin, count, *type, rank, disp, count, *type, *win, site);
}

static inline __attribute__((always_inline)) int put_near(struct rma_near *n, const void *origin,
                                                          char *at, uint64_t bytes)
{
    rma_near_count(n, PVAR_RMA_PUT, bytes);
    return bytes == 8 && rma_near_copy8(at, origin) ? MPI_SUCCESS : rma_near_put(origin, at, bytes);
}

int PMPI_Put(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
             int tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct rma_near *n;
    uint64_t bytes;
    char *at;
    if (SPLIT(otype != ttype) || SPLIT(ocount != tcount))
        return put_slow(origin, ocount, otype, rank, disp, tcount, ttype, win, SITE);
    if (UNLIKELY(!origin) || UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &n, &at, &bytes)))
        return put_same(origin, &win, &ttype, rank, disp, tcount, SITE);
    return put_near(n, origin, at, bytes);
}
API_ALIAS(MPI_Put);

int PMPI_Put_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct rma_near *n;
    uint64_t bytes;
    char *at;
    if (origin && otype == ttype && ocount == tcount && tcount == (int)tcount &&
        fast_place(win, rank, disp, (int)tcount, ttype, &n, &at, &bytes))
        return put_near(n, origin, at, bytes);
    return put("MPI_Put_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, NULL);
}
API_ALIAS(MPI_Put_c);

int PMPI_Rput(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
              int tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    struct rma_near *n;
    uint64_t off, bytes = (uint64_t)(int64_t)tcount * rma_near_bytes(ttype);
    if (!request)
        return onesided_no_request("MPI_Rput", win);
    if (origin && otype == ttype && ocount == tcount &&
        fast_place_passive(win, rank, disp, bytes, ttype, &n, &off)) {
        *request = REQUEST_COMPLETE;
        return put_near(n, origin, n->base + off, bytes);
    }
    return put("MPI_Rput", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, request);
}
API_ALIAS(MPI_Rput);

int PMPI_Rput_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return onesided_no_request("MPI_Rput_c", win);
    return put("MPI_Rput_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, request);
}
API_ALIAS(MPI_Rput_c);

static SLOW int get_slow(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                         int tcount, MPI_Datatype ttype, MPI_Win win, const void *site)
{
    return get("MPI_Get", SIDE_AT(origin, ocount, otype, site), origin, rank, disp, tcount, ttype,
               win, NULL);
}

static SAME int get_same(void *origin, const MPI_Win *win, const MPI_Datatype *type, int rank,
                         MPI_Aint disp, int count, const void *site)
{
    struct rma_win_near *w = origin ? onesided_known_win(*win, *type) : NULL;
    uint64_t bytes = (uint64_t)(int64_t)count * rma_near_bytes(*type);
    if (UNLIKELY(!count) && w && onesided_nothing(w, rank, disp, PVAR_RMA_GET))
        return MPI_SUCCESS;
    if (w && onesided_near(w, rank, disp, bytes, NULL, origin))
        return MPI_SUCCESS;
    return get_slow(origin, count, *type, rank, disp, count, *type, *win, site);
}

static inline __attribute__((always_inline)) int get_near(struct rma_near *n, void *origin,
                                                          char *at, uint64_t bytes)
{
    rma_near_count(n, PVAR_RMA_GET, bytes);
    return bytes == 8 && rma_near_copy8(origin, at) ? MPI_SUCCESS : rma_near_get(origin, at, bytes);
}

int PMPI_Get(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win)
{
    struct rma_near *n;
    uint64_t bytes;
    char *at;
    if (SPLIT(otype != ttype) || SPLIT(ocount != tcount))
        return get_slow(origin, ocount, otype, rank, disp, tcount, ttype, win, SITE);
    if (UNLIKELY(!origin) || UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &n, &at, &bytes)))
        return get_same(origin, &win, &ttype, rank, disp, tcount, SITE);
    return get_near(n, origin, at, bytes);
}
API_ALIAS(MPI_Get);

int PMPI_Get_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct rma_near *n;
    uint64_t bytes;
    char *at;
    if (origin && otype == ttype && ocount == tcount && tcount == (int)tcount &&
        fast_place(win, rank, disp, (int)tcount, ttype, &n, &at, &bytes))
        return get_near(n, origin, at, bytes);
    return get("MPI_Get_c", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               NULL);
}
API_ALIAS(MPI_Get_c);

int PMPI_Rget(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    struct rma_near *n;
    uint64_t off, bytes = (uint64_t)(int64_t)tcount * rma_near_bytes(ttype);
    if (!request)
        return onesided_no_request("MPI_Rget", win);
    if (origin && otype == ttype && ocount == tcount &&
        fast_place_passive(win, rank, disp, bytes, ttype, &n, &off)) {
        *request = REQUEST_COMPLETE;
        return get_near(n, origin, n->base + off, bytes);
    }
    return get("MPI_Rget", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               request);
}
API_ALIAS(MPI_Rget);

int PMPI_Rget_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return onesided_no_request("MPI_Rget_c", win);
    return get("MPI_Rget_c", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               request);
}
API_ALIAS(MPI_Rget_c);
