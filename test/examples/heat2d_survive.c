/* heat2d_survive.c - the heat equation goes on when a process is killed: a new one takes its rank
 * and its part of the plate, and the result has the same bits.
 *
 *   rank 0 |########|     Each rank owns rows of the plate, and puts its first and last row into
 *   rank 1 |########|     the borders of its neighbours. Every few steps it also puts all its rows
 *   rank 2 |########|     into the memory of the next rank (of the last one: rank 0).
 *
 * Rank 1 is killed in the middle of an epoch. The others end the epoch with an error, revoke the
 * window, free it, and shrink the communicator. They start a process, which gets number 1. All make
 * a window again over the memory they have, rank 2 puts the rows of rank 1 into the new one, and
 * all go on from there. doc/howto/survive-a-failure.md explains the calls.
 *
 *   mpiexec -disable-auto-cleanup -n 4 ./heat2d_survive --kill 1:35
 *
 * Where a rank and the next one die at once, the rows are lost, and the run begins again. A process
 * that dies while the others mend ends the job. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heat2d.h"

enum { KILLS = 8, PAD = 64 };

struct options {
    int nx, ny, steps, every;
    int kills, kill_rank[KILLS], kill_step[KILLS];
};

struct plate {
    struct options o;
    MPI_Comm comm;
    int rank, size;
    int killed; /* a bit for each --kill that was obeyed */
    struct block mine, left; /* left: of the rank before this one */
    char *memory;            /* the window: two numbers, two copies for `left`, two fields */
    MPI_Win win;
    double *saved[2];        /* own rows ... */
    int64_t saved_step[2];   /* ... after so many steps; -1: none */
};

/* ------------------------------------------------------------------ places */

static struct block block_of(const struct plate *p, int rank)
{
    struct block b = { .w = p->o.nx };

    split(p->o.ny, p->size, rank, &b.y0, &b.h);
    return b;
}

static int before(const struct plate *p, int rank) { return (rank + p->size - 1) % p->size; }

/* Displacements in the window of a rank: of the copies for the rank before it, of its fields. */
static MPI_Aint copy_at(const struct plate *p, int rank, int slot)
{
    return PAD + (MPI_Aint)((size_t)slot * cells(block_of(p, before(p, rank))) * sizeof(double));
}

static MPI_Aint field_at(const struct plate *p, int rank, int which)
{
    return copy_at(p, rank, 2) +
           (MPI_Aint)((size_t)which * cells(block_of(p, rank)) * sizeof(double));
}

static double *field(const struct plate *p, int which)
{
    return (double *)(void *)(p->memory + field_at(p, p->rank, which));
}

static int64_t *copy_step(const struct plate *p) { return (int64_t *)(void *)p->memory; }

static void give_up(const char *what)
{
    fprintf(stderr, "heat2d_survive: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(int err, const char *what)
{
    if (err)
        give_up(what);
}

/* A process that has not been there before: memory, and the plate at the start. */
static void make_plate(struct plate *p)
{
    size_t n;
    int i;

    MPI_Comm_rank(p->comm, &p->rank);
    MPI_Comm_size(p->comm, &p->size);
    if (p->o.ny < p->size)
        give_up("more processes than rows");
    p->mine = block_of(p, p->rank);
    p->left = block_of(p, before(p, p->rank));
    n = cells(p->mine);
    p->memory = malloc((size_t)field_at(p, p->rank, 2));
    for (i = 0; i < 2; i++) {
        p->saved[i] = malloc(n * sizeof(double));
        p->saved_step[i] = -1;
        if (!p->memory || !p->saved[i])
            give_up("out of memory");
        copy_step(p)[i] = -1;
        start_field(field(p, i), p->mine, p->o.nx, p->o.ny);
    }
}

static int make_window(struct plate *p)
{
    int err = MPI_Win_create(p->memory, field_at(p, p->rank, 2), 1, MPI_INFO_NULL, p->comm,
                             &p->win);

    if (!err) {
        MPI_Win_set_errhandler(p->win, MPI_ERRORS_RETURN);
        err = MPI_Win_fence(MPI_MODE_NOPRECEDE, p->win);
    }
    return err;
}

/* ------------------------------------------------------------------ work */

static int is_killed(const struct plate *p, int k)
{
    int i;

    for (i = 0; i < p->o.kills; i++)
        if (p->o.kill_rank[i] == p->rank && p->o.kill_step[i] == k && !(p->killed >> i & 1))
            return 1;
    return 0;
}

static int put_row(struct plate *p, int which, int row, int to, int to_row)
{
    size_t stride = (size_t)p->o.nx + 2;

    return MPI_Put(field(p, which) + (size_t)row * stride, (int)stride, MPI_DOUBLE, to,
                   field_at(p, to, which) + (MPI_Aint)((size_t)to_row * stride * sizeof(double)),
                   (int)stride, MPI_DOUBLE, p->win);
}

static int exchange(struct plate *p, int which, int k)
{
    int err = MPI_SUCCESS;

    if (p->rank > 0)
        err = put_row(p, which, 1, p->rank - 1, block_of(p, p->rank - 1).h + 1);
    if (is_killed(p, k))
        kill(getpid(), SIGKILL);
    if (!err && p->rank < p->size - 1)
        err = put_row(p, which, p->mine.h, p->rank + 1, 0);
    return err ? err : MPI_Win_fence(0, p->win);
}

/* The field after k steps, here and at the next rank. There are two places for it: the older copy
 * is good until all have the newer one. First the rows, then the number: where the number is, the
 * rows are. */
static int save(struct plate *p, int k)
{
    int slot = k / p->o.every % 2, next = (p->rank + 1) % p->size, err;
    int64_t number = k;

    memcpy(p->saved[slot], field(p, k % 2), cells(p->mine) * sizeof(double));
    p->saved_step[slot] = k;
    err = MPI_Put(p->saved[slot], (int)cells(p->mine), MPI_DOUBLE, next, copy_at(p, next, slot),
                  (int)cells(p->mine), MPI_DOUBLE, p->win);
    if (!err)
        err = MPI_Win_fence(0, p->win);
    if (!err)
        err = MPI_Put(&number, 1, MPI_INT64_T, next, slot * (MPI_Aint)sizeof number, 1, MPI_INT64_T,
                      p->win);
    return err ? err : MPI_Win_fence(0, p->win);
}

/* From step `k` to the last one, or to the first error. */
static int steps(struct plate *p, int k)
{
    int err = save(p, k);

    for (; k < p->o.steps && !err; k++) {
        step(field(p, (k + 1) % 2), field(p, k % 2), p->mine);
        err = exchange(p, (k + 1) % 2, k + 1);
        if (!err && (k + 1) % p->o.every == 0)
            err = save(p, k + 1);
    }
    return err;
}

/* ------------------------------------------------------------------ after a failure */

/* The numbers of all, in a communicator that has the new processes at its end. */
static void number_all(struct plate *p, MPI_Comm all, int *lost, int n, int is_new)
{
    int rank, size;

    must(MPI_Bcast(&n, 1, MPI_INT, 0, all) || MPI_Bcast(lost, n, MPI_INT, 0, all) ||
             MPI_Bcast(&p->killed, 1, MPI_INT, 0, all),
         "no numbers");
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    must(MPI_Comm_split(all, 0, is_new ? lost[rank - (size - n)] : p->rank, &p->comm),
         "no communicator of all");
    MPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
    MPI_Comm_free(&all);
}

/* Ranks of p->comm that are not in `living`. */
static int find_lost(struct plate *p, MPI_Comm living, int *lost)
{
    MPI_Group was, is;
    int r, there, n = 0;

    MPI_Comm_group(p->comm, &was);
    MPI_Comm_group(living, &is);
    for (r = 0; r < p->size; r++) {
        MPI_Group_translate_ranks(was, 1, &r, is, &there);
        if (there == MPI_UNDEFINED)
            lost[n++] = r;
    }
    MPI_Group_free(&was);
    MPI_Group_free(&is);
    return n;
}

/* The new process of that rank is not to obey the same --kill. */
static void was_killed(struct plate *p, int rank)
{
    int i;

    for (i = 0; i < p->o.kills; i++)
        if (p->o.kill_rank[i] == rank && !(p->killed >> i & 1)) {
            p->killed |= 1 << i;
            return;
        }
}

/* p->comm has all its ranks again. Returns how many are new; lost: which. */
static int mend(struct plate *p, char **argv, int *lost)
{
    MPI_Comm living, both, all;
    int n, i;

    MPIX_Win_revoke(p->win); /* others may wait in the epoch, or in a call on the communicator */
    MPIX_Comm_revoke(p->comm);
    MPI_Win_free(&p->win);
    must(MPIX_Comm_shrink(p->comm, &living), "no communicator of the living");
    n = find_lost(p, living, lost);
    for (i = 0; i < n; i++)
        was_killed(p, lost[i]);
    must(MPI_Comm_spawn(argv[0], argv + 1, n, MPI_INFO_NULL, 0, living, &both,
                        MPI_ERRCODES_IGNORE),
         "no new process");
    must(MPI_Intercomm_merge(both, 0, &all), "no communicator with the new processes");
    MPI_Comm_free(&p->comm);
    MPI_Comm_free(&living);
    MPI_Comm_free(&both);
    number_all(p, all, lost, n, 0);
    return n;
}

static int is_in(int rank, const int *list, int n)
{
    int i;

    for (i = 0; i < n; i++)
        if (list[i] == rank)
            return 1;
    return 0;
}

/* The last step of which all rows are there: each rank that was not lost has its own, and the next
 * rank has those of one that was. 0: there is none, or there was no failure. */
static int common_step(struct plate *p, const int *lost, int n, int *slot)
{
    int is_new = is_in(p->rank, lost, n), left_is_new = is_in(before(p, p->rank), lost, n), i;
    int64_t v[4]; /* of each slot: the lowest, and with the other sign the highest */

    for (i = 0; i < 2; i++) {
        int64_t has = is_new ? -1 : p->saved_step[i];

        if (!is_new && left_is_new && copy_step(p)[i] != has)
            has = -1;
        v[2 * i] = has;
        v[2 * i + 1] = -has;
        if (is_new && !is_in((p->rank + 1) % p->size, lost, n)) /* it takes what there is */
            v[2 * i] = v[2 * i + 1] = INT64_MAX;
    }
    must(MPI_Allreduce(MPI_IN_PLACE, v, 4, MPI_INT64_T, MPI_MIN, p->comm), "no common step");
    for (i = 0; i < 2; i++)
        if (v[2 * i] != -v[2 * i + 1] || v[2 * i] == INT64_MAX)
            v[2 * i] = -1;
    *slot = v[2] > v[0];
    return v[2 * *slot] > 0 ? (int)v[2 * *slot] : 0;
}

/* Own rows from the own copy, those of the new ranks from the rank behind each. Then there is a
 * window again. */
static int restore(struct plate *p, const int *lost, int n)
{
    int slot, k = common_step(p, lost, n, &slot), left = before(p, p->rank), i;

    for (i = 0; i < 2 && (!n || k == 0); i++)
        start_field(field(p, i), p->mine, p->o.nx, p->o.ny);
    if (k && !is_in(p->rank, lost, n))
        memcpy(field(p, k % 2), p->saved[slot], cells(p->mine) * sizeof(double));
    must(make_window(p), "no window");
    if (k && is_in(left, lost, n))
        must(MPI_Put(p->memory + copy_at(p, p->rank, slot), (int)cells(p->left), MPI_DOUBLE, left,
                     field_at(p, left, k % 2), (int)cells(p->left), MPI_DOUBLE, p->win),
             "the rows of a new process");
    must(MPI_Win_fence(0, p->win), "the rows of the new processes");
    for (i = 0; i < n && p->rank == 0; i++)
        printf("  rank %d was lost; a new process has its place, and all go on from step %d\n",
               lost[i], k);
    fflush(stdout);
    return k;
}

/* ------------------------------------------------------------------ main */

/* Rank 0 has all rows, and computes them once more. */
static int compare(struct plate *p)
{
    struct block all = { 0, 0, p->o.nx, p->o.ny };
    int *counts = calloc((size_t)p->size, sizeof(int)), *at = calloc((size_t)p->size, sizeof(int));
    size_t stride = (size_t)p->o.nx + 2;
    double *f = p->rank ? NULL : malloc(cells(all) * sizeof *f);
    long differ = 0;
    int r;

    if (!counts || !at || (p->rank == 0 && !f))
        give_up("out of memory");
    for (r = 0; r < p->size; r++) {
        counts[r] = (int)stride * block_of(p, r).h;
        at[r] = (int)stride * (block_of(p, r).y0 + 1);
    }
    must(MPI_Gatherv(field(p, p->o.steps % 2) + stride, counts[p->rank], MPI_DOUBLE, f, counts, at,
                     MPI_DOUBLE, 0, p->comm),
         "the rows do not come together");
    if (p->rank == 0) {
        differ = compare_with_serial(p->o.nx, p->o.ny, p->o.steps, f);
        if (differ)
            printf("  WRONG: %ld cells differ from the serial run\n", differ);
        else
            printf("  equal to the serial run, bit for bit\n");
        fflush(stdout);
    }
    free(f);
    free(counts);
    free(at);
    return differ != 0;
}

static int parse(struct options *o, int argc, char **argv)
{
    int i, *number;

    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--kill") == 0) {
            if (o->kills == KILLS || sscanf(argv[i + 1], "%d:%d", &o->kill_rank[o->kills],
                                            &o->kill_step[o->kills]) != 2)
                return -1;
            o->kills++;
            continue;
        }
        number = strcmp(argv[i], "--nx") == 0      ? &o->nx
                 : strcmp(argv[i], "--ny") == 0    ? &o->ny
                 : strcmp(argv[i], "--steps") == 0 ? &o->steps
                 : strcmp(argv[i], "--every") == 0 ? &o->every
                                                   : NULL;
        if (!number || (*number = atoi(argv[i + 1])) <= 0)
            return -1;
    }
    return i == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct plate p = { .o = { .nx = 320, .ny = 240, .steps = 400, .every = 10 } };
    MPI_Comm parent, all;
    int bad, fine, n = 0, k, *lost;

    MPI_Init(&argc, &argv);
    if (parse(&p.o, argc, argv)) {
        printf("usage: heat2d_survive [--nx N] [--ny N] [--steps N] [--every N] "
               "[--kill RANK:STEP]...\n");
        MPI_Finalize();
        return 2;
    }
    lost = malloc((size_t)p.o.ny * sizeof *lost); /* there are no more ranks than rows */
    if (!lost)
        give_up("out of memory");
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_dup(MPI_COMM_WORLD, &p.comm);
        MPI_Comm_set_errhandler(p.comm, MPI_ERRORS_RETURN);
    } else {
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        must(MPI_Intercomm_merge(parent, 1, &all), "no communicator with the living");
        MPI_Comm_free(&parent);
        number_all(&p, all, lost, n, 1);
    }
    make_plate(&p);
    for (;;) {
        k = restore(&p, lost, n);
        fine = steps(&p, k) == MPI_SUCCESS;
        if (!fine) { /* no other is to wait for this one; and then all decide alike */
            MPIX_Win_revoke(p.win);
            MPIX_Comm_revoke(p.comm);
        }
        if (MPIX_Comm_agree(p.comm, &fine) == MPI_SUCCESS && fine)
            break;
        n = mend(&p, argv, lost);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, p.win);
    bad = compare(&p);
    MPI_Win_free(&p.win);
    MPI_Comm_free(&p.comm);
    MPI_Finalize();
    free(p.memory);
    free(p.saved[0]);
    free(p.saved[1]);
    free(lost);
    return bad;
}
