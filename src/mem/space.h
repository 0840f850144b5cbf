/* space.h - memory spaces: the table that a device brings, and the spaces of this process.
 *
 * A space is memory in which a coherent window (coherent.h) has an instance: the host's, a
 * simulated device's, a CUDA device's.  Addresses of a device are numbers: the host never loads or
 * stores there.  Results are as in tp.h: 0, SPACE_AGAIN or -errno.  Nothing blocks but open, close,
 * commit, decommit and pin.
 */
#ifndef MEM_SPACE_H
#define MEM_SPACE_H

#include <stddef.h>
#include <stdint.h>

enum { SPACE_AGAIN = 2 };
enum space_flag {
    SPACE_PEER = 1,  /* direct copies between devices of the kind */
    SPACE_LAUNCH = 2 /* launch() works */
};
/* host to device, device to host, device to another device of the same kind */
enum space_way { SPACE_IN, SPACE_OUT, SPACE_ACROSS, SPACE_WAYS };

struct space_caps {
    unsigned flags; /* enum space_flag */
    size_t grain;   /* bytes of a commit, a power of two */
    size_t bytes;   /* memory that is free */
};
struct space_run {
    uint64_t dst, src;
    size_t len;
};
struct space_mark { /* an event, a ticket; zeros: done */
    uint64_t v[2];
};
struct space_job {
    void (*kernel)(void *const *ptr, const void *arg);
    int n;            /* addresses in ptr */
    void *const *ptr;
    const void *arg;  /* `bytes` of it are copied */
    size_t bytes;
};

struct space_ops;
/* An open space begins with this. */
struct space {
    const struct space_ops *ops;
    struct space_caps caps;
    int index;     /* of the device */
    int lost;      /* sticky error: what only it has is lost */
    unsigned users;
    struct space *next;
};

struct space_ops {
    const char *name;   /* "host", "sim", "cuda" */
    int (*count)(void); /* devices; 0: none, or no driver */
    int (*open)(int index, struct space **s, struct space_caps *caps);
    void (*close)(struct space *s); /* waits for what is under way */
    /* addresses alone: one range for a whole window */
    int (*reserve)(struct space *s, size_t len, uint64_t *addr);
    void (*unreserve)(struct space *s, uint64_t addr, size_t len);
    /* memory behind them, in grains; -ENOMEM */
    int (*commit)(struct space *s, uint64_t addr, size_t len);
    void (*decommit)(struct space *s, uint64_t addr, size_t len); /* the contents are gone */
    int (*pin)(struct space *s, void *host, size_t len); /* for fast copies; failure is no error */
    void (*unpin)(struct space *s, void *host, size_t len);
    /* begins; s is the device (SPACE_ACROSS: the destination), from the source's device */
    int (*copy)(struct space *s, struct space *from, enum space_way way, const struct space_run *r,
                unsigned n, struct space_mark *m);
    int (*done)(struct space *s, const struct space_mark *m); /* 0, SPACE_AGAIN, -EIO */
    /* the user's stream waits for m from now on */
    int (*before)(struct space *s, void *stream, const struct space_mark *m);
    /* m: all that is in the user's stream now */
    int (*after)(struct space *s, void *stream, struct space_mark *m);
    int (*launch)(struct space *s, void *stream, const struct space_job *job); /* SPACE_LAUNCH */
    /* 1: [addr, addr + len), len > 0, is memory of this device, whatever allocated it */
    int (*holds)(struct space *s, uint64_t addr, size_t len);
    void (*describe)(struct space *s, char *text, size_t len); /* its last error, else its name */
};

extern const struct space_ops space_host, space_sim, space_cuda;
extern const struct space_ops *const space_list[];
/* For tests: the list of this process; NULL: back to space_list.  0 or -ENOMEM. */
int space_use(const struct space_ops *const *list);

/* --- spaces by name and number (space.c) --------------------------------------
 * A name is "host" or "<kind>:<index>".  A number is good for the life of the process; the host's
 * is 0. */
enum { SPACE_NAME = 24 };
/* 0; -EINVAL: not of that form; -ENODEV: not here. */
int space_find(const char *name, int *number);
void space_name(int number, char text[SPACE_NAME]);
/* The names of the spaces there are, with commas. */
void space_names(char *text, size_t len);
/* Open once, used by many: 0 or -errno. space_release() ends one use. */
int space_open(int number, struct space **s);
void space_release(struct space *s);
/* One that a window has opened, or NULL. */
struct space *space_opened(int number);
int space_number(const struct space *s);
/* Host memory for fast copies of a kind of device. Windows may share memory: the same range is
 * pinned once and unpinned by its last user. One that overlaps another is not pinned: slower.
 * space_pin() returns whether space_unpin() must follow. */
int space_pin(struct space *s, void *host, size_t len);
void space_unpin(struct space *s, void *host, size_t len);
/* At the end of the process: all are closed. */
void space_finalize(void);

#endif
