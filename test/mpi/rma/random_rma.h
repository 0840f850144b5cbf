/* random_rma.h - random one-sided programs with an exact oracle.
 *
 * From a seed every rank derives the same program: windows (flavour, size, displacement unit per
 * rank) and phases (fence, PSCW, locks, lock_all with flushes). Each origin has a list of
 * operations with random datatypes on both sides, which need not be equally long, by int and by
 * large counts. Every rank also keeps a model of every window and applies every operation to it in
 * the order of the text. What a rank fetches, and at the end of a phase its own memory, must equal
 * the model bit for bit.
 *
 * Programs are free of races by construction: in each phase the memory of a target is cut into
 * zones. A zone belongs to one origin, or is only read, or takes accumulates of all origins with
 * one commutative operation on one type. (Then only its final contents are checked.) Or it belongs
 * to two origins byte by byte: to one the elements of a pair type or a strided one, to the other
 * their gaps.
 *
 * No state outside the arguments: many ranks may run it in one process. */
#ifndef RANDOM_RMA_H
#define RANDOM_RMA_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* what to leave out (for libraries that cannot do it, and for narrowing a failure down) */
enum rr_without {
    RR_CAS = 1,
    RR_FETCH_TYPES = 2 /* derived types in get_accumulate */,
    RR_MISALIGNED = 4,
    RR_SHARED = 8,
    RR_DYNAMIC = 16,
    RR_CREATE = 32,
    RR_TYPES = 64 /* any derived type */,
    RR_PSCW = 128,
    RR_FENCE = 256,
    RR_LOCKS = 512,
    RR_LOCK_ALL = 1024,
    RR_REQUESTS = 2048,
    RR_NOCHECK = 4096,
    RR_BIG = 8192,
    RR_ACC = 16384,
    RR_CONCURRENT = 32768,
    RR_NEGATIVE = 65536,
    RR_MINMAX = 131072,
    RR_UNEQUAL = 262144 /* sides of unequal length */,
    RR_LARGE_COUNT = 524288 /* MPI_Put_c and its kin */,
    RR_GAPS = 1048576
};

struct rr_counts {
    long operations, fetched, phases;     /* of this rank */
};

/* Runs the program of `seed` on comm. Collective. Returns the number of things wrong at this rank;
 * the first of them is described in report (size room). counts may be NULL; values are added. */
int random_rma(uint64_t seed, unsigned without, MPI_Comm comm, char *report, size_t room,
               struct rr_counts *counts);

#endif
