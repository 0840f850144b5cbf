/* meet.c - communicators with processes of other jobs (doc/design/dynamic.md). Start with
 * newcomm_meet().
 *
 *     every member   opens the way for processes of other jobs
 *     the root       meets the other root at a port: world ranks, a context id
 *     both roots     are a communicator of two, over which newcomm_inter() makes the one wanted
 *
 * Where the launcher has no keys for all jobs, both roots bring their addresses, too, and exchange
 * those of all members before anything is sent to them (swap_cards). */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/log.h"
#include "boot/boot.h"
#include "coll/coll_types.h"
#include "coll/newcomm.h"
#include "obj/err.h"
#include "obj/request.h"
#include "p2p/p2p.h"
#include "progress/progress.h"
#include "watch/watch.h"

/* What the roots bring: bytes for another process of this machine. */
struct bring {
    uint64_t ctx; /* of the communicator of two: made by the root that accepts; else 0 */
    int32_t rank;
    int32_t err; /* class: this side cannot go on */
};

enum { CARD_MAX = BOOT_BROUGHT_MAX - (int)sizeof(struct bring) };
struct brought {
    struct bring b;
    unsigned char card[CARD_MAX]; /* am_card() */
};
_Static_assert(sizeof(struct brought) == BOOT_BROUGHT_MAX, "no gap before the card");
_Static_assert((int)CARD_MAX >= (int)AM_CARD_MAX, "the roots bring whole cards");

struct wait {
    struct boot_meeting m;
    const struct comm *c; /* comm_misaligned() ends the wait; NULL: nothing does */
    int fd, result, left;
    int blind; /* nothing is readable when it ends */
};

static int over(void *arg)
{
    struct wait *w = arg;
    w->result = boot_meet_test(&w->m);
    if (!w->result && !w->left && w->c && comm_misaligned(w->c)) {
        w->left = 1;
        w->result = boot_meet_leave(&w->m);
    }
    return w->result != 0;
}

static int wait_fd(void *arg, int arm)
{
    const struct wait *w = arg;
    return arm ? -w->blind : w->fd;
}

static void wait_until(int (*cond)(void *arg), struct wait *w, const char *what)
{
    struct progress_source source = {.fd = wait_fd, .arg = w};
    progress_source_add(&source);
    progress_wait(cond, w, what, -1);
    progress_source_del(&source);
}

/* After begin: serves others until the answer has come. 0 or -errno. */
static int wait_for(struct wait *w, const char *what)
{
    wait_until(over, w, what);
    return w->result < 0 ? w->result : 0;
}

static const char *call_name(void)
{
    return proc->call ? proc->call : "MPI call";
}

/* Text and class of what mpiexec or the system answered. */
static int refused(int err, int cls, const char *what)
{
    const char *call = call_name();
    switch (err) {
    case -ENOTSUP:
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION, "%s: needs Windrose's own mpiexec%s", call,
                        boot_meets() ? "" : ", Hydra, or PRRTE with PMIx 5");
    case -EBUSY:
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                        "%s: not while MPIR_CVAR_RACE is on", call);
    case -EXDEV: return err_make(cls, "%s: port \"%s\" is of another mpiexec", call, what);
    case -ENOENT: return err_make(cls, "%s: there is no \"%s\"", call, what);
    case -ENOTDIR:
        return err_make(cls, "%s: there is no directory \"%s\" (wdir), or it may not be entered",
                        call, what);
    case -EACCES:
        return err_make(cls, "%s: \"%s\" is not of this process, or may not be run", call, what);
    case -ENOSPC:
        return err_make(cls, "%s: there is no place for so many more processes (doc/limits.md)",
                        call);
    case -EINVAL:
        return err_make(cls, "%s: \"%s\": this launcher carries no end of a line in a name or an "
                        "argument, no \"endcmd\" at its end, and no \"=\" in the name of a program "
                        "with mpi_initial_errhandler", call, what);
    case -E2BIG:
        return err_make(cls, "%s: \"%s\": names and arguments are too many or too long for this "
                        "launcher (doc/limits.md)", call, what);
    case -ECONNREFUSED:
        return err_make(cls, "%s: the other processes could not go on", call);
    case -EHOSTUNREACH:
        return err_make(cls, "%s: the other processes are on another host, and the first job was "
                        "started without a network (MPIR_CVAR_TRANSPORT)", call);
    case -ENETUNREACH:
        return err_make(cls, "%s: the network of the other processes is not open here "
                        "(MPIR_CVAR_TRANSPORT and MPIR_CVAR_OFI_PROVIDER must be the same for all)",
                        call);
    case -EPROTONOSUPPORT:
        return err_make(cls, "%s: libfabric's provider shm leads to no other job "
                        "(MPIR_CVAR_OFI_PROVIDER)", call);
    case -ECHILD:
        return err_make(cls, "%s: the spawned job %s", call,
                        boot_meets() == BOOT_MEETS_DIRECT
                            ? "has not called MPI_Init within MPIR_CVAR_BOOT_TIMEOUT"
                            : "ended before it had met this one");
    case -ESRCH:
        return err_make(cls, "%s: the spawned job ended before it had met this one", call);
    case -EDQUOT:
        return err_make(cls, "%s: the launcher has no slots or no cores left for \"%s\" (PRRTE: "
                        "more with --host NAME:SLOTS or --map-by :OVERSUBSCRIBE)", call, what);
    case -ETIMEDOUT:
        return err_make(cls, "%s: \"%s\": the launcher has not answered within "
                        "MPIR_CVAR_BOOT_TIMEOUT", call, what);
    default: return err_make(cls, "%s: \"%s\": %s", call, what, strerror(-err));
    }
}

struct visit {
    int accepts, card; /* bytes of ours; 0: the launcher has the addresses */
    struct bring theirs;
};

/* What the other root has brought, looked at before it knows that both have met: an error here is
 * one there, too.  Where mpiexec pairs them, both know already.  0 or -errno. */
static int judge(struct boot_meeting *m, void *arg)
{
    struct visit *v = arg;
    if (m->len < sizeof v->theirs || (!v->card && m->len > sizeof v->theirs))
        return -EPROTO;
    memcpy(&v->theirs, m->brought, sizeof v->theirs);
    if (v->theirs.rank < 0 || v->theirs.rank >= boot_universe() ||
        (!v->accepts && !ctx_is_id(v->theirs.ctx)))
        return -EPROTO;
    return v->card ? am_card_learn(v->theirs.rank, m->brought + sizeof v->theirs,
                                   m->len - sizeof v->theirs)
                   : 0;
}

/* The root's part: the world rank of the other root, and the id of the communicator of two. */
static int meet(const struct comm *c, int accepts, const char *port, int cls, struct bring *theirs,
                uint64_t *ctx)
{
    struct wait w = {.c = c, .fd = -1};
    struct brought mine = {.b = {.ctx = accepts ? ctx_make() : 0, .rank = boot_rank()}};
    if (accepts && !mine.b.ctx)
        return err_make(MPI_ERR_OTHER, "%s: no context id left", call_name());
    int card = am_card(mine.card, sizeof mine.card);
    struct visit v = {.accepts = accepts, .card = card};
    int err = card < 0 ? card
                       : boot_meet_begin(&w.m, accepts, port, &mine,
                                         sizeof mine.b + (size_t)card, &w.fd);
    if (!err) {
        boot_meet_judge(&w.m, judge, &v);
        err = wait_for(&w, accepts ? "processes that connect" : "processes that accept");
    }
    int both = !err && v.theirs.rank == boot_rank();
    if (err || both)
        ctx_unmake(mine.b.ctx);
    if (both)
        return err_make(cls, "%s: this process is at both ends of the port", call_name());
    if (err && w.left)
        return comm_verdict(c);
    *theirs = v.theirs;
    *ctx = accepts ? mine.b.ctx : v.theirs.ctx;
    return err ? refused(err, cls, port) : MPI_SUCCESS;
}

/* The two roots; the one that accepts is rank 0. */
static struct comm *pair(int accepts, int other, uint64_t ctx)
{
    int world[2] = {accepts ? boot_rank() : other, accepts ? other : boot_rank()};
    struct rankmap *map = rankmap_make(world, 2);
    struct comm *c = map ? comm_make(map, !accepts, NULL, ctx, ctx) : NULL;
    if (!c) /* the other root waits for messages of it */
        log_fatal("out of memory for the communicator with another job");
    rankmap_drop(map);
    return c;
}

int newcomm_open(struct comm *c)
{
    int err = watch_wants(WATCH_OWN_JOB) ? -EBUSY : am_guests();
    err = err ? refused(err, MPI_ERR_OTHER, "the way to other jobs") : MPI_SUCCESS;
    int worst = coll_agree_error(err, c);
    return err ? err : worst;
}

static int all_own(const struct rankmap *m)
{
    int i = m->kind == RANKMAP_STRIDE && m->size > 1 ? m->size - 1 : 0;
    if (m->size && !boot_is_own(rankmap_world(m, 0)))
        return 0;
    while (i < m->size && boot_is_own(rankmap_world(m, i)))
        i++;
    return i >= m->size;
}

int newcomm_mixed(const struct rankmap *a, const struct rankmap *b)
{
    return !all_own(a) || !all_own(b);
}

int newcomm_is_mixed(const struct comm *c)
{
    return !all_own(c->map) || (c->remote && !all_own(c->remote));
}

/* --- addresses ------------------------------------------------------------------------------- */

struct cards { /* of one group */
    int64_t slot, count; /* bytes of one, members; count -1: this group cannot go on */
    unsigned char *all;  /* for each: world rank and length, 4 bytes each, then the card */
};
enum { CARD_HEAD = 8 };

/* Of all members of c. */
static int cards_gather(struct comm *c, struct cards *k)
{
    unsigned char mine[CARD_HEAD + CARD_MAX] = {0};
    int card = am_card(mine + CARD_HEAD, CARD_MAX);
    int32_t head[2] = {boot_rank(), card};
    *k = (struct cards){.slot = card < 0 ? INT64_MAX : card};
    int err = coll_allreduce_i64(&k->slot, 1, COLL_MAX, c);
    if (!err && k->slot > CARD_MAX)
        err = err_make(MPI_ERR_OTHER, "%s: the addresses of a process are too long", call_name());
    if (err)
        return err;
    memcpy(mine, head, sizeof head);
    k->slot += CARD_HEAD;
    k->count = c->size;
    k->all = malloc((size_t)(k->slot * k->count));
    if (!k->all)
        log_fatal("out of memory for the addresses of a job");
    return coll_allgather_bytes(mine, k->all, (size_t)k->slot, c);
}

static int cards_learn(const struct cards *k)
{
    for (int64_t i = 0; i < k->count; i++) {
        const unsigned char *at = k->all + i * k->slot;
        int32_t head[2];
        memcpy(head, at, sizeof head);
        if (head[0] < 0 || head[0] >= boot_universe() || head[1] < 0 ||
            head[1] > k->slot - CARD_HEAD)
            return err_make(MPI_ERR_OTHER, "%s: damaged addresses", call_name());
        int err = am_card_learn(head[0], at + CARD_HEAD, (size_t)head[1]);
        if (err)
            return refused(err, MPI_ERR_OTHER, "their addresses");
    }
    return MPI_SUCCESS;
}

/* One step of the two leaders.  An answer of another length is of another step: that does not end
 * well in any way. */
static int cards_swap(const struct coll_leaders *to, const void *mine, int64_t len, void *theirs,
                      int64_t other)
{
    struct dt_type *byte = proc->coll->byte;
    MPI_Status st;
    int err = p2p_sendrecv(mine, len, byte, to->rank, to->tag, theirs, other, byte, to->rank,
                           to->tag, to->peer, P2P_TOOL, &st);
    if (!err && status_count(&st) != other)
        log_fatal("%s: damaged addresses of another job", call_name());
    return err;
}

static int heads_swap(const struct coll_leaders *to, const struct cards *mine,
                      struct cards *theirs)
{
    int64_t head[2] = {mine->slot, mine->count}, other[2] = {0, -1};
    int err = cards_swap(to, head, sizeof head, other, sizeof other);
    theirs->slot = other[0];
    theirs->count = err ? -1 : other[1];
    return err;
}

/* The leaders' part.  Once both have said that they go on, the other one waits for the second step:
 * what cannot take part in it ends the job. */
static int cards_exchange(const struct coll_leaders *to, const struct cards *mine,
                          struct cards *theirs)
{
    int err = heads_swap(to, mine, theirs);
    if (err)
        return err;
    if (mine->count < 0 || theirs->count < 0)
        return err_make(MPI_ERR_OTHER, "%s: the other group could not go on", call_name());
    if (theirs->slot < CARD_HEAD || theirs->slot > CARD_HEAD + CARD_MAX || theirs->count < 1 ||
        theirs->count > boot_universe())
        log_fatal("%s: damaged addresses of another job", call_name());
    int64_t n = theirs->slot * theirs->count;
    if (!(theirs->all = malloc((size_t)n)))
        log_fatal("out of memory for the addresses of another job");
    return cards_swap(to, mine->all, mine->slot * mine->count, theirs->all, n);
}

/* The other root, which this one has met, waits for it: in swap_cards(), if this one has not come
 * to that, then for the ids. */
static void refuse(const struct coll_leaders *to, int swapped, int err)
{
    struct cards none = {.count = -1}, theirs;
    if (!swapped && boot_meets() == BOOT_MEETS_DIRECT)
        (void)heads_swap(to, &none, &theirs);
    coll_intercomm_refuse(to, err);
}

/* All members of both groups learn the addresses of the other's; nothing where the launcher has
 * them. err: the error that stops this process before. `to` is significant at the leader. */
static int swap_cards(struct comm *local, int leader, const struct coll_leaders *to, int err)
{
    struct cards mine = {0}, theirs = {.count = -1};
    if (boot_meets() != BOOT_MEETS_DIRECT)
        return err;
    int leads = local->rank == leader;
    int worst = coll_agree_error(err, local);
    err = err ? err : worst;
    if (worst || (err = cards_gather(local, &mine)) != 0)
        mine.count = -1;
    if (leads) {
        int met = to->peer->revoked ? comm_revoked_error() : cards_exchange(to, &mine, &theirs);
        err = err ? err : met;
        theirs.count = err ? -1 : theirs.count;
    }
    int64_t head[2] = {theirs.slot, theirs.count};
    int told = coll_bcast_bytes(head, sizeof head, leader, local);
    if (!told && head[1] >= 0) {
        theirs.slot = head[0];
        theirs.count = head[1];
        size_t n = (size_t)(theirs.slot * theirs.count);
        if (!leads && !(theirs.all = malloc(n + 1)))
            log_fatal("out of memory for the addresses of another job");
        told = coll_bcast_bytes(theirs.all, n, leader, local);
    } else if (!told && !err) {
        err = err_make(MPI_ERR_OTHER, "%s: the other group could not go on", call_name());
    }
    err = err ? err : told;
    if (!err)
        err = cards_learn(&theirs);
    free(mine.all);
    free(theirs.all);
    worst = coll_agree_error(err, local);
    return err ? err : worst;
}

int newcomm_open_both(struct comm *local, int local_leader, struct comm *peer, int remote_leader,
                      int tag)
{
    struct dt_type *byte = proc->coll->byte;
    int32_t mine, theirs = 0;
    int err = newcomm_open(local), leads = local->rank == local_leader, met = MPI_SUCCESS;
    err = swap_cards(local, local_leader, &(struct coll_leaders){peer, remote_leader, tag, NULL},
                     err);
    mine = err ? err_class(err) : 0;
    if (leads && peer->revoked)
        met = comm_revoked_error();
    else if (leads)
        met = p2p_sendrecv(&mine, sizeof mine, byte, remote_leader, tag, &theirs, sizeof theirs,
                           byte, remote_leader, tag, peer, P2P_TOOL, MPI_STATUS_IGNORE);
    if (met)
        theirs = err_class(met);
    int told = coll_bcast_bytes(&theirs, sizeof theirs, local_leader, local);
    err = err ? err : met ? met : told;
    if (!err && theirs)
        err = err_make(theirs > 0 && theirs <= MPI_ERR_LASTCODE ? theirs : MPI_ERR_OTHER,
                       "%s: the other group could not go on", call_name());
    return err;
}

int newcomm_meet(struct comm *c, int root, int accepts, const char *port, int cls, int err,
                 struct comm **out)
{
    const char *call = call_name();
    struct bring theirs = {0};
    struct comm *two = NULL;
    uint64_t ctx = 0;
    *out = NULL;
    if (c->rank == root) {
        err = err ? err : meet(c, accepts, port, cls, &theirs, &ctx);
        two = err ? NULL : pair(accepts, theirs.rank, ctx);
        theirs.err = err ? err_class(err) : 0;
    }
    int told = coll_bcast_bytes(&theirs, sizeof theirs, root, c);
    if (!told && theirs.err && c->rank != root)
        err = err_make(theirs.err, "%s: rank %d, the root, could not go on", call, root);
    err = err ? err : told;
    int swaps = !err;
    if (swaps)
        err = swap_cards(c, root, &(struct coll_leaders){two, accepts, 0, NULL}, MPI_SUCCESS);
    if (!err)
        err = newcomm_inter_ready(c, root, two, accepts, out);
    else if (two)
        refuse(&(struct coll_leaders){two, accepts, 0, NULL}, swaps, err);
    comm_drop(two);
    proc->call = call;
    return err;
}

struct spawn {
    struct wait w; /* first: asked() gets it */
    const struct boot_program *list;
    int n, err;
};

static int asked(void *arg)
{
    struct spawn *s = arg;
    s->err = boot_spawn_begin(&s->w.m, s->list, s->n, &s->w.fd);
    s->w.blind = s->err == -EAGAIN && s->w.fd < 0;
    return s->err != -EAGAIN;
}

/* What the text of err names: the launcher does not say which of the programs it was. */
static const char *blamed(const struct boot_program *list, int n, int err)
{
    const char *wdir = NULL;
    if (err != -ENOTDIR)
        return n == 1 ? list[0].command : "one of the programs";
    for (int i = 0; i < n; i++) {
        if (wdir && list[i].wdir && strcmp(wdir, list[i].wdir) != 0)
            return "of one of the programs";
        wdir = list[i].wdir ? list[i].wdir : wdir;
    }
    return wdir ? wdir : ".";
}

int newcomm_spawn(const struct boot_program *list, int n, char port[])
{
    struct spawn s = {.w = {.fd = -1}, .list = list, .n = n, .err = -EAGAIN};
    struct wait *w = &s.w;
    wait_until(asked, w, "the turn to start programs");
    int err = s.err ? s.err : wait_for(w, "programs that are started");
    if (!err && (!w->m.len || w->m.len >= BOOT_PORT_MAX))
        err = -EPROTO;
    if (err)
        return refused(err, MPI_ERR_SPAWN, blamed(list, n, err));
    memcpy(port, w->m.brought, w->m.len);
    port[w->m.len] = 0;
    return MPI_SUCCESS;
}

int newcomm_port_error(int err, int cls, const char *what)
{
    return err ? refused(err, cls, what) : MPI_SUCCESS;
}
