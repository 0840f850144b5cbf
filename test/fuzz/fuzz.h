/* fuzz.h - what the fuzz targets share.
 *
 * A target is a program: LLVMFuzzerTestOneInput() of one source, linked with libFuzzer, or with
 * driver.c where there is none.  An input that breaks a rule ends the program by fuzz_fail(), a
 * sanitizer or a time limit.
 *
 * Inputs of the packet targets are a few bytes of settings, then records:
 *
 *     | op | a | b | c | n (2 bytes) | n bytes |   ...
 *
 * so that a mutator may insert, drop, move and change whole steps (mutate.c); fuzz_template() of
 * the target makes steps that are nearly right, since random bytes would be refused at the first
 * look. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen,
                                 uint8_t *out, size_t max_out, unsigned int seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* A rule was broken: print which, stop. */
void fuzz_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define FUZZ_CHECK(cond) ((cond) ? (void)0 : fuzz_fail("%s:%d: %s", __FILE__, __LINE__, #cond))

/* FUZZ_VERBOSE is set: records and the library's warnings are shown. */
int fuzz_verbose(void);
ssize_t fuzz_write(int fd, const void *bytes, size_t len);

/* --- records ------------------------------------------------------------------------- */
enum { RECORD_HEAD = 6 };

struct feed {
    const uint8_t *at, *end;
};
struct record {
    uint8_t op, a, b, c;
    const uint8_t *data;
    size_t len;
};
/* The next record, cut where the input ends; 0: no more. */
int feed_record(struct feed *f, struct record *r);
/* Copy up to n bytes of the input from `at`, zeroes for what is not there. */
void feed_copy(void *to, size_t n, const uint8_t *at, const uint8_t *end);

/* --- mutator --------------------------------------------------------------------------- */
struct rng {
    uint64_t state;
};
uint64_t rng_bits(struct rng *r);
static inline unsigned rng_below(struct rng *r, unsigned n)
{
    return (unsigned)(rng_bits(r) % n);
}
/* A number that is likely to sit on some edge. */
uint64_t rng_edge(struct rng *r);
size_t record_put(uint8_t *to, unsigned op, unsigned a, unsigned b, unsigned c, const void *data,
                  size_t len);

/* By the target: bytes of settings at the front; a new record of at most `room` bytes (0: none). */
extern const size_t fuzz_settings;
size_t fuzz_template(struct rng *r, uint8_t *to, size_t room);

/* --- what was reached --------------------------------------------------------------------- */
/* Count one more time that the thing called `what` (its text is kept) was reached.  The counts go
 * to the file named by FUZZ_REACHED when the program ends. */
void fuzz_reached(const char *group, const char *what);

#endif
