/* shares.c - runs of blocks and the data in them. */
#include "base/vec.h"
#include "io/shares.h"

#include <stdlib.h>
#include <string.h>

void share_reset(struct share *s)
{
    if (s->own)
        free(s->data);
    s->own = s->bad = 0;
    s->data = NULL;
    s->head.bytes = s->head.runs = 0;
}

void shares_free(struct share *s, int n)
{
    for (int i = 0; s && i < n; i++) {
        share_reset(&s[i]);
        free(s[i].more);
    }
    free(s);
}

static struct run *run_at(struct share *s, int64_t i)
{
    return i < HEAD_RUNS ? &s->head.run[i] : &s->more[i - HEAD_RUNS];
}

int share_fits(struct share *s, int64_t runs)
{
    size_t need = runs > HEAD_RUNS ? (size_t)(runs - HEAD_RUNS) : 0;
    return VEC_FITS(s->more, s->room, need, need);
}

int share_add(struct share *s, int64_t at, int64_t len)
{
    struct run *last = s->head.runs ? run_at(s, s->head.runs - 1) : NULL;
    if (last && last->len == len && last->count == 1) {
        last->stride = at - last->at;
        last->count = 2;
    } else if (last && last->len == len && at == last->at + last->count * last->stride) {
        last->count++;
    } else if (share_fits(s, s->head.runs + 1)) {
        *run_at(s, s->head.runs++) = (struct run){at, len, len, 1};
    } else {
        return 0;
    }
    s->head.bytes += len;
    return 1;
}

static int run_is_whole(const struct chunks *k, const struct run *r, int64_t end)
{
    if (r->at < 0 || r->len <= 0 || r->count <= 0 || r->stride < r->len)
        return 0;
    if (r->at > end || r->len > end - r->at || r->count - 1 > (end - r->at - r->len) / r->stride)
        return 0;
    return !k->write || !(r->at % k->unit || r->len % k->unit || r->stride % k->unit);
}

int share_is_whole(const struct chunks *k, struct share *s, size_t len)
{
    int64_t sum = 0;
    if (s->bad || (s->head.runs > HEAD_RUNS && (uint64_t)(s->head.runs - HEAD_RUNS) > s->room))
        return 0;
    for (int64_t i = 0; i < s->head.runs; i++) {
        const struct run *r = run_at(s, i);
        if (!run_is_whole(k, r, (int64_t)len))
            return 0;
        sum += r->count * r->len; /* each term is not over len */
        if (sum > s->head.bytes)
            return 0;
    }
    return sum == s->head.bytes;
}

void share_place(const struct chunks *k, struct share *s, char *buffer, char *map)
{
    size_t done = 0, unit = (size_t)k->unit;
    for (int64_t i = 0; i < s->head.runs; i++) {
        const struct run *r = run_at(s, i);
        for (int64_t j = 0; j < r->count; j++, done += (size_t)r->len) {
            size_t at = (size_t)(r->at + j * r->stride), len = (size_t)r->len;
            if (k->write)
                memset(map + at / unit, 1, len / unit);
            if (k->write && buffer + at != s->data + done)
                memcpy(buffer + at, s->data + done, len);
            else if (!k->write)
                memcpy(s->data + done, buffer + at, len);
        }
    }
}
