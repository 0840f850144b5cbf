/* finding.h - what the checkers have found, as records for machines (MPIR_CVAR_CHECK_FINDINGS).
 *
 *   align/, leak/, race/, a fatal error --- finding_add() ---> a line of the file, one JSON object
 *   mpiexec -check gives the ranks such a file, and makes one list of it at the end
 *
 * A line is written at once, by one write(2) that appends: so it is there whatever becomes of the
 * process, and lines of several processes do not mix. mpiexec takes lines that are equal up to
 * FINDING_RANKS_KEY for one finding of all their ranks. */
#ifndef FINDING_FINDING_H
#define FINDING_FINDING_H

#include <stddef.h>

/* The last member of a line: [1,2]}. It occurs nowhere else, since strings have \" for a quote. */
#define FINDING_RANKS_KEY ",\"ranks\":["

enum { FINDING_RANKS = 16, FINDING_PLACES = 8, FINDING_PLACE = 160, FINDING_TEXT = 1024 };
struct finding {
    const char *class; /* a word: check-my-program.md lists them */
    int ranks, rank[FINDING_RANKS];
    int places;
    char place[FINDING_PLACES][FINDING_PLACE];
    char text[FINDING_TEXT]; /* one sentence */
};

int finding_wanted(void); /* 0: finding_add() does nothing */
/* Each once; what finds no room is left out. */
void finding_rank(struct finding *f, int rank);
void finding_place(struct finding *f, const char *place);
/* The line of f without its \n, cut where `len` ends; its length. */
size_t finding_line(const struct finding *f, char *buf, size_t len);
void finding_add(const struct finding *f);
/* Prints it as a warning, counts it, and adds it. */
void finding_say(const struct finding *f);

#endif
