/* elf.h - the libraries that an ELF file needs, by its own headers. */
#ifndef LAUNCH_ELF_H
#define LAUNCH_ELF_H

enum { ELF_NEEDED_MAX = 256, ELF_STRING_MAX = 4096 };

struct elf {
    int dynamic;  /* has an interpreter: the loader starts it */
    int windrose; /* has the note of this library (api/env/abi.c), of any version */
    char *soname, *rpath, *runpath; /* NULL: none */
    int needs;
    char *need[ELF_NEEDED_MAX]; /* as written */
};

/* Read the file behind fd. 0; -ENOEXEC: no ELF file for the loader of this machine; another
 * -errno. */
int elf_read(struct elf *e, int fd);
void elf_free(struct elf *e);

#endif
