/* identity.c - what a process shares with others of its host, and the node map made from that. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/proc.h"
#include "boot/boot_types.h"
#include "var/var.h"

int boot_host_here(struct boot_host *h)
{
    char text[128];
    ssize_t n = -1;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text);
        close(fd);
    } else if (errno == EMFILE || errno == ENFILE) {
        return -errno; /* another name would make this host differ from itself */
    }
    /* The kernel's own random name; the host's name only where there is none. */
    if (n <= 0 && gethostname(text, sizeof text) == 0)
        n = (ssize_t)strnlen(text, sizeof text);
    h->kernel = hash_bytes(HASH_BYTES, text, n > 0 ? (size_t)n : 0);
    h->net = boot_namespace("net");
    h->pid = boot_namespace("pid");
    h->user = boot_namespace("user");
    return 0;
}

const char *boot_host_differs(const struct boot_host *a, const struct boot_host *b)
{
    if (a->kernel != b->kernel)
        return "kernels";
    return a->net != b->net ? "network namespaces" : NULL;
}

/* --- the node map of a job whose launcher has none ----------------------------------- */

char *boot_map_text(const int *number, int size)
{
    enum { BLOCK = 40 }; /* bytes of "(host,1,ranks)," */
    char *text = malloc((size_t)size * BLOCK + BLOCK);
    int *seen = malloc((size_t)size * sizeof *seen); /* numbers in the order in which they came */
    int hosts = 0, at = 0;
    if (!text || !seen) {
        free(text);
        free(seen);
        return NULL;
    }
    at = sprintf(text, "(vector");
    for (int i = 0, end; i < size; i = end) {
        int h = 0;
        for (end = i + 1; end < size && number[end] == number[i]; end++)
            ;
        while (h < hosts && seen[h] != number[i])
            h++;
        if (h == hosts)
            seen[hosts++] = number[i];
        at += sprintf(text + at, ",(%d,1,%d)", h, end - i);
    }
    sprintf(text + at, ")");
    free(seen);
    return text;
}

/* Number each rank's host by the first rank on it. */
static void number_hosts(const struct boot_host *host, int size, int *number)
{
    for (int i = 0; i < size; i++) {
        number[i] = 0;
        while (number[i] < i && boot_host_differs(&host[number[i]], &host[i]))
            number[i]++;
    }
}

int boot_host_exchange(struct boot *b, char **text)
{
    char key[40];
    struct boot_host here;
    struct boot_host *all = calloc((size_t)b->size, sizeof *all);
    *text = NULL;
    if (!all)
        return -ENOMEM;
    int err = boot_host_here(&here);
    snprintf(key, sizeof key, "boot.host.%d", b->rank);
    if (!err)
        err = boot_put(key, &here, sizeof here);
    if (!err)
        err = boot_barrier();
    for (int i = 0; i < b->size && !err; i++) {
        size_t len = sizeof all[i];
        snprintf(key, sizeof key, "boot.host.%d", i);
        err = boot_get(key, &all[i], &len);
        if (!err && len != sizeof all[i])
            err = -EPROTO;
    }
    int *number = malloc((size_t)b->size * sizeof *number);
    if (!err && number)
        number_hosts(all, b->size, number);
    if (!err && (!number || !(*text = boot_map_text(number, b->size))))
        err = -ENOMEM;
    free(number);
    free(all);
    return err;
}

int boot_host_exchanged_elsewhere(void)
{
    const struct boot *b = proc->boot;
    for (int i = 0; i < b->size && strcmp(cvar.host_map, "exchange") != 0; i++) {
        char key[40], value[BOOT_VALUE_MAX];
        size_t len = sizeof value;
        snprintf(key, sizeof key, "boot.host.%d", i);
        if (i != b->rank && boot_get(key, value, &len) == 0)
            return 1;
    }
    return 0;
}
