/* outbox.c - messages that their senders do not wait for: of agreements and revocations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "coll/agree.h"

struct outgoing {
    struct list link;
    int world, type;
    size_t len;
    char msg[];
};

int survive_gone(int world)
{
    return boot_failed(world) || boot_has_left(world);
}

/* 1: sent, or for a process that is gone. Other errors may pass: its end is reported if they do
 * not. */
static int try(int world, int type, const void *msg, size_t len)
{
    struct iovec v = {(void *)(uintptr_t)msg, len};
    int rc = survive_gone(world) ? -ENOTCONN : am_request(world, type, &v, 1, 0);
    return rc == 0 || rc == -ENOTCONN;
}

static int retry(void *arg)
{
    struct survive *s = arg;
    int sent = 0;
    for (struct list *l = s->outbox.next, *next; l != &s->outbox; l = next) {
        struct outgoing *o = LIST_OBJ(l, struct outgoing, link);
        next = l->next;
        if (!try(o->world, o->type, o->msg, o->len))
            continue;
        list_del(&o->link);
        free(o);
        sent++;
    }
    if (list_empty(&s->outbox))
        progress_hook_del(&s->hook);
    return sent;
}

void outbox_send(struct survive *s, int world, int type, const void *msg, size_t len)
{
    sched_point(); /* it may have failed before it sends this one, and after the last */
    if (try(world, type, msg, len))
        return;
    struct outgoing *o = malloc(sizeof *o + len);
    if (!o) /* others would wait for it for ever */
        log_fatal("no memory for a message to process %d", world);
    o->world = world;
    o->type = type;
    o->len = len;
    memcpy(o->msg, msg, len);
    list_push(&s->outbox, &o->link);
    s->hook.fn = retry;
    s->hook.arg = s;
    progress_hook_add(&s->hook);
}

void outbox_free(struct survive *s)
{
    progress_hook_del(&s->hook);
    while (!list_empty(&s->outbox))
        free(LIST_OBJ(list_pop(&s->outbox), struct outgoing, link));
}
