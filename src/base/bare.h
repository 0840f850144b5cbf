/* bare.h - BARE: a short function of a hot path without the stack protector (configure,
 * --disable-hardening).
 *
 * It has no array on its stack.  But it takes the address of a local, and then
 * -fstack-protector-strong adds six instructions, which test/perf/calls.test counts. */
#ifndef BASE_BARE_H
#define BASE_BARE_H

#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define BARE __attribute__((no_stack_protector))
#endif
#endif
#ifndef BARE
#define BARE
#endif

#endif
