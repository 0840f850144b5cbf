/* align.c - the begin of the room, and the end: what is left is compared. Start with
 * check_ending(). */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>

#include "align/align_types.h"
#include "boot/boot.h"
#include "obj/err.h"
#include "var/var.h"

/* --- the end ---------------------------------------------------------------------------------- */

static int answered(void *arg)
{
    struct check *k = arg;
    return k->acks == 0 || boot_failed_count();
}

/* All records, in a list that stays while they come and go. */
static struct align **all(const struct check *k, size_t *n)
{
    struct align **list = malloc((k->aligns.count + 1) * sizeof *list);
    size_t at = 0;
    *n = 0;
    for (struct map_entry *e; list && (e = map_next(&k->aligns, &at)) != NULL;)
        list[(*n)++] = e->value;
    return list;
}

void check_calls_end(void)
{
    if (!proc->check)
        return;
    if (!proc->check->quiet)
        align_all(); /* also those that it has made no call on */
    proc->check->ending = 1;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&proc->check->aligns, &at)) != NULL;) {
        struct align *a = e->value;
        if (!a->closed)
            a->sent = 0; /* a wait that lasts says that these were all */
    }
}

void check_ending(void)
{
    struct check *k = proc->check;
    size_t n;
    if (!k)
        return;
    struct align **list = all(k, &n);
    for (size_t i = 0; i < n; i++) {
        struct align *a = list[i];
        align_close(a, ALIGN_FINALIZED);
        if (a->comm && a->judge != boot_rank())
            judge_send_ring(a, RING_ACK);
        else
            judge_look(a, LOOK_EARLY);
    }
    free(list);
    /* an answer means that the ring has come: the judge compares before it ends */
    progress_wait(answered, k, "the comparison of collective calls", -1);
}

void check_ended(void)
{
    struct check *k = proc->check;
    size_t n;
    if (!k)
        return;
    struct align **list = all(k, &n);
    for (size_t i = 0; i < n; i++)
        if (list[i]->judge == boot_rank() || list[i]->judge < 0)
            judge_look(list[i], LOOK_LAST);
    free(list);
    if (k->abort_at) /* no call is left that could return it: it is the job's exit status */
        boot_abort(MPI_ERR_NOT_SAME, k->abort_why);
}

/* --- life ------------------------------------------------------------------------------------- */

static int messages_begin(void)
{
    judge_init();
    cross_init();
    return stall_init();
}

int check_init(void)
{
    if ((!cvar.coll_check && !cvar.wait_proof) || boot_size() < 2)
        return 0;
    struct check *k = calloc(1, sizeof *k);
    if (!k)
        return -ENOMEM;
    map_init(&k->aligns);
    map_init(&k->hints);
    list_init(&k->posts);
    k->quiet = !cvar.coll_check;
    proc->check = k;
    if (place_open() || messages_begin() ||
        (!k->quiet && (!align_of(proc->obj->world) || watch_add(&align_watcher)))) {
        place_close();
        free(k);
        proc->check = NULL;
        return -ENOMEM;
    }
    return 0;
}

void check_finalize(void)
{
    struct check *k = proc->check;
    size_t n;
    struct list *l;
    if (!k)
        return;
    watch_drop(&align_watcher);
    stall_finalize();
    progress_hook_del(&k->hook);
    struct align **list = all(k, &n);
    for (size_t i = 0; i < n; i++)
        align_drop(list[i]);
    free(list);
    while ((l = list_pop(&k->posts)) != NULL)
        free(LIST_OBJ(l, struct check_post, link));
    place_close();
    map_destroy(&k->aligns);
    map_destroy(&k->hints);
    free(k);
    proc->check = NULL;
}
