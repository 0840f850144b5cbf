/* env.c - the environment of ranks: which variables pass, which are set. */
#include "base/vec.h"
#include "launch/env.h"
#include "launch/open_mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the name of `var` ("NAME=value") is the n characters at `name`. */
static int is_called(const char *var, const char *name, size_t n)
{
    return !strncmp(var, name, n) && var[n] == '=';
}

/* Variables of a launcher: those of a launcher that runs around us must not reach the ranks. */
static int launchers_own(const char *var)
{
    static const char *const names[] = {
        "PMI_FD",       "PMI_RANK",        "PMI_SIZE",        "PMI_PORT",        "PMI_ID",
        "PMI_SPAWNED",  "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD", "WINDROSE_JOB_FD",
        "WINDROSE_RECORD_FD", "WINDROSE_JOB", "WINDROSE_TTY", "MPIEXEC_TIMEOUT", "WINDROSE_FIRST",
        "WINDROSE_PARENT",
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_NODE_RANK", "OMPI_FIRST_RANKS",
        "OMPI_APP_CTX_NUM_PROCS", "OMPI_NUM_APP_CTX", "OMPI_UNIVERSE_SIZE", "OMPI_COMMAND"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_called(var, names[i], strlen(names[i])))
            return 1;
    return 0;
}

static int listed(const char *list, const char *var)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n && is_called(var, list, n))
            return 1;
        list += n + (list[n] == ',');
    }
    return 0;
}

static int append(struct env *e, char *var)
{
    if (!var)
        return -ENOMEM;
    if (!VEC_FITS(e->var, e->room, e->n + 2, 64)) {
        free(var);
        return -ENOMEM;
    }
    e->var[e->n++] = var;
    e->var[e->n] = NULL;
    return 0;
}

int env_put(struct env *e, const char *name, const char *value)
{
    size_t n = strlen(name), size = n + strlen(value) + 2;
    char *var = malloc(size);
    if (!var)
        return -ENOMEM;
    snprintf(var, size, "%s=%s", name, value);
    for (int i = 0; i < e->n; i++)
        if (is_called(e->var[i], name, n)) {
            free(e->var[i]);
            e->var[i] = var;
            return 0;
        }
    return append(e, var);
}

int env_put_int(struct env *e, const char *name, long value)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    return env_put(e, name, text);
}

const char *env_find(const struct env *e, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < e->n; i++)
        if (is_called(e->var[i], name, n))
            return e->var[i] + n + 1;
    return NULL;
}

static int put_all(struct env *e, const struct env_spec *s)
{
    for (int i = 0; s && i < s->n; i++)
        if (env_put(e, s->name[i], s->value[i]))
            return -ENOMEM;
    return 0;
}

/* The variables of the checkers, where the rank has none of them. */
static int put_checks(struct env *e, int level)
{
    static const struct {
        const char *name, *value[4]; /* by level; NULL: as without */
    } sets[] = {
        {"MPIR_CVAR_LEAK_CHECK", {NULL, "1", "1", "1"}},
        {"MPIR_CVAR_TYPE_CHECK", {NULL, "1", "1", "1"}},
        {"MPIR_CVAR_THREAD_CHECK", {NULL, "1", "1", "1"}},
        {"MPIR_CVAR_MEMORY_CHECK", {NULL, "1", "1", "1"}},
        {"MPIR_CVAR_COLL_CHECK", {NULL, "1", "2", "2"}},
        {"MPIR_CVAR_RACE", {NULL, NULL, "rma", "full"}},
    };
    int err = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets && !err; i++)
        if (sets[i].value[level] && !env_find(e, sets[i].name))
            err = env_put(e, sets[i].name, sets[i].value[level]);
    return err;
}

int env_of_block(struct env *e, const struct args *a, const struct block *b, char *const *from)
{
    *e = (struct env){0};
    /* Settings of a block count before those for all. */
    const struct env_spec *rule = b->env && b->env->mode != ENV_UNSET ? b->env : &a->genv;
    int err = append(e, strdup("WINDROSE_JOB=")); /* never an empty array */
    for (; !err && *from; from++) {
        int take = rule->mode == ENV_LIST     ? listed(rule->list, *from)
                   : rule->mode == ENV_EXCEPT ? !listed(rule->list, *from)
                                              : rule->mode != ENV_NONE;
        if (take && !launchers_own(*from))
            err = append(e, strdup(*from));
    }
    if (!err)
        err = put_all(e, &a->genv);
    if (!err)
        err = put_all(e, b->env);
    if (!err)
        err = put_checks(e, a->check);
    if (!err && a->timeout_given && !env_find(e, "MPIR_CVAR_WAIT_PROOF"))
        err = env_put(e, "MPIR_CVAR_WAIT_PROOF", "1"); /* for its report */
    return err ? err : open_mpi_path(a, e);
}

void env_free(struct env *e)
{
    for (int i = 0; i < e->n; i++)
        free(e->var[i]);
    free(e->var);
    *e = (struct env){0};
}
