/* gone.c - those that want to know before pages of a segment go (mem.h, M6a). Start with
 * mem_pages_go(). */
#include "mem/mem_types.h"

#include <errno.h>

#include "base/proc.h"

int mem_on_pages_gone(void (*fn)(void *arg, void *base, size_t len), void *arg)
{
    struct mem *m = proc->mem;
    for (int i = 0; i < MEM_GONE_HOOKS; i++)
        if (!m->gone[i].fn) {
            m->gone[i] = (struct mem_gone){fn, arg};
            return 0;
        }
    return -ENOSPC;
}

void mem_on_pages_gone_not(void *arg)
{
    struct mem *m = proc->mem;
    for (int i = 0; m && i < MEM_GONE_HOOKS; i++)
        if (m->gone[i].arg == arg)
            m->gone[i] = (struct mem_gone){0};
}

void mem_pages_go(const struct mem_segment *s, size_t off, size_t len)
{
    const struct mem *m = proc->mem;
    for (int i = 0; m && i < MEM_GONE_HOOKS; i++)
        if (m->gone[i].fn)
            m->gone[i].fn(m->gone[i].arg, (char *)s->base + off, len);
}
