/* dialect.c - options and values that users of other launchers type: what they mean here, or
 * which name is nearest. Start with dialect_find(). */
#include "launch/dialect.h"

#include <string.h>

/* Options without effect choose among parts which this library does not have, or allow what it
 * always allows.  An option that would change the job and is missing here stays unknown. */
static const struct dialect_row rows[] = {
    /* ranks, programs */
    {"c", 1, "n", NULL},
    {"ntasks", 1, "n", NULL},
    {"app", 1, "configfile", NULL},
    {"file", 1, "configfile", NULL},
    {"cwd", 1, "wdir", NULL},
    {"wd", 1, "wdir", NULL},
    {"chdir", 1, "wdir", NULL},
    {"maxtime", 1, "timeout", NULL},
    {"soft", 1, NULL, NULL},
    /* output */
    {"label", 0, "l", NULL},
    {"tag-output", 0, "l", NULL},
    {"report-bindings", 0, "verbose", NULL},
    {"display-map", 0, "verbose", NULL},
    {"display-allocation", 0, "verbose", NULL},
    {"display", 1, "verbose", ""},
    {"print-rank-map", 0, "verbose", NULL},
    /* hosts */
    {"H", 1, "hosts", NULL},
    {"perhost", 1, "ppn", NULL},
    {"npernode", 1, "ppn", NULL},
    {"ranks-per-proc", 1, "ppn", NULL},
    {"grr", 1, "ppn", NULL},
    {"pernode", 0, "ppn", "1"},
    {"N", 1, NULL, NULL},
    {"nodes", 1, NULL, NULL},
    {"localhost", 1, NULL, NULL},
    {"iface", 1, NULL, NULL},
    {"launcher", 1, NULL, NULL},
    {"launcher-exec", 1, NULL, NULL},
    {"bootstrap", 1, NULL, NULL},
    {"bootstrap-exec", 1, NULL, NULL},
    {"rmk", 1, NULL, NULL},
    {"order-nodes", 1, NULL, NULL},
    {"disable-hostname-propagation", 0, NULL, NULL},
    {"hostos", 1, NULL, NULL},
    {"prefix", 1, NULL, NULL},
    {"arch", 1, NULL, NULL},
    {"mpi", 1, NULL, NULL},
    /* placement */
    {"bind-to-core", 0, "bind-to", "core"},
    {"bind-to-socket", 0, "bind-to", "socket"},
    {"bind-to-none", 0, "bind-to", "none"},
    {"cpu-bind", 1, "bind-to", NULL},
    {"byslot", 0, NULL, NULL},
    {"bynode", 0, NULL, NULL},
    {"rr", 0, NULL, NULL},
    {"rank-by", 1, NULL, NULL},
    {"oversubscribe", 0, NULL, NULL},
    {"use-hwthread-cpus", 0, NULL, NULL},
    {"topolib", 1, NULL, NULL},
    {"membind", 1, NULL, NULL},
    {"memory-bind", 1, NULL, NULL},
    {"gpus-per-proc", 1, NULL, NULL},
    /* failures */
    {"check_mpi", 0, "x", "MPIR_CVAR_COLL_CHECK=1"},
    {"enable-recovery", 0, "disable-auto-cleanup", NULL},
    {"continuous", 0, "disable-auto-cleanup", NULL},
    {"report-state-on-timeout", 0, NULL, NULL},
    {"get-stack-traces", 0, NULL, NULL},
    {"silent-abort", 0, NULL, NULL},
    /* parts that this library does not have, and what it always allows */
    {"allow-run-as-root", 0, NULL, NULL},
    {"mca", 2, NULL, NULL},
    {"gmca", 2, NULL, NULL},
    {"prtemca", 2, NULL, NULL},
    {"pmixmca", 2, NULL, NULL},
    {"tune", 1, NULL, NULL},
    {"personality", 1, NULL, NULL},
    {"with-ft", 1, NULL, NULL},
    {"nameserver", 1, NULL, NULL},
    {"pmi-port", 0, NULL, NULL},
    {"skip-launch-node", 0, NULL, NULL},
    {"tmpdir", 1, NULL, NULL},
    {"dvm", 1, NULL, NULL},
    {"preload-binary", 0, NULL, NULL},
    {"ordered-output", 0, NULL, NULL},
    {"memory-alloc-kinds", 1, NULL, NULL},
    {"I_MPI_DEBUG", 1, NULL, NULL},
    {"stdoutbuf", 1, NULL, NULL},
    {"quiet", 0, NULL, NULL},
    {"q", 0, NULL, NULL},
    {"show-progress", 0, NULL, NULL},
    {"debug", 0, NULL, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

const struct dialect_row *dialect_find(const char *name, size_t n)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == n && !strncmp(rows[i].name, name, n))
            return &rows[i];
    return NULL;
}

static int is_one_of(const char *value, size_t n, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == n && !strncmp(*list, value, n))
            return 1;
    return 0;
}

const char *dialect_map(const char *value, char *buf, size_t len)
{
    static const char *const nothing[] = {"slot", "node", "host", "seq", "rr", "ppr", NULL};
    size_t n = strcspn(value, ":");
    if (is_one_of(value, n, nothing))
        return NULL;
    if (!value[n] || n >= len)
        return value;
    memcpy(buf, value, n); /* Open MPI's modifiers, as in socket:PE=1 */
    buf[n] = 0;
    return buf;
}

const char *dialect_bind(const char *value)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"rr", "hwthread"},   {"cores", "core"},      {"sockets", "socket"},
                 {"no", "none"},       {"threads", "hwthread"}, {"package", "socket"},
                 {"l1", "l1cache"},    {"l2", "l2cache"},      {"l3", "l3cache"},
                 {"ldoms", "numa"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].theirs, value))
            return names[i].ours;
    return value;
}

/* --- an unknown name ---------------------------------------------------------------- */

enum { NAME_MOST = 40 };

/* Letters to insert, delete or replace to make b of a; NAME_MOST for long names. */
static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[NAME_MOST + 1];
    size_t m = strlen(b);
    if (n > NAME_MOST || m > NAME_MOST)
        return NAME_MOST;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

const char *dialect_nearest(const char *name, size_t n, const char *const *names, size_t count)
{
    const char *best = NULL;
    unsigned least = n < 4 ? 2 : 3; /* more than this is another word */
    for (size_t i = 0; i < count + ROWS; i++) {
        const char *x = i < count ? names[i] : rows[i - count].name;
        unsigned d = strlen(x) > 1 ? distance(name, n, x) : NAME_MOST;
        if (d < least) {
            least = d;
            best = x;
        }
    }
    return best;
}
