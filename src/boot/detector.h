/* detector.h - what processes that watch each other send on the wire and publish (private to boot/;
 * detector.c).  Fixed widths, host byte order unless noted: all hosts of a job are alike. */
#ifndef BOOT_DETECTOR_H
#define BOOT_DETECTOR_H

#include <stdint.h>

#include "boot/boot.h"

enum {
    DETECTOR_SPOTS = 4, /* addresses on a card */
    DETECTOR_FAILURES = 16  /* failures in one answer */
};

struct detector_spot { /* one address */
    uint8_t bytes[16]; /* as on the wire; an IPv4 address is the first four */
    uint16_t port;     /* as on the wire */
    uint8_t v6, unused;
};

struct detector_card { /* what a process publishes about itself */
    uint64_t hello, answer; /* secrets: the question carries the first, the answer the second */
    char host[36];
    uint32_t spots;
    struct detector_spot spot[DETECTOR_SPOTS];
};

struct detector_hello { /* the question */
    uint64_t secret;
    uint32_t rank, unused;
};

struct detector_obituary {
    uint32_t rank, scope; /* enum boot_scope */
    char why[BOOT_WHY_MAX]; /* boot_failed_why() */
};

struct detector_answer { /* the answer */
    uint64_t secret;
    uint32_t deaths, unused;
    struct detector_obituary death[DETECTOR_FAILURES]; /* only `deaths` of them are sent */
};
_Static_assert(sizeof(struct detector_card) <= BOOT_CARD_MAX, "rooms above have room for it");

#endif
