/* What the examples of the manual have around them: maint/gen-man --examples. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern MPI_Comm comm;
extern MPI_Win win;
extern int rank, ranks, left, right;
extern double x, a[10];
extern long *part;
extern int dev;
extern MPIX_Space_kernel twice;
extern void *there;
extern long n;

