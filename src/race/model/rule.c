/* rule.c - the standard's rules for two accesses to the same bytes that nothing orders
 * (MPI-3.1 11.7, MPI-4.1 12.7; memory model MPI_WIN_UNIFIED, which this library has). */
#include "dt/dt.h"
#include "race/model/model.h"

/* Without accumulates beside each other. Rows and columns: enum race_kind. Where two rules hold the
 * one that forbids is named. */
static const uint8_t rules[RACE_KINDS][RACE_KINDS] = {
    [RACE_LOAD] = {[RACE_STORE] = RACE_LANGUAGE, [RACE_PUT] = RACE_RULE_1,
                   [RACE_ACC] = RACE_RULE_1},
    [RACE_STORE] = {[RACE_LOAD] = RACE_LANGUAGE, [RACE_STORE] = RACE_LANGUAGE,
                    [RACE_GET] = RACE_RULE_3, [RACE_PUT] = RACE_RULE_5, [RACE_ACC] = RACE_RULE_5,
                    [RACE_READ] = RACE_RULE_3},
    [RACE_GET] = {[RACE_STORE] = RACE_RULE_3, [RACE_PUT] = RACE_RULE_4, [RACE_ACC] = RACE_RULE_4},
    [RACE_PUT] = {[RACE_LOAD] = RACE_RULE_1, [RACE_STORE] = RACE_RULE_5, [RACE_GET] = RACE_RULE_4,
                  [RACE_PUT] = RACE_RULE_4, [RACE_ACC] = RACE_RULE_4, [RACE_READ] = RACE_RULE_4},
    [RACE_ACC] = {[RACE_LOAD] = RACE_RULE_1, [RACE_STORE] = RACE_RULE_5, [RACE_GET] = RACE_RULE_4,
                  [RACE_PUT] = RACE_RULE_4},
    [RACE_READ] = {[RACE_STORE] = RACE_RULE_3, [RACE_PUT] = RACE_RULE_4},
};

static int accumulates(struct race_effect d)
{
    return d.kind == RACE_ACC || d.kind == RACE_READ;
}

static int reads_only(struct race_effect d)
{
    return d.kind == RACE_READ;
}

/* Compare_and_swap is an operation of its own. */
static enum race_rule two_accumulates(struct race_effect a, struct race_effect b, uint64_t apart,
                                      int one, enum race_accumulate ops)
{
    if (reads_only(a) && reads_only(b))
        return RACE_FINE;
    if (a.elem != b.elem || (a.esize && apart % a.esize))
        return RACE_ACC_TYPE;
    if (one || a.op == b.op || ops == RACE_ANY_OP)
        return RACE_FINE;
    if (ops == RACE_SAME_OP_NO_OP && (reads_only(a) || reads_only(b)))
        return RACE_FINE;
    return RACE_ACC_OP;
}

enum race_rule race_rule_of(struct race_effect a, struct race_effect b, uint64_t apart, int one,
                         enum race_accumulate ops)
{
    if (accumulates(a) && accumulates(b))
        return two_accumulates(a, b, apart, one, ops);
    enum race_rule r = (enum race_rule)rules[a.kind][b.kind];
    if (r == RACE_LANGUAGE && ((a.flags | b.flags) & RACE_BUFFER))
        return (a.flags | b.flags) & RACE_MESSAGE ? RACE_IN_MESSAGE : RACE_IN_USE;
    return r;
}

int race_effect_covers(struct race_effect now, struct race_effect old)
{
    if ((now.flags | old.flags) & RACE_HULL)
        return 0;
    return now.kind == old.kind && now.op == old.op && now.elem == old.elem &&
           now.esize == old.esize && now.flags == old.flags;
}

unsigned race_conflicting_kinds(enum race_kind kind)
{
    unsigned kinds = 0;
    for (int k = 0; k < RACE_KINDS; k++)
        if (rules[kind][k])
            kinds |= 1u << k;
    if (kind == RACE_ACC)
        kinds |= 1u << RACE_ACC | 1u << RACE_READ;
    return kind == RACE_READ ? kinds | 1u << RACE_ACC : kinds;
}

const char *race_rule_text(enum race_rule r)
{
    static const char *const texts[RACE_RULES] = {
        [RACE_FINE] = "",
        [RACE_RULE_1] = "MPI-3.1 11.7 (4.1 12.7), unified model, rule 1: a load beside an update",
        [RACE_RULE_2] = "MPI-3.1 11.7 (4.1 12.7), unified model, rule 2",
        [RACE_RULE_3] = "MPI-3.1 11.7 (4.1 12.7), unified model, rule 3: a store beside a get",
        [RACE_RULE_4] = "MPI-3.1 11.7 (4.1 12.7), unified model, rule 4: an update beside another "
                        "operation",
        [RACE_RULE_5] = "MPI-3.1 11.7 (4.1 12.7), unified model, rule 5: a store beside an update",
        [RACE_ACC_TYPE] = "MPI-3.1 11.7.1 (4.1 12.7.1): accumulates are atomic only with the same "
                          "predefined type on the same elements",
        [RACE_ACC_OP] = "MPI-3.1 11.2.1 (4.1 12.2.1), accumulate_ops: accumulates are atomic only "
                        "with the same operation, or MPI_NO_OP",
        [RACE_ACC_WIN] = "MPI-3.1 11.7 (4.1 12.7), unified model, rule 5: an update beside one "
                         "through another window of the same memory",
        [RACE_IN_USE] = "MPI-3.1 11.3 (4.1 12.3): the buffer is in use until the call is complete",
        [RACE_IN_MESSAGE] = "MPI-3.1 3.7.2, 5.12 (4.1 3.7.2, 6.12): the buffer is in use until the "
                            "call is complete",
        [RACE_LANGUAGE] = "loads and stores that nothing orders",
    };
    return texts[r];
}
