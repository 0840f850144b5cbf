/* wire.c - target "wire": texts from outside. The first byte selects the parser that gets the
 * records:
 *
 *   server   mpiexec's side of the PMI-1 wire: lines of ranks that may be any program
 *   client   a rank's side: answers of any launcher, while it starts, exchanges values and ends
 *   map      PMI_process_mapping
 *   cvar     values of control variables */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/pmiline.h"
#include "base/proc.h"
#include "boot/boot_types.h"
#include "fuzz.h"
#include "launch/pmi_server.h"
#include "var/var.h"

const size_t fuzz_settings = 4;

enum what { SERVER, CLIENT, MAP, CVAR, WHATS };
static const char *const what_name[WHATS] = {"server", "client", "map", "cvar"};

/* --- the server ------------------------------------------------------------------------------- */

enum { RANKS = 3 };
static struct {
    unsigned long answers, answers_max;
    int broken[RANKS], aborted;
} seen;

static void on_reply(void *arg, int rank, const char *line, size_t len)
{
    (void)arg;
    FUZZ_CHECK(rank >= 0 && rank < RANKS && len > 0 && len < PMI_LINE_MAX && line[len - 1] == '\n');
    FUZZ_CHECK(memchr(line, '\n', len) == line + len - 1 && !memchr(line, 0, len));
    seen.answers++;
}

static void on_abort(void *arg, int rank, int code, int own, const char *why)
{
    (void)arg;
    (void)code;
    FUZZ_CHECK(own == 0 || own == 1);
    FUZZ_CHECK(rank >= 0 && rank < RANKS && strlen(why) < 1024);
    seen.aborted++;
}

static void on_broken(void *arg, int rank, const char *how)
{
    (void)arg;
    FUZZ_CHECK(how && !seen.broken[rank]); /* once; nothing is read from it afterwards */
    seen.broken[rank] = 1;
}

static int appnum(void *arg, int rank)
{
    (void)arg;
    return rank;
}

/* Records: op 0: bytes of rank a; 1: rank a is gone, and the job goes on if b & 1. */
static void server(const uint8_t *s, const uint8_t *at, const uint8_t *end)
{
    const struct pmi_host host = {.reply = on_reply, .aborted = on_abort, .broken = on_broken,
                                  .appnum = appnum};
    struct pmi_server *p;
    struct feed f = {at, end};
    struct record r;
    memset(&seen, 0, sizeof seen);
    FUZZ_CHECK(pmi_server_new(&p, RANKS, s[1], "job", &host) == 0);
    while (feed_record(&f, &r)) {
        int rank = r.a % RANKS;
        if (r.op & 1) {
            pmi_gone(p, rank, r.b & 1);
            continue;
        }
        char *exact = malloc(r.len + 1);
        FUZZ_CHECK(exact != NULL);
        memcpy(exact, r.data, r.len);
        pmi_feed(p, rank, exact, r.len);
        free(exact);
        FUZZ_CHECK(pmi_waiting(p, rank) >= 0 && pmi_waiting(p, rank) <= RANKS);
        FUZZ_CHECK(pmi_pid(p, rank) >= 0 && !(pmi_initialized(p, rank) && pmi_finalized(p, rank)));
    }
    pmi_server_free(p);
}

/* --- the client ------------------------------------------------------------------------------- */

static void client(const uint8_t *s, const uint8_t *at, const uint8_t *end)
{
    struct feed f = {at, end};
    struct record r;
    int fd[2];
    char text[16], value[BOOT_VALUE_MAX];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
    while (feed_record(&f, &r))
        if (r.len && send(fd[1], r.data, r.len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)r.len)
            break;
    shutdown(fd[1], SHUT_WR);
    snprintf(text, sizeof text, "%d", fd[0]);
    setenv("PMI_FD", text, 1);
    snprintf(text, sizeof text, "%d", s[1] % 4);
    setenv("PMI_RANK", text, 1);
    setenv("PMI_SIZE", s[2] & 1 ? "4" : "3", 1);
    if (boot_init(NULL) == 0) {
        fuzz_reached("wire", "client started");
        size_t n = sizeof value;
        memset(value, 7, n);
        FUZZ_CHECK(boot_rank() < boot_size() && strlen(boot_job_id()) < PMI_KVS_MAX);
        boot_put("k", value, s[3] & 1 ? 10 : 1000);
        boot_barrier();
        if (boot_get("k", value, &n) == 0)
            FUZZ_CHECK(n <= sizeof value);
        boot_finalize(); /* closes it */
    } else {
        close(fd[0]);
    }
    close(fd[1]);
}

/* --- the map ---------------------------------------------------------------------------------- */

static void map(const uint8_t *s, const char *text)
{
    struct node_map m;
    int size = 1 + s[1] % 40, rank = s[2] % size;
    if (node_map_init(&m, text, rank, size, s[3] & 1, 1 + (s[3] >> 1) % 5))
        return;
    fuzz_reached("wire", "map taken");
    FUZZ_CHECK(m.host_size >= 1 && m.host_size <= size && m.local_size >= 1 &&
               m.local_size <= m.host_size);
    FUZZ_CHECK(m.node >= 0 && m.node < m.nodes && node_map_node(&m, rank) == m.node);
    for (int r = 0; r < size; r++) {
        int node = node_map_node(&m, r), i = node_map_local_index(&m, r),
            h = node_map_host_index(&m, r);
        FUZZ_CHECK(node >= 0 && node < m.nodes && (i >= 0) == (node == m.node));
        FUZZ_CHECK(i < m.local_size && (i < 0 || node_map_local_rank(&m, i) == r));
        FUZZ_CHECK(h < m.host_size && (h < 0 || node_map_host_rank(&m, h) == r));
    }
    node_map_free(&m);
}

/* --- control variables ------------------------------------------------------------------------ */

static void variable(const uint8_t *s, const char *text)
{
    char why[256], why_not[32];
    const struct cvar_info *c = &cvar_table[(s[1] | s[2] << 8) % cvar_count];
    int err = cvar_set(c->name, text, why, sizeof why);
    FUZZ_CHECK(err == 0 || (err == -EINVAL && *why));
    if (c->kind == CVAR_STR)
        FUZZ_CHECK(!strcmp(*(const char **)c->value, text));
    else
        FUZZ_CHECK(*(int64_t *)c->value >= c->min && *(int64_t *)c->value <= c->max);
    FUZZ_CHECK(cvar_set(text, "1", why_not, sizeof why_not) != 0 || cvar_find(text) >= 0);
    if (!err)
        fuzz_reached("wire", "cvar taken");
    var_finalize();
    FUZZ_CHECK(var_init(why, sizeof why) == 0);
}

/* --- one input -------------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char why[256];
    (void)argc;
    (void)argv;
    if (var_init(why, sizeof why))
        fuzz_fail("%s", why);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t s[4];
    if (size < sizeof s || size > 16384)
        return -1;
    memcpy(s, data, sizeof s);
    const uint8_t *at = data + sizeof s, *end = data + size;
    enum what what = (enum what)(s[0] % WHATS);
    fuzz_reached("wire", what_name[what]);
    if (what == SERVER) {
        server(s, at, end);
    } else if (what == CLIENT) {
        client(s, at, end);
    } else {
        char *text = malloc((size_t)(end - at) + 1), *to = text; /* what the records hold */
        struct feed f = {at, end};
        struct record r;
        FUZZ_CHECK(text != NULL);
        for (; feed_record(&f, &r); to += r.len)
            memcpy(to, r.data, r.len);
        *to = 0;
        if (what == MAP)
            map(s, text);
        else
            variable(s, text);
        free(text);
    }
    return 0;
}

/* --- new records ------------------------------------------------------------------------------ */

size_t fuzz_template(struct rng *r, uint8_t *to, size_t room)
{
    static const char *const lines[] = {
        "cmd=init pmi_version=1 pmi_subversion=1 pid=12 where=7f00123\n", "cmd=get_maxes\n",
        "cmd=get_appnum\n", "cmd=get_universe_size\n", "cmd=get_my_kvsname\n",
        "cmd=put kvsname=job key=k value=abcdef\n", "cmd=get kvsname=job key=k\n",
        "cmd=get kvsname=job key=PMI_process_mapping\n", "cmd=barrier_in\n", "cmd=finalize\n",
        "cmd=abort exitcode=3 text=6869\n", "cmd=publish_name service=x port=y\n",
        "cmd=unpublish_name service=x\n", "cmd=lookup_name service=x\n",
        "cmd=meet number=7 accepts=0 port=6a bring=00\n", "cmd=unmeet number=7\n",
        "mcmd=spawn\nnprocs=1\nendcmd\n",
        /* answers */
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
        "cmd=my_kvsname kvsname=job rc=0\n", "cmd=appnum appnum=0 rc=0\n",
        "cmd=put_result rc=0 msg=success\n", "cmd=barrier_out\n",
        "cmd=get_result rc=0 msg=success value=(vector,(0,1,4))\n",
        "cmd=get_result rc=0 msg=success value=0707\n",
        "cmd=get_result rc=-1 msg=key_not_found value=unknown\n", "cmd=finalize_ack rc=0\n",
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\ncmd=my_kvsname kvsname=job "
        "rc=0\ncmd=appnum appnum=0 rc=0\n"
        "cmd=get_result rc=0 msg=success value=(vector,(0,1,4))\ncmd=put_result rc=0 "
        "msg=success\ncmd=barrier_out\n"
        "cmd=get_result rc=0 msg=success value=0707\ncmd=finalize_ack rc=0\n",
        /* maps, values */
        "(vector,(0,1,4))", "(vector,(0,2,2),(2,1,9))", ",(1,2,3)", "1024", "64K", "0x10", "true",
        "9223372036854775807"};
    (void)room;
    const char *line = lines[rng_below(r, sizeof lines / sizeof *lines)];
    return record_put(to, rng_below(r, 12) == 0, rng_below(r, RANKS), rng_below(r, 2), 0, line,
                      strlen(line));
}
