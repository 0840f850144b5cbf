/* others.c - processes of other jobs of the same mpiexec: ports, names, spawned jobs
 * (doc/design/dynamic.md).  The requests are words of our mpiexec (doc/pmi-wire.md); under other
 * launchers family.c does it. Start with boot_meet_begin(). */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/vec.h"
#include "boot/boot_types.h"
#include "boot/family.h"
#include "var/var.h"

int boot_place(struct boot *b)
{
    const char *first = var_env_get(JOB_FIRST_ENV), *parent = var_env_get(JOB_PARENT_ENV);
    char *end;
    long v = first ? strtol(first, &end, 10) : 0;
    if (first && (end == first || *end || v < 0 || v > INT_MAX))
        v = INT_MAX;
    if (v > (long)b->page->size - b->size) {
        log_warn("%s=\"%s\" is no number of a process of this mpiexec", JOB_FIRST_ENV,
                 first ? first : "0");
        return -EINVAL;
    }
    b->first = (int)v;
    if (parent && strlen(parent) < sizeof b->parent)
        strcpy(b->parent, parent);
    return 0;
}

int boot_meets(void)
{
    const struct boot *b = proc->boot;
    return b->family ? BOOT_MEETS_DIRECT : b->ops->meet_begin && b->page ? BOOT_MEETS : 0;
}

const char *boot_parent_port(void)
{
    return *proc->boot->parent && boot_meets() ? proc->boot->parent : NULL;
}

/* --- jobs whose ends the launcher reports: the number of the first process, the name --- */

size_t boot_job_card(void *card, size_t room)
{
    const struct boot *b = proc->boot;
    int32_t first = b->first;
    size_t len = strlen(b->job_id);
    if (!b->family || !b->ops->job_met || sizeof first + len > room)
        return 0;
    memcpy(card, &first, sizeof first);
    memcpy((char *)card + sizeof first, b->job_id, len);
    return sizeof first + len;
}

int boot_job_learn(int rank, const void *card, size_t len)
{
    char job[BOOT_JOB_MAX];
    int32_t first;
    if (!proc->boot->ops->job_met)
        return 0;
    if (len <= sizeof first || len > sizeof job)
        return -EPROTO;
    memcpy(&first, card, sizeof first);
    snprintf(job, sizeof job, "%.*s", (int)(len - sizeof first), (const char *)card + sizeof first);
    return first < 0 || first > rank ? -EPROTO : proc->boot->ops->job_met(job, first, rank);
}

/* --- ports and names ---------------------------------------------------------------- */

static int service(const char *text, const char *answer, char *port)
{
    char hex[2 * BOOT_PORT_MAX + 1] = "";
    size_t len = BOOT_PORT_MAX - 1;
    if (boot_meets() != BOOT_MEETS)
        return -ENOTSUP;
    int err = proc->boot->ops->service(text, answer, port ? hex : NULL, sizeof hex);
    if (err || !port)
        return err;
    if (pmi_unhex(hex, port, &len))
        return -EPROTO;
    port[len] = 0;
    return 0;
}

/* A word of at most BOOT_PORT_MAX bytes as hexadecimal digits; -EMSGSIZE. */
static int word(const char *text, char hex[2 * BOOT_PORT_MAX + 1])
{
    size_t len = strlen(text);
    if (len > BOOT_PORT_MAX)
        return -EMSGSIZE;
    pmi_hex(text, len, hex);
    return 0;
}

int boot_port_open(char *port)
{
    struct family_port *p;
    if (!proc->boot->family)
        return service("cmd=open_port\n", "port_result", port);
    int err = family_port_open(proc->boot->family, 0, &p);
    if (!err)
        strcpy(port, p->name);
    return err;
}

int boot_port_close(const char *port)
{
    char hex[2 * BOOT_PORT_MAX + 1], text[PMI_LINE_MAX];
    struct family *d = proc->boot->family;
    struct family_port *p = d ? family_port_find(d, port) : NULL;
    if (p)
        family_port_close(d, p);
    if (d)
        return p ? 0 : -ENOENT;
    if (word(port, hex))
        return -ENOENT;
    snprintf(text, sizeof text, "cmd=close_port port=%s\n", hex);
    return service(text, "port_result", NULL);
}

int boot_name_publish(const char *name, const char *port)
{
    char hex[2][2 * BOOT_PORT_MAX + 1], text[PMI_LINE_MAX];
    if (word(name, hex[0]) || word(port, hex[1]))
        return -EMSGSIZE;
    snprintf(text, sizeof text, "cmd=publish_name service=%s port=%s\n", hex[0], hex[1]);
    return service(text, "publish_result", NULL);
}

int boot_name_unpublish(const char *name)
{
    char hex[2 * BOOT_PORT_MAX + 1], text[PMI_LINE_MAX];
    if (word(name, hex))
        return -ENOENT;
    snprintf(text, sizeof text, "cmd=unpublish_name service=%s\n", hex);
    return service(text, "unpublish_result", NULL);
}

int boot_name_lookup(const char *name, char *port)
{
    char hex[2 * BOOT_PORT_MAX + 1], text[PMI_LINE_MAX];
    if (word(name, hex))
        return -ENOENT;
    snprintf(text, sizeof text, "cmd=lookup_name service=%s\n", hex);
    return service(text, "lookup_result", port);
}

/* --- meetings ------------------------------------------------------------------------- */

static int begin(struct boot_meeting *m, const char *text, int *fd)
{
    return boot_meets() ? proc->boot->ops->meet_begin(m, text, fd) : -ENOTSUP;
}

static unsigned number_it(struct boot_meeting *m)
{
    *m = (struct boot_meeting){.number = ++proc->boot->pmi.met};
    return m->number;
}

int boot_meet_begin(struct boot_meeting *m, int accepts, const char *port, const void *bring,
                    size_t len, int *fd)
{
    char hex[2 * BOOT_PORT_MAX + 1], bytes[2 * BOOT_BROUGHT_WIRE + 1], text[PMI_LINE_MAX];
    WR_ASSERT(len && len <= BOOT_BROUGHT_MAX);
    if (word(port, hex) || !*port)
        return -ENOENT;
    if (proc->boot->family) {
        number_it(m);
        return family_meet_begin(proc->boot->family, m, accepts, port, bring, len, fd);
    }
    WR_ASSERT(len <= BOOT_BROUGHT_WIRE);
    pmi_hex(bring, len, bytes);
    snprintf(text, sizeof text, "cmd=meet number=%u accepts=%d port=%s bring=%s\n", number_it(m),
             accepts, hex, bytes);
    return begin(m, text, fd);
}

void boot_on_met(void (*fn)(void))
{
    proc->boot->pmi.on_met = fn;
}

void boot_meet_judge(struct boot_meeting *m, int (*fn)(struct boot_meeting *m, void *arg),
                     void *arg)
{
    m->judge = fn;
    m->arg = arg;
}

int boot_meet_test(struct boot_meeting *m)
{
    struct family *d = proc->boot->family;
    int spawns = d && !m->meeting; /* its answer may have come with that to another one */
    int done = m->done ? 1 : m->meeting ? family_meet_test(d, m) : proc->boot->ops->meet_test(m);
    if (spawns && done)
        family_spawn_end(d, m);
    if (spawns && done && (done < 0 || m->rc))
        family_spawn_failed(d, m);
    if (done > 0 && !m->rc && !d && m->judge)
        m->rc = m->judge(m, m->arg);
    return done > 0 && m->rc ? m->rc : done;
}

int boot_meet_leave(struct boot_meeting *m)
{
    if (!proc->boot->family)
        return proc->boot->ops->meet_leave(m);
    family_meet_leave(m);
    return 0;
}

/* The lines of a request to start programs. */
struct lines {
    char *text;
    size_t have, room;
    int err;
};

enum { HEX_LINE = 2000 /* bytes of a word in one line; more follow in others */ };

static void add(struct lines *l, const char *text, size_t len)
{
    if (!l->err && !VEC_FITS(l->text, l->room, l->have + len + 1, 1024))
        l->err = -ENOMEM;
    if (l->err)
        return;
    memcpy(l->text + l->have, text, len);
    l->have += len;
    l->text[l->have] = 0;
}

static void add_word(struct lines *l, const char *key, const char *value)
{
    size_t left = value ? strlen(value) : 0;
    for (int i = 0; value && (left || !i); i++) {
        char hex[2 * HEX_LINE + 1], line[2 * HEX_LINE + 32];
        size_t n = left < HEX_LINE ? left : HEX_LINE;
        pmi_hex(value, n, hex);
        int len = snprintf(line, sizeof line, "%s=%s\n", i ? "more" : key, hex);
        add(l, line, (size_t)len);
        value += n;
        left -= n;
    }
}

static void add_number(struct lines *l, const char *key, unsigned v)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%s=%u\n", key, v);
    add(l, line, (size_t)len);
}

int boot_spawn_begin(struct boot_meeting *m, const struct boot_program *list, int n, int *fd)
{
    struct lines l = {0};
    if (proc->boot->family) {
        number_it(m);
        return family_spawn_begin(proc->boot, m, list, n, fd);
    }
    add(&l, "mcmd=spawn\n", strlen("mcmd=spawn\n"));
    add_number(&l, "number", number_it(m));
    for (int i = 0; i < n; i++) {
        add_word(&l, "command", list[i].command);
        for (char *const *a = list[i].argv; a && *a; a++)
            add_word(&l, "arg", *a);
        add_number(&l, "n", (unsigned)list[i].n);
        add_word(&l, "wdir", list[i].wdir);
        add_word(&l, "path", list[i].path);
        add_word(&l, "errhandler", list[i].errhandler);
    }
    add(&l, "endcmd\n", strlen("endcmd\n"));
    int err = l.err ? l.err : begin(m, l.text, fd);
    free(l.text);
    return err;
}
