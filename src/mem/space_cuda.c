/* space_cuda.c - CUDA devices, by the driver's library alone: it is opened when the first window
 * names such a device, and no toolkit is needed to build.  This file has never run on a GPU
 * (doc/limits.md), only with a stand-in driver; maint/gpu-check runs it on one.  Start with
 * cuda_open().
 *
 * The primary context is pushed and popped around each call.  Memory is mapped grain by grain into
 * one reserved range, so eviction gives grains back while pointers stay contiguous.  Copies run on
 * a stream of ours; a mark is the ticket of a recorded event, and an unknown ticket is done. */
#include "mem/space_types.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the driver's interface, as far as it is used --------------------------------------------- */
typedef int cu_result;
typedef int cu_device;
typedef void *cu_context, *cu_stream, *cu_event;
typedef unsigned long long cu_address, cu_handle;
enum {
    CU_OK = 0, CU_NO_MEMORY = 2, CU_NOT_READY = 600, CU_STICKY = 700, CU_STICKY_END = 720,
    CU_ECC = 214, CU_PINNED = 1, CU_DEVICE = 1, CU_READWRITE = 3, CU_NON_BLOCKING = 1,
    CU_EVENT_NO_TIME = 2, CU_POINTER_TYPE = 2, CU_POINTER_MANAGED = 8, CU_POINTER_DEVICE = 9,
    CU_TYPE_DEVICE = 2
};
struct cu_location {
    int type, id;
};
struct cu_prop { /* CUmemAllocationProp */
    int type, handle_types;
    struct cu_location location;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
struct cu_access { /* CUmemAccessDesc */
    struct cu_location location;
    int flags;
};
_Static_assert(sizeof(struct cu_prop) == 32 && sizeof(struct cu_access) == 12, "the driver's ABI");

#define CUDA_CALLS(C)                                                                              \
    C(init, "cuInit", (unsigned))                                                                  \
    C(device_count, "cuDeviceGetCount", (int *))                                                   \
    C(device_get, "cuDeviceGet", (cu_device *, int))                                               \
    C(device_name, "cuDeviceGetName", (char *, int, cu_device))                                    \
    C(retain, "cuDevicePrimaryCtxRetain", (cu_context *, cu_device))                               \
    C(release, "cuDevicePrimaryCtxRelease_v2", (cu_device))                                        \
    C(push, "cuCtxPushCurrent_v2", (cu_context))                                                   \
    C(pop, "cuCtxPopCurrent_v2", (cu_context *))                                                   \
    C(mem_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                           \
    C(grain, "cuMemGetAllocationGranularity", (size_t *, const struct cu_prop *, int))             \
    C(reserve, "cuMemAddressReserve", (cu_address *, size_t, size_t, cu_address,                   \
                                       unsigned long long))                                        \
    C(unreserve, "cuMemAddressFree", (cu_address, size_t))                                         \
    C(create, "cuMemCreate", (cu_handle *, size_t, const struct cu_prop *, unsigned long long))    \
    C(mem_release, "cuMemRelease", (cu_handle))                                                    \
    C(map, "cuMemMap", (cu_address, size_t, size_t, cu_handle, unsigned long long))                \
    C(unmap, "cuMemUnmap", (cu_address, size_t))                                                   \
    C(access, "cuMemSetAccess", (cu_address, size_t, const struct cu_access *, size_t))            \
    C(pin, "cuMemHostRegister_v2", (void *, size_t, unsigned))                                     \
    C(unpin, "cuMemHostUnregister", (void *))                                                      \
    C(stream_create, "cuStreamCreate", (cu_stream *, unsigned))                                    \
    C(stream_destroy, "cuStreamDestroy_v2", (cu_stream))                                           \
    C(stream_sync, "cuStreamSynchronize", (cu_stream))                                             \
    C(stream_wait, "cuStreamWaitEvent", (cu_stream, cu_event, unsigned))                           \
    C(event_create, "cuEventCreate", (cu_event *, unsigned))                                       \
    C(event_destroy, "cuEventDestroy_v2", (cu_event))                                              \
    C(event_record, "cuEventRecord", (cu_event, cu_stream))                                        \
    C(event_query, "cuEventQuery", (cu_event))                                                     \
    C(copy_in, "cuMemcpyHtoDAsync_v2", (cu_address, const void *, size_t, cu_stream))              \
    C(copy_out, "cuMemcpyDtoHAsync_v2", (void *, cu_address, size_t, cu_stream))                   \
    C(copy_across, "cuMemcpyPeerAsync", (cu_address, cu_context, cu_address, cu_context, size_t,   \
                                         cu_stream))                                               \
    C(pointer, "cuPointerGetAttribute", (void *, int, cu_address))                                 \
    C(error_text, "cuGetErrorString", (cu_result, const char **))

struct cuda {
    int devices; /* 0: no driver or no device */
    void *library;
#define C(field, name, args) cu_result(*field) args;
    CUDA_CALLS(C)
#undef C
};

struct event {
    uint64_t ticket;
    cu_event event;
    struct event *next;
};
struct range {
    uint64_t addr;
    size_t len;
    cu_handle *handle; /* of each grain; 0: not committed */
    struct range *next;
};
struct gpu {
    struct space space;
    const struct cuda *cu;
    cu_device device;
    cu_context context;
    cu_stream stream;
    uint64_t tickets;
    struct event *events;
    struct range *ranges;
    struct cu_prop prop;
    size_t grain;
    char error[120];
};

static struct gpu *gpu_of(struct space *s)
{
    return (struct gpu *)s;
}

/* Look for the driver, once. NULL: no memory for the record. */
static const struct cuda *driver(void)
{
    struct spaces *all = space_self();
    if (!all || all->cuda)
        return all ? all->cuda : NULL;
    struct cuda *cu = all->cuda = calloc(1, sizeof *cu);
    if (!cu)
        return NULL;
    cu->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cu->library)
        return cu;
    int missing = 0;
#define C(field, name, args)                                                                       \
    *(void **)&cu->field = dlsym(cu->library, name);                                               \
    missing |= !cu->field;
    CUDA_CALLS(C)
#undef C
    if (missing || cu->init(0) || cu->device_count(&cu->devices))
        cu->devices = 0;
    return cu;
}

static int cuda_count(void)
{
    const struct cuda *cu = driver();
    return cu ? cu->devices : 0;
}

/* 0 or -errno of a result; keeps its words. */
static int result(struct gpu *g, cu_result r)
{
    const char *text = NULL;
    if (r == CU_OK)
        return 0;
    g->cu->error_text(r, &text);
    snprintf(g->error, sizeof g->error, "CUDA error %d: %.90s", r, text ? text : "unknown");
    if ((r >= CU_STICKY && r < CU_STICKY_END) || r == CU_ECC)
        g->space.lost = 1;
    return r == CU_NO_MEMORY ? -ENOMEM : -EIO;
}

static int enter(struct gpu *g)
{
    return result(g, g->cu->push(g->context));
}

static int leave(struct gpu *g, int err)
{
    cu_context was;
    g->cu->pop(&was);
    return err;
}

static int cuda_open(int index, struct space **s, struct space_caps *caps)
{
    const struct cuda *cu = driver();
    size_t all = 0;
    struct gpu *g = cu && index < cu->devices ? calloc(1, sizeof *g) : NULL;
    if (!g)
        return cu && index < cu->devices ? -ENOMEM : -ENODEV;
    g->cu = cu;
    g->prop = (struct cu_prop){.type = CU_PINNED, .location = {CU_DEVICE, 0}};
    int err = result(g, cu->device_get(&g->device, index));
    g->prop.location.id = g->device;
    if (!err)
        err = result(g, cu->retain(&g->context, g->device));
    if (err || enter(g)) {
        free(g);
        return err ? err : -EIO;
    }
    *caps = (struct space_caps){.flags = SPACE_PEER};
    err = result(g, cu->mem_info(&caps->bytes, &all));
    if (!err)
        err = result(g, cu->grain(&g->grain, &g->prop, 0));
    if (!err)
        err = result(g, cu->stream_create(&g->stream, CU_NON_BLOCKING));
    leave(g, 0);
    caps->grain = g->grain;
    if (err) {
        cu->release(g->device);
        free(g);
        return err;
    }
    *s = &g->space;
    return 0;
}

static void cuda_unreserve(struct space *s, uint64_t addr, size_t len);

static void cuda_close(struct space *s)
{
    struct gpu *g = gpu_of(s);
    if (!enter(g)) {
        g->cu->stream_sync(g->stream);
        for (struct event *e = g->events, *next; e; e = next) {
            next = e->next;
            g->cu->event_destroy(e->event);
            free(e);
        }
        g->cu->stream_destroy(g->stream);
        leave(g, 0);
    }
    while (g->ranges)
        cuda_unreserve(s, g->ranges->addr, g->ranges->len);
    g->cu->release(g->device);
    free(g);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int cuda_reserve(struct space *s, size_t len, uint64_t *addr)
{
    struct gpu *g = gpu_of(s);
    struct range *r = calloc(1, sizeof *r);
    cu_address at = 0;
    if (!r || !(r->handle = calloc(len / g->grain + 1, sizeof *r->handle))) {
        free(r);
        return -ENOMEM;
    }
    int err = enter(g);
    if (!err)
        err = leave(g, result(g, g->cu->reserve(&at, len, 0, 0, 0)));
    if (err) {
        free(r->handle);
        free(r);
        return err;
    }
    *addr = r->addr = at;
    r->len = len;
    r->next = g->ranges;
    g->ranges = r;
    return 0;
}

static struct range *range_of(struct gpu *g, uint64_t addr)
{
    struct range *r = g->ranges;
    while (r && addr - r->addr >= r->len)
        r = r->next;
    return r;
}

/* In the context. */
static void grains_free(struct gpu *g, struct range *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (r->handle[i]) {
            g->cu->unmap(r->addr + i * g->grain, g->grain);
            g->cu->mem_release(r->handle[i]);
            r->handle[i] = 0;
        }
}

static void cuda_decommit(struct space *s, uint64_t addr, size_t len)
{
    struct gpu *g = gpu_of(s);
    struct range *r = range_of(g, addr);
    if (!r || enter(g))
        return;
    size_t first = (addr - r->addr) / g->grain;
    grains_free(g, r, first, first + len / g->grain);
    leave(g, 0);
}

static void cuda_unreserve(struct space *s, uint64_t addr, size_t len)
{
    struct gpu *g = gpu_of(s);
    struct range **at = &g->ranges;
    while (*at && (*at)->addr != addr)
        at = &(*at)->next;
    struct range *r = *at;
    if (!r)
        return;
    *at = r->next;
    if (!enter(g)) {
        grains_free(g, r, 0, len / g->grain);
        g->cu->unreserve(addr, len);
        leave(g, 0);
    }
    free(r->handle);
    free(r);
}

/* In the context: one grain with memory. */
static int grain_make(struct gpu *g, struct range *r, size_t i)
{
    cu_address at = r->addr + i * g->grain;
    struct cu_access access = {g->prop.location, CU_READWRITE};
    cu_handle handle = 0;
    int err = result(g, g->cu->create(&handle, g->grain, &g->prop, 0));
    if (err)
        return err;
    err = result(g, g->cu->map(at, g->grain, 0, handle, 0));
    if (err) {
        g->cu->mem_release(handle);
        return err;
    }
    r->handle[i] = handle;
    return result(g, g->cu->access(at, g->grain, &access, 1));
}

static int cuda_commit(struct space *s, uint64_t addr, size_t len)
{
    struct gpu *g = gpu_of(s);
    struct range *r = range_of(g, addr);
    int err = r ? enter(g) : -EFAULT;
    if (err)
        return err;
    size_t first = (addr - r->addr) / g->grain, n = len / g->grain;
    for (size_t i = first; !err && i < first + n; i++)
        err = grain_make(g, r, i);
    if (err)
        grains_free(g, r, first, first + n);
    return leave(g, err);
}

static int cuda_pin(struct space *s, void *host, size_t len)
{
    struct gpu *g = gpu_of(s);
    int err = enter(g);
    return err ? err : leave(g, result(g, g->cu->pin(host, len, 0)));
}

static void cuda_unpin(struct space *s, void *host, size_t len)
{
    struct gpu *g = gpu_of(s);
    (void)len;
    if (enter(g))
        return;
    g->cu->unpin(host);
    leave(g, 0);
}

/* --- work ------------------------------------------------------------------------------------- */

/* In the context: a mark for all that is in the stream now. */
static int mark_make(struct gpu *g, cu_stream stream, struct space_mark *m)
{
    struct event *e = calloc(1, sizeof *e);
    int err = e ? result(g, g->cu->event_create(&e->event, CU_EVENT_NO_TIME)) : -ENOMEM;
    if (!err && (err = result(g, g->cu->event_record(e->event, stream))) != 0)
        g->cu->event_destroy(e->event);
    if (err) {
        free(e);
        return err;
    }
    e->ticket = ++g->tickets;
    e->next = g->events;
    g->events = e;
    *m = (struct space_mark){{1, e->ticket}};
    return 0;
}

static int cuda_copy(struct space *s, struct space *from, enum space_way way,
                     const struct space_run *r, unsigned n, struct space_mark *m)
{
    struct gpu *g = gpu_of(s);
    int err = enter(g);
    if (err)
        return err;
    for (unsigned i = 0; !err && i < n; i++) {
        if (way == SPACE_IN)
            err = result(g, g->cu->copy_in(r[i].dst, (const void *)(uintptr_t)r[i].src, r[i].len,
                                           g->stream));
        else if (way == SPACE_OUT)
            err = result(g, g->cu->copy_out((void *)(uintptr_t)r[i].dst, r[i].src, r[i].len,
                                            g->stream));
        else
            err = result(g, g->cu->copy_across(r[i].dst, g->context, r[i].src,
                                               gpu_of(from)->context, r[i].len, g->stream));
    }
    if (!err)
        err = mark_make(g, g->stream, m);
    if (err) /* what has begun must not write later */
        g->cu->stream_sync(g->stream);
    return leave(g, err);
}

static struct event **event_of(struct gpu *g, const struct space_mark *m)
{
    struct event **at = &g->events;
    while (*at && (*at)->ticket != m->v[1])
        at = &(*at)->next;
    return at;
}

static int cuda_done(struct space *s, const struct space_mark *m)
{
    struct gpu *g = gpu_of(s);
    struct event **at = event_of(g, m), *e = *at;
    if (g->space.lost)
        return -EIO;
    if (!m->v[0] || !e)
        return 0;
    int err = enter(g);
    if (err)
        return err;
    cu_result r = g->cu->event_query(e->event);
    if (r == CU_NOT_READY)
        return leave(g, SPACE_AGAIN);
    *at = e->next;
    g->cu->event_destroy(e->event);
    free(e);
    return leave(g, result(g, r));
}

static int cuda_before(struct space *s, void *stream, const struct space_mark *m)
{
    struct gpu *g = gpu_of(s);
    struct event *e = *event_of(g, m);
    if (!m->v[0] || !e)
        return 0;
    int err = enter(g);
    return err ? err : leave(g, result(g, g->cu->stream_wait(stream, e->event, 0)));
}

static int cuda_after(struct space *s, void *stream, struct space_mark *m)
{
    struct gpu *g = gpu_of(s);
    int err = enter(g);
    return err ? err : leave(g, mark_make(g, stream, m));
}

static int cuda_launch(struct space *s, void *stream, const struct space_job *job)
{
    (void)s;
    (void)stream;
    (void)job;
    return -ENOTSUP;
}

/* The device of an address that the host cannot reach; -1: none, or managed memory.  The driver
 * refuses addresses that it does not know, which is no error here. */
static int device_at(const struct gpu *g, uint64_t addr)
{
    unsigned type = 0, managed = 0;
    int device = -1;
    if (g->cu->pointer(&type, CU_POINTER_TYPE, addr) || type != CU_TYPE_DEVICE ||
        g->cu->pointer(&managed, CU_POINTER_MANAGED, addr) || managed ||
        g->cu->pointer(&device, CU_POINTER_DEVICE, addr))
        return -1;
    return device;
}

static int cuda_holds(struct space *s, uint64_t addr, size_t len)
{
    struct gpu *g = gpu_of(s);
    const struct range *r = range_of(g, addr);
    if (r)
        return len <= r->len - (addr - r->addr);
    if (enter(g))
        return 0;
    int held = device_at(g, addr) == g->device;
    if (held && len > 1)
        held = device_at(g, addr + len - 1) == g->device;
    return leave(g, held);
}

static void cuda_describe(struct space *s, char *text, size_t len)
{
    struct gpu *g = gpu_of(s);
    char name[64] = "";
    g->cu->device_name(name, sizeof name - 1, g->device);
    snprintf(text, len, "%s%s%s", name, *g->error ? ": " : "", g->error);
}

const struct space_ops space_cuda = {
    .name = "cuda", .count = cuda_count, .open = cuda_open, .close = cuda_close,
    .reserve = cuda_reserve, .unreserve = cuda_unreserve, .commit = cuda_commit,
    .decommit = cuda_decommit, .pin = cuda_pin, .unpin = cuda_unpin, .copy = cuda_copy,
    .done = cuda_done, .before = cuda_before, .after = cuda_after, .launch = cuda_launch,
    .holds = cuda_holds, .describe = cuda_describe,
};
