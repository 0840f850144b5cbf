/* spread.c - a table that finds near ranks in O(1) where they are not consecutive, as with ranks
 * dealt to nodes in turn (cyclic).
 *
 * The place of a rank is (rank * mul mod 2^32) >> shift, and holds its index in near[]. Different
 * near ranks have different places, so one comparison with the rank found is enough. For ranks at
 * equal distances a multiplier is computed that puts them side by side; for others some random
 * ones are tried, with tables up to MOST times the number of ranks. Memory is O(ranks on the node).
 * Start with rma_spread_make(). */
#include "rma/window/window_types.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16, TRIES = 32 };

/* 1: all have places of their own. */
static int fits(const struct rma_win *w, uint16_t *table, unsigned bits, uint32_t mul)
{
    const struct rma_near *n = w->near.near;
    memset(table, 0xff, sizeof *table << bits);
    for (unsigned i = 0; i < w->nears; i++) {
        uint32_t place = (uint32_t)n[i].rank * mul >> (32 - bits);
        if (table[place] != UINT16_MAX)
            return 0;
        table[place] = (uint16_t)i;
    }
    for (size_t p = 0; p < (size_t)1 << bits; p++)
        table[p] = table[p] == UINT16_MAX ? 0 : table[p]; /* its rank has another place */
    return 1;
}

void rma_spread_make(struct rma_win *w)
{
    const struct rma_near *n = w->near.near;
    unsigned bits = 1;
    while ((size_t)1 << bits < 2 * (size_t)w->nears)
        bits++;
    for (size_t most = MOST * (size_t)w->nears; (size_t)1 << bits <= most && w->nears < UINT16_MAX;
         bits++) {
        uint16_t *table = malloc(sizeof *table << bits);
        if (!table)
            return;
        uint64_t step = (uint64_t)(n[1].rank - n[0].rank) << (bits - 1);
        uint32_t mul = (uint32_t)((UINT64_C(1) << 32) / step) | (step > UINT32_MAX);
        for (int i = 0; i < TRIES; i++, mul = (uint32_t)random_bits() | 1)
            if (fits(w, table, bits, mul)) {
                w->near.spread_mul = mul;
                w->near.spread_shift = (uint8_t)(32 - bits);
                w->near.spread = table;
                return;
            }
        free(table);
    }
}
