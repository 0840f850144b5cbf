/* test_ofi_cache.c - registrations of local buffers that tp/ofi keeps, and copies of others. */
#include "config.h"

#include "job.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem_types.h"
#include "tp/ofi/ofi.h"
#include "var/var.h"

Suite *suite_ofi_cache(void);

/* --- a provider that counts ------------------------------------------------------------------- */

static int mr_open, mr_made;

static int mr_close(struct fid *f)
{
    mr_open--;
    return 0;
}

static int mr_refuse(struct fid *f, struct fid *to, uint64_t flags)
{
    return -FI_EINVAL;
}

static int mr_count(struct fid *f, const void *buf, size_t len, uint64_t access, uint64_t offset,
                    uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = mr_close, .bind = mr_refuse};
    static struct fid_mr one = {.fid = {.ops = &ops}};
    mr_made++;
    mr_open++;
    *mr = &one;
    return 0;
}

/* How many registrations a call like that of a get with this buffer makes. */
static int registers(struct ofi *o, void *buf, size_t len)
{
    struct tp_mem *mem;
    int before = mr_made;
    job_check(tp_ofi_ops.reg((struct tp *)o, buf, len, 0, 0, &mem) == 0);
    job_check((char *)mem->base <= (char *)buf &&
              (char *)mem->base + mem->len >= (char *)buf + len);
    tp_ofi_ops.dereg((struct tp *)o, mem);
    return mr_made - before;
}

static struct mem_segment *segment(size_t bytes)
{
    struct mem_segment *s;
    job_check(mem_segment_create(bytes, MEM_LAZY | MEM_ONCE, &s) == 0);
    return s;
}

/* A provider without a cache of its own: buffers in this library's memory are registered once, as
 * long as their pages are there. */
static void registered_once(struct ofi *o)
{
    enum { BLOCKS = 4 * OFI_CACHED };
    struct mem_segment *s = segment((size_t)BLOCKS * OFI_CACHE_BLOCK);
    char *at = s->base, *own = malloc(OFI_COPY + 1);
    mr_open = mr_made = 0;
    /* The first use of a block, and none in the steady state. */
    job_check(registers(o, at + 8, 100) == 1);
    for (int i = 0; i < 1000; i++)
        job_check(registers(o, at + i * 64, 64) == 0);
    /* A longer one takes its place, and serves the shorter ones. */
    job_check(registers(o, at, OFI_CACHE_BLOCK + 1) == 1 && mr_open == 1);
    job_check(registers(o, at + 8, 100) == 0);
    /* No more than so many: that which is used now and then stays. */
    for (int i = 2; i < BLOCKS; i++) {
        job_check(registers(o, at + (size_t)i * OFI_CACHE_BLOCK, 8) == 1);
        job_check(registers(o, at, 8) == 0);
        job_check(mr_open <= OFI_CACHED);
    }
    job_check(mr_open == OFI_CACHED && pvar_proc()->v[PVAR_NET_REG_KEPT] == OFI_CACHED);
    job_check(registers(o, at + 2 * OFI_CACHE_BLOCK, 8) == 1); /* the oldest had gone */
    /* Long pieces of the program's own memory, and what others may access, each time. */
    for (int i = 0; i < 3; i++)
        job_check(registers(o, own, OFI_COPY + 1) == 1);
    struct tp_mem *mem, *held;
    for (int i = 0; i < 2; i++) {
        int before = mr_made;
        job_check(tp_ofi_ops.reg((struct tp *)o, at, 8, 0, TP_MAY_READ, &mem) == 0);
        tp_ofi_ops.dereg((struct tp *)o, mem);
        job_check(mr_made == before + 1);
    }
    /* Its pages go: so do the registrations, that of a call under way with its end.  At the same
     * address is other memory then. */
    job_check(tp_ofi_ops.reg((struct tp *)o, at, 8, 0, 0, &held) == 0);
    mem_segment_drop(s);
    job_check(mr_open == 1 && pvar_proc()->v[PVAR_NET_REG_KEPT] == 0);
    s = segment((size_t)BLOCKS * OFI_CACHE_BLOCK);
    job_check(registers(o, s->base, 8) == 1 && mr_open == 2);
    tp_ofi_ops.dereg((struct tp *)o, held);
    job_check(mr_open == 1);
    /* A block of MPI_Alloc_mem of which the pages are given back, and it is used again. */
    char *block = mem_arena_alloc(1 << 20, 4096);
    job_check(block && registers(o, block, 4096) == 1 && registers(o, block, 4096) == 0);
    mem_arena_free(block);
    mem_arenas_trim(proc->mem);
    job_check(mr_open == 1);
    mem_segment_drop(s);
    job_check(mr_open == 0);
    /* A segment that is kept for later, and made again elsewhere. */
    size_t size = 4 * OFI_CACHE_BLOCK;
    job_check(mem_segment_create(size, MEM_LAZY, &s) == 0 && registers(o, s->base, 8) == 1);
    at = s->base;
    mem_segment_drop(s);
    job_check(mr_open == 1);
    job_check(mem_segment_create(size, MEM_LAZY, &s) == 0 && s->base == at);
    job_check(registers(o, at, 8) == 0);
    job_check(mem_segment_align(s, (size_t)1 << 36) == 0 && s->base != at && mr_open == 0);
    mem_segment_drop(s);
    /* Short pieces of the program's own memory: in copies, each registered once. */
    for (int i = 0; i < 100; i++)
        job_check(registers(o, own + i, OFI_COPY - i) == (i == 0));
    struct tp_mem *all[OFI_COPIES + 1];
    int before = mr_made;
    for (int i = 0; i <= OFI_COPIES; i++) {
        job_check(tp_ofi_ops.reg((struct tp *)o, own, 8, 0, 0, &all[i]) == 0);
        job_check(!all[i]->copy == (i == OFI_COPIES)); /* no more are left */
    }
    job_check(mr_made == before + OFI_COPIES); /* one was there */
    for (int i = 0; i <= OFI_COPIES; i++)
        tp_ofi_ops.dereg((struct tp *)o, all[i]);
    job_check(mr_open == OFI_COPIES);
    for (int i = 0; i < 2 * OFI_COPIES; i++)
        job_check(registers(o, own, 8) == 0);
    free(own);
}

/* The provider wants each registered, and lacks room: what is kept makes room. */
static int mr_room, mr_says = -FI_ENOMEM;

static int mr_bounded(struct fid *f, const void *buf, size_t len, uint64_t access, uint64_t offset,
                      uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    if (mr_open >= mr_room)
        return mr_says;
    return mr_count(f, buf, len, access, offset, key, flags, mr, context);
}

static void room_made(struct ofi *o)
{
    struct mem_segment *s = segment((size_t)8 * OFI_CACHE_BLOCK);
    struct tp_mem *held, *window;
    char *at = s->base;
    mr_room = mr_open + 4;
    for (int i = 0; i < 8; i++)
        job_check(registers(o, at + (size_t)i * OFI_CACHE_BLOCK, 8) == 1);
    /* Not that in use. */
    job_check(tp_ofi_ops.reg((struct tp *)o, at, 8, 0, 0, &held) == 0);
    job_check(ofi_reg((struct tp *)o, at, 8 * OFI_CACHE_BLOCK, 0, TP_MAY_READ, &window) == 0);
    job_check(registers(o, at, 8) == 0);
    tp_ofi_ops.dereg((struct tp *)o, window);
    /* Only for want of room. */
    struct tp_mem *none;
    size_t n = o->cache.kept.count;
    job_check(n > 1);
    mr_room = mr_open;
    mr_says = -FI_EINVAL;
    job_check(ofi_reg((struct tp *)o, at, 8, 0, TP_MAY_READ, &none) == -EINVAL);
    job_check(o->cache.kept.count == n);
    mr_says = -FI_EAGAIN;
    job_check(ofi_reg((struct tp *)o, at, 8, 0, TP_MAY_READ, &window) == 0);
    job_check(o->cache.kept.count == n - 1);
    mr_says = -FI_ENOMEM;
    mr_room = 0; /* what is not in use goes, in vain */
    job_check(tp_ofi_ops.reg((struct tp *)o, at, 8, 0, TP_MAY_READ, &none) == -ENOMEM);
    job_check(registers(o, at, 8) == 0);
    tp_ofi_ops.dereg((struct tp *)o, window);
    tp_ofi_ops.dereg((struct tp *)o, held);
    mem_segment_drop(s);
}

/* --- a provider that has pages ---------------------------------------------------------------- */

/* A provider that has the pages that lay there when they were registered, as a card has: they are
 * in a pipe, with whatever is stored into them later. */
struct pin {
    struct fid_mr mr;
    int fd[2];
    char *base;
    size_t len; /* of what is pinned */
};
enum { PINNED = 2 * OFI_CACHE_BLOCK };
static int pins;

static int pin_close(struct fid *f)
{
    struct pin *p = (struct pin *)f;
    close(p->fd[0]);
    close(p->fd[1]);
    free(p);
    pins--;
    return 0;
}

static int pin_reg(struct fid *f, const void *buf, size_t len, uint64_t access, uint64_t offset,
                   uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = pin_close, .bind = mr_refuse};
    struct pin *p = calloc(1, sizeof *p);
    struct iovec v = {(void *)(uintptr_t)buf, len < PINNED ? len : PINNED};
    job_check(p && pipe(p->fd) == 0 && fcntl(p->fd[0], F_SETPIPE_SZ, PINNED + 4096) > 0);
    ssize_t n = vmsplice(p->fd[1], &v, 1, SPLICE_F_NONBLOCK);
    job_check(n == (ssize_t)v.iov_len);
    p->mr.fid.ops = &ops;
    p->base = v.iov_base;
    p->len = v.iov_len;
    *mr = &p->mr;
    pins++;
    return 0;
}

/* What a card would read at [at, at+n). */
static void pin_read(const struct pin *p, const char *at, char *to, size_t n)
{
    static char bytes[PINNED];
    int over[2];
    job_check(at >= p->base && at + n <= p->base + p->len);
    job_check(pipe(over) == 0 && fcntl(over[0], F_SETPIPE_SZ, PINNED + 4096) > 0);
    job_check(tee(p->fd[0], over[1], p->len, 0) == (ssize_t)p->len);
    for (size_t have = 0; have < p->len;) {
        ssize_t r = read(over[0], bytes + have, p->len - have);
        job_check(r > 0);
        have += (size_t)r;
    }
    close(over[0]);
    close(over[1]);
    memcpy(to, bytes + (at - p->base), n);
}

/* Memory of all kinds comes and goes, the library's and the program's; a card never has others than
 * the pages that are there. */
enum { THINGS = 24, STEPS = 6000 };
static struct thing {
    char *at;
    size_t len;
    struct mem_segment *seg; /* NULL and at: see kind */
    enum { NOTHING, SEGMENT, BLOCK, MALLOCED, MAPPED, MOVED } kind;
} things[THINGS];

static uint64_t dice_state = 1;

static size_t dice(size_t n)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(dice_state >> 33) % n;
}

static void thing_end(struct thing *t)
{
    switch (t->kind) {
    case SEGMENT: mem_segment_drop(t->seg); break;
    case BLOCK: job_check(mem_arena_free(t->at)); break;
    case MALLOCED: free(t->at); break;
    case MOVED: mem_move_back(t->seg); /* fall through */
    case MAPPED: job_check(munmap(t->at, t->len) == 0); break;
    case NOTHING: break;
    }
    *t = (struct thing){0};
}

static void thing_make(struct thing *t)
{
    t->kind = (int)(1 + dice(5));
    t->len = 4096 * (1 + dice(60));
    if (t->kind == SEGMENT) {
        unsigned flags = dice(2) ? MEM_LAZY : MEM_LAZY | MEM_ONCE;
        job_check(mem_segment_create(dice(3) ? t->len : 262144, flags, &t->seg) == 0);
        if (dice(4) == 0)
            job_check(mem_segment_align(t->seg, (size_t)65536 << dice(6)) == 0);
        t->at = t->seg->base;
        t->len = t->seg->size;
    } else if (t->kind == BLOCK) {
        t->at = mem_arena_alloc(t->len, 64);
    } else if (t->kind == MALLOCED) {
        t->at = malloc(t->len);
    } else {
        t->at = mmap(NULL, t->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        job_check(t->at != MAP_FAILED);
        t->kind = t->kind == MOVED && mem_move(t->at, t->len, &t->seg) == 0 ? MOVED : MAPPED;
    }
    job_check(t->at != NULL);
}

static int thing_use(struct ofi *o, const struct thing *t)
{
    char want[64], got[64];
    size_t n = 1 + dice(sizeof want), off = dice(t->len - n + 1);
    struct tp_mem *mem;
    for (size_t i = 0; i < n; i++)
        want[i] = (char)dice(256);
    memcpy(t->at + off, want, n);
    job_check(tp_ofi_ops.reg((struct tp *)o, t->at + off, n, 0, 0, &mem) == 0);
    int kept = mem->cached != NULL;
    /* Only what mem/ reports. */
    job_check(kept == (t->kind == SEGMENT || t->kind == BLOCK));
    if (!mem->copy) {
        pin_read((struct pin *)mem->mr, t->at + off, got, n);
        job_check(!memcmp(want, got, n));
    }
    tp_ofi_ops.dereg((struct tp *)o, mem);
    return kept;
}

static void pages_come_and_go(struct ofi *o)
{
    struct fi_ops_mr ops = {.size = sizeof ops, .reg = pin_reg};
    int kept = 0, made = 0;
    o->domain->mr = &ops;
    for (int i = 0; i < STEPS; i++) {
        struct thing *t = &things[dice(THINGS)];
        size_t what = dice(16);
        if (!t->kind)
            thing_make(t);
        else if (what == 0)
            thing_end(t);
        else if (what == 1 && dice(4) == 0)
            mem_arenas_trim(proc->mem);
        int before = pins;
        if (t->kind) {
            kept += thing_use(o, t);
            made += pins > before;
        }
        job_check(o->cache.kept.count <= OFI_CACHED);
    }
    job_check(kept > STEPS / 4 && made < kept / 2);
    for (int i = 0; i < THINGS; i++)
        thing_end(&things[i]);
    while (ofi_cache_evict(o))
        ;
    mem_arenas_trim(proc->mem);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Memory that others may access serves operations of this process, until these are over. */
static void in_a_window(struct ofi *o)
{
    enum { BYTES = 4 * OFI_COPY };
    struct tp *tp = (struct tp *)o;
    struct tp_mem *win, *more, *read, *mem;
    char *b = malloc(BYTES);
    int open = mr_open;
    job_check(ofi_reg(tp, b, BYTES / 2, 0, TP_MAY_READ | TP_MAY_WRITE, &win) == 0);
    job_check(registers(o, b, BYTES / 2) == 0 && registers(o, b + BYTES / 2 - 8, 8) == 0);
    job_check(registers(o, b, BYTES / 2 + 8) == 1 && registers(o, b + 8, BYTES / 2) == 1);
    job_check(registers(o, b + BYTES / 2, OFI_COPY + 1) == 1);
    job_check(mr_open == open + 1);
    /* Its key goes when its last user is done; no other gets it then. */
    job_check(ofi_reg(tp, b, OFI_COPY + 1, 0, 0, &mem) == 0 && mem->of == win);
    ofi_dereg(tp, win);
    job_check(mr_open == open + 1 && registers(o, b, OFI_COPY + 1) == 1);
    ofi_dereg(tp, mem);
    job_check(mr_open == open);
    /* Not memory that is only read. */
    job_check(ofi_reg(tp, b, BYTES, 0, TP_MAY_READ, &read) == 0);
    job_check(registers(o, b, OFI_COPY + 1) == 1);
    ofi_dereg(tp, read);
    /* Two that hold it: it is found while one of them stays. */
    job_check(ofi_reg(tp, b, BYTES, 0, TP_MAY_READ | TP_MAY_WRITE, &win) == 0);
    job_check(ofi_reg(tp, b, BYTES, 0, TP_MAY_WRITE, &more) == 0);
    ofi_dereg(tp, more);
    job_check(registers(o, b, BYTES) == 0);
    ofi_dereg(tp, win);
    job_check(registers(o, b, BYTES) == 1 && mr_open == open);
    free(b);
}

/* --- operations on copies --------------------------------------------------------------------- */

static ssize_t says;         /* the provider, to an operation */
static struct ofi_op *given; /* what it was given last */
static char *its_bytes;

static ssize_t one_sided(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    given = m->context;
    its_bytes = m->msg_iov->iov_base;
    return says;
}

struct told_done {
    struct tp_done d;
    int n, err;
};

static void told(struct tp_done *d, int err)
{
    struct told_done *t = (struct told_done *)d;
    t->n++;
    t->err = err;
}

/* The pages stay this process's when it forks, also if the child stores first. */
static void check_shared(volatile char *at)
{
    char had = *at;
    pid_t child = fork();
    if (child == 0) {
        *at = (char)(had + 1);
        _exit(0);
    }
    job_check(child > 0 && waitpid(child, NULL, 0) == child && *at == (char)(had + 1));
    *at = had;
}

/* Bytes of the program's own memory go through copies, those of a get when it has come. */
static void copied(struct ofi *o)
{
    enum { BYTES = 8192, HALF = BYTES / 2 };
    static struct fi_ops_rma ops = {.size = sizeof ops, .readmsg = one_sided,
                                    .writemsg = one_sided};
    struct fid_ep ep = {.rma = &ops}, *real = o->ep;
    struct tp *tp = (struct tp *)o;
    struct ofi_peer *p = ofi_peer_make(o, 1);
    const uint64_t key[3] = {0, 7, BYTES}; /* address, key, bytes */
    struct told_done done = {{told}, 0, 0};
    struct tp_mem *mem, *other;
    struct tp_far *far;
    char b[BYTES], is[BYTES];
    o->ep = &ep;
    p->connected = 1;
    memset(b, 'a', sizeof b);
    job_check(ofi_import(tp, 1, key, sizeof key, &far) == 0);
    job_check(ofi_reg(tp, b, sizeof b, 0, 0, &mem) == 0 && mem->copy);
    /* A put leaves from the copy, each byte from its place there. */
    job_check(ofi_put(tp, far, 0, b, HALF, mem, &done.d) == TP_PENDING);
    char *first = its_bytes;
    struct ofi_op *op = given;
    memset(b + HALF, 'b', HALF);
    job_check(ofi_put(tp, far, HALF, b + HALF, HALF, mem, &done.d) == TP_PENDING);
    job_check(first != b && its_bytes == first + HALF && first[0] == 'a' && its_bytes[0] == 'b');
    ofi_rma_done(o, given, 0);
    ofi_rma_done(o, op, 0);
    job_check(done.n == 2 && done.err == 0);
    /* A get changes the buffer at its end, and that part alone. */
    job_check(ofi_get(tp, far, 0, b + 100, HALF, mem, &done.d) == TP_PENDING);
    job_check(its_bytes == first + 100);
    memset(its_bytes, 'c', HALF);
    memset(is, 'c', sizeof is);
    job_check(b[100] == 'a');
    ofi_rma_done(o, given, 0);
    job_check(done.n == 3 && !memcmp(b + 100, is, HALF) && b[99] == 'a' && b[HALF + 100] == 'b');
    /* Not if it failed. */
    job_check(ofi_get(tp, far, 0, b, HALF, mem, &done.d) == TP_PENDING);
    memset(its_bytes, 'd', HALF);
    ofi_rma_done(o, given, -EIO);
    job_check(done.n == 4 && done.err == -EIO && b[0] == 'a' && b[100] == 'c');
    /* Nor if it comes when the peer has failed: its caller may have given up, and the buffer be
     * other memory. */
    job_check(ofi_get(tp, far, 0, b, HALF, mem, &done.d) == TP_PENDING);
    memset(its_bytes, 'e', HALF);
    p->broken = -ENOTCONN;
    ofi_rma_done(o, given, 0);
    p->broken = 0;
    job_check(done.n == 5 && done.err == -ENOTCONN && b[0] == 'a' && b[100] == 'c');
    check_shared(first);
    /* What the provider refused holds nothing. */
    says = -FI_EAGAIN;
    job_check(ofi_get(tp, far, 0, b, HALF, mem, &done.d) == TP_AGAIN);
    job_check(ofi_put(tp, far, 0, b, HALF, mem, &done.d) == TP_AGAIN);
    says = 0;
    /* The provider may have one after its user is gone: no other user gets it until then. */
    job_check(ofi_get(tp, far, 0, b, HALF, mem, &done.d) == TP_PENDING);
    ofi_dereg(tp, mem);
    job_check(ofi_reg(tp, b, sizeof b, 0, 0, &other) == 0 && other->copy && other != mem);
    ofi_rma_done(o, given, -EIO);
    ofi_dereg(tp, other);
    struct tp_mem *two[2];
    for (int i = 0; i < 2; i++)
        job_check(ofi_reg(tp, b, 8, 0, 0, &two[i]) == 0);
    job_check((two[0] == mem || two[1] == mem) && (two[0] == other || two[1] == other));
    for (int i = 0; i < 2; i++)
        ofi_dereg(tp, two[i]);
    job_check(list_empty(&o->flying) && list_empty(&p->puts));
    ofi_drop(tp, far);
    o->ep = real;
}

/* --- memory of ours --------------------------------------------------------------------------- */

static ssize_t takes_it(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                        void *context)
{
    given = context;
    return 0;
}

/* Records of operations and send buffers are registered, too: what is kept makes room for them. */
static void ours_find_room(struct ofi *o)
{
    static struct fi_ops_rma rma = {.size = sizeof rma, .writemsg = one_sided};
    static struct fi_ops_msg msg = {.size = sizeof msg, .send = takes_it};
    struct fid_ep ep = {.rma = &rma, .msg = &msg}, *real = o->ep;
    struct tp *tp = (struct tp *)o;
    struct ofi_peer *p = ofi_peer_make(o, 1);
    struct mem_segment *s = segment(2 * OFI_CACHE_BLOCK);
    const uint64_t key[3] = {0, 7, 64}; /* address, key, bytes */
    const struct iovec v = {s->base, 64};
    const size_t inject = o->inject;
    const int quiet = o->quiet;
    struct tp_far *far;
    struct list records;
    mr_room = mr_open + 2;
    job_check(registers(o, s->base, 8) == 1);
    job_check(registers(o, (char *)s->base + OFI_CACHE_BLOCK, 8) == 1 && o->cache.kept.count == 2);
    o->ep = &ep;
    o->inject = 0;
    o->quiet = 1;
    p->connected = 1;
    list_init(&records); /* no record and no buffer is left over */
    for (struct list *l; (l = list_pop(&o->rma_pool)) != NULL;)
        list_push(&records, l);
    job_check(list_empty(&o->pool[0]));
    job_check(ofi_import(tp, 1, key, sizeof key, &far) == 0);
    job_check(ofi_put(tp, far, 0, s->base, 8, NULL, NULL) == 0);
    job_check(LIST_OBJ(given, struct ofi_rma, op)->mr && o->cache.kept.count == 1);
    check_shared(LIST_OBJ(given, struct ofi_rma, op)->bytes.put);
    ofi_rma_done(o, given, 0);
    job_check(ofi_am(tp, 1, TP_REPLY, &v, 1, NULL) == 0);
    job_check(LIST_OBJ(given, struct ofi_send, op)->mr && o->cache.kept.count == 0);
    check_shared(LIST_OBJ(given, struct ofi_send, op)->bytes);
    ofi_send_done(o, LIST_OBJ(given, struct ofi_send, op), 0);
    job_check(mr_open == mr_room);
    for (struct list *l; (l = list_pop(&records)) != NULL;)
        list_push(&o->rma_pool, l);
    ofi_drop(tp, far);
    mem_segment_drop(s);
    o->ep = real;
    o->inject = inject;
    o->quiet = quiet;
}

static struct ofi *open_one(void)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.proc = proc};
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    return (struct ofi *)tp;
}

static void registers_once(void)
{
    job_check(mem_init() == 0 && boot_barrier() == 0);
    struct ofi *o = open_one();
    struct fi_ops_mr ops = {.size = sizeof ops, .reg = mr_count}, *real = o->domain->mr;
    ofi_cache_close(o);
    o->reg_local = 1;
    o->domain->mr = &ops;
    ofi_cache_open(o);
    registered_once(o);
    job_check(o->cache.told == 1);
    in_a_window(o);
    copied(o);
    ops.reg = mr_bounded;
    room_made(o);
    ours_find_room(o);
    ofi_cache_close(o);
    /* Records of operations and send buffers have bytes of their own, until the end. */
    for (struct list *l; (l = list_pop(&o->rma_pool)) != NULL; mr_open--)
        ofi_local_free(o, LIST_OBJ(l, struct ofi_op, link), sizeof(struct ofi_rma));
    for (struct list *l; (l = list_pop(&o->pool[0])) != NULL; mr_open--, o->pooled[0]--)
        ofi_local_free(o, LIST_OBJ(l, struct ofi_op, link), sizeof(struct ofi_send) + OFI_SMALL);
    job_check(mr_open == 0);
    ofi_cache_open(o);
    dice_state = (uint64_t)boot_rank() + 1;
    pages_come_and_go(o);
    ofi_cache_close(o);
    job_check(pins == 0);
    o->domain->mr = real;
    o->reg_local = 0;
    ofi_cache_open(o);
    tp_ofi_ops.close((struct tp *)o);
    mem_finalize();
}

START_TEST(registers_once_)
{
    static const char *const sets[] = {"MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm", NULL};
    ck_assert_int_eq(job_run(2, sets, registers_once, 60), 0);
}
END_TEST

Suite *suite_ofi_cache(void)
{
    Suite *s = suite_create("tp/ofi/cache");
    TCase *t = tcase_create("ofi_cache");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, registers_once_);
    suite_add_tcase(s, t);
    return s;
}
