/* shmemx.h - extensions of OpenSHMEM: this library has none. */
#ifndef WINDROSE_SHMEMX_H
#define WINDROSE_SHMEMX_H
#include <shmem.h>
#endif
