/* spawn.c - dynamic processes (MPI-3.1 chapter 10): not supported; the calls return an error. */
#include "api/api.h"

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int no_spawn(const char *call, MPI_Comm comm)
{
    api_enter(call);
    struct comm *c;
    int err = api_comm(comm, &c);
    if (!err)
        err = err_make(MPI_ERR_SPAWN, "%s: this library starts no further processes", call);
    return api_exit(comm, err);
}

static int no_port(const char *call, int cls)
{
    api_enter(call);
    return api_exit(MPI_COMM_NULL, err_make(cls, "%s: this library connects no jobs", call));
}

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *intercomm, int errcodes[])
{
    return no_spawn("MPI_Comm_spawn", comm);
}
API_ALIAS(MPI_Comm_spawn);

int PMPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                             const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                             int errcodes[])
{
    return no_spawn("MPI_Comm_spawn_multiple", comm);
}
API_ALIAS(MPI_Comm_spawn_multiple);

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm)
{
    return no_port("MPI_Comm_accept", MPI_ERR_UNSUPPORTED_OPERATION);
}
API_ALIAS(MPI_Comm_accept);

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm)
{
    return no_port("MPI_Comm_connect", MPI_ERR_PORT);
}
API_ALIAS(MPI_Comm_connect);

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    return no_port("MPI_Comm_join", MPI_ERR_UNSUPPORTED_OPERATION);
}
API_ALIAS(MPI_Comm_join);

int PMPI_Open_port(MPI_Info info, char *port_name)
{
    return no_port("MPI_Open_port", MPI_ERR_UNSUPPORTED_OPERATION);
}
API_ALIAS(MPI_Open_port);

int PMPI_Close_port(const char *port_name)
{
    return no_port("MPI_Close_port", MPI_ERR_PORT);
}
API_ALIAS(MPI_Close_port);

int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return no_port("MPI_Publish_name", MPI_ERR_UNSUPPORTED_OPERATION);
}
API_ALIAS(MPI_Publish_name);

int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return no_port("MPI_Unpublish_name", MPI_ERR_SERVICE);
}
API_ALIAS(MPI_Unpublish_name);

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    return no_port("MPI_Lookup_name", MPI_ERR_NAME);
}
API_ALIAS(MPI_Lookup_name);
