/* info.c - info objects (MPI-3.1 chapter 9, MPI-4 10). Start with PMPI_Info_set(). */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj/attr.h"

/* Info calls are legal at any time (MPI-4 11.4.1). Outside MPI_Init to MPI_Finalize they always
 * lock, and return errors. */
static void enter(const char *call)
{
    if (proc_runs()) {
        api_enter(call);
        return;
    }
    lock_acquire(&proc->lock);
    proc->call = call;
    if (obj_early())
        api_enter_cold(call); /* memory is exhausted */
}

static int leave(int err)
{
    if (proc_runs())
        return api_exit(MPI_COMM_NULL, err);
    const char *call = proc->call;
    obj_late();
    proc->call = NULL;
    lock_release(&proc->lock);
    return err ? api_fail_outside(err, call) : MPI_SUCCESS;
}

/* Unlike in api_info, MPI_INFO_NULL is an error here. */
static int info_arg(MPI_Info h, struct info **out)
{
    int err = api_info(h, out);
    if (!err && !*out)
        err = err_make(MPI_ERR_INFO, "%s: info is MPI_INFO_NULL", proc->call);
    return err;
}

static int key_arg(const char *key)
{
    int err = api_pointer(key, "key");
    if (err)
        return err_make(MPI_ERR_INFO_KEY, "%s: the key is a null pointer", proc->call);
    size_t n = strnlen(key, MPI_MAX_INFO_KEY);
    if (n == 0 || n == MPI_MAX_INFO_KEY) /* it counts the terminating 0 (MPI-3.1 2.5.2) */
        return err_make(MPI_ERR_INFO_KEY,
                        n ? "%s: the key is longer than MPI_MAX_INFO_KEY" : "%s: the key is empty",
                        proc->call);
    return MPI_SUCCESS;
}

static int value_arg(const char *value)
{
    if (!value)
        return err_make(MPI_ERR_INFO_VALUE, "%s: the value is a null pointer", proc->call);
    if (strnlen(value, MPI_MAX_INFO_VAL + 1) > MPI_MAX_INFO_VAL)
        return err_make(MPI_ERR_INFO_VALUE, "%s: the value is longer than MPI_MAX_INFO_VAL",
                        proc->call);
    return MPI_SUCCESS;
}

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for the info object", proc->call);
}

static int publish(struct info *i, MPI_Info *out)
{
    if (!i || obj_add(OBJ_INFO, &i->obj)) {
        info_drop(i);
        return no_memory();
    }
    *out = i->obj.handle;
    return MPI_SUCCESS;
}

int api_info_publish(const struct info *of, MPI_Info *out)
{
    return publish(info_copy(of), out);
}

int PMPI_Info_create(MPI_Info *info)
{
    enter("MPI_Info_create");
    int err = api_pointer(info, "info");
    if (!err)
        err = publish(info_make(), info);
    return leave(err);
}
API_ALIAS(MPI_Info_create);

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    (void)argc, (void)argv; /* the kernel has the original ones */
    enter("MPI_Info_create_env");
    struct info *i = NULL;
    int err = api_pointer(info, "info");
    if (!err && (i = info_make()))
        info_fill_env(i);
    if (!err)
        err = publish(i, info);
    return leave(err);
}
API_ALIAS(MPI_Info_create_env);

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    enter("MPI_Info_dup");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = api_pointer(newinfo, "newinfo");
    if (!err)
        err = api_info_publish(i, newinfo);
    return leave(err);
}
API_ALIAS(MPI_Info_dup);

int PMPI_Info_free(MPI_Info *info)
{
    enter("MPI_Info_free");
    struct info *i = NULL;
    int err = api_pointer(info, "info");
    if (!err)
        err = info_arg(*info, &i);
    if (!err && obj_is_builtin(&i->obj))
        err = err_make(MPI_ERR_INFO, "MPI_Info_free: MPI_INFO_ENV cannot be freed");
    if (!err) {
        info_drop(i);
        *info = MPI_INFO_NULL;
    }
    return leave(err);
}
API_ALIAS(MPI_Info_free);

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    enter("MPI_Info_set");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = key_arg(key);
    if (!err)
        err = value_arg(value);
    if (!err && obj_is_builtin(&i->obj))
        err = err_make(MPI_ERR_INFO, "MPI_Info_set: MPI_INFO_ENV cannot be changed");
    if (!err && info_put(i, key, value))
        err = no_memory();
    return leave(err);
}
API_ALIAS(MPI_Info_set);

int PMPI_Info_delete(MPI_Info info, const char *key)
{
    enter("MPI_Info_delete");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = key_arg(key);
    if (!err && obj_is_builtin(&i->obj))
        err = err_make(MPI_ERR_INFO, "MPI_Info_delete: MPI_INFO_ENV cannot be changed");
    if (!err && info_remove(i, key))
        err = err_make(MPI_ERR_INFO_NOKEY, "MPI_Info_delete: there is no key \"%s\"", key);
    return leave(err);
}
API_ALIAS(MPI_Info_delete);

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    enter("MPI_Info_get");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = key_arg(key);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err && valuelen < 0)
        err = err_make(MPI_ERR_ARG, "MPI_Info_get: valuelen is %d, less than 0", valuelen);
    if (!err && !value)
        err = err_make(MPI_ERR_INFO_VALUE, "MPI_Info_get: value is a null pointer");
    if (!err) {
        const char *v = info_value(i, key);
        *flag = v != NULL;
        if (v) /* valuelen excludes the terminating 0; a longer value is cut (MPI-3.1 9) */
            snprintf(value, (size_t)valuelen + 1, "%s", v);
    }
    return leave(err);
}
API_ALIAS(MPI_Info_get);

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    enter("MPI_Info_get_string");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = key_arg(key);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = api_pointer(buflen, "buflen");
    if (!err && *buflen < 0)
        err = err_make(MPI_ERR_ARG, "MPI_Info_get_string: *buflen is %d, less than 0", *buflen);
    if (!err && *buflen > 0)
        err = api_pointer(value, "value");
    if (!err) {
        const char *v = info_value(i, key);
        *flag = v != NULL;
        if (v) {
            if (*buflen > 0)
                snprintf(value, (size_t)*buflen, "%s", v);
            *buflen = (int)strlen(v) + 1; /* size that holds the whole value */
        }
    }
    return leave(err);
}
API_ALIAS(MPI_Info_get_string);

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    enter("MPI_Info_get_valuelen");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = key_arg(key);
    if (!err)
        err = api_pointer(valuelen, "valuelen");
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err) {
        const char *v = info_value(i, key);
        *flag = v != NULL;
        if (v)
            *valuelen = (int)strlen(v);
    }
    return leave(err);
}
API_ALIAS(MPI_Info_get_valuelen);

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    enter("MPI_Info_get_nkeys");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = api_pointer(nkeys, "nkeys");
    if (!err)
        *nkeys = info_count(i);
    return leave(err);
}
API_ALIAS(MPI_Info_get_nkeys);

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    enter("MPI_Info_get_nthkey");
    struct info *i;
    int err = info_arg(info, &i);
    if (!err)
        err = api_pointer(key, "key");
    int count = err ? 0 : info_count(i);
    if (!err && (n < 0 || n >= count))
        err = err_make(MPI_ERR_ARG, "MPI_Info_get_nthkey: n is %d, the object has %d keys", n,
                       count);
    if (!err) {
        struct list *p = i->pairs.next;
        while (n-- > 0)
            p = p->next;
        snprintf(key, MPI_MAX_INFO_KEY, "%s", LIST_OBJ(p, struct info_pair, link)->key);
    }
    return leave(err);
}
API_ALIAS(MPI_Info_get_nthkey);
