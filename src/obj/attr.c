/* attr.c - attributes and keyvals of communicators, datatypes and windows. Start with
 * attr_set_as(). */
#include "obj/attr.h"

#include <errno.h>
#include <stdlib.h>

#include "base/proc.h"
#include "obj/err.h"
#include "obj/obj_types.h"
#include "obj/upcall.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Callbacks of all three holders have the same shape, since handles are ints. */
typedef int copy_fn(int old, int keyval, void *extra, void *in, void *out, int *flag);
typedef int delete_fn(int holder, int keyval, void *value, void *extra);

struct keyval {
    struct obj obj; /* references: one for the user until MPI_*_free_keyval, one per attribute */
    enum obj_kind holder;
    int freed; /* by the user; still good for attributes that exist */
    copy_fn *copy;
    delete_fn *del;
    attr_copy_proxy *copy_proxy; /* NULL: the functions are C's */
    attr_delete_proxy *delete_proxy;
    void *extra;
};

struct attr {
    struct list link;
    struct keyval *key;
    void *value;    /* an integer if the form is one */
    int as_int;     /* ATTR_INT: its address goes to C */
    enum attr_form form;
    int deleting; /* its delete callback runs: get still finds it, everything else does not */
};

int attr_init(void)
{
    return 0;
}

static void keyval_forget(void *k)
{
    obj_del(OBJ_KEYVAL, k);
    free(k);
}

void attr_finalize(void)
{
    obj_sweep(OBJ_KEYVAL, keyval_forget);
}

void attr_list_init(struct attr_list *l)
{
    list_init(&l->head);
}

static const char *holder_name(enum obj_kind holder)
{
    return holder == OBJ_COMM ? "communicators" : holder == OBJ_WIN ? "windows" : "datatypes";
}

static int key_find(enum obj_kind holder, int keyval, struct keyval **out, const char *call)
{
    struct keyval *k = obj_find(OBJ_KEYVAL, keyval);
    if (!k)
        return err_make(MPI_ERR_KEYVAL,
                        keyval == MPI_KEYVAL_INVALID ? "%s: keyval is MPI_KEYVAL_INVALID"
                                                     : "%s: keyval %#x does not exist",
                        call, (unsigned)keyval);
    if (k->holder != holder)
        return err_make(MPI_ERR_KEYVAL, "%s: keyval %#x is for %s, not for %s", call,
                        (unsigned)keyval, holder_name(k->holder), holder_name(holder));
    *out = k;
    return MPI_SUCCESS;
}

static void key_drop(struct keyval *k)
{
    if (--k->obj.refs > 0)
        return;
    obj_del(OBJ_KEYVAL, &k->obj);
    free(k);
}

/* The attribute of a key; `any` also finds one whose delete callback runs. */
static struct attr *attr_find(const struct attr_list *l, const struct keyval *k, int any)
{
    for (struct list *p = l->head.prev; p != &l->head; p = p->prev) {
        struct attr *a = LIST_OBJ(p, struct attr, link);
        if (a->key == k && (any || !a->deleting))
            return a;
    }
    return NULL;
}

/* The attribute as C sees it. */
static void *as_pointer(struct attr *a)
{
    return a->form == ATTR_POINTER ? a->value
           : a->form == ATTR_INT   ? (void *)&a->as_int
                                   : (void *)&a->value;
}

static void put_value(struct attr *a, void *value, enum attr_form form)
{
    a->value = value;
    a->form = form;
    a->as_int = (int)(intptr_t)value;
}

/* Callbacks are user code and may make MPI calls, which note and clear proc->call. */
static int call_delete(int handle, struct attr *a)
{
    const char *call = proc->call;
    const struct keyval *k = a->key;
    struct upcall hold;
    if (!k->del)
        return MPI_SUCCESS;
    a->deleting = 1;
    upcall_begin(&hold);
    int err = k->delete_proxy ? k->delete_proxy((MPI_Comm_delete_attr_function *)k->del, handle,
                                                k->obj.handle, (int)a->form, a->value, k->extra)
                              : k->del(handle, k->obj.handle, as_pointer(a), k->extra);
    upcall_end(&hold);
    a->deleting = 0;
    proc->call = call;
    return err;
}

static void attr_free(struct attr *a)
{
    list_del(&a->link);
    key_drop(a->key);
    free(a);
}

static int attr_add(struct attr_list *l, struct keyval *k, void *value, enum attr_form form,
                    const char *call)
{
    struct attr *a = calloc(1, sizeof *a);
    if (!a)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for an attribute", call);
    a->key = k;
    put_value(a, value, form);
    k->obj.refs++;
    list_push(&l->head, &a->link);
    return MPI_SUCCESS;
}

int attr_set_as(enum obj_kind holder, int handle, struct attr_list *l, int keyval, void *value,
                enum attr_form form, const char *call)
{
    struct keyval *k;
    int err = key_find(holder, keyval, &k, call);
    if (err)
        return err;
    struct attr *a = attr_find(l, k, 0);
    if (!a)
        return attr_add(l, k, value, form, call);
    /* MPI-3.1 6.7.2: the delete callback of the old value runs first; when it fails the old value
     * stays. */
    err = call_delete(handle, a);
    if (!err)
        put_value(a, value, form);
    return err;
}

int attr_get_as(enum obj_kind holder, const struct attr_list *l, int keyval, void *value_out,
                int *flag, enum attr_form form, const char *call)
{
    struct keyval *k;
    *flag = 0;
    int err = key_find(holder, keyval, &k, call);
    if (err)
        return err;
    struct attr *a = attr_find(l, k, 1);
    if (a) {
        *flag = 1;
        *(void **)value_out = form == ATTR_POINTER ? as_pointer(a) : a->value;
    }
    return MPI_SUCCESS;
}

int attr_delete(enum obj_kind holder, int handle, struct attr_list *l, int keyval, const char *call)
{
    struct keyval *k;
    int err = key_find(holder, keyval, &k, call);
    if (err)
        return err;
    struct attr *a = attr_find(l, k, 0);
    if (!a)
        return attr_find(l, k, 1) ? MPI_SUCCESS /* from inside its own delete callback */
                                  : err_make(MPI_ERR_KEYVAL, "%s: keyval %#x has no attribute here",
                                             call, (unsigned)keyval);
    err = call_delete(handle, a);
    if (!err)
        attr_free(a);
    return err;
}

/* What a copy callback returns is set on the new object. If a C callback passes on the address of
 * an integer, the integer is copied: the address would not outlive the old object. */
static int copy_one(int old_handle, struct keyval *k, struct attr *a, struct attr_list *to)
{
    const char *call = proc->call;
    struct attr old = *a; /* the callback may change or delete the attribute */
    void *copied = NULL, *seen = as_pointer(&old);
    int flag = 0, err;
    struct upcall hold;
    if (!k->copy) /* MPI_*_NULL_COPY_FN */
        return MPI_SUCCESS;
    upcall_begin(&hold);
    if (k->copy_proxy)
        err = k->copy_proxy((MPI_Comm_copy_attr_function *)k->copy, old_handle, k->obj.handle,
                            k->extra, (int)old.form, old.value, &copied, &flag);
    else
        err = k->copy(old_handle, k->obj.handle, k->extra, seen, &copied, &flag);
    upcall_end(&hold);
    proc->call = call;
    if (err || !flag)
        return err;
    if (!k->copy_proxy && old.form != ATTR_POINTER) {
        if (copied == seen)
            copied = old.value;
        else
            old.form = ATTR_POINTER;
    }
    return attr_add(to, k, copied, old.form, call ? call : "attribute copy");
}

int attr_copy(enum obj_kind holder, int old_handle, const struct attr_list *from, int new_handle,
              struct attr_list *to)
{
    size_t n = 0;
    for (const struct list *p = from->head.next; p != &from->head; p = p->next)
        n++;
    if (!n)
        return MPI_SUCCESS;
    /* Callbacks may set and delete attributes of the old object: walk over a list of its keys as
     * they were. */
    struct keyval **keys = malloc(n * sizeof *keys);
    if (!keys)
        return err_make(MPI_ERR_NO_MEM, "no memory to copy %zu attributes", n);
    n = 0;
    for (const struct list *p = from->head.next; p != &from->head; p = p->next) {
        keys[n] = LIST_OBJ(p, struct attr, link)->key;
        keys[n++]->obj.refs++;
    }
    int err = MPI_SUCCESS;
    for (size_t i = 0; i < n; i++) {
        struct attr *a = attr_find(from, keys[i], 0);
        if (a && !err)
            err = copy_one(old_handle, keys[i], a, to);
        key_drop(keys[i]);
    }
    free(keys);
    return err;
}

int attr_delete_all(enum obj_kind holder, int handle, struct attr_list *l)
{
    for (;;) {
        struct list *p = l->head.prev;
        while (p != &l->head && LIST_OBJ(p, struct attr, link)->deleting)
            p = p->prev;
        if (p == &l->head)
            return MPI_SUCCESS;
        struct attr *a = LIST_OBJ(p, struct attr, link);
        int err = call_delete(handle, a);
        if (err)
            return err;
        attr_free(a);
    }
}

void attr_forget(struct attr_list *l)
{
    while (!list_empty(&l->head))
        attr_free(LIST_OBJ(l->head.next, struct attr, link));
}

int keyval_create(enum obj_kind holder, void *copy, void *del, int *keyval, void *extra,
                  int is_fortran)
{
    struct keyval *k = calloc(1, sizeof *k);
    if (!k || obj_add(OBJ_KEYVAL, &k->obj)) {
        free(k);
        return err_make(MPI_ERR_NO_MEM, "no memory for one more attribute key");
    }
    k->holder = holder;
    k->copy = (copy_fn *)copy;
    k->del = (delete_fn *)del;
    k->extra = extra;
    *keyval = k->obj.handle;
    return MPI_SUCCESS;
}

void keyval_set_proxy(int keyval, attr_copy_proxy *copy, attr_delete_proxy *del)
{
    struct keyval *k = obj_find(OBJ_KEYVAL, keyval);
    if (k) {
        k->copy_proxy = copy;
        k->delete_proxy = del;
    }
}

int keyval_free(enum obj_kind holder, int *keyval, const char *call)
{
    struct keyval *k;
    int err = key_find(holder, *keyval, &k, call);
    if (err)
        return err;
    /* The handle may have been used before: the key lives while attributes exist, and delete
     * callbacks may free it again (MPI-3.1 6.7.2). */
    if (!k->freed) {
        k->freed = 1;
        key_drop(k);
    }
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}
