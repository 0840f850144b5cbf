/* attr.h - keyvals and attributes for communicators, windows and datatypes; info objects. */
#ifndef OBJ_ATTR_H
#define OBJ_ATTR_H

#include <mpi.h>

#include "obj/comm.h"

/* How a caller sees an attribute (MPI-3.1 17.2.7); the numbers are those of MPICH's binding
 * libraries.
 * Set as an integer and read as a pointer, an attribute is the address of that integer.  Every
 * other pair passes the value on.  The two integer forms are Fortran's: ADDRESS_KIND, and INTEGER
 * of the MPI-1 calls. */
enum attr_form { ATTR_POINTER = 0, ATTR_AINT = 1, ATTR_INT = 3 };

/* enum obj_kind of the holder: OBJ_COMM, OBJ_WIN or OBJ_TYPE; handle = the holder's handle for the
 * callbacks. */
void attr_list_init(struct attr_list *l);
int attr_set_as(enum obj_kind holder, int handle, struct attr_list *l, int keyval, void *value,
                enum attr_form form, const char *call);
static inline int attr_set(enum obj_kind holder, int handle, struct attr_list *l, int keyval,
                           void *value, const char *call)
{
    return attr_set_as(holder, handle, l, keyval, value, ATTR_POINTER, call);
}
/* value_out is untouched and *flag = 0 when absent.  Predefined keyvals are not handled here. */
int attr_get_as(enum obj_kind holder, const struct attr_list *l, int keyval, void *value_out,
                int *flag, enum attr_form form, const char *call);
static inline int attr_get(enum obj_kind holder, const struct attr_list *l, int keyval,
                           void *value_out, int *flag, const char *call)
{
    return attr_get_as(holder, l, keyval, value_out, flag, ATTR_POINTER, call);
}
int attr_delete(enum obj_kind holder, int handle, struct attr_list *l, int keyval,
                const char *call);
/* Run the copy callbacks for MPI_Comm_dup / MPI_Type_dup, in order; an error of a callback is
 * returned. */
int attr_copy(enum obj_kind holder, int old_handle, const struct attr_list *from, int new_handle,
              struct attr_list *to);
/* Run the delete callbacks (last set first) and empty the list. An error stops it and is
 * returned. */
int attr_delete_all(enum obj_kind holder, int handle, struct attr_list *l);
/* Empty the list without callbacks: attributes left at the end. */
void attr_forget(struct attr_list *l);
int keyval_create(enum obj_kind holder, void *copy_fn, void *delete_fn, int *keyval, void *extra,
                  int is_fortran);
int keyval_free(enum obj_kind holder, int *keyval, const char *call);

/* A binding library calls the user's functions of its language: it gets the function and the bare
 * value. */
typedef int attr_copy_proxy(MPI_Comm_copy_attr_function *fn, int handle, int keyval, void *extra,
                            int form, void *value, void **copied, int *flag);
typedef int attr_delete_proxy(MPI_Comm_delete_attr_function *fn, int handle, int keyval, int form,
                              void *value, void *extra);
/* A key that does not exist is ignored. */
void keyval_set_proxy(int keyval, attr_copy_proxy *copy, attr_delete_proxy *del);

/* Predefined copy and delete functions: the NULL ones are null pointers, MPI_*_DUP_FN is
 * MPIR_Dup_fn of api/attr.c.  Callbacks run under proc->lock, which is recursive: they may make MPI
 * calls on the same object. */

struct info_pair {
    struct list link;
    char *value;
    char key[];
};
struct info {
    struct obj obj; /* handle 0: internal (hints of a communicator or window) */
    struct list pairs; /* in order of MPI_Info_set */
};
/* the kinds of memory that calls take and give (MPI-4.1 11.4.3) */
#define INFO_MEMORY_KINDS "mpi,system"
struct info *info_make(void);               /* no handle yet */
struct info *info_copy(const struct info *i); /* NULL in gives an empty one */
void info_drop(struct info *i);
/* Value of a key, or NULL. */
const char *info_value(const struct info *i, const char *key);
/* 0 or -ENOMEM. */
int info_put(struct info *i, const char *key, const char *value);
struct info_pair *info_find(const struct info *i, const char *key); /* NULL: none */
int info_remove(struct info *i, const char *key);                   /* 0 or -ENOENT */
int info_count(const struct info *i);
int info_merge(struct info *to, const struct info *from); /* 0 or -ENOMEM; from may be NULL */
/* What is known of the start of this process (MPI-3.1 10.3.5): all keys of MPI_INFO_ENV except
 * maxprocs, since they are valid before MPI_Init and after MPI_Finalize, too. */
void info_fill_env(struct info *i);
/* "true"/"false" (any case) to 1/0; `absent` when missing or neither. */
int info_truth(const struct info *i, const char *key, int absent);
/* mpi_minimum_memory_alignment (MPI-4.0 9.2, 12.2.2) in bytes: 0 when missing, or no power of
 * two. */
size_t info_alignment(const struct info *i);

#endif
