/* spawn_request.c - the lines of a request to start a further job (spawn_request.h). Start with
 * spawn_request_line(). */
#include "launch/spawn_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pmiline.h"
#include "base/vec.h"

struct spawn_request *spawn_request_new(void)
{
    return calloc(1, sizeof(struct spawn_request));
}

void spawn_request_free(struct spawn_request *q)
{
    for (int i = 0; q && i < q->nblocks; i++) {
        for (char **a = q->block[i].argv; a && *a; a++)
            free(*a);
        free(q->block[i].argv);
        free((char *)q->block[i].wdir);
        if (q->block[i].env)
            free((char *)q->block[i].env->value[0]);
        free(q->block[i].env);
        free(q->path[i]);
    }
    if (q) {
        free(q->block);
        free(q->path);
    }
    free(q);
}

/* The text of hexadecimal digits behind what *to has; NULL is nothing. 0 or -errno. */
static int append(struct spawn_request *q, char **to, const char *hex)
{
    size_t had = *to ? strlen(*to) : 0, len = strlen(hex) / 2;
    q->bytes += len;
    if (q->bytes > SPAWN_REQUEST_BYTES_MAX)
        return -E2BIG;
    char *text = realloc(*to, had + len + 1);
    if (!text)
        return -ENOMEM;
    *to = text;
    int err = pmi_unhex(hex, text + had, &len);
    text[had + (err ? 0 : len)] = 0;
    return err ? err : strlen(text) == had + len ? 0 : -EINVAL;
}

/* One more word of the last block's program. */
static int add_arg(struct spawn_request *q, const char *hex)
{
    struct block *b = &q->block[q->nblocks - 1];
    q->bytes += sizeof *q->last; /* also of an empty word */
    if (q->bytes > SPAWN_REQUEST_BYTES_MAX)
        return -E2BIG;
    char **argv = realloc(b->argv, ((size_t)q->nargs + 2) * sizeof *argv);
    if (!argv)
        return -ENOMEM;
    b->argv = argv;
    argv[q->nargs] = argv[q->nargs + 1] = NULL;
    q->last = &argv[q->nargs];
    int err = append(q, q->last, hex);
    q->nargs += argv[q->nargs] != NULL;
    return err;
}

static int add_block(struct spawn_request *q, const char *hex)
{
    if (q->nblocks == ARGS_BLOCKS_MAX)
        return -E2BIG;
    int room = q->room; /* both arrays have it in common */
    if (!VEC_FITS(q->block, room, q->nblocks + 1, 4) ||
        !VEC_FITS(q->path, q->room, q->nblocks + 1, 4))
        return -ENOMEM;
    q->block[q->nblocks] = (struct block){.first = q->size};
    q->path[q->nblocks++] = NULL;
    q->nargs = 0;
    return add_arg(q, hex);
}

/* Where the value of the only variable of its own goes; NULL: no memory. */
static char **variable(struct block *b)
{
    if (!b->env && (b->env = calloc(1, sizeof *b->env)) != NULL) {
        b->env->n = 1;
        b->env->name[0] = ARGS_ERRHANDLER;
    }
    return b->env ? (char **)&b->env->value[0] : NULL;
}

static int take(struct spawn_request *q, const char *key, const char *value)
{
    char *end;
    if (!strcmp(key, "number")) {
        q->number = (unsigned)strtoul(value, NULL, 10);
        return 0;
    }
    if (!strcmp(key, "command"))
        return add_block(q, value);
    if (!q->nblocks) /* words of other libraries, too */
        return 0;
    struct block *b = &q->block[q->nblocks - 1];
    if (!strcmp(key, "arg"))
        return add_arg(q, value);
    if (!strcmp(key, "more"))
        return q->last ? append(q, q->last, value) : -EINVAL;
    if (!strcmp(key, "n")) {
        long n = strtol(value, &end, 10);
        if (*end || b->n || n < 1 || n > ARGS_RANKS_MAX - q->size)
            return -EINVAL;
        b->n = (int)n;
        q->size += b->n;
        return 0;
    }
    if (!strcmp(key, "errhandler"))
        return (q->last = variable(b)) ? append(q, q->last, value) : -ENOMEM;
    q->last = !strcmp(key, "wdir")   ? (char **)&b->wdir
              : !strcmp(key, "path") ? &q->path[q->nblocks - 1]
                                     : NULL;
    return q->last ? append(q, q->last, value) : 0;
}

void spawn_request_line(struct spawn_request *q, const char *text)
{
    char key[32];
    const char *eq = strchr(text, '=');
    size_t n = eq ? (size_t)(eq - text) : 0;
    if (!eq || !n || n >= sizeof key || q->err)
        return;
    memcpy(key, text, n);
    key[n] = 0;
    q->err = take(q, key, eq + 1);
}

/* The first folder of the list that has the program; else it stays as it is, for execvp(3). */
static int look_up(struct block *b, const char *path)
{
    char file[4096], seen[2 * sizeof file];
    while (path && *path && !strchr(b->argv[0], '/')) {
        size_t n = strcspn(path, ":");
        int len = snprintf(file, sizeof file, "%.*s/%s", (int)n, path, b->argv[0]);
        /* The program is run in its own folder; a folder of the list may be relative to that. */
        int there = *path != '/' && b->wdir;
        int all = snprintf(seen, sizeof seen, "%s%s%s", there ? b->wdir : "", there ? "/" : "",
                           file);
        if (n && len < (int)sizeof file && all < (int)sizeof seen && access(seen, X_OK) == 0) {
            char *copy = strdup(file);
            if (!copy)
                return -ENOMEM;
            free(b->argv[0]);
            b->argv[0] = copy;
            return 0;
        }
        path += n + (path[n] == ':');
    }
    return 0;
}

int spawn_request_check(struct spawn_request *q)
{
    if (!q->err && (!q->nblocks || !q->number))
        q->err = -EINVAL;
    for (int i = 0; i < q->nblocks && !q->err; i++) {
        struct block *b = &q->block[i];
        q->err = !b->argv || !b->argv[0] || !*b->argv[0] ? -ENOENT
                 : !b->n                                 ? -EINVAL
                                                         : look_up(b, q->path[i]);
    }
    return q->err;
}
