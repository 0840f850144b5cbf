/* fake.h - runs the schedules of all members of a communicator in one process, over a transport
 * made of lists.
 *
 *   fake_open(a, b)      a members (b = 0), or an intercommunicator of a and b
 *   f.args[i] = ...      what member i calls
 *   fake_run()           builds every member's schedule and carries it out, members taking turns in
 *                        a random order; checks that messages meet by tag and size and that none
 *                        is left
 *   fake_close()
 * Use inside job_run(1, ...): an assertion that fails ends the process. */
#ifndef FAKE_H
#define FAKE_H

#include <stdint.h>

#include "coll/coll_types.h"
#include "job.h"

enum { FAKE_MAX = 16 };

struct fake {
    int a, b, p; /* group sizes; p = a + b */
    struct comm comm[FAKE_MAX], local[FAKE_MAX];
    struct coll_args args[FAKE_MAX];
    struct sched *s[FAKE_MAX];
    long messages; /* of all runs */
};
extern struct fake f;

void fake_init(void); /* once per process */
void fake_algorithms(const char *text); /* MPIR_CVAR_COLL_ALGORITHMS */
void fake_open(int a, int b);
void fake_close(void);
/* Same call by all; the buffers are set by the caller member by member. */
void fake_call(enum coll_call call, struct dt_type *t, struct dt_op *op, int root);
void fake_run(void);

struct dt_type *fake_int(void); /* MPI_INT */
/* Affine maps x -> ax + b modulo 65521 as 64-bit numbers: their composition is associative and does
 * not commute. */
struct dt_type *fake_map_type(void);
struct dt_op *fake_compose(void);
uint64_t fake_map(int member, int i);           /* operand i of a member */
uint64_t fake_map_range(int from, int to, int i); /* operands of [from, to) composed in order */

#endif
