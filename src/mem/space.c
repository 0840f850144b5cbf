/* space.c - the spaces of this process by name and number.  Start with space_find(). */
#include "mem/space_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"

enum { PER_KIND = 1024 }; /* numbers of a kind */

const struct space_ops *const space_list[] = {&space_host, &space_sim, &space_cuda, NULL};

struct spaces *space_self(void)
{
    if (!proc->spaces)
        proc->spaces = calloc(1, sizeof *proc->spaces);
    return proc->spaces;
}

static const struct space_ops *const *kinds(void)
{
    return proc->spaces && proc->spaces->list ? proc->spaces->list : space_list;
}

int space_use(const struct space_ops *const *list)
{
    if (!space_self())
        return -ENOMEM;
    proc->spaces->list = list;
    return 0;
}

/* Digits alone, below PER_KIND; else -1. */
static int index_of(const char *text)
{
    int i = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || i >= PER_KIND)
            return -1;
        i = 10 * i + (*text - '0');
    }
    return i < PER_KIND ? i : -1;
}

int space_find(const char *name, int *number)
{
    const char *colon = strchr(name, ':');
    if (!strcmp(name, "host")) {
        *number = 0;
        return 0;
    }
    int i = colon ? index_of(colon + 1) : -1;
    if (i < 0 || colon == name)
        return -EINVAL;
    size_t len = (size_t)(colon - name);
    const struct space_ops *const *k = kinds();
    for (int kind = 1; k[kind]; kind++)
        if (strlen(k[kind]->name) == len && !memcmp(k[kind]->name, name, len)) {
            *number = kind * PER_KIND + i;
            return i < k[kind]->count() ? 0 : -ENODEV;
        }
    for (const char *c = name; c < colon; c++)
        if ((*c < 'a' || *c > 'z') && *c != '_')
            return -EINVAL;
    return -ENODEV;
}

/* The kind of a number, or NULL. */
static const struct space_ops *kind_of(int number)
{
    const struct space_ops *const *k = kinds();
    if (number < 0)
        return NULL;
    for (int i = number / PER_KIND; i >= 0; i--, k++)
        if (!*k)
            return NULL;
    return k[-1];
}

void space_name(int number, char text[SPACE_NAME])
{
    const struct space_ops *k = kind_of(number);
    if (!number || !k)
        snprintf(text, SPACE_NAME, "%s", k ? "host" : "no space");
    else
        snprintf(text, SPACE_NAME, "%.8s:%d", k->name, number % PER_KIND);
}

void space_names(char *text, size_t len)
{
    size_t at = (size_t)snprintf(text, len, "host");
    const struct space_ops *const *k = kinds();
    for (int kind = 1; k[kind]; kind++)
        for (int i = 0; i < k[kind]->count() && at < len; i++)
            at += (size_t)snprintf(text + at, len - at, ", %s:%d", k[kind]->name, i);
}

int space_number(const struct space *s)
{
    const struct space_ops *const *k = kinds();
    int kind = 0;
    while (k[kind] && k[kind] != s->ops)
        kind++;
    return kind * PER_KIND + s->index;
}

struct space *space_opened(int number)
{
    const struct space_ops *k = kind_of(number);
    for (struct space *s = proc->spaces ? proc->spaces->open : NULL; k && s; s = s->next)
        if (s->ops == k && s->index == number % PER_KIND)
            return s;
    return NULL;
}

int space_open(int number, struct space **out)
{
    const struct space_ops *k = kind_of(number);
    struct space *s = space_opened(number);
    if (!k || !space_self())
        return k ? -ENOMEM : -ENODEV;
    if (!s) {
        struct space_caps caps = {0};
        int err = k->open(number % PER_KIND, &s, &caps);
        if (err)
            return err;
        s->ops = k;
        s->index = number % PER_KIND;
        s->caps = caps;
        s->next = proc->spaces->open;
        proc->spaces->open = s;
    }
    s->users++;
    *out = s;
    return 0;
}

/* Opening a device takes long, so it stays open until the end of the process. */
void space_release(struct space *s)
{
    s->users--;
}

/* The range, where a device of the kind has pinned it. */
static struct space_pinned **pinned_at(const struct space *s, const char *host, size_t len)
{
    struct space_pinned **at = &proc->spaces->pinned;
    while (*at && ((*at)->by->ops != s->ops || (*at)->host != host || (*at)->len != len))
        at = &(*at)->next;
    return at;
}

static int overlaps_pinned(const struct space *s, const char *host, size_t len)
{
    for (const struct space_pinned *p = proc->spaces->pinned; p; p = p->next)
        if (p->by->ops == s->ops && host < p->host + p->len && p->host < host + len)
            return 1;
    return 0;
}

int space_pin(struct space *s, void *host, size_t len)
{
    struct space_pinned *p = *pinned_at(s, host, len);
    if (p) {
        p->users++;
        return 1;
    }
    if (overlaps_pinned(s, host, len) || !(p = calloc(1, sizeof *p)))
        return 0;
    if (s->ops->pin(s, host, len)) {
        free(p);
        return 0;
    }
    *p = (struct space_pinned){s, host, len, 1, proc->spaces->pinned};
    proc->spaces->pinned = p;
    return 1;
}

void space_unpin(struct space *s, void *host, size_t len)
{
    struct space_pinned **at = pinned_at(s, host, len), *p = *at;
    if (!p || --p->users)
        return;
    *at = p->next;
    p->by->ops->unpin(p->by, host, len);
    free(p);
}

void space_finalize(void)
{
    struct spaces *all = proc->spaces;
    while (all && all->pinned)
        space_unpin(all->pinned->by, all->pinned->host, all->pinned->len);
    while (all && all->open) {
        struct space *s = all->open;
        all->open = s->next;
        s->ops->close(s);
    }
    if (all)
        free(all->cuda); /* the library stays: its threads may run */
    free(all);
    proc->spaces = NULL;
}
