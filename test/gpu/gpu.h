/* gpu.h - kernels for CUDA devices in tests and examples: PTX text, loaded by the driver, so that
 * no toolkit is needed.  Start at gpu_open().
 *
 * All kernels are one-dimensional: thread i does element i. */
#ifndef TEST_GPU_H
#define TEST_GPU_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU_IDX                                                                                    \
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"                  \
    "  mad.lo.s32 %r0, %r1, %r2, %r3;\n"
#define GPU_REGS                                                                                   \
    "  .reg .pred %p<8>;\n  .reg .s32 %r<20>;\n  .reg .s64 %d<20>;\n  .reg .f64 %f<12>;\n"
static const char gpu_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    /* p[i] = from + i */
    ".visible .entry number(.param .u64 p, .param .u64 from, .param .u32 n) {\n" GPU_REGS GPU_IDX
    "  ld.param.u32 %r4, [n];\n  setp.ge.s32 %p1, %r0, %r4;\n  @%p1 ret;\n"
    "  ld.param.u64 %d1, [p];\n  ld.param.u64 %d2, [from];\n"
    "  mul.wide.s32 %d3, %r0, 8;\n  add.s64 %d1, %d1, %d3;\n"
    "  cvt.s64.s32 %d4, %r0;\n  add.s64 %d2, %d2, %d4;\n  st.global.u64 [%d1], %d2;\n  ret;\n}\n"
    /* p[i] += by */
    ".visible .entry add(.param .u64 p, .param .u64 by, .param .u32 n) {\n" GPU_REGS GPU_IDX
    "  ld.param.u32 %r4, [n];\n  setp.ge.s32 %p1, %r0, %r4;\n  @%p1 ret;\n"
    "  ld.param.u64 %d1, [p];\n  ld.param.u64 %d2, [by];\n"
    "  mul.wide.s32 %d3, %r0, 8;\n  add.s64 %d1, %d1, %d3;\n"
    "  ld.global.u64 %d4, [%d1];\n  add.s64 %d4, %d4, %d2;\n  st.global.u64 [%d1], %d4;\n"
    "  ret;\n}\n"
    /* p[i] = v, after `ns` nanoseconds */
    ".visible .entry slow(.param .u64 p, .param .u64 v, .param .u32 n, .param .u64 ns) {\n"
    GPU_REGS GPU_IDX
    "  ld.param.u32 %r4, [n];\n  setp.ge.s32 %p1, %r0, %r4;\n  @%p1 ret;\n"
    "  ld.param.u64 %d1, [p];\n  ld.param.u64 %d2, [v];\n  ld.param.u64 %d5, [ns];\n"
    "  mov.u64 %d6, %globaltimer;\n"
    "again:\n  mov.u64 %d7, %globaltimer;\n  sub.s64 %d8, %d7, %d6;\n"
    "  setp.lt.s64 %p2, %d8, %d5;\n  @%p2 bra again;\n"
    "  mul.wide.s32 %d3, %r0, 8;\n  add.s64 %d1, %d1, %d3;\n  st.global.u64 [%d1], %d2;\n"
    "  ret;\n}\n"
    /* a store to address 8 */
    ".visible .entry fault() {\n  .reg .s64 %d<3>;\n  mov.u64 %d1, 8;\n"
    "  st.global.u64 [%d1], %d1;\n  ret;\n}\n"
    /* jacobi.c: relax(); i = (y - 1) * nx + x */
    ".visible .entry relax(.param .u64 old, .param .u64 new, .param .u32 nx, .param .u32 pitch,\n"
    "                      .param .u32 n) {\n" GPU_REGS GPU_IDX
    "  ld.param.u32 %r4, [nx];\n  ld.param.u32 %r5, [pitch];\n  ld.param.u32 %r6, [n];\n"
    "  mul.lo.s32 %r7, %r4, %r6;\n  setp.ge.s32 %p1, %r0, %r7;\n  @%p1 ret;\n"
    "  div.s32 %r8, %r0, %r4;\n  rem.s32 %r9, %r0, %r4;\n"          /* y - 1, x */
    "  mad.lo.s32 %r10, %r8, %r5, %r9;\n  add.s32 %r11, %r10, %r5;\n" /* to; c in old */
    "  ld.param.u64 %d1, [old];\n  ld.param.u64 %d2, [new];\n"
    "  mul.wide.s32 %d3, %r10, 8;\n  add.s64 %d2, %d2, %d3;\n"
    "  mul.wide.s32 %d4, %r11, 8;\n  add.s64 %d1, %d1, %d4;\n"
    "  sub.s32 %r12, %r4, 1;\n  setp.eq.s32 %p2, %r9, 0;\n  setp.eq.s32 %p3, %r9, %r12;\n"
    "  or.pred %p4, %p2, %p3;\n  @%p4 bra edge;\n"
    "  mul.wide.s32 %d5, %r5, 8;\n  sub.s64 %d6, %d1, %d5;\n  add.s64 %d7, %d1, %d5;\n"
    "  ld.global.f64 %f1, [%d1+-8];\n  ld.global.f64 %f2, [%d1+8];\n"
    "  ld.global.f64 %f3, [%d6];\n  ld.global.f64 %f4, [%d7];\n"
    "  add.rn.f64 %f5, %f1, %f2;\n  add.rn.f64 %f5, %f5, %f3;\n  add.rn.f64 %f5, %f5, %f4;\n"
    "  mul.rn.f64 %f5, %f5, 0d3FD0000000000000;\n  st.global.f64 [%d2], %f5;\n  ret;\n"
    "edge:\n  ld.global.f64 %f1, [%d1];\n  st.global.f64 [%d2], %f1;\n  ret;\n}\n"
    /* gemm.c: multiply(); i = row * size + column */
    ".visible .entry multiply(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 size,\n"
    "                         .param .u32 first) {\n" GPU_REGS GPU_IDX
    "  ld.param.u32 %r4, [size];\n  ld.param.u32 %r5, [first];\n"
    "  mul.lo.s32 %r6, %r4, %r4;\n  setp.ge.s32 %p1, %r0, %r6;\n  @%p1 ret;\n"
    "  div.s32 %r7, %r0, %r4;\n  rem.s32 %r8, %r0, %r4;\n"
    "  ld.param.u64 %d1, [a];\n  ld.param.u64 %d2, [b];\n  ld.param.u64 %d3, [c];\n"
    "  mul.lo.s32 %r9, %r7, %r4;\n  mul.wide.s32 %d4, %r9, 8;\n  add.s64 %d1, %d1, %d4;\n"
    "  mul.wide.s32 %d5, %r8, 8;\n  add.s64 %d2, %d2, %d5;\n"
    "  mul.wide.s32 %d6, %r0, 8;\n  add.s64 %d3, %d3, %d6;\n  mul.wide.s32 %d7, %r4, 8;\n"
    "  mov.f64 %f1, 0d0000000000000000;\n  setp.ne.s32 %p2, %r5, 0;\n  @%p2 bra begin;\n"
    "  ld.global.f64 %f1, [%d3];\n"
    "begin:\n  mov.u32 %r10, 0;\n"
    "next:\n  ld.global.f64 %f2, [%d1];\n  ld.global.f64 %f3, [%d2];\n"
    "  mul.rn.f64 %f4, %f2, %f3;\n  add.rn.f64 %f1, %f1, %f4;\n"
    "  add.s64 %d1, %d1, 8;\n  add.s64 %d2, %d2, %d7;\n  add.s32 %r10, %r10, 1;\n"
    "  setp.lt.s32 %p3, %r10, %r4;\n  @%p3 bra next;\n  st.global.f64 [%d3], %f1;\n  ret;\n}\n";

#define GPU_CALLS(C)                                                                               \
    C(init, "cuInit", (unsigned))                                                                  \
    C(get, "cuDeviceGet", (int *, int))                                                            \
    C(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                          \
    C(current, "cuCtxSetCurrent", (void *))                                                        \
    C(load, "cuModuleLoadData", (void **, const void *))                                           \
    C(function, "cuModuleGetFunction", (void **, void *, const char *))                            \
    C(launch, "cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                                 unsigned, unsigned, void *, void **, void **))                    \
    C(stream, "cuStreamCreate", (void **, unsigned))                                               \
    C(sync, "cuStreamSynchronize", (void *))                                                       \
    C(info, "cuMemGetInfo_v2", (size_t *, size_t *))                                               \
    C(alloc, "cuMemAlloc_v2", (unsigned long long *, size_t))                                      \
    C(free, "cuMemFree_v2", (unsigned long long))                                                  \
    C(pin, "cuMemHostRegister_v2", (void *, size_t, unsigned))                                     \
    C(unpin, "cuMemHostUnregister", (void *))                                                      \
    C(in, "cuMemcpyHtoDAsync_v2", (unsigned long long, const void *, size_t, void *))              \
    C(error, "cuGetErrorString", (int, const char **))

static struct gpu_driver {
    void *module, *context;
#define C(field, name, args) int(*field) args;
    GPU_CALLS(C)
#undef C
} gpu;

/* "cuda:I": 1, and its context is current; else 0. */
static inline int gpu_open(const char *space)
{
    void *lib;
    int device, missing = 0;

    if (strncmp(space, "cuda:", 5))
        return 0;
    if (gpu.module)
        return 1;
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib)
        return 0;
#define C(field, name, args)                                                                       \
    *(void **)&gpu.field = dlsym(lib, name);                                                       \
    missing |= !gpu.field;
    GPU_CALLS(C)
#undef C
    return !missing && !gpu.init(0) && !gpu.get(&device, atoi(space + 5)) &&
           !gpu.retain(&gpu.context, device) && !gpu.current(gpu.context) &&
           !gpu.load(&gpu.module, gpu_ptx);
}

/* A kernel of n threads in a stream (NULL: the default one): the driver's result. */
static inline int gpu_launch(const char *kernel, void *stream, unsigned n, void **param)
{
    enum { BLOCK = 128 };
    void *f;
    int err = gpu.function(&f, gpu.module, kernel);

    return err ? err : gpu.launch(f, (n + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, param,
                                  NULL);
}

static inline int gpu_wait(void *stream)
{
    return gpu.sync(stream);
}

#endif
