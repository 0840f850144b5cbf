/* p2p.c - the room: its begin and its end. The calls of p2p.h are in send_recv.c. Start with
 * p2p_init(). */
#include "p2p/p2p.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "p2p/net_memory.h"
#include "p2p/spares.h"
#include "p2p/refuse.h"

int p2p_init(void)
{
    struct p2p *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    proc->p2p = s;
    match_init(s);
    map_init(&s->peers);
    list_init(&s->busy);
    list_init(&s->open);
    list_init(&s->pulls);
    s->path = &p2p_by_am;
    native_init(s);
    offer_init(s);
    want_init(s);
    s->me = boot_rank();
    s->ranks = comm_rank_mask();
    s->crowded = boot_host_processes() > sysconf(_SC_NPROCESSORS_ONLN);
    s->hook.fn = peer_retry;
    s->hook.arg = s;
    struct p2p_peer *self = peer_get(s->me);
    s->scratch_size = 65536;
    s->scratch = malloc(s->scratch_size);
    if (!self || !s->scratch || !(s->free = req_more(s, P2P_STANDARD, 0)))
        return -ENOMEM;
    s->free->next_free = NULL;
    s->path->init();
    offer_handlers();
    want_handlers();
    refuse_handlers();
    am_on_death(peer_reap);
    am_on_stall(peer_name_awaited);
    return 0;
}

static void requests_free(struct p2p_req *q)
{
    for (struct p2p_req *next; q; q = next) {
        next = q->next_free;
        free(q);
    }
}

static int on_late(int src, const void *msg, size_t len)
{
    (void)src;
    (void)msg;
    (void)len;
    return 0;
}

void p2p_finalize(void)
{
    struct p2p *s = proc->p2p;
    if (!s)
        return;
    /* Credits may still come in until the transport closes. */
    for (int type = P2P_EAGER; type < P2P_PACKETS_END; type++)
        am_handler(type, on_late);
    progress_hook_del(&s->hook);
    native_finalize(s);
    want_finalize(s);
    for (struct list *l = s->open.next; l != &s->open; l = l->next) {
        /* sends without a waiter */
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->leaving)
            q->leaving->q = NULL;
        if (q->late)
            send_late_drop(q);
        if (q->native)
            native_withdraw(q);
    }
    for (struct list *l = s->pulls.next; l != &s->pulls; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->native) /* it awaits WRITTEN */
            native_withdraw(q);
    }
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&s->peers, &cursor));) {
        want_drop(e->value);
        peer_drop(e->value); /* before messages: it refers to those that came in part and stand in
                              * no bin */
    }
    map_destroy(&s->peers);
    for (int i = 0; i < P2P_UNEX_BINS; i++)
        for (struct list *l = s->unex[0][i].next; l != &s->unex[0][i];) {
            struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
            l = l->next;
            match_take(u);
            free(u);
        }
    requests_free(s->free);
    requests_free(s->spare);
    offer_finalize(s);
    refuse_finalize(s);
    free(s->buffer);
    free(s->wire_id);
    free(s->scratch);
    free(s->bounce);
    free(s);
    proc->p2p = NULL;
}

/* Sends that will not be waited for: buffered ones and those of freed requests. */
static int left_behind(void)
{
    struct p2p *s = proc->p2p;
    for (struct list *l = s->open.next; l != &s->open; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->r.freed || q->copy)
            return 1;
    }
    return native_left_behind();
}

static int drained(void *arg)
{
    (void)arg;
    return list_empty(&proc->p2p->busy) && !left_behind();
}

int p2p_is_drained(void)
{
    return drained(NULL);
}

void p2p_left_behind(void (*fn)(struct request *r, void *arg), void *arg)
{
    struct p2p *s = proc->p2p;
    for (struct list *l = s->open.next; l != &s->open; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->r.freed)
            fn(&q->r, arg);
    }
}

int p2p_is_receiving(void)
{
    return !list_empty(&proc->p2p->pulls);
}

int p2p_has_queued(void)
{
    return !list_empty(&proc->p2p->busy);
}

uint32_t p2p_sent_to(int world)
{
    const struct p2p_peer *p = map_get(&proc->p2p->peers, (uint64_t)world);
    return p ? p->seq_out : 0;
}

int p2p_all_came(int world, uint32_t sent)
{
    const struct p2p_peer *p = map_get(&proc->p2p->peers, (uint64_t)world);
    return p ? p->ordered || p->seq_in == sent : am_ordered(world) || !sent;
}

int p2p_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out)
{
    int known = call_awaits(cond, arg, out);
    return known < 0 ? probe_awaits(cond, arg, out) : known;
}

void p2p_drain_wait(void)
{
    progress_wait(drained, NULL, "messages to be taken before MPI_Finalize", -1);
}
