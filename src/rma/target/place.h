/* place.h - where an operation of a packet acts, and what is done there (private). */
#ifndef RMA_PLACE_H
#define RMA_PLACE_H

#include "rma/coherent/home.h"
#include "rma/target/target_types.h"

struct place {
    struct dt_type *t;   /* layout; NULL: runs */
    size_t count, from, len;
    char *at;            /* address of the target buffer */
    uint64_t off;        /* the same as an offset in the window */
    const struct rma_run *runs;
    unsigned nruns;
    struct dt_type *elem; /* accumulates */
    const char *data;
    size_t data_len;
};

/* --- place.c: MPI error classes or 0 ---- */
int rma_place_find(struct rma_win *w, const struct rma_hdr *h, const char *payload,
                   struct place *p);
/* Does [disp + lo, disp + hi) lie in the window? *at: address of disp, which may be NULL:
 * MPI_BOTTOM. */
int rma_window_at(struct rma_win *w, uint64_t disp, int64_t lo, int64_t hi, uint64_t *off,
                  char **at);
int rma_run_put(const struct place *p);
/* Data for the answer: in place when contiguous, else packed. */
const char *rma_run_get(const struct place *p, char *buf);
int rma_run_acc(struct rma_win *w, const struct rma_hdr *h, const struct place *p, char *result);
int rma_run_cas(struct rma_win *w, const struct place *p, char *result);
/* *bad: the displacement of the first that failed, else of the last. */
int rma_run_coalesced(struct rma_win *w, const struct rma_hdr *h, const char *at,
                      struct rma_hdr *bad);

/* --- fault.c ---- */
struct rma_fault rma_fault_of(const struct rma_win *w, const struct rma_hdr *h,
                              const struct place *p, int cls);
/* Store the first error of an origin's channel for the next answer to that. h: of the packet. */
void rma_fault_keep(struct rma_win *w, const struct rma_hdr *h, const struct rma_fault *f);
/* 1: *f is the error stored for that origin and channel. */
int rma_fault_take(struct rma_win *w, const struct rma_hdr *h, struct rma_fault *f);

#endif
