/* buffercall.h - what the calls on buffers of buffered sends share: arguments, then p2p/. They run
 * between api_enter and the exit; `at` as in p2p/p2p.h. */
#ifndef API_P2P_BUFFERCALL_H
#define API_P2P_BUFFERCALL_H

#include "api/api.h"
#include "p2p/p2p.h"

int buffer_attach(struct p2p_buffer **at, void *buffer, MPI_Count size);
int buffer_detach(struct p2p_buffer **at, void *buffer_addr, MPI_Count *size);
/* the same for the calls whose size is an int */
int buffer_detach_int(struct p2p_buffer **at, void *buffer_addr, int *size);
int buffer_iflush(struct p2p_buffer **at, MPI_Request *request);

#endif
