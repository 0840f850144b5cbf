/* coherent.h - what the examples of coherent windows share: bytes that the library moved, and calls
 * that must succeed. */
#ifndef EXAMPLES_COHERENT_H
#define EXAMPLES_COHERENT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../gpu/gpu.h"

/* A counter of the library, summed over the windows of this process. */
static inline long long counter(const char *name)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long v = 0;
    int index, n, level;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index)) {
        fprintf(stderr, "this MPI library has no counter %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_T_pvar_session_create(&s);
    MPI_T_pvar_handle_alloc(s, index, NULL, &h, &n);
    MPI_T_pvar_read(s, h, &v);
    MPI_T_pvar_handle_free(s, &h);
    MPI_T_pvar_session_free(&s);
    MPI_T_finalize();
    return (long long)v;
}

static inline long long bytes_moved(void)
{
    return counter("coh_bytes_in") + counter("coh_bytes_out") + counter("coh_bytes_across");
}

/* A window of this process's `bytes`, with instances in the spaces named. */
static inline MPI_Win coherent_window(size_t bytes, const char *spaces, const char *tile,
                                      const char *budget, void *base)
{
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_win_spaces", spaces);
    MPI_Info_set(info, "mpix_win_tile", tile);
    if (budget)
        MPI_Info_set(info, "mpix_win_bytes", budget);
    MPI_Win_allocate((MPI_Aint)bytes, 1, info, MPI_COMM_WORLD, base, &win);
    MPI_Info_free(&info);
    return win;
}

typedef void kernel_fn(void *const *ptr, const void *arg);
/* A kernel where its data is: on the device, or called here.  On a CUDA device it is the kernel of
 * gpu.h that `cuda` names: its arguments are the pointers, then the integers of arg. */
static inline void run_kernel(const char *name, int space, kernel_fn *fn, const char *cuda, int n,
                              void *const *ptr, const void *arg, int bytes, unsigned threads)
{
    if (space == 0) {
        fn(ptr, arg);
        return;
    }
    if (gpu_open(name)) {
        void *param[16];
        int ints = bytes / (int)sizeof(int);
        for (int i = 0; i < n + ints; i++)
            param[i] = i < n ? (void *)(size_t)&ptr[i] : (void *)(size_t)((const int *)arg + i - n);
        if (gpu_launch(cuda, NULL, threads, param) || gpu_wait(NULL)) {
            fprintf(stderr, "%s: the kernel failed\n", name);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        return;
    }
    MPIX_Space_launch(space, NULL, fn, n, ptr, arg, bytes);
    MPIX_Space_wait(space, NULL);
}

#endif
