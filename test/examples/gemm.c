/* gemm.c - C = A B in blocks on two devices that have room for a third of the data.
 *
 *   window:   blocks of A, then of B, then of C; each block's bytes follow each other
 *   device d: the block rows i of C of half d.  For each column j:
 *             DISCARD C(all i, j);  for each k: READ A(all i, k), READ B(k, j), kernels, release
 *             C's column is done: its memory is given back
 *
 * No call copies: the library moves what is lacking, keeps what fits, and gives up what was used
 * longest ago.  Every rank does the same product; the result is compared with one without MPI.
 *
 *   gemm [--space0 sim:0] [--space1 sim:1] [--blocks 4] [--size 128] [--check-bytes] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coherent.h"

enum matrix { A, B, C };
enum { BLOCKS_MAX = 64 };
struct product {
    int blocks, size, check_bytes, device[2];
    const char *space[2];
    MPI_Win win;
    size_t block; /* bytes */
};

static MPI_Aint at(const struct product *p, enum matrix m, int row, int col)
{
    return (MPI_Aint)((size_t)((m * p->blocks + row) * p->blocks + col) * p->block);
}

static void *hold(const struct product *p, enum matrix m, int row, int col, int space, int mode)
{
    void *at_block;
    MPIX_Win_acquire(p->win, at(p, m, row, col), (MPI_Aint)p->block, space, mode, &at_block);
    return at_block;
}

static void let_go(const struct product *p, enum matrix m, int row, int col, int space)
{
    MPIX_Win_release(p->win, at(p, m, row, col), (MPI_Aint)p->block, space);
}

/* Integers, so that no order of the sums shows. */
static double element(enum matrix m, int row, int col)
{
    return m == A ? (row * 5 + col * 3) % 17 - 8 : (row * 7 + col * 11) % 13 - 6;
}

struct shape {
    int size, first;
};
/* C (+)= A B of one block. */
static void multiply(void *const *ptr, const void *arg)
{
    const struct shape *s = arg;
    const double *a = ptr[0], *b = ptr[1];
    double *c = ptr[2];
    for (int i = 0; i < s->size; i++)
        for (int j = 0; j < s->size; j++) {
            double sum = s->first ? 0 : c[i * s->size + j];
            for (int k = 0; k < s->size; k++)
                sum += a[i * s->size + k] * b[k * s->size + j];
            c[i * s->size + j] = sum;
        }
}

static void fill(const struct product *p)
{
    for (int m = A; m <= B; m++)
        for (int row = 0; row < p->blocks; row++)
            for (int col = 0; col < p->blocks; col++) {
                double *x = hold(p, m, row, col, 0, MPIX_WIN_DISCARD);
                for (int i = 0; i < p->size * p->size; i++)
                    x[i] = element(m, row * p->size + i / p->size, col * p->size + i % p->size);
                let_go(p, m, row, col, 0);
            }
}

/* One column of C, rows [from, end). */
static void column(const struct product *p, int j, int from, int end, int which)
{
    int space = p->device[which];
    unsigned threads = (unsigned)(p->size * p->size);
    void *a[BLOCKS_MAX], *c[BLOCKS_MAX], *x[3];
    for (int i = from; i < end; i++)
        c[i] = hold(p, C, i, j, space, MPIX_WIN_DISCARD);
    for (int k = 0; k < p->blocks; k++) {
        struct shape s = {p->size, k == 0};
        for (int i = from; i < end; i++)
            a[i] = hold(p, A, i, k, space, MPIX_WIN_READ);
        x[B] = hold(p, B, k, j, space, MPIX_WIN_READ);
        for (int i = from; i < end; i++) {
            x[A] = a[i];
            x[C] = c[i];
            run_kernel(p->space[which], space, multiply, "multiply", 3, x, &s, (int)sizeof s,
                       threads);
            let_go(p, A, i, k, space);
        }
        let_go(p, B, k, j, space);
    }
    for (int i = from; i < end; i++) {
        let_go(p, C, i, j, space);
        MPIX_Win_evict(p->win, at(p, C, i, j), (MPI_Aint)p->block, space);
    }
}

/* The same product, row by row of B. */
static int differs(const struct product *p)
{
    int n = p->blocks * p->size, bad = 0;
    double *sum = malloc((size_t)n * sizeof *sum), *b = malloc((size_t)n * (size_t)n * sizeof *b);
    for (int i = 0; i < n * n; i++)
        b[i] = element(B, i / n, i % n);
    for (int row = 0; row < n; row++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int k = 0; k < n; k++) {
            double a = element(A, row, k);
            for (int x = 0; x < n; x++)
                sum[x] += a * b[k * n + x];
        }
        for (int j = 0; j < p->blocks; j++) {
            const double *c = hold(p, C, row / p->size, j, 0, MPIX_WIN_READ);
            bad |= memcmp(&sum[j * p->size], &c[row % p->size * p->size],
                          (size_t)p->size * sizeof *sum) != 0;
            let_go(p, C, row / p->size, j, 0);
        }
    }
    free(sum);
    free(b);
    return bad;
}

static int report(const struct product *p, long long moved, int rank)
{
    long long n = p->blocks, block = (long long)p->block;
    /* by hand: half of A and all of B into each device, C out; whole matrices: each device gets A
     * and B anew for each column, and gives C */
    long long hand = (n * n + 2 * n * n + n * n) * block, whole = 2 * n * 3 * n * n * block;
    if (rank == 0) {
        printf("bytes moved:      %12lld\n", moved);
        printf("copied by hand:   %12lld, ratio %.3f\n", hand, (double)moved / (double)hand);
        printf("whole matrices:   %12lld, ratio %.3f\n", whole, (double)moved / (double)whole);
        printf("evicted:          %12lld chunks clean, %lld copied home\n",
               counter("coh_evicted_clean"), counter("coh_evicted_home"));
    }
    return p->check_bytes && (moved * 100 > hand * 105 || counter("coh_evicted_clean") == 0);
}

static int options(struct product *p, int argc, char **argv)
{
    *p = (struct product){.blocks = 4, .size = 128, .space = {"sim:0", "sim:1"}};
    for (int i = 1; i < argc; i++) {
        const char *v = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--check-bytes")) {
            p->check_bytes = 1;
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--space0"))
            p->space[0] = v;
        else if (!strcmp(argv[i - 1], "--space1"))
            p->space[1] = v;
        else if (!strcmp(argv[i - 1], "--blocks"))
            p->blocks = atoi(v);
        else if (!strcmp(argv[i - 1], "--size"))
            p->size = atoi(v);
        else
            return 0;
    }
    return p->blocks > 0 && p->blocks <= BLOCKS_MAX && p->size > 0;
}

int main(int argc, char **argv)
{
    struct product p;
    char spaces[64], budget[32];
    int rank, any;
    void *base;
    if (!options(&p, argc, argv)) {
        fprintf(stderr, "usage: gemm [--space0 NAME] [--space1 NAME] [--blocks N] [--size N] "
                        "[--check-bytes]\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    p.block = (size_t)p.size * (size_t)p.size * sizeof(double);
    size_t bytes = 3 * (size_t)p.blocks * (size_t)p.blocks * p.block;
    snprintf(spaces, sizeof spaces, "host,%s,%s", p.space[0], p.space[1]);
    snprintf(budget, sizeof budget, "%zu", bytes / 3);
    p.win = coherent_window(bytes, spaces, "4096", budget, &base);
    for (int d = 0; d < 2; d++)
        MPIX_Space_find(p.space[d], &p.device[d]);
    fill(&p);
    for (int j = 0; j < p.blocks; j++) {
        column(&p, j, 0, p.blocks / 2, 0);
        column(&p, j, p.blocks / 2, p.blocks, 1);
    }
    int bad = differs(&p), ratio = report(&p, bytes_moved(), rank);
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", any ? "the product is wrong" : "the product is right");
    if (ratio)
        printf("more bytes than copying by hand\n");
    MPI_Win_free(&p.win);
    MPI_Finalize();
    return any || ratio;
}
