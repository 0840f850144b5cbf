/* handover.c - the command line of another launcher (Hydra, srun, prterun) made from mpiexec's
 * own. Start with engine_words(). */
#include "base/vec.h"
#include "launch/engine_watch.h"
#include "launch/handover.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static const char *const commands[ENGINES] = {"mpiexec.hydra", "srun", "prterun"};

const char *engine_command(enum engine e)
{
    return commands[e];
}

/* --- words ------------------------------------------------------------------ */

struct words {
    char **w;
    size_t n, room;
    int failed; /* no memory, or msg is set */
    char *msg;
    size_t len;
};

static void add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    if (!VEC_FITS(w->w, w->room, w->n + 2, 32)) {
        w->failed = 1;
        return;
    }
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    if (!text) {
        w->failed = 1;
        return;
    }
    w->w[w->n++] = text;
    w->w[w->n] = NULL;
}

static void add_pair(struct words *w, const char *name, const char *value)
{
    if (!value)
        return;
    add(w, "%s", name);
    add(w, "%s", value);
}

static void add_program(struct words *w, const struct block *b)
{
    for (char **v = b->argv; *v; v++)
        add(w, "%s", *v);
}

/* An option for which the engine has no word. */
static void refuse(struct words *w, enum engine e, int given, const char *option)
{
    if (!given || w->failed)
        return;
    snprintf(w->msg, w->len,
             "%s cannot be passed to %s, which would start this job on several hosts", option,
             commands[e]);
    w->failed = 1;
}

void engine_words_free(char **words)
{
    for (char **v = words; v && *v; v++)
        free(*v);
    free(words);
}

/* --- Hydra: the same options as ours -------------------------------------------- */

static void hydra_env(struct words *w, const struct env_spec *e, const char *prefix)
{
    if (!e)
        return;
    if (e->mode == ENV_ALL || e->mode == ENV_NONE)
        add(w, "-%senv%s", prefix, e->mode == ENV_ALL ? "all" : "none");
    if (e->mode == ENV_LIST) {
        add(w, "-%senvlist", prefix);
        add(w, "%s", e->list);
    }
    for (int i = 0; i < e->n; i++) {
        add(w, "-%senv", prefix);
        add(w, "%s", e->name[i]);
        add(w, "%s", e->value[i]);
    }
}

static void hydra(struct words *w, const struct args *a, const char *hosts)
{
    add_pair(w, "-hosts", hosts);
    if (a->ppn) {
        add(w, "-ppn");
        add(w, "%d", a->ppn);
    }
    if (a->universe) {
        add(w, "-usize");
        add(w, "%d", a->universe);
    }
    if (a->label)
        add(w, "-l");
    if (a->no_cleanup)
        add(w, "-disable-auto-cleanup");
    add_pair(w, "-bind-to", a->bind);
    add_pair(w, "-map-by", a->map);
    add_pair(w, "-outfile-pattern", a->outfile);
    add_pair(w, "-errfile-pattern", a->errfile);
    hydra_env(w, &a->genv, "g");
    for (int i = 0; i < a->nblocks; i++) {
        const struct block *b = &a->block[i];
        if (i)
            add(w, ":");
        add(w, "-n");
        add(w, "%d", b->n);
        add_pair(w, "-wdir", b->wdir ? b->wdir : a->gwdir);
        hydra_env(w, b->env, "");
        add_program(w, b);
    }
}

/* --- srun ------------------------------------------------------------------------- */

/* Different names in the list. */
static int count_hosts(const char *hosts)
{
    int n = 0;
    for (const char *p = hosts; *p; p += strcspn(p, ","), p += *p == ',') {
        size_t len = strcspn(p, ","), again = 0;
        for (const char *q = hosts; q < p; q += strcspn(q, ",") + 1)
            again |= strcspn(q, ",") == len && !memcmp(p, q, len);
        n += len && !again;
    }
    return n;
}

/* Which variables the engine passes on.  Those to be set are given as NAME=VALUE, which must not
 * hold a comma. */
static void srun_env(struct words *w, const struct env_spec *e)
{
    if (!e || (e->mode == ENV_UNSET && !e->n))
        return;
    char text[4096];
    size_t at = 0;
    const char *first = e->mode == ENV_NONE ? "NONE" : e->mode == ENV_LIST ? e->list : "ALL";
    at += (size_t)snprintf(text, sizeof text, "--export=%s", first);
    for (int i = 0; i < e->n && at < sizeof text; i++) {
        refuse(w, ENGINE_SRUN, strchr(e->value[i], ',') != NULL,
               "a variable whose value has a comma");
        at += (size_t)snprintf(text + at, sizeof text - at, ",%s=%s", e->name[i], e->value[i]);
    }
    refuse(w, ENGINE_SRUN, at >= sizeof text, "so much environment");
    add(w, "%s", text);
}

static void srun(struct words *w, const struct args *a, const char *hosts)
{
    const struct block *b = &a->block[0];
    refuse(w, ENGINE_SRUN, a->nblocks > 1, "more than one program");
    refuse(w, ENGINE_SRUN, a->bind || a->map, "-bind-to and -map-by");
    refuse(w, ENGINE_SRUN, a->outfile || a->errfile, "-outfile-pattern and -errfile-pattern");
    refuse(w, ENGINE_SRUN, a->timeout > 0, "-timeout");
    refuse(w, ENGINE_SRUN, b->env && (a->genv.n || a->genv.mode),
           "-env or -initial-errhandler beside -genv");
    refuse(w, ENGINE_SRUN, hosts && strchr(hosts, ':'), "host:slots (-ppn can)");
    add(w, "--mpi=pmi2");
    if (hosts) {
        add(w, "--nodelist=%s", hosts);
        add(w, "--nodes=%d", count_hosts(hosts));
    }
    add(w, "--ntasks=%d", b->n);
    if (a->ppn) {
        add(w, "--ntasks-per-node=%d", a->ppn);
        add(w, "--distribution=block");
    }
    if (a->label)
        add(w, "--label");
    add(w, "--kill-on-bad-exit=%d", !a->no_cleanup);
    if (b->wdir || a->gwdir)
        add(w, "--chdir=%s", b->wdir ? b->wdir : a->gwdir);
    srun_env(w, b->env ? b->env : &a->genv);
    add(w, "--");
    add_program(w, b);
}

/* --- prterun ---------------------------------------------------------------------- */

static void prte_env(struct words *w, const struct env_spec *e)
{
    if (!e)
        return;
    refuse(w, ENGINE_PRTERUN, e->mode == ENV_NONE, "-envnone");
    if (e->mode == ENV_LIST) {
        char *copy = strdup(e->list), *save = NULL;
        for (char *n = copy ? strtok_r(copy, ",", &save) : NULL; n;
             n = strtok_r(NULL, ",", &save)) {
            add(w, "-x");
            add(w, "%s", n);
        }
        w->failed |= !copy;
        free(copy);
    }
    for (int i = 0; i < e->n; i++) {
        add(w, "-x");
        add(w, "%s=%s", e->name[i], e->value[i]);
    }
}

static void prterun(struct words *w, const struct args *a, const char *hosts)
{
    refuse(w, ENGINE_PRTERUN, a->bind || a->map, "-bind-to and -map-by");
    refuse(w, ENGINE_PRTERUN, a->outfile || a->errfile, "-outfile-pattern and -errfile-pattern");
    refuse(w, ENGINE_PRTERUN, a->no_cleanup, "-disable-auto-cleanup");
    if (a->timeout > 0) {
        add(w, "--timeout");
        add(w, "%.0f", a->timeout < 1 ? 1 : a->timeout);
    }
    if (a->label) {
        add(w, "--output");
        add(w, "tag");
    }
    for (int i = 0; i < a->nblocks; i++) {
        const struct block *b = &a->block[i];
        if (i)
            add(w, ":");
        add_pair(w, "--host", hosts);
        /* Slots of hosts are not counted: -ppn sets how many ranks a host gets. */
        add(w, "--map-by");
        if (a->ppn)
            add(w, "ppr:%d:node:OVERSUBSCRIBE", a->ppn);
        else
            add(w, "node:OVERSUBSCRIBE");
        add(w, "-n");
        add(w, "%d", b->n);
        add_pair(w, "--wdir", b->wdir ? b->wdir : a->gwdir);
        prte_env(w, &a->genv);
        prte_env(w, b->env);
        add_program(w, b);
    }
}

char **engine_words(enum engine e, const struct args *a, const char *hosts, char *msg, size_t len)
{
    static void (*const build[ENGINES])(struct words *, const struct args *,
                                        const char *) = {hydra, srun, prterun};
    struct words w = {.msg = msg, .len = len};
    snprintf(msg, len, "out of memory");
    add(&w, "%s", commands[e]);
    build[e](&w, a, hosts);
    refuse(&w, e, a->gdb, "-gdb");
    if (!w.failed)
        return w.w;
    engine_words_free(w.w);
    return NULL;
}

/* --- choice and start -------------------------------------------------------------- */

static int in_path(const char *command)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        if ((size_t)snprintf(file, sizeof file, "%.*s/%s", (int)n, n ? p : ".", command) <
                sizeof file &&
            !access(file, X_OK))
            return 1;
        p += n + (p[n] == ':');
    }
    return 0;
}

/* The requested one; else the first installed, but srun first in an allocation of Slurm. */
static int pick(const struct args *a, enum engine *out)
{
    static const enum engine usual[] = {ENGINE_HYDRA, ENGINE_SRUN, ENGINE_PRTERUN};
    for (int i = 0; a->engine && i < ENGINES; i++)
        if (!strcmp(a->engine, commands[i]) || (i == ENGINE_HYDRA && !strcmp(a->engine, "hydra"))) {
            *out = (enum engine)i;
            return 0;
        }
    if (a->engine)
        return -EINVAL;
    if (getenv("SLURM_JOB_ID") && in_path(commands[ENGINE_SRUN])) {
        *out = ENGINE_SRUN;
        return 0;
    }
    for (int i = 0; i < ENGINES; i++)
        if (in_path(commands[usual[i]])) {
            *out = usual[i];
            return 0;
        }
    return -ENOENT;
}

int engine_exec(const struct args *a)
{
    enum engine e = ENGINE_HYDRA;
    char msg[512], text[32];
    int err = pick(a, &e);
    if (err == -EINVAL)
        fprintf(stderr, "mpiexec: -engine %s: it must be hydra, srun or prterun\n", a->engine);
    else if (err)
        fprintf(stderr, "mpiexec: the job is for several hosts, and none of the programs that "
                        "could start it is installed: "
                        "mpiexec.hydra (Debian: mpich), srun (slurm-client), prterun (prrte)\n");
    if (err)
        return STATUS_FAILED;
    if (a->trace) {
        fprintf(stderr, "mpiexec: -trace cannot be passed to %s, which would start this job on "
                        "several hosts: set MPIR_CVAR_TRACE and LD_LIBRARY_PATH (mpiexec(1))\n",
                commands[e]);
        return STATUS_FAILED;
    }
    char **words = engine_words(e, a, a->hosts, msg, sizeof msg);
    if (!words) {
        fprintf(stderr, "mpiexec: %s\n", msg);
        return STATUS_FAILED;
    }
    if (a->timeout > 0 && e == ENGINE_HYDRA) { /* it has no option for this */
        snprintf(text, sizeof text, "%.0f", a->timeout < 1 ? 1 : a->timeout);
        setenv("MPIEXEC_TIMEOUT", text, 1);
    }
    fprintf(stderr, "mpiexec: several hosts: handed over to %s\n", words[0]);
    if (a->verbose) {
        for (char **w = words; *w; w++)
            fprintf(stderr, "%s%s", **w ? *w : "''", w[1] ? " " : "\n");
    }
    int status = STATUS_FAILED;
    if (e == ENGINE_HYDRA) { /* the others end by themselves */
        status = engine_run(words);
    } else {
        execvp(words[0], words);
        fprintf(stderr, "mpiexec: %s does not start: %s\n", words[0], strerror(errno));
    }
    engine_words_free(words);
    return status;
}
