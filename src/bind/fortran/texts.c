/* texts.c - texts of Fortran into those of C, and back. */
#include "bind/fortran/texts.h"

#include <stdlib.h>
#include <string.h>

void indices_out(int count, int *indices)
{
    for (int i = 0; i < count; i++)
        indices[i]++;
}

char *string_in(const char *text, size_t len)
{
    while (len && *text == ' ')
        text++, len--;
    return string_kept(text, len);
}

char *string_kept(const char *text, size_t len)
{
    while (len && text[len - 1] == ' ')
        len--;
    char *s = malloc(len + 1);
    if (!s)
        return NULL;
    memcpy(s, text, len);
    s[len] = 0;
    return s;
}

void string_out(const char *from, char *text, size_t len)
{
    size_t n = strlen(from);
    if (n > len)
        n = len;
    memcpy(text, from, n);
    memset(text + n, ' ', len - n);
}

void strings_free(char **s)
{
    for (char **p = s; p && *p; p++)
        free(*p);
    free(s);
}

static char **strings(const char *text, size_t len, size_t stride, size_t count)
{
    char **s = calloc(count + 1, sizeof *s);
    for (size_t i = 0; s && i < count; i++) {
        s[i] = string_in(text + i * stride, len);
        if (!s[i]) {
            strings_free(s);
            return NULL;
        }
    }
    return s;
}

char **strings_in(const char *text, size_t len, size_t stride)
{
    size_t count = 0, blanks = 0;
    for (;;) {
        const char *one = text + count * stride;
        for (blanks = 0; blanks < len && one[blanks] == ' '; blanks++)
            ;
        if (blanks == len)
            return strings(text, len, stride, count);
        count++;
    }
}

char **strings_of(const char *text, size_t len, int count)
{
    return strings(text, len, len, count > 0 ? (size_t)count : 0);
}
