/* family.c - ports and numbers of processes where the launcher has none (family.h). Start with
 * family_start() and family_spawn_begin(). */
#include "boot/family.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/detector_types.h"
#include "var/var.h"

#define FAMILY_KIND "windrose-"
#define FAMILY FAMILY_KIND "%016llx:"
enum { FAMILY_LEN = 26 };

static const uint64_t STRANGER_NS = 2000000000u; /* as the watch has */
/* How long the name of a turn may be taken while no process listens. A process that lives listens
 * some instructions later: it has until then. */
static const uint64_t DEAF_NS = 2000000000u;

/* --- numbers ---------------------------------------------------------------------------- */

/* What this process gets of the numbers [free, end) of its job: rank 0, which spawns most often, a
 * half, and the others equal parts of the rest. */
static void share(struct family *d, int free, int end, int rank, int size)
{
    int half = size > 1 ? (end - free) / 2 : 0, others = size > 1 ? size - 1 : 1;
    d->free = rank ? free + (int)((int64_t)half * (rank - 1) / others) : free + half;
    d->end = rank ? free + (int)((int64_t)half * rank / others) : end;
}

/* Which part of the free numbers a spawned job gets, for jobs that it spawns: the first ones most.
 * So those that spawn few jobs may do so over many generations, and those that spawn many have
 * numbers for hundreds. */
static int child_part(const struct family *d)
{
    enum { FIRST = 8, LAST = 64 };
    return d->spawned < LAST - FIRST ? FIRST + (int)d->spawned : LAST;
}

#define FAR "far."

/* What the spawned job is told: "first.places.free.end.PORT", with FAR before the port if the
 * processes that spawned it use a network. */
static int told(struct boot *b, struct family *d, const char *text)
{
    int places, free, end, at = -1;
    unsigned long long family;
    int n = sscanf(text, "%d.%d.%d.%d.%n", &b->first, &places, &free, &end, &at);
    b->far = n == 4 && at >= 0 && !strncmp(text + at, FAR, strlen(FAR));
    at += b->far ? (int)strlen(FAR) : 0;
    int whole = n == 4 && at >= 0 && strlen(text + at) < sizeof b->parent &&
                sscanf(text + at, FAMILY, &family) == 1;
    /* the job's own come before the free ones */
    int fits = whole && b->first > 0 && (int64_t)b->first + b->size <= free;
    if (!fits || free > end || end > places) {
        log_warn("what the launcher hands on from those that spawned this job is damaged: \"%s\"",
                 text);
        return -EPROTO;
    }
    strcpy(b->parent, text + at);
    b->universe = places;
    d->family = family;
    share(d, free, end, b->rank, b->size);
    return 0;
}

int family_start(struct boot *b)
{
    char text[PMI_VALUE_MAX];
    if (!b->ops->spawn_begin)
        return 0;
    struct family *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->turn = d->queue = -1;
    int err = b->ops->spawned(text, sizeof text);
    if (err == -ENOENT) {
        err = 0;
        b->universe = job_places_for(b->size);
        d->family = hash_bytes(HASH_BYTES, b->job_id, strlen(b->job_id));
        share(d, b->size, b->universe, b->rank, b->size);
    } else if (!err) {
        err = told(b, d, text);
    }
    if (!err)
        b->family = d;
    else
        free(d);
    return err == -ENOTSUP ? 0 : err;
}

/* "self" and "shm" are always there, and lead to no other host. */
static int names_network(void)
{
    return strcmp(cvar.transport, "auto") && strcmp(cvar.transport, "shm") &&
           strcmp(cvar.transport, "self");
}

/* Places of a first job over several hosts, which may be a large one that spawns nothing: each
 * doubling halves the context ids of a leader (coll/ctxid.c). */
static int places_over_hosts(int size)
{
    int places = JOB_PLACES;
    while (places - size < size / 4)
        places = 2 * (places + 2) - 2;
    return places;
}

const char *family_apart(struct boot *b)
{
    int several = b->map.host_size != b->size;
    if (!*b->parent)
        b->far = several || names_network();
    if (!*b->parent && several) {
        b->universe = places_over_hosts(b->size);
        share(b->family, b->size, b->universe, b->rank, b->size);
    }
    if (b->far || !several)
        return NULL;
    return "MPI_Init: the launcher has placed this spawned job on several hosts.  The processes "
           "that spawned it are on one and use no network; MPIR_CVAR_TRANSPORT=ofi or ucx, set for "
           "all, gives them one";
}

/* A child that the program has made by fork() may have the socket, too: it is to listen no more. */
static void port_free(struct family *d, struct family_port *p)
{
    struct family_port **at = &d->ports;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (p->job && proc->boot->ops->spawn_forget)
        proc->boot->ops->spawn_forget(p->job);
    shutdown(p->fd, SHUT_RD);
    close(p->fd);
    free(p);
}

/* --- ports ------------------------------------------------------------------------------ */

static void name_port(const struct family *d, const struct detector_card *c, struct family_port *p)
{
    char hex[2 * FAMILY_SECRET + 1];
    pmi_hex(p->secret, sizeof p->secret, hex);
    int at = snprintf(p->name, sizeof p->name, FAMILY "%s", (unsigned long long)d->family, hex);
    for (unsigned i = 0; i < c->spots; i++) {
        char spot[2 * 16 + 1], port[2 * 2 + 1];
        pmi_hex(c->spot[i].bytes, c->spot[i].v6 ? 16 : 4, spot);
        pmi_hex(&c->spot[i].port, sizeof c->spot[i].port, port);
        at += snprintf(p->name + at, sizeof p->name - (size_t)at, ".%d%s%s", c->spot[i].v6 ? 6 : 4,
                       spot, port);
    }
}
_Static_assert(FAMILY_LEN + 2 * FAMILY_SECRET + DETECTOR_SPOTS * (2 + 2 * 18) < BOOT_PORT_MAX,
               "a name holds all addresses");

/* A socket at every address of this host that leads to others; else at the loopback. */
static int listen_at(struct detector_card *c)
{
    if (detector_card_find(c)) {
        static const uint8_t loopback[4] = {127, 0, 0, 1};
        c->spots = 1;
        memcpy(c->spot[0].bytes, loopback, sizeof loopback);
    }
    return detector_port_open(c);
}

int family_port_open(struct family *d, int spawned, struct family_port **port)
{
    struct detector_card c = {0};
    struct family_port *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->fd = listen_at(&c);
    if (p->fd < 0) {
        int err = p->fd;
        free(p);
        return err;
    }
    for (size_t i = 0; i < sizeof p->secret; i += sizeof(uint64_t)) {
        uint64_t r = random_bits();
        memcpy(p->secret + i, &r, sizeof r);
    }
    p->spawned = spawned;
    p->stranger_ns = STRANGER_NS;
    name_port(d, &c, p);
    p->next = d->ports;
    d->ports = p;
    *port = p;
    return 0;
}

struct family_port *family_port_find(const struct family *d, const char *name)
{
    struct family_port *p = d->ports;
    while (p && (p->closed || strcmp(p->name, name) != 0))
        p = p->next;
    return p;
}

void family_port_close(struct family *d, struct family_port *p)
{
    p->closed = 1;
    if (!p->waits)
        port_free(d, p);
    else
        shutdown(p->fd, SHUT_RD); /* wakes those that wait; the last of them frees it */
}

void family_port_left(struct family *d, struct family_port *p)
{
    if (!--p->waits && p->closed)
        port_free(d, p);
}

/* "4" and six bytes, or "6" and eighteen: an address and its port */
static int spot_read(const char *hex, size_t len, struct detector_spot *s)
{
    char text[2 * 18 + 1];
    unsigned char bytes[18];
    size_t n = sizeof bytes;
    int v6 = *hex == '6';
    if ((*hex != '4' && !v6) || len != (v6 ? 1 + 2 * 18 : 1 + 2 * 6))
        return -ENOENT;
    memcpy(text, hex + 1, len - 1);
    text[len - 1] = 0;
    if (pmi_unhex(text, bytes, &n) || n != len / 2)
        return -ENOENT;
    *s = (struct detector_spot){.v6 = (uint8_t)v6};
    memcpy(s->bytes, bytes, n - 2);
    memcpy(&s->port, bytes + n - 2, 2);
    return 0;
}

int family_name_read(const struct family *d, const char *text, struct family_name *n)
{
    char family[FAMILY_LEN + 1], secret[2 * FAMILY_SECRET + 1];
    size_t len = sizeof n->secret;
    snprintf(family, sizeof family, FAMILY, (unsigned long long)d->family);
    if (strncmp(text, FAMILY_KIND, sizeof FAMILY_KIND - 1))
        return -ENOENT;
    if (strncmp(text, family, FAMILY_LEN))
        return -EXDEV;
    text += FAMILY_LEN;
    n->spots = 0;
    if (strnlen(text, sizeof secret) < sizeof secret - 1)
        return -ENOENT;
    memcpy(secret, text, sizeof secret - 1);
    secret[sizeof secret - 1] = 0;
    if (pmi_unhex(secret, n->secret, &len) || len != sizeof n->secret)
        return -ENOENT;
    for (text += sizeof secret - 1; *text == '.' && n->spots < DETECTOR_SPOTS;) {
        size_t end = strcspn(++text, ".");
        if (spot_read(text, end, &n->spot[n->spots++]))
            return -ENOENT;
        text += end;
    }
    return *text || !n->spots ? -ENOENT : 0;
}

/* --- spawn ------------------------------------------------------------------------------ */

/* name: with its directory */
static int is_program(const char *name, const char *wdir)
{
    char path[PATH_MAX];
    struct stat s;
    int from_wdir = wdir && name[0] != '/';
    int n = snprintf(path, sizeof path, "%s%s%s", from_wdir ? wdir : "", from_wdir ? "/" : "",
                     name);
    return n < (int)sizeof path && !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
}

static int is_directory(const char *name)
{
    struct stat s;
    return !stat(name, &s) && S_ISDIR(s.st_mode) && !access(name, X_OK);
}

/* Launchers do not report a program that is not there: look where this host would find it.  0 and
 * its name with its directory, or -ENOENT. */
static int find(const struct boot_program *p, char name[PATH_MAX])
{
    const char *path = strchr(p->command, '/') ? NULL : p->path ? p->path : var_env_get("PATH");
    for (const char *at = path; at; at = strchr(at, ':')) {
        at += *at == ':';
        size_t len = strcspn(at, ":");
        int n = snprintf(name, PATH_MAX, "%.*s%s%s", (int)len, at, len ? "/" : "./", p->command);
        if (n < PATH_MAX && is_program(name, p->wdir))
            return 0;
    }
    int n = snprintf(name, PATH_MAX, "%s%s", strchr(p->command, '/') ? "" : "./", p->command);
    return n < PATH_MAX && is_program(name, p->wdir) ? 0 : -ENOENT;
}

/* The programs as the launcher gets them, with room for their names behind them, and the number of
 * processes.  Hydra takes the hint "path" for one directory, and for that of all later programs. */
static int look_for(const struct family *d, const struct boot_program *list, int n,
                    struct boot_program *out, int *size)
{
    char *name = (char *)(out + n);
    *size = 0;
    for (int i = 0; i < n; i++, name += PATH_MAX) {
        if (list[i].n > d->end - d->free - *size)
            return -ENOSPC;
        *size += list[i].n;
        out[i] = list[i];
        if (list[i].host && !list[i].path)
            continue;
        /* Hydra would end all jobs */
        if (list[i].wdir && !is_directory(list[i].wdir))
            return -ENOTDIR;
        if (find(&list[i], name))
            return -ENOENT;
        if (list[i].path || list[i].errhandler)
            out[i].command = name;
        out[i].path = NULL;
    }
    return 0;
}

/* Hydra adds the later programs of a request to the newest job that it knows. So a family has one
 * request at a time, from here to its answer. The process that asks listens at an abstract name
 * (first byte 0: no file), and those that wait are connected to it. The end of that connection
 * wakes them: one of them takes the name, and the others wait for that one. The kernel ends it for
 * a process that dies. Requests of one process need no turn: Hydra reads them one behind the other.
 * Each of their answers ends the connections, too. So only an answer that does not come holds up
 * others, for MPIR_CVAR_BOOT_TIMEOUT. */
static socklen_t turn_name(const struct family *d, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, FAMILY "spawn",
                     (unsigned long long)d->family);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int turn_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Any user may take the name: such a process is not waited for. One whose user this process has no
 * name for may be of the family, in another user namespace. */
static int is_stranger(int fd)
{
    enum { OVERFLOW_UID = 65534 };
    struct ucred c;
    socklen_t len = sizeof c;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) && c.uid != geteuid() &&
           c.uid != OVERFLOW_UID;
}

static void turn_wait_end(struct family *d)
{
    if (d->queue >= 0)
        close(d->queue);
    d->queue = -1;
}

/* The name is taken, and no process listens.  That passes, or a child that was made by fork() has
 * the socket of a turn that is over, or it is a stranger's.  1: it has not passed. */
static int is_deaf(struct family *d)
{
    if (!d->deaf_by)
        d->deaf_by = time_now() + DEAF_NS;
    return time_now() >= d->deaf_by;
}

/* 1: our turn; 0: another's, and d->queue, if it is not -1, is readable when that changes. */
static int turn_try(struct family *d)
{
    struct sockaddr_un a;
    socklen_t len = turn_name(d, &a);
    d->turn = turn_socket();
    if (d->turn < 0 || (!bind(d->turn, (struct sockaddr *)&a, len) && !listen(d->turn, SOMAXCONN)))
        return 1;
    int taken = errno == EADDRINUSE;
    close(d->turn);
    d->turn = -1;
    if (!taken)
        return 1;
    d->queue = turn_socket();
    if (d->queue < 0)
        return 0;
    int err = connect(d->queue, (struct sockaddr *)&a, len) ? errno : 0;
    if (!err || err == EAGAIN) /* too many wait */
        d->deaf_by = 0;
    if (!err)
        return is_stranger(d->queue);
    turn_wait_end(d);
    return err != EAGAIN && is_deaf(d);
}

static int turn_take(struct family *d)
{
    char c;
    if (d->asking || !proc->boot->ops->spawns_in_turn)
        return 1;
    int waited = d->queue >= 0;
    int waits = waited && recv(d->queue, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    if (!waits)
        turn_wait_end(d);
    if (!d->turn_by || (waited && !waits)) /* the first look, or there was an answer */
        d->turn_by = time_now() + (uint64_t)cvar.boot_timeout * 1000000000u;
    if (time_now() < d->turn_by && (waits || !turn_try(d)))
        return 0;
    turn_wait_end(d);
    d->turn_by = d->deaf_by = 0;
    return 1;
}

/* Those that wait look again. They come back at once while the turn goes on: so all are taken
 * before one is let go. */
static void turn_moves(struct family *d)
{
    enum { MOST = 64 };
    int fd[MOST], n = 0;
    if (d->turn < 0)
        return;
    if (!d->asking) /* a child made by fork() may have the socket, too: it is closed for both */
        shutdown(d->turn, SHUT_RDWR);
    do {
        for (n = 0; n < MOST; n++)
            if ((fd[n] = accept4(d->turn, NULL, NULL, SOCK_CLOEXEC)) < 0)
                break;
        for (int i = 0; i < n; i++)
            close(fd[i]);
    } while (n == MOST && !d->asking);
    if (d->asking)
        return;
    close(d->turn);
    d->turn = -1;
}

void family_spawn_end(struct family *d, struct boot_meeting *m)
{
    if (m->turn) {
        d->asking--;
        turn_moves(d);
    }
    m->turn = 0;
}

/* Where the launcher had no slots no process has had the numbers: they are given again, unless
 * another request has taken the next ones meanwhile. */
void family_spawn_failed(struct family *d, struct boot_meeting *m)
{
    m->brought[m->len] = 0;
    struct family_port *p = family_port_find(d, (char *)m->brought);
    if (!p)
        return;
    if (m->rc == -EDQUOT && d->free == p->end) {
        d->free = p->first;
        d->spawned--;
    }
    family_port_close(d, p);
}

void family_stop(struct boot *b)
{
    struct family *d = b->family;
    while (d && d->ports) /* also where a meeting was not tested to its end */
        port_free(d, d->ports);
    if (d) { /* a request that nothing has tested to its answer, or that has had no turn */
        d->asking = 0;
        turn_moves(d);
        turn_wait_end(d);
    }
    free(d);
    b->family = NULL;
}

int family_spawn_begin(struct boot *b, struct boot_meeting *m, const struct boot_program *list,
                       int n, int *fd)
{
    struct family *d = b->family;
    struct family_port *port;
    char gives[PMI_VALUE_MAX];
    int size = 0;
    if (!turn_take(d)) {
        *fd = d->queue;
        return -EAGAIN;
    }
    m->turn = 1;
    d->asking++;
    struct boot_program *found = calloc((size_t)n, sizeof *found + PATH_MAX);
    int err = found ? look_for(d, list, n, found, &size) : -ENOMEM;
    if (!err)
        err = family_port_open(d, 1, &port);
    if (err) {
        free(found);
        family_spawn_end(d, m);
        return err;
    }
    int theirs = d->free + size, end = theirs + (d->end - theirs) / child_part(d);
    snprintf(gives, sizeof gives, "%d.%d.%d.%d.%s%s", d->free, b->universe, theirs, end,
             b->far ? FAR : "", port->name);
    err = b->ops->spawn_begin(m, found, n, gives, fd);
    free(found);
    if (err) {
        family_spawn_end(d, m);
        family_port_close(d, port);
        return err;
    }
    port->job = m->number;
    port->first = d->free;
    port->end = end;
    d->free = end;
    d->spawned++;
    m->len = strlen(port->name);
    memcpy(m->brought, port->name, m->len);
    return 0;
}
