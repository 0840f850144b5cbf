/* iov.c - MPIX_Type_iov and MPIX_Type_iov_len: the blocks hold what MPI_Pack packs, in its order;
 * adjacent ones are one; every start, room and number of bytes gives the same blocks. */
#include "../mt.h"

enum { SPAN = 1 << 20, MIDDLE = SPAN / 2, MANY = 3000 };
static char memory[SPAN], packed[SPAN];
static MPIX_Iov all[MANY], some[MANY];

/* The first `n` blocks have so many bytes. */
static void prefixes(MPI_Datatype t, MPI_Count n, MPI_Count size, const char *name)
{
    MPI_Count b, got, len, sum = 0, i = 0;

    for (b = 0; b <= size + 1; b += size > 300 ? 7 : 1) {
        while (i < n && sum + all[i].iov_len <= b)
            sum += all[i++].iov_len;
        MPIX_Type_iov_len(t, b, &len, &got);
        MUST(len == i && got == sum, "%s: %ld blocks of %ld bytes in %ld, not %ld of %ld", name,
             (long)len, (long)got, (long)b, (long)i, (long)sum);
    }
}

static void parts(MPI_Datatype t, MPI_Count n, const char *name)
{
    MPI_Count at, room, got, want;

    for (at = 0; at <= n + 1; at += n > 40 ? 61 : 1)
        for (room = 0; room <= n + 1; room += n > 40 ? 67 : 1) {
            want = at >= n ? 0 : n - at < room ? n - at : room;
            memset(some, 0x5a, sizeof some);
            MPIX_Type_iov(t, at, room ? some : NULL, room, &got);
            MUST(got == want && !memcmp(some, all + at, (size_t)want * sizeof *some),
                 "%s: %ld blocks from %ld, room for %ld", name, (long)got, (long)at, (long)room);
            CHECK(room == want || ((char *)&some[want])[0] == 0x5a);
        }
}

static void check(MPI_Datatype t, int blocks, const char *name)
{
    MPI_Count n, got, bytes, i;
    int size, pos = 0, at = 0;

    MPI_Type_size(t, &size);
    MPIX_Type_iov_len(t, -1, &n, &bytes);
    MUST(n == blocks && bytes == size, "%s: %ld blocks of %ld bytes", name, (long)n, (long)bytes);
    MPIX_Type_iov(t, 0, all, MANY, &got);
    CHECK_EQ(got, n);
    for (i = 1; i < n; i++)
        CHECK((char *)all[i - 1].iov_base + all[i - 1].iov_len != (char *)all[i].iov_base);
    prefixes(t, n, size, name);
    parts(t, n, name);
    MPI_Type_commit(&t);
    MPI_Pack(memory + MIDDLE, 1, t, packed, SPAN, &pos, MPI_COMM_SELF);
    for (i = 0; i < n; at += (int)all[i++].iov_len)
        MUST(at + all[i].iov_len <= pos && !memcmp(packed + at,
                                                   memory + MIDDLE + (MPI_Aint)all[i].iov_base,
                                                   (size_t)all[i].iov_len),
             "%s: block %ld is not what is packed", name, (long)i);
    CHECK_EQ(at, pos);
}

static void types(void)
{
    MPI_Datatype t, u, mixed[2] = {MPI_CHAR, MPI_DOUBLE};
    int len[3] = {1, 2, 1}, disp[3] = {9, 2, 4}, one[2] = {1, 1}, sizes[2] = {20, 30},
        sub[2] = {7, 8}, start[2] = {3, 4};
    MPI_Aint far[3] = {8000, -4000, 12}, two[2] = {0, 8};

    check(MPI_INT, 1, "int");
    check(MPI_DOUBLE_INT, 1, "double_int");
    check(MPI_SHORT_INT, 2, "short_int");
    MPI_Type_contiguous(0, MPI_INT, &t);
    check(t, 0, "nothing");
    MPI_Type_free(&t);
    MPI_Type_contiguous(7, MPI_INT, &t);
    check(t, 1, "contiguous");
    MPI_Type_free(&t);
    MPI_Type_vector(5, 2, 2, MPI_INT, &t);
    check(t, 1, "adjacent vector");
    MPI_Type_free(&t);
    MPI_Type_vector(MANY - 1, 1, 3, MPI_SHORT, &t);
    check(t, MANY - 1, "long vector");
    MPI_Type_free(&t);
    MPI_Type_vector(129, 3, -5, MPI_INT, &t);
    check(t, 129, "descending vector");
    MPI_Type_free(&t);
    MPI_Type_indexed(3, len, disp, MPI_INT, &t); /* 9; 2, 3; 4 */
    check(t, 2, "indexed");
    MPI_Type_vector(4, 1, 6, t, &u);
    check(u, 8, "vector of indexed");
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    MPI_Type_create_hindexed(3, len, far, MPI_DOUBLE, &t);
    check(t, 3, "hindexed");
    MPI_Type_free(&t);
    MPI_Type_create_struct(2, one, two, mixed, &t);
    check(t, 2, "struct");
    MPI_Type_contiguous(70, t, &u);
    check(u, 71, "array of structs"); /* a double and the next char are one block */
    MPI_Type_free(&t);
    MPI_Type_create_resized(u, -100, 4096, &t);
    check(t, 71, "resized");
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &t);
    check(t, 7, "subarray");
    MPI_Type_free(&t);
}

static void wrong(void)
{
    MPI_Count n, bytes;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(mt_class(MPIX_Type_iov_len(MPI_DATATYPE_NULL, 0, &n, &bytes)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPIX_Type_iov_len(MPI_INT, -2, &n, &bytes)), MPI_ERR_COUNT);
    CHECK_EQ(mt_class(MPIX_Type_iov_len(MPI_INT, 0, NULL, &bytes)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Type_iov_len(MPI_INT, 0, &n, NULL)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Type_iov(MPI_DATATYPE_NULL, 0, all, 1, &n)), MPI_ERR_TYPE);
    CHECK_EQ(mt_class(MPIX_Type_iov(MPI_INT, -1, all, 1, &n)), MPI_ERR_COUNT);
    CHECK_EQ(mt_class(MPIX_Type_iov(MPI_INT, 0, all, -1, &n)), MPI_ERR_COUNT);
    CHECK_EQ(mt_class(MPIX_Type_iov(MPI_INT, 0, NULL, 1, &n)), MPI_ERR_ARG);
    CHECK_EQ(mt_class(MPIX_Type_iov(MPI_INT, 0, all, 1, NULL)), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    size_t i;

    mt_init(&argc, &argv);
    for (i = 0; i < SPAN; i++)
        memory[i] = (char)(i * 2654435761u >> 13);
    types();
    wrong();
    return mt_finish();
}
