/* registry.c - control variables: defaults, parsing, ranges, and the values that all processes
 * share. Start with var_init(). */
#include "var/var.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

#include "base/proc.h"

struct cvars cvar;

/* Default and its text form come from one macro argument, hence the split initialiser. */
const struct cvar_info cvar_table[] = {
#define CVAR_NUM_INT(d) (d)
#define CVAR_NUM_BOOL(d) (d)
#define CVAR_NUM_STR(d) 0
#define CVAR_TXT_INT(d) NULL
#define CVAR_TXT_BOOL(d) NULL
#define CVAR_TXT_STR(d) (d)
#define CVAR(field, nm, kd, df, mn, mx, rm, sc, tx)                                             \
    {.name = nm, .kind = CVAR_##kd, .scope = CVAR_##sc, .def = CVAR_NUM_##kd(df), .min = (mn),   \
     .max = (mx), .def_str = CVAR_TXT_##kd(df), .room = #rm, .text = tx, .value = &cvar.field},
#include "var/cvars.def"
#undef CVAR
};
const int cvar_count = sizeof cvar_table / sizeof *cvar_table;

const struct pvar_info pvar_table[PVAR_COUNT] = {
#define PVAR(id, nm, cl, bd, un, tx) {nm, cl, bd, un, tx},
#include "var/pvars.def"
#undef PVAR
};

enum { OWN_PREFIX = sizeof "MPIR_CVAR_" - 1 }; /* bytes */
static const char *const prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};

static int parse_bool(const char *text, int64_t *out)
{
    static const char *const words[2][5] = {{"0", "no", "false", "off", "n"},
                                            {"1", "yes", "true", "on", "y"}};
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < 5; i++)
            if (!strcasecmp(text, words[v][i])) {
                *out = v;
                return 0;
            }
    return -EINVAL;
}

/* A decimal or 0x number with an optional K, M or G (powers of 1024). */
static int parse_int(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 0);
    if (end == text || errno)
        return -EINVAL;
    int shift = 0;
    switch (toupper((unsigned char)*end)) {
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    }
    if (shift)
        end++;
    if (*end || v > (LLONG_MAX >> shift) || v < (LLONG_MIN >> shift))
        return -EINVAL;
    *out = (int64_t)((unsigned long long)v << shift);
    return 0;
}

static int store(const struct cvar_info *c, const char *as, const char *text, char *msg, size_t len)
{
    int64_t v = 0;
    if (c->kind == CVAR_STR) {
        char *copy = strdup(text);
        if (!copy) {
            snprintf(msg, len, "%s: out of memory", as);
            return -ENOMEM;
        }
        const char **field = c->value;
        if (*field != c->def_str)
            free((char *)*field);
        *field = copy;
        return 0;
    }
    /* Numbers that began as truth values still take the words. */
    int levels = c->kind == CVAR_INT && c->min == 0 && c->max <= 3;
    if (c->kind == CVAR_BOOL ? parse_bool(text, &v)
                             : parse_int(text, &v) && (!levels || parse_bool(text, &v))) {
        if (c->kind == CVAR_BOOL)
            snprintf(msg, len, "%s=\"%s\" is not a truth value (0/1, no/yes, false/true, off/on)",
                     as, text);
        else
            snprintf(msg, len, "%s=\"%s\" is not a number (range %lld to %lld)", as, text,
                     (long long)c->min, (long long)c->max);
        return -EINVAL;
    }
    if (v < c->min || v > c->max) {
        snprintf(msg, len, "%s=%s is out of range (%lld to %lld)", as, text, (long long)c->min,
                 (long long)c->max);
        return -EINVAL;
    }
    *(int64_t *)c->value = v;
    return 0;
}

int cvar_set(const char *name, const char *text, char *msg, size_t len)
{
    int i = cvar_find(name);
    if (i < 0) {
        snprintf(msg, len, "no control variable is called %s", name);
        return -ENOENT;
    }
    return store(&cvar_table[i], name, text, msg, len);
}

/* A line "NAME=value", empty for a variable at its default. */
static void common_line(const struct cvar_info *c, char *line, size_t len)
{
    line[0] = 0;
    if (c->kind == CVAR_STR && strcmp(*(const char **)c->value, c->def_str) != 0)
        snprintf(line, len, "%s=%s\n", c->name, *(const char **)c->value);
    else if (c->kind != CVAR_STR && *(int64_t *)c->value != c->def)
        snprintf(line, len, "%s=%lld\n", c->name, (long long)*(int64_t *)c->value);
}

void cvar_common(char *text, size_t len)
{
    size_t at = 0;
    char line[512];
    text[0] = 0;
    for (int i = 0; i < cvar_count; i++) {
        if (cvar_table[i].scope != CVAR_GLOBAL_EQ)
            continue;
        common_line(&cvar_table[i], line, sizeof line);
        size_t n = strlen(line);
        if (at + n >= len) /* not to be compared: better than half a line */
            return;
        memcpy(text + at, line, n + 1);
        at += n;
    }
}

/* Value of a line of `text`, without its end, or the default. */
static void value_in(const char *text, const struct cvar_info *c, char *value, size_t len)
{
    size_t n = strlen(c->name);
    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (!strncmp(p, c->name, n) && p[n] == '=') {
            snprintf(value, len, "%.*s", (int)strcspn(p + n + 1, "\n"), p + n + 1);
            return;
        }
    if (c->kind == CVAR_STR)
        snprintf(value, len, "%s", c->def_str);
    else
        snprintf(value, len, "%lld", (long long)c->def);
}

int cvar_common_check(const char *theirs, const char *whose, char *msg, size_t len)
{
    char ours[4096], here[512], there[512];
    cvar_common(ours, sizeof ours);
    if (!strcmp(ours, theirs))
        return 0;
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        if (c->scope != CVAR_GLOBAL_EQ)
            continue;
        value_in(ours, c, here, sizeof here);
        value_in(theirs, c, there, sizeof there);
        if (strcmp(here, there) != 0) {
            snprintf(
                msg, len,
                "%s is \"%.80s\" here and \"%.80s\" on %s; it must be the same on all processes",
                c->name, here, there, whose);
            return -EINVAL;
        }
    }
    return 0;
}

static void set_defaults(void)
{
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        if (c->kind == CVAR_STR)
            *(const char **)c->value = c->def_str;
        else
            *(int64_t *)c->value = c->def;
    }
}

/* Set c from the environment under one of its names.  -ENOENT: not there. */
static int take(const struct cvar_info *c, const char *name, char *msg, size_t len)
{
    /* The first prefix wins, so that MPIR_CVAR_X overrides an old MPICH_X. */
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        char full[160];
        snprintf(full, sizeof full, "%s%s", prefixes[p], name + OWN_PREFIX);
        const char *text = var_env_get(full);
        if (text)
            return store(c, full, text, msg, len);
    }
    return -ENOENT;
}

int var_init(char *msg, size_t len)
{
    if (!proc->var && !(proc->var = calloc(1, sizeof *proc->var))) {
        snprintf(msg, len, "out of memory");
        return -ENOMEM;
    }
    set_defaults();
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        const char *name = c->name;
        int err = take(c, name, msg, len);
        for (int k = 0; err == -ENOENT && (name = cvar_alias(c, &k)) != NULL;)
            err = take(c, name, msg, len);
        if (err && err != -ENOENT)
            return err;
    }
    return 0;
}

void var_finalize(void)
{
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        const char **field = c->value;
        if (c->kind == CVAR_STR && *field != c->def_str) {
            free((char *)*field);
            *field = c->def_str;
        }
    }
    free(proc->var);
    proc->var = NULL;
}

unsigned var_env_on(const struct var_env *list, int n)
{
    unsigned set = 0;
    for (int i = 0; i < n; i++)
        if (!var_env_get(list[i].name) && setenv(list[i].name, list[i].value, 1) == 0)
            set |= 1u << i;
    return set;
}

void var_env_off(const struct var_env *list, int n, unsigned set)
{
    for (int i = 0; i < n; i++)
        if (set >> i & 1)
            unsetenv(list[i].name);
}

const char *var_env_get(const char *name)
{
    return secure_getenv(name);
}

int var_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

int var_env_refused(const char *name)
{
    return var_privileged() && getenv(name);
}

int pvar_find(const char *name)
{
    for (int i = 0; i < PVAR_COUNT; i++)
        if (!strcmp(pvar_table[i].name, name))
            return i;
    return -1;
}
