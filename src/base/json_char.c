/* json_char.c - texts as JSON has them. */
#include "base/json_char.h"

#include <stdio.h>

/* Bytes of the UTF-8 character at s; 0: it is none. Bytes behind a 0 are not read. */
static int utf8(const unsigned char *s)
{
    int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    int wide = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90);
    int beyond = (*s == 0xed && s[1] > 0x9f) || (*s == 0xf4 && s[1] > 0x8f);
    return wide || beyond ? 0 : n;
}

const char *json_next(const char **s, char to[JSON_CHAR])
{
    unsigned char c = (unsigned char)**s;
    int n = utf8((const unsigned char *)*s);
    if (!n)
        snprintf(to, JSON_CHAR, "?");
    else if (c == '"' || c == '\\')
        snprintf(to, JSON_CHAR, "\\%c", c);
    else if (c < ' ')
        snprintf(to, JSON_CHAR, "\\u%04x", c);
    else
        snprintf(to, JSON_CHAR, "%.*s", n, *s);
    *s += n ? n : 1;
    return to;
}
