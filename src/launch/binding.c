/* binding.c - binding and mapping: the processors of each rank. Start with place_rank(). */
#include "launch/binding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kind_of(const char *option, const char *text, size_t n, enum topo_kind *kind, char *msg,
                   size_t len)
{
    char name[32];
    int k = -1;
    if (n < sizeof name) {
        memcpy(name, text, n);
        name[n] = 0;
        k = topo_kind_of(name);
    }
    if (k < 0) {
        snprintf(
            msg, len,
            "-%s %s: known are hwthread, core, l1cache, l2cache, l3cache, numa, socket, machine%s",
            option, text, strcmp(option, "bind-to") ? "" : " and none");
        return -EINVAL;
    }
    *kind = (enum topo_kind)k;
    return 0;
}

int place_parse(struct place *p, const char *bind, const char *map, char *msg, size_t len)
{
    *p = (struct place){.count = 1};
    if (bind && !strncmp(bind, "user:", 5)) {
        p->cpus = bind + 5;
        return 0;
    }
    if (bind && strcmp(bind, "none")) {
        size_t n = strcspn(bind, ":");
        if (kind_of("bind-to", bind, n, &p->bind, msg, len))
            return -EINVAL;
        if (bind[n]) {
            char *end;
            errno = 0;
            long v = strtol(bind + n + 1, &end, 10);
            if (end == bind + n + 1 || *end || errno || v < 1 || v > 65536) {
                snprintf(msg, len,
                         "-bind-to %s: a number from 1 to 65536 is needed after the colon", bind);
                return -EINVAL;
            }
            p->count = (int)v;
        }
        p->bound = 1;
    }
    p->map = p->bind;
    if (map && kind_of("map-by", map, strlen(map), &p->map, msg, len))
        return -EINVAL;
    if (map && !p->bound && !bind) {
        /* -map-by has no effect without a binding: bind to the objects of -map-by */
        p->bind = p->map;
        p->bound = 1;
    }
    return 0;
}

/* Add `count` of the n objects listed in index[] (NULL: all of the machine): the lot number
 * `turn`. */
static int add_lot(const struct place *p, const struct topo *t, const int *index, int n, int turn,
                   struct topo_set *set)
{
    int lots = n / p->count > 0 ? n / p->count : 1;
    int first = turn % lots * p->count;
    for (int i = first; i < first + p->count && i < n; i++) {
        int err = topo_add(t, p->bind, index ? index[i] : i, set);
        if (err)
            return err;
    }
    return 0;
}

int place_rank(const struct place *p, const struct topo *t, int rank, struct topo_set *set,
               char *msg, size_t len)
{
    int nbind = topo_count(t, p->bind), nmap = topo_count(t, p->map);
    if (!nbind || !nmap) {
        snprintf(msg, len, "-%s: hwloc knows no such object on this machine",
                 nbind ? "map-by" : "bind-to");
        return -ENOENT;
    }
    if (p->map == p->bind)
        return add_lot(p, t, NULL, nbind, rank, set);
    int *index = malloc((size_t)nbind * sizeof *index);
    if (!index)
        return -ENOMEM;
    int n = topo_within(t, p->bind, p->map, rank % nmap, index, nbind);
    int err = n ? add_lot(p, t, index, n, rank / nmap, set) : -ENOENT;
    if (!n)
        snprintf(msg, len, "-map-by: an object there has none of the kind of -bind-to");
    free(index);
    return err;
}

/* --- processors by their numbers ------------------------------------------------------------ */

/* "0-2+5": processors of one rank, up to a comma or the end. */
static int add_cpus(const char *list, struct topo_set *set)
{
    do {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list || first < 0)
            return -EINVAL;
        if (*end == '-') {
            list = end + 1;
            last = strtol(list, &end, 10);
            if (end == list || last < first)
                return -EINVAL;
        }
        for (long cpu = first; cpu <= last; cpu++)
            if (last >= 1 << 20 || topo_set_add(set, (size_t)cpu))
                return -EINVAL;
        list = end;
    } while (*list++ == '+');
    return list[-1] && list[-1] != ',' ? -EINVAL : 0;
}

int place_by_list(const char *cpus, int rank, struct topo_set *set, char *msg, size_t len)
{
    int n = 1;
    const char *at = cpus;
    for (const char *c = cpus; *c; c++)
        n += *c == ',';
    for (rank %= n; rank; rank--)
        at = strchr(at, ',') + 1;
    if (!add_cpus(at, set))
        return 0;
    snprintf(msg, len, "processors %s: numbers, ranges 0-3 and sums 0+2 are known", cpus);
    return -EINVAL;
}

int place_by_file(const char *file, int rank, struct topo_set *set, char *msg, size_t len)
{
    char line[1024], cpus[512];
    int r = -1, err = -ENOENT;
    FILE *f = fopen(file, "re");
    if (!f) {
        snprintf(msg, len, "-rankfile %s: %s", file, strerror(errno));
        return -EINVAL;
    }
    while (err == -ENOENT && fgets(line, sizeof line, f))
        if (sscanf(line, " rank %d = %*s slot = %511[0-9,-]", &r, cpus) == 2 && r == rank) {
            for (char *c = cpus; *c; c++)
                *c = *c == ',' ? '+' : *c;
            err = add_cpus(cpus, set);
        }
    fclose(f);
    if (err)
        snprintf(msg, len, "-rankfile %s: there is no line \"rank %d=HOST slot=PROCESSORS\"", file,
                 rank);
    return err;
}
