/* faults.c - files in a file system with faults (faults.test): the data are right, or the error
 * names file, place and bytes; and the file can be closed. faults FAULT FILE; FAULT "refused":
 * locks are, and each write needs one (MPIR_CVAR_IO_LOCKS=1). */
#include "view.h"

enum { BLOCK = 1024, BLOCKS = 64, N = BLOCK * BLOCKS, LIMIT = 100000 };
static char out[N], in[N];
static const char *name, *fault;

static int is(const char *what)
{
    return !strcmp(fault, what);
}

static MPI_File opened(const char *cb, int gaps)
{
    char in_effect[20] = "";
    int flag;
    MPI_File f;
    MPI_Info i;
    MPI_Info_create(&i);
    MPI_Info_set(i, "romio_cb_write", cb);
    MPI_Info_set(i, "romio_cb_read", cb);
    if (gaps)
        MPI_Info_set(i, "romio_ds_write", "enable");
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f), 0);
    MPI_Info_free(&i);
    MPI_File_get_info(f, &i);
    MPI_Info_get(i, "romio_ds_write", 19, in_effect, &flag);
    CHECK(!strcmp(in_effect, gaps && !is("nolocks") ? "enable" : "disable"));
    MPI_Info_free(&i);
    view_set(f, BLOCK, mt_size);
    return f;
}

static int moved(MPI_File f, int write, int how)
{
    MPI_Request r;
    char *buf = write ? out : in;
    int err;
    switch (how * 2 + write) {
    case 0: return MPI_File_read_at(f, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE);
    case 1: return MPI_File_write_at(f, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE);
    case 2: return MPI_File_read_at_all(f, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE);
    case 3: return MPI_File_write_at_all(f, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE);
    case 4: err = MPI_File_iread_at_all(f, 0, buf, N, MPI_BYTE, &r); break;
    default: err = MPI_File_iwrite_at_all(f, 0, buf, N, MPI_BYTE, &r); break;
    }
    return err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* All of the file is past the limit only in the last rank's independent write of few ranks: where
 * the file ends before the limit no fault is met. */
static void judge(int err, int class, int write, int collective)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, must = mt_size * N > LIMIT;
    if (!collective)
        MPI_Allreduce(MPI_IN_PLACE, &must, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int any = err != 0;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(any, must);
    if (collective)
        CHECK_EQ(err != 0, must);
    if (!err)
        return;
    MPI_Error_string(err, text, &len);
    CHECK_EQ(mt_class(err), class);
    MUST(strstr(text, name), "the text names no file: %s", text);
    if (!collective)
        MUST(strstr(text, write ? "writing of 65536 bytes failed at byte"
                                : "reading of 65536 bytes failed at byte"), "%s", text);
}

/* how: independent, collective, nonblocking, independent with the gaps between blocks. */
static void one_way(int how)
{
    int gaps = how == 3;
    how = gaps ? 0 : how;
    MPI_File f = opened(how ? "enable" : "disable", gaps);
    for (int i = 0; i < N; i++)
        out[i] = (char)(i * 5 + i / 509 + mt_rank + how);
    memset(in, 0, N);
    int err = moved(f, 1, how);
    if (is("space") || is("quota") || is("broken"))
        judge(err, is("space") ? MPI_ERR_NO_SPACE : is("quota") ? MPI_ERR_QUOTA : MPI_ERR_IO, 1,
              how > 0);
    else
        CHECK_EQ(err, 0);
    CHECK_EQ(MPI_File_sync(f), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_File_sync(f), 0);
    err = moved(f, 0, how);
    if (is("none") || is("short") || is("nolocks")) {
        CHECK_EQ(err, 0);
        MUST(!memcmp(in, out, N), "%s: wrong data", fault);
    }
    err = MPI_File_set_atomicity(f, 1);
    if (is("nolocks"))
        CHECK_EQ(mt_class(err), MPI_ERR_IO);
    else
        CHECK_EQ(err, 0);
    CHECK_EQ(MPI_File_close(&f), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mt_rank == 0)
        CHECK_EQ(MPI_File_delete(name, MPI_INFO_NULL), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void refused(void)
{
    MPI_File f;
    char text[MPI_MAX_ERROR_STRING];
    int len, err = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                 MPI_INFO_NULL, &f);
    CHECK_EQ(mt_class(err), MPI_ERR_IO);
    MPI_Error_string(err, text, &len);
    MUST(strstr(text, "needs range locks") && strstr(text, name), "%s", text);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), 0);
    CHECK_EQ(MPI_File_close(&f), 0);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    if (!MUST(argc > 2, "faults FAULT FILE"))
        return mt_finish();
    fault = argv[1];
    name = argv[2];
    if (is("refused"))
        refused();
    for (int how = 0; how < 4 && !is("refused"); how++)
        one_way(how);
    return mt_finish();
}
