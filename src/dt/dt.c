/* dt.c - the begin and the end of the room (dt.h; doc/design/dt.md). */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>

int dt_init(void)
{
    proc->dt = calloc(1, sizeof *proc->dt);
    if (!proc->dt)
        return -ENOMEM;
    proc->dt->kernels = kernel_table_pick();
    return predef_init();
}

/* Types and operations that the user did not free. */
static void drop_the_rest(void)
{
    unsigned types = (unsigned)dt_find(MPI_FLOAT_INT)->obj.handle,
             ops = (2u << 30 | (unsigned)OBJ_OP << 26);
    unsigned type_limit = proc->obj->table[OBJ_TYPE].limit,
             op_limit = proc->obj->table[OBJ_OP].limit;
    for (unsigned i = 0; i < type_limit; i++) {
        struct dt_type *t = dt_find((MPI_Datatype)(types + i));
        for (int n = t && !(t->flags & DT_PREDEFINED) ? t->holders : 0; n > 0; n--) {
            t->holders--;
            dt_drop(t);
        }
    }
    for (unsigned i = 0; i < op_limit; i++) {
        struct dt_op *o = dt_op_find((MPI_Op)(ops + i));
        if (o)
            dt_op_drop(o);
    }
}

void dt_finalize(void)
{
    if (!proc->dt)
        return;
    drop_the_rest();
    f90_finalize();
    predef_finalize();
    free(proc->dt);
    proc->dt = NULL;
}
