/* posix.c - moves bytes between a memory layout and a file layout by preadv and pwritev.
 *
 * Blocks of both layouts are found by position (dt_iov), a batch at a time. One block in the file
 * is one system call, whatever the memory looks like: short blocks of memory go through a buffer,
 * long ones by an array of blocks. A read whose blocks lie close together takes the gaps with them.
 * A write touches no byte that is not its own, unless all writes to the file lock their ranges
 * (sharing.c). Start with transfer_run(). */
#include "io/io_types.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH = 256,           /* blocks that are looked at together */
    STAGE = 1 << 20,       /* buffer for short blocks, and for reads with gaps */
    SHORT_BLOCK = 4096,    /* mean length below which blocks of memory are copied */
    ONE_CALL = 1 << 30,    /* the kernel moves at most 2 GiB a call */
    GAPS = 4,              /* a transfer with gaps may be so many times as long as its data */
    SLOW_NS = 40000,       /* a block that took longer was not cached */
    AHEAD = 1 << 17        /* of a block, so much is foretold: the system then reads on by itself */
};

/* May the call be repeated after this answer? Sets x->err if not. */
static int again(struct transfer *x, int write, int64_t off, ssize_t got)
{
    if (got > 0)
        return 1;
    if (got < 0 && errno == EINTR)
        return 1;
    if (got < 0 || write) { /* a write that moves nothing would do so for ever */
        x->err = got < 0 ? errno : EIO;
        x->at = off;
    }
    return 0;
}

static size_t move(struct transfer *x, int write, int64_t off, char *p, size_t len)
{
    size_t done = 0;
    while (done < len) {
        size_t n = len - done < ONE_CALL ? len - done : ONE_CALL;
        ssize_t got = write ? pwrite(x->fd, p + done, n, off + (int64_t)done)
                            : pread(x->fd, p + done, n, off + (int64_t)done);
        x->calls++;
        if (!again(x, write, off + (int64_t)done, got))
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    x->moved += done;
    return done;
}

size_t posix_block(struct transfer *x, int64_t off, char *p, size_t len)
{
    return move(x, x->write, off, p, len);
}

/* The same for n blocks of memory, which it changes. */
static size_t posix_blocks(struct transfer *x, int64_t off, struct iovec *iov, size_t n)
{
    size_t done = 0;
    while (n) {
        ssize_t got = x->write ? pwritev(x->fd, iov, (int)n, off + (int64_t)done)
                               : preadv(x->fd, iov, (int)n, off + (int64_t)done);
        x->calls++;
        if (!again(x, x->write, off + (int64_t)done, got))
            break;
        size_t left = got > 0 ? (size_t)got : 0;
        done += left;
        for (; n && left >= iov->iov_len; n--)
            left -= iov++->iov_len;
        if (n) {
            iov->iov_base = (char *)iov->iov_base + left;
            iov->iov_len -= left;
        }
    }
    x->moved += done;
    return done;
}

size_t view_blocks(const struct dt_type *ftype, int64_t disp, int64_t from, size_t len,
                   struct iovec *iov, size_t max, size_t *bytes)
{
    /* no more instances than are needed: their displacements fit 63 bits (view_check_range) */
    size_t count = ((size_t)from + len - 1) / (size_t)ftype->size + 1;
    return dt_iov(ftype, count, (const void *)(uintptr_t)disp, (size_t)from, len, iov, max, bytes);
}

static int64_t place(const struct iovec *b)
{
    return (int64_t)(uintptr_t)b->iov_base;
}

struct stage {
    char *p; /* STAGE bytes, allocated when first needed */
};

static char *staging(struct transfer *x, struct stage *s)
{
    if (!s->p && !(s->p = malloc(STAGE)))
        x->err = ENOMEM;
    return s->p;
}

static int memory_is_short(const struct transfer *x)
{
    return (size_t)x->mtype->size / dt_blocks(x->mtype, 1) < SHORT_BLOCK;
}

/* Packed bytes [pos, pos + len) of the memory, at off in the file: len is not over STAGE. */
static size_t through_stage(struct transfer *x, struct stage *s, int64_t off, size_t pos,
                            size_t len)
{
    if (!staging(x, s))
        return 0;
    if (x->write)
        dt_pack(x->mtype, x->mcount, x->buf, pos, s->p, len);
    size_t got = posix_block(x, off, s->p, len);
    if (!x->write)
        dt_unpack(x->mtype, x->mcount, x->buf, pos, s->p, got);
    return got;
}

/* One block of the file. Bytes moved; fewer than len: the end of the file, or x->err. */
static size_t one_block(struct transfer *x, struct stage *s, int64_t off, size_t pos, size_t len)
{
    if (dt_is_block(x->mtype, x->mcount))
        return posix_block(x, off, (char *)dt_start(x->mtype, x->buf) + pos, len);
    size_t done = 0;
    int copied = memory_is_short(x);
    while (done < len && !x->err) {
        struct iovec iov[BATCH];
        size_t part = len - done, got;
        if (copied) {
            part = part < STAGE ? part : STAGE;
            got = through_stage(x, s, off + (int64_t)done, pos + done, part);
        } else {
            part = part < ONE_CALL ? part : ONE_CALL;
            size_t n = dt_iov(x->mtype, x->mcount, x->buf, pos + done, part, iov, BATCH, &part);
            got = posix_blocks(x, off + (int64_t)done, iov, n);
        }
        done += got;
        if (got < part)
            break;
    }
    return done;
}

/* How many of the blocks one transfer takes, gaps included: 1 is none. */
static size_t sieved(const struct transfer *x, const struct iovec *b, size_t n)
{
    size_t best = 1, data = b[0].iov_len;
    if (!x->sieve)
        return 1;
    for (size_t i = 1; i < n; i++) {
        int64_t end = place(&b[i]) + (int64_t)b[i].iov_len, span = end - place(&b[0]);
        if (place(&b[i]) < place(&b[i - 1]) + (int64_t)b[i - 1].iov_len || span > STAGE)
            break;
        data += b[i].iov_len;
        if ((size_t)span <= GAPS * data)
            best = i + 1;
    }
    return best;
}

static size_t read_with_gaps(struct transfer *x, struct stage *s, const struct iovec *b, size_t n,
                             size_t pos)
{
    if (!staging(x, s))
        return 0;
    int64_t first = place(&b[0]);
    size_t span = (size_t)(place(&b[n - 1]) - first) + b[n - 1].iov_len, done = 0;
    size_t got = posix_block(x, first, s->p, span);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(place(&b[i]) - first), have = got > at ? got - at : 0;
        have = have < b[i].iov_len ? have : b[i].iov_len;
        dt_unpack(x->mtype, x->mcount, x->buf, pos + done, s->p + at, have);
        done += have;
        if (have < b[i].iov_len)
            break;
    }
    return done;
}

/* What lies between the blocks is written as it was read. The range is locked meanwhile: by this
 * write, or by the access (atomic mode). So no other write is lost. */
static size_t write_with_gaps(struct transfer *x, struct stage *s, const struct iovec *b, size_t n,
                              size_t pos)
{
    if (!staging(x, s))
        return 0;
    int64_t first = place(&b[0]);
    size_t span = (size_t)(place(&b[n - 1]) - first) + b[n - 1].iov_len, done = 0;
    size_t got = move(x, 0, first, s->p, span);
    if (!x->err) {
        memset(s->p + got, 0, span - got); /* behind the end of the file */
        for (size_t i = 0, at = pos; i < n; at += b[i++].iov_len)
            dt_pack(x->mtype, x->mcount, x->buf, at, s->p + (place(&b[i]) - first), b[i].iov_len);
        got = move(x, 1, first, s->p, span);
        for (size_t i = 0; i < n; i++) {
            size_t at = (size_t)(place(&b[i]) - first), have = got > at ? got - at : 0;
            done += have < b[i].iov_len ? have : b[i].iov_len;
        }
    }
    return done;
}

/* Blocks that are not cached are read one after another, each with a wait for the disk, unless the
 * system knows of them before. */
static void foretell(struct transfer *x, const struct iovec *b, size_t n)
{
    for (size_t i = 0; i < n; i++, x->calls++)
        posix_fadvise(x->fd, place(&b[i]),
                      (off_t)(b[i].iov_len < AHEAD ? b[i].iov_len : AHEAD), POSIX_FADV_WILLNEED);
}

/* Blocks of the file by one transfer, the first of which holds data byte x->done. 0: the end of the
 * file, or an error. */
static int together(struct transfer *x, struct stage *s, const struct iovec *b, size_t n)
{
    size_t want = 0, got;
    for (size_t i = 0; i < n; i++)
        want += b[i].iov_len;
    if (n == 1)
        got = one_block(x, s, place(b), x->done, want);
    else
        got = x->write ? write_with_gaps(x, s, b, n, x->done) : read_with_gaps(x, s, b, n, x->done);
    x->done += got;
    return got == want;
}

/* A write that locks. One lock is for blocks that are written together, or for all that follow each
 * other and are written one by one. How many these are. */
static size_t apart(const struct transfer *x, const struct iovec *b, size_t n)
{
    size_t k = 1;
    while (k < n && sieved(x, b + k, n - k) == 1)
        k++;
    return k;
}

static int guarded_blocks(struct transfer *x, struct stage *s, const struct iovec *b, size_t n)
{
    int more = 1;
    for (size_t i = 0, k; i < n && more; i += k) {
        size_t step = k = sieved(x, b + i, n - i);
        if (step == 1)
            k = apart(x, b + i, n - i);
        int64_t lo = INT64_MAX, hi = 0;
        for (size_t j = i; j < i + k; j++) { /* the tiles of a filetype may interleave */
            int64_t end = place(&b[j]) + (int64_t)b[j].iov_len;
            lo = place(&b[j]) < lo ? place(&b[j]) : lo;
            hi = end > hi ? end : hi;
        }
        if (!range_hold(x, F_WRLCK, lo, hi))
            return 0;
        for (size_t j = i; j < i + k && more; j += step)
            more = together(x, s, b + j, step);
        range_release(x, lo, hi);
    }
    return more && !x->err;
}

/* As together(), by as many transfers as it takes. */
static int some_blocks(struct transfer *x, struct stage *s, const struct iovec *b, size_t n)
{
    int told = x->write || n == 1;
    if (x->write && x->guard)
        return guarded_blocks(x, s, b, n);
    for (size_t i = 0, k; i < n; i += k) {
        uint64_t since = told ? 0 : time_now();
        k = sieved(x, b + i, n - i);
        if (!together(x, s, b + i, k))
            return 0;
        if (!told && time_now() - since > SLOW_NS) {
            foretell(x, b + i + k, n - i - k);
            told = 1;
        }
    }
    return 1;
}

static void bounds(const struct transfer *x, int64_t *lo, int64_t *hi)
{
    int64_t tile = x->from / x->ftype->size, n = (x->from + (int64_t)x->len - 1) / x->ftype->size;
    dt_bounds(x->ftype, (size_t)(n - tile + 1), lo, hi);
    *lo += x->disp + tile * x->ftype->extent;
    *hi += x->disp + tile * x->ftype->extent;
    *lo = *lo < 0 ? 0 : *lo;
}

static void move_all(struct transfer *x)
{
    struct stage s = {NULL};
    struct iovec b[BATCH];
    size_t n, bytes;
    int64_t off = x->disp + x->ftype->true_lb + x->from;
    if (x->contig)
        some_blocks(x, &s, &(struct iovec){(void *)(uintptr_t)off, x->len}, 1);
    while (!x->contig && x->done < x->len && !x->err) {
        n = view_blocks(x->ftype, x->disp, x->from + (int64_t)x->done, x->len - x->done, b, BATCH,
                        &bytes);
        if (!some_blocks(x, &s, b, n))
            break;
    }
    free(s.p);
}

static void move_locked(struct transfer *x)
{
    int64_t lo, hi;
    bounds(x, &lo, &hi);
    if (range_hold(x, x->write ? F_WRLCK : F_RDLCK, lo, hi)) {
        move_all(x);
        range_release(x, lo, hi);
    }
}

void transfer_run(struct transfer *x)
{
    if (!x->len)
        return;
    uint64_t since = time_now();
    if (x->lock)
        move_locked(x);
    else
        move_all(x);
    x->ns += time_now() - since;
}
