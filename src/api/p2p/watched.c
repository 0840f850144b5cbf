/* watched.c - what watchers hear of sends (watch/watch.h). */
#include "api/p2p/ends.h"

/* What this process knows goes before its message. With an error no message follows. */
void api_watch_send(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm)
{
    struct ends e;
    api_enter(call);
    if (!send_args(&e, buf, count, type, dest, tag, comm) && dest >= 0)
        watch_sending(e.c, dest);
    api_unlock();
}
