/* test_json_char.c - base/json_char.c: every text is a string that JSON takes. */
#include "unit.h"

#include <string.h>

#include "base/json_char.h"

Suite *suite_json(void);

static const char *all(const char *s, char *to)
{
    char c[JSON_CHAR];
    *to = 0;
    while (*s)
        strcat(to, json_next(&s, c));
    return to;
}

START_TEST(texts)
{
    static const struct {
        const char *text, *want;
    } t[] = {
        {"", ""},
        {"plain 1", "plain 1"},
        {"say \"no\" \\ yes", "say \\\"no\\\" \\\\ yes"},
        {"a\nb\t\x1f", "a\\u000ab\\u0009\\u001f"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80."},
        {"cut \xe2\x82", "cut ??"},
        {"\xf0\x9f\x98", "???"},
        {"\x80 \xff", "? ?"},
        {"\xc0\xaf", "??"},         /* two bytes where one would do */
        {"\xe0\x9f\xbf", "???"},    /* three */
        {"\xf0\x8f\xbf\xbf", "????"}, /* four */
        {"\xed\xa0\x80", "???"},    /* half of a pair of UTF-16 */
        {"\xf4\x90\x80\x80", "????"}, /* beyond U+10FFFF */
        {"\x7f", "\x7f"},
    };
    char got[128];
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        ck_assert_str_eq(all(t[i].text, got), t[i].want);
}
END_TEST

Suite *suite_json(void)
{
    Suite *s = suite_create("json");
    TCase *t = tcase_create("texts");
    tcase_add_test(t, texts);
    suite_add_tcase(s, t);
    return s;
}
