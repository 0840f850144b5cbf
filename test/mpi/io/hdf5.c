/* hdf5.c - a file of three datasets by parallel HDF5: columns dealt out one by one, the same in
 * chunks, blocks of rows. Each rank writes its part and reads it back. The file is the same for all
 * numbers of ranks (hdf5.test). hdf5 FILE collective|independent */
#include <hdf5.h>

#include "../mt.h"

enum { ROWS = 120, COLS = 90, CHUNK = 16 };

struct part {
    hsize_t at[2], step[2], n[2];
};

static struct part columns(void)
{
    hsize_t r = (hsize_t)mt_rank, n = (hsize_t)mt_size;
    return (struct part){{0, r}, {1, n}, {ROWS, (COLS - r + n - 1) / n}};
}

static struct part rows(void)
{
    hsize_t from = (hsize_t)(ROWS * mt_rank / mt_size);
    return (struct part){{from, 0}, {1, 1},
                         {(hsize_t)(ROWS * (mt_rank + 1) / mt_size) - from, COLS}};
}

static int value(const struct part *p, int set, hsize_t i, hsize_t j)
{
    return set * 100000 + (int)((p->at[0] + i * p->step[0]) * COLS + p->at[1] + j * p->step[1]);
}

static void move(hid_t set, const struct part *p, int k, hid_t how)
{
    static int buf[ROWS * COLS];
    hid_t file = H5Dget_space(set), memory = H5Screate_simple(2, p->n, NULL);
    CHECK(H5Sselect_hyperslab(file, H5S_SELECT_SET, p->at, p->step, p->n, NULL) >= 0);
    for (hsize_t i = 0; i < p->n[0]; i++)
        for (hsize_t j = 0; j < p->n[1]; j++)
            buf[i * p->n[1] + j] = value(p, k, i, j);
    CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, file, how, buf) >= 0);
    memset(buf, 0, sizeof buf);
    CHECK(H5Dread(set, H5T_NATIVE_INT, memory, file, how, buf) >= 0);
    for (hsize_t i = 0; i < p->n[0]; i++)
        for (hsize_t j = 0; j < p->n[1]; j++)
            CHECK_EQ(buf[i * p->n[1] + j], value(p, k, i, j));
    H5Sclose(memory);
    H5Sclose(file);
}

int main(int argc, char **argv)
{
    const hsize_t whole[2] = {ROWS, COLS}, chunk[2] = {CHUNK, CHUNK};
    mt_init(&argc, &argv);
    if (!MUST(argc > 2, "hdf5 FILE collective|independent"))
        return mt_finish();
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(how, strcmp(argv[2], "collective") ? H5FD_MPIO_INDEPENDENT
                                                        : H5FD_MPIO_COLLECTIVE);
    hid_t f = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, whole, NULL);
    MUST(f >= 0, "no file %s", argv[1]);
    for (int k = 0; k < 3 && f >= 0; k++) {
        const char *const names[] = {"columns", "chunks", "rows"};
        struct part p = k < 2 ? columns() : rows();
        hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
        if (k == 1)
            H5Pset_chunk(layout, 2, chunk);
        hid_t set = H5Dcreate2(f, names[k], H5T_NATIVE_INT, space, H5P_DEFAULT, layout,
                               H5P_DEFAULT);
        CHECK(set >= 0);
        move(set, &p, k, how);
        H5Dclose(set);
        H5Pclose(layout);
    }
    H5Sclose(space);
    H5Pclose(how);
    H5Pclose(access);
    CHECK(H5Fclose(f) >= 0);
    return mt_finish();
}
