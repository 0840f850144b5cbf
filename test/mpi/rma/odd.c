/* odd.c - odd but legal ways to name memory and types: a result at MPI_BOTTOM, the types of
 * MPI_Type_create_f90_*, elements with a gap inside in layouts that do not fit a packet; a lock of
 * MPI_PROC_NULL. Each rank acts on the next one, and looks at what was done to it. */
#include "../mt.h"

static int rank, next;

static void open_window(MPI_Aint bytes, int unit, int create, void *mem, MPI_Win *win)
{
    if (create)
        MPI_Win_create(*(void **)mem = calloc(1, (size_t)bytes), bytes, unit, MPI_INFO_NULL,
                       MPI_COMM_WORLD, win);
    else
        MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, mem, win);
    memset(*(void **)mem, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI-3.1 4.1.5: the address is in the type. */
static void result_at_bottom(int create)
{
    const MPI_Op ops[] = {MPI_NO_OP, MPI_SUM, MPI_REPLACE};
    const MPI_Datatype elems[] = {MPI_INT, MPI_2INT};
    int *mem, got[4], two = 2, ones[4] = {1, 1, 1, 1};
    MPI_Win win;
    open_window(16, 4, create, &mem, &win);
    for (int e = 0; e < 2; e++) {
        MPI_Datatype at;
        MPI_Aint where;
        MPI_Get_address(got, &where);
        MPI_Type_create_hindexed(1, &two, &where, elems[e], &at);
        MPI_Type_commit(&at);
        for (int i = 0; i < 3 - e; i++) {
            MPI_Op op = e && i ? MPI_REPLACE : ops[i];
            mem[0] = mem[1] = mem[2] = mem[3] = 10 + rank;
            memset(got, 0, sizeof got);
            MPI_Win_fence(0, win);
            MPI_Get_accumulate(ones, 2, elems[e], MPI_BOTTOM, 1, at, next, 0, 2, elems[e], op, win);
            MPI_Win_fence(0, win);
            for (int k = 0; k < (e ? 4 : 2); k++)
                MUST(got[k] == 10 + next, "operation %d: old value %d is %d, not %d", i, k, got[k],
                     10 + next);
            MUST(mem[0] == (op == MPI_NO_OP ? 10 + rank
                            : op == MPI_SUM ? 11 + rank
                                            : 1),
                 "operation %d left %d", i, mem[0]);
        }
        MPI_Type_free(&at);
    }
    MPI_Win_free(&win);
    if (create)
        free(mem);
}

/* MPI-3.1 17.1.9: they are predefined.  Others may have made none, or in another order. */
static void f90_types(int create)
{
    enum { MANY = 8192 };
    double *mem, got = 0, *many = malloc(MANY * sizeof *many), x = 1.5, one = 1, two = 2;
    int *imem, iget = 0, i3 = 3, i4 = 4;
    MPI_Datatype real, integer, other;
    MPI_Win win;
    if (rank % 2)
        MPI_Type_create_f90_real(6, 30, &other);
    MPI_Type_create_f90_real(15, 300, &real);
    MPI_Type_create_f90_integer(9, &integer);
    open_window(MANY * sizeof *mem, 1, create, &mem, &win);
    imem = (int *)(void *)mem;
    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, real, next, 0, 1, real, win);
    MPI_Win_fence(0, win);
    MUST(mem[0] == 1.5, "put left %g", mem[0]);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, real, next, 0, 1, real, win);
    MPI_Win_fence(0, win);
    MUST(got == 1.5, "get brought %g", got);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, real, next, 0, 1, real, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MUST(mem[0] == 2.5, "accumulate left %g", mem[0]);
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(&two, &got, real, next, 0, MPI_PROD, win);
    MPI_Win_fence(0, win);
    MUST(got == 2.5 && mem[0] == 5, "fetch_and_op brought %g, left %g", got, mem[0]);
    imem[0] = 3;
    MPI_Win_fence(0, win);
    MPI_Compare_and_swap(&i4, &i3, &iget, integer, next, 0, win);
    MPI_Win_fence(0, win);
    MUST(iget == 3 && imem[0] == 4, "compare_and_swap brought %d, left %d", iget, imem[0]);
    mem[0] = 0;
    for (int i = 0; i < MANY; i++)
        many[i] = i;
    MPI_Win_fence(0, win);
    MPI_Accumulate(many, MANY, real, next, 0, MANY, real, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < MANY; i++)
        MUST(mem[i] == i, "element %d of many is %g", i, mem[i]);
    MPI_Win_free(&win);
    if (create)
        free(mem);
    free(many);
}

/* The layout takes more than a packet, and an element two blocks of it. */
static void gaps(int fetch)
{
    enum { N = 400 };
    struct pair { short v; int i; } *mem, in[N], old[N];
    int at[N];
    MPI_Datatype layout;
    MPI_Win win;
    open_window(4 * N * (MPI_Aint)sizeof *mem, sizeof *mem, 0, &mem, &win);
    for (int i = 0; i < N; i++) {
        at[i] = 3 * i + i * i % 2 + (i % 3 == 0);
        in[i].v = (short)(i + 1);
        in[i].i = -i;
        old[i].v = -1;
        mem[at[i]].i = 7;
    }
    MPI_Type_create_indexed_block(N, 1, at, MPI_SHORT_INT, &layout);
    MPI_Type_commit(&layout);
    MPI_Win_fence(0, win);
    if (fetch)
        MPI_Get_accumulate(in, N, MPI_SHORT_INT, old, N, MPI_SHORT_INT, next, 0, 1, layout,
                           MPI_MAXLOC, win);
    else
        MPI_Accumulate(in, N, MPI_SHORT_INT, next, 0, 1, layout, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) {
        MUST(mem[at[i]].v == i + 1 && mem[at[i]].i == -i, "element %d is (%d, %d)", i, mem[at[i]].v,
             mem[at[i]].i);
        MUST(!fetch || (old[i].v == 0 && old[i].i == 7), "old element %d is (%d, %d)", i, old[i].v,
             old[i].i);
    }
    MPI_Type_free(&layout);
    MPI_Win_free(&win);
}

/* It opens the epoch of no process, in which all flushes succeed. */
static void lock_of_none(void)
{
    int *mem;
    MPI_Win win;
    open_window(16, 4, 0, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(MPI_PROC_NULL, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush_all(win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush_local_all(win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock(MPI_PROC_NULL, win), MPI_SUCCESS);
        CHECK_EQ(mt_class(MPI_Win_flush_all(win)), MPI_ERR_RMA_SYNC);
        CHECK_EQ(mt_class(MPI_Win_flush_local_all(win)), MPI_ERR_RMA_SYNC);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    rank = mt_rank;
    next = (rank + 1) % mt_size;
    for (int i = 0; i < 2; i++) {
        result_at_bottom(i);
        f90_types(i);
        gaps(i);
    }
    lock_of_none();
    return mt_finish();
}
