/* init.h - start and end of the library for one struct proc; the simulator calls them for each
 * simulated rank. */
#ifndef API_ENV_INIT_H
#define API_ENV_INIT_H

struct boot_ops;

/* Bring all rooms up; forced: job services to use, NULL to find out.  Does not return on
 * failure. */
int api_start(int required, int *provided, const struct boot_ops *forced);
/* Take all rooms down again.  MPI error code of a delete callback of MPI_COMM_SELF, else
 * MPI_SUCCESS. */
int api_stop(void);

#endif
