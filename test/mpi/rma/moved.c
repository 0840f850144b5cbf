/* moved.c - created windows on buffers that move into shared memory in place
 * (MPIR_CVAR_RMA_MOVE_MIN): mmap and malloc, at their addresses with their contents before,
 * meanwhile and afterwards; several windows on one buffer; what may not move; and that node peers
 * did their operations by load and store. With the variable at 0 nothing moves and all works as
 * well. */
#define _GNU_SOURCE
#include "rw.h"

#include <malloc.h>
#include <sys/mman.h>

#include "pv.h"

enum { PAGE = 4096, N = 1 << 20 };

static int moves; /* may buffers of N bytes move? */

static int is_shared(const void *p)
{
    unsigned long from, to;
    char line[1024], mode[8];
    int shared = -1;
    FILE *f = fopen("/proc/self/maps", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && from <= (unsigned long)p &&
            (unsigned long)p < to)
            shared = mode[3] == 's';
    if (f)
        fclose(f);
    return shared;
}

static void *pages(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return p;
}

/* The window is on `n` bytes of `mem`, filled with the owner's rank.  Operations of every kind on
 * the right neighbour; its memory and the counters afterwards. */
static void use(MPI_Win win, char *mem, int n, int moved)
{
    int right = (mt_rank + 1) % mt_size, left = (mt_rank + mt_size - 1) % mt_size,
        third = n / 3 / 8 * 8, i;
    char *out = mt_alloc((size_t)third), *in = mt_alloc((size_t)n);
    long long one = 1000 + mt_rank, old, sum = 0;
    MPI_Group world, peer;

    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Get(in, n, MPI_BYTE, right, 0, n, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(mt_wrong(in, (size_t)n, (unsigned)right), -1);
    mt_fill(out, (size_t)third, (unsigned)mt_rank + 50);
    MPI_Put(out, third, MPI_BYTE, right, third, third, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQ(mt_wrong(mem + third, (size_t)third, (unsigned)left + 50), -1);
    memset(mem, 0, 64); /* the owner's own stores */
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (i = 0; i < mt_size; i++)
        MPI_Accumulate(&one, 1, MPI_LONG_LONG, i, 0, 1, MPI_LONG_LONG, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (i = 0; i < mt_size; i++)
        sum += 1000 + i;
    CHECK_EQ(((long long *)mem)[0], sum);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (i = 0; i < 100; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, right, 8, MPI_SUM, win);
        MPI_Win_flush(right, win);
        MUST(old == i * one, "fetch and op %d found %lld", i, old);
    }
    MPI_Win_unlock_all(win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &peer);
    MPI_Win_post(peer, 0, win);
    MPI_Group_free(&peer);
    MPI_Group_incl(world, 1, &right, &peer);
    MPI_Win_start(peer, 0, win);
    MPI_Put(&one, 1, MPI_LONG_LONG, right, 16, 1, MPI_LONG_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&peer);
    MPI_Group_free(&world);
    CHECK_EQ(((long long *)mem)[1], 100 * (1000 + left));
    CHECK_EQ(((long long *)mem)[2], 1000 + left);
    if (moved) {
        CHECK(pv_read(win, "rma_route_mapped") > 100);
        CHECK_EQ(pv_read(win, "rma_route_cma") + pv_read(win, "rma_route_am"), 0);
    } else if (mt_size > 1) {
        CHECK(pv_read(win, "rma_route_cma") + pv_read(win, "rma_route_am") > 100);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    mt_fill(mem, (size_t)n, (unsigned)mt_rank); /* as it was, for the next rank */
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

static MPI_Win create(void *mem, int n, int moved)
{
    MPI_Win win;
    void *base;
    int flag;

    MPI_Win_create(mem, n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == mem);
    MUST(is_shared((char *)mem + n - 1) == moved, "%d bytes at %p are%s shared", n, mem,
         moved ? " not" : "");
    CHECK_EQ(pv_read(win, "rma_windows_moved"), moved);
    return win;
}

/* Made, used and freed, twice. */
static void life(char *mem, int n, int moved)
{
    int i;

    for (i = 0; i < 2; i++) {
        MPI_Win win;

        mt_fill(mem, (size_t)n, (unsigned)mt_rank);
        win = create(mem, n, moved);
        CHECK_EQ(mt_wrong(mem, (size_t)n, (unsigned)mt_rank), -1);
        use(win, mem, n, moved || mt_size == 1);
        mem[n / 2] ^= 1; /* the last store before the way back */
        MPI_Win_free(&win);
        mem[n / 2] ^= 1;
        CHECK_EQ(is_shared(mem), 0);
        CHECK_EQ(mt_wrong(mem, (size_t)n, (unsigned)mt_rank), -1);
    }
}

/* The buffer goes back with the last of its windows, in whatever order they are freed. */
static void several(void)
{
    char *mem = pages(N);
    int order;

    mt_fill(mem, N, (unsigned)mt_rank);
    for (order = 0; order < 2; order++) {
        MPI_Win a = create(mem, N, moves), b = create(mem, N, moves),
                part = create(mem + 512, N / 2, moves), self;

        MPI_Win_create(mem, N, 1, MPI_INFO_NULL, MPI_COMM_SELF, &self);
        use(a, mem, N, moves || mt_size == 1);
        use(b, mem, N, moves || mt_size == 1);
        MPI_Win_free(order ? &a : &b);
        MPI_Win_free(&part);
        CHECK_EQ(is_shared(mem), moves);
        use(order ? b : a, mem, N, moves || mt_size == 1);
        MPI_Win_free(order ? &b : &a);
        CHECK_EQ(is_shared(mem), moves); /* it is the last */
        MPI_Win_free(&self);
        CHECK_EQ(is_shared(mem), 0);
        CHECK_EQ(mt_wrong(mem, N, (unsigned)mt_rank), -1);
    }
    munmap(mem, N);
}

/* Memory that some window shows already stays where it is; a region attached later holds what has
 * moved. */
static void shown(void)
{
    char *mem = pages(N);
    int right = (mt_rank + 1) % mt_size, v = mt_rank;
    MPI_Win a, dyn;
    MPI_Aint here, at;

    mt_fill(mem, N, (unsigned)mt_rank);
    MPI_Win_create(mem + N / 2, 100, 1, MPI_INFO_NULL, MPI_COMM_SELF, &a);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dyn);
    life(mem, N, 0);
    MPI_Win_free(&a);
    MPI_Win_attach(dyn, mem + PAGE, 8);
    life(mem, N, 0);
    MPI_Win_detach(dyn, mem + PAGE);
    a = create(mem, N, moves);
    MPI_Win_attach(dyn, mem, N);
    MPI_Win_free(&a);
    CHECK_EQ(is_shared(mem), moves);
    MPI_Get_address(mem, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, (mt_rank + mt_size - 1) % mt_size, 0, &at, 1, MPI_AINT, right,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, dyn);
    MPI_Put(&v, 1, MPI_INT, right, at, 1, MPI_INT, dyn);
    MPI_Win_unlock(right, dyn);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank % 2)
        MPI_Win_detach(dyn, mem); /* the others leave it attached */
    MPI_Win_free(&dyn);
    CHECK_EQ(is_shared(mem), 0);
    memcpy(&v, mem, sizeof v);
    CHECK_EQ(v, (mt_rank + mt_size - 1) % mt_size);
    munmap(mem, N);
}

int main(int argc, char **argv)
{
    char *mem, *block[3];
    int i, min, provided, classes = 0, near;
    MPI_Win win;
    MPI_Comm node;

#ifdef __GLIBC__
    /* as it is at the beginning; else it grows with each large free() */
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    mt_init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    min = (int)pv_cvar("MPIR_CVAR_RMA_MOVE_MIN");
    moves = min > 0 && min <= N / 2 && mt_size > 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &near);
    MPI_Comm_free(&node);
    if (near < mt_size) { /* nothing moves for far ranks (MPIR_CVAR_NOLOCAL) */
        MPI_T_finalize();
        return mt_finish();
    }
    mem = pages(2 * N);
    life(mem, N, moves);
    life(mem + N, N, moves);
    life(mem + 8, N, 0);           /* others have memory on its pages */
    life(mem, PAGE, moves && min <= PAGE); /* too small */
    munmap(mem, 2 * N);
    for (i = 0; i < 3; i++)
        block[i] = malloc(N + (size_t)i * 1000);
    for (i = 0; i < 3; i++) {
#ifdef __GLIBC__
        /* else a checker's malloc */
        life(block[i], N + i * 1000, moves && (size_t)block[i] % PAGE == 2 * sizeof(size_t));
#endif
        block[i] = realloc(block[i], 2 * N);
        CHECK_EQ(mt_wrong(block[i], N, (unsigned)mt_rank), -1);
    }
    for (i = 0; i < 3; i++)
        free(block[i]);
    several();
    shown();
    /* creation that fails, on another process: back at once */
    mem = pages(N);
    mt_fill(mem, N, (unsigned)mt_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (mt_size > 1) {
        i = MPI_Win_create(mem, mt_rank ? N : -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Error_class(i, &classes);
        CHECK_EQ(classes, MPI_ERR_SIZE);
    }
    CHECK_EQ(is_shared(mem), 0);
    /* what MPI_Alloc_mem did not give is not its to free, moved or not */
    win = create(mem, N, moves);
    MPI_Error_class(MPI_Free_mem(mem), &classes);
    CHECK_EQ(classes, MPI_ERR_BASE);
    use(win, mem, N, moves || mt_size == 1);
    MPI_T_finalize();
    /* and MPI_Finalize finds it open */
    return mt_finish();
}
