/* nodemap.c - the node map: parsed from the launcher's text, kept as blocks, queried by
 * arithmetic (nodemap.h; doc/design/boot.md B1). Start with node_map_init() and node_map_node(). */
#include "boot/nodemap.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- the launcher's hosts ------------------------------------------------- */

static int has_host(const struct node_block *b, int host)
{
    return host >= b->first && host - b->first < b->nodes;
}

static int host_of(const struct node_map *m, int rank)
{
    int64_t r = rank % m->period;
    int lo = 0, hi = m->nblocks - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (m->block[mid].start <= r)
            lo = mid;
        else
            hi = mid - 1;
    }
    const struct node_block *b = &m->block[lo];
    return b->first + (int)((r - b->start) / b->per);
}

/* Ranks of `host` in one period. */
static int64_t per_period(const struct node_map *m, int host)
{
    int64_t n = 0;
    for (int i = 0; i < m->nblocks; i++)
        if (has_host(&m->block[i], host))
            n += m->block[i].per;
    return n;
}

/* Ranks of `host` below world rank `rank` (which may be the size). */
static int count_below(const struct node_map *m, int host, int rank)
{
    int64_t whole = rank / m->period, r = rank % m->period, n = 0;
    for (int i = 0; i < m->nblocks; i++) {
        const struct node_block *b = &m->block[i];
        if (!has_host(b, host))
            continue;
        int64_t start = b->start + (int64_t)(host - b->first) * b->per;
        n += whole * b->per;
        if (r > start)
            n += r - start < b->per ? r - start : b->per;
    }
    return (int)n;
}

/* World rank of the index-th rank of `host`. */
static int nth_rank(const struct node_map *m, int host, int index)
{
    int64_t n = per_period(m, host), left = index % n;
    for (int i = 0; i < m->nblocks; i++) {
        const struct node_block *b = &m->block[i];
        if (!has_host(b, host))
            continue;
        if (left < b->per)
            return (int)(index / n * m->period + b->start + (int64_t)(host - b->first) * b->per +
                         left);
        left -= b->per;
    }
    return -1;
}

/* --- parsing ---------------------------------------------------------------- */

static int number(const char **p, int min, int *out)
{
    char *end;
    if (!isdigit((unsigned char)**p))
        return -EINVAL;
    errno = 0;
    long v = strtol(*p, &end, 10);
    if (errno || v < min || v > INT_MAX)
        return -EINVAL;
    *p = end;
    *out = (int)v;
    return 0;
}

static int expect(const char **p, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*p, word, n))
        return -EINVAL;
    *p += n;
    return 0;
}

static int parse_block(const char **p, struct node_block *b)
{
    if (expect(p, "(") || number(p, 0, &b->first) || expect(p, ",") || number(p, 1, &b->nodes))
        return -EINVAL;
    if (expect(p, ",") || number(p, 1, &b->per) || expect(p, ")"))
        return -EINVAL;
    return b->first > INT_MAX - b->nodes ? -EINVAL : 0;
}

static int parse(struct node_map *m, const char *text)
{
    int room = 0;
    for (const char *c = text; *c; c++)
        room += *c == '(';
    m->block = calloc((size_t)room + 1, sizeof *m->block);
    if (!m->block)
        return -ENOMEM;
    if (expect(&text, "(vector"))
        return -EINVAL;
    while (*text == ',') {
        struct node_block *b = &m->block[m->nblocks];
        text++;
        if (parse_block(&text, b))
            return -EINVAL;
        /* Blocks past the last rank place none.  Leaving them out keeps the sums small. */
        if (m->period >= m->size)
            continue;
        b->start = m->period;
        m->period += (int64_t)b->nodes * b->per;
        m->nblocks++;
    }
    return expect(&text, ")") || *text || !m->nblocks ? -EINVAL : 0;
}

static int count_hosts(const struct node_map *m)
{
    int hosts = 0;
    for (int i = 0; i < m->nblocks; i++) {
        const struct node_block *b = &m->block[i];
        int64_t used = (m->size - b->start + b->per - 1) / b->per;
        int end = b->first + (int)(used < b->nodes ? used : b->nodes);
        hosts = end > hosts ? end : hosts;
    }
    return hosts;
}

/* --- pretended nodes -------------------------------------------------------- */

/* Clique of the i-th of n ranks of a host, and the first rank of clique c: blocks whose sizes
 * differ by at most one. */
static int clique_of(const struct node_map *m, int i, int n)
{
    return (int)((int64_t)i * m->cliques / n);
}

static int clique_first(const struct node_map *m, int c, int n)
{
    return (int)(((int64_t)c * n + m->cliques - 1) / m->cliques);
}

/* A host is cut into at most as many nodes as it has ranks: node numbers must have no gaps. */
static int limit_cliques(const struct node_map *m, int cliques)
{
    /* Only hosts that some rank names: their numbers may be anything. */
    for (int i = 0; i < m->nblocks && cliques > 1; i++) {
        const struct node_block *b = &m->block[i];
        int64_t used = (m->size - b->start + b->per - 1) / b->per;
        for (int h = 0; h < b->nodes && h < used && cliques > 1; h++) {
            int n = count_below(m, b->first + h, m->size);
            if (n > 0 && n < cliques)
                cliques = n;
        }
    }
    /* numbers of nodes are ints */
    return m->hosts > INT_MAX / cliques ? INT_MAX / m->hosts : cliques;
}

int node_map_init(struct node_map *m, const char *text, int rank, int size, int nolocal,
                  int cliques)
{
    memset(m, 0, sizeof *m);
    m->rank = rank;
    m->size = size;
    m->alone = nolocal || !text;
    int err = parse(m, text ? text : "(vector,(0,2147483646,1))");
    if (err) {
        node_map_free(m);
        return err;
    }
    m->hosts = count_hosts(m);
    m->host = host_of(m, rank);
    m->host_size = count_below(m, m->host, size);
    m->cliques = m->alone ? 1 : limit_cliques(m, cliques);
    if (m->alone) {
        m->nodes = size;
        m->node = rank;
        m->local_first = count_below(m, m->host, rank);
        m->local_size = 1;
        return 0;
    }
    int c = clique_of(m, count_below(m, m->host, rank), m->host_size);
    m->nodes = m->hosts * m->cliques;
    m->node = m->host * m->cliques + c;
    m->local_first = clique_first(m, c, m->host_size);
    m->local_size = clique_first(m, c + 1, m->host_size) - m->local_first;
    return 0;
}

void node_map_free(struct node_map *m)
{
    free(m->block);
    memset(m, 0, sizeof *m);
}

int node_map_node(const struct node_map *m, int rank)
{
    if (m->alone)
        return rank;
    int host = host_of(m, rank);
    if (m->cliques == 1)
        return host;
    int n = count_below(m, host, m->size);
    return host * m->cliques + clique_of(m, count_below(m, host, rank), n);
}

int node_map_host(const struct node_map *m, int rank)
{
    return host_of(m, rank);
}

int node_map_local_index(const struct node_map *m, int rank)
{
    if (rank == m->rank && m->alone)
        return 0;
    if (m->alone || host_of(m, rank) != m->host)
        return -1;
    int i = count_below(m, m->host, rank) - m->local_first;
    return i >= 0 && i < m->local_size ? i : -1;
}

int node_map_local_rank(const struct node_map *m, int index)
{
    if (m->alone)
        return m->rank;
    return nth_rank(m, m->host, m->local_first + index);
}

int node_map_host_index(const struct node_map *m, int rank)
{
    return host_of(m, rank) == m->host ? count_below(m, m->host, rank) : -1;
}

int node_map_host_rank(const struct node_map *m, int index)
{
    return nth_rank(m, m->host, index);
}
