/* memory.c - buffers that reach beyond the memory that is there: memory CASE (memory.test). Lines
 * of wrong calls have the marks WRONG CASE. The other cases look wrong and are not. */
#define _GNU_SOURCE 1
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define W MPI_COMM_WORLD
enum { N = 20 };
static int rank = -1, other = -1; /* not beside those that are written beyond */
static int halo[N], inbox[N], beside[N];
static const int constant[N] = {1, 2, 3};
float left = 1; /* adjacent; a stripped program has the symbol of the first alone */
__attribute__((visibility("hidden"))) float right = 2;

/* --- wrong ------------------------------------------------------------------------------------ */

/* The message is short: only the count is wrong. */
static void variable(void)
{
    MPI_Sendrecv(halo, N, MPI_INT, other, 1, inbox, N, MPI_INT, other, 1, W, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(halo, 4, MPI_INT, other, 2, W);
    else
        MPI_Recv(inbox + 10, 30, MPI_INT, other, 2, W, MPI_STATUS_IGNORE); /* WRONG variable */
}

static void block(void)
{
    int *p = malloc(100 * sizeof *p);
    memset(p, 0, 400);
    if (rank == 0)
        MPI_Send(p, 110, MPI_INT, other, 2, W); /* WRONG block */
    else
        MPI_Recv(malloc(4096), 1024, MPI_INT, other, 2, W, MPI_STATUS_IGNORE);
    free(p);
}

/* Inside of a block, and a type with holes whose last element alone is outside. */
static void vector(void)
{
    MPI_Datatype column;
    MPI_Request r;
    double *p = malloc(64 * sizeof *p);
    MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        MPI_Irecv(p + 9, 1, column, other, 2, W, &r); /* WRONG vector */
    else
        MPI_Isend(p + 7, 0, column, other, 2, W, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
}

/* A type that joins two blocks: the lower one is too short. */
static void joined(void)
{
    int *p = calloc(100, sizeof *p), *q = calloc(100, sizeof *q), length[2] = {110, 60};
    MPI_Aint at[2];
    MPI_Datatype both;
    MPI_Get_address(p < q ? p : q, &at[0]);
    MPI_Get_address(p < q ? q : p, &at[1]);
    MPI_Type_create_hindexed(2, length, at, MPI_INT, &both);
    MPI_Type_commit(&both);
    if (rank == 0)
        MPI_Send(MPI_BOTTOM, 1, both, other, 2, W); /* WRONG joined */
    else
        MPI_Recv(malloc(4096), 1024, MPI_INT, other, 2, W, MPI_STATUS_IGNORE);
    MPI_Type_free(&both);
    free(p);
    free(q);
}

/* An element of an array ends with its block, and the next one begins behind a gap. */
static void ends(void)
{
    double *p = calloc(50, sizeof *p);
    MPI_Datatype rows;
    MPI_Type_vector(2, 51, 60, MPI_DOUBLE, &rows);
    MPI_Type_commit(&rows);
    if (rank == 0)
        MPI_Send(p, 1, rows, other, 2, W); /* WRONG ends */
    else
        MPI_Recv(malloc(4096), 512, MPI_DOUBLE, other, 2, W, MPI_STATUS_IGNORE);
    MPI_Type_free(&rows);
    free(p);
}

/* Blocks with mappings of their own. */
static void large(void)
{
    enum { LARGE = 1 << 18 };
    char *above = calloc(LARGE, 1), *p = calloc(LARGE, 1);
    if (rank == 0)
        MPI_Send(p + 16, LARGE + 8192, MPI_CHAR, other, 2, W); /* WRONG large */
    else
        MPI_Recv(malloc(2 * LARGE), 2 * LARGE, MPI_CHAR, other, 2, W, MPI_STATUS_IGNORE);
    free(p);
    free(above);
}

static void nowhere(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + 2 * page, 2 * page);
    if (rank == 0)
        MPI_Send(p, 3, MPI_CHAR, other, 2, W);
    else
        MPI_Recv(p, (int)(2 * page + 24), MPI_CHAR, other, 2, W, /* WRONG nowhere */
                 MPI_STATUS_IGNORE);
}

/* A window whose operations leave their short way, and that has no device. */
static MPI_Win with_copies(size_t bytes)
{
    char *mem;
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_replicas", "1");
    MPI_Win_allocate((MPI_Aint)bytes, 1, info, W, &mem, &win);
    MPI_Info_free(&info);
    return win;
}

static void copies(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win win = with_copies(4 * page);
    munmap(p + page, page);
    if (rank == 0)
        MPI_Send(p, 3, MPI_CHAR, other, 2, W);
    else
        MPI_Recv(p, (int)(page + 24), MPI_CHAR, other, 2, W, /* WRONG copies */
                 MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
}

static void copies_put(void)
{
    MPI_Win win = with_copies(2 * sizeof halo);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(halo, N, MPI_INT, other, 0, N, MPI_INT, win); /* with the lock */
        MPI_Put(halo, N + 4, MPI_INT, other, 0, N + 4, MPI_INT, win); /* WRONG copies_put */
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static __attribute__((noinline)) void frame(void)
{
    int few[4] = {1, 2, 3, 4};
    if (rank == 0)
        MPI_Send(few, 4, MPI_INT, other, 2, W);
    else
        MPI_Recv(few, 4000, MPI_INT, other, 2, W, MPI_STATUS_IGNORE); /* WRONG frame */
}

static void freed(void)
{
    char *p = malloc(20000), *q = malloc(100);
    memset(p, 1, 20000);
    free(p);
    if (rank == 0)
        MPI_Send(p + 400, 100, MPI_CHAR, other, 2, W); /* WRONG freed */
    else
        MPI_Recv(q, 100, MPI_CHAR, other, 2, W, MPI_STATUS_IGNORE);
    free(q);
}

static void constants(void)
{
    if (rank == 0)
        MPI_Send(halo, 0, MPI_INT, other, 2, W);
    else
        MPI_Recv((int *)(size_t)constant, N, MPI_INT, other, 2, W, /* WRONG constants */
                 MPI_STATUS_IGNORE);
}

static void gather(void)
{
    int counts[2] = {8, 8}, at[2] = {0, 16};
    MPI_Gatherv(halo, 8, MPI_INT, inbox, counts, at, MPI_INT, 0, W); /* WRONG gather */
}

/* Both buffers of one call in one array. */
static int ring[4 * N];

static void reduced(void)
{
    volatile int twice = 2; /* at one place */
    while (twice-- > 0)
        MPI_Allreduce(ring + 3, ring, 8, MPI_INT, MPI_SUM, W); /* WRONG reduced */
}

static void scanned(void)
{
    MPI_Request r;
    MPI_Iscan(ring, ring + 7, 8, MPI_INT, MPI_SUM, W, &r); /* WRONG scanned */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* A block of another process's: rank 0 sends from where that of rank 1 comes. */
static void gathered(void)
{
    MPI_Gather(ring + 10, 8, MPI_INT, ring, 8, MPI_INT, 0, W); /* WRONG gathered */
}

/* Columns 0 and 2 of rows of 4 go out, columns 1 to 2 come in. */
static void columns(void)
{
    MPI_Datatype two, pair;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    for (int i = 0; i < 2; i++) {
        MPI_Datatype *t = i ? &pair : &two, narrow = *t;
        MPI_Type_create_resized(narrow, 0, 4 * sizeof(int), t);
        MPI_Type_commit(t);
        MPI_Type_free(&narrow);
    }
    MPI_Alltoall(ring, 5, two, ring + 1, 5, pair, W); /* WRONG columns */
    MPI_Type_free(&two);
    MPI_Type_free(&pair);
}

static void take(void)
{
    MPI_Status s;
    int *to = ring + 5;
    MPI_Sendrecv(ring, 6, MPI_INT, other, 1, to, 6, MPI_INT, other, 1, W, &s); /* WRONG take */
}

static void itake(void)
{
    MPI_Request r;
    int *to = ring;
    MPI_Isendrecv(ring, 6, MPI_INT, other, 1, to, 6, MPI_INT, other, 1, W, &r); /* WRONG itake */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request r;
    MPI_Send_init(halo, 2 * N, MPI_INT, other, 2, W, &r); /* WRONG persistent */
    MPI_Request_free(&r);
}

static void partitioned(void)
{
    MPI_Request r[2];
    MPI_Psend_init(halo, 4, 6, MPI_INT, other, 2, W, MPI_INFO_NULL, &r[0]); /* WRONG partitioned */
    MPI_Precv_init(inbox, 4, 5, MPI_INT, other, 2, W, MPI_INFO_NULL, &r[1]);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void replace(void)
{
    MPI_Sendrecv_replace(beside, N + 3, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, W,
                         MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(beside, N, MPI_INT, other, 1, MPI_PROC_NULL, 1, W, MPI_STATUS_IGNORE);
    MPI_Recv(beside, N, MPI_INT, other, 1, W, MPI_STATUS_IGNORE);
    MPI_Send(beside, 1, MPI_INT, other, 1, W);
    MPI_Sendrecv_replace(beside + N - 2, 3, MPI_INT, MPI_PROC_NULL, 1, other, 1, /* WRONG replace */
                         W, MPI_STATUS_IGNORE);
}

static void packs(void)
{
    int at = 0;
    MPI_Pack(halo, N, MPI_INT, (char *)inbox + 16, 4 * N, &at, W); /* WRONG packs */
}

static void attach(void)
{
    char *p = malloc(1000), *size;
    int n;
    MPI_Buffer_attach(p, 4000); /* WRONG attach */
    MPI_Buffer_detach(&size, &n);
    free(p);
}

static void put(void)
{
    MPI_Win win;
    int *base, *p = malloc(16 * sizeof *p);
    memset(p, 0, 64);
    MPI_Win_allocate(100 * sizeof *base, sizeof *base, MPI_INFO_NULL, W, &base, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(p, 16, MPI_INT, other, 0, 16, MPI_INT, win);
        MPI_Put(p, 20, MPI_INT, other, 20, 20, MPI_INT, win); /* WRONG put */
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    free(p);
}

static void get(void)
{
    MPI_Win win;
    int *base, one = 1;
    MPI_Win_allocate(100 * sizeof *base, sizeof *base, MPI_INFO_NULL, W, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &halo[0], MPI_INT, other, 0, MPI_SUM, win);
    MPI_Win_flush(other, win);
    if (rank == 1)
        MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, inbox, N + 1, MPI_INT, /* WRONG get */
                           other, 4, N + 1, MPI_INT, MPI_NO_OP, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Both lines of a window whose memory is too short. */
static void window(void)
{
    MPI_Win win;
    char *p = malloc(1000);
    MPI_Win_create(p, 1100, 1, MPI_INFO_NULL, W, &win); /* WRONG window */
    MPI_Win_free(&win); /* WRONG window_free */
    free(p);
}

static void window_freed(void)
{
    MPI_Win win;
    char *p = malloc(20000), *above = malloc(100);
    MPI_Win_create(p, 20000, 1, MPI_INFO_NULL, W, &win);
    MPI_Win_fence(0, win);
    free(p);
    MPI_Win_free(&win); /* WRONG window_freed */
    free(above);
}

static void attached(void)
{
    MPI_Win win;
    char *p = malloc(1000);
    MPI_Win_create_dynamic(MPI_INFO_NULL, W, &win);
    MPI_Win_attach(win, p, 1100); /* WRONG attached */
    MPI_Win_detach(win, p);
    MPI_Win_free(&win);
    free(p);
}

static void file(void)
{
    MPI_File f;
    MPI_File_open(W, "memory.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    MPI_File_write_at(f, 100 * rank, halo, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f, 0, inbox, N + 2, MPI_INT, MPI_STATUS_IGNORE); /* WRONG file */
    MPI_File_close(&f);
}

/* --- right ------------------------------------------------------------------------------------ */

static int at_once(void *s, int ns, MPI_Datatype st, void *r, int nr, MPI_Datatype rt)
{
    return MPI_Sendrecv(s, ns, st, rank, 5, r, nr, rt, rank, 5, W, MPI_STATUS_IGNORE);
}

/* Two variables, a block and a local variable in one type; adjacent variables are one run. */
static void absolute(void)
{
    int local[N] = {0}, *p = calloc(N, sizeof *p), length[4] = {N, N, N, N};
    MPI_Aint at[4];
    MPI_Datatype all;
    MPI_Get_address(halo, &at[0]);
    MPI_Get_address(inbox, &at[1]);
    MPI_Get_address(beside, &at[2]);
    MPI_Get_address(local, &at[3]);
    MPI_Type_create_hindexed(4, length, at, MPI_INT, &all);
    MPI_Type_commit(&all);
    int *back = calloc(4 * N, sizeof *back);
    at_once(MPI_BOTTOM, 1, all, back, 4 * N, MPI_INT);
    MPI_Type_free(&all);
    MPI_Get_address(p, &at[0]);
    MPI_Type_create_hindexed(1, length, at, MPI_INT, &all);
    MPI_Type_commit(&all);
    at_once(MPI_BOTTOM, 1, all, back, N, MPI_INT);
    MPI_Type_free(&all);
    free(back);
    free(p);
}

/* The two variables alone are one block of memory. */
static void adjacent(void)
{
    int length[2] = {1, 1}, low = &right < &left;
    MPI_Datatype by[4], each[2] = {MPI_FLOAT, MPI_FLOAT};
    MPI_Aint at[2], from_first[2];
    float back[2];
    MPI_Get_address(&left, &at[low]);
    MPI_Get_address(&right, &at[!low]);
    from_first[0] = 0;
    from_first[1] = at[1] - at[0];
    if (from_first[1] != sizeof left)
        MPI_Abort(W, 3);
    MPI_Type_create_hindexed(2, length, at, MPI_FLOAT, &by[0]);
    MPI_Type_create_struct(2, length, at, each, &by[1]);
    MPI_Type_create_hindexed_block(2, 1, at, MPI_FLOAT, &by[2]);
    MPI_Type_dup(by[0], &by[3]);
    for (int i = 0; i < 4; i++) {
        MPI_Type_commit(&by[i]);
        at_once(MPI_BOTTOM, 1, by[i], back, 2, MPI_FLOAT);
        MPI_Type_free(&by[i]);
    }
    MPI_Type_create_hindexed(2, length, from_first, MPI_FLOAT, &by[0]);
    MPI_Type_create_hvector(2, 1, from_first[1], MPI_FLOAT, &by[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Type_commit(&by[i]);
        at_once(low ? &right : &left, 1, by[i], back, 2, MPI_FLOAT);
        MPI_Type_free(&by[i]);
    }
}

/* Lower bounds below 0, and extents that are larger than the data. */
static void bounds(void)
{
    int *p = calloc(N, sizeof *p), minus[2] = {0, -4}, one[2] = {1, 1};
    MPI_Datatype back, wide;
    MPI_Type_indexed(2, one, minus, MPI_INT, &back);
    MPI_Type_commit(&back);
    at_once(p + 4, 1, back, inbox, 2, MPI_INT);
    at_once(inbox, 2, MPI_INT, beside + 4, 1, back);
    MPI_Type_create_resized(MPI_INT, -8, 40, &wide);
    MPI_Type_commit(&wide);
    at_once(p + 1, 2, wide, inbox, 2, MPI_INT);
    at_once(p + N - 1, 1, wide, inbox, 1, MPI_INT);
    MPI_Type_free(&back);
    MPI_Type_free(&wide);
    free(p);
}

/* What is not used: other ranks' arguments, no elements, MPI_PROC_NULL, MPI_IN_PLACE. */
static void unused(void)
{
    int *bad = (int *)(size_t)64;
    MPI_Gather(halo, 1, MPI_INT, rank ? bad : inbox, rank ? 1 << 20 : 1, MPI_INT, 0, W);
    MPI_Scatter(rank ? bad : inbox, rank ? 1 << 20 : 1, MPI_INT, halo, 1, MPI_INT, 0, W);
    MPI_Reduce(halo, rank ? bad : inbox, N, MPI_INT, MPI_SUM, 0, W);
    MPI_Allreduce(MPI_IN_PLACE, inbox, N, MPI_INT, MPI_SUM, W);
    MPI_Allgather(MPI_IN_PLACE, 1 << 20, MPI_INT, inbox, N / 2, MPI_INT, W);
    MPI_Send(bad, 0, MPI_INT, other, 7, W);
    MPI_Recv(bad, 0, MPI_INT, other, 7, W, MPI_STATUS_IGNORE);
    MPI_Send(bad, 1 << 20, MPI_INT, MPI_PROC_NULL, 7, W);
    MPI_Recv(bad, 1 << 20, MPI_INT, MPI_PROC_NULL, 7, W, MPI_STATUS_IGNORE);
}

/* Buffers of one call side by side, interleaved, in place, or one that the call does not use. */
static void apart(void)
{
    int counts[2] = {2, 2}, out[2] = {0, 8}, in[2] = {4, 12};
    MPI_Datatype one, even;
    MPI_Comm line;
    MPI_Allreduce(ring + 8, ring, 8, MPI_INT, MPI_SUM, W);
    MPI_Allreduce(MPI_IN_PLACE, ring, 8, MPI_INT, MPI_SUM, W);
    MPI_Allreduce(ring, ring, 0, MPI_INT, MPI_SUM, W);
    MPI_Reduce(ring + 1, rank ? ring : ring + 20, 8, MPI_INT, MPI_SUM, 0, W);
    MPI_Exscan(ring + 1, rank ? ring + 20 : ring, 8, MPI_INT, MPI_SUM, W);
    MPI_Gather(ring, 8, MPI_INT, rank ? ring + 1 : ring + 8, 8, MPI_INT, 0, W);
    MPI_Alltoallv(ring, counts, out, MPI_INT, ring, counts, in, MPI_INT, W);
    MPI_Alltoallv(ring, counts, out, MPI_INT, ring + 2, counts, out, MPI_INT, W);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, ring, 4, MPI_INT, W);
    MPI_Sendrecv(ring, 6, MPI_INT, other, 1, ring + 6, 6, MPI_INT, other, 1, W, MPI_STATUS_IGNORE);
    MPI_Sendrecv(ring, 6, MPI_INT, MPI_PROC_NULL, 1, ring, 6, MPI_INT, MPI_PROC_NULL, 1, W,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(ring, 6, MPI_INT, other, 1, other, 1, W, MPI_STATUS_IGNORE);
    MPI_Type_vector(1, 1, 1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &even);
    MPI_Type_commit(&even);
    MPI_Alltoall(ring, 8, even, ring + 1, 8, even, W);
    MPI_Sendrecv(ring, 9, even, other, 1, ring + 1, 9, even, other, 1, W, MPI_STATUS_IGNORE);
    MPI_Cart_create(W, 1, (int[]){2}, (int[]){0}, 0, &line);
    MPI_Neighbor_alltoall(ring, 4, MPI_INT, ring + 8, 4, MPI_INT, line);
    MPI_Comm_free(&line);
    MPI_Type_free(&one);
    MPI_Type_free(&even);
}

/* Memory of other makers: a pool within a block, MPI_Alloc_mem, mmap, alloca, a window. */
static void makers(void)
{
    char *pool = malloc(10000), *mine;
    int *base, *big = malloc(1 << 20), *shared;
    MPI_Win win;
    at_once(pool + 100, 500, MPI_CHAR, pool + 1000, 9000, MPI_CHAR);
    MPI_Alloc_mem(5000, MPI_INFO_NULL, &mine);
    at_once(pool, 5000, MPI_CHAR, mine, 5000, MPI_CHAR);
    MPI_Free_mem(mine);
    MPI_Win_allocate(5000, 1, MPI_INFO_NULL, W, &base, &win);
    at_once(base, 5000, MPI_CHAR, pool, 5000, MPI_CHAR);
    MPI_Win_free(&win);
    shared = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    at_once(big, 1 << 16, MPI_CHAR, shared, 1 << 16, MPI_CHAR);
    mprotect(shared, 4096, PROT_READ);
    at_once(shared, 1 << 16, MPI_CHAR, big, 1 << 16, MPI_CHAR);
    munmap(shared, 1 << 16);
    mine = __builtin_alloca(30000);
    at_once(big, 0, MPI_INT, big, 1 << 18, MPI_INT);
    at_once(pool, 10000, MPI_CHAR, mine, 30000, MPI_CHAR);
    at_once((void *)(size_t)constant, N, MPI_INT, inbox, N, MPI_INT);
    free(big);
    free(pool);
}

/* Windows over parts of blocks, over variables, constants and nothing. */
static void windows(void)
{
    MPI_Win win[5];
    char *p = malloc(5000);
    void *at[5] = {p, p + 1000, inbox, (void *)(size_t)constant, NULL};
    MPI_Aint size[5] = {5000, 4000, sizeof inbox, sizeof constant, 0};
    for (int i = 0; i < 5; i++)
        MPI_Win_create(at[i], size[i], 1, MPI_INFO_NULL, W, &win[i]);
    for (int i = 0; i < 5; i++) {
        MPI_Win_fence(0, win[i]);
        MPI_Win_free(&win[i]);
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, W, &win[0]);
    MPI_Win_attach(win[0], p, 5000);
    MPI_Win_detach(win[0], p);
    MPI_Win_free(&win[0]);
    free(p);
}

/* Blocks that move, grow and shrink while they are sent, beside threads that do the same. */
static void *churns(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg;
    void *kept[16] = {NULL};
    for (int i = 0; i < 20000; i++) {
        unsigned k = (unsigned)rand_r(&seed) % 16;
        kept[k] = realloc(kept[k], (size_t)(rand_r(&seed) % 3000 + 1));
    }
    for (int k = 0; k < 16; k++)
        free(kept[k]);
    return NULL;
}

static void churn(void)
{
    pthread_t t[2];
    unsigned seed = 7;
    char *p = NULL, *all = malloc(300000);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, churns, (void *)(i + 1));
    for (int i = 0; i < 1000; i++) {
        int n = rand_r(&seed) % (i % 50 ? 3000 : 300000) + 1;
        p = realloc(p, (size_t)n);
        memset(p, i, (size_t)n);
        at_once(p, n, MPI_CHAR, all, 300000, MPI_CHAR);
        at_once(all, n, MPI_CHAR, p, n, MPI_CHAR);
        if (i % 7 == 0) {
            free(p);
            p = NULL;
        }
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    free(p);
    free(all);
}

/* The heap becomes shorter than the blocks that were sent. */
static void shrinks(void)
{
    enum { BLOCKS = 40, BYTES = 15 * 4096 - 16 };
    static char room[BYTES];
    char *p[BLOCKS];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BLOCKS; i++)
            p[i] = calloc(1, BYTES);
        for (int i = 0; i < BLOCKS; i++)
            at_once(p[i], BYTES, MPI_CHAR, room, BYTES, MPI_CHAR);
        for (int i = BLOCKS; i-- > 1;)
            free(p[i]);
        malloc_trim(0);
        at_once(p[0], 80, MPI_CHAR, inbox, 80, MPI_CHAR);
        free(p[0]);
    }
}

/* Where a block was, with its old header, is the middle of a larger one now. */
static void splits(void)
{
    enum { SMALL = 15 * 4096 - 16, AT = 64 };
    static char room[2 * SMALL];
    for (int round = 0; round < 3; round++) {
        char *p[4];
        for (int i = 0; i < 4; i++)
            p[i] = malloc(SMALL);
        at_once(p[1] + AT, 100, MPI_CHAR, room, 100, MPI_CHAR);
        uintptr_t was = (uintptr_t)p[1] + AT;
        for (int i = 0; i < 3; i++)
            free(p[i]);
        char *rest = malloc(SMALL / 2), *large = malloc(2 * SMALL);
        uintptr_t from = was - (uintptr_t)large;
        if (from < 2 * SMALL)
            at_once(large + from, (int)(2 * SMALL - from), MPI_CHAR, room, 2 * SMALL, MPI_CHAR);
        free(rest);
        free(large);
        free(p[3]);
    }
}

static void *in_thread(void *arg)
{
    int local[N] = {0}, more[N];
    (void)arg;
    at_once(local, N, MPI_INT, more, N, MPI_INT);
    return NULL;
}

static void thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, NULL);
}

/* The first words of a mapping look like the header of a block. */
static void mapping(void)
{
    enum { LEN = 8192, HEAD = 16 };
    char part[LEN];
    int64_t *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p[0] = 0;
    p[1] = 4096 + 2;
    at_once((char *)p + HEAD, LEN - HEAD, MPI_CHAR, part, LEN - HEAD, MPI_CHAR);
    munmap(p, LEN);
}

/* All of a large variable that begins low: symbols of another file would end in it. */
static void loader(void)
{
    enum { WIDE = 1 << 20, PART = 6000 };
    static char wide[WIDE] = {1}, part[PART];
    for (int i = 0; i + PART <= WIDE; i += 512)
        at_once(wide + i, PART, MPI_CHAR, part, PART, MPI_CHAR);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"variable", variable}, {"block", block}, {"vector", vector},
               {"joined", joined}, {"large", large}, {"nowhere", nowhere}, {"copies", copies},
               {"copies_put", copies_put}, {"frame", frame}, {"freed", freed},
               {"constants", constants}, {"gather", gather}, {"persistent", persistent},
               {"partitioned", partitioned}, {"replace", replace}, {"packs", packs},
               {"attach", attach}, {"put", put}, {"get", get}, {"file", file},
               {"window", window}, {"window_freed", window_freed}, {"attached", attached},
               {"windows", windows},
               {"absolute", absolute}, {"ends", ends}, {"adjacent", adjacent}, {"bounds", bounds},
               {"unused", unused}, {"apart", apart}, {"reduced", reduced}, {"scanned", scanned},
               {"gathered", gathered}, {"columns", columns}, {"take", take},
               {"itake", itake},
               {"makers", makers}, {"churn", churn}, {"shrinks", shrinks},
               {"splits", splits}, {"thread", thread}, {"mapping", mapping}, {"loader", loader}};
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
        int provided, level = MPI_THREAD_MULTIPLE;
        if (strcmp(all[i].name, argv[1]) != 0)
            continue;
        if (all[i].run == copies_put) /* else its short way is not open */
            level = MPI_THREAD_SINGLE;
        MPI_Init_thread(&argc, &argv, level, &provided);
        MPI_Comm_rank(W, &rank);
        other = 1 - rank;
        all[i].run();
        MPI_Finalize();
        return 0;
    }
    return 2;
}
