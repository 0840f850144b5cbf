/* sched_add.c - the steps of a schedule are added, and the buffers that they need (schedule.h).
 * Start with add(). */
#include "coll/schedule.h"

#include "base/proc.h"
#include "coll/coll_types.h"

static struct step *add(struct sched *s, enum step_kind kind)
{
    if (s->n == s->room && !sched_longer(s)) {
        sched_doom_by(s, sched_no_memory());
        s->n = 0; /* the list does not run any more; its end stays writable */
    }
    struct step *p = &s->steps[s->n++];
    *p = (struct step){.kind = kind, .comm = s->comm, .tag = s->tag};
    return p;
}

void sched_send(struct sched *s, const void *buf, MPI_Aint n, struct dt_type *t, int peer)
{
    if (__builtin_expect(s->ahead != 0, 0) && coll_went_ahead(s->comm, &s->ahead, peer))
        return;
    struct step *p = add(s, STEP_SEND);
    p->from = buf;
    p->n = n;
    p->type = dt_ref(t);
    p->peer = peer;
}

void sched_recv(struct sched *s, void *buf, MPI_Aint n, struct dt_type *t, int peer)
{
    struct step *p = add(s, STEP_RECV);
    p->to = buf;
    p->n = n;
    p->type = dt_ref(t);
    p->peer = peer;
}

void sched_copy(struct sched *s, const void *from, MPI_Aint n, struct dt_type *t, void *to,
                MPI_Aint n2, struct dt_type *t2)
{
    size_t in = (size_t)n * (size_t)t->size, out = (size_t)n2 * (size_t)t2->size;
    if (in != out && sched_exact(s->args.call))
        sched_fail(s, sched_mismatch(in, out));
    if (in == 0 || out == 0)
        return;
    struct step *p = add(s, STEP_COPY);
    p->from = from;
    p->n = n;
    p->type = dt_ref(t);
    p->to = to;
    p->n2 = n2;
    p->type2 = dt_ref(t2);
}

void sched_move(struct sched *s, const void *from, void *to, size_t bytes)
{
    struct dt_type *byte = proc->coll->byte;
    sched_copy(s, from, (MPI_Aint)bytes, byte, to, (MPI_Aint)bytes, byte);
}

void sched_reduce(struct sched *s, struct dt_op *op, const void *in, void *inout, MPI_Aint n,
                  struct dt_type *t)
{
    struct step *p = add(s, STEP_REDUCE);
    p->op = op;
    p->from = in;
    p->to = inout;
    p->n = n;
    p->type = dt_ref(t);
}

void sched_fence(struct sched *s)
{
    if (s->n > 0 && s->steps[s->n - 1].kind != STEP_FENCE)
        add(s, STEP_FENCE);
}

void sched_call(struct sched *s, void (*call)(void *arg), void *arg)
{
    struct step *p = add(s, STEP_CALL);
    p->call = call;
    p->to = arg;
}

void *sched_bytes(struct sched *s, size_t bytes)
{
    struct sched_mem *m = sched_mem_take(bytes);
    if (!m) {
        sched_doom_by(s, sched_no_memory());
        return NULL;
    }
    m->next = s->mem;
    s->mem = m;
    return m->data;
}

void *sched_room(struct sched *s, size_t bytes)
{
    struct sched_mem *m = sched_mem_take(bytes);
    if (!m) {
        sched_make_poor(s);
        return s->small;
    }
    m->next = s->mem;
    s->mem = m;
    return m->data;
}

void *sched_temp(struct sched *s, MPI_Aint n, struct dt_type *t)
{
    int64_t lo, hi;
    if (dt_bounds(t, (size_t)n, &lo, &hi)) {
        sched_make_poor(s);
        return s->small;
    }
    char *p = sched_room(s, (size_t)(hi - lo));
    return s->poor ? p : p - lo;
}
