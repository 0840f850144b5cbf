/* move.c - a private buffer goes into a segment, and back, at its address.
 *
 *   the buffer   |== private ==|          copy          |== segment ==|
 *                                ------------------->
 *                one mremap puts the segment where the buffer was
 *
 * Only pages that hold nothing but the buffer are moved. What another thread stores on them between
 * the copy and the mremap is lost. The buffer's owner knows that it becomes a window; owners of
 * other data do not. Start with mem_move(). */
#include "mem/mem_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot.h"

/* --- what may move ------------------------------------------------------------------ */

struct mapping { /* a line of /proc/self/maps */
    uintptr_t from, to;
    char mode[5];
    unsigned long inode;
    int named;
};

static int mapping_of(uintptr_t at, struct mapping *m)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    int found = 0;
    while (f && !found && getline(&line, &room, f) > 0) {
        unsigned long from, to;
        int end = 0;
        if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu %n", &from, &to, m->mode, &m->inode, &end) !=
            4)
            continue;
        m->from = from;
        m->to = to;
        m->named = line[end] != '\0';
        found = at >= from && at < to;
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* Whether [at, at+len) is one block of the C library that has its own mmap.  Then the pages [from,
 * to) belong to the block, even if the kernel has joined its mapping with the neighbours'.  The GNU
 * library has two words before such a block, which begins its first page: 0 (what alignment
 * skipped), and the bytes mapped with bit 1 set.  With other words the answer is no. */
static int is_block(uintptr_t at, uintptr_t from, uintptr_t to)
{
#ifdef __GLIBC__
    size_t page = mem_page();
    if (at - from != 2 * sizeof(size_t))
        return 0;
    const size_t *head = (const size_t *)from;
    size_t mapped = head[1] & ~(size_t)7;
    /* Its end: the page of the buffer's last byte, or one more page for the library's own
     * rounding. */
    return head[0] == 0 && (head[1] & 7) == 2 &&
           (from + mapped == to || from + mapped == to + page);
#else
    (void)at, (void)from, (void)to;
    return 0;
#endif
}

enum { HEADER = 64 }; /* bytes of an allocator before a block that begins a mapping, at most */

static int may_move(uintptr_t at, size_t len, uintptr_t from, uintptr_t to)
{
    struct mapping m;
    if (!mapping_of(at, &m) || strcmp(m.mode, "rw-p") != 0 || m.inode || m.named || from < m.from ||
        to > m.to)
        return 0;
    int first = at == from || (from == m.from && at - from <= HEADER);
    int last = at + len == to || to == m.to;
    return (first && last) || is_block(at, from, to);
}

/* --- move and move back ------------------------------------------------------------------ */

/* The mapping at `with` replaces the one at `at`, in one system call: at no time is the address
 * unmapped for other threads. */
static int take_place(void *with, void *at, size_t size)
{
    if (mremap(with, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at)
        return 0;
    int err = -errno;
    /* The system may run out of memory after it has removed the old mapping.  The contents are
     * still at `with`. */
    void *again = mmap(at, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (again == at)
        memcpy(at, with, size);
    else if (again != MAP_FAILED)
        munmap(again, size); /* an old system takes the address as a hint */
    return err;
}

int mem_move(void *p, size_t len, struct mem_segment **seg)
{
    size_t page = mem_page();
    uintptr_t at = (uintptr_t)p, from = at / page * page;
    if (!proc->mem || !len || len > SIZE_MAX / 2 - page || at > UINTPTR_MAX - len - page)
        return -EINVAL;
    uintptr_t to = (at + len + page - 1) / page * page;
    if (!may_move(at, len, from, to))
        return -EINVAL;
    struct mem_segment *s;
    int err = mem_segment_create(to - from, MEM_LAZY | MEM_ONCE, &s);
    if (err)
        return err;
    err = mem_segment_reserve(s, 0, s->size);
    if (!err) {
        memcpy(s->base, (const void *)from, s->size);
        err = take_place(s->base, (void *)from, s->size);
    }
    if (err) {
        mem_segment_drop(s);
        return err;
    }
    mem_segment_rebase(s, (void *)from);
    s->moved = 1;
    *seg = s;
    return 0;
}

struct mem_segment *mem_move_hold(const void *p, size_t len)
{
    struct mem_segment *s = mem_moved_near(p, len);
    if (s)
        s->moved++;
    return s;
}

/* The user may have changed or removed the mapping.  Then what is at the address must not be
 * replaced. */
static int is_there(const struct mem_segment *s)
{
    struct mapping m;
    struct stat st;
    uintptr_t from = (uintptr_t)s->base;
    return fstat(s->fd, &st) == 0 && mapping_of(from, &m) && m.from == from &&
           m.to == from + s->size && !strcmp(m.mode, "rw-s") && m.inode == (unsigned long)st.st_ino;
}

enum { STEP = 16 << 20 }; /* bytes */

/* The pages [off, off+n) come back through `own`; then those of the segment are freed.  So private
 * memory is never needed for more than one step: without memory the kernel does not refuse, it
 * kills. */
static int step_back(struct mem_segment *s, char *own, size_t off, size_t n)
{
    char *at = (char *)s->base + off;
    if (!mem_may_take(n))
        return -ENOMEM;
    memcpy(own, at, n);
    int err = take_place(own, at, n);
    if (!err)
        fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)n);
    return err;
}

void mem_move_back(struct mem_segment *s)
{
    if (!s || --s->moved > 0)
        return;
    char *own = MAP_FAILED;
    size_t done = 0, n;
    /* one piece of address space, so that the steps become one mapping again */
    if (!boot_failed_count() && is_there(s))
        own = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (; own != MAP_FAILED && done < s->size; done += n) {
        n = s->size - done < STEP ? s->size - done : STEP;
        if (step_back(s, own + done, done, n) != 0)
            break;
    }
    if (own != MAP_FAILED && done < s->size)
        munmap(own + done, s->size - done);
    /* what has not come back lies in the memfd, as before, until the user unmaps it */
    mem_segment_forget(s);
}
