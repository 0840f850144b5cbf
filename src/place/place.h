/* place.h - places in the program: numbers that mean the same in all processes, and their lines.
 *
 *   return address -- site_portable() --> module and offset -- site_lookup(), site_text() --> text
 *
 * A front is a library between this one and the program that tells the names of its calls, as
 * libshmem.so (place/front_library.h). Places and messages name those in place of MPI's.
 *
 * proc->place is NULL until place_open(). Then nothing is kept, and each question is answered
 * anew. */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stddef.h>
#include <stdint.h>

int place_open(void); /* 0 or -ENOMEM; makes proc->place, or counts one more user of it */
void place_close(void);

/* bits of an address; in a portable site its module stands above them */
enum { SITE_OFFSET = 48 };

/* Where the program has called the library, a site; 0: not known. */
uint64_t site_here(void);
/* The same, if this return address lies in the library, or in a front; else the
 * address is the site. */
uint64_t site_of_program(uint64_t address);
/* A site is the program's return address, and above its 48 bits the call of a front, if one led
 * here. */
static inline uint64_t site_address(uint64_t site)
{
    return site & ((1ull << SITE_OFFSET) - 1);
}
const char *site_front_call(uint64_t site); /* the name of that call; NULL: there is none */
/* Where a front has the name of its call that waits by itself; NULL: there is no front. */
const char *const volatile *site_front_waits(void);
int site_front_has(const char *name); /* a call of a front */
/* Of a call of MPI: the program's address. *call becomes the front's call, if one made it. */
const void *site_program_call(const void *site, const char **call);
/* A number for a site that means the same in other processes of the program. */
uint64_t site_portable(uint64_t site);
const char *portable_front_call(uint64_t portable); /* site_front_call() of it */
/* "heat.c:212", or "program+0x1234" without lines. It may wait for addr2line. */
void site_text(uint64_t portable, char *buf, size_t len);
/* The same; it waits so long for addr2line at most (ns). */
void site_text_until(uint64_t ns, uint64_t portable, char *buf, size_t len);

/* The file of the program, opened, if it has these n program headers (ElfW(Phdr)); -1: it is not
 * known. Of a program that was an argument of ld.so, /proc/self/exe is the latter. */
int site_open_program(const void *headers, unsigned n);

/* The rest is for users of place_open(). */

/* The module of a site: its number and its path, for others that have not loaded it. */
void site_module(uint64_t site, uint64_t *id, char *path, size_t len);
/* Such a module of another process. */
void site_learn(uint64_t id, const char *path);
/* Modules may have come and gone since the last places were asked for. */
void site_renew(void);

/* Starts addr2line. 1: site_text_known() has the text, with a line if there is one. 0: not yet, ask
 * again; the work goes on meanwhile. */
int site_lookup(uint64_t portable);
/* What is known so far. */
void site_text_known(uint64_t portable, char *buf, size_t len);
#define SITE_NS 10000000000u  /* addr2line has so long */
#define PLACES_NS 5000000u    /* site_lookup() is asked again after it */

#endif
