/* control.h - for programs that answer for the system where the library locks: fcntl is control(),
 * which the program defines. */
#ifndef CONTROL_H
#define CONTROL_H

#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The program's answer. */
static int control(int fd, int cmd, void *arg);

/* The system's answer. */
static int control_system(int fd, int cmd, void *arg)
{
    return (int)syscall(SYS_fcntl, fd, cmd, arg);
}

/* The calls of the program and of the library. */
int fcntl(int fd, int cmd, ...)
{
    va_list ap;
    va_start(ap, cmd);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    return control(fd, cmd, arg);
}

/* The same call, as code that is built for large files names it. */
int fcntl64(int fd, int cmd, ...) __attribute__((alias("fcntl")));

#endif
