/* event.h - what tools are told when it happens (MPI_T_event_...). Rooms raise events on slow paths
 * only; without a tool that has asked, a look at one pointer is all. */
#ifndef BASE_EVENT_H
#define BASE_EVENT_H

#include "base/proc.h"

enum event_id {
    EVENT_LOCK_GRANTED, EVENT_POOL_EMPTY, EVENT_EVICTED, EVENT_LOCKS_SWITCHED, EVENT_PEER_FAILED,
    EVENT_NETWORK_CHOSEN, EVENT_COUNT
};

/* The first words of struct tool (api/tool). window: its handle, or 0; peer: world rank, or -1;
 * value: what the event says besides. Called under proc->lock if the process is threaded. */
struct event_sink {
    void (*raised)(enum event_id id, int window, int peer, int value);
};

static inline void event_raise(enum event_id id, int window, int peer, int value)
{
    const struct event_sink *s = (const struct event_sink *)proc->tool;
    if (__builtin_expect(s && s->raised, 0))
        s->raised(id, window, peer, value);
}

#endif
