/* args.c - target "args": files that mpiexec reads. The first byte selects which:
 *
 *   hosts    a host file (-f)
 *   config   a configuration file (-configfile)
 *   program  the file of a program, of which the interpreter is looked up (program.c)
 *
 * The records are the bytes of the file. */
#include "launch/args.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "launch/program.h"
#include "launch/handover.h"

const size_t fuzz_settings = 2;

enum what { HOSTS, CONFIG, PROGRAM, WHATS };
static const char *const what_name[WHATS] = {"hosts", "config", "program"};

/* No launcher takes a name for an option or for several words. */
static void check_hosts(const char *hosts)
{
    for (const char *h = hosts; *h;) {
        size_t n = strcspn(h, ",");
        FUZZ_CHECK(n > 0 && n <= ARGS_HOST_MAX && (isalnum((unsigned char)*h) || *h == ':') &&
                   strcspn(h, " \t\r\n'\"$`;|&<>\\") >= n);
        h += n + (h[n] == ',');
    }
}

static void check_blocks(const struct args *a)
{
    int size = 0;
    FUZZ_CHECK(a->nblocks > 0 && a->nblocks <= ARGS_BLOCKS_MAX);
    for (int i = 0; i < a->nblocks; i++) {
        const struct block *b = &a->block[i];
        FUZZ_CHECK(b->n > 0 && b->first == size);
        FUZZ_CHECK(b->argv ? b->argv[0] && *b->argv[0] : a->doctor && a->nblocks == 1);
        for (char **w = b->argv; w && *w; w++)
            FUZZ_CHECK(strlen(*w) < ARGS_FILE_MAX);
        size += b->n;
    }
    FUZZ_CHECK(size == a->size && size <= ARGS_RANKS_MAX);
}

static void arguments(const char *option, const char *file, int program)
{
    char *words[] = {(char *)"mpiexec", (char *)option, (char *)file,
                     (char *)(program ? "prog" : NULL), NULL},
         msg[512] = "";
    struct args a;
    int err = args_parse(&a, program ? 4 : 3, words, msg, sizeof msg);
    FUZZ_CHECK(err == 0 || (err == -EINVAL && *msg && strlen(msg) < sizeof msg));
    if (!err && a.action == ARGS_RUN) {
        fuzz_reached("args", program ? "hosts-taken" : "config-taken");
        check_blocks(&a);
        if (a.hosts)
            check_hosts(a.hosts);
        for (int e = 0; e < ENGINES; e++) {
            char **w = engine_words(e, &a, a.hosts ? a.hosts : "localhost", msg, sizeof msg);
            if (w)
                engine_words_free(w);
        }
    }
    args_free(&a);
}

static void program(const char *path)
{
    char name[PATH_MAX];
    if (program_interpreter(AT_FDCWD, path, name))
        return;
    fuzz_reached("args", "program-taken");
    FUZZ_CHECK(strlen(name) < PATH_MAX);
}

/* The head of a program that program.c takes; the records lie on top of it. */
static void seed_program(int fd)
{
    static struct {
        ElfW(Ehdr) head;
        ElfW(Phdr) seg[2];
        char interpreter[16];
    } image;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    FUZZ_CHECK(read(self, &image.head, sizeof image.head) ==
               sizeof image.head); /* class, order, machine */
    close(self);
    image.head.e_phoff = (ElfW(Off))((char *)image.seg - (char *)&image);
    image.head.e_phnum = 2;
    memcpy(image.interpreter, "/lib/ld.so", sizeof "/lib/ld.so");
    image.seg[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_filesz = sizeof image};
    image.seg[1] = (ElfW(Phdr)){.p_type = PT_INTERP,
                                .p_offset = (ElfW(Off))(image.interpreter - (char *)&image),
                                .p_filesz = sizeof "/lib/ld.so"};
    FUZZ_CHECK(pwrite(fd, &image, sizeof image, 0) == sizeof image);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    if (size < fuzz_settings || size > 16384)
        return -1;
    struct feed f = {data + fuzz_settings, data + size};
    struct record r;
    enum what what = (enum what)(data[0] % WHATS);
    fuzz_reached("args", what_name[what]);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    if (what == PROGRAM && data[1] & 1)
        seed_program(fd);
    for (off_t at = 0; feed_record(&f, &r); at += (off_t)r.len) {
        if (what == PROGRAM)
            at = r.a | (off_t)(r.b & 15) << 8; /* anywhere in the first page */
        FUZZ_CHECK(pwrite(fd, r.data, r.len, at) == (ssize_t)r.len);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (what == HOSTS)
        arguments("-f", path, 1);
    else if (what == CONFIG)
        arguments("-configfile", path, 0);
    else
        program(path);
    close(fd);
    return 0;
}

/* --- new records ------------------------------------------------------------------------------ */

size_t fuzz_template(struct rng *r, uint8_t *to, size_t room)
{
    static const char *const lines[] = {"node1\n",
                                        "node2:4 slots=2\n",
                                        "  localhost # here\n",
                                        "-oProxyCommand=x\n",
                                        "::1\n",
                                        "a,b\n",
                                        "# nothing\n",
                                        "\r\n",
                                        "-n 2 prog a b\n",
                                        "-n 1 -env A b prog : -n 2 other\n",
                                        "prog \"two words\" 'x'\n",
                                        "-configfile x\n",
                                        "-hosts a,b -n 1 p\n",
                                        "-n 70000 p\n",
                                        "-wdir d -genv X y p\n",
                                        "\"open\n",
                                        "-timeout 5 -l p\n",
                                        ":\n",
                                        "--help\n"};
    (void)room;
    const char *line = lines[rng_below(r, sizeof lines / sizeof *lines)];
    return record_put(to, 0, rng_below(r, 256), rng_below(r, 16), 0, line, strlen(line));
}
