/* keys.h - memory and keys of a network that tests pretend: a key is an address and a length, and
 * nothing is checked but that what was made is given back.  Its gets and puts are the test's
 * own. */
#ifndef UNIT_KEYS_H
#define UNIT_KEYS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "tp/tp_types.h"

struct tp_mem {
    uint64_t addr, len;
};

struct tp_far {
    struct tp_mem m;
    unsigned peer;
};

static struct {
    unsigned regs, fars; /* registered, imported now */
    unsigned imports;    /* so far */
} keys;

static int keys_reg(void *base, size_t len, struct tp_mem **mem)
{
    *mem = malloc(sizeof **mem);
    **mem = (struct tp_mem){(uintptr_t)base, len};
    keys.regs++;
    return 0;
}

static int keys_pack(struct tp *tp, struct tp_mem *mem, void *key, size_t *len)
{
    (void)tp;
    job_check(*len >= sizeof *mem);
    memcpy(key, mem, sizeof *mem);
    *len = sizeof *mem;
    return 0;
}

static void keys_dereg(struct tp *tp, struct tp_mem *mem)
{
    (void)tp;
    keys.regs--;
    free(mem);
}

static int keys_import(struct tp *tp, unsigned peer, const void *key, size_t len,
                       struct tp_far **far)
{
    (void)tp;
    if (len != sizeof(struct tp_mem))
        return -EPROTO;
    *far = malloc(sizeof **far);
    memcpy(&(*far)->m, key, len);
    (*far)->peer = peer;
    keys.fars++;
    keys.imports++;
    return 0;
}

static void keys_drop(struct tp *tp, struct tp_far *far)
{
    (void)tp;
    keys.fars--;
    free(far);
}

#endif
