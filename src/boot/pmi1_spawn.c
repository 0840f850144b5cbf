/* pmi1_spawn.c - the request to Hydra that programs be started, as lines (doc/pmi-wire.md). Start
 * with pmi1_spawn_text(). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "boot/boot_types.h"

/* Bounds of Hydra, which it does not look at: its proxy collects a request in 64 KiB, its mpiexec
 * keeps the lines in a table of 1000.  The request ends with the first line that ends so. */
enum { BYTES_MOST = (1 << 16) - 2, LINES_MOST = 990 };
#define LAST "endcmd\n"

struct request { /* lines of PMI's spawn; a word must not hold the end of a line */
    char *text;
    size_t have, room;
    int lines, err;
};

static void __attribute__((format(printf, 2, 3))) add(struct request *r, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    int n = vsnprintf(NULL, 0, form, args);
    va_end(args);
    if (!r->err && (n < 0 || r->have + (size_t)n > BYTES_MOST || ++r->lines > LINES_MOST))
        r->err = -E2BIG;
    if (!r->err && !VEC_FITS(r->text, r->room, r->have + (size_t)n + 1, 1024))
        r->err = -ENOMEM;
    if (r->err)
        return;
    va_start(args, form);
    char *line = r->text + r->have;
    vsnprintf(line, (size_t)n + 1, form, args);
    va_end(args);
    size_t last = strlen(LAST), len = (size_t)n;
    if (strchr(line, '\n') != line + n - 1 || (len > last && !strcmp(line + len - last, LAST)))
        r->err = -EINVAL;
    r->have += len;
}

static void add_program(struct request *r, const struct boot_program *p, int i, int n,
                        const char *gives)
{
    const char *keys[] = {"wdir", "host"}, *values[] = {p->wdir, p->host};
    int args = 0, infos = 0;
    add(r, "mcmd=spawn\n");
    add(r, "nprocs=%d\n", p->n);
    /* Hydra takes no variables of one program. */
    add(r, "execname=%s\n", p->errhandler ? "env" : p->command);
    add(r, "totspawns=%d\n", n);
    add(r, "spawnssofar=%d\n", i + 1);
    if (p->errhandler) {
        add(r, "arg%d=MPIR_CVAR_INITIAL_ERRHANDLER=%s\n", ++args, p->errhandler);
        add(r, "arg%d=%s\n", ++args, p->command);
        if (strchr(p->command, '=') && !r->err) /* another variable */
            r->err = -EINVAL;
    }
    for (char *const *a = p->argv; a && *a; a++)
        add(r, "arg%d=%s\n", ++args, *a);
    add(r, "argcnt=%d\n", args);
    add(r, "preput_num=1\n");
    add(r, "preput_key_0=" PMI1_SPAWNED_KEY "\n");
    add(r, "preput_val_0=%s\n", gives);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        infos += values[k] != NULL;
    add(r, "info_num=%d\n", infos);
    infos = 0;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (values[k]) {
            add(r, "info_key_%d=%s\n", infos, keys[k]);
            add(r, "info_val_%d=%s\n", infos++, values[k]);
        }
    add(r, LAST);
}

int pmi1_spawn_text(const struct boot_program *list, int n, const char *gives, char **text)
{
    struct request r = {0};
    for (int i = 0; i < n; i++)
        add_program(&r, &list[i], i, n, gives);
    *text = r.text;
    return r.err;
}
