/* scarce: one rank is refused memory at one place of a collective call; every rank must come out of
 * the call, with or without an error. refuse.c is preloaded; scarce.test runs it place by place.
 *
 *     scarce CALL RANK AT N [BEFORE]   refuse requests [AT, AT + N) of rank RANK; AT -1: count them
 *
 * BEFORE calls come before, with all memory. Ranks meet at the end through a file that they map,
 * whose name is in SCARCE_MEET, and not through the library. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma weak refuse_arm
#pragma weak refuse_disarm
void refuse_arm(long at, long n);
long refuse_disarm(long *refused);

static int rank, ranks;
static char file[4096];

static MPI_Win keep_win = MPI_WIN_NULL; /* what the last call made */
static MPI_Comm keep_comm = MPI_COMM_NULL;
static MPI_Group whole;
static MPI_File keep_file = MPI_FILE_NULL;
static char memory[64];

static int open_file(void)
{
    return MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &keep_file);
}

static int win_create(void)
{
    return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &keep_win);
}

static int win_allocate(void)
{
    void *base;
    return MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &keep_win);
}

static int win_shared(void)
{
    void *base;
    return MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &keep_win);
}

static int win_dynamic(void)
{
    return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &keep_win);
}

static int comm_dup(void)
{
    return MPI_Comm_dup(MPI_COMM_WORLD, &keep_comm);
}

static int comm_split(void)
{
    return MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &keep_comm);
}

static int comm_group(void)
{
    return MPI_Comm_create_group(MPI_COMM_WORLD, whole, 7, &keep_comm);
}

static int comm_create(void)
{
    return MPI_Comm_create(MPI_COMM_WORLD, whole, &keep_comm);
}

static int allreduce(void)
{
    int sum;
    return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int allgather(void)
{
    int all[64];
    return MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
}

static int barrier(void)
{
    return MPI_Barrier(MPI_COMM_WORLD);
}

static void give_back(void)
{
    if (keep_win != MPI_WIN_NULL)
        MPI_Win_free(&keep_win);
    if (keep_comm != MPI_COMM_NULL)
        MPI_Comm_free(&keep_comm);
    if (keep_file != MPI_FILE_NULL)
        MPI_File_close(&keep_file);
}

static const struct {
    const char *name;
    int (*call)(void);
} calls[] = {{"open", open_file}, {"create", win_create}, {"allocate", win_allocate},
             {"shared", win_shared}, {"dynamic", win_dynamic}, {"dup", comm_dup},
             {"split", comm_split}, {"group", comm_group}, {"comm", comm_create},
             {"allreduce", allreduce}, {"allgather", allgather}, {"barrier", barrier}};

struct out_of_call {
    int out, fail;
};

/* Until all are out of the call. Others may yet need this rank's progress. */
static void meet(int err)
{
    int fd = open(getenv("SCARCE_MEET"), O_RDWR), flag;
    struct out_of_call *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || m == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 9);
    close(fd);
    if (err)
        __atomic_fetch_add(&m->fail, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&m->out, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&m->out, __ATOMIC_SEQ_CST) < ranks) {
        MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        usleep(500);
    }
    if (m->fail && m->fail < ranks && !rank)
        printf("%d of %d have an error\n", m->fail, ranks);
    if (m->fail == ranks && !rank)
        puts("all have an error");
    if (m->fail)
        exit(0); /* what was made on some ranks cannot be freed together */
}

int main(int argc, char **argv)
{
    int (*call)(void) = NULL;
    snprintf(file, sizeof file, "%s.data", getenv("SCARCE_MEET"));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &whole);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (size_t i = 0; argc > 4 && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(argv[1], calls[i].name))
            call = calls[i].call;
    if (!call || !refuse_arm) {
        fprintf(stderr, "usage: scarce CALL RANK AT N [BEFORE], with refuse.so preloaded\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = argc > 5 ? atoi(argv[5]) : 0; i > 0; i--) {
        call();
        give_back();
    }
    int chosen = rank == atoi(argv[2]);
    if (chosen)
        refuse_arm(atol(argv[3]), atol(argv[4]));
    int err = call();
    if (chosen) {
        long refused, n = refuse_disarm(&refused);
        if (atol(argv[3]) < 0)
            printf("%ld requests\n", n);
        else
            printf("%ld refused\n", refused);
        char text[MPI_MAX_ERROR_STRING];
        int len;
        if (err) {
            MPI_Error_string(err, text, &len);
            printf("rank %d: %s\n", rank, text);
        }
        fflush(stdout); /* the first rank that leaves ends the others */
    }
    meet(err);
    give_back();
    MPI_Group_free(&whole);
    MPI_Finalize();
    return 0;
}
