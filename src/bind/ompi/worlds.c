/* worlds.c - two MPI libraries in one search order. The first function of a name serves all
 * that ask for it, so handles of one library would come to the other. That is an error when this
 * library is loaded. Two that cannot see each other (dlopen without RTLD_GLOBAL) may live
 * together. */
#include <dlfcn.h>

#include "base/log.h"

/* The name of each MPI library, and of no profiler. */
static const char name[] = "PMPI_Init";

static void expect(const Dl_info *own, const void *function)
{
    Dl_info other;
    if (function && dladdr(function, &other) && other.dli_fbase != own->dli_fbase)
        log_fatal("two MPI libraries are in this process, %s and %s (Open MPI's interface): "
                  "programs and libraries that were built for different ones cannot run together",
                  other.dli_fname, own->dli_fname);
}

__attribute__((constructor)) static void only_one(void)
{
    Dl_info own;
    if (!dladdr(name, &own))
        return;
    expect(&own, dlsym(RTLD_DEFAULT, name)); /* before this one */
    expect(&own, dlsym(RTLD_NEXT, name));    /* behind it */
}
