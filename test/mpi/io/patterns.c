/* patterns.c - one access of a kind to a file, for a look from outside (outside.test).
 * patterns KIND FILE: collective, stripes (the same, striping_unit is STRIPE), begun (nonblocking
 * collective), shared, read (strided), write
 * (strided), gaps (the same, and the gaps may be written, too), memory (strided in memory alone),
 * atomic, open (not closed). */
#include "view.h"

#define STRIPE "131072"
enum { BLOCK = 1024, BLOCKS = 64, SHARED = 10 };
static char buf[2 * BLOCK * BLOCKS];

/* Rank r has every every-th block, from the r-th on. */
static MPI_File opened(const char *name, int every, const char *kind)
{
    MPI_File f;
    MPI_Info i;
    MPI_Info_create(&i);
    if (!strcmp(kind, "gaps"))
        MPI_Info_set(i, "romio_ds_write", "enable");
    if (!strcmp(kind, "stripes"))
        MPI_Info_set(i, "striping_unit", STRIPE);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, i, &f), 0);
    MPI_Info_free(&i);
    view_set(f, BLOCK, every);
    return f;
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    const char *kind = argc > 2 ? argv[1] : "";
    const int n = BLOCK * BLOCKS;
    MPI_Request r;
    MPI_Datatype t;
    MPI_File f = opened(argc > 2 ? argv[2] : "", !strcmp(kind, "memory") ? 1 : mt_size,
                        kind);
    if (!strcmp(kind, "collective") || !strcmp(kind, "stripes")) {
        CHECK_EQ(MPI_File_write_at_all(f, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    } else if (!strcmp(kind, "begun")) {
        CHECK_EQ(MPI_File_iwrite_at_all(f, 0, buf, n, MPI_BYTE, &r), 0);
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), 0);
    } else if (!strcmp(kind, "shared")) {
        for (int i = 0; i < SHARED; i++)
            CHECK_EQ(MPI_File_write_shared(f, buf, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    } else if (!strcmp(kind, "read")) {
        CHECK_EQ(MPI_File_read_at(f, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    } else if (!strcmp(kind, "memory")) {
        MPI_Type_vector(n / 8, 8, 16, MPI_BYTE, &t);
        MPI_Type_commit(&t);
        CHECK_EQ(MPI_File_write_at(f, 0, buf, 1, t, MPI_STATUS_IGNORE), 0);
        MPI_Type_free(&t);
    } else {
        if (!strcmp(kind, "atomic"))
            CHECK_EQ(MPI_File_set_atomicity(f, 1), 0);
        CHECK_EQ(MPI_File_write_at(f, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE), 0);
    }
    if (strcmp(kind, "open"))
        CHECK_EQ(MPI_File_close(&f), 0);
    return mt_finish();
}
