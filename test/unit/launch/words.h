/* words.h - a command line in one text, for args_parse(). */
#ifndef TEST_LAUNCH_WORDS_H
#define TEST_LAUNCH_WORDS_H

#include <stdio.h>
#include <string.h>

#include "launch/args.h"

static char words_text[2048], *words[128];
static char msg[512];

/* Words are separated by blanks; ' stands for an empty word. end: a last word, or "". */
static inline int parse_line(struct args *a, const char *line, const char *end)
{
    static char empty[] = "";
    int n = 0;
    snprintf(words_text, sizeof words_text, "mpiexec %s %s", line, end);
    for (char *w = strtok(words_text, " "); w; w = strtok(NULL, " "))
        words[n++] = strcmp(w, "'") ? w : empty;
    words[n] = NULL;
    *msg = 0;
    return args_parse(a, n, words, msg, sizeof msg);
}

#endif
