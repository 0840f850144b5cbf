/* win_sync.h - synchronization calls of windows, as watchers see them. */
#ifndef WATCH_WIN_SYNC_H
#define WATCH_WIN_SYNC_H

struct group;

enum watch_sync_call {
    WATCH_NO_SYNC, WATCH_FENCE, WATCH_POST, WATCH_START, WATCH_COMPLETE, WATCH_WAIT, WATCH_TEST,
    WATCH_LOCK, WATCH_UNLOCK, WATCH_LOCK_ALL, WATCH_UNLOCK_ALL, WATCH_FLUSH, WATCH_FLUSH_ALL,
    WATCH_FLUSH_LOCAL, WATCH_FLUSH_LOCAL_ALL, WATCH_ORDER, WATCH_SYNCS
};
struct watch_sync { /* such a call, and its arguments */
    int call;       /* enum watch_sync_call */
    int rank, type, assert;
    struct group *group;
    int *flag;
    const void *site; /* return address in the program */
};

#endif
