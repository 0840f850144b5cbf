/* section.c - array sections of mpi_f08: copied for calls that are done when they return, described
 * by a datatype for the others. Start with whole_begin() and view_begin(). */
#include "bind/fortran/fort.h"

#include <stdio.h>
#include <string.h>

static ptrdiff_t step(const struct desc *d, int i)
{
    return d->dim[i].step;
}

static ptrdiff_t extent(const struct desc *d, int i)
{
    return d->dim[i].extent;
}

const struct desc *desc_in(struct desc *to, const struct own_desc *from)
{
    ptrdiff_t span = from->span ? from->span : (ptrdiff_t)from->elem;
    *to = (struct desc){.base = from->base, .elem = from->elem, .rank = from->rank};
    for (int i = 0; i < from->rank; i++) {
        to->dim[i].extent = from->dim[i].upper - from->dim[i].lower + 1;
        to->dim[i].step = from->dim[i].stride * span;
    }
    return to;
}

/* Types of C's descriptor, and gfortran's numbers, of which texts and records differ. */
const struct own_desc *desc_out(struct own_desc *to, const struct desc *from)
{
    int type = from->type & 0xff, is_whole = from->elem != 0;
    for (int i = 0; i < from->rank; i++)
        is_whole = is_whole && step(from, i) % (ptrdiff_t)from->elem == 0;
    *to = (struct own_desc){.base = from->base, .elem = from->elem, .rank = from->rank};
    to->type = (signed char)(type == 5 ? 6 : type == 6 ? 5 : type);
    to->span = is_whole ? (ptrdiff_t)from->elem : 1;
    for (int i = 0; i < from->rank; i++) {
        to->dim[i].lower = 1;
        to->dim[i].upper = extent(from, i);
        to->dim[i].stride = step(from, i) / to->span;
        to->offset -= (size_t)to->dim[i].stride;
    }
    return to;
}

int section_contiguous(const struct desc *d)
{
    if (!d->base) /* not allocated, as a receive buffer where there is nothing to receive */
        return 1;
    /* Without elements, or an array of assumed size, which has no upper bound. */
    for (int i = 0; i < d->rank; i++)
        if (extent(d, i) <= 0)
            return 1;
    ptrdiff_t next = (ptrdiff_t)d->elem;
    for (int i = 0; i < d->rank; i++) {
        if (extent(d, i) > 1 && step(d, i) != next)
            return 0;
        next *= extent(d, i);
    }
    return 1;
}

static size_t elements(const struct desc *d)
{
    size_t n = 1;
    for (int i = 0; i < d->rank; i++)
        n *= (size_t)extent(d, i);
    return n;
}

/* --- copies -------------------------------------------------------------------------------- */

/* One dimension after the other, the last one outside. Returns the end of the bytes of `flat`. */
static char *copy_dim(const struct desc *d, int dim, char *at, char *flat, int back)
{
    if (dim < 0) {
        if (back)
            memcpy(at, flat, d->elem);
        else
            memcpy(flat, at, d->elem);
        return flat + d->elem;
    }
    for (ptrdiff_t i = 0; i < extent(d, dim); i++)
        flat = copy_dim(d, dim - 1, at + i * step(d, dim), flat, back);
    return flat;
}

void whole_begin(struct whole *w, const struct desc *d)
{
    *w = (struct whole){.section = d, .base = buf_in(d->base)};
    if (section_contiguous(d))
        return;
    w->base = w->copy = malloc(elements(d) * d->elem);
    if (!w->copy)
        PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM); /* as gfortran, where its own copy fails */
    copy_dim(d, d->rank - 1, d->base, w->copy, 0);
}

void whole_end(struct whole *w, int back)
{
    if (!w->copy)
        return;
    if (back)
        copy_dim(w->section, w->section->rank - 1, w->section->base, w->copy, 1);
    free(w->copy);
}

/* --- datatypes ----------------------------------------------------------------------------- */

/* The basic type of one element of the array: the program's datatype, or several of it where the
 * element has more, or bytes where the datatype has several elements.  *per: datatypes in one
 * element, or minus the number of elements in one datatype; 0: it does not fit. */
static MPI_Datatype element_type(const struct desc *d, MPI_Datatype type, MPI_Count *per)
{
    MPI_Count size = 0, lb = 0, ext = 0, elem = (MPI_Count)d->elem;
    int ints, addresses, types, combiner = MPI_COMBINER_NAMED;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    *per = 0;
    if (PMPI_Type_size_x(type, &size) || PMPI_Type_get_extent_x(type, &lb, &ext) ||
        PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner))
        return MPI_DATATYPE_NULL;
    int is_named = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
                   combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    if (!is_named || !size || size != ext || lb)
        return MPI_DATATYPE_NULL;
    if (elem % size == 0) {
        if (!PMPI_Type_contiguous_c(elem / size, type, &made))
            *per = elem / size;
    } else if (size % elem == 0 && !PMPI_Type_contiguous_c(elem, MPI_BYTE, &made)) {
        *per = -(size / elem);
    }
    return made;
}

/* n elements in array order, which is not all of the section: by the place of each. */
static int some_elements(const struct desc *d, MPI_Count n, MPI_Datatype one, MPI_Datatype *made)
{
    MPI_Count *place = malloc((size_t)n * sizeof *place);
    ptrdiff_t at[15] = {0};
    if (!place)
        return MPI_ERR_NO_MEM;
    for (MPI_Count k = 0; k < n; k++) {
        place[k] = 0;
        for (int i = 0; i < d->rank; i++)
            place[k] += at[i] * step(d, i);
        for (int i = 0; i < d->rank && ++at[i] == extent(d, i); i++)
            at[i] = 0;
    }
    int rc = PMPI_Type_create_hindexed_block_c(n, 1, place, one, made);
    free(place);
    return rc;
}

static int section_type(const struct desc *d, MPI_Count n, MPI_Datatype one, MPI_Datatype *made)
{
    if ((size_t)n != elements(d) && d->rank > 1)
        return some_elements(d, n, one, made);
    MPI_Datatype inner = one;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < d->rank && !rc; i++) {
        MPI_Datatype next = MPI_DATATYPE_NULL;
        MPI_Count count = d->rank == 1 ? n : extent(d, i);
        rc = PMPI_Type_create_hvector_c(count, 1, step(d, i), inner, &next);
        if (inner != one)
            PMPI_Type_free(&inner);
        inner = next;
    }
    *made = inner;
    return rc;
}

void view_begin(struct view *v, const struct desc *d, MPI_Count count, MPI_Datatype type)
{
    *v = (struct view){.base = buf_in(d->base), .count = count, .type = type};
    if (section_contiguous(d) || count <= 0 || type == MPI_DATATYPE_NULL)
        return;
    MPI_Count per, n = 0;
    MPI_Datatype one = element_type(d, type, &per), made = MPI_DATATYPE_NULL;
    if (per > 0 && count % per == 0)
        n = count / per;
    else if (per < 0)
        n = count * -per;
    /* What does not fit goes on without a datatype, which the call reports. */
    v->count = 1;
    v->type = MPI_DATATYPE_NULL;
    if (n && (size_t)n <= elements(d) && !section_type(d, n, one, &made) &&
        !PMPI_Type_commit(&made)) {
        v->type = made;
        v->made = 1;
    }
    if (one != MPI_DATATYPE_NULL)
        PMPI_Type_free(&one);
}

void view_end(struct view *v)
{
    if (v->made)
        PMPI_Type_free(&v->type);
}

int section_refused(const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int code = MPI_ERR_BUFFER;
    snprintf(text, sizeof text, "%s: an array section that is not contiguous cannot be used here",
             call);
    if (!PMPI_Add_error_code(MPI_ERR_BUFFER, &code))
        PMPI_Add_error_string(code, text);
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}
