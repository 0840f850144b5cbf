/* cross.h - what a communicator's record has of messages that cross a call (cross.c); private.
 * Start with struct align_cross. */
#ifndef ALIGN_CROSS_H
#define ALIGN_CROSS_H

#include "align/align_types.h"

enum { CROSS_NOTES = 64 }; /* kept for each communicator; further ones are dropped */

struct cross_msg {
    uint64_t key;
    uint32_t blocking, seq;
    struct align_entry call; /* the last blocking one */
};

struct cross_note {
    int world;
    struct cross_msg m;
};

struct align_cross {
    struct map known; /* world rank + 1 -> blocking calls of this process, as that one knows them */
    int notes;
    struct cross_note note[CROSS_NOTES];
};

#endif
