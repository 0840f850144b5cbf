/* names.c - names of control variables: present ones, earlier ones, MPICH's, and misspelt ones.
 * Start with cvar_remark(). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "var/var.h"

#define PREFIX "MPIR_CVAR_"
enum {
    /* bytes; for a longer name no nearest one is searched */
    PREFIX_LEN = sizeof PREFIX - 1, NAME_MAX_LEN = 100
};

static const struct {
    const char *earlier, *name;
} aliases[] = {
#define ALIAS(e, n) {e, n},
#include "var/aliases.def"
#undef ALIAS
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

static const char *const mpich_names[] = {
#define MPICH(n) PREFIX n,
#include "var/mpich_names.def"
#undef MPICH
};
enum { MPICH_NAMES = sizeof mpich_names / sizeof *mpich_names };

static int find_present(const char *name)
{
    for (int i = 0; i < cvar_count; i++)
        if (!strcmp(cvar_table[i].name, name))
            return i;
    return -1;
}

static int find_alias(const char *name)
{
    for (int i = 0; i < ALIASES; i++)
        if (!strcmp(aliases[i].earlier, name))
            return i;
    return -1;
}

static int is_mpichs(const char *name)
{
    for (int i = 0; i < MPICH_NAMES; i++)
        if (!strcmp(mpich_names[i], name))
            return 1;
    return 0;
}

int cvar_find(const char *name)
{
    int alias = find_alias(name);
    return find_present(alias < 0 ? name : aliases[alias].name);
}

const char *cvar_alias(const struct cvar_info *c, int *i)
{
    while (*i < ALIASES) {
        int k = (*i)++;
        if (!strcmp(aliases[k].name, c->name))
            return aliases[k].earlier;
    }
    return NULL;
}

static int least(int one, int other)
{
    return one < other ? one : other;
}

/* Letters to insert, remove, replace or swap with their neighbour to make `to` of `from`. */
static int distance(const char *from, const char *to)
{
    int row[3][NAME_MAX_LEN + 1], n = (int)strlen(from), m = (int)strlen(to);
    if (n > NAME_MAX_LEN || m > NAME_MAX_LEN)
        return NAME_MAX_LEN;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3];
        const int *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = least(least(before[j], now[j - 1]) + 1,
                           before[j - 1] + (from[i - 1] != to[j - 1]));
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* The nearest known name; NULL: half of the letters of each are different.  Ours come before
 * MPICH's. */
static const char *nearest(const char *name)
{
    const char *best = NULL;
    int d, least_d = (int)strlen(name + PREFIX_LEN) / 2 + 1;
    for (int i = 0; i < cvar_count; i++)
        if ((d = distance(name + PREFIX_LEN, cvar_table[i].name + PREFIX_LEN)) < least_d) {
            least_d = d;
            best = cvar_table[i].name;
        }
    for (int i = 0; i < MPICH_NAMES; i++)
        if ((d = distance(name + PREFIX_LEN, mpich_names[i] + PREFIX_LEN)) < least_d) {
            least_d = d;
            best = mpich_names[i];
        }
    return best;
}

static int remark_misspelt(const char *name, char *line, size_t len)
{
    const char *near = nearest(name);
    if (!near)
        snprintf(line, len,
                 "%s is set, but there is no such control variable (mpiexec --cvars lists them)",
                 name);
    else
        snprintf(line, len,
                 "%s is set, but there is no such control variable; the nearest name is %s%s", name,
                 near, is_mpichs(near) ? " (MPICH's, no effect here)" : "");
    return 1;
}

/* The line about one name; 0: none is needed. */
static int remark(const char *name, int all, char *line, size_t len)
{
    int present = find_present(name), alias = find_alias(name);
    int idle = present >= 0 ? cvar_table[present].scope == CVAR_NOTHING : is_mpichs(name);
    if (alias >= 0) {
        snprintf(line, len, "%s is the earlier name of %s, which is to be used instead", name,
                 aliases[alias].name);
        return 1;
    }
    if (present < 0 && !idle)
        return remark_misspelt(name, line, len);
    if (idle && all)
        snprintf(line, len, "%s is MPICH's, no effect here", name);
    return idle && all;
}

int cvar_remark(int *i, int all, char *line, size_t len)
{
    while (environ[*i]) {
        const char *entry = environ[(*i)++];
        char name[256];
        if (strncmp(entry, PREFIX, PREFIX_LEN) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, "="), entry);
        if (!var_env_refused(name) && remark(name, all, line, len))
            return 1;
    }
    return 0;
}
