/* post.c - messages of the checker. They wait here for room at the receiver, so that no call
 * blocks. */
#include <stdlib.h>
#include <string.h>

#include "align/align_types.h"

static int try(const struct check_post *p)
{
    struct iovec iov = {(void *)(uintptr_t)p->bytes, p->len};
    return am_request(p->dst, p->type, &iov, 1, p->replies);
}

void check_later(struct check *k)
{
    progress_hook_add(&k->hook);
}

static void post(int dst, int type, const void *a, size_t alen, const void *b, size_t blen,
                 unsigned replies)
{
    struct check *k = proc->check;
    struct check_post *p = malloc(sizeof *p + alen + blen);
    if (!p) /* one message less: a verdict may be missing, none is wrong */
        return;
    p->dst = dst;
    p->type = type;
    p->replies = replies;
    p->len = alen + blen;
    memcpy(p->bytes, a, alen);
    if (blen)
        memcpy(p->bytes + alen, b, blen);
    if (list_empty(&k->posts) && try(p) != AM_AGAIN) {
        free(p);
        return;
    }
    list_push(&k->posts, &p->link);
    check_later(k);
}

void post_send(int dst, int type, const void *a, size_t alen, const void *b, size_t blen)
{
    post(dst, type, a, alen, b, blen, 0);
}

void post_ask(int dst, int type, const void *a, size_t alen, unsigned replies)
{
    post(dst, type, a, alen, NULL, 0, replies);
}

int post_drain(struct check *k)
{
    int sent = 0;
    struct list *l;
    while ((l = list_first(&k->posts)) != NULL) {
        struct check_post *p = LIST_OBJ(l, struct check_post, link);
        if (try(p) == AM_AGAIN)
            break;
        list_del(l);
        free(p);
        sent++;
    }
    return sent;
}
