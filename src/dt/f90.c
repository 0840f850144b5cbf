/* f90.c - parameterised Fortran types: one per (class, precision, range), made at the first
 * request.
 *
 * They count as predefined (MPI-3.1 17.1.9): committed, never freed by users, legal in reductions.
 * But their envelope has the request's parameters. The room holds them until the end. */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "obj/err.h"

struct model {
    int p, r;
    MPI_Datatype real, complex_;
};
/* Decimal digits and exponent ranges of the kinds. */
static const struct model reals[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                                     {15, 307, MPI_REAL8, MPI_COMPLEX16},
                                     {33, 4931, MPI_REAL16, MPI_COMPLEX32}};
static const struct {
    int r;
    MPI_Datatype type;
} integers[] = {{2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}};

/* The smallest kind that holds p digits and range r (MPI_UNDEFINED: any); MPI_DATATYPE_NULL: none
 * does. */
static MPI_Datatype kind_for(int combiner, int p, int r)
{
    if (combiner == MPI_COMBINER_F90_INTEGER) {
        for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
            if (r <= integers[i].r)
                return integers[i].type;
        return MPI_DATATYPE_NULL;
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if ((p == MPI_UNDEFINED || p <= reals[i].p) && (r == MPI_UNDEFINED || r <= reals[i].r))
            return combiner == MPI_COMBINER_F90_REAL ? reals[i].real : reals[i].complex_;
    return MPI_DATATYPE_NULL;
}

static struct dt_type *f90_find(int combiner, int p, int r)
{
    const struct dt_room *room = proc->dt;
    for (int i = 0; i < room->nf90; i++) {
        const struct dt_contents *c = room->f90[i]->contents;
        int n = c->nints;
        if (c->combiner == combiner && c->ints[n - 1] == r && (n == 1 || c->ints[0] == p))
            return room->f90[i];
    }
    return NULL;
}

/* t joins the room's list and counts as predefined from now on. */
static int f90_keep(struct dt_type *t)
{
    struct dt_room *room = proc->dt;
    if (!VEC_FITS(room->f90, room->f90_room, room->nf90 + 1, 4))
        return type_errno(-ENOMEM);
    room->f90[room->nf90++] = t;
    t->flags |= DT_PREDEFINED | DT_COMMITTED;
    return MPI_SUCCESS;
}

int dt_make_f90(int combiner, int p, int r, struct dt_type **out)
{
    int integer = combiner == MPI_COMBINER_F90_INTEGER, ints[2] = {p, r};
    struct dt_type *t = f90_find(combiner, p, r);
    if (t) {
        *out = t;
        return MPI_SUCCESS;
    }
    MPI_Datatype h = kind_for(combiner, p, r);
    if (h == MPI_DATATYPE_NULL)
        return err_make(MPI_ERR_ARG, "%s: no kind has precision %d and range %d", proc->call, p, r);
    int err = dt_make_dup(dt_find(h), &t);
    if (err)
        return err;
    struct dt_contents c = {.combiner = combiner, .nints = integer ? 1 : 2,
                            .ints = integer ? ints + 1 : ints};
    err = dt_contents_set(t, &c);
    if (!err)
        err = f90_keep(t);
    if (err)
        dt_drop(t);
    else
        *out = t;
    return err;
}

void f90_finalize(void)
{
    struct dt_room *room = proc->dt;
    for (int i = 0; i < room->nf90; i++) {
        room->f90[i]->flags &= ~(unsigned)DT_PREDEFINED;
        dt_drop(room->f90[i]);
    }
    free(room->f90);
}
