/* test_errhandler.c - obj/errhandler.c: return returns, user handler gets handle and code, fatal
 * names call communicator and cause. */
#include "unit_obj.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/comm.h"
#include "obj/err.h"
#include "obj/errhandler.h"

static int seen_handle, seen_code;
static struct errhandler *kill_me;

static void handler(void *handle, int *code, ...)
{
    seen_handle = *(int *)handle;
    seen_code = *code;
    if (kill_me)
        errhandler_drop(kill_me);
    kill_me = NULL;
}

START_TEST(return_returns)
{
    struct comm *w = proc->obj->world;
    comm_set_errhandler(w, proc->obj->errhandler[ERRHANDLER_RETURN]);
    ck_assert_int_eq(err_report_comm(w, MPI_ERR_TAG, "MPI_Send"), MPI_ERR_TAG);
    ck_assert_int_eq(err_report_comm(NULL, MPI_ERR_TAG, "MPI_Send"), MPI_ERR_TAG);
}
END_TEST

START_TEST(user_handler_gets_handle_and_code)
{
    struct errhandler *e = errhandler_make(OBJ_COMM, handler);
    ck_assert_ptr_eq(errhandler_find(e->obj.handle), e);
    comm_set_errhandler(proc->obj->self, e);
    ck_assert_int_eq(e->obj.refs, 2);
    ck_assert_int_eq(err_report_comm(proc->obj->self, MPI_ERR_COUNT, "MPI_Recv"), MPI_ERR_COUNT);
    ck_assert_int_eq(seen_handle, MPI_COMM_SELF);
    ck_assert_int_eq(seen_code, MPI_ERR_COUNT);
    /* the holder keeps it alive, also while it runs and is dropped inside */
    int h = e->obj.handle;
    errhandler_drop(e);
    ck_assert_ptr_eq(errhandler_find(h), e);
    comm_set_errhandler(proc->obj->self, proc->obj->errhandler[ERRHANDLER_RETURN]);
    ck_assert_ptr_null(errhandler_find(h));
    e = errhandler_make(OBJ_WIN, handler);
    h = e->obj.handle;
    kill_me = e;
    ck_assert_int_eq(err_report_win(e, 42, NULL, MPI_ERR_WIN, "MPI_Put"), MPI_ERR_WIN);
    ck_assert_int_eq(seen_handle, 42);
    ck_assert_ptr_null(errhandler_find(h));
}
END_TEST

/* What a fatal error prints, and the exit status.  c NULL: on window 0xa0000000, with a name. */
static int fatal_says(struct comm *c, int code, char *line, size_t len)
{
    int fd[2], status;
    ck_assert_int_eq(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], 2);
        if (c)
            err_report_comm(c, code, "MPI_Send");
        else
            err_report_win(proc->obj->errhandler[ERRHANDLER_FATAL], 1, "halo", code, "MPI_Put");
        _exit(99);
    }
    close(fd[1]);
    ssize_t n = read(fd[0], line, len - 1);
    line[n > 0 ? n : 0] = 0;
    close(fd[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(fatal_names_call_communicator_and_cause)
{
    char line[1000];
    struct comm *w = proc->obj->world;
    int e = err_make(MPI_ERR_RANK, "MPI_Send: rank 7 is not in the group of 1 processes");
    ck_assert_int_eq(fatal_says(w, e, line, sizeof line), MPI_ERR_RANK);
    ck_assert_str_eq(line, "windrose[0]: fatal error in MPI_Send on communicator MPI_COMM_WORLD "
                           "(MPI_ERR_RANK): rank 7 is not in the group of 1 processes\n");
    ck_assert_int_eq(
        fatal_says(NULL, err_make(MPI_ERR_RMA_SYNC, "MPI_Put: no epoch"), line, sizeof line),
        MPI_ERR_RMA_SYNC);
    ck_assert_str_eq(
        line,
        "windrose[0]: fatal error in MPI_Put on window \"halo\" (MPI_ERR_RMA_SYNC): no epoch\n");
    /* without the call in the text, and an object without a name */
    w->name[0] = 0;
    comm_set_errhandler(w, proc->obj->errhandler[ERRHANDLER_ABORT]);
    ck_assert_int_eq(fatal_says(w, err_make(MPI_ERR_OTHER, "no luck"), line, sizeof line),
                     MPI_ERR_OTHER);
    ck_assert_str_eq(line, "windrose[0]: fatal error in MPI_Send on communicator 0x44000000 "
                           "(MPI_ERR_OTHER): no luck\n");
}
END_TEST

OBJ_SUITE(errhandler, return_returns, user_handler_gets_handle_and_code,
          fatal_names_call_communicator_and_cause)
