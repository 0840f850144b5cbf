/* native_keys.c - questions for keys are answered, and the answers taken. A key is of a window's
 * memory at a rank, or (dynamic windows) of a memory handle. Start with rma_on_key_ask().
 *
 * An owner notes which ranks were told the key of a handle. When the handle ends, it tells them,
 * and waits until all have answered: from then on no operation begins by the key, and the memory is
 * deregistered. A network refuses a key that is gone by giving up the connection: none is used. */
#include "rma/engine/engine_types.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 1024 }; /* bytes that a transport packs */

/* The window of a request was freed here. An answer was reserved, so it must come. */
static int answer_anyway(int src, size_t len, const struct rma_hdr *h, struct rma_hdr *r)
{
    struct iovec v = {r, sizeof *r};
    if (len < sizeof *h)
        return 0;
    r->win = h->win;
    r->src = h->src & ~rma_self()->ranks;
    am_reply(src, AM_RMA + r->type, &v, 1);
    return 0;
}

struct told {
    struct rma_key_data d;
    char key[KEY_MAX];
};

/* The key of n registrations for the transport that leads to a process. */
static void tell_key(struct told *out, struct tp *tp, const struct tp_ops *ops,
                     const struct rma_reg *reg, unsigned n)
{
    for (; tp && n; reg++, n--) {
        size_t bytes = sizeof out->key;
        if (reg->tp != tp || ops->pack(tp, reg->mem, out->key, &bytes))
            continue;
        out->d.len = (uint32_t)bytes;
        memcpy(out->d.transport, ops->name, strnlen(ops->name, sizeof out->d.transport));
    }
}

static void tell_window(struct rma_win *w, struct told *out, struct tp *tp,
                        const struct tp_ops *ops, const struct tp_caps *caps)
{
    out->d.size = (uint64_t)w->bytes;
    out->d.unit = (uint64_t)w->disp_unit;
    out->d.align = (uint16_t)((uintptr_t)w->base % RMA_KEY_ALIGN);
    /* Only this process's control block decides: all near processes use it. */
    if (tp && caps->flags & TP_CPU_COHERENT && acc_ctl_atomic(rma_near_own(w)->acc))
        out->d.flags |= RMA_KEY_ATOMICS;
    if (tp && rma_note_puts(caps)) {
        out->d.note = (uint16_t)rma_note_number(w);
        out->d.notes = (uint16_t)(w->notes.num < RMA_NOTE_REACH ? w->notes.num : RMA_NOTE_REACH);
    }
    tell_key(out, tp, ops, w->native.reg, w->native.nregs);
}

int rma_on_key_ask(int src, const void *msg, size_t len)
{
    struct told out = {.d = {0}};
    const struct tp_ops *ops;
    struct tp_caps caps;
    struct rma_hdr h, r = {.type = RMA_PKT_KEY};
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w) /* freed meanwhile */
        return answer_anyway(src, len, &h, &r);
    struct tp *tp = am_tp_to(src, &ops, &caps);
    struct rma_handle *g = NULL;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        tell_window(w, &out, tp, ops, &caps);
    } else if ((g = rma_handle_at(w, h.disp)) != NULL && g->base == h.disp) {
        out.d.size = g->size;
        out.d.unit = 1;
        tell_key(&out, tp, ops, g->reg, g->nregs);
    }
    r.disp = h.disp;
    if (sizeof r + sizeof out.d + out.d.len > am_max(src) ||
        (out.d.len && g && rma_handle_hold(g, (int)h.src)))
        out.d.len = 0;
    rma_reply(w, src, &r, &out, sizeof out.d + out.d.len);
    return 0;
}

int rma_on_key(int src, const void *msg, size_t len)
{
    struct rma_key_data d;
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    struct rma_key *k = !w ? NULL
                        : w->flavor == MPI_WIN_FLAVOR_DYNAMIC
                            ? rma_handle_key(w, (int)h.src, h.disp)
                            : rma_key_find(w, (int)h.src);
    if (!k || k->state != KEY_ASKED)
        return 0;
    k->state = KEY_NONE;
    if (h.len < sizeof d)
        return 0;
    memcpy(&d, (const char *)msg + sizeof h, sizeof d);
    if (!d.len || d.len != h.len - sizeof d || d.unit == 0 || d.size > INT64_MAX ||
        strncmp(d.transport, k->ops->name, sizeof d.transport) != 0 ||
        k->ops->import(k->tp, (unsigned)src, (const char *)msg + sizeof h + sizeof d, d.len,
                       &k->far))
        return 0;
    k->size = d.size;
    k->unit = d.unit;
    k->align = d.align;
    k->note = k->note ? d.note : 0; /* 0: this process sends none */
    k->notes = d.notes;
    if (!(d.flags & RMA_KEY_ATOMICS))
        k->atomics = NULL;
    k->state = KEY_READY;
    return 0;
}

/* --- a handle ends ---------------------------------------------------------------------------- */

int rma_on_handle_ends(int src, const void *msg, size_t len)
{
    struct rma_hdr h, r = {.type = RMA_PKT_HANDLE_LEFT};
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    r.disp = h.disp;
    if (!w)
        return answer_anyway(src, len, &h, &r);
    struct rma_key *k = rma_handle_key(w, (int)h.src, h.disp);
    if (k)
        k->state = KEY_NONE; /* by message, which the owner refuses */
    rma_reply(w, src, &r, NULL, 0);
    return 0;
}

int rma_on_handle_left(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    if (len != sizeof h)
        return 0;
    memcpy(&h, msg, sizeof h);
    struct rma_win *w = rma_win_named(h.win, h.src); /* the rank in it may be unknown: by process */
    struct rma_handles *all = w ? w->mem.handles : NULL;
    for (struct list *l = all ? all->ending.next : NULL; l && l != &all->ending; l = l->next) {
        struct rma_handle *g = LIST_OBJ(l, struct rma_handle, link);
        for (unsigned i = 0; g->base == h.disp && i < g->nholders; i++)
            if (g->holders[i] >= 0 && rma_world(w, g->holders[i]) == src)
                g->holders[i] = RMA_LEFT;
    }
    progress_signal();
    return 0;
}
