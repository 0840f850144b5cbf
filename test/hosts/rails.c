/* rails.c - long puts, gets and messages between two processes, as rails.test has them over several
 * cards: each byte is looked at. Arguments: rounds (0: one put to a process that sleeps); then a
 * file which rank 0 makes after half of them, to wait until it is gone. */
#include "mt.h"

#include <unistd.h>

enum { MOST = (1 << 20) + 4096, PUTS = 3 };

static char *mem, *data, *back;

/* What byte i of round k from rank r is. */
static char byte(int k, int r, size_t i)
{
    return (char)(k * 31 + r * 7 + (int)(i % 251));
}

static void fill(char *at, int k, int r, size_t len)
{
    for (size_t i = 0; i < len; i++)
        at[i] = byte(k, r, i);
}

static void expect(const char *at, int k, int r, size_t len, const char *what)
{
    size_t i = 0;
    while (i < len && at[i] == byte(k, r, i))
        i++;
    MUST(i == len, "%s of %zu bytes, round %d: byte %zu is wrong", what, len, k, i);
}

/* Several puts to one place, a flush behind each: the last must be what is there. */
static void put(MPI_Win win, int to, int k, size_t len)
{
    for (int n = 0; n < PUTS; n++) {
        fill(data, k + n, mt_rank, len);
        MPI_Put(data, (int)len, MPI_CHAR, to, 0, (int)len, MPI_CHAR, win);
        MPI_Win_flush(to, win);
    }
    memset(back, 0, len);
    MPI_Get(back, (int)len, MPI_CHAR, to, 0, (int)len, MPI_CHAR, win);
    MPI_Win_flush(to, win);
    expect(back, k + PUTS - 1, mt_rank, len, "a get");
}

/* A put, and behind its flush a message: a process that has the message finds the data. */
static void tell(MPI_Win win, int to, int from, int k, size_t len)
{
    fill(data, k, mt_rank, len);
    MPI_Put(data, (int)len, MPI_CHAR, to, 0, (int)len, MPI_CHAR, win);
    MPI_Win_flush(to, win);
    MPI_Sendrecv(NULL, 0, MPI_CHAR, to, 1, NULL, 0, MPI_CHAR, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_sync(win);
    expect(mem, k, from, len, "a put");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void message(int to, int from, int k, size_t len)
{
    MPI_Request q[2];
    fill(data, k, mt_rank, len);
    memset(back, 0, len);
    MPI_Irecv(back, (int)len, MPI_CHAR, from, 2, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(data, (int)len, MPI_CHAR, to, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    expect(back, k, from, len, "a message");
}

static void pause_at(const char *file)
{
    if (mt_rank == 0) {
        FILE *f = fopen(file, "w");
        MUST(f != NULL, "%s cannot be made", file);
        if (f)
            fclose(f);
        for (int i = 0; i < 6000 && access(file, F_OK) == 0; i++)
            usleep(10000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 is outside MPI while rank 0 moves LONG bytes: it answers no question meanwhile. */
static void over_a_sleeper(void)
{
    enum { LONG = 32 << 20 };
    char *at, *from = malloc(LONG);
    MPI_Win win;
    MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
    MPI_Win_lock_all(0, win);
    /* first some that its target waits for, so that the rail is connected */
    for (int k = 0; k < 100; k++) {
        if (mt_rank == 0)
            put(win, 1, k, 65536);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    fill(from, 1, 0, LONG);
    if (mt_rank == 0) {
        MPI_Put(from, LONG, MPI_CHAR, 1, 0, LONG, MPI_CHAR, win);
        MPI_Win_flush(1, win);
    } else {
        sleep(3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 1)
        expect(at, 1, 0, LONG, "a put to a sleeper");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(from);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {1, 65535, 65536, 65537, 200001, 1 << 20, (1 << 20) + 3};
    mt_init(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 4;
    int to = (mt_rank + 1) % mt_size, from = (mt_rank + mt_size - 1) % mt_size;
    MPI_Win win;
    data = malloc(MOST);
    back = malloc(MOST);
    if (rounds == 0)
        over_a_sleeper();
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < rounds; k++) {
        if (argc > 2 && k == rounds / 2)
            pause_at(argv[2]);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            put(win, to, k, lengths[i]);
            MPI_Barrier(MPI_COMM_WORLD);
            tell(win, to, from, k, lengths[i]);
            message(to, from, k, lengths[i]);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(data);
    free(back);
    return mt_finish();
}
