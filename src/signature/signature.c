/* signature.c - messages: notes of what is sent, and their comparison with what is received
 * (signature.h).
 * Start with on_leaves() and on_told().
 *
 * Exactness: a note goes when its message is the next one for that process, so it has its number. A
 * note that is missing is a message that is not compared: none is sent behind a failure, and to
 * another job, which may not compare. Tag and bytes must fit as well, so a note whose message never
 * left harms nothing. The note of a partitioned message goes with its set-up message, for all data
 * that follow.
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
#include "signature/signature_types.h"
#include "var/var.h"
#include "watch/watch.h"

enum { NOTES = 256 /* of a sender: the latest, a power of two */ };
static const uint64_t LINE_NS = 2000000000; /* others wait meanwhile */

struct note {
    struct amount amount;
    uint32_t seq;   /* of the message, as p2p_sent_to() counts */
    int32_t tag;
    uint32_t there; /* 0: none here, or compared */
};

struct notes { /* of a sender */
    struct note of[NOTES]; /* number n at n % NOTES */
};

int signature_is_quiet(void)
{
    return boot_failed_count() || proc->obj->revocations;
}

static uint32_t type_of(const struct dt_type *t)
{
    return t->basic ? (uint32_t)dt_predefined_index(t->basic) + 1 : DERIVED;
}

/* --- the sender ------------------------------------------------------------------------------- */

int signature_amount(const struct dt_type *t, int64_t count, const void *site, struct amount *out)
{
    size_t bytes = 0;
    if (count && (!t || dt_total(t, (size_t)count, &bytes)))
        return 0;
    memset(out, 0, sizeof *out);
    out->bytes = bytes;
    out->hash = bytes ? dt_sig_hash(t, (size_t)count) : 0;
    out->site = site_portable(site_of_program((uint64_t)(uintptr_t)site));
    out->type = !t ? DERIVED : dt_sig_packed(t) ? ANY_TYPE : type_of(t);
    return 1;
}

static int on_label(const struct dt_type *t, int64_t count, const void *site,
                    struct p2p_label *out)
{
    struct amount a;
    if (!signature_amount(t, count, site, &a) || !a.bytes)
        return 0;
    *out = (struct p2p_label){a.hash, a.bytes, a.site, a.type, 0};
    return 1;
}

/* Each message with a label has a note: so the note of one that did not leave goes with it. */
static int on_leaves(const struct p2p_leaves *m)
{
    const struct p2p_label *l = m->label;
    if (signature_is_quiet() || !boot_is_own(m->world))
        return 0;
    struct note n;
    memset(&n, 0, sizeof n);
    n.amount = (struct amount){l->hash, l->bytes, l->site, l->type};
    n.seq = m->seq;
    n.tag = m->tag;
    n.there = 1;
    struct iovec v = {&n, sizeof n};
    return am_request(m->world, AM_SIGNATURE, &v, 1, 0);
}

/* --- the receiver ----------------------------------------------------------------------------- */

static int on_note(int src, const void *msg, size_t len)
{
    struct signature *s = proc->signature;
    struct note n;
    if (!s || pairs_note(src, msg, len))
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
    return m->is_setup ? out->amount.bytes <= m->bytes : out->amount.bytes == m->bytes;
}

const char *signature_type_text(uint32_t type)
{
    const char *name = type == ANY_TYPE  ? "MPI_PACKED"
                       : type != DERIVED ? dt_predefined_name((int)type - 1)
                                         : NULL;
    return name ? name : "a derived datatype";
}

static int is_said(const struct amount *a, const struct amount *b)
{
    struct map *said = &proc->signature->said;
    uint64_t key = hash_mix(hash_mix(hash_mix(1, a->site), b->site),
                            (uint64_t)a->type << 32 | b->type) | 1;
    if (map_get(said, key))
        return 1;
    map_put(said, key, said);
    return 0;
}

void signature_report(const char *head, const char *brief, const struct signature_side side[2])
{
    char place[2][FINDING_PLACE] = {"", ""};
    const char *at[2];
    struct finding f = {.class = "signature"};
    if (is_said(side[0].amount, side[1].amount))
        return;
    pvar_set_add(pvar_proc(), PVAR_CHECK_VERDICTS, 1);
    for (int i = 0; i < 2; i++) {
        site_text_until(LINE_NS, side[i].amount->site, place[i], sizeof place[i]);
        at[i] = *place[i] ? " at " : "";
        finding_rank(&f, side[i].rank);
        finding_place(&f, place[i]);
    }
    log_warn("%s:", head);
    for (int i = 0; i < 2; i++)
        log_warn("  rank %d %s%s%s", side[i].rank, side[i].does, at[i], place[i]);
    snprintf(f.text, sizeof f.text, "%s: one side %s%s%s, the other %s%s%s", brief, side[0].does,
             at[0], place[0], side[1].does, at[1], place[1]);
    finding_add(&f);
}

static void report(const struct p2p_told *m, const struct amount *sent)
{
    struct amount took = {.site = site_portable((uint64_t)(uintptr_t)m->site),
                          .type = type_of(m->type)};
    struct signature_side side[2] = {{m->world, "", sent}, {boot_rank(), "", &took}};
    char head[96];
    snprintf(head, sizeof head, "types of a message of %llu bytes with tag %d differ",
             (unsigned long long)sent->bytes, m->tag);
    snprintf(side[0].does, sizeof side[0].does, "sends %s", signature_type_text(sent->type));
    snprintf(side[1].does, sizeof side[1].does, "receives %s", signature_type_text(took.type));
    signature_report(head, "types of a message differ", side);
}

static void on_told(const struct p2p_told *m)
{
    struct note n;
    if (!take_note(m, &n) || n.tag != m->tag || n.amount.type == ANY_TYPE || dt_sig_packed(m->type))
        return;
    if (dt_sig_hash_part(m->type, n.amount.bytes) != n.amount.hash)
        report(m, &n.amount);
}

/* --- life ------------------------------------------------------------------------------------- */

static void on_comm_freed(struct comm *c, enum watch_call call, const void *site)
{
    (void)call;
    (void)site;
    pairs_comm_freed(c);
}

static const struct watcher watcher = {
    .label = on_label, .leaves = on_leaves, .told = on_told, .begins = pairs_begins,
    .ended = pairs_ended, .may_follow = pairs_may_follow, .comm_freed = on_comm_freed};

int signature_init(void)
{
    if (!cvar.type_check)
        return 0;
    struct signature *s = proc->signature = calloc(1, sizeof *s);
    if (!s || place_open())
        return -ENOMEM;
    map_init(&s->notes);
    map_init(&s->said);
    pairs_init(s);
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
    pairs_destroy(s);
    place_close();
    free(s);
    proc->signature = NULL;
}
