/* onesided.h - the memory of one process and those that access it: what onesided.c, atomics.c and
 * keys.c share. */
#ifndef DOCTOR_ONESIDED_H
#define DOCTOR_ONESIDED_H

#include "doctor/doctor.h"
#include "doctor/forked.h"

enum { BYTES = 3 << 20, LOCAL = 2 << 20, GUARD = 64 };

struct one_box {
    struct end e;
    int owner;
    struct mem_segment *seg; /* the owner's memory as the kernel shows it */
    unsigned char *truth;    /* seg->base */
    struct tp_mem *mem;      /* owner: registered */
    struct tp_far *far;      /* others: imported */
    unsigned char *buf;      /* LOCAL bytes for operations */
    struct tp_mem *local;    /* registered where the transport wants that */
};
extern struct one_box one;

int one_offered(void);
void one_open(void);
void one_close(void);
void one_poll(void);
void one_barrier(void);

struct counted {
    struct tp_done d;
    int calls, err;
};

void one_count(struct tp_done *d, int err);
/* Wait for what an entry answered; 0: done, TP_AGAIN: call it again. */
int one_settle(int answer, struct counted *c);

#define DO(call)                                    \
    do {                                            \
        struct counted c = {{one_count}, 0, 0};     \
        while (one_settle((call), &c) == TP_AGAIN)  \
            continue;                               \
    } while (0)

void one_put(size_t off, size_t from, size_t len);
void one_get(size_t off, size_t to, size_t len);
void one_flush(void);
/* What completed or was flushed lies at `off`: else the check fails, as EARLY if it comes within a
 * second, and as TORN. */
void one_landed(size_t off, const void *what, size_t len);
int one_plain(const unsigned char *p, size_t len); /* all zero */

#endif
