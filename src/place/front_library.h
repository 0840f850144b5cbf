/* front_library.h - a library above this one tells of itself (libshmem.so), so that places and
 * messages name its calls in place of those of MPI that it makes.
 *
 * The library finds it by a weak reference: it is NULL in programs without such a library. */
#ifndef PLACE_FRONT_LIBRARY_H
#define PLACE_FRONT_LIBRARY_H

#include <stdint.h>

enum { PLACE_FRONT_VERSION = 1 };
struct place_front {
    uint32_t version, calls;
    const char *const *call; /* names of its functions, in the order of strcmp() */
    const char *const volatile *waits; /* that one in which it waits by itself, or NULL */
};
extern const struct place_front windrose_front __attribute__((weak, visibility("default")));

#endif
