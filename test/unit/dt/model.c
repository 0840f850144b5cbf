/* model.c - the naive datatype of model.h. */
#include "model.h"

#include <errno.h>
#include <string.h>

#include "boot/boot.h"
#include "var/var.h"

/* --- random ------------------------------------------------------------------ */
uint64_t rng_next(struct rng *r)
{
    r->s += 0x9e3779b97f4a7c15ull;
    uint64_t z = r->s;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

int64_t rng_range(struct rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rng_next(r) % (uint64_t)(hi - lo + 1));
}

/* --- the process -------------------------------------------------------------- */
static int alone_init(int *rank, int *size, int *appnum)
{
    *rank = *appnum = 0;
    *size = 1;
    return 0;
}
static int alone_put(const char *key, const void *value, size_t len) { return 0; }
static int alone_get(const char *key, void *value, size_t *len) { return -ENOENT; }
static int alone_done(void) { return 0; }
static int alone_text(char *text, size_t len) { return -ENOENT; }
static int alone_id(char *text, size_t len)
{
    memcpy(text, "alone", 6);
    return 0;
}
static void alone_abort(int code, const char *why) { exit(code); }
static const struct boot_ops alone = {.name = "singleton", .init = alone_init, .put = alone_put,
                                      .get = alone_get, .barrier = alone_done,
                                      .node_map = alone_text, .job_id = alone_id,
                                      .abort = alone_abort, .finalize = alone_done};

void room_setup(void)
{
    char why[256];
    ck_assert_int_eq(var_init(why, sizeof why), 0);
    ck_assert_int_eq(boot_init(&alone), 0);
    ck_assert_int_eq(obj_init(), 0);
    ck_assert_int_eq(dt_init(), 0);
}

void room_teardown(void)
{
    /* the predefined pairs: nothing else is left */
    ck_assert_uint_eq(proc->obj->table[OBJ_TYPE].live, 5);
    ck_assert_uint_eq(proc->obj->table[OBJ_OP].live, 0);
    dt_finalize();
    obj_finalize();
    boot_finalize();
    var_finalize();
}

TCase *room_case(const char *name, double timeout)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, room_setup, room_teardown);
    tcase_set_timeout(t, timeout);
    return t;
}

/* --- lists ---------------------------------------------------------------------- */
static void push(struct model *m, struct entry e)
{
    if ((m->n & (m->n - 1)) == 0)
        m->e = realloc(m->e, (m->n ? 2 * m->n : 1) * sizeof *m->e);
    m->e[m->n++] = e;
}

static void push_at(struct model *m, const struct model *old, int64_t off)
{
    for (size_t i = 0; i < old->n; i++) {
        struct entry e = old->e[i];
        e.off += off;
        push(m, e);
    }
}

/* Bounds of old at `off` join m's; markers win. */
static void join(struct model *m, const struct model *old, int64_t off, int *any)
{
    if (!old->n && !old->lb_set)
        return;
    if (old->lb_set > m->lb_set || (old->lb_set == m->lb_set && (!*any || old->lb + off < m->lb)))
        m->lb = old->lb + off;
    if (old->ub_set > m->ub_set || (old->ub_set == m->ub_set && (!*any || old->ub + off > m->ub)))
        m->ub = old->ub + off;
    m->lb_set |= old->lb_set;
    m->ub_set |= old->ub_set;
    if (old->align > m->align)
        m->align = old->align;
    *any = 1;
}

static void put_block(struct model *m, const struct model *old, int64_t off, int64_t len, int *any)
{
    for (int64_t i = 0; i < len; i++) {
        int64_t at = off + i * (old->ub - old->lb);
        push_at(m, old, at);
        join(m, old, at, any);
    }
}

void model_free(struct model *m)
{
    free(m->e);
    dt_drop(m->type);
}

int64_t model_size(const struct model *m)
{
    int64_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->e[i].bytes;
    return n;
}

void model_bounds(const struct model *m, size_t count, int64_t *lo, int64_t *hi)
{
    int any = 0;
    *lo = *hi = 0;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < m->n; i++) {
            int64_t at = m->e[i].off + (int64_t)c * (m->ub - m->lb);
            if (!any || at < *lo)
                *lo = at;
            if (!any || at + m->e[i].bytes > *hi)
                *hi = at + m->e[i].bytes;
            any = 1;
        }
}

/* --- random types ------------------------------------------------------------------ */
static struct model basic_model(struct dt_type *t)
{
    struct model m = {.type = dt_ref(t), .lb = 0, .ub = t->elem.stride, .align = t->elem.align};
    const struct dt_elem *e = &t->elem;
    if (e->kind != DT_PAIR) {
        push(&m, (struct entry){0, e->bytes, t, 0});
        return m;
    }
    int index = e->num == NUM_P2D ? 8 : 4;
    push(&m, (struct entry){0, e->bytes - index, t, 0});
    push(&m, (struct entry){e->num == NUM_PSI ? 4 : e->bytes - index, index, t, 1});
    return m;
}

static struct dt_type *random_basic(struct rng *r)
{
    static const MPI_Datatype some[] = {MPI_CHAR,
                                        MPI_SHORT,
                                        MPI_INT,
                                        MPI_DOUBLE,
                                        MPI_LONG_DOUBLE,
                                        MPI_BYTE,
                                        MPI_C_DOUBLE_COMPLEX,
                                        MPI_SHORT_INT,
                                        MPI_DOUBLE_INT,
                                        MPI_2INT,
                                        MPI_INT,
                                        MPI_DOUBLE};
    return dt_find(some[rng_next(r) % (sizeof some / sizeof *some)]);
}

enum { PARTS = 5 };

static void make_indexed(struct model *m, struct rng *r, const struct model *old, size_t max)
{
    int64_t n = rng_range(r, 0, PARTS), lens[PARTS], off[PARTS], at = rng_range(r, -3, 3);
    int64_t extent = old->ub - old->lb;
    int bytes = (int)(rng_next(r) & 1), same = rng_next(r) % 3 == 0, any = 0;
    int64_t one = rng_range(r, 0, 3);
    for (int64_t i = 0; i < n; i++) {
        lens[i] = same ? one : rng_range(r, 0, 3);
        if ((m->n + (size_t)lens[i] * old->n) > max)
            lens[i] = same ? one : 0;
        off[i] = at;
        at += rng_next(r) % 3 == 0 ? rng_range(r, -4, 4) : lens[i];
        if (bytes)
            off[i] = off[i] * (extent ? extent : 4) +
                     (rng_next(r) % 4 == 0 ? rng_range(r, -9, 9) : 0);
        put_block(m, old, bytes ? off[i] : off[i] * extent, lens[i], &any);
    }
    int err = bytes ? dt_make_indexed_b(n, same ? NULL : lens, one, off, old->type, &m->type)
                    : dt_make_indexed(n, same ? NULL : lens, one, off, old->type, &m->type);
    ck_assert_int_eq(err, MPI_SUCCESS);
    m->align = old->align;
}

static void make_vector(struct model *m, struct rng *r, const struct model *old)
{
    int64_t n = rng_range(r, 0, 4), len = rng_range(r, 0, 3), stride = rng_range(r, -4, 6);
    int64_t extent = old->ub - old->lb;
    int bytes = (int)(rng_next(r) & 1), any = 0;
    if (bytes)
        stride = stride * 8 + (rng_next(r) % 4 == 0 ? rng_range(r, -7, 7) : 0);
    for (int64_t i = 0; i < n; i++)
        put_block(m, old, i * (bytes ? stride : stride * extent), len, &any);
    int err = bytes ? dt_make_vector_b(n, len, stride, old->type, &m->type)
                    : dt_make_vector(n, len, stride, old->type, &m->type);
    ck_assert_int_eq(err, MPI_SUCCESS);
    m->align = old->align;
}

static void make_subarray(struct model *m, struct rng *r, const struct model *old)
{
    int64_t sizes[3], sub[3], start[3], all = 1, extent = old->ub - old->lb;
    int nd = (int)rng_range(r, 1, 3), order = rng_next(r) & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < nd; d++) {
        sizes[d] = rng_range(r, 1, 4);
        sub[d] = rng_range(r, 1, sizes[d]);
        start[d] = rng_range(r, 0, sizes[d] - sub[d]);
        all *= sizes[d];
    }
    for (int64_t i = 0; i < all; i++) {
        /* every element of the whole array, in memory order: is it inside? */
        int64_t rest = i;
        int inside = 1;
        for (int k = 0; k < nd; k++) {
            int d = order == MPI_ORDER_C ? nd - 1 - k : k;
            int64_t at = rest % sizes[d];
            rest /= sizes[d];
            inside &= at >= start[d] && at < start[d] + sub[d];
        }
        if (inside)
            push_at(m, old, i * extent);
    }
    m->lb = 0;
    m->ub = all * extent;
    m->lb_set = m->ub_set = 1;
    m->align = old->align;
    ck_assert_int_eq(dt_make_subarray(nd, sizes, sub, start, order, old->type, &m->type),
                     MPI_SUCCESS);
}

static void make_struct(struct model *m, struct rng *r, int depth, size_t max,
                        struct dt_type *uniform)
{
    int64_t n = rng_range(r, 0, PARTS), lens[PARTS], off[PARTS], at = rng_range(r, -8, 8);
    struct dt_type *types[PARTS];
    struct model part[PARTS];
    int any = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i && rng_next(r) % 4 == 0) {
            part[i] = part[i - 1]; /* the same type again */
            part[i].e = malloc((part[i].n + 1) * sizeof *part[i].e);
            if (part[i].n)
                memcpy(part[i].e, part[i - 1].e, part[i].n * sizeof *part[i].e);
            dt_ref(part[i].type);
        } else {
            part[i] = model_random(r, depth - 1, max / PARTS, uniform);
        }
        types[i] = part[i].type;
        lens[i] = m->n + 2 * part[i].n < max ? rng_range(r, 0, 2) : 0;
        off[i] = at;
        at += rng_next(r) % 4 == 0 ? rng_range(r, -16, 16) : lens[i] * (part[i].ub - part[i].lb);
        put_block(m, &part[i], off[i], lens[i], &any);
    }
    if (any && !m->lb_set && !m->ub_set) {
        int64_t over = (m->ub - m->lb) % m->align;
        m->ub += over ? m->align - over : 0;
    }
    if (!any)
        m->align = 1;
    ck_assert_int_eq(dt_make_struct(n, lens, off, types, &m->type), MPI_SUCCESS);
    m->align = m->type->align; /* markers only: no padding depends on it; compared in test_type */
    for (int64_t i = 0; i < n; i++)
        model_free(&part[i]);
}

struct model model_random(struct rng *r, int depth, size_t max, struct dt_type *uniform)
{
    if (depth <= 0 || rng_next(r) % 8 == 0)
        return basic_model(uniform ? uniform : random_basic(r));
    struct model m = {.align = 1}, old = {.n = 0};
    int any = 0;
    unsigned how = (unsigned)(rng_next(r) % 9);
    if (how != 8)
        old = model_random(r, depth - 1, max / 4, uniform);
    switch (how) {
    case 0: {
        int64_t n = rng_range(r, 0, 4);
        put_block(&m, &old, 0, n, &any);
        m.align = old.align;
        ck_assert_int_eq(dt_make_contiguous(n, old.type, &m.type), MPI_SUCCESS);
        break;
    }
    case 1:
    case 2: make_vector(&m, r, &old); break;
    case 3:
    case 4: make_indexed(&m, r, &old, max); break;
    case 5: {
        push_at(&m, &old, 0);
        m.lb = rng_range(r, -20, 20);
        m.ub = m.lb + rng_range(r, rng_next(r) % 8 ? 0 : -40, 60);
        m.lb_set = m.ub_set = 1;
        m.align = old.align;
        ck_assert_int_eq(dt_make_resized(old.type, m.lb, m.ub - m.lb, &m.type), MPI_SUCCESS);
        break;
    }
    case 6: {
        push_at(&m, &old, 0);
        join(&m, &old, 0, &any);
        m.align = old.align;
        ck_assert_int_eq(dt_make_dup(old.type, &m.type), MPI_SUCCESS);
        break;
    }
    case 7: make_subarray(&m, r, &old); break;
    default: make_struct(&m, r, depth, max, uniform); break;
    }
    if (how != 8)
        model_free(&old);
    return m;
}

/* --- memory ---------------------------------------------------------------------- */
struct image image_make(const struct model *m, size_t count, struct rng *r)
{
    struct image i;
    int64_t lo, hi;
    model_bounds(m, count, &lo, &hi);
    i.len = (size_t)(hi - lo);
    /* exactly the bytes touched: a sanitizer sees one too many */
    i.memory = malloc(i.len ? i.len : 1);
    for (size_t k = 0; k < i.len; k++)
        i.memory[k] = (char)rng_next(r);
    i.base = (char *)((uintptr_t)i.memory - (uintptr_t)lo);
    return i;
}

void image_free(struct image *i)
{
    free(i->memory);
}

char *model_pack(const struct model *m, size_t count, const char *base)
{
    char *out = malloc((size_t)model_size(m) * count + 1), *at = out;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < m->n; i++) {
            uintptr_t from = (uintptr_t)base +
                             (uintptr_t)(m->e[i].off + (int64_t)c * (m->ub - m->lb));
            memcpy(at, (const void *)from, (size_t)m->e[i].bytes);
            at += m->e[i].bytes;
        }
    return out;
}

void model_unpack(const struct model *m, size_t count, char *base, const char *packed, size_t len)
{
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < m->n && len; i++) {
            uintptr_t to = (uintptr_t)base +
                           (uintptr_t)(m->e[i].off + (int64_t)c * (m->ub - m->lb));
            size_t n = len < (size_t)m->e[i].bytes ? len : (size_t)m->e[i].bytes;
            memcpy((void *)to, packed, n);
            packed += n;
            len -= n;
        }
}
