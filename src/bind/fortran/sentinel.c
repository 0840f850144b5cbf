/* sentinel.c - sentinels and texts of Fortran into those of C, and back. */
#include "bind/fortran/fort.h"

#include <string.h>

#pragma GCC visibility push(default)
#define ALIGNED __attribute__((aligned(16))) /* as gfortran places common blocks */
__typeof__(mpipriv1_) mpipriv1_ ALIGNED;
__typeof__(mpipriv2_) mpipriv2_ ALIGNED;
char mpiprivc_[2] ALIGNED;
MPI_Fint mpifcmb5_ ALIGNED, mpifcmb9_ ALIGNED, mpifcmba_ ALIGNED;
#pragma GCC visibility pop

/* For MPI_Status_f2c and its like in C. */
__attribute__((constructor)) static void set_for_c(void)
{
    MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
    MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
}

void *buf_in(void *buf)
{
    if (buf == &mpipriv1_.bottom || buf == &MPIR_F08_MPI_BOTTOM)
        return MPI_BOTTOM;
    if (buf == &mpipriv1_.in_place || buf == &MPIR_F08_MPI_IN_PLACE)
        return MPI_IN_PLACE;
    if (buf == &mpifcmba_ || buf == &__mpi_f08_link_constants_MOD_mpi_buffer_automatic)
        return MPI_BUFFER_AUTOMATIC;
    return buf;
}

MPI_Status *status_in(MPI_Fint *status)
{
    if (status == mpipriv1_.status_ignore || status == mpipriv2_.statuses_ignore ||
        status == (void *)&MPIR_F08_MPI_STATUS_IGNORE_OBJ ||
        status == (void *)MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
        return MPI_STATUS_IGNORE;
    return (MPI_Status *)(void *)status;
}

int *weights_in(MPI_Fint *weights)
{
    if (weights == &mpifcmb5_ || weights == __mpi_f08_link_constants_MOD_mpi_unweighted)
        return MPI_UNWEIGHTED;
    if (weights == &mpifcmb9_ || weights == __mpi_f08_link_constants_MOD_mpi_weights_empty)
        return MPI_WEIGHTS_EMPTY;
    return weights;
}

void indices_out(int count, MPI_Fint *indices)
{
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
        indices[i]++;
}

char *string_in(const char *text, size_t len)
{
    while (len && *text == ' ')
        text++, len--;
    return string_kept(text, len);
}

char *string_kept(const char *text, size_t len)
{
    while (len && text[len - 1] == ' ')
        len--;
    char *s = malloc(len + 1);
    if (!s)
        return NULL;
    memcpy(s, text, len);
    s[len] = 0;
    return s;
}

void string_out(const char *from, char *text, size_t len)
{
    size_t n = strlen(from);
    if (n > len)
        n = len;
    memcpy(text, from, n);
    memset(text + n, ' ', len - n);
}

void strings_free(char **s)
{
    for (char **p = s; p && *p; p++)
        free(*p);
    free(s);
}

static char **strings(const char *text, size_t len, size_t stride, size_t count)
{
    char **s = calloc(count + 1, sizeof *s);
    for (size_t i = 0; s && i < count; i++) {
        s[i] = string_in(text + i * stride, len);
        if (!s[i]) {
            strings_free(s);
            return NULL;
        }
    }
    return s;
}

char **strings_in(const char *text, size_t len, size_t stride)
{
    size_t count = 0, blanks = 0;
    for (;;) {
        const char *one = text + count * stride;
        for (blanks = 0; blanks < len && one[blanks] == ' '; blanks++)
            ;
        if (blanks == len)
            return strings(text, len, stride, count);
        count++;
    }
}

char **strings_of(const char *text, size_t len, int count)
{
    return strings(text, len, len, count > 0 ? (size_t)count : 0);
}
