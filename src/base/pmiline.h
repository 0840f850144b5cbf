/* pmiline.h - one line of the PMI-1 wire: "cmd=put kvsname=K key=k value=v".
 *
 * Shared by the client (boot/) and the server (launch/).  Words are separated by blanks; a word
 * without '=' is skipped, since other launchers put blanks into msg=.  Values that are bytes, or
 * text with blanks, travel as hexadecimal digits (doc/pmi-wire.md). */
#ifndef BASE_PMILINE_H
#define BASE_PMILINE_H

#include <stddef.h>

enum {
    PMI_KEY_MAX = 64,     /* bytes of a key, with the terminating zero: Hydra's limit */
    PMI_VALUE_MAX = 1024, /* bytes of a value, with the terminating zero: Hydra's limit */
    PMI_KVS_MAX = 256,    /* bytes of a KVS name, with the terminating zero */
    PMI_LINE_MAX = 4096,  /* bytes of a line, with the newline */
    PMI_WORDS_MAX = 16,   /* key=value words of one line */
};

struct pmi_line {
    int n;
    struct {
        const char *key, *value;
    } word[PMI_WORDS_MAX];
};

/* Cut `text` (without newline; written to) into words.  0, or -E2BIG when there are too many. */
int pmi_line_parse(char *text, struct pmi_line *line);
/* Value of the first word with this key, or NULL. */
const char *pmi_line_get(const struct pmi_line *line, const char *key);
/* The same as a decimal number.  0, or -EINVAL when missing, no number, or outside [min, max]. */
int pmi_line_int(const struct pmi_line *line, const char *key, int min, int max, int *out);

/* Bytes to hexadecimal text and back.  text needs 2 * len + 1 bytes. */
void pmi_hex(const void *bytes, size_t len, char *text);
/* *len in: room, out: bytes.  0; -EINVAL not hexadecimal; -EMSGSIZE too long. */
int pmi_unhex(const char *text, void *bytes, size_t *len);

#endif
