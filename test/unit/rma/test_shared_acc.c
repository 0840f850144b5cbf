/* test_shared_acc.c - rma/shared/acc.c: sizes, against reference, a held stripe keeps off, a
 * dead holder is found, nothing is lost. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "job.h"
#include "mem/mem_types.h"
#include "obj/obj.h"
#include "progress/progress.h"
#include "rma/shared/acc.h"
#include "rma/near/near.h"
#include "unit_rma.h"

enum { WINDOW = 3 * ACC_STRIPE_BYTES + 100, TURNS = 3000 };

static const MPI_Datatype types[] = {MPI_INT8_T,    MPI_INT16_T,     MPI_INT,
                                     MPI_LONG,      MPI_UINT64_T,    MPI_FLOAT,
                                     MPI_DOUBLE,    MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX,
                                     MPI_SHORT_INT, MPI_2INT,        MPI_DOUBLE_INT,
                                     MPI_BYTE,      MPI_C_BOOL};
static const MPI_Op ops[] = {MPI_SUM, MPI_PROD,   MPI_MAX,    MPI_MIN,     MPI_BAND, MPI_BXOR,
                             MPI_LOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
enum { TYPES = sizeof types / sizeof *types, OPS = sizeof ops / sizeof *ops };

static void up(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    job_check(obj_init() == 0);
    job_check(dt_init() == 0);
}

static void down(void)
{
    boot_barrier();
    dt_finalize();
    obj_finalize();
    progress_finalize();
    mem_finalize();
}

static struct acc_ctl *control(unsigned hints)
{
    unsigned n = acc_stripes(WINDOW, 0);
    struct acc_ctl *c = mmap(NULL, acc_ctl_bytes(n), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    job_check(c != MAP_FAILED);
    acc_ctl_init(c, n, hints);
    return c;
}

/* Small values, so that no sum or product overflows and floats stay exact. */
static void fill(const struct dt_type *t, char *at, size_t n, unsigned seed)
{
    memset(at, 0, (size_t)t->extent * n);
    for (size_t i = 0; i < n; i++) {
        int v = (int)((seed + i * 7) % 5);
        char *p = at + (size_t)t->extent * i;
        switch (t->obj.handle) {
        case MPI_FLOAT: *(float *)p = (float)v; break;
        case MPI_DOUBLE: *(double *)p = v; break;
        case MPI_LONG_DOUBLE: *(long double *)p = v; break;
        case MPI_C_DOUBLE_COMPLEX: *(double *)p = v; break;
        case MPI_DOUBLE_INT: *(double *)p = v; break;
        case MPI_C_BOOL: *p = v & 1; break;
        default: *p = (char)v; /* little-endian integers and their pairs */
        }
    }
}

static char arena[WINDOW + 64], expect[WINDOW + 64], origin[WINDOW], result[WINDOW], old[WINDOW];

/* What acc_apply must do, by the datatype room alone. */
static void reference(const struct acc_args *a, char *base)
{
    char packed[WINDOW];
    dt_pack(a->ttype, a->tcount, base + a->off, a->pos, old, a->len);
    if (a->op->index == DT_NO_OP)
        return;
    dt_pack(a->otype, a->ocount, a->origin, a->pos, packed, a->len);
    dt_op_unpack(a->op, a->ttype, a->tcount, base + a->off, a->pos, packed, a->len);
}

static void one_case(struct dt_type *elem, struct dt_op *op, struct dt_type *layout, size_t count,
                     uint64_t off, struct acc_target *t)
{
    size_t n = count * (size_t)(layout->size / elem->size);
    char *base = arena + (t->base - arena);
    fill(elem, arena, sizeof arena / (size_t)elem->extent, 3);
    memcpy(expect, arena, sizeof arena);
    fill(elem, origin, n, (unsigned)off);
    struct acc_args a = {.elem = elem, .op = op, .off = off, .tcount = count, .ttype = layout,
                         .len = n * (size_t)elem->size, .origin = origin, .ocount = n,
                         .otype = elem, .fetches = 1, .result = result, .rcount = n, .rtype = elem};
    /* the second half of a split operation must work as well as the whole */
    reference(&a, expect + (base - arena));
    memset(result, 0, sizeof result);
    size_t half = n / 2 * (size_t)elem->size, all = a.len;
    a.len = half;
    job_check(acc_apply(t, &a) == 0);
    a.pos = half;
    a.len = all - half;
    job_check(acc_apply(t, &a) == 0);
    job_check(memcmp(arena, expect, sizeof arena) == 0);
    char packed[WINDOW];
    dt_pack(elem, n, result, 0, packed, all);
    job_check(memcmp(packed, old, all) == 0);
}

/* The inline path's element, at every kind of place, with and without a result. */
static void near_case(struct dt_type *elem, struct dt_op *op, struct acc_target *t)
{
    static const uint64_t places[] = {0, 64, 3, ACC_STRIPE_BYTES - 3, ACC_STRIPE_BYTES - 16};
    struct rma_near n = {.base = t->base, .acc = t->ctl, .size = WINDOW, .disp_unit = 1,
                         .units = WINDOW, .me = (uint64_t)mem_host_index() + 1};
    size_t e = (size_t)elem->size;
    for (unsigned i = 0; i < 2 * sizeof places / sizeof *places; i++) {
        uint64_t off = places[i / 2];
        fill(elem, arena, sizeof arena / (size_t)elem->extent, 3);
        memcpy(expect, arena, sizeof arena);
        fill(elem, origin, 1, (unsigned)i);
        struct acc_args a = {.elem = elem, .op = op, .off = off, .tcount = 1, .ttype = elem,
                             .len = e, .origin = origin, .ocount = 1, .otype = elem};
        reference(&a, expect);
        memset(result, 0, sizeof result);
        int none = op->index == DT_NO_OP; /* whose origin is not read */
        job_check(acc_near(&n, off, elem, none ? (void *)1 : origin, i % 2 || none ? result : NULL,
                           (unsigned)op->index) == 0);
        job_check(memcmp(arena, expect, sizeof arena) == 0);
        job_check(!(i % 2 || none) || memcmp(result, old, e) == 0);
        if (elem->elem.kind == DT_SIGNED || elem->elem.kind == DT_UNSIGNED) {
            char was[16], other[16];
            memcpy(was, arena + off, e);
            memset(other, 0x5a, sizeof other);
            /* differs: nothing moves */
            job_check(acc_near_cas(&n, off, elem, origin, other, result) == 0);
            job_check(memcmp(arena, expect, sizeof arena) == 0 && memcmp(result, was, e) == 0);
            job_check(acc_near_cas(&n, off, elem, origin, was, result) == 0);
            job_check(memcmp(arena + off, origin, e) == 0 && memcmp(result, was, e) == 0);
            memcpy(expect + off, origin, e);
            job_check(memcmp(arena, expect, sizeof arena) == 0);
        }
    }
}

/* Elements to two copies: these, and no byte beside them or in their gaps. */
static void mirror_case(struct dt_type *elem, size_t count, uint64_t off,
                        const struct acc_target *t)
{
    static char copy[2][WINDOW + 64], packed[WINDOW];
    char *to[2] = {copy[0] + off, copy[1] + off};
    size_t bytes = count * (size_t)elem->size;
    for (size_t i = 0; i < sizeof arena; i++)
        arena[i] = (char)(i * 7 + i / 256);
    memset(copy, 0x5a, sizeof copy);
    memset(expect, 0x5a, sizeof expect);
    dt_pack(elem, count, t->base + off, 0, packed, bytes);
    dt_unpack(elem, count, expect + off, 0, packed, bytes);
    acc_mirror(t, off, elem, count, to, 2);
    job_check(memcmp(copy[0], expect, sizeof expect) == 0);
    job_check(memcmp(copy[1], expect, sizeof expect) == 0);
}

/* An element that ends where memory does, padded or not: nothing behind its data is touched. */
static void end_of_memory(struct dt_type *elem, struct dt_op *op, const struct acc_target *like)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), e = (size_t)elem->true_ub;
    char *all = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *at = all + page - e;
    job_check(all != MAP_FAILED && mprotect(all + page, page, PROT_NONE) == 0);
    struct acc_target t = *like;
    t.base = at;
    t.remote = (uint64_t)(uintptr_t)at;
    memset(origin, 1, (size_t)elem->extent);
    job_check(acc_element(&t, 0, elem, op, origin, result) == 0 &&
              acc_element(&t, 0, elem, op, origin, NULL) == 0);
    munmap(all, 2 * page);
}

static void all_types_and_ops(void)
{
    up();
    long here = 0, there = 1;
    struct iovec l = {&here, sizeof here}, r = {&there, sizeof there};
    /* refused here, as windows find out themselves */
    int modes = mem_cma_read(0, &l, 1, &r, 1) == -EPERM ? 2 : 3;
    for (int mode = 0; mode < modes; mode++) {                   /* stripes, atomics, CMA */
        struct acc_target t = {.ctl = control(mode == 1 ? ACC_ALL_MAPPED | ACC_SINGLE_ELEMENTS : 0),
                               .base = arena, .remote = (uint64_t)(uintptr_t)arena,
                               .host_index = mode == 2 ? 0 : -1};
        for (int i = 0; i < TYPES && mode < 2; i++) {
            struct dt_type *elem = dt_find(types[i]);
            size_t many = (2 * ACC_STRIPE_BYTES + 512) / (size_t)elem->extent;
            mirror_case(elem, 1, 0, &t);
            mirror_case(elem, many, 64, &t);
            mirror_case(elem, 3, ACC_STRIPE_BYTES - (uint64_t)elem->extent - 3, &t);
        }
        for (int i = 0; i < TYPES; i++)
            for (int j = 0; j < OPS; j++) {
                struct dt_type *elem = dt_find(types[i]);
                struct dt_op *op = dt_op_find(ops[j]);
                if (dt_op_check(op, elem, DT_FOR_ACC) != MPI_SUCCESS)
                    continue;
                size_t many = (ACC_STRIPE_BYTES + 512) / (size_t)elem->extent;
                if (mode < 2 && dt_handle_bytes(types[i]))
                    near_case(elem, op, &t);
                one_case(elem, op, elem, 1, 0, &t);
                end_of_memory(elem, op, &t);
                one_case(elem, op, elem, many, 64, &t);
                /* misaligned, across */
                one_case(elem, op, elem, 3, ACC_STRIPE_BYTES - (uint64_t)elem->extent - 3, &t);
            }
    }
    down();
}

START_TEST(against_reference)
{
    ck_assert_int_eq(job_run(1, NULL, all_types_and_ops, 60), 0);
}
END_TEST

/* Several processes add to the same cells in every way there is; nothing may be lost. */
static char *shared, *mirrored; /* the second one: of its first bytes */
static struct acc_ctl *shared_ctl;

static void add_everywhere(void)
{
    up();
    int size = boot_size();
    struct acc_target t = {.ctl = shared_ctl, .base = shared, .host_index = -1};
    struct dt_type *l = dt_find(MPI_LONG);
    struct dt_op *sum = dt_op_find(MPI_SUM);
    long one = 1, many[600], got, want;
    uint64_t across = ACC_STRIPE_BYTES - 4; /* crosses, misaligned */
    for (int i = 0; i < 600; i++)
        many[i] = 1;
    long last = -1;
    struct rma_near near = {.base = shared, .acc = shared_ctl,
                            .me = (uint64_t)mem_host_index() + 1};
    for (int i = 0; i < TURNS; i++) {
        if (i % 2)
            job_check(acc_element(&t, 0, l, sum, &one, &got) == 0);
        else
            job_check(acc_near(&near, 0, l, &one, &got, DT_SUM) == 0);
        job_check(got > last); /* fetches of one process grow */
        last = got;
        job_check(acc_element(&t, across, l, sum, &one, NULL) == 0);
        struct acc_args a = {.elem = l, .op = sum, .off = 0, .tcount = 600, .ttype = l,
                             .len = 600 * 8, .origin = many, .ocount = 600, .otype = l};
        if (i % 10 == 0) {
            /* over a stripe boundary, away from the other cells */
            a.off = 2 * ACC_STRIPE_BYTES - 2400;
            job_check(acc_apply(&t, &a) == 0);
        }
        do { /* compare-and-swap loop on one more cell */
            want = *(volatile long *)(shared + 16);
            long next = want + 1;
            job_check(acc_cas(&t, 16, l, &next, &want, &got) == 0);
        } while (got != want);
        /* what is behind the last addition is the last in the copy */
        char *to[2] = {mirrored, mirrored + across};
        acc_mirror(&t, 0, l, 3, to, 1);
        acc_mirror(&t, across, l, 1, to + 1, 1);
    }
    boot_barrier();
    long v;
    job_check(memcmp(mirrored, shared, 24) == 0);
    job_check(memcmp(mirrored + across, shared + across, 8) == 0);
    job_check(*(long *)shared == (long)size * TURNS);
    memcpy(&v, shared + across, 8);
    job_check(v == (long)size * TURNS);
    job_check(*(long *)(shared + 16) == (long)size * TURNS);
    for (int i = 0; i < 600; i++) {
        memcpy(&v, shared + 2 * ACC_STRIPE_BYTES - 2400 + i * 8, 8);
        job_check(v == (long)size * (TURNS / 10));
    }
    down();
}

static void share(unsigned hints)
{
    unsigned n = acc_stripes(WINDOW, 0);
    shared = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ctl = mmap(NULL, acc_ctl_bytes(n), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
    mirrored = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED && shared_ctl != MAP_FAILED && mirrored != MAP_FAILED);
    acc_ctl_init(shared_ctl, n, hints);
}

static void concurrent(unsigned hints)
{
    share(hints);
    ck_assert_int_eq(job_run(4, NULL, add_everywhere, 60), 0);
}

START_TEST(nothing_is_lost)
{
    concurrent(_i ? ACC_ALL_MAPPED | ACC_SINGLE_ELEMENTS : 0);
}
END_TEST

/* While another process holds the stripes, no way reaches the memory. */
static void set_stripes(uint32_t word)
{
    size_t first = acc_ctl_bytes(0), each = acc_ctl_bytes(1) - first;
    for (unsigned i = 0; i < acc_stripes(WINDOW, 0); i++)
        atomic_store((_Atomic uint32_t *)(void *)((char *)shared_ctl + first + i * each), word);
}

static int ways(int way)
{
    struct acc_target t = {.ctl = shared_ctl, .base = shared, .host_index = -1};
    struct dt_type *l = dt_find(MPI_LONG);
    struct dt_op *sum = dt_op_find(MPI_SUM);
    long one = 1, zero = 0, got, many[600];
    struct rma_near near = {.base = shared, .acc = shared_ctl,
                            .me = (uint64_t)mem_host_index() + 1};
    for (int i = 0; i < 600; i++)
        many[i] = 1;
    struct acc_args a = {.elem = l, .op = sum, .off = way == 3 ? 2 * ACC_STRIPE_BYTES - 2400 : 0,
                         .tcount = 600, .ttype = l, .len = 600 * 8, .origin = many, .ocount = 600,
                         .otype = l};
    switch (way) {
    case 0: return acc_element(&t, 0, l, sum, &one, NULL);
    case 1: return acc_element(&t, ACC_STRIPE_BYTES - 4, l, sum, &one, &got); /* two stripes */
    case 2:
    case 3: return acc_apply(&t, &a);
    case 4: return acc_cas(&t, 0, l, &one, &zero, &got);
    case 5: /* the copy is what is looked at */
        t.base = (char *)many;
        acc_mirror(&t, 0, l, 600, &shared, 1);
        return 0;
    default: /* may refuse; then the caller goes another way */
        return acc_near(&near, 0, l, &one, &got, DT_SUM) == 0
                   ? 0
                   : acc_element(&t, 0, l, sum, &one, NULL);
    }
}

static void held(void)
{
    up();
    static const char nothing[WINDOW];
    for (int way = 0; way < 7; way++) {
        if (boot_rank() == 0) {
            memset(shared, 0, WINDOW);
            set_stripes((uint32_t)mem_host_index() + 1);
        }
        boot_barrier();
        if (boot_rank() == 0) {
            for (int i = 0; i < 20; i++) {
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
                job_check(memcmp(shared, nothing, WINDOW) == 0);
            }
            set_stripes(0);
        } else {
            job_check(ways(way) == 0);
        }
        boot_barrier();
        job_check(memcmp(shared, nothing, WINDOW) != 0);
        boot_barrier();
    }
    down();
}

START_TEST(a_held_stripe_keeps_off)
{
    share(0);
    ck_assert_int_eq(job_run(2, NULL, held, 60), 0);
}
END_TEST

/* The holder's failure has not been reported. */
static void held_by_the_dead(void)
{
    up();
    static const char nothing[WINDOW];
    if (boot_rank() == 0) {
        pid_t gone = fork();
        if (!gone)
            _exit(0);
        job_check(gone > 0 && waitpid(gone, NULL, 0) == gone);
        atomic_store(&proc->mem->record[boot_host_index(1)].pid, gone);
        for (int way = 0; way < 7; way++) {
            set_stripes((uint32_t)boot_host_index(1) + 1);
            memset(shared, 0, WINDOW);
            job_check(ways(way) == 0 && memcmp(shared, nothing, WINDOW) != 0);
            job_check(boot_failed(1) && boot_failed_count() == 1);
        }
    }
    fflush(NULL);
    _exit(0);
}

START_TEST(a_dead_holder_is_found)
{
    share(0);
    ck_assert_int_eq(job_run(2, NULL, held_by_the_dead, 60), 0);
}
END_TEST

START_TEST(sizes)
{
    ck_assert_uint_eq(acc_stripes(0, 0), 1);
    ck_assert_uint_eq(acc_stripes(ACC_STRIPE_BYTES + 1, 0), 2);
    ck_assert_uint_eq(acc_stripes(1ull << 40, 0), ACC_STRIPES_MAX);
    ck_assert_uint_eq(acc_stripes(0, 1), ACC_STRIPES_MAX);
    ck_assert_uint_eq(acc_ctl_bytes(4) % 64, 0);
}
END_TEST

Suite *suite_acc(void)
{
    Suite *s = suite_create("rma/acc");
    TCase *t = tcase_create("acc");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, sizes);
    tcase_add_test(t, against_reference);
    tcase_add_test(t, a_held_stripe_keeps_off);
    tcase_add_test(t, a_dead_holder_is_found);
    tcase_add_loop_test(t, nothing_is_lost, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
