/* arrays.c - calls with an array of statuses: those that complete several requests. */
#include "bind/front/front.h"

#include <stdlib.h>

struct statuses {
    MPI_Status *v, few[16];
    int n;
};

static void statuses_begin(struct statuses *s, int n, const struct front_status *a)
{
    s->n = a && n > 0 ? n : 0;
    s->v = !a ? MPI_STATUSES_IGNORE : s->n <= 16 ? s->few : malloc((size_t)s->n * sizeof *s->v);
    for (int i = 0; s->v && i < s->n; i++)
        status_begin(&s->v[i], &a[i]);
}

static void statuses_back(struct statuses *s, struct front_status *a)
{
    for (int i = 0; s->v && i < s->n; i++)
        status_back(&a[i], &s->v[i]);
    if (a && s->v != s->few)
        free(s->v);
}

CORE(Waitall);
int custom_Waitall(int count, HANDLE requests[], struct front_status *statuses)
{
    struct ints r;
    struct statuses s;
    ints_begin(&r, count, requests);
    statuses_begin(&s, count, statuses);
    int rc = core_Waitall(count, r.v, s.v);
    ints_back(&r, requests);
    statuses_back(&s, statuses);
    return result_out(rc);
}

CORE(Testall);
int custom_Testall(int count, HANDLE requests[], int *flag, struct front_status *statuses)
{
    struct ints r;
    struct statuses s;
    ints_begin(&r, count, requests);
    statuses_begin(&s, count, statuses);
    int rc = core_Testall(count, r.v, flag, s.v);
    ints_back(&r, requests);
    statuses_back(&s, statuses);
    return result_out(rc);
}

CORE(Waitsome);
int custom_Waitsome(int n, HANDLE requests[], int *outcount, int indices[],
                    struct front_status *statuses)
{
    struct ints r;
    struct statuses s;
    ints_begin(&r, n, requests);
    statuses_begin(&s, n, statuses);
    int rc = core_Waitsome(n, r.v, outcount, indices, s.v);
    ints_back(&r, requests);
    statuses_back(&s, statuses);
    return result_out(rc);
}

CORE(Testsome);
int custom_Testsome(int n, HANDLE requests[], int *outcount, int indices[],
                    struct front_status *statuses)
{
    struct ints r;
    struct statuses s;
    ints_begin(&r, n, requests);
    statuses_begin(&s, n, statuses);
    int rc = core_Testsome(n, r.v, outcount, indices, s.v);
    ints_back(&r, requests);
    statuses_back(&s, statuses);
    return result_out(rc);
}

#if FRONT_MPI_5
CORE(Request_get_status_all);
int custom_Request_get_status_all(int count, const HANDLE requests[], int *flag,
                                  struct front_status *statuses)
{
    struct ints r;
    struct statuses s;
    ints_begin(&r, count, requests);
    statuses_begin(&s, count, statuses);
    int rc = core_Request_get_status_all(count, r.v, flag, s.v);
    ints_end(&r);
    statuses_back(&s, statuses);
    return result_out(rc);
}

CORE(Request_get_status_some);
int custom_Request_get_status_some(int n, const HANDLE requests[], int *outcount, int indices[],
                                   struct front_status *statuses)
{
    struct ints r;
    struct statuses s;
    ints_begin(&r, n, requests);
    statuses_begin(&s, n, statuses);
    int rc = core_Request_get_status_some(n, r.v, outcount, indices, s.v);
    ints_end(&r);
    statuses_back(&s, statuses);
    return result_out(rc);
}
#endif
