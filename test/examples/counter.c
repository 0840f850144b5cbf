/* counter.c - a distributed work queue with MPI_Fetch_and_op.
 *
 * The queue is one number in the window of rank 0: the next line of a picture of the Mandelbrot
 * set. Every rank takes a number by adding one to it, computes that line, puts it into rank 0's
 * picture and asks again. Some lines take a hundred times as long as others. No rank hands out the
 * work: rank 0 computes like the others and need not answer.
 *
 * At the end rank 0 shows the picture and how much each rank did, and recomputes some lines as a
 * check. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 76, LINES = 400, DEEP = 20000, SHOWN = 25, TALLY = 3 };

/* The memory of rank 0, bytes from its start: the counter, a tally per rank, the picture. */
struct layout {
    MPI_Aint next, tally, picture, bytes;
};

static struct layout layout_of(int ranks)
{
    struct layout l = { 0, 64, 0, 0 };

    l.picture = l.tally + (MPI_Aint)sizeof(double) * TALLY * ranks;
    l.bytes = l.picture + (MPI_Aint)sizeof(int32_t) * WIDTH * LINES;
    return l;
}

/* Steps until each point of a line escapes; the sum is the price of the line. */
static int64_t compute_line(int line, int32_t *out)
{
    int64_t price = 0;
    int i, k;

    for (i = 0; i < WIDTH; i++) {
        double cx = -2.1 + 2.9 * i / WIDTH, cy = -1.2 + 2.4 * line / LINES, x = 0, y = 0, t;

        for (k = 0; k < DEEP && x * x + y * y < 4.0; k++) {
            t = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = t;
        }
        out[i] = k;
        price += k;
    }
    return price;
}

/* Takes lines until none is left.  tally: lines, steps, seconds. */
static void work(MPI_Win win, struct layout l, double *tally)
{
    int32_t buf[WIDTH];
    int64_t one = 1, line;
    double t = MPI_Wtime();

    for (;;) {
        MPI_Fetch_and_op(&one, &line, MPI_INT64_T, 0, l.next, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (line >= LINES)
            break;
        tally[1] += (double)compute_line((int)line, buf);
        tally[0]++;
        MPI_Put(buf, WIDTH, MPI_INT32_T, 0, l.picture + (MPI_Aint)sizeof buf * (MPI_Aint)line,
                WIDTH, MPI_INT32_T, win);
        MPI_Win_flush_local(0, win);
    }
    tally[2] = MPI_Wtime() - t;
}

static void show_picture(const int32_t *p)
{
    static const char shades[] = " .,:;-=+*%#";
    int i, k, y;

    for (y = 0; y < SHOWN; y++) {
        char text[WIDTH + 1];

        for (i = 0; i < WIDTH; i++) {
            int32_t v = p[(long)(y * LINES / SHOWN + LINES / SHOWN / 2) * WIDTH + i];

            for (k = 0; v > 1 && k < 9; k++)
                v = v * 5 / 8;
            text[i] = p[(long)(y * LINES / SHOWN + LINES / SHOWN / 2) * WIDTH + i] == DEEP
                          ? '@'
                          : shades[k];
        }
        text[WIDTH] = 0;
        printf("  %s\n", text);
    }
}

/* Returns 1 if the lines taken do not add up or a line is wrong. */
static int report(const double *tally, const int32_t *picture, int ranks, int64_t next)
{
    double lines = 0, steps = 0, longest = 0;
    int32_t again[WIDTH];
    int r, i, bad = 0;

    for (r = 0; r < ranks; r++) {
        lines += tally[TALLY * r];
        steps += tally[TALLY * r + 1];
        if (tally[TALLY * r + 2] > longest)
            longest = tally[TALLY * r + 2];
    }
    show_picture(picture);
    printf("\n  rank   lines   share of the work\n");
    for (r = 0; r < ranks; r++) {
        double share = tally[TALLY * r + 1] / steps;

        printf("  %4d %7.0f   %5.1f %%  ", r, tally[TALLY * r], 100 * share);
        for (i = 0; i < (int)(share * 50 + 0.5); i++)
            putchar('#');
        putchar('\n');
    }
    printf("\n  %d lines, %.0f million steps, %.3f s\n", LINES, steps / 1e6, longest);
    bad |= lines != LINES || next != LINES + ranks;
    for (i = 0; i < LINES; i += 37) {
        compute_line(i, again);
        bad |= memcmp(again, picture + (long)i * WIDTH, sizeof again) != 0;
    }
    printf(bad ? "  WRONG: lines were lost, done twice or garbled\n"
               : "  every line was done exactly once\n");
    fflush(stdout);
    return bad;
}

int main(int argc, char **argv)
{
    double tally[TALLY] = { 0, 0, 0 };
    int rank, ranks, bad = 0;
    struct layout l;
    char *memory;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    l = layout_of(ranks);
    MPI_Win_allocate(rank ? 0 : l.bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank == 0) {
        memset(memory, 0, (size_t)l.bytes);
        printf(
            "counter: a picture of %d lines, shared out by a counter on rank 0 among %d ranks\n\n",
            LINES, ranks);
        fflush(stdout);
    }
    MPI_Win_fence(0, win);                 /* the counter is 0 before any rank asks */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    work(win, l, tally);
    MPI_Put(tally, TALLY, MPI_DOUBLE, 0, l.tally + (MPI_Aint)sizeof tally * rank, TALLY, MPI_DOUBLE,
            win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        bad = report((double *)(void *)(memory + l.tally), (int32_t *)(void *)(memory + l.picture),
                     ranks, *(int64_t *)(void *)memory);
        MPI_Win_unlock(0, win);
    }
    MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
