/* group.c - groups (MPI-3.1 6.3). Start with set_call(), list_call() and range_call(). */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for the group", proc->call);
}

/* This process's rank in a map. */
static int my_rank(const struct rankmap *m)
{
    int r = rankmap_find(m, boot_rank());
    return r < 0 ? MPI_UNDEFINED : r;
}

/* A new group for the user; takes the caller's reference on map, which may be NULL (no memory). */
static int publish(struct rankmap *map, struct session_share *session, MPI_Group *out)
{
    if (!map)
        return no_memory();
    int err = MPI_SUCCESS;
    if (map->size == 0) {
        *out = MPI_GROUP_EMPTY;
    } else {
        struct group *g = group_make(map, my_rank(map));
        if (g) {
            g->session = session_share_ref(session);
            *out = g->obj.handle;
        } else {
            err = no_memory();
        }
    }
    rankmap_drop(map);
    return err;
}

int api_group_publish(struct rankmap *map, struct session_share *session, MPI_Group *out)
{
    return publish(rankmap_ref(map), session, out);
}

int PMPI_Group_size(MPI_Group group, int *size)
{
    api_enter("MPI_Group_size");
    struct group *g;
    int err = api_group(group, &g);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        *size = g->map->size;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Group_size);

int PMPI_Group_rank(MPI_Group group, int *rank)
{
    api_enter("MPI_Group_rank");
    struct group *g;
    int err = api_group(group, &g);
    if (!err)
        err = api_pointer(rank, "rank");
    if (!err)
        *rank = g->rank;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Group_rank);

static int two_groups(MPI_Group h1, MPI_Group h2, struct group **g1, struct group **g2)
{
    int err = api_group(h1, g1);
    return err ? err : api_group(h2, g2);
}

static int translate(const struct group *g1, int n, const int *ranks1, const struct group *g2,
                     int *ranks2)
{
    struct rankindex x = {.map = g2->map};
    /* An index is faster for many ranks. */
    if (n > 4 && g1->map != g2->map)
        rankindex_init(&x, g2->map);
    int err = MPI_SUCCESS;
    for (int i = 0; i < n && !err; i++) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
            continue;
        }
        err = api_rank(ranks1[i], g1->map->size, 0);
        if (err)
            break;
        int r = g1->map == g2->map ? ranks1[i]
                                   : rankindex_find(&x, rankmap_world(g1->map, ranks1[i]));
        ranks2[i] = r < 0 ? MPI_UNDEFINED : r;
    }
    rankindex_destroy(&x);
    return err;
}

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                               int ranks2[])
{
    api_enter("MPI_Group_translate_ranks");
    struct group *g1, *g2;
    int err = two_groups(group1, group2, &g1, &g2);
    if (!err && n < 0)
        err = err_make(MPI_ERR_ARG, "MPI_Group_translate_ranks: n is %d, less than 0", n);
    if (!err && n > 0)
        err = api_pointer(ranks1, "ranks1");
    if (!err && n > 0)
        err = api_pointer(ranks2, "ranks2");
    if (!err)
        err = translate(g1, n, ranks1, g2, ranks2);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Group_translate_ranks);

int api_rankmap_compare(const struct rankmap *a, const struct rankmap *b, int *result)
{
    struct rankindex x;
    *result = MPI_UNEQUAL;
    if (rankmap_equal(a, b)) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    if (a->size != b->size)
        return MPI_SUCCESS;
    rankindex_init(&x, b);
    int i = 0;
    while (i < a->size && rankindex_find(&x, rankmap_world(a, i)) >= 0)
        i++;
    rankindex_destroy(&x);
    if (i == a->size)
        *result = MPI_SIMILAR;
    return MPI_SUCCESS;
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    api_enter("MPI_Group_compare");
    struct group *g1, *g2;
    int err = two_groups(group1, group2, &g1, &g2);
    if (!err)
        err = api_pointer(result, "result");
    if (!err)
        err = api_rankmap_compare(g1->map, g2->map, result);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Group_compare);

/* --- set operations ------------------------------------------------------------- */

enum set_op { UNION, INTERSECTION, DIFFERENCE };

/* Union: all of a, then those of b that are not in a.  The others: those of a that are (not) in
 * b. */
static struct rankmap *combine(const struct rankmap *a, const struct rankmap *b, enum set_op op)
{
    const struct rankmap *walk = op == UNION ? b : a, *look = op == UNION ? a : b;
    size_t room = (size_t)a->size + (op == UNION ? (size_t)b->size : 0) + 1;
    int *ranks = malloc(room * sizeof *ranks), n = 0;
    struct rankindex x;
    struct rankmap *m = NULL;
    if (!ranks)
        return NULL;
    rankindex_init(&x, look);
    if (op == UNION)
        for (; n < a->size; n++)
            ranks[n] = rankmap_world(a, n);
    for (int i = 0; i < walk->size; i++) {
        int w = rankmap_world(walk, i);
        if ((rankindex_find(&x, w) >= 0) == (op == INTERSECTION))
            ranks[n++] = w;
    }
    rankindex_destroy(&x);
    m = rankmap_make(ranks, n);
    free(ranks);
    return m;
}

static int set_call(const char *call, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup,
                    enum set_op op)
{
    api_enter(call);
    struct group *g1, *g2;
    int err = two_groups(group1, group2, &g1, &g2);
    if (!err)
        err = api_pointer(newgroup, "newgroup");
    if (!err)
        err = publish(combine(g1->map, g2->map, op), g1->session, newgroup);
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return set_call("MPI_Group_union", group1, group2, newgroup, UNION);
}
API_ALIAS(MPI_Group_union);

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return set_call("MPI_Group_intersection", group1, group2, newgroup, INTERSECTION);
}
API_ALIAS(MPI_Group_intersection);

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return set_call("MPI_Group_difference", group1, group2, newgroup, DIFFERENCE);
}
API_ALIAS(MPI_Group_difference);

/* --- by lists of ranks --------------------------------------------------------------- */

/* Marks the ranks of a list that must be valid and distinct; seen has one byte per rank of the
 * group. */
static int mark(const struct group *g, int n, const int *ranks, char *seen)
{
    for (int i = 0; i < n; i++) {
        int err = api_rank(ranks[i], g->map->size, 0);
        if (err)
            return err;
        if (seen[ranks[i]])
            return err_make(MPI_ERR_RANK, "%s: rank %d is given twice", proc->call, ranks[i]);
        seen[ranks[i]] = 1;
    }
    return MPI_SUCCESS;
}

static int incl(const struct group *g, int n, const int *ranks, MPI_Group *out)
{
    int *world = malloc(((size_t)n + 1) * sizeof *world);
    for (int i = 0; world && i < n; i++)
        world[i] = rankmap_world(g->map, ranks[i]);
    struct rankmap *m = world ? rankmap_make(world, n) : NULL;
    free(world);
    return publish(m, g->session, out);
}

static int excl(const struct group *g, const char *seen, MPI_Group *out)
{
    int n = 0, *world = malloc(((size_t)g->map->size + 1) * sizeof *world);
    for (int i = 0; world && i < g->map->size; i++)
        if (!seen[i])
            world[n++] = rankmap_world(g->map, i);
    struct rankmap *m = world ? rankmap_make(world, n) : NULL;
    free(world);
    return publish(m, g->session, out);
}

static int list_call(const char *call, MPI_Group group, int n, const int *ranks,
                     MPI_Group *newgroup, int in)
{
    api_enter(call);
    struct group *g;
    char *seen = NULL;
    int err = api_group(group, &g);
    if (!err && n < 0)
        err = err_make(MPI_ERR_ARG, "%s: n is %d, less than 0", call, n);
    if (!err && n > 0)
        err = api_pointer(ranks, "ranks");
    if (!err)
        err = api_pointer(newgroup, "newgroup");
    if (!err && !(seen = calloc((size_t)g->map->size + 1, 1)))
        err = no_memory();
    if (!err)
        err = mark(g, n, ranks, seen);
    if (!err)
        err = in ? incl(g, n, ranks, newgroup) : excl(g, seen, newgroup);
    free(seen);
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return list_call("MPI_Group_incl", group, n, ranks, newgroup, 1);
}
API_ALIAS(MPI_Group_incl);

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return list_call("MPI_Group_excl", group, n, ranks, newgroup, 0);
}
API_ALIAS(MPI_Group_excl);

/* Ranges (first, last, stride) written out as a list of ranks; distinct and in the group. */
static int expand(const struct group *g, int n, int ranges[][3], int **list, int *count)
{
    int size = g->map->size, err = MPI_SUCCESS;
    int *ranks = malloc(((size_t)size + 1) * sizeof *ranks);
    char *seen = calloc((size_t)size + 1, 1);
    *count = 0;
    if (!ranks || !seen)
        err = no_memory();
    for (int i = 0; i < n && !err; i++) {
        /* sums stay below 2^33 */
        int64_t first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
        if (stride == 0)
            err = err_make(MPI_ERR_ARG, "%s: the stride of range %d is 0", proc->call, i);
        else if (stride > 0 ? first > last : first < last)
            err = err_make(MPI_ERR_ARG, "%s: range %d from %d to %d by %d is empty", proc->call, i,
                           ranges[i][0], ranges[i][1], ranges[i][2]);
        for (int64_t r = first; !err && (stride > 0 ? r <= last : r >= last); r += stride) {
            int rank = (int)r;
            err = mark(g, 1, &rank, seen);
            if (!err)
                ranks[(*count)++] = rank;
        }
    }
    free(seen);
    if (err) {
        free(ranks);
        ranks = NULL;
    }
    *list = ranks;
    return err;
}

static int range_excl(const struct group *g, int n, const int *ranks, MPI_Group *out)
{
    char *seen = calloc((size_t)g->map->size + 1, 1);
    if (!seen)
        return no_memory();
    for (int i = 0; i < n; i++)
        seen[ranks[i]] = 1;
    int err = excl(g, seen, out);
    free(seen);
    return err;
}

static int range_call(const char *call, MPI_Group group, int n, int ranges[][3],
                      MPI_Group *newgroup, int in)
{
    api_enter(call);
    struct group *g;
    int count, *ranks = NULL;
    int err = api_group(group, &g);
    if (!err && n < 0)
        err = err_make(MPI_ERR_ARG, "%s: n is %d, less than 0", call, n);
    if (!err && n > 0)
        err = api_pointer(ranges, "ranges");
    if (!err)
        err = api_pointer(newgroup, "newgroup");
    if (!err)
        err = expand(g, n, ranges, &ranks, &count);
    if (!err)
        err = in ? incl(g, count, ranks, newgroup) : range_excl(g, count, ranks, newgroup);
    free(ranks);
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return range_call("MPI_Group_range_incl", group, n, ranges, newgroup, 1);
}
API_ALIAS(MPI_Group_range_incl);

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return range_call("MPI_Group_range_excl", group, n, ranges, newgroup, 0);
}
API_ALIAS(MPI_Group_range_excl);

int PMPI_Group_free(MPI_Group *group)
{
    api_enter("MPI_Group_free");
    struct group *g = NULL;
    int err = api_pointer(group, "group");
    if (!err)
        err = api_group(*group, &g);
    if (!err) { /* MPI_GROUP_EMPTY may be freed, and stays valid */
        group_drop(g);
        *group = MPI_GROUP_NULL;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Group_free);
