/* bounds_types.h - objects in memory, and how they are found; private to bounds/.
 *
 *   an address --> heap.c: a block of malloc in the heap that brk(2) moves
 *              --> variables.c: a variable of the program
 *              --> frame.c: the frame of a function that has called MPI
 *              --> mapped.c: a block of malloc that has a mapping of its own; is it mapped?
 *   buffers of one call --> overlap.c: bytes that it reads and writes */
#ifndef BOUNDS_TYPES_H
#define BOUNDS_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "watch/watch.h"

enum bounds_kind { BOUNDS_UNKNOWN, BOUNDS_BLOCK, BOUNDS_FREED, BOUNDS_VARIABLE, BOUNDS_FRAME };
struct bounds_object { /* it holds the address that was asked for */
    enum bounds_kind kind;
    int followed;      /* another variable begins where it ends, or may do so */
    uint64_t at, end;
    const char *name;  /* of a variable */
};

/* --- heap.c: blocks of glibc's malloc ---------------------------------------------------------
 * Each begins behind a header, and its size leads to the next one, from the begin of the heap on.
 * So any address is found by a walk, and nothing has to be told of allocations. */
enum { HEAP_CACHE = 256 };
struct bounds_heap {
    uint64_t lo;            /* of the first block; 0: not known, or not glibc's */
    uint64_t steps, since;  /* blocks that were walked over; ns: when it began */
    struct {
        uint64_t at, size;  /* header of a block that was found */
    } cache[HEAP_CACHE];
};
void bounds_heap_init(struct bounds_heap *h);
int bounds_heap_holds(const struct bounds_heap *h, uint64_t at);
/* end: as in bounds_frame_find() */
void bounds_heap_find(struct bounds_heap *h, uint64_t at, uint64_t end, struct bounds_object *o);

/* --- mapped.c --------------------------------------------------------------------------------- */
enum { AREAS = 8, AREA_USES = 256 };
struct bounds_areas {
    int is_glibc;
    struct {
        uint64_t lo, hi;   /* nothing is known of the objects in it */
        unsigned uses;     /* so often it is believed */
    } unknown[AREAS];
    struct {
        uint64_t at, size; /* a block that was found */
    } block[AREAS];
    unsigned next_unknown, next_block;
};
/* The first byte of [at, end) that no mapping has, or end. */
uint64_t bounds_mapped_end(uint64_t at, uint64_t end);
void bounds_area_find(struct bounds_areas *a, uint64_t at, uint64_t end, struct bounds_object *o);
/* The part of the address space that has this name in /proc/self/maps. 0: there is none. */
int bounds_area_named(const char *name, uint64_t *lo, uint64_t *hi);

/* --- variables.c: symbols of the program ------------------------------------------------------ */
struct bounds_variable {
    uint64_t at, end;
    const char *name;
};
struct bounds_variables {
    uint64_t lo, hi, bias;  /* what of the program can be written; bias: where it is loaded */
    uint64_t const_lo, const_hi; /* what of it cannot, around its text */
    const void *headers;    /* program headers, nheaders of them */
    unsigned nheaders;
    int read;               /* the symbols were */
    int is_stripped;        /* only symbols for other files are there: more variables may exist */
    const char *file;       /* the program, mapped */
    size_t file_len;
    struct bounds_variable *v; /* ascending, disjoint */
    size_t n;
};
void bounds_variables_init(struct bounds_variables *x);
void bounds_variables_free(struct bounds_variables *x);
void bounds_variables_find(struct bounds_variables *x, uint64_t at, struct bounds_object *o);

/* --- frame.c: the stack of the calling thread ------------------------------------------------- */
enum { FRAME_CACHE = 64 };
struct bounds_frames {
    uint64_t top;           /* of the main thread's stack */
    void *backtrace, *cfa;  /* of libgcc_s; NULL: there is none */
    struct {
        uint64_t at, here, end;
    } cache[FRAME_CACHE];   /* here: how deep the calls were */
};
void bounds_frames_init(struct bounds_frames *f);
/* end: of what begins at `at`. What was found before is believed where it is enough for that. */
void bounds_frame_find(struct bounds_frames *f, uint64_t at, uint64_t end,
                       struct bounds_object *o);

/* --- overlap.c -------------------------------------------------------------------------------- */
/* Bytes that are in one of n buffers that is read, and in one that is written; 0, too, where it
 * would take too long to find out. */
uint64_t bounds_common(const struct watch_buffer *b, int n);

#endif
