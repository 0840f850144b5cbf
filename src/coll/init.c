/* init.c - the begin and the end of coll/. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "coll/agree.h"
#include "coll/coll_types.h"
#include "coll/select.h"

int coll_init(void)
{
    char why[256];
    if (coll_select_check(why, sizeof why)) {
        log_warn("MPI_Init: %s", why);
        return -EINVAL;
    }
    struct coll_room *room = calloc(1, sizeof *room);
    if (!room)
        return -ENOMEM;
    list_init(&room->active);
    room->byte = dt_find(MPI_BYTE);
    room->build = coll_build;
    room->run = coll_run;
    proc->coll = room;
    if (sched_reserve(room) || texts_init(room))
        return -ENOMEM;
    ctx_start(room);
    survive_start();
    return 0;
}

void coll_finalize(void)
{
    struct coll_room *room = proc->coll;
    if (!room)
        return;
    progress_hook_del(&room->hook);
    survive_stop();
    ctx_stop(room);
    texts_drop(room);
    sched_forget(room);
    free(room);
    proc->coll = NULL;
}
