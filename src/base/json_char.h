/* json_char.h - texts as JSON has them. */
#ifndef BASE_JSON_CHAR_H
#define BASE_JSON_CHAR_H

enum { JSON_CHAR = 8 }; /* bytes of `to`, with the 0 at its end */

/* One character of the text *s, as it stands between quotes; *s moves behind it. A byte that is no
 * UTF-8, as at the end of a text that was cut, becomes "?". Returns `to`. */
const char *json_next(const char **s, char to[JSON_CHAR]);

#endif
