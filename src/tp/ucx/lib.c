/* lib.c - loads UCX, only in a job that chooses it.
 *
 * Linking to it would cost every program some 3 ms at its start and change the program. The
 * constructors of libucs (1.13) put handlers on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGHUP. They
 * overwrite the first bytes of mmap, munmap and their kin (doc/design/ucx.md). Its own variables
 * switch that off. The constructors read them, so they must be in the environment while UCX is
 * loaded. Values that the user set stay. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/log.h"
#include "tp/ucx/ucx_types.h"
#include "var/var.h"

static const struct var_env defaults[] = {
    /* atomics agree with those of processors: one mechanism for all; row 0 */
    {"UCX_ATOMIC_MODE", "cpu"},
    /* otherwise the call that opens a connection to a host that is cut off blocks for 12 to 127 s;
     * row 1 */
    {"UCX_TCP_CONN_NB", "y"},
    /* of several events that UCX takes at once, an earlier one may close the connection of a later
     * one, and an assertion of UCX then ends the process; row 2 */
    {"UCX_TCP_MAX_POLL", "1"},
    {"UCX_HANDLE_ERRORS", "none"}, /* signals belong to the program */
    {"UCX_DEBUG_SIGNO", "0"},                                  /* SIGHUP too */
    {"UCX_MEM_EVENTS", "n"},    /* no hooks in the program's memory calls... */
    /* ...so nothing may be cached that the hooks would have to invalidate */
    {"UCX_RCACHE_ENABLE", "n"},
    /* after a kill their files may stay, and endpoints that report failures cannot use them */
    {"UCX_TLS", "^posix,sysv"},
    {"UCX_VFS_ENABLE", "n"}, /* no thread and socket for UCX's file system view of itself */
    /* the newer protocols, by default from 1.16 on: atomics over tcp never complete (1.20.1) */
    {"UCX_PROTO_ENABLE", "n"},
};
enum { DEFAULTS = sizeof defaults / sizeof *defaults };

unsigned ucx_defaults_on(void)
{
    return var_env_on(defaults, DEFAULTS);
}

void ucx_defaults_off(unsigned set)
{
    var_env_off(defaults, DEFAULTS, set);
}

int ucx_defaults_cpu(unsigned set)
{
    return set & 1;
}

unsigned ucx_defaults_of_workers(unsigned set)
{
    return set & (1u << 1 | 1u << 2);
}

int ucx_load(struct ucx_lib *lib)
{
    /* Never unloaded: its threads and fork handlers would outlive its code. */
    void *h = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!h) {
        log_warn("UCX does not load: %s", dlerror());
        return -ELIBACC;
    }
#define UCX_CALL(name)                                        \
    if (!(lib->name = (__typeof__(lib->name))dlsym(h, #name))) \
        missing = #name;
    const char *missing = NULL;
    UCX_CALLS(UCX_CALL)
#undef UCX_CALL
    dlclose(h);
    if (!missing)
        return 0;
    log_warn("UCX as installed has no function %s: it is too old", missing);
    return -ELIBACC;
}

int ucx_errno(ucs_status_t s)
{
    switch (s) {
    case UCS_OK: return 0;
    case UCS_ERR_NO_MEMORY:
    case UCS_ERR_NO_RESOURCE: return -ENOMEM;
    case UCS_ERR_UNREACHABLE:
    case UCS_ERR_NO_DEVICE: return -EHOSTUNREACH;
    case UCS_ERR_INVALID_PARAM:
    case UCS_ERR_INVALID_ADDR: return -EINVAL;
    case UCS_ERR_UNSUPPORTED:
    case UCS_ERR_NOT_IMPLEMENTED: return -ENOTSUP;
    case UCS_ERR_CANCELED:
    case UCS_ERR_REJECTED:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT: return -ENOTCONN;
    default: return -EIO;
    }
}

ucs_status_t ucx_open_worker(struct ucx *u, ucp_worker_h *worker)
{
    /* One thread at a time: proc->lock is held in every call, or it is a context's (tx.c). */
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    sigset_t all, old;
    /* It starts a thread, and signals belong to the user's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ucs_status_t s = u->lib.ucp_worker_create(u->context, &params, worker);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return s;
}
