/* reserve.c - what schedules are made of, kept for reuse, and spare for when there is no memory.
 * Start with sched_reserve(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "coll/coll_types.h"

enum {
    KEEP_MIN = 65536,      /* bytes of the smallest piece of memory kept for reuse */
    KEEP_BYTES = 16777216, /* of all of them */
    SPARES = 4,            /* pieces for when there is no memory, of so many bytes each: */
    SPARE_BYTES = 512,
    SPARE_SCHEDS = 2,
    LIST_MAX = 1024,       /* steps of the longest list that goes to the pool */
    SPARE_STEPS = 8 * SCHED_STEPS, /* of a reduction of a million processes */
};
static const size_t SPARE = SIZE_MAX; /* `size` of a spare piece */

/* Large pieces are kept for the next operation: new ones cost a page fault per 4 KiB, more than the
 * reduction in them. */
void sched_mem_keep(struct sched_mem *m)
{
    struct coll_room *room = proc->coll;
    if (m->size == SPARE) {
        m->next = room->spare;
        room->spare = m;
        return;
    }
    if (m->size < KEEP_MIN || room->kept_bytes + m->size > KEEP_BYTES) {
        free(m);
        return;
    }
    m->next = room->kept;
    room->kept = m;
    room->kept_bytes += m->size;
}

struct sched_mem *sched_mem_take(size_t bytes)
{
    struct coll_room *room = proc->coll;
    for (struct sched_mem **at = &room->kept; bytes >= KEEP_MIN && *at; at = &(*at)->next) {
        struct sched_mem *m = *at;
        if (m->size < bytes || m->size / 2 > bytes)
            continue;
        *at = m->next;
        room->kept_bytes -= m->size;
        return m;
    }
    struct sched_mem *m = bytes < SIZE_MAX - sizeof *m ? malloc(sizeof *m + bytes) : NULL;
    if (m) {
        m->size = bytes;
    } else if (bytes <= SPARE_BYTES && room->spare) {
        m = room->spare;
        room->spare = m->next;
    }
    return m;
}

struct sched *sched_blank(void)
{
    struct sched *s = malloc(sizeof *s);
    if (s) {
        s->steps = s->small;
        s->room = SCHED_STEPS;
        s->next_free = NULL;
    }
    return s;
}

int sched_reserve(struct coll_room *room)
{
    int missing = 0;
    for (int i = 0; i < SPARES; i++) {
        struct sched_mem *m = malloc(sizeof *m + SPARE_BYTES);
        missing |= !m;
        if (m) {
            m->size = SPARE;
            m->next = room->spare;
            room->spare = m;
        }
    }
    for (int i = 0; i < SPARE_SCHEDS; i++) {
        struct sched *s = sched_blank();
        missing |= !s;
        if (s) {
            s->next_free = room->free;
            room->free = s;
        }
    }
    missing |= !(room->spare_steps = malloc(SPARE_STEPS * sizeof *room->spare_steps));
    return missing ? -ENOMEM : 0;
}

static void forget(struct sched_mem **all)
{
    while (*all) {
        struct sched_mem *m = *all;
        *all = m->next;
        free(m);
    }
}

void sched_forget(struct coll_room *room)
{
    forget(&room->kept);
    forget(&room->spare);
    free(room->spare_steps);
    while (room->free) {
        struct sched *s = room->free;
        room->free = s->next_free;
        if (s->steps != s->small)
            free(s->steps);
        free(s);
    }
}

int sched_longer(struct sched *s)
{
    struct coll_room *room = proc->coll;
    unsigned n = 2 * s->room;
    struct step *bigger = malloc(n * sizeof *bigger);
    if (!bigger && s->room < SPARE_STEPS && room->spare_steps) {
        n = SPARE_STEPS;
        bigger = room->spare_steps;
        room->spare_steps = NULL;
    }
    if (!bigger)
        return 0;
    memcpy(bigger, s->steps, s->n * sizeof *bigger);
    if (s->steps != s->small)
        free(s->steps);
    s->steps = bigger;
    s->room = n;
    return 1;
}

void sched_short_again(struct sched *s)
{
    struct coll_room *room = proc->coll;
    int spare = s->room == SPARE_STEPS && !room->spare_steps;
    if (!spare && s->room <= LIST_MAX)
        return;
    if (spare)
        room->spare_steps = s->steps;
    else
        free(s->steps);
    s->steps = s->small;
    s->room = SCHED_STEPS;
}
