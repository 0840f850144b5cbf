/* dims.c - the search of MPI_Dims_create: all ordered factorizations, from the balanced end, pruned
 * by the best range so far. */
#include <stdlib.h>
#include <string.h>

#include "obj/neighbors.h"

/* an int has at most 1536 divisors, and 30 factors above 1 */
enum { MAX_FREE = 31, MAX_DIVISORS = 1536 };

struct dims_search {
    const int *divisor; /* ascending */
    int divisors, n;
    int now[MAX_FREE + 1], best[MAX_FREE + 1];
    long long best_range, best_sum;
};

/* f^d < n, without overflow. */
static int power_below(long long f, int d, long long n)
{
    long long p = 1;
    while (d-- > 0) {
        p *= f;
        if (p >= n)
            return 0;
    }
    return 1;
}

static int power_at_most(long long f, int d, long long n)
{
    return power_below(f, d, n + 1);
}

/* The better: least difference of the first and the last, then the larger last, then the least sum,
 * then the larger leading ones (they are tried later). */
static void dims_rate(struct dims_search *s, long long sum)
{
    int last = s->now[s->n - 1], best_last = s->best[s->n - 1];
    long long range = s->now[0] - last;
    if (range > s->best_range)
        return;
    if (range == s->best_range && (last < best_last || (last == best_last && sum > s->best_sum)))
        return;
    s->best_range = range;
    s->best_sum = sum;
    memcpy(s->best, s->now, sizeof s->best);
}

/* Fill places at.. with factors of `left` that do not grow, within the best range so far.
 * Ascending, so that good ranges come first and prune the rest. */
static void dims_try(struct dims_search *s, int at, int left, int most, long long sum)
{
    if (at == s->n - 1) {
        if (left <= most) {
            s->now[at] = left;
            dims_rate(s, sum + left);
        }
        return;
    }
    for (int i = 0; i < s->divisors && s->divisor[i] <= most; i++) {
        int f = s->divisor[i];
        if (left % f || power_below(f, s->n - at, left))
            continue; /* the rest would have to grow */
        /* The last one is at most the root of what is left; it must lie within the range. */
        long long least = (at ? s->now[0] : f) - s->best_range;
        if (least > f)
            continue;
        if (least > 1 && !power_at_most(least, s->n - at - 1, left / f))
            break; /* larger f leave less */
        s->now[at] = f;
        dims_try(s, at + 1, left / f, f, sum + f);
    }
}

static int divisors_of(int n, int *out)
{
    int count = 0;
    for (int i = 1; i <= n / i; i++)
        if (n % i == 0)
            out[count++] = i;
    for (int i = count - 1; i >= 0; i--)
        if (out[i] != n / out[i])
            out[count++] = n / out[i];
    return count;
}

int topo_dims_fill(int product, int ndims, int *dims)
{
    struct dims_search s = {.best_range = 1LL << 40};
    int *divisor = malloc(MAX_DIVISORS * sizeof *divisor);
    if (!divisor)
        return 0;
    for (int i = 0; i < ndims && s.n < MAX_FREE; i++)
        s.n += dims[i] == 0;
    s.divisors = divisors_of(product, divisor);
    s.divisor = divisor;
    dims_try(&s, 0, product, product, 0);
    free(divisor);
    for (int i = 0, k = 0; i < ndims; i++)
        if (dims[i] == 0) {
            dims[i] = k < s.n ? s.best[k] : 1;
            k++;
        }
    return 1;
}
