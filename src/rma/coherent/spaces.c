/* spaces.c - coherent windows: creation by info keys, end, settling.  Start with
 * rma_coherent_make(). */
#include "rma/coherent/home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/watch.h"

int rma_coherent_wanted(const struct rma_win *w, const char **spaces)
{
    const char *v = info_value(w->info, "mpix_win_spaces");
    int flavor = w->flavor == MPI_WIN_FLAVOR_CREATE || w->flavor == MPI_WIN_FLAVOR_ALLOCATE;
    *spaces = v && *v ? v : NULL;
    if (*spaces && !flavor)
        return err_make(MPI_ERR_RMA_FLAVOR, "%s: the key mpix_win_spaces is for windows of "
                        "MPI_Win_allocate and MPI_Win_create", rma_call());
    if (!*spaces && flavor && cvar.win_spaces && *cvar.win_spaces)
        *spaces = cvar.win_spaces;
    return MPI_SUCCESS;
}

struct key {
    const char *name, *value;
};
static int spaces_error(const struct key *k, const char *name, const char *why)
{
    char have[256];
    space_names(have, sizeof have);
    return err_make(MPI_ERR_ARG, "%s: %s is \"%s\": %s %s; there are %s", rma_call(), k->name,
                    k->value, name, why, have);
}

/* One name of the list. */
static int space_add(struct rma_coherent *x, const struct key *k, const char *name)
{
    int number, err = space_find(name, &number);
    if (err)
        return spaces_error(k, name, err == -EINVAL ? "is no name of a space" : "is not here");
    for (unsigned i = 0; i < x->n; i++)
        if (x->number[i] == number)
            return number ? spaces_error(k, name, "is named twice") : MPI_SUCCESS;
    if (x->n == COH_SPACES)
        return spaces_error(k, name, "is one too many");
    if ((err = space_open(number, &x->space[x->n])) != 0)
        return spaces_error(k, name, strerror(-err));
    x->number[x->n++] = number;
    return MPI_SUCCESS;
}

/* The host is always one, the first. */
static int spaces_parse(struct rma_coherent *x, const struct key *k)
{
    int err = MPI_SUCCESS;
    x->n = 1;
    for (const char *at = k->value; !err && *at;) {
        char name[SPACE_NAME];
        size_t len = strcspn(at, ",");
        if (len >= sizeof name)
            return spaces_error(k, at, "is no name of a space");
        memcpy(name, at, len);
        name[len] = '\0';
        err = space_add(x, k, name);
        at += len + (at[len] == ',');
    }
    return err;
}

static size_t number_of(const struct rma_win *w, const char *key, size_t otherwise)
{
    const char *v = info_value(w->info, key);
    return v && *v ? (size_t)strtoull(v, NULL, 10) : otherwise;
}

int rma_coherent_make(struct rma_win *w)
{
    const char *value;
    int err = rma_coherent_wanted(w, &value);
    if (err || !value)
        return err;
    struct rma_coherent *x = calloc(1, sizeof *x);
    if (!x)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a coherent window", rma_call());
    w->coherent = x;
    if ((err = spaces_parse(x, &(struct key){"mpix_win_spaces", value})) != MPI_SUCCESS)
        return err;
    if ((err = rma_guard_make(w)) != MPI_SUCCESS)
        return err;
    struct coh_plan p = {.home = w->base, .bytes = (size_t)w->bytes, .n = x->n,
                         .tile = number_of(w, "mpix_win_tile", 64 << 10),
                         .budget = number_of(w, "mpix_win_bytes", (size_t)cvar.win_device_bytes),
                         .pvars = &w->near.pvars};
    if (p.tile < COH_TILE_LEAST || p.tile > COH_TILE_MOST || p.tile & (p.tile - 1))
        return err_make(MPI_ERR_ARG, "%s: mpix_win_tile is %zu; it must be a power of two from %d "
                        "to %d", rma_call(), p.tile, COH_TILE_LEAST, COH_TILE_MOST);
    memcpy(p.space, x->space, sizeof p.space);
    struct coh_gate gate;
    rma_alone_make(w, p.tile, &gate);
    p.gate = x->gate ? &gate : NULL;
    err = coh_make(&p, &x->coh);
    if (err)
        return err_make(MPI_ERR_NO_MEM, "%s: no room for %lld bytes in the spaces of %s",
                        rma_call(), (long long)w->bytes, rma_win_text(w));
    for (unsigned i = 1; i < x->n && w->bytes; i++)
        x->pinned |= (unsigned)space_pin(x->space[i], w->base, (size_t)w->bytes) << i;
    w->model = MPI_WIN_SEPARATE;
    return MPI_SUCCESS;
}

void rma_coherent_drop(struct rma_win *w)
{
    struct rma_coherent *x = w->coherent;
    if (!x)
        return;
    for (unsigned i = 1; i < x->n; i++)
        if (x->pinned >> i & 1)
            space_unpin(x->space[i], w->base, (size_t)w->bytes);
    if (x->coh)
        coh_drop(x->coh);
    rma_alone_drop(w, w->dead);
    rma_guard_drop(w);
    for (unsigned i = 1; i < x->n; i++)
        space_release(x->space[i]);
    free(x);
    w->coherent = NULL;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static const struct watcher apart = {.ops_apart = 1, .devices = 1};

void rma_buffers_end(void)
{
    watch_drop(&apart);
}

/* Its operations leave the inline path, which knows host memory alone: create.c make(). */
int rma_buffers_make(struct rma_win *w)
{
    const char *value = info_value(w->info, "mpix_win_buffers");
    struct rma_coherent x = {0};
    if (!value || !*value)
        value = cvar.win_buffers;
    if (!value || !*value)
        return MPI_SUCCESS;
    int err = spaces_parse(&x, &(struct key){"mpix_win_buffers", value});
    if (x.n > 1 && !watch_add(&apart) && (w->buffers = calloc(1, sizeof *w->buffers)) != NULL) {
        w->buffers->n = x.n - 1;
        memcpy(w->buffers->space, &x.space[1], (x.n - 1) * sizeof *x.space);
        return err;
    }
    for (unsigned i = 1; i < x.n; i++)
        space_release(x.space[i]);
    return err || x.n == 1 ? err
                           : err_make(MPI_ERR_NO_MEM, "%s: no memory for a window", rma_call());
}

void rma_buffers_drop(struct rma_win *w)
{
    for (unsigned i = 0; w->buffers && i < w->buffers->n; i++)
        space_release(w->buffers->space[i]);
    free(w->buffers);
    w->buffers = NULL;
}

/* --- end -------------------------------------------------------------------------------------- */

static int settled(void *arg)
{
    return coh_settled(((struct rma_win *)arg)->coherent->coh);
}

void rma_coherent_settle(struct rma_win *w)
{
    struct coh_ask a;
    rma_coherent_wait(settled, w, "a stream of this process");
    int err = coh_late(w->coherent->coh, &a);
    if (err)
        rma_win_add_err(w, rma_coherent_failed(w, &a, err));
}

/* The user's memory outlives a created window, so it gets what devices have. */
int rma_coherent_end(struct rma_win *w)
{
    struct rma_coherent *x = w->coherent;
    if (!x)
        return MPI_SUCCESS;
    if (coh_holds(x->coh))
        return rma_sync_error(w, "a range is held of", "call MPIX_Win_release first");
    int before = w->err;
    rma_coherent_settle(w);
    if (w->err && !before)
        log_warn("a copy for a range of %s that was released on a stream failed", rma_win_text(w));
    if (w->flavor != MPI_WIN_FLAVOR_CREATE || !w->bytes)
        return MPI_SUCCESS;
    int cls = rma_home(w, 0, (uint64_t)w->bytes, COH_AT_GET);
    if (cls)
        log_warn("data of %s were lost with a device", rma_win_text(w));
    return MPI_SUCCESS;
}
