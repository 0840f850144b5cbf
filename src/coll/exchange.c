/* exchange.c - messages between some members, whose lengths both sides know: a collective of all
 * members in which most may have nothing to send. */
#include "coll/coll_types.h"
#include "obj/err.h"

int coll_iexchange(struct comm *c, const struct coll_piece *in, int nin,
                   const struct coll_piece *out, int nout, struct request **req)
{
    struct dt_type *byte = proc->coll->byte;
    struct sched *s = sched_make(&(struct coll_args){.call = COLL_BCAST, .comm = c});
    if (!s)
        return err_make(MPI_ERR_NO_MEM, "no memory for an exchange of messages");
    for (int i = 0; i < nin; i++)
        sched_recv(s, in[i].buf, (MPI_Aint)in[i].bytes, byte, in[i].rank);
    for (int i = 0; i < nout; i++)
        sched_send(s, out[i].buf, (MPI_Aint)out[i].bytes, byte, out[i].rank);
    sched_begin(s);
    *req = &s->r;
    return MPI_SUCCESS;
}
