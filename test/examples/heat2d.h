/* heat2d.h - what the programs of the heat equation compute: temperatures of a plate at the start,
 * one step of a block of it, and the same run by one process. */
#ifndef HEAT2D_H
#define HEAT2D_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block of the plate: w x h cells from (x0, y0), stored with a border as (w + 2) x (h + 2). */
struct block {
    int x0, y0, w, h;
};

static void split(int n, int parts, int i, int *start, int *length)
{
    *start = (int)((long)n * i / parts);
    *length = (int)((long)n * (i + 1) / parts) - *start;
}

static size_t cells(struct block b) { return (size_t)(b.w + 2) * (size_t)(b.h + 2); }

/* Temperature at the start: a hot ring and a warm spot on a cold plate whose upper edge is
 * heated. */
static double start_value(int x, int y, int nx, int ny)
{
    double u = (x + 0.5) / nx, v = (y + 0.5) / ny, r = hypot(u - 0.35, v - 0.55);

    if (y < 0)
        return 100.0 * (0.5 - 0.5 * cos(6.28318530717958648 * u));
    if (x < 0 || x >= nx || y >= ny)
        return 0.0;
    if (r > 0.17 && r < 0.23)
        return 100.0;
    return hypot(u - 0.78, v - 0.72) < 0.08 ? 80.0 : 0.0;
}

static void start_field(double *f, struct block b, int nx, int ny)
{
    int x, y;

    for (y = -1; y <= b.h; y++)
        for (x = -1; x <= b.w; x++)
            f[(size_t)(y + 1) * (size_t)(b.w + 2) + (size_t)(x + 1)] = start_value(
                b.x0 + x, b.y0 + y, nx, ny);
}

static void step(double *restrict new, const double *restrict old, struct block b)
{
    size_t stride = (size_t)b.w + 2;
    int x, y;

    for (y = 1; y <= b.h; y++) {
        const double *c = old + (size_t)y * stride, *n = c - stride, *s = c + stride;
        double *out = new + (size_t)y * stride;

        for (x = 1; x <= b.w; x++)
            out[x] = c[x] + 0.24 * (((n[x] + s[x]) + (c[x - 1] + c[x + 1])) - 4.0 * c[x]);
    }
}

/* The same run by one process.  Returns the number of cells that differ. */
static long compare_with_serial(int nx, int ny, int steps, const double *f)
{
    struct block all = { 0, 0, nx, ny };
    double *a = malloc(cells(all) * sizeof *a), *b = malloc(cells(all) * sizeof *b), *t;
    long differ = 0;
    size_t stride = (size_t)nx + 2, i;
    int k, x, y;

    if (!a || !b)
        return -1;
    start_field(a, all, nx, ny);
    memcpy(b, a, cells(all) * sizeof *a);
    for (k = 0; k < steps; k++) {
        step(b, a, all);
        t = a, a = b, b = t;
    }
    for (y = 1; y <= ny; y++)
        for (x = 1; x <= nx; x++) {
            i = (size_t)y * stride + (size_t)x;
            differ += memcmp(&a[i], &f[i], sizeof *a) != 0;
        }
    free(a);
    free(b);
    return differ;
}

#endif
