/* misuse.c - files: what one process does wrong in a collective call is an error of all, and none
 * waits for ever; an access that fails leaves the pointer; offsets near 2^63. */
#include "../mt.h"

#include <unistd.h>

static char name[200];
static int buf[10];

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)
/* Rank 0 alone gives the wrong argument. */
#define ALL_FAIL(call, class) CHECK_EQ(mt_class(call), class)

static MPI_File opened(MPI_Info i)
{
    MPI_File f = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f));
    return f;
}

static void arguments(void)
{
    int me = mt_rank == 0;
    MPI_Datatype t = me ? MPI_DATATYPE_NULL : MPI_INT;
    MPI_Info bad = me ? (MPI_Info)12345 : MPI_INFO_NULL;
    MPI_File f = opened(MPI_INFO_NULL), g;
    ALL_FAIL(MPI_File_write_at_all(f, 0, buf, me ? -1 : 10, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_COUNT);
    ALL_FAIL(MPI_File_read_all(f, me ? NULL : buf, 10, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_BUFFER);
    ALL_FAIL(MPI_File_write_ordered(f, buf, 10, t, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    ALL_FAIL(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    ALL_FAIL(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, me ? "none" : "native", MPI_INFO_NULL),
             MPI_ERR_UNSUPPORTED_DATAREP);
    ALL_FAIL(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", bad), MPI_ERR_INFO);
    ALL_FAIL(MPI_File_set_info(f, bad), MPI_ERR_INFO);
    ALL_FAIL(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, bad, &g), MPI_ERR_INFO);
    ALL_FAIL(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, me ? NULL : &g),
             MPI_ERR_ARG);
    OK(MPI_File_write_at_all(f, 40 * mt_rank, buf, 10, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
}

static void splits(void)
{
    int me = mt_rank == 0, err;
    MPI_File f = opened(MPI_INFO_NULL), g = f;
    err = MPI_File_write_at_all_begin(f, 0, buf, me ? -1 : 10, MPI_INT);
    CHECK_EQ(mt_class(err), me ? MPI_ERR_COUNT : MPI_SUCCESS);
    err = MPI_File_write_at_all_end(f, buf, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_class(err), me ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_ERR_COUNT);
    OK(MPI_File_read_all_begin(f, buf, 1, MPI_INT));
    if (!me)
        OK(MPI_File_read_all_end(f, buf, MPI_STATUS_IGNORE));
    ALL_FAIL(MPI_File_close(&g), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(g == f);
    err = MPI_File_read_all_begin(f, buf, 1, MPI_INT);
    CHECK_EQ(mt_class(err), me ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS);
    err = MPI_File_read_all_end(f, buf, MPI_STATUS_IGNORE);
    CHECK_EQ(mt_class(err), me ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_close(&f));
}

static void positions(void)
{
    int one = 4;
    MPI_Aint at = 8;
    MPI_Datatype t;
    MPI_Offset p = -1;
    MPI_File f = opened(MPI_INFO_NULL);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(f, 100, MPI_SEEK_SET));
    CHECK_EQ(mt_class(MPI_File_write(f, buf, 3, MPI_BYTE, MPI_STATUS_IGNORE)), MPI_ERR_ARG);
    OK(MPI_File_get_position(f, &p));
    CHECK_EQ(p, 100);
    CHECK_EQ(mt_class(MPI_File_read_all(f, buf, 3, MPI_BYTE, MPI_STATUS_IGNORE)), MPI_ERR_ARG);
    OK(MPI_File_get_position(f, &p));
    CHECK_EQ(p, 100);
    /* a file that ends before the first byte of the view */
    MPI_Type_create_hindexed(1, &one, &at, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_size(f, 5));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(f, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &p));
    CHECK_EQ(p, 0);
    OK(MPI_File_set_view(f, INT64_MAX - 2, MPI_BYTE, t, "native", MPI_INFO_NULL));
    CHECK_EQ(mt_class(MPI_File_write(f, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE)), MPI_ERR_ARG);
    MPI_Type_free(&t);
    OK(MPI_File_close(&f));
}

/* By way of aggregators, if they are asked for what they cannot do in finite time. */
static void far_away(void)
{
    int n = -1;
    MPI_Info i;
    MPI_File f;
    MPI_Status st;
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_cb_write", "enable");
    MPI_Info_set(i, "romio_cb_read", "enable");
    f = opened(i);
    MPI_Info_free(&i);
    OK(MPI_File_read_at_all(f, mt_rank ? (MPI_Offset)1 << 60 : 0, buf, 1, MPI_INT, &st));
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK_EQ(n, mt_rank == 0);
    OK(MPI_File_read_at_all(f, INT64_MAX - 4, buf, 1, MPI_INT, &st));
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK_EQ(n, 0);
    CHECK(MPI_File_write_at_all(f, INT64_MAX - 4, buf, 1, MPI_INT, &st) != MPI_SUCCESS);
    OK(MPI_File_close(&f));
}

/* Every process has hints of its own: the data are right nevertheless. */
static void hints(void)
{
    enum { PIECE = 100, PIECES = 700 };
    static char mine[PIECE * PIECES], back[PIECE * PIECES];
    char unit[32];
    MPI_Info i;
    MPI_Datatype t, ft;
    MPI_File f;
    snprintf(unit, sizeof unit, "%d", 4096 << mt_rank);
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_cb_write", "enable");
    MPI_Info_set(i, "romio_cb_read", "disable");
    MPI_Info_set(i, "striping_unit", unit);
    f = opened(i);
    MPI_Info_free(&i);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, (MPI_Aint)PIECE * mt_size, &ft);
    MPI_Type_commit(&ft);
    OK(MPI_File_set_view(f, 5000 + PIECE * mt_rank, MPI_BYTE, ft, "native", MPI_INFO_NULL));
    for (int k = 0; k < PIECE * PIECES; k++)
        mine[k] = (char)(k * 7 + (k >> 8) + mt_rank);
    OK(MPI_File_write_at_all(f, 0, mine, PIECE * PIECES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at_all(f, 0, back, PIECE * PIECES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(!memcmp(mine, back, sizeof mine));
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
    OK(MPI_File_close(&f));
}

static int rep_extent(MPI_Datatype t, MPI_Aint *extent, void *extra)
{
    (void)t;
    (void)extra;
    *extent = 1;
    return MPI_SUCCESS;
}

static int converted;

static int rep_convert(void *user, MPI_Datatype t, int n, void *file, MPI_Offset pos, void *extra)
{
    (void)user;
    (void)t;
    (void)n;
    (void)file;
    (void)pos;
    (void)extra;
    converted++;
    return MPI_SUCCESS;
}

/* A conversion function that counts by int is not called with a count that no int holds. */
static void large_count(void)
{
    MPI_File f = opened(MPI_INFO_NULL);
    MPI_Request r;
    OK(MPI_Register_datarep("by int", rep_convert, rep_convert, rep_extent, NULL));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "by int", MPI_INFO_NULL));
    CHECK_EQ(mt_class(MPI_File_write_at_c(f, 0, buf, (MPI_Count)INT32_MAX + 1, MPI_BYTE,
                                          MPI_STATUS_IGNORE)), MPI_ERR_COUNT);
    CHECK_EQ(mt_class(MPI_File_iread_at_c(f, 0, buf, (MPI_Count)INT32_MAX + 1, MPI_BYTE, &r)),
             MPI_ERR_COUNT);
    CHECK_EQ(converted, 0);
    OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    int id = (int)getpid();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-misuse-%d", id);
    positions();
    if (mt_size > 1) {
        arguments();
        splits();
    }
    far_away();
    hints();
    large_count();
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    return mt_finish();
}
