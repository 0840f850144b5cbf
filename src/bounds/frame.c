/* frame.c - frames of the calling thread's stack. Start with bounds_frame_find().
 *
 * An object lies in one frame. Between two frames is the return address, so what goes on over it is
 * no object. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include "bounds/bounds_types.h"

#if defined(__x86_64__)
enum { RETURN_ADDRESS = 8 }; /* the caller's frame begins behind it */
#else
enum { RETURN_ADDRESS = 0 };
#endif
enum { STACK_MAX = 1 << 30 };

typedef _Unwind_Reason_Code backtrace_fn(_Unwind_Trace_Fn look, void *arg);
typedef _Unwind_Word cfa_fn(struct _Unwind_Context *c);

void bounds_frames_init(struct bounds_frames *f)
{
    uint64_t lo;
    void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);
    if (!bounds_area_named("[stack]", &lo, &f->top))
        f->top = 0;
    f->backtrace = library ? dlsym(library, "_Unwind_Backtrace") : NULL;
    f->cfa = library ? dlsym(library, "_Unwind_GetCFA") : NULL;
}

/* Is `at` above `here` on the stack of the calling thread? */
static int is_above(const struct bounds_frames *f, uint64_t here, uint64_t at)
{
    pthread_attr_t attr;
    void *lo;
    size_t size;
    if (at < here || at - here > STACK_MAX)
        return 0;
    if (here < f->top && f->top - here < STACK_MAX)
        return at < f->top;
    if (pthread_getattr_np(pthread_self(), &attr))
        return 0;
    int has = !pthread_attr_getstack(&attr, &lo, &size);
    pthread_attr_destroy(&attr);
    uint64_t begin = (uint64_t)(uintptr_t)lo;
    return has && here >= begin && here < begin + size && at < begin + size;
}

struct search {
    cfa_fn *cfa;
    uint64_t at, last, end;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *c, void *arg)
{
    struct search *s = arg;
    uint64_t begin = s->cfa(c); /* of the frame of c */
    if (begin < s->last)        /* on another stack */
        return _URC_NORMAL_STOP;
    s->last = begin;
    if (begin <= s->at)
        return _URC_NO_REASON;
    if (s->at < begin - RETURN_ADDRESS)
        s->end = begin - RETURN_ADDRESS;
    return _URC_NORMAL_STOP;
}

void bounds_frame_find(struct bounds_frames *f, uint64_t at, uint64_t end,
                       struct bounds_object *o)
{
    struct search s = {(cfa_fn *)f->cfa, at, 0, 0};
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    unsigned i = (unsigned)(at / 4 + here / 16) % FRAME_CACHE;
    o->kind = BOUNDS_UNKNOWN;
    int hit = f->cache[i].at == at && f->cache[i].here == here && f->cache[i].end >= end;
    if (!f->backtrace || !f->cfa || (!hit && !is_above(f, here, at)))
        return;
    if (hit)
        s.end = f->cache[i].end;
    else
        ((backtrace_fn *)f->backtrace)(look, &s);
    if (!s.end)
        return;
    f->cache[i].at = at;
    f->cache[i].here = here;
    f->cache[i].end = s.end;
    *o = (struct bounds_object){.kind = BOUNDS_FRAME, .at = at, .end = s.end};
}
