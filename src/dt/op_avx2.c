/* op_avx2.c - reduction loops for x86-64 processors with AVX2, chosen at run time. */
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("tree-vectorize", "vect-cost-model=dynamic")
#endif
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_TABLE kernel_table_avx2
#include "dt/op_kernels.h"
#else
enum { OP_AVX2_EMPTY }; /* a translation unit must not be empty */
#endif
