/* send_queue.c - messages of the race checker wait for room, by receiver, so that no call blocks
 * unless its comment mentions it. Start with race_msg_send(). */
#include "race/watched.h"

#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"

struct race_peer *race_peer_of(int world)
{
    struct race *r = proc->race;
    struct race_peer *p = map_get(&r->peers, (uint64_t)world + 1);
    if (p)
        return p;
    p = calloc(1, sizeof *p);
    if (!p || map_put(&r->peers, (uint64_t)world + 1, p)) {
        free(p);
        return NULL;
    }
    p->world = world;
    list_init(&p->link);
    list_init(&p->queue);
    return p;
}

static int try(int dst, const struct race_queued *p)
{
    struct iovec iov = {(void *)(uintptr_t)p->bytes, p->len};
    return am_request(dst, p->type, &iov, 1, 0);
}

static int drain(struct race_peer *p)
{
    int sent = 0;
    struct list *l;
    while ((l = list_first(&p->queue)) != NULL) {
        struct race_queued *x = LIST_OBJ(l, struct race_queued, link);
        if (try(p->world, x) == AM_AGAIN)
            break;
        list_del(l);
        free(x);
        sent++;
    }
    if (list_empty(&p->queue))
        list_del(&p->link);
    return sent;
}

static int drain_all(void *arg)
{
    struct race *r = arg;
    int sent = 0;
    for (struct list *l = r->busy.next, *next; l != &r->busy; l = next) {
        next = l->next;
        sent += drain(LIST_OBJ(l, struct race_peer, link));
    }
    if (list_empty(&r->busy))
        progress_hook_del(&r->hook);
    return sent;
}

void race_msg_send(int dst, int type, const void *bytes, size_t len)
{
    struct race *r = proc->race;
    struct race_peer *p = race_peer_of(dst);
    struct race_queued *x = p ? malloc(sizeof *x + len) : NULL;
    if (!x)
        race_no_memory();
    x->type = type;
    x->len = len;
    memcpy(x->bytes, bytes, len);
    list_push(&p->queue, &x->link);
    if (list_first(&p->queue) == &x->link)
        list_push(&r->busy, &p->link);
    drain(p);
    if (!list_empty(&r->busy))
        progress_hook_add(&r->hook);
}

static int all_acked(void *arg)
{
    const struct race *r = arg;
    return r->acks == 0 || boot_failed_count();
}

void race_wait_acks(void)
{
    progress_wait(all_acked, proc->race, "the race checker's messages", -1);
}

static int on_ack(int src, const void *msg, size_t len)
{
    (void)src, (void)msg, (void)len;
    if (proc->race && proc->race->acks)
        proc->race->acks--;
    return 0;
}

void race_send_init(void)
{
    struct race *r = proc->race;
    r->hook = (struct progress_hook){.fn = drain_all, .arg = r};
    list_init(&r->hook.link);
    am_handler(RACE_ACK, on_ack);
}

void race_send_free(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    struct list *l;
    for (struct map_entry *e; (e = map_next(&r->peers, &at)) != NULL;) {
        struct race_peer *p = e->value;
        while ((l = list_pop(&p->queue)) != NULL)
            free(LIST_OBJ(l, struct race_queued, link));
        race_vclock_drop(p->received);
        free(p);
    }
    map_destroy(&r->peers);
}
