/* texts.h - texts of Fortran, filled with blanks, into those of C, and back. */
#ifndef BIND_FORTRAN_TEXTS_H
#define BIND_FORTRAN_TEXTS_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* MPI counts from 0, Fortran from 1; a negative count (MPI_UNDEFINED): there are none. */
void indices_out(int count, int *indices);

/* Without the blanks at both ends, closed by 0, to be freed.  NULL where memory is missing: the
 * call then reports a null argument. */
char *string_in(const char *text, size_t len);
/* The same with the blanks in front, which belong to a name (MPI-3.1 section 6.8). */
char *string_kept(const char *text, size_t len);
/* Filled with blanks, cut where it is too long. */
void string_out(const char *from, char *text, size_t len);
/* `len` characters for each text, up to one that is blank; NULL: no memory. */
char **strings_in(const char *text, size_t len, size_t stride);
/* `count` texts. */
char **strings_of(const char *text, size_t len, int count);
void strings_free(char **s);

#pragma GCC visibility pop

#endif
