/* place_types.h - private types of place/. All under proc->lock. */
#ifndef PLACE_TYPES_H
#define PLACE_TYPES_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/proc.h"
#include "place/place.h"

enum { PLACE_MODULES = 8, PLACE_PATH = 160, PLACE_CALLS = 128 };

struct place_code { /* addresses of a module */
    uint64_t from, to;
};
struct place_codes { /* of this library; of a front, or none */
    struct place_code own, front;
};

struct place_room {
    int users; /* of place_open() */
    struct place_module { /* of other processes */
        uint64_t id;
        char path[PLACE_PATH];
    } module[PLACE_MODULES];
    int modules;
    struct place_range {
        uint64_t from, to, base, id; /* addresses of a module here */
        char path[PLACE_PATH];
    } range[PLACE_MODULES];
    unsigned ranges;           /* how many were found; the last PLACE_MODULES are kept */
    unsigned long long loaded; /* modules loaded and unloaded so far, when they were found */
    struct list lines;         /* lines.c: struct site_line */
    uint64_t lines_ns;         /* how long addr2line may take */
    struct place_codes codes;
    _Atomic uint64_t front_call[PLACE_CALLS]; /* sites, whose address lies in the front */
};

/* site.c */
/* The path of a place's module, 1; 0: no such module is known. Empty: the program's, not known. */
int site_module_of(uint64_t portable, char *path, size_t len);
uint64_t site_offset(uint64_t portable); /* in the module */
/* front_library.c */
struct place_codes place_find_codes(void);
/* The site of an address of the program: with the outermost call of a front among n frames. */
uint64_t site_with_call(void *const *frame, int n, uint64_t address);
/* lines.c */
void lines_init(struct place_room *room);
void lines_drop(struct place_room *room);

#endif
