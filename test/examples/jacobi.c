/* jacobi.c - Jacobi's iteration on rows that lie on devices; halos go by MPI_Put between windows.
 *
 *   window of a rank:   field 0: halo row, rows 1 .. n, halo row;  field 1: the same
 *   a step:             acquire  READ old, DISCARD new on the device;  kernel;  release
 *                       acquire  READ first and last new row on the host
 *                       MPI_Put  them into the neighbours' halo rows;  fence
 *
 * A row takes whole lanes (1/64 of a tile), so neighbours put into halo rows while a device holds
 * the rows beside them.  The library copies what each acquire lacks: two edge rows out and two halo
 * rows in.  A program that copies by hand moves as much.  Every bit is compared with a serial run.
 * --trace writes the states of a rank's tiles after each phase; maint/coherent-svg draws them.
 *
 *   jacobi [--space sim:0] [--nx 512] [--rows 24] [--steps 10] [--tile 4096] [--device-bytes N]
 *          [--check-bytes] [--trace FILE] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coherent.h"

struct choice {
    const char *space, *tile, *budget, *trace;
    int nx, rows, steps, check_bytes;
};
struct field {
    struct choice o;
    int rank, size, first, n; /* rows of this rank: first + 1 .. first + n of the whole */
    int device, up, down;     /* neighbours, or MPI_PROC_NULL */
    MPI_Win win;
    size_t row, pitch; /* bytes: of a row, and to the next one */
    FILE *trace;
};

/* --- the computation -------------------------------------------------------------------------- */

struct shape {
    int nx, pitch, n; /* elements */
};
/* Rows 1 .. n of the new field from rows 0 .. n + 1 of the old one. */
static void relax(void *const *ptr, const void *arg)
{
    const struct shape *s = arg;
    const double *old = ptr[0];
    double *new = ptr[1]; /* its row 1 */
    for (int y = 1; y <= s->n; y++) {
        const double *c = old + (size_t)y * (size_t)s->pitch;
        double *to = new + (size_t)(y - 1) * (size_t)s->pitch;
        to[0] = c[0];
        to[s->nx - 1] = c[s->nx - 1];
        for (int x = 1; x < s->nx - 1; x++)
            to[x] = 0.25 * (c[x - 1] + c[x + 1] + c[x - s->pitch] + c[x + s->pitch]);
    }
}

static double initial(int x, int y)
{
    return y == 0 ? 100.0 : x == 0 ? 50.0 : (x * 7 + y * 13) % 11;
}

/* --- the window ------------------------------------------------------------------------------- */

static MPI_Aint row_at(const struct field *f, int which, int y)
{
    return (MPI_Aint)((size_t)(which * (f->n + 2) + y) * f->pitch);
}

/* The same place in the window of a neighbour that has n rows. */
static MPI_Aint row_there(const struct field *f, int which, int y, int n)
{
    return (MPI_Aint)((size_t)(which * (n + 2) + y) * f->pitch);
}

static int rows_of(const struct field *f, int rank)
{
    return f->o.rows / f->size + (rank < f->o.rows % f->size);
}

static void *hold(const struct field *f, int which, int y, int rows, int space, int mode)
{
    void *p;
    MPIX_Win_acquire(f->win, row_at(f, which, y), (MPI_Aint)((size_t)rows * f->pitch), space, mode,
                     &p);
    return p;
}

static void let_go(const struct field *f, int which, int y, int rows, int space)
{
    MPIX_Win_release(f->win, row_at(f, which, y), (MPI_Aint)((size_t)rows * f->pitch), space);
}

/* What lies in each tile, for the picture. */
static void trace_names(const struct field *f, size_t tile)
{
    fprintf(f->trace, "window %d %d %zu %s\n", f->rank, f->size, tile, f->o.space);
    for (MPI_Aint at = 0; at < row_at(f, 2, 0); at += (MPI_Aint)tile) {
        int row = (int)((size_t)at / f->pitch), y = row % (f->n + 2);
        fprintf(f->trace, "name %ld field %d, %s", (long)(at / (MPI_Aint)tile), row / (f->n + 2),
                y == 0 ? "halo above" : y > f->n ? "halo below" : "row");
        if (y > 0 && y <= f->n)
            fprintf(f->trace, " %d", y);
        fprintf(f->trace, "\n");
    }
}

/* The tiles that neighbours wrote in the phase that is traced next. */
static void trace_put(const struct field *f, int which)
{
    for (int i = 0; f->trace && i < 2; i++)
        if ((i ? f->down : f->up) != MPI_PROC_NULL)
            fprintf(f->trace, "put %ld\n",
                    (long)(row_at(f, which, i ? f->n + 1 : 0) / strtol(f->o.tile, NULL, 10)));
}

static void trace_states(const struct field *f, const char *what)
{
    static long long in, out;
    size_t tile = strtoul(f->o.tile, NULL, 10);
    fprintf(f->trace, "phase %s\n", what);
    fprintf(f->trace, "moved %lld %lld\n", counter("coh_bytes_in") - in,
            counter("coh_bytes_out") - out);
    in = counter("coh_bytes_in");
    out = counter("coh_bytes_out");
    for (int space = 0; space < 2; space++)
        for (MPI_Aint at = 0; at < row_at(f, 2, 0); at += (MPI_Aint)tile) {
            int state, holds;
            MPI_Count valid;
            MPIX_Win_tile(f->win, at, space ? f->device : 0, &state, &holds, &valid);
            fprintf(f->trace, "tile %d %ld %c %lld\n", space, (long)(at / (MPI_Aint)tile),
                    state == MPIX_TILE_MODIFIED ? 'M' : state == MPIX_TILE_SHARED ? 'S' : 'I',
                    (long long)valid);
        }
}

/* States of all tiles of this rank, and the bytes moved since then.  The barrier keeps puts of the
 * next phase away. */
static void trace(const struct field *f, const char *what)
{
    if (f->trace)
        trace_states(f, what);
    if (f->o.trace)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void begin(struct field *f)
{
    for (int which = 0; which < 2; which++) {
        double *p = hold(f, which, 0, f->n + 2, 0, MPIX_WIN_DISCARD);
        for (int y = 0; y < f->n + 2; y++)
            for (int x = 0; x < f->o.nx; x++)
                p[(size_t)y * f->pitch / sizeof *p + (size_t)x] = initial(x, f->first + y);
        let_go(f, which, 0, f->n + 2, 0);
    }
    if (f->trace)
        trace_names(f, strtoul(f->o.tile, NULL, 10));
    trace(f, "begin");
}

/* An edge row goes from where the host holds it into the halo row of a neighbour. */
static void send_row(const struct field *f, int which, int to, const void *row)
{
    if (to == MPI_PROC_NULL)
        return;
    int n = rows_of(f, to);
    MPI_Put(row, (int)f->row, MPI_BYTE, to, row_there(f, which, to == f->up ? n + 1 : 0, n),
            (int)f->row, MPI_BYTE, f->win);
}

static void step(struct field *f, int old)
{
    int new = 1 - old;
    struct shape s = {f->o.nx, (int)(f->pitch / sizeof(double)), f->n};
    void *p[2];
    p[0] = hold(f, old, 0, f->n + 2, f->device, MPIX_WIN_READ);
    p[1] = hold(f, new, 1, f->n, f->device, MPIX_WIN_DISCARD);
    run_kernel(f->o.space, f->device, relax, "relax", 2, p, &s, (int)sizeof s,
               (unsigned)(f->o.nx * f->n));
    let_go(f, new, 1, f->n, f->device);
    let_go(f, old, 0, f->n + 2, f->device);
    trace(f, "kernel");
    int y[2] = {1, f->n}, to[2] = {f->up, f->down};
    for (int i = 0; i < 2; i++)
        p[i] = to[i] == MPI_PROC_NULL ? NULL : hold(f, new, y[i], 1, 0, MPIX_WIN_READ);
    trace(f, "read");
    for (int i = 0; i < 2; i++)
        send_row(f, new, to[i], p[i]);
    MPI_Win_fence(0, f->win);
    for (int i = 0; i < 2; i++)
        if (p[i])
            let_go(f, new, y[i], 1, 0);
    trace_put(f, new);
    trace(f, "put");
}

/* --- what is compared ------------------------------------------------------------------------- */

/* The whole field by one process. */
static double *serial(const struct choice *o)
{
    size_t cells = (size_t)(o->rows + 2) * (size_t)o->nx;
    double *f[2] = {malloc(cells * sizeof(double)), malloc(cells * sizeof(double))};
    struct shape s = {o->nx, o->nx, o->rows};
    for (int which = 0; which < 2; which++)
        for (int y = 0; y < o->rows + 2; y++)
            for (int x = 0; x < o->nx; x++)
                f[which][y * o->nx + x] = initial(x, y);
    for (int i = 0; i < o->steps; i++) {
        void *p[2] = {f[i % 2], f[1 - i % 2] + o->nx};
        relax(p, &s);
    }
    free(f[1 - o->steps % 2]);
    return f[o->steps % 2];
}

static int differs(struct field *f)
{
    double *all = serial(&f->o);
    const double *p = hold(f, f->o.steps % 2, 1, f->n, 0, MPIX_WIN_READ);
    int bad = 0;
    for (int y = 0; y < f->n; y++)
        bad |= memcmp(p + (size_t)y * f->pitch / sizeof *p,
                      all + (size_t)(f->first + 1 + y) * (size_t)f->o.nx, f->row) != 0;
    let_go(f, f->o.steps % 2, 1, f->n, 0);
    free(all);
    return bad;
}

/* What a program moves that copies by hand, and one that copies whole fields. */
static void others(const struct field *f, long long *hand, long long *whole)
{
    long long row = (long long)f->row, steps = f->o.steps;
    int edges = (f->up != MPI_PROC_NULL) + (f->down != MPI_PROC_NULL);
    /* in: the first field with its halos, boundary rows of the second, halos of each further step;
     * out: edges of each step, the last field (its edges are out already) */
    long long in = (f->n + 2) * row + (steps > 1 ? (2 - edges) * row : 0) +
                   (steps > 0 ? steps - 1 : 0) * edges * row;
    long long last = f->n == 1 && edges ? 0 : f->n - edges;
    *hand = f->device && steps ? in + (steps * edges + last) * row : 0;
    *whole = f->device ? steps * (2 * f->n + 2) * row : 0;
}

static int report(struct field *f)
{
    long long v[4], sum[4];
    v[0] = f->device ? bytes_moved() : 0;
    others(f, &v[1], &v[2]);
    v[3] = f->n > 0;
    MPI_Reduce(v, sum, 4, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    int bad = 0;
    if (f->rank == 0 && f->device) {
        printf("bytes moved:      %12lld\n", sum[0]);
        printf("copied by hand:   %12lld, ratio %.3f\n", sum[1], (double)sum[0] / (double)sum[1]);
        printf("whole fields:     %12lld, ratio %.3f\n", sum[2], (double)sum[0] / (double)sum[2]);
        bad = f->o.check_bytes && (sum[0] * 100 > sum[1] * 105 || sum[0] * 2 > sum[2]);
    }
    return bad;
}

/* --- the program ------------------------------------------------------------------------------ */

static int usage(void)
{
    fprintf(stderr, "usage: jacobi [--space NAME] [--nx N] [--rows N] [--steps N] [--tile BYTES] "
                    "[--device-bytes N] [--check-bytes] [--trace FILE]\n");
    return 2;
}

static int options(struct choice *o, int argc, char **argv)
{
    *o = (struct choice){.space = "sim:0", .tile = "4096", .nx = 512, .rows = 24, .steps = 10};
    for (int i = 1; i < argc; i++) {
        const char *v = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--check-bytes")) {
            o->check_bytes = 1;
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--space"))
            o->space = v;
        else if (!strcmp(argv[i - 1], "--tile"))
            o->tile = v;
        else if (!strcmp(argv[i - 1], "--device-bytes"))
            o->budget = v;
        else if (!strcmp(argv[i - 1], "--trace"))
            o->trace = v;
        else if (!strcmp(argv[i - 1], "--nx"))
            o->nx = atoi(v);
        else if (!strcmp(argv[i - 1], "--rows"))
            o->rows = atoi(v);
        else if (!strcmp(argv[i - 1], "--steps"))
            o->steps = atoi(v);
        else
            return 0;
    }
    return o->nx > 2 && o->rows > 0 && o->steps >= 0;
}

int main(int argc, char **argv)
{
    struct field f = {0};
    char spaces[64];
    void *base;
    if (!options(&f.o, argc, argv))
        return usage();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &f.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &f.size);
    if (f.o.rows < f.size) {
        fprintf(stderr, "jacobi: at least one row for each rank\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    f.n = rows_of(&f, f.rank);
    for (int r = 0; r < f.rank; r++)
        f.first += rows_of(&f, r);
    f.up = f.rank ? f.rank - 1 : MPI_PROC_NULL;
    f.down = f.rank + 1 < f.size ? f.rank + 1 : MPI_PROC_NULL;
    f.row = (size_t)f.o.nx * sizeof(double);
    size_t lane = strtoul(f.o.tile, NULL, 10) / 64;
    lane = lane ? lane : 64;
    f.pitch = (f.row + lane - 1) / lane * lane;
    if (f.o.trace && f.rank == f.size / 2)
        f.trace = fopen(f.o.trace, "w");
    snprintf(spaces, sizeof spaces, "host,%s", f.o.space);
    f.win = coherent_window((size_t)row_at(&f, 2, 0), spaces, f.o.tile, f.o.budget, &base);
    MPIX_Space_find(f.o.space, &f.device);
    begin(&f);
    MPI_Win_fence(0, f.win);
    for (int i = 0; i < f.o.steps; i++)
        step(&f, i % 2);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, f.win);
    int bad = differs(&f), any, ratio = report(&f);
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (f.rank == 0)
        printf("%s\n", any ? "differs from the serial run" : "each bit as in the serial run");
    if (ratio)
        printf("more bytes than copying by hand\n");
    if (f.trace)
        fclose(f.trace);
    MPI_Win_free(&f.win);
    MPI_Finalize();
    return any || ratio;
}
