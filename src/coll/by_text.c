/* by_text.c - messages of processes that have no communicator yet, only a text: the stringtag of
 * MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups.
 *
 *      | use | bytes | data | text |      one key of matching for all: (MPI_COMM_WORLD, TAG_TEXT)
 *
 * The text travels and is compared, so no two texts are ever taken for the same. Matching cannot
 * compare it. So one thread at a time receives from a process, and keeps what is of other calls in
 * `strays`; their threads wait for that, and one of them receives on when this one has its own.
 * Start with text_recv(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "mem/mem.h"
#include "obj/err.h"

struct text_msg {
    uint32_t use, len; /* enum coll_use; bytes of data */
    unsigned char data[TEXT_DATA];
    char text[COLL_TEXT_MAX + 1];
};

struct stray { /* the message of a call whose thread has not taken it */
    struct list link;
    int world;
    struct text_msg m;
};

struct taker { /* the thread that receives from a process */
    struct list link;
    int world;
};

struct wanted {
    const char *text;
    enum coll_use use;
    int world;
};

int texts_init(struct coll_room *room)
{
    list_init(&room->strays);
    list_init(&room->takers);
    room->spare_stray = malloc(sizeof *room->spare_stray);
    return room->spare_stray ? 0 : -ENOMEM;
}

/* Without memory: the spare one. One is enough for a program of one thread, whose calls follow each
 * other. The others would wait for one that gets none. */
static struct stray *stray_make(void)
{
    struct coll_room *room = proc->coll;
    struct stray *s = malloc(sizeof *s);
    char limits[256];
    if (!s) {
        s = room->spare_stray;
        room->spare_stray = NULL;
    }
    if (!s)
        log_fatal("%s: out of memory for messages of the set-up of communicators by several "
                  "threads; limits: %s",
                  proc->call ? proc->call : "MPI call", mem_limits(limits, sizeof limits, 1));
    list_init(&s->link);
    return s;
}

static void stray_free(struct stray *s)
{
    if (proc->coll->spare_stray)
        free(s);
    else
        proc->coll->spare_stray = s;
}

void texts_drop(struct coll_room *room)
{
    while (!list_empty(&room->strays)) {
        struct stray *s = LIST_OBJ(room->strays.next, struct stray, link);
        list_del(&s->link);
        free(s);
    }
    free(room->spare_stray);
}

static int is_for(const struct text_msg *m, const struct wanted *x)
{
    return m->use == (uint32_t)x->use && !strcmp(m->text, x->text);
}

/* The first in order of arrival: calls with one text follow each other. */
static struct stray *find_stray(const struct wanted *x)
{
    struct list *head = &proc->coll->strays;
    for (struct list *l = head->next; l != head; l = l->next) {
        struct stray *s = LIST_OBJ(l, struct stray, link);
        if (s->world == x->world && is_for(&s->m, x))
            return s;
    }
    return NULL;
}

static int is_taken(int world)
{
    struct list *head = &proc->coll->takers;
    for (struct list *l = head->next; l != head; l = l->next)
        if (LIST_OBJ(l, struct taker, link)->world == world)
            return 1;
    return 0;
}

static int is_my_turn(void *arg)
{
    const struct wanted *x = arg;
    return find_stray(x) || !is_taken(x->world);
}

static uint32_t sender(int world)
{
    return proc->obj->world->round_recv | (uint32_t)world;
}

int text_send(const char *text, enum coll_use use, const void *data, size_t len, int world)
{
    struct text_msg m = {.use = (uint32_t)use, .len = (uint32_t)len};
    size_t n = strlen(text) + 1;
    WR_ASSERT(n <= sizeof m.text && len <= sizeof m.data);
    memcpy(m.data, data, len);
    memcpy(m.text, text, n);
    return p2p_send_world(&m, offsetof(struct text_msg, text) + n, world, CTX_WORLD | CTX_TOOL,
                          sender(boot_rank()), TAG_TEXT);
}

/* One message of that process, whatever call it is of. */
static int take_next(struct stray *s, int world)
{
    struct taker t = {.world = world};
    list_push(&proc->coll->takers, &t.link);
    int err = p2p_recv_world(&s->m, sizeof s->m, world, CTX_WORLD | CTX_TOOL, sender(world),
                             TAG_TEXT);
    list_del(&t.link);
    s->world = world;
    s->m.text[COLL_TEXT_MAX] = 0; /* it may come from a hostile process */
    progress_signal(); /* the others look again */
    return err;
}

int text_recv(const char *text, enum coll_use use, void *data, size_t len, int world)
{
    struct wanted x = {text, use, world};
    struct stray *s;
    for (;;) {
        if (!is_my_turn(&x))
            progress_wait_why(is_my_turn, &x, "the set-up of a communicator", world, WHY_MESSAGE,
                              NULL);
        if ((s = find_stray(&x)) != NULL) {
            list_del(&s->link);
            break;
        }
        s = stray_make();
        int err = take_next(s, world);
        if (err) {
            stray_free(s);
            return err;
        }
        if (is_for(&s->m, &x))
            break;
        list_push(&proc->coll->strays, &s->link);
    }
    int fits = s->m.len == len;
    if (fits)
        memcpy(data, s->m.data, len);
    stray_free(s);
    return fits ? MPI_SUCCESS
                : err_make(MPI_ERR_OTHER, "a message of another length came for \"%s\"", text);
}
