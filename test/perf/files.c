/* files.c - times of accesses to a file, for test/perf/files: one line a row, "NAME<tab>SECONDS",
 * the time of the slowest rank. files FILE REPEATS; the best of the repeats. Each rank moves
 * 8 MiB. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 8 << 20, PIECE = 1024, SHARED = 512 };
static int rank, size, repeats;
static const char *name;
static char *buf;

enum what { CONTIGUOUS, INTERLEAVED, CUBE };

/* A cube of 8-byte elements, cut along its last dimension: many short rows. */
static MPI_Datatype cube(void)
{
    int all[3] = {128, 128, 64 * size}, part[3] = {128, 128, 64}, from[3] = {0, 0, 64 * rank};
    MPI_Datatype t;
    MPI_Type_create_subarray(3, all, part, from, MPI_ORDER_C, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    return t;
}

static void view(MPI_File f, enum what what)
{
    MPI_Datatype t, ft = MPI_BYTE;
    MPI_Offset disp = what == CONTIGUOUS ? (MPI_Offset)rank * EACH
                      : what == INTERLEAVED ? (MPI_Offset)rank * PIECE : 0;
    if (what == INTERLEAVED) {
        MPI_Type_contiguous(PIECE, MPI_BYTE, &t);
        MPI_Type_create_resized(t, 0, (MPI_Aint)PIECE * size, &ft);
        MPI_Type_commit(&ft);
        MPI_Type_free(&t);
    } else if (what == CUBE) {
        ft = cube();
    }
    MPI_File_set_view(f, disp, MPI_BYTE, ft, "native", MPI_INFO_NULL);
    if (what != CONTIGUOUS)
        MPI_Type_free(&ft);
}

static void row(const char *text, double best)
{
    double all;
    MPI_Reduce(&best, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s\t%.9f\n", text, all);
        fflush(stdout);
    }
}

static double now(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* Time since t of the slowest rank, if it is less than so far. */
static void take(double t, double *best)
{
    double mine = MPI_Wtime() - t, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (*best == 0 || all < *best)
        *best = all;
}

static void moves(MPI_File f, enum what what, int collective, const char *text)
{
    double w = 0, r = 0, t;
    char line[100];
    view(f, what);
    for (int k = 0; k < repeats; k++) {
        t = now();
        if (collective)
            MPI_File_write_at_all(f, 0, buf, EACH, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_write_at(f, 0, buf, EACH, MPI_BYTE, MPI_STATUS_IGNORE);
        take(t, &w);
        t = now();
        if (collective)
            MPI_File_read_at_all(f, 0, buf, EACH, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_read_at(f, 0, buf, EACH, MPI_BYTE, MPI_STATUS_IGNORE);
        take(t, &r);
    }
    snprintf(line, sizeof line, "%s write", text);
    row(line, w);
    snprintf(line, sizeof line, "%s read", text);
    row(line, r);
}

/* What the file system can do: each rank writes its part by one call. */
static void limit(void)
{
    double w = 0, r = 0, t;
    int fd = open(name, O_RDWR);
    for (int k = 0; k < repeats; k++) {
        t = now();
        if (pwrite(fd, buf, EACH, (off_t)rank * EACH) != EACH)
            perror(name);
        take(t, &w);
        t = now();
        if (pread(fd, buf, EACH, (off_t)rank * EACH) != EACH)
            perror(name);
        take(t, &r);
    }
    close(fd);
    row("pwrite, contiguous", w);
    row("pread, contiguous", r);
}

static void shared(MPI_File f)
{
    double best = 0;
    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    for (int k = 0; k < repeats; k++) {
        MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
        double t = now();
        for (int i = 0; i < SHARED; i++)
            MPI_File_write_shared(f, buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
        take(t, &best);
    }
    row("write_shared of 1 KiB", best / SHARED);
}

static void opens(void)
{
    double best = 0;
    MPI_File f;
    for (int k = 0; k < repeats; k++) {
        double t = now();
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f);
        MPI_File_close(&f);
        take(t, &best);
    }
    row("open and close", best);
}

int main(int argc, char **argv)
{
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3) {
        fprintf(stderr, "usage: files FILE REPEATS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    name = argv[1];
    repeats = atoi(argv[2]);
    buf = malloc(EACH);
    memset(buf, 'a' + rank, EACH);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_size(f, (MPI_Offset)size * EACH);
    limit();
    moves(f, CONTIGUOUS, 0, "independent contiguous");
    moves(f, CONTIGUOUS, 1, "collective contiguous");
    moves(f, INTERLEAVED, 1, "collective interleaved 1 KiB");
    moves(f, CUBE, 1, "collective 3-D subarray");
    moves(f, INTERLEAVED, 0, "independent interleaved 1 KiB");
    shared(f);
    MPI_File_close(&f);
    opens();
    if (rank == 0)
        unlink(name);
    free(buf);
    MPI_Finalize();
    return 0;
}
