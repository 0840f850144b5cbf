/* stranger.c - stand-ins for other MPI libraries, and programs for them (other.test):
 *   LIBRARY   an MPI library; with JOINS its MPI_Init joins the job by PMI as MPICH does, without
 *             a pid
 *   MIDDLE    a library that needs MPI
 *   MODULE    a program that loads the library which its argument names, as Python loads a module,
 *             and prints a line before it ends
 *   else      a program: MPI_Init, MPI_Finalize; it stays for the seconds of its argument */
#ifdef LIBRARY
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef JOINS
static int say(const char *line)
{
    const char *fd = getenv("PMI_FD");
    char answer[1024];
    return !fd || write(atoi(fd), line, strlen(line)) != (ssize_t)strlen(line) ||
           read(atoi(fd), answer, sizeof answer) <= 0;
}
#endif

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
#ifdef JOINS
    return say("cmd=init pmi_version=1 pmi_subversion=1\n");
#else
    return 0;
#endif
}

int MPI_Finalize(void)
{
#ifdef JOINS
    return say("cmd=finalize\n");
#else
    return 0;
#endif
}

#elif defined MODULE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 2 || !dlopen(argv[1], RTLD_NOW))
        return 1;
    puts("a rank that runs alone");
    fflush(stdout);
    sleep(2);
    return 0;
}

#else
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

#ifdef MIDDLE
int middle(void)
{
    return MPI_Init(0, 0) | MPI_Finalize();
}
#else
#include <stdlib.h>
#include <unistd.h>

int middle(void);
int main(int argc, char **argv)
{
    if (argc > 1)
        sleep((unsigned)atoi(argv[1]));
#ifdef BY_MIDDLE
    (void)argc, (void)argv;
    return middle();
#else
    return MPI_Init(&argc, &argv) | MPI_Finalize();
#endif
}
#endif
#endif
