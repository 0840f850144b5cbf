/* life.c - the begin and the end of the room; tables outlive it for info objects (obj.h). */
#include "obj/obj.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/obj_types.h"
#include "obj/request.h"
#include "obj/upcall.h"

int obj_early(void)
{
    if (!proc->obj && !(proc->obj = calloc(1, sizeof *proc->obj)))
        return -ENOMEM;
    return 0;
}

int obj_init(void)
{
    if (obj_early())
        return -ENOMEM;
    if (err_init() || errhandler_init() || attr_init() || info_init() || comm_init()) {
        obj_finalize();
        return -ENOMEM;
    }
    request_builtin_init();
    return 0;
}

void obj_late(void)
{
    struct obj_room *o = proc->obj;
    if (!o || o->world || o->table[OBJ_INFO].live)
        return;
    obj_table_free(&o->table[OBJ_INFO]);
    free(o);
    proc->obj = NULL;
}

void obj_finalize(void)
{
    if (!proc->obj)
        return;
    async_finalize();
    continue_finalize();
    upcall_finalize();
    comm_finalize();
    failed_finalize();
    info_finalize();
    attr_finalize();
    errhandler_finalize();
    err_finalize();
    for (int k = 0; k < OBJ_KINDS; k++)
        if (k != OBJ_INFO) {
            obj_table_free(&proc->obj->table[k]);
            memset(&proc->obj->table[k], 0, sizeof proc->obj->table[k]);
        }
    proc->obj->req_free = NULL;
    proc->obj->ctx_gone = NULL;
    proc->obj->ctx_made = NULL;
    proc->obj->ctx_refused = NULL;
    obj_late();
}
