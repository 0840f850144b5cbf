/* test_elf.c - launch/elf.c: contents, hostile, other files. */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/elf.h"

Suite *suite_elf(void);

/* A library of one segment that holds all: dynamic section, strings, a note. */
static struct {
    ElfW(Ehdr) head;
    ElfW(Phdr) seg[3];
    ElfW(Dyn) dynamic[6];
    char strings[64];
    struct {
        ElfW(Nhdr) head;
        char owner[12], text[8];
    } note[2];
} image;

enum { BASE = 0x10000 };

static ElfW(Phdr) segment(int type, size_t offset, size_t bytes)
{
    return (ElfW(Phdr)){.p_type = type,
                        .p_offset = offset,
                        .p_vaddr = BASE + offset,
                        .p_filesz = bytes,
                        .p_align = 4};
}

static void make(void)
{
    static const char strings[] = "\0libm.so\0/a:/b\0libx.so.1\0liby.so";
    int self = open("/proc/self/exe", O_RDONLY);
    memset(&image, 0, sizeof image);
    /* class, order, machine */
    ck_assert_int_eq(read(self, &image.head, sizeof image.head), sizeof image.head);
    close(self);
    image.head.e_type = ET_DYN;
    image.head.e_phoff = (char *)image.seg - (char *)&image;
    image.head.e_phnum = 3;
    image.seg[0] = segment(PT_LOAD, 0, sizeof image);
    image.seg[1] = segment(PT_DYNAMIC, (size_t)((char *)image.dynamic - (char *)&image),
                           sizeof image.dynamic);
    image.seg[2] =
        segment(PT_NOTE, (size_t)((char *)image.note - (char *)&image), sizeof image.note);
    memcpy(image.strings, strings, sizeof strings);
    const ElfW(Addr) strtab = BASE + (ElfW(Addr))(image.strings - (char *)&image);
    const ElfW(Dyn) d[] = {{.d_tag = DT_NEEDED, .d_un.d_val = 1},
                           {.d_tag = DT_RUNPATH, .d_un.d_val = 9},
                           {.d_tag = DT_SONAME, .d_un.d_val = 15},
                           {.d_tag = DT_NEEDED, .d_un.d_val = 25},
                           {.d_tag = DT_STRTAB, .d_un.d_ptr = strtab},
                           {.d_tag = DT_NULL}};
    memcpy(image.dynamic, d, sizeof d);
    for (int i = 0; i < 2; i++)
        image.note[i].head = (ElfW(Nhdr)){.n_namesz = i ? 9 : 4, .n_descsz = i ? 8 : 16};
    strcpy(image.note[0].owner, "GNU");
    strcpy(image.note[1].owner, "Windrose");
}

static int look(struct elf *e, size_t bytes)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, &image, bytes), (ssize_t)bytes);
    int err = elf_read(e, fd);
    close(fd);
    return err;
}

START_TEST(says)
{
    struct elf e;
    make();
    ck_assert_int_eq(look(&e, sizeof image), 0);
    ck_assert_int_eq(e.needs, 2);
    ck_assert_str_eq(e.need[0], "libm.so");
    ck_assert_str_eq(e.need[1], "liby.so");
    ck_assert_str_eq(e.runpath, "/a:/b");
    ck_assert_str_eq(e.soname, "libx.so.1");
    ck_assert_ptr_null(e.rpath);
    ck_assert_int_eq(e.windrose, 1);
    ck_assert_int_eq(e.dynamic, 0);
    elf_free(&e);
    image.note[1].owner[0] = 'w';
    ck_assert_int_eq(look(&e, sizeof image), 0);
    ck_assert_int_eq(e.windrose, 0);
    elf_free(&e);
}
END_TEST

/* Files that are cut or lie: refused, or what can be read of them. */
START_TEST(hostile)
{
    struct elf e;
    make();
    for (size_t n = 0; n < sizeof image; n++)
        if (look(&e, n) == 0)
            elf_free(&e);
        else
            ck_assert_ptr_null(e.soname);
    for (size_t at = 0; at < sizeof image; at++)
        for (int byte = 0; byte < 256; byte += 51) {
            make();
            ((unsigned char *)&image)[at] = (unsigned char)byte;
            if (look(&e, sizeof image) == 0) {
                ck_assert_int_le(e.needs, 6);
                elf_free(&e);
            }
        }
    make();
    image.dynamic[0].d_un.d_val = 1 << 20; /* behind the end */
    ck_assert_int_eq(look(&e, sizeof image), -ENOEXEC);
    make();
    image.note[0].head.n_descsz = UINT32_MAX;
    ck_assert_int_eq(look(&e, sizeof image), 0);
    ck_assert_int_eq(e.windrose, 0);
    elf_free(&e);
}
END_TEST

START_TEST(other_files)
{
    struct elf e;
    int null = open("/dev/null", O_RDONLY), dir = open("/", O_RDONLY);
    int self = open("/proc/self/exe", O_RDONLY);
    ck_assert_int_eq(elf_read(&e, null), -ENOEXEC);
    ck_assert_int_eq(elf_read(&e, dir), -EISDIR);
    ck_assert_int_eq(elf_read(&e, self), 0);
    ck_assert_int_eq(e.dynamic, 1);
    ck_assert_int_gt(e.needs, 0);
    elf_free(&e);
    close(null);
    close(dir);
    close(self);
}
END_TEST

Suite *suite_elf(void)
{
    Suite *s = suite_create("elf");
    TCase *t = tcase_create("elf");
    tcase_add_test(t, says);
    tcase_add_test(t, hostile);
    tcase_add_test(t, other_files);
    suite_add_tcase(s, t);
    return s;
}
