/* memory.c - the book of the heap (memory.h). */
#include "memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_types.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void __real_free(void *p);

/* Open addressing, a power of two; an entry without address is free, deletion moves the following
 * ones up. */
struct entry {
    void *p;
    size_t n;
    int rank; /* -1: the simulator's own */
};
static struct {
    struct entry *at;
    size_t room, used;
    long live[SIM_RANKS], most[SIM_RANKS];
    int off, on;
    int refused; /* rank + 1; 0: none */
    size_t least; /* bytes that it is refused, and more */
    int after;    /* > 0: only at the call when this comes to 0 */
} book;

static size_t place(const void *p)
{
    return (size_t)(((uintptr_t)p * 0x9e3779b97f4a7c15ull) >> 20) & (book.room - 1);
}

static struct entry *find(const void *p)
{
    size_t i = place(p);
    while (book.at[i].p && book.at[i].p != p)
        i = (i + 1) & (book.room - 1);
    return &book.at[i];
}

static void grow(void)
{
    struct entry *old = book.at;
    size_t n = book.room;
    book.room = n ? 2 * n : 4096;
    book.at = __real_calloc(book.room, sizeof *book.at);
    if (!book.at)
        abort();
    for (size_t i = 0; i < n; i++)
        if (old[i].p)
            *find(old[i].p) = old[i];
    __real_free(old);
}

static void *enter(void *p, size_t n)
{
    if (!p || !book.on || !the_sim || !the_sim->now)
        return p;
    if (2 * (book.used + 1) > book.room)
        grow();
    int rank = book.off ? -1 : the_sim->now->rank;
    *find(p) = (struct entry){p, n, rank};
    book.used++;
    if (rank < 0)
        return p;
    book.live[rank] += (long)n;
    if (book.live[rank] > book.most[rank])
        book.most[rank] = book.live[rank];
    return p;
}

static void leave(const void *p)
{
    struct entry *e;
    if (!p || !book.used || !(e = find(p))->p)
        return;
    if (e->rank >= 0)
        book.live[e->rank] -= (long)e->n;
    book.used--;
    size_t hole = (size_t)(e - book.at);
    for (size_t i = (hole + 1) & (book.room - 1); book.at[i].p; i = (i + 1) & (book.room - 1)) {
        size_t home = place(book.at[i].p);
        if (((i - home) & (book.room - 1)) < ((i - hole) & (book.room - 1)))
            continue; /* it would stand before its home */
        book.at[hole] = book.at[i];
        hole = i;
    }
    book.at[hole].p = NULL;
}

static void off(int o)
{
    book.off += o ? 1 : -1;
}

void memory_begin(void)
{
    book.on = 1;
    sim_memory_off = off;
    memset(book.live, 0, sizeof book.live);
    memset(book.most, 0, sizeof book.most);
    if (book.at)
        memset(book.at, 0, book.room * sizeof *book.at);
    book.used = 0;
}

void memory_refuse(int rank)
{
    memory_refuse_long(rank, 0);
}

void memory_refuse_long(int rank, size_t least)
{
    sim_memory_off = off;
    book.refused = rank + 1;
    book.least = least;
    book.after = 0;
}

void memory_refuse_nth(int rank, int n)
{
    memory_refuse_long(rank, 0);
    book.after = n;
}

static int refused(size_t n)
{
    if (!book.refused || n < book.least || book.off || !the_sim || !the_sim->now ||
        the_sim->now->rank + 1 != book.refused)
        return 0;
    if (book.after && !--book.after)
        book.refused = 0; /* from the next one on */
    else if (book.after)
        return 0;
    return 1;
}

/* --- what was freed --------------------------------------------------------------------------- */

static struct {
    struct entry *at;
    size_t n, room;
    int on;
} gone;

void memory_keep(int keep)
{
    sim_memory_off = off;
    gone.on = keep;
    for (size_t i = 0; i < gone.n; i++)
        __real_free(gone.at[i].p);
    gone.n = 0;
}

/* 1: it stays. */
static int kept(void *p)
{
    if (!p || !gone.on || book.off || !the_sim || !the_sim->now)
        return 0;
    if (gone.n == gone.room) {
        gone.room = gone.room ? 2 * gone.room : 1024;
        gone.at = __real_realloc(gone.at, gone.room * sizeof *gone.at);
        if (!gone.at)
            abort();
    }
    gone.at[gone.n] = (struct entry){p, malloc_usable_size(p), the_sim->now->rank};
    memset(p, 0xdb, gone.at[gone.n++].n); /* pointers in it lead nowhere */
    return 1;
}

void memory_read(const void *p, size_t n)
{
    for (size_t i = 0; i < gone.n && n; i++)
        if ((uintptr_t)p - (uintptr_t)gone.at[i].p < gone.at[i].n)
            sim_fail("a message reads memory that rank %d has freed", gone.at[i].rank);
}

/* --- what is left ----------------------------------------------------------------------------- */

/* What the system calls the segments of src/mem, and the descriptor that it spares. */
static const char segment[] = "/memfd:windrose.", spare[] = "anon_inode:[eventfd]";

static void close_segments(void)
{
    DIR *d = opendir("/proc/self/fd");
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char to[sizeof spare] = "";
        if (readlinkat(dirfd(d), e->d_name, to, sizeof to - 1) > 0 &&
            (!strncmp(to, segment, strlen(segment)) || !strcmp(to, spare)))
            close(atoi(e->d_name));
    }
    if (d)
        closedir(d);
}

static void unmap_segments(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];
    while (f && fgets(line, sizeof line, f)) {
        uintptr_t from, to;
        if (strstr(line, segment) && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2)
            munmap((void *)from, to - from);
    }
    if (f)
        fclose(f);
}

void memory_drop(void)
{
    book.on = 0;
    for (size_t i = 0; i < book.room; i++) {
        __real_free(book.at[i].p);
        book.at[i].p = NULL;
    }
    book.used = 0;
    memory_keep(0);
    close_segments();
    unmap_segments(); /* after the heap: a window may have moved a block of it into a segment */
}

long memory_bytes(int rank)
{
    return book.live[rank];
}

long memory_most(int rank)
{
    long n = book.most[rank];
    book.most[rank] = book.live[rank];
    return n;
}

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t most);
void __wrap_free(void *p);

void *__wrap_malloc(size_t n)
{
    return refused(n) ? NULL : enter(__real_malloc(n), n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refused(n * size) ? NULL : enter(__real_calloc(n, size), n * size);
}

void *__wrap_realloc(void *p, size_t n)
{
    leave(p);
    return enter(__real_realloc(p, n), n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return enter(__real_aligned_alloc(align, n), n);
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
    int err = __real_posix_memalign(p, align, n);
    if (!err)
        enter(*p, n);
    return err;
}

char *__wrap_strndup(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    char *p = __wrap_malloc(n + 1);
    if (!p)
        return NULL;
    p[n] = '\0';
    return memcpy(p, s, n);
}

char *__wrap_strdup(const char *s)
{
    return __wrap_strndup(s, strlen(s));
}

void __wrap_free(void *p)
{
    leave(p);
    if (!kept(p))
        __real_free(p);
}
