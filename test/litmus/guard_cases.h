/* guard_cases.h - what a process does when it dies, and what the others do meanwhile. */
#ifndef GUARD_CASES_H
#define GUARD_CASES_H

#include <stddef.h>

enum { TWO = 1 << 1, LIVING = 1 << 2 };

static const struct die {
    const char *setup, *act; /* the first peer of act is the one that dies */
    const char *order;       /* of the survivors' grants, where none gets the error */
    int innocent;            /* it holds the lock in no state */
    int deep;                /* of these kinds, too, where they are not asked for by name */
} dies[] = {
    /* no peer waits */
    {"", "1X", "", 0, 0},
    {"", "1S", "", 0, 0},
    {"", "1x", "", 0, 0},
    {"", "1s", "", 0, 0},
    {"1X", "1L", "", 0, 0},
    {"1S", "1L", "", 0, 0},
    {"1S 2S", "1L", "", 0, 0},
    {"2S", "1S", "", 0, LIVING},
    {"2S 3S", "1s", "", 0, 0},
    {"2X", "1x", "", 1, 0},
    {"2X", "1s", "", 1, 0},
    /* it queues */
    {"2X", "1X", "", 1, 0},
    {"2X", "1S", "", 1, 0},
    {"2S", "1X", "", 1, 0},
    {"2X 3X 4S", "1X", "34", 1, TWO},
    {"2X 3X 4X", "1S", "34", 1, 0},
    {"2X 3X 4X", "1A", "34", 1, 0},
    {"2S 3X 4S", "1X", "34", 1, 0},
    {"2S 3X 4A", "1S", "3", 1, 0}, /* 4 is older than 3, and in */
    /* it gives the lock back, and lets others in */
    {"1X 2X", "1L", "2", 0, 0},
    {"1X 2X 3X 4X", "1L", "234", 0, 0},
    {"1X 2S 3S 4X", "1L", NULL, 0, TWO},
    {"1X 2X 3S 4A", "1L", NULL, 0, 0},
    {"1S 2X 3S", "1L", "23", 0, LIVING},
    {"1S 2S 3X 4X", "1L", "34", 0, 0},
    {"1S 2S 3X 4A", "1L", NULL, 0, 0},
    {"1S 4S 2X", "1L", "2", 0, LIVING},
    {"1X 2S 3S", "1L", NULL, 0, 0},
    /* it polls */
    {"2X 1X 3X", "1P", "3", 1, 0},
    {"2X 1X 3S 2L", "1P", "3", 0, 0},
    {"2X 1S 3X 2L", "1P", "3", 0, 0},
    {"4X 1X 2S 3X 4+", "1P", NULL, 0, 0},
    {"4S 1X 2S 3X 4+", "1P", NULL, 0, 0},
    {"2S 4X 1X 3S 4+", "1P", "3", 1, 0},
    {"4X 2X 3X 4+", "1B", NULL, 0, 0},
    {"4S 3S 2X 4+", "1B", NULL, 0, TWO},
    {"3S 4X 2S 4+", "1B", NULL, 1, 0},
    {"4X 2S 3X 4+", "1X", NULL, 0, 0},
    {"4X 2S 3X 4+", "1S", NULL, 0, 0},
    {"3X 4X 2X 4+", "1S", "2", 1, 0},
    {"3X 4X 2S 4+", "3L", NULL, 0, 0},
    /* far ones beside it */
    {"0F", "1X", "", 1, 0},
    {"0F", "1S", "", 1, 0},
    {"0f", "1S", "", 0, 0},
    {"0f 2X", "1S", "2", 1, 0},
    {"0f 2X", "1A", "2", 0, 0},
    {"1X 0F 2S 3X", "1L", "623", 0, 0},
    {"1S 0F 2S", "1L", "62", 0, TWO},
    {"1X 2X 0F 3X", "1L", "263", 0, 0},
    {"1S 0f 2X", "1L", "2", 0, 0},
    {"1X 0F", "1L", "6", 0, 0},
    {"1S 0F", "1L", "6", 0, 0},
    /* the target dies */
    {"", "0X", "", 0, 0},
    {"0S 2X 3S", "0L", NULL, 0, 0},
    {"0X 2X 3S", "0L", NULL, 0, 0},
    {"", "0F", "", 0, 0},
    {"", "0f", "", 0, 0},
    {"2X", "0F", "", 0, 0},
    {"2X 3X", "0f", NULL, 0, 0},
    {"2S 3X", "0J", NULL, 0, 0},
    {"0F 2X 3S", "0l", NULL, 0, 0},
    {"0f 2X 3S", "0l", NULL, 0, 0},
    {"2X 0F 2L 3X", "0T", NULL, 0, 0},
    {"2X 0f 2L 3X", "0T", NULL, 0, 0},
    {"2X 0F 3X", "0w", NULL, 0, 0},
    {"2S 3X", "0D", NULL, 0, 0},
    {"2S 3X 0D", "0d", NULL, 0, 0},
    {"0F 2X 3S", "0H", NULL, 0, 0},
};

#endif
