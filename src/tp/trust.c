/* trust.c - MPIR_CVAR_TRUST: what mpiexec -doctor -doctor-json found of a network. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tp/tp.h"
#include "var/var.h"

enum { TEXT_MAX = 1 << 20, NAME_MAX_ = 128 };

/* The whole file, to be freed; NULL with errno. */
static char *text_of(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = f ? malloc(TEXT_MAX) : NULL;
    if (text) {
        size_t n = fread(text, 1, TEXT_MAX - 1, f);
        text[n] = 0;
    }
    if (f)
        fclose(f);
    return text;
}

/* The line of a network as the doctor writes it, cut from the text; NULL: there is none. */
static char *line_of(char *text, const struct tp_ops *ops, struct tp *tp)
{
    char variant[NAME_MAX_] = "", begin[2 * NAME_MAX_];
    if (ops->variant)
        ops->variant(tp, variant, sizeof variant);
    snprintf(begin, sizeof begin, "{\"network\": \"%s\", \"variant\": \"%s\"", ops->name, variant);
    char *line = strstr(text, begin);
    if (line)
        line[strcspn(line, "\n")] = 0;
    return line;
}

static int is(const char *line, const char *part, const char *what)
{
    char member[64];
    snprintf(member, sizeof member, "\"%s\": \"%s\"", part, what);
    return line && strstr(line, member) != NULL;
}

static int holds(const char *line, const char *part)
{
    return is(line, part, "holds");
}

int tp_trust(const struct tp_ops *ops, struct tp *tp, struct tp_caps *caps)
{
    if (!*cvar.trust)
        return 0;
    char *text = text_of(cvar.trust);
    if (!text) {
        int err = errno ? -errno : -EIO;
        log_warn("MPIR_CVAR_TRUST=%s cannot be read: %s", cvar.trust, strerror(-err));
        return err;
    }
    const char *line = line_of(text, ops, tp);
    int fails = line && !holds(line, "messages");
    if (!line)
        log_warn("MPIR_CVAR_TRUST=%s says nothing of transport %s as it is here: only its messages "
                 "are used",
                 cvar.trust, ops->name);
    if (fails)
        log_warn("transport %s: by MPIR_CVAR_TRUST=%s its messages %s; it is not used", ops->name,
                 cvar.trust,
                 is(line, "messages", "not looked at") ? "were not looked at" : "fail");
    caps->flags &= ~(unsigned)TP_PUT_NOTE; /* the doctor does not look at notes */
    if (!holds(line, "atomics")) {
        caps->flags &= ~(unsigned)(TP_ATOMIC | TP_CPU_COHERENT);
        caps->atomic_sizes = 0;
    }
    if (!holds(line, "puts")) {
        caps->flags &= ~(unsigned)(TP_PUT | TP_GET | TP_PUT_THEN_AM | TP_ATOMIC | TP_CPU_COHERENT);
        caps->rma_max = 0;
        caps->put_min = caps->get_min = caps->pull_min = SIZE_MAX;
        caps->lone_pays = 0;
        caps->atomic_sizes = 0;
    }
    free(text);
    return fails ? -ENOTSUP : 0;
}
