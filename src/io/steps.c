/* steps.c - steps that all processes of a file take together. An error that the others have, too,
 * is returned. One that is this process's alone ends the job, as they would wait for ever. */
#include "io/io_types.h"

#include <stdio.h>

#include "boot/boot.h"
#include "coll/coll.h"

/* A message of a wrong length ends no step; a death and differing calls end it everywhere. What is
 * left is what this process lacks: memory, a descriptor for a connection. */
static int is_alone(const struct comm *c, int err)
{
    int class = err_class(err);
    return class != MPI_ERR_TRUNCATE && class != MPI_ERR_TYPE && class != MPIX_ERR_PROC_FAILED &&
           !comm_misaligned(c) && rankmap_dead(c->map, 0) < 0;
}

int io_step(const struct comm *c, int err)
{
    char text[ERR_TEXT], line[ERR_TEXT + 200];
    if (!err || !is_alone(c, err))
        return err;
    err_text(err, text, sizeof text);
    snprintf(line, sizeof line, "%s: a step of all processes failed on this one alone, and the "
             "others would wait for it: %s", io_call(), text);
    boot_abort(err_class(err), line);
}

/* A message that is sent now would be taken for another one by a process that does not know yet. */
int io_may_meet(const struct comm *c)
{
    return c->revoked ? comm_revoked_error() : MPI_SUCCESS;
}

int io_allreduce(int64_t *v, int n, struct comm *c)
{
    int err = io_may_meet(c);
    return err ? err : io_step(c, coll_allreduce_i64(v, n, COLL_MAX, c));
}

int io_bcast(int64_t *v, int n, int root, struct comm *c)
{
    if (c->size == 1)
        return MPI_SUCCESS;
    int err = io_may_meet(c);
    return err ? err : io_step(c, coll_bcast_bytes(v, (size_t)n * sizeof *v, root, c));
}

int io_agree(int err, struct comm *c)
{
    int64_t worst = err ? err_class(err) : 0;
    int e = io_allreduce(&worst, 1, c);
    if (err || e)
        return err ? err : e;
    return worst ? err_make((int)worst, "%s failed on another process", io_call()) : MPI_SUCCESS;
}

int io_same(struct io_file *f, int64_t v, const char *arg, int err)
{
    int64_t all[3] = {v, -v, err ? err_class(err) : 0};
    int e = io_allreduce(all, 3, f->comm);
    if (err)
        return err;
    if (!e && all[2])
        e = err_make((int)all[2], "%s: file \"%s\": the call failed on another process", io_call(),
                     f->name);
    if (!e && all[0] != -all[1])
        e = err_make(MPI_ERR_NOT_SAME,
                     "%s: file \"%s\": %s differs between the processes: %lld here", io_call(),
                     f->name, arg, (long long)v);
    return e;
}

int io_refuse(struct io_file *f, int err)
{
    return io_same(f, 0, "", err);
}
