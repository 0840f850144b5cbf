/* info.c - info objects, MPI_INFO_ENV included. Start with info_put(). */
#include "obj/attr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "boot/boot.h"
#include "obj/obj_types.h"
#include "var/var.h"

struct info *info_make(void)
{
    struct info *i = calloc(1, sizeof *i);
    if (i)
        list_init(&i->pairs);
    return i;
}

void info_drop(struct info *i)
{
    if (!i)
        return;
    for (struct list *p; (p = list_pop(&i->pairs));) {
        struct info_pair *pair = LIST_OBJ(p, struct info_pair, link);
        free(pair->value);
        free(pair);
    }
    if (i->obj.handle)
        obj_del(OBJ_INFO, &i->obj);
    free(i);
}

struct info_pair *info_find(const struct info *i, const char *key)
{
    if (!i)
        return NULL;
    for (struct list *p = i->pairs.next; p != &i->pairs; p = p->next) {
        struct info_pair *pair = LIST_OBJ(p, struct info_pair, link);
        if (!strcmp(pair->key, key))
            return pair;
    }
    return NULL;
}

const char *info_value(const struct info *i, const char *key)
{
    const struct info_pair *p = info_find(i, key);
    return p ? p->value : NULL;
}

int info_put(struct info *i, const char *key, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    struct info_pair *pair = info_find(i, key);
    if (pair) {
        free(pair->value);
        pair->value = copy;
        return 0;
    }
    size_t len = strlen(key) + 1;
    pair = malloc(sizeof *pair + len);
    if (!pair) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(pair->key, key, len);
    pair->value = copy;
    list_push(&i->pairs, &pair->link);
    return 0;
}

int info_remove(struct info *i, const char *key)
{
    struct info_pair *p = info_find(i, key);
    if (!p)
        return -ENOENT;
    list_del(&p->link);
    free(p->value);
    free(p);
    return 0;
}

int info_count(const struct info *i)
{
    int n = 0;
    for (const struct list *p = i ? i->pairs.next : NULL; p && p != &i->pairs; p = p->next)
        n++;
    return n;
}

int info_merge(struct info *to, const struct info *from)
{
    if (!from)
        return 0;
    for (const struct list *p = from->pairs.next; p != &from->pairs; p = p->next) {
        const struct info_pair *pair = LIST_OBJ(p, struct info_pair, link);
        if (info_put(to, pair->key, pair->value))
            return -ENOMEM;
    }
    return 0;
}

struct info *info_copy(const struct info *i)
{
    struct info *copy = info_make();
    if (copy && info_merge(copy, i)) {
        info_drop(copy);
        return NULL;
    }
    return copy;
}

int info_truth(const struct info *i, const char *key, int absent)
{
    const char *v = info_value(i, key);
    if (v && !strcasecmp(v, "true"))
        return 1;
    if (v && !strcasecmp(v, "false"))
        return 0;
    return absent;
}

size_t info_alignment(const struct info *i)
{
    enum { DIGITS = 19 }; /* more are beyond any address */
    const char *v = info_value(i, "mpi_minimum_memory_alignment");
    size_t digits = v ? strspn(v, "0123456789") : 0;
    if (!digits || digits > DIGITS || v[digits])
        return 0;
    unsigned long long n = strtoull(v, NULL, 10);
    return n & (n - 1) || n > INT64_MAX ? 0 : (size_t)n;
}

/* Command line of this process: first word and the rest, for "command" and "argv" of
 * MPI_INFO_ENV. */
static void put_command(struct info *i)
{
    char line[4096];
    FILE *f = fopen("/proc/self/cmdline", "r");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = 0;
    if (!n)
        return;
    size_t first = strlen(line);
    info_put(i, "command", line);
    for (size_t k = first + 1; k + 1 < n; k++)
        if (!line[k])
            line[k] = ' ';
    if (first + 1 < n) {
        line[first + MPI_MAX_INFO_VAL < n ? first + MPI_MAX_INFO_VAL : n] = 0;
        info_put(i, "argv", line + first + 1);
    }
}

void info_fill_env(struct info *i)
{
    char text[1024];
    struct utsname u;
    const char *handler = var_env_get("MPIR_CVAR_INITIAL_ERRHANDLER");
    put_command(i);
    if (uname(&u) == 0) {
        info_put(i, "host", u.nodename);
        info_put(i, "arch", u.machine);
    }
    if (getcwd(text, sizeof text))
        info_put(i, "wdir", text);
    if (handler && *handler)
        info_put(i, "mpi_initial_errhandler", handler);
    info_put(i, "mpi_memory_alloc_kinds", INFO_MEMORY_KINDS);
}

int info_init(void)
{
    struct info *i = proc->obj->info_env = info_make();
    if (!i)
        return -ENOMEM;
    obj_set_builtin(OBJ_INFO, MPI_INFO_ENV, &i->obj);
    char text[16];
    snprintf(text, sizeof text, "%d", boot_size());
    info_put(i, "maxprocs", text);
    info_fill_env(i);
    return 0;
}

/* Users' objects stay: they outlive MPI_Finalize. */
void info_finalize(void)
{
    info_drop(proc->obj->info_env);
    proc->obj->info_env = NULL;
}
