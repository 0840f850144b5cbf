/* parts.h - the buffers of this process in a collective, for those that watch it. */
#ifndef COLL_PARTS_H
#define COLL_PARTS_H

#include "coll/coll.h"
#include "watch/watch.h"

typedef void coll_each_buffer(void *arg, const struct watch_buffer *b);
/* Each part that the call reads or writes here. Not between two groups. */
void coll_each_part(const struct coll_args *a, coll_each_buffer *each, void *arg);

#endif
