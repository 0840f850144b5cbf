/* pmiline.c - lines of PMI-1: "key=value" words, and bytes as hexadecimal text. */
#include "base/pmiline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pmi_line_parse(char *text, struct pmi_line *line)
{
    char *save = NULL;
    line->n = 0;
    for (char *w = strtok_r(text, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
        char *eq = strchr(w, '=');
        if (!eq || eq == w)
            continue;
        if (line->n == PMI_WORDS_MAX)
            return -E2BIG;
        *eq = 0;
        line->word[line->n].key = w;
        line->word[line->n++].value = eq + 1;
    }
    return 0;
}

const char *pmi_line_get(const struct pmi_line *line, const char *key)
{
    for (int i = 0; i < line->n; i++)
        if (!strcmp(line->word[i].key, key))
            return line->word[i].value;
    return NULL;
}

int pmi_line_int(const struct pmi_line *line, const char *key, int min, int max, int *out)
{
    const char *text = pmi_line_get(line, key);
    char *end;
    if (!text || !*text)
        return -EINVAL;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (*end || errno || v < min || v > max)
        return -EINVAL;
    *out = (int)v;
    return 0;
}

void pmi_hex(const void *bytes, size_t len, char *text)
{
    static const char digit[] = "0123456789abcdef";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < len; i++) {
        *text++ = digit[b[i] >> 4];
        *text++ = digit[b[i] & 15];
    }
    *text = 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int pmi_unhex(const char *text, void *bytes, size_t *len)
{
    size_t n = strlen(text);
    unsigned char *b = bytes;
    if (n % 2)
        return -EINVAL;
    if (n / 2 > *len)
        return -EMSGSIZE;
    for (size_t i = 0; i < n / 2; i++) {
        int hi = hex_digit(text[2 * i]), lo = hex_digit(text[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return -EINVAL;
        b[i] = (unsigned char)(hi << 4 | lo);
    }
    *len = n / 2;
    return 0;
}
