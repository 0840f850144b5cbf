/* contract.h - the transports that the contract is tested on (contract.c: life and messages;
 * onesided.c: the rest). */
#ifndef TP_CONTRACT_H
#define TP_CONTRACT_H

#include "tp/tp_types.h"

struct row {
    const struct tp_ops *ops;
    int few, many;   /* processes of the tests for two and for a crowd */
    const char *set; /* a variable, or NULL */
    const char *env; /* a variable of the network's library, or NULL */
    int waits;       /* what stays where it is has always left only later; else it may go at once,
                      * and whether it stays is tested elsewhere */
    unsigned flags;  /* what it has to offer, no less (a test of what is not there passes) and no
                      * more */
    unsigned atomic_sizes;
};
extern const struct row rows[];
extern const int rows_count;

/* One open transport in one process of a test. */
struct end {
    const struct row *row;
    const struct tp_ops *ops;
    struct tp *tp;
    struct tp_caps caps;
    int rank, size;
};
typedef int end_recv_fn(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len);

/* Open the transport of the row that runs and publish its address; a boot_barrier() must follow. */
void end_open(struct end *e, end_recv_fn *recv, void *up);
void end_connect(struct end *e, int peer);
void end_poll(struct end *e);
/* All processes come here; one that waits still serves the others, as in MPI_Finalize. */
void end_barrier(struct end *e);
/* The last barrier. Behind it no process turns a transport: a peer may have closed its own
 * (tp.h). */
void end_leave(struct end *e);
void end_close(struct end *e);

/* The row `_i` of a loop test: fn in so many processes. */
int row_run(const struct row *r, int processes, void (*fn)(void));
#define EACH(test, processes)                                                 \
    START_TEST(test##_)                                                       \
    {                                                                         \
        ck_assert_int_eq(row_run(&rows[_i], rows[_i].processes, test), 0);    \
    }                                                                         \
    END_TEST

#endif
