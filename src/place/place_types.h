/* place_types.h - private types of place/. All under proc->lock. */
#ifndef PLACE_TYPES_H
#define PLACE_TYPES_H

#include "base/list.h"
#include "base/proc.h"
#include "place/place.h"

enum { PLACE_MODULES = 8, PLACE_PATH = 160 };

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
};

/* site.c */
/* The path of a place's module, 1; 0: it is not known. */
int site_module_of(uint64_t portable, char *path, size_t len);
uint64_t site_offset(uint64_t portable); /* in the module */
/* lines.c */
void lines_init(struct place_room *room);
void lines_drop(struct place_room *room);

#endif
