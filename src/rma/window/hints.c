/* hints.c - info keys of a window: which are valid, which are in effect. Start with
 * rma_hints_take(). */
#include "rma/window/window_types.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum hint_kind { HINT_TEXT, HINT_TRUTH, HINT_ORDER, HINT_OPS, HINT_NUMBER, HINT_COVERS };

static const struct {
    const char *key, *value; /* default */
    enum hint_kind kind;
    int made; /* fixed at creation: later values are ignored */
} hints[] = {{"no_locks", "false", HINT_TRUTH, 0},
             {"accumulate_ordering", "rar,raw,war,waw", HINT_ORDER, 0},
             {"accumulate_ops", "same_op_no_op", HINT_OPS, 0},
             {"mpi_accumulate_granularity", "0", HINT_NUMBER, 1},
             {"same_size", "false", HINT_TRUTH, 0},
             {"same_disp_unit", "false", HINT_TRUTH, 0},
             {"alloc_shared_noncontig", "false", HINT_TRUTH, 0}, /* reported as last set, as MPICH
                                                                  * does: its test rma/win_info */
             {"mpi_assert_memory_alloc_kinds", NULL, HINT_TEXT, 0},
             {"mpix_notify_num", NULL, HINT_NUMBER, 0},
             {"mpix_notify_order", "operation", HINT_COVERS, 0},
             {"mpix_race_announce", NULL, HINT_TRUTH, 0}, /* of SHMEM (race/sync/note_clock.c) */
             {"mpix_win_spaces", NULL, HINT_TEXT, 1},
             {"mpix_win_buffers", NULL, HINT_TEXT, 1},
             {"mpix_win_tile", NULL, HINT_NUMBER, 1},
             {"mpix_win_bytes", NULL, HINT_NUMBER, 1},
             {"mpix_win_replicas", NULL, HINT_NUMBER, 1}};
enum { HINTS = sizeof hints / sizeof *hints };

static void hints_apply(struct rma_win *w)
{
    w->ordered_acc = strcmp(info_value(w->info, "accumulate_ordering"), "none") != 0;
    w->notes.covers = !strcmp(info_value(w->info, "mpix_notify_order"), "target");
    w->orders |= w->notes.covers;
    if (w->orders)
        rma_recents_hide(w);
    w->no_locks = (uint8_t)(w->parent || info_truth(w->info, "no_locks", 0));
}

/* Lists of rar, raw, war, waw in any order, or none. */
static int is_ordering(const char *v)
{
    if (!strcasecmp(v, "none"))
        return 1;
    for (;; v += 4) {
        if (strncasecmp(v, "rar", 3) && strncasecmp(v, "raw", 3) && strncasecmp(v, "war", 3) &&
            strncasecmp(v, "waw", 3))
            return 0;
        if (v[3] != ',')
            return v[3] == '\0';
    }
}

static int is_number(const char *v)
{
    size_t digits = strspn(v, "0123456789");
    return digits > 0 && digits < 10 && !v[digits];
}

/* An invalid value is ignored, as an unknown key is: MPI_Win_get_info reports what is in effect. */
static int is_hint(enum hint_kind kind, const char *v)
{
    switch (kind) {
    case HINT_TRUTH:
        return !strcasecmp(v, "true") || !strcasecmp(v, "false");
    case HINT_ORDER:
        return is_ordering(v);
    case HINT_OPS:
        return !strcasecmp(v, "same_op") || !strcasecmp(v, "same_op_no_op") ||
               !strcasecmp(v, "any_op"); /* ours: of SHMEM (doc/design/shmem.md) */
    case HINT_COVERS:
        return !strcasecmp(v, "operation") || !strcasecmp(v, "target");
    case HINT_NUMBER:
        return is_number(v);
    default:
        return 1;
    }
}

/* As the library reports it: in lower case. */
static int hint_put(struct info *i, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL + 1];
    size_t n = 0;
    for (; value[n] && n < MPI_MAX_INFO_VAL; n++)
        text[n] = (char)tolower((unsigned char)value[n]);
    text[n] = '\0';
    return info_put(i, key, text);
}

int rma_hints_take(struct rma_win *w, const struct info *given, int made)
{
    if (!w->info)
        w->info = info_make();
    if (!w->info)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", rma_call());
    for (int i = 0; i < HINTS; i++) {
        const char *v = given && !(made && hints[i].made) ? info_value(given, hints[i].key) : NULL;
        if (v && !is_hint(hints[i].kind, v))
            v = NULL;
        if (!v && !info_value(w->info, hints[i].key))
            v = hints[i].value;
        if (v && hint_put(w->info, hints[i].key, v))
            return err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", rma_call());
    }
    if (!made)
        rma_promise_take(w, given);
    hints_apply(w);
    return MPI_SUCCESS;
}

int rma_copies_wanted(struct rma_win *w, const struct rma_plan *p)
{
    const char *text = info_value(w->info, "mpix_win_replicas");
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    if (p->from)
        n = p->from->copies;
    else if (n && (w->flavor != MPI_WIN_FLAVOR_ALLOCATE || w->mem.stays))
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                        "%s: the info key mpix_win_replicas needs MPI_Win_allocate", rma_call());
    w->copies = n < (unsigned)w->size ? (unsigned)n : (unsigned)w->size - 1;
    return MPI_SUCCESS;
}

unsigned rma_acc_hints(const struct rma_win *w)
{
    unsigned h = 0;
    enum { ELEMENT_MOST = 16 }; /* bytes of the longest predefined element */
    const char *grain = info_value(w->info, "mpi_accumulate_granularity");
    if (grain && atoll(grain) > 0 && atoll(grain) <= ELEMENT_MOST)
        h |= ACC_SINGLE_ELEMENTS;
    if (rma_promise_single(w))
        h |= ACC_SINGLE_ELEMENTS;
    return h;
}

int rma_win_set_info(struct rma_win *w, struct info *info)
{
    int err = w->parent ? rma_dup_hints(w) : rma_dups_hints(w);
    if (!err)
        err = rma_hints_take(w, info, 1);
    const char *num = info && !w->parent ? info_value(info, "mpix_notify_num") : NULL;
    return err || !num || !is_number(num) ? err : rma_notes_hint(w);
}

/* For memory made here: a known divisor of its address and of its peers' parts' addresses
 * (bytes). */
static int64_t alignment_had(const struct rma_win *w)
{
    uintptr_t at = (uintptr_t)w->base, low = at & -at;
    return (int64_t)(at && low < w->mem.align ? low : w->mem.align);
}

/* How this process's elements are changed, as far as it knows. */
static const char *changed_by(const struct rma_win *w)
{
    if (!acc_ctl_atomic(rma_near_own(w)->acc))
        return "stripes";
    return w->native.acc ? "network" : "processor";
}

/* The key that was given, with what is in effect. */
static int put_copies(const struct rma_win *w, struct info *i)
{
    char text[24];
    snprintf(text, sizeof text, "%u", w->copies);
    return info_value(i, "mpix_win_replicas") && info_put(i, "mpix_win_replicas", text);
}

/* Texts that are no numbers. 0, or not 0: no memory. */
static int put_texts(const struct rma_win *w, struct info *i)
{
    enum { TEXT = 320 };
    char serves[TEXT], op_text[TEXT], type_text[TEXT];
    rma_serves_text(rma_serves_worst(w), serves, sizeof serves);
    rma_promise_text(w, op_text, type_text, TEXT);
    return info_put(i, "large_pages", w->mem.large_pages ? "true" : "false") ||
           info_put(i, "mpix_progress", serves) || info_put(i, "mpix_accumulate_ops", op_text) ||
           info_put(i, "mpix_accumulate_types", type_text) ||
           info_put(i, "mpix_accumulate_by", changed_by(w));
}

int rma_win_get_info(struct rma_win *w, struct info **out)
{
    char text[24];
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"slots", w->table.nslots},
                 {"op_win_pool", w->table.op_quota.size},
                 {"target_win_pool", w->table.target_quota.size},
                 {"lock_entries", cvar.rma_lock_entries},
                 {"piggyback_threshold", cvar.rma_hold},
                 {"mpix_notify_num", rma_root(w)->notes.num},
                 {"mpi_minimum_memory_alignment", alignment_had(w)}};
    size_t told = sizeof sizes / sizeof *sizes;
    if (!rma_memory_ours(w))
        told--; /* the last */
    struct info *i = info_copy(w->info ? w->info : w->parent->info);
    if (i && (put_texts(w, i) || put_copies(w, i))) {
        info_drop(i);
        i = NULL;
    }
    for (size_t k = 0; i && k < told; k++) {
        snprintf(text, sizeof text, "%lld", (long long)sizes[k].value);
        if (info_put(i, sizes[k].key, text)) {
            info_drop(i);
            i = NULL;
        }
    }
    *out = i;
    return i ? MPI_SUCCESS : err_make(MPI_ERR_NO_MEM, "%s: no memory for hints", rma_call());
}
