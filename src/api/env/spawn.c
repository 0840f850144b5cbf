/* spawn.c - processes of other jobs (MPI-4.1 chapter 11): spawn, ports, names, join. Start with
 * spawn() and meet(). */
#include "api/bindings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/api_types.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "coll/newcomm.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "progress/progress.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

_Static_assert((int)BOOT_PORT_MAX <= MPI_MAX_PORT_NAME, "users' buffers hold a port");

/* --- spawn --------------------------------------------------------------------------- */

/* What MPI_Comm_spawn and MPI_Comm_spawn_multiple get; significant at the root. */
struct programs {
    int count;
    char *const *commands;
    char **const *argvs; /* NULL: no arguments */
    const int *maxprocs;
    const MPI_Info *infos;
};

/* NULL: not given. */
static const char *hint(const struct info *info, const char *key)
{
    return info ? info_value(info, key) : NULL;
}

static int check_program(const struct programs *p, int i, struct boot_program *out)
{
    struct info *info;
    int err = api_pointer(p->commands[i], "command");
    if (!err)
        err = api_info(p->infos ? p->infos[i] : MPI_INFO_NULL, &info);
    if (err)
        return err;
    *out = (struct boot_program){.command = p->commands[i],
                                 .argv = p->argvs ? p->argvs[i] : NULL,
                                 .n = p->maxprocs[i],
                                 .wdir = hint(info, "wdir"),
                                 .path = hint(info, "path"),
                                 .host = hint(info, "host"),
                                 .map_by = hint(info, "map_by"),
                                 .errhandler = hint(info, "mpi_initial_errhandler")};
    if (out->errhandler && errhandler_named(out->errhandler) < 0)
        return err_make(MPI_ERR_INFO_VALUE,
                        "%s: mpi_initial_errhandler is \"%s\": it must be " ERRHANDLER_NAMES,
                        proc->call, out->errhandler);
    return MPI_SUCCESS;
}

/* Processes that were asked for: the length of errcodes, also when they cannot be started. */
static int count_processes(const struct programs *p, int32_t *many)
{
    int err = p->count < 1 ? err_make(MPI_ERR_COUNT, "%s: count is %d", proc->call, p->count)
                           : api_pointer(p->maxprocs, "maxprocs");
    int32_t sum = 0;
    for (int i = 0; !err && i < p->count; i++)
        if (p->maxprocs[i] < 1)
            err = err_make(MPI_ERR_ARG, "%s: maxprocs is %d", proc->call, p->maxprocs[i]);
        else if (__builtin_add_overflow(sum, p->maxprocs[i], &sum))
            err = err_make(MPI_ERR_ARG, "%s: too many processes", proc->call);
    *many = err ? 0 : sum;
    return err;
}

/* The root's part: start the programs. */
static int start_programs(const struct programs *p, int32_t *many, char port[BOOT_PORT_MAX])
{
    int err = count_processes(p, many);
    if (!err)
        err = api_pointer(p->commands, "commands");
    struct boot_program *list = err ? NULL : calloc((size_t)p->count, sizeof *list);
    if (!err && !list)
        err = err_make(MPI_ERR_NO_MEM, "%s: no memory", proc->call);
    for (int i = 0; !err && i < p->count; i++)
        err = check_program(p, i, &list[i]);
    if (!err)
        err = newcomm_spawn(list, p->count, port);
    free(list);
    return err;
}

/* The array's length is known here only, so the other interface gives its own value. */
__attribute__((weak, noinline)) int api_err_spawn(void)
{
    return MPI_ERR_SPAWN;
}

static int spawn_all(const char *call, const struct programs *p, int root, struct comm *c,
                     int32_t *many, struct comm **n)
{
    char port[BOOT_PORT_MAX] = "";
    int err = newcomm_open(c), failed = MPI_SUCCESS;
    if (!err && c->rank == root)
        failed = start_programs(p, many, port);
    proc->call = call;
    if (!err)
        err = coll_bcast_bytes(many, sizeof *many, root, c);
    if (!err)
        err = newcomm_meet(c, root, 1, port, MPI_ERR_SPAWN, failed, n);
    if (err && *port) /* the programs run: what waits there ends, nothing else */
        (void)boot_port_close(port);
    return err;
}

static int spawn(const char *call, enum watch_call what, const void *site,
                 const struct programs *p, int root, MPI_Comm comm, MPI_Comm *intercomm,
                 int *errcodes)
{
    api_enter(call);
    struct comm *c, *n = NULL;
    int32_t many = 0;
    int err = api_intracomm(comm, &c);
    if (!err)
        err = api_rank(root, c->size, 0);
    if (!err)
        err = api_pointer(intercomm, "intercomm");
    WATCH_RUN(err, spawn_all(call, p, root, c, &many, &n), .call = what, .comm = c, .site = site);
    for (int i = 0; errcodes && i < many; i++)
        errcodes[i] = err ? api_err_spawn() : MPI_SUCCESS;
    return api_exit_new(comm, err, n, intercomm);
}

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *intercomm, int errcodes[])
{
    char *commands[1] = {(char *)command};
    char **argvs[1] = {argv};
    struct programs p = {1, commands, argvs, &maxprocs, &info};
    return spawn("MPI_Comm_spawn", WATCH_COMM_SPAWN, __builtin_return_address(0), &p, root, comm,
                 intercomm, errcodes);
}
API_ALIAS(MPI_Comm_spawn);

int PMPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                             const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                             int errcodes[])
{
    struct programs p = {count, commands, argvs, maxprocs, infos};
    return spawn("MPI_Comm_spawn_multiple", WATCH_COMM_SPAWN_MULTIPLE, __builtin_return_address(0),
                 &p, root, comm, intercomm, errcodes);
}
API_ALIAS(MPI_Comm_spawn_multiple);

/* --- ports --------------------------------------------------------------------------- */

static int meet_all(int accepts, const char *port, int root, struct comm *c, struct comm **n)
{
    int err = newcomm_open(c), failed = MPI_SUCCESS;
    if (!err && c->rank == root)
        failed = api_pointer(port, "port_name");
    return err ? err : newcomm_meet(c, root, accepts, port, MPI_ERR_PORT, failed, n);
}

static int meet(const char *call, int accepts, const void *site, const char *port, int root,
                MPI_Comm comm, MPI_Comm *newcomm)
{
    api_enter(call);
    struct comm *c, *n = NULL;
    int err = api_intracomm(comm, &c);
    if (!err)
        err = api_rank(root, c->size, 0);
    if (!err)
        err = api_pointer(newcomm, "newcomm");
    WATCH_RUN(err, meet_all(accepts, port, root, c, &n),
              .call = accepts ? WATCH_COMM_ACCEPT : WATCH_COMM_CONNECT, .comm = c, .site = site);
    return api_exit_new(comm, err, n, newcomm);
}

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm)
{
    return meet("MPI_Comm_accept", 1, __builtin_return_address(0), port_name, root, comm, newcomm);
}
API_ALIAS(MPI_Comm_accept);

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm)
{
    return meet("MPI_Comm_connect", 0, __builtin_return_address(0), port_name, root, comm, newcomm);
}
API_ALIAS(MPI_Comm_connect);

int PMPI_Open_port(MPI_Info info, char *port_name)
{
    api_enter("MPI_Open_port");
    int err = api_pointer(port_name, "port_name");
    if (!err)
        err = newcomm_port_error(boot_port_open(port_name), MPI_ERR_OTHER, "a port");
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Open_port);

int PMPI_Close_port(const char *port_name)
{
    api_enter("MPI_Close_port");
    int err = api_pointer(port_name, "port_name");
    if (!err)
        err = newcomm_port_error(boot_port_close(port_name), MPI_ERR_PORT, port_name);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Close_port);

/* --- names --------------------------------------------------------------------------- */

static int check_names(const char *service, const char *port)
{
    int err = api_pointer(service, "service_name");
    return err ? err : api_pointer(port, "port_name");
}

int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    api_enter("MPI_Publish_name");
    int err = check_names(service_name, port_name);
    if (!err)
        err = newcomm_port_error(boot_name_publish(service_name, port_name), MPI_ERR_SERVICE,
                                 service_name);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Publish_name);

int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    api_enter("MPI_Unpublish_name");
    int err = check_names(service_name, port_name);
    if (!err)
        err = newcomm_port_error(boot_name_unpublish(service_name), MPI_ERR_SERVICE, service_name);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Unpublish_name);

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    api_enter("MPI_Lookup_name");
    int err = check_names(service_name, port_name);
    if (!err)
        err = newcomm_port_error(boot_name_lookup(service_name, port_name), MPI_ERR_NAME,
                                 service_name);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Lookup_name);

/* --- join ---------------------------------------------------------------------------- */

/* What both processes write into the socket. */
struct joiner {
    int32_t rank, err;
    char port[BOOT_PORT_MAX];
};

struct join {
    int fd, error;
    size_t sent, got;
    struct joiner mine, theirs;
};

/* Moves what the socket takes and has now; it may be one that blocks. */
static int joined(void *arg)
{
    struct join *x = arg;
    while (x->sent < sizeof x->mine && !x->error) {
        ssize_t n = send(x->fd, (char *)&x->mine + x->sent, sizeof x->mine - x->sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            break;
        x->error = n < 0 && errno != EINTR ? errno : 0;
        x->sent += n > 0 ? (size_t)n : 0;
    }
    while (x->got < sizeof x->theirs && !x->error) {
        ssize_t n = recv(x->fd, (char *)&x->theirs + x->got, sizeof x->theirs - x->got,
                         MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            break;
        x->error = n == 0 ? EPIPE : n < 0 && errno != EINTR ? errno : 0;
        x->got += n > 0 ? (size_t)n : 0;
    }
    return x->error || (x->sent == sizeof x->mine && x->got == sizeof x->theirs);
}

static int join_fd(void *arg, int arm)
{
    return arm ? 0 : ((struct join *)arg)->fd;
}

/* Ports of one mpiexec have the same text up to the last ':'. */
static int of_one_mpiexec(const char *a, const char *b)
{
    const char *end = strrchr(a, ':');
    size_t n = end ? (size_t)(end - a) + 1 : 0;
    return n && !strncmp(a, b, n);
}

/* Each end offers a port; the one of the lower rank is used. */
static int join_over(struct join *x, struct comm **out)
{
    struct progress_source source = {.fd = join_fd, .arg = x};
    int err = newcomm_open(proc->obj->self);
    if (!err)
        err = newcomm_port_error(boot_port_open(x->mine.port), MPI_ERR_OTHER, "a port");
    x->mine.rank = boot_rank();
    x->mine.err = err != MPI_SUCCESS;
    progress_source_add(&source);
    progress_wait(joined, x, "the other end of the socket", -1);
    progress_source_del(&source);
    proc->call = "MPI_Comm_join";
    if (!err && x->error)
        err = err_make(MPI_ERR_OTHER, "MPI_Comm_join: the socket: %s", strerror(x->error));
    x->theirs.port[BOOT_PORT_MAX - 1] = 0;
    if (!err && x->theirs.err)
        err = err_make(MPI_ERR_OTHER, "MPI_Comm_join: the other end is no process that can join");
    if (!err && !of_one_mpiexec(x->mine.port, x->theirs.port)) /* one would accept for ever */
        err = newcomm_port_error(-EXDEV, MPI_ERR_OTHER, x->theirs.port);
    if (!err && x->theirs.rank == x->mine.rank)
        err = err_make(MPI_ERR_OTHER, "MPI_Comm_join: the other end is this process");
    int accepts = x->mine.rank < x->theirs.rank;
    if (!err)
        err = newcomm_meet(proc->obj->self, 0, accepts, accepts ? x->mine.port : x->theirs.port,
                           MPI_ERR_OTHER, MPI_SUCCESS, out);
    if (*x->mine.port)
        (void)boot_port_close(x->mine.port);
    return err;
}

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    api_enter("MPI_Comm_join");
    struct comm *n = NULL;
    struct join x = {.fd = fd};
    int err = api_pointer(intercomm, "intercomm");
    if (!err)
        err = join_over(&x, &n);
    return api_exit_new(MPI_COMM_SELF, err, n, intercomm);
}
API_ALIAS(MPI_Comm_join);
