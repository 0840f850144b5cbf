/* test_ldcache.c - launch/ldcache.c: names, of this machine. */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "launch/ldcache.h"

Suite *suite_ldcache(void);

/* The format, written a second time. */
static struct {
    char magic[20];
    uint32_t entries, strings, flags, extensions, more[3];
    struct {
        int32_t flags;
        uint32_t key, value, os;
        uint64_t hwcap;
    } entry[4];
    char text[64];
} image;

static void entry(int i, const char *key, const char *value, uint64_t hwcap)
{
    image.entry[i].key = (uint32_t)(strstr(image.text, key) - (char *)&image);
    image.entry[i].value = (uint32_t)(strstr(image.text, value) - (char *)&image);
    image.entry[i].hwcap = hwcap;
}

START_TEST(names)
{
    struct ldcache c = {(char *)&image, sizeof image - 1};
    memcpy(image.magic, "glibc-ld.so.cache1.1", 20);
    image.entries = 4;
    /* One text for strstr; cut into strings below. */
    strcpy(image.text, "liba.so|/fast/liba|/x/liba|/y/liba|libb.so|/x/libb");
    entry(0, "liba.so", "/fast/liba", 1);
    entry(1, "liba.so", "/x/liba", 0);
    entry(2, "libb.so", "/x/libb", 0);
    entry(3, "liba.so", "/y/liba", 0);
    for (char *t = image.text; *t; t++)
        if (*t == '|')
            *t = 0, t++;
    const char *first = ldcache_next(&c, "liba.so", NULL);
    ck_assert_str_eq(first, "/x/liba"); /* not the one for some processors */
    const char *second = ldcache_next(&c, "liba.so", first);
    ck_assert_str_eq(second, "/y/liba");
    ck_assert_ptr_null(ldcache_next(&c, "liba.so", second));
    ck_assert_str_eq(ldcache_next(&c, "libb.so", NULL), "/x/libb");
    ck_assert_ptr_null(ldcache_next(&c, "lib", NULL));
    image.entry[1].value = image.entry[3].key = UINT32_MAX; /* outside */
    ck_assert_ptr_null(ldcache_next(&c, "liba.so", NULL));
}
END_TEST

START_TEST(of_this_machine)
{
    struct ldcache c;
    ldcache_open(&c);
    if (c.text) {
        const char *file = ldcache_next(&c, "libc.so.6", NULL);
        ck_assert_ptr_nonnull(file);
        ck_assert_str_eq(strrchr(file, '/'), "/libc.so.6");
    }
    ck_assert_ptr_null(ldcache_next(&c, "no such library", NULL));
    ldcache_close(&c);
    ck_assert_ptr_null(ldcache_next(&c, "libc.so.6", NULL));
}
END_TEST

Suite *suite_ldcache(void)
{
    Suite *s = suite_create("ldcache");
    TCase *t = tcase_create("ldcache");
    tcase_add_test(t, names);
    tcase_add_test(t, of_this_machine);
    suite_add_tcase(s, t);
    return s;
}
