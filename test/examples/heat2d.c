/* heat2d.c - the heat equation on a plate, solved by a grid of processes that exchange their edges
 * with MPI_Put.
 *
 *       +--------+--------+     Each process owns a block of the plate and keeps a border of one
 *       | rank 0 | rank 1 |     cell around it, the halo.  A step computes new temperatures from
 *       |      >>|>>      |     old ones and puts the edges of the block into the halos of the
 *       +---vv---+---vv---+     four neighbours.  Old and new lie in one window and swap roles.
 *       | rank 2 | rank 3 |
 *       +--------+--------+     Rank 0 repeats the run alone and compares every bit.
 *
 * Four ways to know that the halos have come:
 *   --sync fence   MPI_Win_fence after the puts: every rank waits for every rank
 *   --sync pscw    post, start, complete, wait: every rank waits for its neighbours
 *   --sync lock    one lock_all; put, flush, then count the neighbour's arrivals up with
 *                  MPI_Accumulate
 *   --sync notify  one lock_all; MPIX_Put_notify counts at the neighbour, a counter for each side
 *                  (where mpi.h has it)
 *
 * --checkpoint FILE writes the field at the end by MPI-IO; --restart FILE goes on from there, on
 * any number of ranks. */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heat2d.h"
#ifdef HAVE_PNG
#include <png.h>
#endif

enum sync { FENCE, PSCW, LOCK, NOTIFY };
enum flavour { ALLOCATE, CREATE, SHARED, DYNAMIC };
#ifdef MPIX_NOTIFY_MAX
static const char *const sync_names[] = { "fence", "pscw", "lock", "notify" };
#define SYNC_NAMES "fence|pscw|lock|notify"
#else
static const char *const sync_names[] = { "fence", "pscw", "lock" };
#define SYNC_NAMES "fence|pscw|lock"
#endif
enum { SYNCS = sizeof sync_names / sizeof *sync_names };
static const char *const flavour_names[] = { "allocate", "create", "shared", "dynamic" };
enum side { NORTH, SOUTH, WEST, EAST };

struct options {
    int nx, ny, steps, check;
    enum sync sync;
    enum flavour flavour;
    const char *png, *checkpoint, *restart;
};

struct plate {
    struct options o;
    MPI_Comm grid;
    int rank, size, dims[2], coords[2];
    int next[4];              /* neighbour on each side, or MPI_PROC_NULL */
    struct block mine;
    MPI_Win win;
    MPI_Group neighbours;
    char *memory;             /* the window: 4 arrival counts, then two fields */
    MPI_Aint base[4];         /* where each neighbour's window begins (dynamic windows; else 0) */
    MPI_Datatype column;      /* a column of the own block */
    MPI_Datatype far_column[4];
    double exchange_time;
    int done; /* steps that were done before a restart */
};

/* ------------------------------------------------------------------ window and halos */

static struct block block_of(const struct plate *p, int coord_y, int coord_x)
{
    struct block b;

    split(p->o.ny, p->dims[0], coord_y, &b.y0, &b.h);
    split(p->o.nx, p->dims[1], coord_x, &b.x0, &b.w);
    return b;
}

enum { COUNTS = 64 };     /* bytes in front of the fields: one arrival count per side */

static size_t field_offset(struct block b, int which)
{
    return COUNTS + (size_t)which * cells(b) * sizeof(double);
}

static double *field(struct plate *p, int which)
{
    return (double *)(void *)(p->memory + field_offset(p->mine, which));
}

static void die(const struct plate *p, const char *what)
{
    if (p->rank == 0)
        fprintf(stderr, "heat2d: %s\n", what);
    MPI_Barrier(p->grid);
    MPI_Abort(p->grid, 1);
}

static void make_window(struct plate *p)
{
    MPI_Aint bytes = (MPI_Aint)field_offset(p->mine, 2), here, addresses[4];
    MPI_Comm node;
    int n, s;

    switch (p->o.flavour) {
    case ALLOCATE:
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, p->grid, &p->memory, &p->win);
        break;
    case SHARED:
        MPI_Comm_split_type(p->grid, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &n);
        MPI_Comm_free(&node);
        if (n != p->size)
            die(p, "a shared window needs all ranks on one node");
        bytes = (bytes + 63) / 64 * 64;
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, p->grid, &p->memory, &p->win);
        break;
    default:
        p->memory = malloc((size_t)bytes);
        if (!p->memory)
            die(p, "out of memory");
        if (p->o.flavour == CREATE) {
            MPI_Win_create(p->memory, bytes, 1, MPI_INFO_NULL, p->grid, &p->win);
        } else {
            MPI_Win_create_dynamic(MPI_INFO_NULL, p->grid, &p->win);
            MPI_Win_attach(p->win, p->memory, bytes);
            MPI_Get_address(p->memory, &here);
            for (s = 0; s < 4; s++)       /* opposite sides swap their addresses */
                MPI_Sendrecv(&here, 1, MPI_AINT, p->next[s], s, &addresses[s ^ 1], 1, MPI_AINT,
                             p->next[s ^ 1], s, p->grid, MPI_STATUS_IGNORE);
            for (s = 0; s < 4; s++)
                p->base[s] = p->next[s] == MPI_PROC_NULL ? 0 : addresses[s];
        }
    }
    memset(p->memory, 0, (size_t)bytes);
}

static MPI_Datatype column_type(struct block b)
{
    MPI_Datatype t;

    MPI_Type_vector(b.h, 1, b.w + 2, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    return t;
}

static struct block neighbour_block(const struct plate *p, int side)
{
    int y = p->coords[0] + (side == SOUTH) - (side == NORTH),
        x = p->coords[1] + (side == EAST) - (side == WEST);

    return block_of(p, y, x);
}

static void make_plate(struct plate *p)
{
    int s, n = 0, ranks[4], periods[2] = { 0, 0 };
    MPI_Group all;

    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    MPI_Dims_create(p->size, 2, p->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, p->dims, periods, 0, &p->grid);
    MPI_Comm_rank(p->grid, &p->rank);
    MPI_Cart_coords(p->grid, p->rank, 2, p->coords);
    MPI_Cart_shift(p->grid, 0, 1, &p->next[NORTH], &p->next[SOUTH]);
    MPI_Cart_shift(p->grid, 1, 1, &p->next[WEST], &p->next[EAST]);
    if (p->o.ny < p->dims[0] || p->o.nx < p->dims[1])
        die(p, "more processes than cells in a direction");
    p->mine = block_of(p, p->coords[0], p->coords[1]);
    p->column = column_type(p->mine);
    for (s = 0; s < 4; s++) {
        p->far_column[s] = p->next[s] == MPI_PROC_NULL ? MPI_DATATYPE_NULL
                                                       : column_type(neighbour_block(p, s));
        if (p->next[s] != MPI_PROC_NULL)
            ranks[n++] = p->next[s];
    }
    MPI_Comm_group(p->grid, &all);
    MPI_Group_incl(all, n, ranks, &p->neighbours);
    MPI_Group_free(&all);
    make_window(p);
#ifdef MPIX_NOTIFY_MAX
    if (p->o.sync == NOTIFY)
        MPIX_Win_notify_set_num(p->win, MPI_INFO_NULL, 4);
#endif
    start_field(field(p, 0), p->mine, p->o.nx, p->o.ny);
    memcpy(field(p, 1), field(p, 0), cells(p->mine) * sizeof(double));
}

static void free_plate(struct plate *p)
{
    int s;

    if (p->o.flavour == DYNAMIC)
        MPI_Win_detach(p->win, p->memory);
    MPI_Win_free(&p->win);
    if (p->o.flavour == CREATE || p->o.flavour == DYNAMIC)
        free(p->memory);
    MPI_Group_free(&p->neighbours);
    MPI_Type_free(&p->column);
    for (s = 0; s < 4; s++)
        if (p->far_column[s] != MPI_DATATYPE_NULL)
            MPI_Type_free(&p->far_column[s]);
    MPI_Comm_free(&p->grid);
}

/* MPI_Put to the neighbour on `side`. With --sync notify its counter of that edge counts it. */
static void put(struct plate *p, const double *from, int n, MPI_Datatype type, int side,
                MPI_Aint disp, MPI_Datatype far)
{
#ifdef MPIX_NOTIFY_MAX
    if (p->o.sync == NOTIFY) {
        MPIX_Put_notify(from, n, type, p->next[side], disp, n, far, side ^ 1, p->win);
        return;
    }
#endif
    MPI_Put(from, n, type, p->next[side], disp, n, far, p->win);
}

/* Puts the edge on one side of field `which` into the opposite halo of the neighbour there. */
static void put_edge(struct plate *p, int which, int side)
{
    struct block b = p->mine, f;
    size_t from, to, stride = (size_t)b.w + 2, far_stride;

    if (p->next[side] == MPI_PROC_NULL)
        return;
    f = neighbour_block(p, side);
    far_stride = (size_t)f.w + 2;
    switch (side) {
    case NORTH: from = stride + 1, to = (size_t)(f.h + 1) * far_stride + 1; break;
    case SOUTH: from = (size_t)b.h * stride + 1, to = 1; break;
    case WEST: from = stride + 1, to = far_stride + (size_t)f.w + 1; break;
    default: from = stride + (size_t)b.w, to = far_stride; break;
    }
    MPI_Aint disp = MPI_Aint_add(p->base[side],
                                 (MPI_Aint)(field_offset(f, which) + to * sizeof(double)));
    if (side == NORTH || side == SOUTH)
        put(p, field(p, which) + from, b.w, MPI_DOUBLE, side, disp, MPI_DOUBLE);
    else
        put(p, field(p, which) + from, 1, p->column, side, disp, p->far_column[side]);
}

static void put_edges(struct plate *p, int which)
{
    int s;

    for (s = 0; s < 4; s++)
        put_edge(p, which, s);
}

/* Tells the neighbours that the edges of step k have arrived, and waits for theirs. */
static void count_arrivals(struct plate *p, int64_t k)
{
    int64_t one = 1, seen, dummy = 0;
    int s;
    MPI_Aint here = 0;

    if (p->o.flavour == DYNAMIC)
        MPI_Get_address(p->memory, &here);
    for (s = 0; s < 4; s++)
        if (p->next[s] != MPI_PROC_NULL)       /* the neighbour sees us on its opposite side */
            MPI_Accumulate(&one, 1, MPI_INT64_T, p->next[s],
                           MPI_Aint_add(p->base[s], (MPI_Aint)(s ^ 1) * 8), 1, MPI_INT64_T, MPI_SUM,
                           p->win);
    MPI_Win_flush_all(p->win);
    for (s = 0; s < 4; s++) {
        if (p->next[s] == MPI_PROC_NULL)
            continue;
        for (;;) {
            MPI_Fetch_and_op(&dummy, &seen, MPI_INT64_T, p->rank,
                             MPI_Aint_add(here, (MPI_Aint)s * 8), MPI_NO_OP, p->win);
            MPI_Win_flush(p->rank, p->win);
            if (seen >= k)
                break;
            sched_yield();
        }
    }
}

static void take_arrivals(struct plate *p)
{
#ifdef MPIX_NOTIFY_MAX
    int s;

    for (s = 0; s < 4; s++)
        if (p->next[s] != MPI_PROC_NULL)
            MPIX_Win_notify_take(p->win, s, 1);
#else
    (void)p;
#endif
}

static void exchange(struct plate *p, int which, int64_t k)
{
    double t = MPI_Wtime();

    switch (p->o.sync) {
    case FENCE:
        put_edges(p, which);
        MPI_Win_fence(0, p->win);
        break;
    case PSCW:
        MPI_Win_post(p->neighbours, 0, p->win);
        MPI_Win_start(p->neighbours, 0, p->win);
        put_edges(p, which);
        MPI_Win_complete(p->win);
        MPI_Win_wait(p->win);
        break;
    case LOCK:
        MPI_Win_sync(p->win);
        put_edges(p, which);
        MPI_Win_flush_all(p->win);
        count_arrivals(p, k);
        MPI_Win_sync(p->win);
        break;
    case NOTIFY:
        MPI_Win_flush_local_all(p->win); /* of the step before, whose edges the next one computes */
        put_edges(p, which);
        take_arrivals(p);
        break;
    }
    p->exchange_time += MPI_Wtime() - t;
}

/* ------------------------------------------------------------------ checkpoint and restart */

/* The file: steps done, nx, ny, then the plate row by row, without a border. */
enum { HEADER = 3 * sizeof(int64_t) };

static void file_fails(const struct plate *p, const char *file, int err)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    MPI_Error_string(err, text, &len);
    fprintf(stderr, "heat2d: rank %d: %s: %s\n", p->rank, file, text);
    MPI_Abort(p->grid, 1);
}

/* Cells [x, x + w) of rows [y, y + h) of a field whose rows have nx cells. */
static MPI_Datatype cells_of(int nx, int ny, int x, int y, int w, int h)
{
    int sizes[2] = { ny, nx }, part[2] = { h, w }, start[2] = { y, x };
    MPI_Datatype t;

    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    return t;
}

/* Moves the own block and `border` cells around it, as far as they lie on the plate. */
static int move_cells(struct plate *p, MPI_File file, double *f, int border, int write)
{
    struct block b = p->mine;
    int west = b.x0 ? border : 0, north = b.y0 ? border : 0;
    int w = b.w + west + (b.x0 + b.w < p->o.nx ? border : 0);
    int h = b.h + north + (b.y0 + b.h < p->o.ny ? border : 0), err;
    MPI_Datatype there = cells_of(p->o.nx, p->o.ny, b.x0 - west, b.y0 - north, w, h);
    MPI_Datatype here = cells_of(b.w + 2, b.h + 2, 1 - west, 1 - north, w, h);

    err = MPI_File_set_view(file, HEADER, MPI_DOUBLE, there, "native", MPI_INFO_NULL);
    if (!err)
        err = write ? MPI_File_write_all(file, f, 1, here, MPI_STATUS_IGNORE)
                    : MPI_File_read_all(file, f, 1, here, MPI_STATUS_IGNORE);
    MPI_Type_free(&there);
    MPI_Type_free(&here);
    return err;
}

static void checkpoint(struct plate *p, const char *name)
{
    int64_t header[3] = { p->o.steps, p->o.nx, p->o.ny };
    MPI_File file;
    int err = MPI_File_open(p->grid, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);

    if (!err && p->rank == 0)
        err = MPI_File_write_at(file, 0, header, 3, MPI_INT64_T, MPI_STATUS_IGNORE);
    if (!err)
        err = move_cells(p, file, field(p, p->o.steps % 2), 0, 1);
    if (!err)
        err = MPI_File_close(&file);
    if (err)
        file_fails(p, name, err);
}

static void restart(struct plate *p, const char *name)
{
    int64_t header[3] = { 0, 0, 0 };
    MPI_File file;
    int err = MPI_File_open(p->grid, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);

    if (!err)
        err = MPI_File_read_at_all(file, 0, header, 3, MPI_INT64_T, MPI_STATUS_IGNORE);
    if (!err && (header[1] != p->o.nx || header[2] != p->o.ny || header[0] > p->o.steps))
        die(p, "the checkpoint is of another plate, or of a later step");
    p->done = (int)header[0];
    if (!err)
        err = move_cells(p, file, field(p, 0), 1, 0);
    if (!err)
        err = MPI_File_close(&file);
    if (err)
        file_fails(p, name, err);
    memcpy(field(p, 1), field(p, 0), cells(p->mine) * sizeof(double));
}

/* ------------------------------------------------------------------ reporting */

/* Whether people watch: mpiexec passes it to its children, since they write into a pipe. */
static int on_terminal(void)
{
    const char *told = getenv("WINDROSE_TTY");

    return isatty(1) || (told && strchr(told, '1'));
}

static void bar(int done, int all, double since)
{
    int full = done * 40 / all, i;

    printf("  [");
    for (i = 0; i < 40; i++)
        putchar(i < full ? '=' : i == full ? '>' : ' ');
    printf("] %3d %%  %d steps  %.1f s\r", done * 100 / all, done, since);
    fflush(stdout);
}

#ifdef HAVE_PNG
/* Black, violet, red, orange, yellow, white. */
static void colour(double t, png_byte *rgb)
{
    static const double map[7][3] = {{0, 0, 8},      {52, 12, 92},   {130, 28, 108}, {208, 62, 62},
                                     {246, 136, 28}, {252, 206, 74}, {255, 255, 220}};
    double u = t / 100.0 * 6.0;
    int i, k;

    u = u < 0 ? 0 : u > 5.999 ? 5.999 : u;
    i = (int)u;
    for (k = 0; k < 3; k++)
        rgb[k] = (png_byte)(map[i][k] + (u - i) * (map[i + 1][k] - map[i][k]) + 0.5);
}
#endif

/* Writes the field, borders left out.  Returns 0, or -1 if that is impossible here. */
static int write_png(const char *file, const double *f, int nx, int ny)
{
#ifdef HAVE_PNG
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_byte *row = malloc(3 * (size_t)nx);
    FILE *out = fopen(file, "wb");
    int x, y, ok = png && info && row && out;

    if (ok && setjmp(png_jmpbuf(png)))
        ok = 0;
    else if (ok) {
        png_init_io(png, out);
        png_set_IHDR(png, info, (png_uint_32)nx, (png_uint_32)ny, 8, PNG_COLOR_TYPE_RGB,
                     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        for (y = 0; y < ny; y++) {
            for (x = 0; x < nx; x++)
                colour(f[(size_t)(y + 1) * (size_t)(nx + 2) + (size_t)(x + 1)], row + 3 * x);
            png_write_row(png, row);
        }
        png_write_end(png, NULL);
    }
    if (png)
        png_destroy_write_struct(&png, &info);
    free(row);
    if (out)
        ok &= fclose(out) == 0;
    return ok ? 0 : -1;
#else
    (void)file, (void)f, (void)nx, (void)ny;
    return -1;
#endif
}

/* Rank 0 fetches every block with MPI_Get into the whole plate. */
static double *whole_plate(struct plate *p, int which)
{
    struct block all = { 0, 0, p->o.nx, p->o.ny }, b;
    double *f = NULL;
    int r, c[2];
    MPI_Datatype here, there;
    MPI_Aint base = 0, *bases = NULL;

    if (p->o.flavour == DYNAMIC) {
        MPI_Get_address(p->memory, &base);
        bases = malloc(sizeof *bases * (size_t)p->size);
        MPI_Gather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, 0, p->grid);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, p->win);
    if (p->rank == 0) {
        f = malloc(cells(all) * sizeof *f);
        if (!f)
            die(p, "out of memory");
        start_field(f, all, p->o.nx, p->o.ny);       /* for its border */
        for (r = 0; r < p->size; r++) {
            MPI_Cart_coords(p->grid, r, 2, c);
            b = block_of(p, c[0], c[1]);
            MPI_Type_vector(b.h, b.w, p->o.nx + 2, MPI_DOUBLE, &here);
            MPI_Type_vector(b.h, b.w, b.w + 2, MPI_DOUBLE, &there);
            MPI_Type_commit(&here);
            MPI_Type_commit(&there);
            MPI_Get(f + (size_t)(b.y0 + 1) * (size_t)(p->o.nx + 2) + (size_t)(b.x0 + 1), 1, here, r,
                    MPI_Aint_add(
                        bases ? bases[r] : 0,
                        (MPI_Aint)(field_offset(b, which) + (size_t)(b.w + 3) * sizeof(double))),
                    1, there, p->win);
            MPI_Type_free(&here);
            MPI_Type_free(&there);
        }
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, p->win);
    free(bases);
    return f;
}

static int finish(struct plate *p, double seconds)
{
    double *f = whole_plate(p, p->o.steps % 2), per_step[2], worst[2];
    int steps = p->o.steps > p->done ? p->o.steps - p->done : 1;
    long differ;
    int bad = 0;

    per_step[0] = seconds / steps * 1e6;
    per_step[1] = p->exchange_time / steps * 1e6;
    MPI_Reduce(per_step, worst, 2, MPI_DOUBLE, MPI_MAX, 0, p->grid);
    if (p->rank == 0) {
        printf("  time per step    %.1f us, of it %.1f us in the exchange of edges\n", worst[0],
               worst[1]);
        printf("  cells per second %.0f million\n", (double)p->o.nx * p->o.ny / worst[0]);
        if (p->o.check) {
            differ = compare_with_serial(p->o.nx, p->o.ny, p->o.steps, f);
            bad = differ != 0;
            if (bad)
                printf("  WRONG: %ld cells differ from the serial run\n", differ);
            else
                printf("  equal to the serial run, bit for bit\n");
        }
        if (p->o.png) {
            if (write_png(p->o.png, f, p->o.nx, p->o.ny) == 0)
                printf("  field written to %s\n", p->o.png);
            else
                printf("  no picture: %s cannot be written\n", p->o.png);
        }
        fflush(stdout);
    }
    free(f);
    MPI_Bcast(&bad, 1, MPI_INT, 0, p->grid);
    return bad;
}

/* ------------------------------------------------------------------ main */

static int run(struct plate *p)
{
    int k, watched;
    double begin, shown = 0;

    make_plate(p);
    if (p->o.restart)
        restart(p, p->o.restart);
    watched = p->rank == 0 && on_terminal();
    if (p->rank == 0) {
        printf("heat2d: %d x %d cells, %d steps, %d ranks as %d x %d, %s on a window made by %s\n",
               p->o.nx, p->o.ny, p->o.steps, p->size, p->dims[0], p->dims[1], sync_names[p->o.sync],
               flavour_names[p->o.flavour]);
        fflush(stdout);
    }
    if (p->o.sync == FENCE)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, p->win);
    else if (p->o.sync >= LOCK)
        MPI_Win_lock_all(0, p->win);
    MPI_Barrier(p->grid);
    begin = MPI_Wtime();
    for (k = p->done; k < p->o.steps; k++) {
        step(field(p, (k + 1) % 2), field(p, k % 2), p->mine);
        exchange(p, (k + 1) % 2, k + 1 - p->done);
        if (watched && MPI_Wtime() - shown > 0.05) {
            shown = MPI_Wtime();
            bar(k + 1, p->o.steps, shown - begin);
        }
    }
    begin = MPI_Wtime() - begin;
    if (watched)
        printf("%78s\r", "");
    if (p->o.sync == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, p->win);
    else if (p->o.sync >= LOCK)
        MPI_Win_unlock_all(p->win);
    if (p->o.checkpoint)
        checkpoint(p, p->o.checkpoint);
    k = finish(p, begin);
    free_plate(p);
    return k;
}

static int choose(const char *word, const char *const *names, int n)
{
    int i;

    for (i = 0; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}

static int parse(struct options *o, int argc, char **argv)
{
    int i, v;

    for (i = 1; i < argc; i++) {
        const char *a = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(a, "--no-check") == 0) {
            o->check = 0;
            continue;
        }
        i++;
        if (strcmp(a, "--png") == 0 && *next)
            o->png = next;
        else if (strcmp(a, "--checkpoint") == 0 && *next)
            o->checkpoint = next;
        else if (strcmp(a, "--restart") == 0 && *next)
            o->restart = next;
        else if (strcmp(a, "--sync") == 0 && (v = choose(next, sync_names, SYNCS)) >= 0)
            o->sync = (enum sync)v;
        else if (strcmp(a, "--flavour") == 0 && (v = choose(next, flavour_names, 4)) >= 0)
            o->flavour = (enum flavour)v;
        else if (strcmp(a, "--nx") == 0 && atoi(next) > 0)
            o->nx = atoi(next);
        else if (strcmp(a, "--ny") == 0 && atoi(next) > 0)
            o->ny = atoi(next);
        else if (strcmp(a, "--steps") == 0 && (atoi(next) > 0 || strcmp(next, "0") == 0))
            o->steps = atoi(next);
        else
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct plate p = { .o = { .nx = 640, .ny = 480, .steps = 1000, .check = 1 } };
    int bad;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    if (parse(&p.o, argc, argv)) {
        if (p.rank == 0)
            printf("usage: heat2d [--nx N] [--ny N] [--steps N] [--sync " SYNC_NAMES "]\n"
                   "              [--flavour allocate|create|shared|dynamic] [--png FILE] "
                   "[--no-check]\n"
                   "              [--checkpoint FILE] [--restart FILE]\n");
        MPI_Finalize();
        return 2;
    }
    bad = run(&p);
    MPI_Finalize();
    return bad;
}
