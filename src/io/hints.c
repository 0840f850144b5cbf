/* hints.c - info keys of files, with ROMIO's names. What MPI_File_get_info returns is in effect. */
#include "io/io_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boot/boot.h"

enum { NODES_A_HOST = 4 };

int hints_hosts(const struct comm *c)
{
    int hosts = 0, last = -1;
    for (int r = 0; r < c->size; r++) { /* ranks of a host mostly follow each other */
        int node = boot_node_of(comm_world(c, r));
        hosts += node != last;
        last = node;
    }
    return hosts < boot_nodes() ? hosts : boot_nodes();
}

void hints_default(struct hints *h, const struct comm *c)
{
    int nodes = hints_hosts(c) * NODES_A_HOST;
    *h = (struct hints){.cb_nodes = nodes < c->size ? nodes : c->size,
                        .cb_buffer_size = 1 << 20, .striping_unit = 4096, .file_perm = -1,
                        .ds_write = CHOICE_NO};
}

static const char *choice_text(enum choice c)
{
    return c == CHOICE_AUTO ? "automatic" : c == CHOICE_YES ? "enable" : "disable";
}

static void take_choice(const struct info *i, const char *key, enum choice *c)
{
    const char *v = info_value(i, key);
    for (enum choice k = CHOICE_AUTO; v && k <= CHOICE_NO; k++)
        if (!strcasecmp(v, choice_text(k)))
            *c = k;
}

static int64_t number(const struct info *i, const char *key, int64_t lo, int64_t hi, int64_t was)
{
    const char *v = info_value(i, key);
    char *end;
    errno = 0;
    long long n = v ? strtoll(v, &end, 10) : 0;
    int is_number = v && end != v && !*end && !errno;
    return is_number && n >= lo && n <= hi ? n : was;
}

/* A key that is missing, or whose value is impossible, changes nothing. */
int hints_take(struct io_file *f, struct info *info)
{
    struct hints *h = &f->hints;
    if (!info)
        return MPI_SUCCESS;
    if (info_merge(f->info, info))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", io_call());
    h->cb_nodes = (int)number(info, "cb_nodes", 1, f->comm->size, h->cb_nodes);
    h->cb_buffer_size = number(info, "cb_buffer_size", 4096, 1 << 30, h->cb_buffer_size);
    h->striping_unit = number(info, "striping_unit", 1, 1 << 30, h->striping_unit);
    take_choice(info, "romio_cb_read", &h->cb_read);
    take_choice(info, "romio_cb_write", &h->cb_write);
    take_choice(info, "romio_ds_read", &h->ds_read);
    take_choice(info, "romio_ds_write", &h->ds_write);
    const char *perm = info_value(info, "file_perm");
    char *end;
    long bits = perm ? strtol(perm, &end, 8) : -1;
    if (perm && end != perm && !*end && bits >= 0 && bits <= 0777)
        h->file_perm = (int)bits;
    return MPI_SUCCESS;
}

int io_set_info(struct io_file *f, struct info *info)
{
    int err = io_no_split(f);
    if (!err)
        err = hints_take(f, info);
    return io_same(f, f->hints.cb_nodes * ((int64_t)1 << 31) + f->hints.cb_buffer_size,
                   "a hint of cb_nodes and cb_buffer_size", err);
}

static int put_number(struct info *i, const char *key, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    return info_put(i, key, text);
}

struct info *io_info(const struct io_file *f)
{
    const struct hints *h = &f->hints;
    struct info *i = info_copy(f->info);
    int err = !i;
    if (!err)
        err = put_number(i, "cb_nodes", h->cb_nodes) ||
              put_number(i, "cb_buffer_size", h->cb_buffer_size) ||
              put_number(i, "striping_unit", h->striping_unit);
    if (!err)
        err = info_put(i, "romio_cb_read", choice_text(h->cb_read)) ||
              info_put(i, "romio_cb_write", choice_text(h->cb_write)) ||
              info_put(i, "romio_ds_read", choice_text(h->ds_read)) ||
              info_put(i, "romio_ds_write", choice_text(f->gaps ? CHOICE_YES : CHOICE_NO));
    if (err) {
        info_drop(i);
        return NULL;
    }
    return i;
}
