/* race_runtime.h - between the library and the run time of `mpicc -race` (src/instrument), which is
 * linked into the program: loads and stores go up, the order of threads as well.
 *
 *   program: __tsan_read8 ... -> log of the thread -- take() -----------> records of this process
 *            pthread, OpenMP --- acquire(), release() ------------------> clocks of its threads
 *   library: race_tick(), race_acquire() -- flush() --> the log, before its vector clock changes
 *
 * The library finds the run time by a weak reference: it is NULL in programs that were linked
 * without `-race`. */
#ifndef RACE_RUNTIME_H
#define RACE_RUNTIME_H

#include <stdint.h>

/* Threads of a process that are distinguished; the last number stands for all further ones. */
enum { RACE_RUNTIME_VERSION = 2, RACE_THREADS = 16 };

struct race_log_entry {
    uint64_t at;
    uint32_t len, stores;    /* stores: 1, else a load */
    const void *pc;          /* return address of the entry point */
    uint32_t stride, blocks; /* so many accesses of `len` bytes, at that distance */
};

/* What the library does. None is called before run(host) or after run(NULL). They take the lock of
 * the library, which is recursive. */
struct race_host {
    /* Loads and stores of the calling thread since its last flush. */
    void (*take)(const struct race_log_entry *list, unsigned n);
    /* The calling thread acquires what others released at `object`, and the reverse. */
    void (*acquire)(const void *object);
    void (*release)(const void *object);
    void (*forget)(const void *object);
    /* The calling thread has a number that another had: it acquires what was released at `object`,
     * and has nothing else. */
    void (*renew)(const void *object);
    /* release() before threads begin, which are expected from now on; some of these have begun, or
     * all have ended. */
    void (*fork)(const void *object);
    void (*forked)(void);
    /* release() of a thread that does nothing more, unless it acquires again */
    void (*end)(const void *object);
    /* The calling thread was not seen to begin: it acquires from all threads of its process. */
    void (*adopt)(void);
};

struct race_runtime {
    uint32_t version;
    int (*number)(void); /* of the calling thread, 0 to RACE_THREADS - 1 */
    void (*flush)(void);
    void (*watch)(uint64_t at, uint64_t len); /* from now on accesses to these bytes are logged */
    void (*run)(const struct race_host *host);
};
extern const struct race_runtime windrose_race_runtime
    __attribute__((weak, visibility("default")));

#endif
