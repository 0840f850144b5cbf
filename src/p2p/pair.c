/* pair.c - MPI_Isendrecv: a receive and a send under one request.
 *
 * A hook completes the request of the user when both parts are done. */
#include <stdlib.h>

#include "obj/err.h"
#include "p2p/p2p_types.h"

struct pair {
    struct request r; /* the user's */
    struct request *send, *recv;
    void *packed;
    struct progress_hook hook;
};

static void pair_free(struct request *r)
{
    struct pair *p = (struct pair *)r;
    progress_hook_del(&p->hook);
    free(p->packed);
    free(p);
}

static int pair_cancel(struct request *r)
{
    (void)r; /* best effort: a pair is not cancelled */
    return MPI_SUCCESS;
}

static const struct request_ops pair_ops = {.cancel = pair_cancel, .free = pair_free};

static int pair_look(void *arg)
{
    struct pair *p = arg;
    if (!p->send->done || !p->recv->done)
        return 0;
    progress_hook_del(&p->hook);
    int serr = request_finish(p->send, NULL), rerr = request_finish(p->recv, &p->r.status);
    request_complete(&p->r, rerr ? rerr : serr);
    return 1;
}

static int pair_begin(struct pair *p, const void *sbuf, MPI_Aint scount, struct dt_type *st,
                      int dest, int stag, void *rbuf, MPI_Aint rcount, struct dt_type *rt,
                      int source, int rtag, struct comm *c, int aside,
                      const struct p2p_ends_told *told)
{
    size_t bytes;
    int err = dt_total(st, (size_t)scount, &bytes);
    if (err)
        return err;
    if (aside) {
        p->packed = malloc(bytes ? bytes : 1);
        if (!p->packed)
            return err_make(MPI_ERR_NO_MEM,
                            "MPI_Isendrecv_replace: no memory for a copy of %zu bytes", bytes);
        dt_pack(st, (size_t)scount, sbuf, 0, p->packed, bytes);
        sbuf = p->packed;
        scount = (MPI_Aint)bytes;
        st = dt_find(MPI_BYTE);
    }
    err = p2p_irecv(rbuf, rcount, rt, source, rtag, c, P2P_WHOLE, &p->recv);
    if (err)
        return err;
    if (told)
        p2p_tell(p->recv, told->site);
    err = told && told->label
              ? p2p_isend_labelled(sbuf, scount, st, dest, stag, c, 0, told->label, &p->send)
              : p2p_isend(sbuf, scount, st, dest, stag, c, 0, &p->send);
    if (err) {
        p->recv->ops->cancel(p->recv);
        request_finish(p->recv, NULL);
    }
    return err;
}

int p2p_isendrecv(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                  void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                  struct comm *c, int aside, const struct p2p_ends_told *told,
                  struct request **out)
{
    struct pair *p = calloc(1, sizeof *p);
    if (!p)
        return err_make(MPI_ERR_NO_MEM, "no memory for one more request");
    request_init(&p->r, REQUEST_RECV, &pair_ops, c);
    p->r.what = "a message";
    p->hook.fn = pair_look;
    p->hook.arg = p;
    int err = pair_begin(p, sbuf, scount, st, dest, stag, rbuf, rcount, rt, source, rtag, c, aside,
                         told);
    if (err) {
        pair_free(&p->r);
        return err;
    }
    if (!pair_look(p))
        progress_hook_add(&p->hook);
    *out = &p->r;
    return MPI_SUCCESS;
}
