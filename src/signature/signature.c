/* signature.c - notes of what is sent, and their comparison with what is received (signature.h).
 * Start with on_sends() and on_told().
 *
 * Exactness: a note names the number that the message will get, so it is sent only where nothing
 * waits for room, and where no other thread may send meanwhile. A note that is missing is a message
 * that is not compared: none is sent without room, from persistent and partitioned sends, with
 * MPI_THREAD_MULTIPLE, behind a failure, and to another job, which may not compare. Tag and bytes
 * must fit as well, so a note whose message never left harms nothing.
 *
 * Rules: as many basic elements as were sent, in their order; the receive may name more. MPI_PACKED
 * fits any. MPI_BYTE fits MPI_BYTE alone. Types of one kind and size fit each other, as MPI_LONG
 * and MPI_INT64_T: the standard lets some of these be equal, and the hash is of kinds. */
#include "signature/signature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "dt/make.h"
#include "finding/finding.h"
#include "p2p/p2p.h"
#include "place/place.h"
#include "var/var.h"
#include "watch/watch.h"

enum { NOTES = 256 /* of a sender: the latest, a power of two */ };
static const uint64_t LINE_NS = 2000000000; /* others wait meanwhile */

struct note {
    uint64_t hash, bytes;
    uint64_t site;  /* site_portable() */
    uint32_t seq;   /* of the message, as p2p_sent_to() counts */
    int32_t tag;
    uint32_t type;  /* index of the predefined type of all elements + 1; 0: there is none */
    uint32_t there; /* 0: none here, or compared */
};

struct notes { /* of a sender */
    struct note of[NOTES]; /* number n at n % NOTES */
};

struct signature {
    struct map notes; /* world rank + 1 -> struct notes */
    struct map said;  /* pairs of places */
};

static int is_quiet(void)
{
    return proc->thread_level == MPI_THREAD_MULTIPLE || boot_failed_count() ||
           proc->obj->revocations;
}

static uint32_t type_of(const struct dt_type *t)
{
    return t->basic ? (uint32_t)dt_predefined_index(t->basic) + 1 : 0;
}

/* --- the sender ------------------------------------------------------------------------------- */

static void on_sends(struct comm *c, int dest, const struct dt_type *t, int64_t count, int tag,
                     const void *site)
{
    size_t bytes;
    int world = comm_peer_world(c, dest);
    if (is_quiet() || p2p_has_queued() || !boot_is_own(world))
        return;
    if (dt_total(t, (size_t)count, &bytes) || !bytes || dt_sig_packed(t))
        return;
    struct note n = {.hash = dt_sig_hash(t, (size_t)count), .bytes = bytes,
                     .site = site_portable((uint64_t)(uintptr_t)site), .seq = p2p_sent_to(world),
                     .tag = tag, .type = type_of(t), .there = 1};
    struct iovec v = {&n, sizeof n};
    (void)am_request(world, AM_SIGNATURE, &v, 1, 0); /* no room: one note less */
}

/* --- the receiver ----------------------------------------------------------------------------- */

static int on_note(int src, const void *msg, size_t len)
{
    struct signature *s = proc->signature;
    struct note n;
    if (!s)
        return 0;
    if (len != sizeof n) {
        am_malformed(src, "a note of a signature");
        return 0;
    }
    memcpy(&n, msg, sizeof n);
    struct notes *of = map_get(&s->notes, (uint64_t)src + 1);
    if (!of && (of = calloc(1, sizeof *of)) && map_put(&s->notes, (uint64_t)src + 1, of)) {
        free(of);
        return 0;
    }
    if (of)
        of->of[n.seq % NOTES] = n;
    return 0;
}

/* The note of this message, once; 0: there is none. */
static int take_note(const struct p2p_told *m, struct note *out)
{
    struct notes *of = map_get(&proc->signature->notes, (uint64_t)m->world + 1);
    struct note *n = of ? &of->of[m->seq % NOTES] : NULL;
    if (!n || !n->there || n->seq != m->seq)
        return 0;
    *out = *n;
    n->there = 0;
    return out->bytes == m->bytes;
}

static const char *type_text(uint32_t type)
{
    const char *name = type ? dt_predefined_name((int)type - 1) : NULL;
    return name ? name : "a derived datatype";
}

static int is_said(uint64_t sent, uint64_t took, uint32_t type, uint32_t other)
{
    struct map *said = &proc->signature->said;
    uint64_t key = hash_mix(hash_mix(hash_mix(1, sent), took), (uint64_t)type << 32 | other) | 1;
    if (map_get(said, key))
        return 1;
    map_put(said, key, said);
    return 0;
}

static void report(const struct p2p_told *m, const struct note *n)
{
    char sent[FINDING_PLACE] = "", took[FINDING_PLACE] = "";
    uint64_t site = site_portable((uint64_t)(uintptr_t)m->site);
    uint32_t type = type_of(m->type);
    if (is_said(n->site, site, n->type, type))
        return;
    pvar_set_add(pvar_proc(), PVAR_CHECK_VERDICTS, 1);
    site_text_until(LINE_NS, n->site, sent, sizeof sent);
    site_text_until(LINE_NS, site, took, sizeof took);
    log_warn("types of a message of %zu bytes with tag %d differ:", m->bytes, m->tag);
    log_warn("  rank %d sends %s%s%s", m->world, type_text(n->type), *sent ? " at " : "", sent);
    log_warn("  rank %d receives %s%s%s", boot_rank(), type_text(type), *took ? " at " : "", took);
    struct finding f = {.class = "signature", .ranks = 2, .rank = {m->world, boot_rank()}};
    finding_place(&f, sent);
    finding_place(&f, took);
    snprintf(f.text, sizeof f.text, "types of a message differ: sent as %s%s%s, received as %s%s%s",
             type_text(n->type), *sent ? " at " : "", sent, type_text(type), *took ? " at " : "",
             took);
    finding_add(&f);
}

static void on_told(const struct p2p_told *m)
{
    struct note n;
    if (!take_note(m, &n) || n.tag != m->tag || dt_sig_packed(m->type))
        return;
    if (dt_sig_hash_part(m->type, m->bytes) != n.hash)
        report(m, &n);
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct watcher watcher = {.sends = on_sends, .told = on_told};

int signature_init(void)
{
    if (!cvar.type_check)
        return 0;
    struct signature *s = proc->signature = calloc(1, sizeof *s);
    if (!s || place_open())
        return -ENOMEM;
    map_init(&s->notes);
    map_init(&s->said);
    am_handler(AM_SIGNATURE, on_note);
    return watch_add(&watcher);
}

void signature_finalize(void)
{
    struct signature *s = proc->signature;
    size_t at = 0;
    if (!s)
        return;
    watch_drop(&watcher);
    for (struct map_entry *e; (e = map_next(&s->notes, &at)) != NULL;)
        free(e->value);
    map_destroy(&s->notes);
    map_destroy(&s->said);
    place_close();
    free(s);
    proc->signature = NULL;
}
