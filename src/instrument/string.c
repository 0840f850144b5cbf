/* string.c - functions of the C library that read and write memory: the linker puts these before
 * them. Start with common(). */
#include "instrument/instrument.h"

#include <string.h>

#define DECLARE(type, name, params)                                                                \
    type REAL(name) params;                                                                        \
    type WRAP(name) params;                                                                        \
    type WRAP(name) params

DECLARE(void *, memcpy, (void *to, const void *from, size_t n))
{
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(memcpy)(to, from, n);
}

DECLARE(void *, memmove, (void *to, const void *from, size_t n))
{
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(memmove)(to, from, n);
}

DECLARE(void *, memset, (void *to, int c, size_t n))
{
    touch_range(to, n, 1, CALLER);
    return REAL(memset)(to, c, n);
}

DECLARE(int, memcmp, (const void *a, const void *b, size_t n))
{
    touch_range(a, n, 0, CALLER);
    touch_range(b, n, 0, CALLER);
    return REAL(memcmp)(a, b, n);
}

DECLARE(void *, memchr, (const void *at, int c, size_t n))
{
    const char *end = REAL(memchr)(at, c, n);
    touch_range(at, end ? (size_t)(end - (const char *)at) + 1 : n, 0, CALLER);
    return (void *)(uintptr_t)end;
}

DECLARE(size_t, strlen, (const char *s))
{
    size_t n = REAL(strlen)(s);
    touch_range(s, n + 1, 0, CALLER);
    return n;
}

DECLARE(size_t, strnlen, (const char *s, size_t most))
{
    size_t n = REAL(strnlen)(s, most);
    touch_range(s, n < most ? n + 1 : most, 0, CALLER);
    return n;
}

DECLARE(char *, strcpy, (char *to, const char *from))
{
    size_t n = REAL(strlen)(from) + 1;
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(strcpy)(to, from);
}

DECLARE(char *, strncpy, (char *to, const char *from, size_t n))
{
    size_t have = REAL(strnlen)(from, n);
    touch_range(from, have < n ? have + 1 : n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(strncpy)(to, from, n);
}

DECLARE(char *, strcat, (char *to, const char *from))
{
    size_t have = REAL(strlen)(to), n = REAL(strlen)(from) + 1;
    touch_range(to, have + 1, 0, CALLER);
    touch_range(from, n, 0, CALLER);
    touch_range(to + have, n, 1, CALLER);
    return REAL(strcat)(to, from);
}

/* Bytes of a and b up to the first that differ, or the end. */
static size_t common(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] == b[n] && a[n])
        n++;
    return n < most ? n + 1 : most;
}

DECLARE(int, strcmp, (const char *a, const char *b))
{
    size_t n = common(a, b, SIZE_MAX);
    touch_range(a, n, 0, CALLER);
    touch_range(b, n, 0, CALLER);
    return REAL(strcmp)(a, b);
}

DECLARE(int, strncmp, (const char *a, const char *b, size_t most))
{
    size_t n = common(a, b, most);
    touch_range(a, n, 0, CALLER);
    touch_range(b, n, 0, CALLER);
    return REAL(strncmp)(a, b, most);
}

DECLARE(char *, strchr, (const char *s, int c))
{
    char *end = REAL(strchr)(s, c);
    touch_range(s, end ? (size_t)(end - s) + 1 : REAL(strlen)(s) + 1, 0, CALLER);
    return end;
}

/* of _FORTIFY_SOURCE */
DECLARE(void *, __memcpy_chk, (void *to, const void *from, size_t n, size_t room))
{
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(__memcpy_chk)(to, from, n, room);
}

DECLARE(void *, __memmove_chk, (void *to, const void *from, size_t n, size_t room))
{
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(__memmove_chk)(to, from, n, room);
}

DECLARE(void *, __memset_chk, (void *to, int c, size_t n, size_t room))
{
    touch_range(to, n, 1, CALLER);
    return REAL(__memset_chk)(to, c, n, room);
}

DECLARE(char *, __strcpy_chk, (char *to, const char *from, size_t room))
{
    size_t n = REAL(strlen)(from) + 1;
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(__strcpy_chk)(to, from, room);
}

/* clang's names for its own copies */
void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(memcpy)(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    touch_range(from, n, 0, CALLER);
    touch_range(to, n, 1, CALLER);
    return REAL(memmove)(to, from, n);
}

void *__tsan_memset(void *to, int c, size_t n);
void *__tsan_memset(void *to, int c, size_t n)
{
    touch_range(to, n, 1, CALLER);
    return REAL(memset)(to, c, n);
}
