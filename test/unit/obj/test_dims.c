/* test_dims.c - obj/dims.c: even and descending, given ones stay, more dimensions than factors,
 * least range. */
#include "unit_obj.h"

#include "obj/neighbors.h"

static void filled(int product, int ndims, int *dims, const int *want)
{
    ck_assert(topo_dims_fill(product, ndims, dims));
    for (int i = 0; i < ndims; i++)
        ck_assert_msg(dims[i] == want[i], "%d in %d: dims[%d] is %d, not %d", product, ndims, i,
                      dims[i], want[i]);
}

START_TEST(even_and_descending)
{
    filled(36, 2, (int[]){0, 0}, (int[]){6, 6});
    filled(12, 3, (int[]){0, 0, 0}, (int[]){3, 2, 2});
    filled(17, 3, (int[]){0, 0, 0}, (int[]){17, 1, 1});
    filled(1, 2, (int[]){0, 0}, (int[]){1, 1});
    filled(1000000000, 3, (int[]){0, 0, 0}, (int[]){1000, 1000, 1000});
    filled(2147483647, 2, (int[]){0, 0}, (int[]){2147483647, 1});
}
END_TEST

START_TEST(given_ones_stay)
{
    filled(12, 4, (int[]){0, 5, 0, 7}, (int[]){4, 5, 3, 7});
}
END_TEST

START_TEST(more_dimensions_than_factors)
{
    int dims[40] = {0}, want[40];
    for (int i = 0; i < 40; i++)
        want[i] = i < 30 ? 2 : 1;
    filled(1 << 30, 40, dims, want);
}
END_TEST

/* Every split of small numbers: the product is right, none grows, and no other has a smaller
 * range. */
START_TEST(least_range)
{
    for (int n = 1; n <= 500; n++) {
        int d[3] = {0, 0, 0}, least = n;
        ck_assert(topo_dims_fill(n, 3, d));
        ck_assert_int_eq(d[0] * d[1] * d[2], n);
        ck_assert(d[0] >= d[1] && d[1] >= d[2]);
        for (int a = 1; a <= n; a++)
            for (int b = 1; n % a == 0 && b <= a; b++)
                if (n / a % b == 0 && n / a / b <= b && a - n / a / b < least)
                    least = a - n / a / b;
        ck_assert_int_eq(d[0] - d[2], least);
    }
}
END_TEST

OBJ_SUITE(dims, even_and_descending, given_ones_stay, more_dimensions_than_factors, least_range)
