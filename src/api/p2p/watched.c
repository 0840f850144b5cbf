/* watched.c - what watchers hear of messages and buffers (watch/watch.h). */
#include "api/p2p/ends.h"

#include "obj/continue.h"

/* What this process knows goes before its message. With an error no message follows. */
void api_watch_send(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm, const void *site)
{
    struct ends e;
    api_enter(call);
    if (!send_args(&e, buf, count, type, dest, tag, comm) && dest >= 0) {
        watch_memory(buf, count, e.t, 0, "send buffer");
        if (watch_wants(WATCH_BUFFERS)) /* before others may know that it was read */
            watch_touched(&(struct watch_buffer){.buf = buf, .count = count, .t = e.t}, site);
        watch_sending(e.c, dest);
    }
    if (proc->threaded)
        lock_release(&proc->lock); /* the call goes on: others still see it (threads/level.c) */
}

void api_watch_received(struct comm *c, void *buf, MPI_Count count, const struct dt_type *t,
                        const MPI_Status *status, const void *site)
{
    int64_t bytes = status_count(status), size = t->size;
    struct watch_buffer b = {.buf = buf, .count = count, .t = t, .writes = 1};
    watch_received(c, status->MPI_SOURCE);
    if (!watch_wants(WATCH_BUFFERS) || status->MPI_SOURCE < 0 || size <= 0)
        return;
    if (bytes / size < count) /* a shorter message leaves the rest as it is */
        b.count = (bytes + size - 1) / size;
    watch_touched(&b, site);
}

void api_watch_uses(struct request *r, struct watch_buffer a, struct watch_buffer b,
                    const void *site)
{
    struct watch_buffer both[2] = {a, b};
    if (watch_wants(WATCH_BUFFERS))
        watch_uses(r, both, 2, site);
}

int api_waits(struct request *const *r, int n)
{
    int err = continue_in_vain(r, n);
    return err || !watch_wants(WATCH_AWAITS) ? err : watch_awaits(r, n);
}

void api_waits_no_more(struct request *const *r)
{
    if (watch_wants(WATCH_AWAITS))
        watch_awaited(r);
}

int api_tests(struct request *r)
{
    int err = watch_wants(WATCH_AWAITS) ? watch_awaits(&r, 1) : MPI_SUCCESS;
    if (!err)
        api_waits_no_more(&r);
    return err;
}
