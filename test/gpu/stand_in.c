/* stand_in.c - a libcuda.so.1 without a GPU: device memory is host memory, and each call is done
 * when it returns.  It checks what a driver would: a current context, addresses that are reserved
 * and mapped, known handles; a wrong call ends the process.  So the calls of mem/space_cuda.c
 * and the programs of this folder run anywhere.  It proves nothing about streams, rates or the
 * driver itself.
 *
 * GPU_STAND_IN=N: MiB of device memory (default 2048). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALL __attribute__((visibility("default")))
#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "stand_in.c: %s: not so: %s\n", __func__, #cond);                      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, LAUNCH_FAILED = 719, GRAIN = 2 << 20, DEVICES = 2,
       RANGES = 4096, STACK = 16 };
typedef unsigned long long address;

static struct device {
    int users, lost;
    size_t used;
} device[DEVICES];
static __thread struct device *stack[STACK];
static __thread int depth;

static struct piece { /* reserved addresses, or an allocation */
    address at;
    size_t len;
    unsigned char *mapped; /* by grain; NULL: an allocation */
    struct device *on;
} piece[RANGES];

static size_t memory(void)
{
    const char *v = getenv("GPU_STAND_IN");
    return (size_t)(v ? atoi(v) : 2048) << 20;
}

static struct device *current(void)
{
    MUST(depth > 0 && stack[depth - 1] && stack[depth - 1]->users > 0);
    return stack[depth - 1];
}
#define LIVE                                                                                       \
    struct device *d = current();                                                                  \
    if (d->lost)                                                                                   \
    return LAUNCH_FAILED

static struct piece *piece_of(address at, size_t len)
{
    for (int i = 0; i < RANGES; i++)
        if (piece[i].len && at >= piece[i].at && at + len <= piece[i].at + piece[i].len)
            return &piece[i];
    return NULL;
}

/* Device memory that copies and kernels may touch. */
static void *memory_at(address at, size_t len)
{
    struct piece *p = piece_of(at, len ? len : 1);
    MUST(p);
    for (address g = at; p->mapped && g < at + len; g = (g / GRAIN + 1) * GRAIN)
        MUST(p->mapped[(g - p->at) / GRAIN] == 2);
    return (void *)(uintptr_t)at;
}

static address piece_new(size_t len, int maps)
{
    int i = 0;
    while (i < RANGES && piece[i].len)
        i++;
    MUST(i < RANGES);
    char *p = mmap(NULL, len + GRAIN, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(p != MAP_FAILED);
    piece[i] = (struct piece){((uintptr_t)p + GRAIN - 1) / GRAIN * GRAIN, len,
                              maps ? calloc(len / GRAIN + 1, 1) : NULL, current()};
    return piece[i].at;
}

/* --- devices, contexts ---- */
CALL int cuInit(unsigned flags) { return flags ? INVALID : OK; }
CALL int cuDeviceGetCount(int *n) { return *n = DEVICES, OK; }
CALL int cuDeviceGet(int *d, int i) { return *d = i, i >= 0 && i < DEVICES ? OK : INVALID; }
CALL int cuDeviceGetName(char *text, int len, int d)
{
    return snprintf(text, (size_t)len, "stand-in device %d", d), OK;
}
CALL int cuDevicePrimaryCtxRetain(void **c, int d)
{
    device[d].users++;
    return *c = &device[d], OK;
}
CALL int cuDevicePrimaryCtxRelease_v2(int d)
{
    MUST(device[d].users > 0);
    return device[d].users--, OK;
}
CALL int cuCtxPushCurrent_v2(void *c)
{
    MUST(depth < STACK);
    return stack[depth++] = c, OK;
}
CALL int cuCtxPopCurrent_v2(void **c)
{
    MUST(depth > 0);
    return *c = stack[--depth], OK;
}
CALL int cuCtxSetCurrent(void *c)
{
    depth += !depth;
    return stack[depth - 1] = c, OK;
}
CALL int cuGetErrorString(int r, const char **text)
{
    *text = r == NO_MEMORY ? "out of memory" : r == LAUNCH_FAILED ? "unspecified launch failure"
                                                                  : "invalid argument";
    return OK;
}

/* --- memory ---- */
CALL int cuMemGetInfo_v2(size_t *left, size_t *all)
{
    LIVE;
    *all = memory();
    return *left = memory() - d->used, OK;
}
CALL int cuMemGetAllocationGranularity(size_t *g, const void *prop, int which)
{
    MUST(prop && !which);
    return *g = GRAIN, OK;
}
CALL int cuMemAddressReserve(address *at, size_t len, size_t align, address want,
                             unsigned long long flags)
{
    LIVE;
    MUST(len && len % GRAIN == 0 && !align && !want && !flags);
    return *at = piece_new(len, 1), OK;
}
CALL int cuMemAddressFree(address at, size_t len)
{
    struct piece *p = piece_of(at, len);
    MUST(p && p->at == at && p->len == len && p->mapped);
    for (size_t g = 0; g < len / GRAIN; g++)
        MUST(!p->mapped[g]);
    free(p->mapped);
    p->len = 0;
    return OK;
}
CALL int cuMemCreate(address *handle, size_t len, const void *prop, unsigned long long flags)
{
    LIVE;
    MUST(prop && !flags && len == GRAIN);
    if (d->used + len > memory())
        return NO_MEMORY;
    d->used += len;
    return *handle = (address)(uintptr_t)d, OK;
}
CALL int cuMemRelease(address handle)
{
    struct device *d = (struct device *)(uintptr_t)handle;
    MUST(d >= device && d < device + DEVICES && d->used >= GRAIN);
    return d->used -= GRAIN, OK;
}
CALL int cuMemMap(address at, size_t len, size_t off, address handle, unsigned long long flags)
{
    LIVE;
    struct piece *p = piece_of(at, len);
    MUST(p && p->mapped && len == GRAIN && !off && handle && !flags &&
         !p->mapped[(at - p->at) / GRAIN]);
    return p->mapped[(at - p->at) / GRAIN] = 1, OK;
}
CALL int cuMemSetAccess(address at, size_t len, const void *access, size_t n)
{
    LIVE;
    struct piece *p = piece_of(at, len);
    MUST(p && p->mapped && access && n == 1 && p->mapped[(at - p->at) / GRAIN] == 1);
    memset((void *)(uintptr_t)at, 0xDB, len);
    return p->mapped[(at - p->at) / GRAIN] = 2, OK;
}
CALL int cuMemUnmap(address at, size_t len)
{
    struct piece *p = piece_of(at, len);
    MUST(p && p->mapped && len == GRAIN && p->mapped[(at - p->at) / GRAIN]);
    memset((void *)(uintptr_t)at, 0xDD, len);
    return p->mapped[(at - p->at) / GRAIN] = 0, OK;
}
CALL int cuMemAlloc_v2(address *at, size_t len)
{
    LIVE;
    if (d->used + len > memory())
        return NO_MEMORY;
    d->used += len;
    return *at = piece_new(len, 0), OK;
}
CALL int cuMemFree_v2(address at)
{
    struct piece *p = piece_of(at, 1);
    MUST(p && p->at == at && !p->mapped);
    current()->used -= p->len;
    return p->len = 0, OK;
}
CALL int cuMemHostRegister_v2(void *host, size_t len, unsigned flags)
{
    LIVE;
    MUST(host && len && !flags);
    return OK;
}
CALL int cuMemHostUnregister(void *host)
{
    MUST(host);
    return OK;
}

/* --- streams, events, copies: all is done at the call ---- */
static int streams, events;
CALL int cuStreamCreate(void **s, unsigned flags)
{
    LIVE;
    MUST(flags <= 1);
    return *s = &streams, streams++, OK;
}
CALL int cuStreamDestroy_v2(void *s) { MUST(s == &streams); return streams--, OK; }
CALL int cuStreamSynchronize(void *s) { LIVE; MUST(!s || s == &streams); return OK; }
CALL int cuStreamWaitEvent(void *s, void *e, unsigned flags)
{
    LIVE;
    MUST((!s || s == &streams) && e && !flags);
    return OK;
}
CALL int cuEventCreate(void **e, unsigned flags)
{
    LIVE;
    MUST(flags == 2);
    return *e = malloc(1), events++, OK;
}
CALL int cuEventDestroy_v2(void *e) { MUST(e && events > 0); free(e); return events--, OK; }
CALL int cuEventRecord(void *e, void *s) { LIVE; MUST(e && (!s || s == &streams)); return OK; }
CALL int cuEventQuery(void *e) { LIVE; MUST(e); return OK; }
CALL int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t len, void *s)
{
    LIVE;
    MUST(!s || s == &streams);
    return memcpy(memory_at(to, len), from, len), OK;
}
CALL int cuMemcpyDtoHAsync_v2(void *to, address from, size_t len, void *s)
{
    LIVE;
    MUST(!s || s == &streams);
    return memcpy(to, memory_at(from, len), len), OK;
}
/* Memory type (2), whether it is managed (8), device (9). The driver knows no pageable memory. */
CALL int cuPointerGetAttribute(void *data, int which, address at)
{
    struct piece *p = piece_of(at, 1);
    current();
    MUST(data && (which == 2 || which == 8 || which == 9));
    if (!p)
        return INVALID;
    return *(int *)data = which == 2 ? 2 : which == 8 ? 0 : (int)(p->on - device), OK;
}
CALL int cuMemcpyPeerAsync(address to, void *tc, address from, void *fc, size_t len, void *s)
{
    LIVE;
    MUST(tc && fc && (!s || s == &streams));
    return memcpy(memory_at(to, len), memory_at(from, len), len), OK;
}

/* --- kernels of gpu.h, by name ---- */
static const char *const name[] = {"number", "add", "slow", "fault", "relax", "multiply"};
enum { NUMBER, ADD, SLOW, FAULT, RELAX, MULTIPLY, KERNELS };
CALL int cuModuleLoadData(void **m, const void *text)
{
    LIVE;
    for (int k = 0; k < KERNELS; k++)
        MUST(strstr(text, name[k]));
    return *m = (void *)name, OK;
}
CALL int cuModuleGetFunction(void **f, void *m, const char *want)
{
    LIVE;
    MUST(m == name);
    for (int k = 0; k < KERNELS; k++)
        if (!strcmp(name[k], want))
            return *f = (void *)&name[k], OK;
    return INVALID;
}

#define PTR(i, n) memory_at(*(address *)param[i], (size_t)(n) * 8)
#define NUM(i) (*(int *)param[i])
#define LONG(i) (*(long long *)param[i])

static void one_long(int kernel, void **param)
{
    int n = NUM(2);
    long long *p = PTR(0, n);
    for (int i = 0; i < n; i++)
        p[i] = kernel == NUMBER ? LONG(1) + i : kernel == ADD ? p[i] + LONG(1) : LONG(1);
}

static void relax(void **param)
{
    int nx = NUM(2), pitch = NUM(3), n = NUM(4);
    const double *old = PTR(0, (n + 1) * pitch + nx);
    double *new = PTR(1, (n - 1) * pitch + nx);
    for (int i = 0; i < nx * n; i++) {
        int x = i % nx, at = i / nx * pitch + x;
        const double *c = old + at + pitch;
        new[at] = x == 0 || x == nx - 1 ? *c : 0.25 * (c[-1] + c[1] + c[-pitch] + c[pitch]);
    }
}

static void multiply(void **param)
{
    int size = NUM(3);
    const double *a = PTR(0, size * size), *b = PTR(1, size * size);
    double *c = PTR(2, size * size);
    for (int i = 0; i < size * size; i++) {
        double sum = NUM(4) ? 0 : c[i];
        for (int k = 0; k < size; k++)
            sum += a[i / size * size + k] * b[k * size + i % size];
        c[i] = sum;
    }
}

CALL int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, void *s, void **param, void **extra)
{
    LIVE;
    int k = (int)((const char **)f - (const char **)name);
    MUST(k >= 0 && k < KERNELS && gx && gy == 1 && gz == 1 && bx && by == 1 && bz == 1);
    MUST(!shared && !extra && (!s || s == &streams));
    if (k == FAULT)
        d->lost = 1;
    else if (k == RELAX)
        relax(param);
    else if (k == MULTIPLY)
        multiply(param);
    else
        one_long(k, param);
    return OK;
}
