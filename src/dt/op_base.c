/* op_base.c - reduction loops for every processor of the architecture. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("tree-vectorize", "vect-cost-model=dynamic")
#endif
#define KERNEL_TARGET
#define KERNEL_TABLE kernel_table_base
#include "dt/op_kernels.h"
