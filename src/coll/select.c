/* select.c - which algorithm a collective uses: a table by bytes and processes, and
 * MPIR_CVAR_COLL_ALGORITHMS. */
#include "coll/select.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "var/var.h"

struct row {
    enum coll_family family;
    size_t bytes; /* up to and including */
    int procs;    /* up to and including */
    enum coll_algorithm algorithm;
};

/* The first row that fits is taken. Thresholds: measurements on one node (doc/design/coll.md). */
static const struct row table[] = {
    {FAM_BARRIER, SIZE_MAX, 1 << 30, ALG_DISSEMINATION},
    {FAM_BCAST, SIZE_MAX, 3, ALG_BINOMIAL},
    {FAM_BCAST, 131072, 1 << 30, ALG_BINOMIAL},
    {FAM_BCAST, SIZE_MAX, 1 << 30, ALG_SCATTER_RING},
    {FAM_REDUCE, 65536, 1 << 30, ALG_BINOMIAL},
    {FAM_REDUCE, SIZE_MAX, 2, ALG_BINOMIAL},
    {FAM_REDUCE, SIZE_MAX, 1 << 30, ALG_SCATTER_RING},
    {FAM_ALLREDUCE, 32768, 1 << 30, ALG_DOUBLING},
    {FAM_ALLREDUCE, SIZE_MAX, 1 << 30, ALG_RING},
    {FAM_GATHER, SIZE_MAX, 8, ALG_LINEAR},
    {FAM_GATHER, 2048, 1 << 30, ALG_BINOMIAL},
    {FAM_GATHER, SIZE_MAX, 1 << 30, ALG_LINEAR},
    {FAM_SCATTER, SIZE_MAX, 8, ALG_LINEAR},
    {FAM_SCATTER, 2048, 1 << 30, ALG_BINOMIAL},
    {FAM_SCATTER, SIZE_MAX, 1 << 30, ALG_LINEAR},
    {FAM_ALLGATHER, 4096, 1 << 30, ALG_BRUCK},
    {FAM_ALLGATHER, SIZE_MAX, 1 << 30, ALG_RING},
    {FAM_ALLTOALL, 256, 8, ALG_LINEAR},
    {FAM_ALLTOALL, 256, 1 << 30, ALG_BRUCK},
    {FAM_ALLTOALL, SIZE_MAX, 1 << 30, ALG_LINEAR},
    {FAM_REDUCE_SCATTER, 4096, 1 << 30, ALG_BINOMIAL},
    {FAM_REDUCE_SCATTER, SIZE_MAX, 1 << 30, ALG_PAIRWISE},
};

static const char *const families[FAM_COUNT] = {
    [FAM_BCAST] = "bcast",         [FAM_REDUCE] = "reduce",
    [FAM_ALLREDUCE] = "allreduce", [FAM_GATHER] = "gather",
    [FAM_SCATTER] = "scatter",     [FAM_ALLGATHER] = "allgather",
    [FAM_ALLTOALL] = "alltoall",   [FAM_REDUCE_SCATTER] = "reduce_scatter",
    [FAM_BARRIER] = "barrier"};

static const char *const algorithms[ALG_COUNT] = {
    [ALG_BINOMIAL] = "binomial", [ALG_SCATTER_RING] = "scatter_ring",
    [ALG_DOUBLING] = "doubling", [ALG_RING] = "ring",
    [ALG_BRUCK] = "bruck",       [ALG_LINEAR] = "linear",
    [ALG_PAIRWISE] = "pairwise", [ALG_DISSEMINATION] = "dissemination"};

static int has_row(enum coll_family f, enum coll_algorithm a)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].family == f && table[i].algorithm == a)
            return 1;
    return 0;
}

static int index_of(const char *const *names, int n, const char *s, size_t len)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == len && strncmp(names[i], s, len) == 0)
            return i;
    return -1;
}

/* Next "family=algorithm" of the text; NULL at the end.  *f or *a -1: unknown. */
static const char *next_choice(const char *s, int *f, int *a)
{
    s += strspn(s, ", ");
    if (!*s)
        return NULL;
    size_t len = strcspn(s, ", "), name = strcspn(s, "=, ");
    *f = index_of(families, FAM_COUNT, s, name);
    *a = name < len ? index_of(algorithms, ALG_COUNT, s + name + 1, len - name - 1) : -1;
    return s + len;
}

int coll_select_check(char *msg, size_t len)
{
    int f, a;
    for (const char *s = cvar.coll_algorithms; s && (s = next_choice(s, &f, &a));)
        if (f < 0 || a < 0 || !has_row((enum coll_family)f, (enum coll_algorithm)a)) {
            snprintf(msg, len, "MPIR_CVAR_COLL_ALGORITHMS=\"%s\": no such collective or algorithm",
                     cvar.coll_algorithms);
            return -EINVAL;
        }
    return 0;
}

enum coll_algorithm coll_select(enum coll_family family, size_t bytes, int procs)
{
    int f, a;
    if (cvar.coll_algorithms && *cvar.coll_algorithms)
        for (const char *s = cvar.coll_algorithms; (s = next_choice(s, &f, &a));)
            if (f == (int)family && a >= 0)
                return (enum coll_algorithm)a;
    for (size_t i = 0;; i++)
        if (table[i].family == family && bytes <= table[i].bytes && procs <= table[i].procs)
            return table[i].algorithm;
}
