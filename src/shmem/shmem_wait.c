/* shmem_wait.c - wait_until and test with their kin: all look at memory of this process. Start
 * with shm_wait_until() and holds(). */
#include "shmem/shmem_types.h"

#include <stdatomic.h>

/* Looks at a word between two calls of MPI; so often where all stores of others arrive without
 * this process. */
enum { LOOKS_FAR = 4, LOOKS_NEAR = 256 };
/* The same of a wait. A pause takes as long as many looks, and the core is given away in a poll. */
#ifdef __x86_64__
enum { WAIT_NEAR = 16 };
#else
enum { WAIT_NEAR = LOOKS_NEAR };
#endif

void shm_poll(void)
{
    int flag;
    /* It polls, and gives the core away when it has found nothing for a while. */
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, shm.comm, &flag, MPI_STATUS_IGNORE);
}

const char *volatile shm_waits;

static int is_time(unsigned *looks, unsigned near)
{
    return ++*looks % (shm.direct ? near : LOOKS_FAR) == 0;
}

/* In a wait, which ends with waited(). */
static void look_again(unsigned *looks, const char *call)
{
    if (!is_time(looks, WAIT_NEAR)) {
#ifdef __x86_64__
        __builtin_ia32_pause(); /* loads that run ahead delay the one that sees the new value */
#endif
        return;
    }
    shm_waits = call;
    shm_poll();
}

static void waited(void)
{
    if (shm_waits)
        shm_waits = NULL;
}

static void test_failed(const char *call)
{
    shm_waits = call;
    shm_poll();
    shm_waits = NULL;
}

void shm_own_looked(void)
{
    /* Relaxed, and no addition: a count that another thread loses only moves the next poll. */
    unsigned n = atomic_load_explicit(&shm.looks, memory_order_relaxed);
    if (is_time(&n, LOOKS_NEAR))
        shm_poll();
    atomic_store_explicit(&shm.looks, n, memory_order_relaxed);
}

/* Acquire: pairs with the release of shm_signal_near(), of atomics, and of fences and quiets in
 * other processes. */
static int64_t shm_load(const char *p, unsigned bytes, unsigned is_signed)
{
    switch (bytes) {
    case 2: {
        uint16_t x = __atomic_load_n((const uint16_t *)(const void *)p, __ATOMIC_ACQUIRE);
        return is_signed ? (int16_t)x : x;
    }
    case 4: {
        uint32_t x = __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_ACQUIRE);
        return is_signed ? (int32_t)x : (int64_t)x;
    }
    default: return __atomic_load_n((const int64_t *)(const void *)p, __ATOMIC_ACQUIRE);
    }
}

static int compare(int64_t a, int cmp, int64_t b, unsigned is_signed)
{
    int less = is_signed ? a < b : (uint64_t)a < (uint64_t)b;
    switch (cmp) {
    case SHMEM_CMP_EQ: return a == b;
    case SHMEM_CMP_NE: return a != b;
    case SHMEM_CMP_GT: return !less && a != b;
    case SHMEM_CMP_GE: return !less;
    case SHMEM_CMP_LT: return less;
    default: return less || a == b;
    }
}

/* Does element i have what it is compared with? */
static int holds(const struct shm_ivars *v, size_t i, int cmp, const void *values, int vector)
{
    size_t at = i * v->bytes;
    int64_t want = shm_load((const char *)values + (vector ? at : 0), v->bytes, v->is_signed);
    return compare(shm_load((const char *)v->at + at, v->bytes, v->is_signed), cmp, want,
                   v->is_signed);
}

static void check(const struct shm_ivars *v, int cmp, const char *call)
{
    shm_begun(call);
    if (cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_LE)
        shm_fail(call, "cmp is %d, no SHMEM_CMP_", cmp);
    if (v->count && shm_region_of(v->at, v->count * v->bytes) == SHM_REGIONS)
        shm_fail(call, "address %p is not symmetric", v->at);
}

static int skipped(const struct shm_ivars *v, size_t i)
{
    return v->status && v->status[i];
}

/* Are there elements to look at? */
static int has_any(const struct shm_ivars *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!skipped(v, i))
            return 1;
    return 0;
}

/* The program hears that this element holds. */
static void saw(const struct shm_ivars *v, size_t i)
{
    if (shm.race)
        shm_saw((const char *)v->at + i * v->bytes);
}

/* --- looks ------------------------------------------------------------------------------------ */

static int all(const struct shm_ivars *v, int cmp, const void *values, int vector)
{
    for (size_t i = 0; i < v->count; i++)
        if (!skipped(v, i) && !holds(v, i, cmp, values, vector))
            return 0;
    for (size_t i = 0; shm.race && i < v->count; i++)
        if (!skipped(v, i))
            saw(v, i);
    return 1;
}

/* The index of one that holds, or SIZE_MAX. Each call begins behind the one that was found last, so
 * none is passed over for ever. */
static size_t any(const struct shm_ivars *v, int cmp, const void *values, int vector)
{
    size_t begin = 0;
    if (v->count) /* relaxed: any place to begin is right */
        begin = atomic_load_explicit(&shm.first, memory_order_relaxed) % v->count;
    for (size_t k = 0; k < v->count; k++) {
        size_t i = begin + k < v->count ? begin + k : begin + k - v->count;
        if (!skipped(v, i) && holds(v, i, cmp, values, vector)) {
            atomic_store_explicit(&shm.first, (unsigned)i + 1, memory_order_relaxed);
            saw(v, i);
            return i;
        }
    }
    return SIZE_MAX;
}

static size_t some(const struct shm_ivars *v, size_t *indices, int cmp, const void *values,
                   int vector)
{
    size_t found = 0;
    for (size_t i = 0; i < v->count; i++)
        if (!skipped(v, i) && holds(v, i, cmp, values, vector)) {
            saw(v, i);
            indices[found++] = i;
        }
    return found;
}

/* --- waits ------------------------------------------------------------------------------------ */

void shm_wait_until(struct shm_ivars v, int cmp, const void *cmp_value, const char *call)
{
    unsigned looks = 0;
    check(&v, cmp, call);
    while (!holds(&v, 0, cmp, cmp_value, 0))
        look_again(&looks, call);
    waited();
    saw(&v, 0);
}

void shm_wait_until_all(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                        const char *call)
{
    unsigned looks = 0;
    check(&v, cmp, call);
    for (size_t i = 0; i < v.count; i++)
        if (!skipped(&v, i)) {
            while (!holds(&v, i, cmp, cmp_values, vector))
                look_again(&looks, call);
            saw(&v, i);
        }
    waited();
}

size_t shm_wait_until_any(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                          const char *call)
{
    unsigned looks = 0;
    size_t i;
    check(&v, cmp, call);
    if (!has_any(&v))
        return SIZE_MAX;
    while ((i = any(&v, cmp, cmp_values, vector)) == SIZE_MAX)
        look_again(&looks, call);
    waited();
    return i;
}

size_t shm_wait_until_some(struct shm_ivars v, size_t *indices, int cmp, const void *cmp_values,
                           int vector, const char *call)
{
    unsigned looks = 0;
    size_t found;
    check(&v, cmp, call);
    if (!has_any(&v))
        return 0;
    while (!(found = some(&v, indices, cmp, cmp_values, vector)))
        look_again(&looks, call);
    waited();
    return found;
}

/* --- tests: a program may call them for ever, so those that fail poll ------------------------- */

int shm_test_all(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                 const char *call)
{
    check(&v, cmp, call);
    if (all(&v, cmp, cmp_values, vector))
        return 1;
    test_failed(call);
    return 0;
}

size_t shm_test_any(struct shm_ivars v, int cmp, const void *cmp_values, int vector,
                    const char *call)
{
    check(&v, cmp, call);
    size_t i = any(&v, cmp, cmp_values, vector);
    if (i == SIZE_MAX)
        test_failed(call);
    return i;
}

size_t shm_test_some(struct shm_ivars v, size_t *indices, int cmp, const void *cmp_values,
                     int vector, const char *call)
{
    check(&v, cmp, call);
    size_t found = some(&v, indices, cmp, cmp_values, vector);
    if (!found)
        test_failed(call);
    return found;
}

/* --- signals ---------------------------------------------------------------------------------- */

uint64_t pshmem_signal_fetch(const uint64_t *sig_addr)
{
    shm_begun("shmem_signal_fetch");
    if (!shm.direct || shm_region_of(sig_addr, sizeof *sig_addr) != SHM_HEAP)
        shm_poll();
    else
        shm_own_looked();
    uint64_t seen = __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE); /* as shm_load() */
    shm_saw(sig_addr);
    return seen;
}
SHM_ALIAS(signal_fetch);

uint64_t pshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    struct shm_ivars v = SHM_IVARS(sig_addr, 1, NULL);
    unsigned looks = 0;
    const char *call = "shmem_signal_wait_until";
    check(&v, cmp, call);
    for (;;) {
        uint64_t seen = __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE); /* as shm_load() */
        if (compare((int64_t)seen, cmp, (int64_t)cmp_value, 0)) {
            waited();
            saw(&v, 0);
            return seen;
        }
        look_again(&looks, call);
    }
}
SHM_ALIAS(signal_wait_until);
