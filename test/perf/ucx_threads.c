/* ucx_threads.c - a bare UCX program: puts of two threads of a process, with one worker or with one
 * each, into memory that needs no processor of its owner.
 *
 *   cc -O2 -pthread -o ucx_threads ucx_threads.c -lucp -lucs && UCX_TLS=posix ./ucx_threads
 *
 * The targets, two processes, let UCX allocate their memory. So a put is a store into a mapped
 * segment. Then they sleep in read(2) until all is over. Two cores are enough: no target takes part
 * of one. Each row: puts of 8 bytes with a flush behind each 64th, million a second of all threads
 * together, the best of BATCHES batches with one thread and with two. A batch begins when the last
 * thread comes to its barrier, so a thread that the system holds up makes it longer. The first row
 * is stores to private memory: what the machine permits. Exit status 1: a put is not in the memory
 * of its target. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { PUTS = 4096, BATCHES = 200, FLUSH = 64, MEMORY = 1 << 16, TARGETS = 2, BYTES = 4096 };

static void check(ucs_status_t s, const char *what)
{
    if (s == UCS_OK)
        return;
    fprintf(stderr, "ucx_threads: %s: %s\n", what, ucs_status_string(s));
    exit(2);
}

static void move(int fd, int out, void *at, size_t len)
{
    for (char *c = at; len;) {
        ssize_t n = out ? write(fd, c, len) : read(fd, c, len);
        if (n <= 0)
            exit(2);
        c += n;
        len -= (size_t)n;
    }
}

static ucp_context_h context_make(int shared)
{
    ucp_config_t *config;
    ucp_context_h c;
    const ucp_params_t p = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features = UCP_FEATURE_RMA,
        .mt_workers_shared = shared,
    };
    check(ucp_config_read(NULL, NULL, &config), "configuration");
    check(ucp_init(&p, config, &c), "context");
    ucp_config_release(config);
    return c;
}

static ucp_worker_h worker_make(ucp_context_h c, ucs_thread_mode_t mode)
{
    ucp_worker_h w;
    const ucp_worker_params_t p = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                   .thread_mode = mode};
    check(ucp_worker_create(c, &p, &w), "worker");
    return w;
}

/* --- targets ------------------------------------------------------------------------ */

static struct target {
    int in[2], out[2]; /* pipes, as it sees them */
    size_t key_bytes;
    char address[BYTES], key[BYTES];
    uint64_t base;
} targets[TARGETS];

static void target_run(struct target *t)
{
    ucp_context_h c = context_make(0);
    ucp_worker_h w = worker_make(c, UCS_THREAD_MODE_SINGLE);
    const ucp_mem_map_params_t p = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                  UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                    .length = MEMORY,
                                    .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_h mem;
    ucp_mem_attr_t a = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_address_t *address;
    size_t bytes;
    void *key;
    char over;
    check(ucp_mem_map(c, &p, &mem), "memory");
    check(ucp_mem_query(mem, &a), "address of the memory");
    check(ucp_rkey_pack(c, mem, &key, &t->key_bytes), "key");
    check(ucp_worker_get_address(w, &address, &bytes), "address");
    if (bytes > BYTES || t->key_bytes > BYTES)
        exit(2);
    memcpy(t->address, address, bytes);
    memcpy(t->key, key, t->key_bytes);
    t->base = (uintptr_t)a.address;
    memset(a.address, 0, MEMORY);
    move(t->out[1], 1, t, sizeof *t);
    move(t->in[0], 0, &over, 1); /* asleep: it calls nothing of UCX */
    move(t->out[1], 1, a.address, FLUSH * sizeof(uint64_t));
    _exit(0);
}

static void target_start(struct target *t)
{
    if (pipe(t->in) || pipe(t->out))
        exit(2);
    pid_t pid = fork();
    if (pid < 0)
        exit(2);
    if (!pid)
        target_run(t);
    close(t->out[1]); /* its end is seen */
    move(t->out[0], 0, t, sizeof *t);
}

/* --- origins ------------------------------------------------------------------------ */

struct origin { /* of one thread */
    _Alignas(128) ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_rkey_h rkey;
    uint64_t base, value;
    pthread_mutex_t *lock; /* NULL: none */
};

static struct origin origin_make(ucp_worker_h w, const struct target *t, pthread_mutex_t *lock)
{
    struct origin o = {.worker = w, .base = t->base, .lock = lock};
    const ucp_ep_params_t p = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                               .address = (const ucp_address_t *)t->address};
    check(ucp_ep_create(w, &p, &o.ep), "endpoint");
    check(ucp_ep_rkey_unpack(o.ep, t->key, &o.rkey), "far key");
    return o;
}

static void finish(const struct origin *o, ucs_status_ptr_t r)
{
    if (!UCS_PTR_IS_PTR(r)) {
        check(UCS_PTR_STATUS(r), "operation");
        return;
    }
    while (ucp_request_check_status(r) == UCS_INPROGRESS)
        ucp_worker_progress(o->worker);
    check(ucp_request_check_status(r), "operation");
    ucp_request_free(r);
}

static void puts8(struct origin *o)
{
    const ucp_request_param_t none = {0};
    for (unsigned i = 0; i < PUTS; i++) {
        if (o->lock)
            pthread_mutex_lock(o->lock);
        o->value++;
        finish(o, ucp_put_nbx(o->ep, &o->value, sizeof o->value,
                              o->base + i % FLUSH * sizeof o->value, o->rkey, &none));
        if (i % FLUSH == FLUSH - 1)
            finish(o, ucp_ep_flush_nbx(o->ep, &none));
        if (o->lock)
            pthread_mutex_unlock(o->lock);
    }
}

static void stores(struct origin *o)
{
    for (unsigned i = 0; i < PUTS; i++) {
        volatile uint64_t *v = &o->value;
        for (int n = 0; n < 16; n++)
            *v += i;
    }
}

/* --- batches ------------------------------------------------------------------------ */

static struct {
    _Alignas(128) atomic_int came;
    _Alignas(128) atomic_int turn;
    double at; /* when the last one came */
} barrier;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns when the last of n threads came. */
static double meet(int n)
{
    int turn = atomic_load_explicit(&barrier.turn, memory_order_relaxed);
    /* Acquire and release: pairs with the same of the other thread, which came before. */
    if (atomic_fetch_add_explicit(&barrier.came, 1, memory_order_acq_rel) + 1 == n) {
        atomic_store_explicit(&barrier.came, 0, memory_order_relaxed);
        barrier.at = seconds();
        /* Release pairs with the acquire below. */
        atomic_store_explicit(&barrier.turn, turn + 1, memory_order_release);
    }
    while (atomic_load_explicit(&barrier.turn, memory_order_acquire) == turn)
        ;
    return barrier.at;
}

struct work {
    void (*fn)(struct origin *o);
    struct origin *o;
    int threads;
    double best;
};

static void *batches(void *arg)
{
    struct work *w = arg;
    for (int i = 0; i < BATCHES; i++) {
        double from = meet(w->threads);
        w->fn(w->o);
        double took = meet(w->threads) - from;
        w->best = i && w->best < took ? w->best : took;
    }
    return NULL;
}

/* Million a second of the first n of o. */
static double rate(void (*fn)(struct origin *), struct origin *o, int n)
{
    struct work w[2] = {{fn, &o[0], n, 0}, {fn, &o[1], n, 0}};
    pthread_t other;
    if (n == 2 && pthread_create(&other, NULL, batches, &w[1]))
        exit(2);
    batches(&w[0]);
    if (n == 2)
        pthread_join(other, NULL);
    return 1e-6 * n * PUTS / w[0].best;
}

static void row(const char *name, void (*fn)(struct origin *), struct origin *o)
{
    double one = rate(fn, o, 1), two = rate(fn, o, 2);
    printf("%-44s %8.1f %8.1f  x %.2f\n", name, one, two, two / one);
}

/* The last batch of its thread with two workers is in the memory of t. */
static int arrived(struct target *t, const struct origin *o)
{
    uint64_t found[FLUSH];
    move(t->in[1], 1, "", 1);
    move(t->out[0], 0, found, sizeof found);
    for (unsigned i = 0; i < FLUSH; i++)
        if (found[i] != o->value - (FLUSH - 1) + i)
            return 0;
    return 1;
}

int main(void)
{
    static struct origin o[2];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < TARGETS; i++)
        target_start(&targets[i]);
    ucp_context_h own = context_make(0), shared = context_make(1);

    row("stores to private memory", stores, o);
    ucp_worker_h w = worker_make(own, UCS_THREAD_MODE_SERIALIZED);
    for (int i = 0; i < 2; i++)
        o[i] = origin_make(w, &targets[i], &lock);
    row("one worker, under a lock of ours", puts8, o);
    w = worker_make(own, UCS_THREAD_MODE_MULTI);
    for (int i = 0; i < 2; i++)
        o[i] = origin_make(w, &targets[i], NULL);
    row("one worker, under its own lock", puts8, o);
    for (int i = 0; i < 2; i++)
        o[i] = origin_make(worker_make(shared, UCS_THREAD_MODE_SERIALIZED), &targets[i], NULL);
    row("a worker each, without a lock", puts8, o);

    int right = 1;
    for (int i = 0; i < TARGETS; i++)
        right &= arrived(&targets[i], &o[i]);
    if (!right)
        fprintf(stderr, "ucx_threads: a put is not there\n");
    return !right;
}
