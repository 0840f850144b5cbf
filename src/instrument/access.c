/* access.c - loads and stores: what is of interest goes to a log of the thread, each byte once
 * between two operations of the thread. Start with instrument_note(). */
#include "instrument/instrument.h"

#include <limits.h>
#include <pthread.h>

/* past string.c and alloc.c, which would come back here */
void *REAL(memset)(void *to, int c, size_t n);
void *REAL(calloc)(size_t n, size_t each);
void REAL(free)(void *p);
int REAL(pthread_once)(pthread_once_t *once, void (*fn)(void));

enum { PAGES = 2048, LOG = 1024, STREAM_BITS = 8, WORDS = (1 << PAGE_BITS) / 64 };
enum { READ, WRITE };

struct page {
    uint64_t number, round;     /* valid in that round of the log only */
    uint64_t seen[WORDS][2];    /* bytes that were read, written */
    unsigned whole[2];          /* words of which all bytes were read or written, were written */
};
struct log {
    int number, stranger, busy;
    unsigned n;
    unsigned strangers;         /* those that had ended when it last asked */
    uint64_t round;
    struct {
        uint16_t last, before;  /* index + 1 of its last two accesses */
    } stream[1 << STREAM_BITS]; /* by place */
    struct race_log_entry list[LOG];
    struct page page[PAGES];
    struct streams streams;
};

unsigned char instrument_filter[FILTER];
static const struct race_host *host; /* NULL: nothing is watched */
static unsigned numbers;        /* bits of those in use */
static int several;             /* a second thread has begun */
static unsigned strangers;      /* threads whose end no call waits for, and that have ended */
static pthread_key_t at_end;
static pthread_once_t at_end_once = PTHREAD_ONCE_INIT;
static __thread struct log *mine __attribute__((tls_model("initial-exec")));
static __thread struct {
    const void *object; /* NULL: the thread was begun by code that is not watched */
    void (*over)(void);
    int rounds;         /* of destructors that have begun */
} my_end;

/* --- threads ---------------------------------------------------------------------------------- */

static const struct race_host *host_now(void)
{
    return __atomic_load_n(&host, __ATOMIC_ACQUIRE);
}

int instrument_runs(void)
{
    return host_now() != NULL;
}

static int number_take(void)
{
    unsigned was = __atomic_load_n(&numbers, __ATOMIC_RELAXED);
    for (;;) {
        int free = was == (1u << RACE_THREADS) - 1 ? RACE_THREADS - 1 : __builtin_ctz(~was);
        if (__atomic_compare_exchange_n(&numbers, &was, was | 1u << free, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return free;
    }
}

/* The list becomes records. */
static void log_take(struct log *t)
{
    const struct race_host *h = host_now();
    unsigned n = t->n;
    if (!n)
        return;
    t->busy = 1;
    t->n = 0;
    t->round++;
    REAL(memset)(t->stream, 0, sizeof t->stream);
    if (h)
        h->take(t->list, n);
    t->busy = 0;
}

static void log_flush(struct log *t)
{
    const struct race_host *h = host_now();
    unsigned ended = __atomic_load_n(&strangers, __ATOMIC_RELAXED);
    if (t->busy)
        return;
    streams_close(&t->streams);
    log_take(t);
    if (ended != t->strangers && h) {
        t->busy = 1;
        t->strangers = ended;
        h->acquire(&strangers);
        t->busy = 0;
    }
}

static void log_end(struct log *t)
{
    const struct race_host *h = host_now();
    log_flush(t);
    if (my_end.object && h) {
        h->end(my_end.object);
    } else if (t->stranger && h) {
        h->end(&strangers);
        __atomic_fetch_add(&strangers, 1, __ATOMIC_RELAXED);
    }
    if (t->number < RACE_THREADS - 1) /* the last one is shared, and stays */
        __atomic_fetch_and(&numbers, ~(1u << t->number), __ATOMIC_RELAXED);
    mine = NULL;
    streams_set(NULL);
    REAL(free)(t);
}

/* A thread ends. The thread that waits for it learns what it did. Which one waits for a
 * thread of other code is not seen, so all learn what that one did. */
static void on_end(void *arg)
{
    /* destructors of the program's keys may still come */
    if (++my_end.rounds < PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_setspecific(at_end, arg))
        return;
    if (mine)
        log_end(mine);
    if (my_end.over)
        my_end.over();
}

static void make_key(void)
{
    pthread_key_create(&at_end, on_end);
}

static void ends(void)
{
    REAL(pthread_once)(&at_end_once, make_key);
    pthread_setspecific(at_end, &my_end);
}

static struct log *log_begin(int stranger)
{
    const struct race_host *h = host_now();
    struct log *t = h ? REAL(calloc)(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    t->number = number_take();
    t->stranger = stranger && t->number;
    t->round = 1;
    mine = t;
    streams_set(&t->streams);
    if (t->number) {
        __atomic_store_n(&several, 1, __ATOMIC_RELAXED);
        ends();
    }
    if (t->stranger)
        h->adopt();
    return t;
}

void instrument_begin(void)
{
    if (!mine)
        log_begin(0);
}

void instrument_ends_at(const void *object, void (*over)(void))
{
    my_end.object = object;
    my_end.over = over;
    ends();
}

static int number(void)
{
    const struct log *t = mine ? mine : log_begin(1);
    return t ? t->number : RACE_THREADS - 1;
}

/* --- the log ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) void page_clear(const struct log *t, struct page *p, uint64_t page)
{
    REAL(memset)(p->seen, 0, sizeof p->seen);
    p->whole[READ] = p->whole[WRITE] = 0;
    p->number = page;
    p->round = t->round;
}

static inline struct page *page_of(struct log *t, uint64_t page)
{
    struct page *p = &t->page[page % PAGES];
    if (!LIKELY(p->number == page && p->round == t->round))
        page_clear(t, p, page);
    return p;
}

/* Which of these bytes, which `bits` has of one word, were not noted? They are from now on.
 * Whatever interferes with a load does with a store of the same bytes. */
static inline uint64_t unseen(struct page *p, unsigned word, uint64_t bits, unsigned stores)
{
    uint64_t *seen = p->seen[word], have = seen[WRITE] | (stores ? 0 : seen[READ]);
    if ((have & bits) == bits)
        return 0;
    uint64_t was = seen[READ] | seen[WRITE], is = was | bits;
    p->whole[READ] += is == ~0ull && was != ~0ull;
    p->whole[WRITE] += stores && (seen[WRITE] | bits) == ~0ull;
    seen[stores ? WRITE : READ] |= bits;
    return bits & ~have;
}

static inline uint64_t bits_of(unsigned at, unsigned n)
{
    return (n == 64 ? ~0ull : (1ull << n) - 1) << (at & 63);
}

/* Bytes of one page that were not noted, from the lowest to the highest word that has some. */
struct span {
    unsigned low, high;
    uint64_t lowest, highest; /* 0: none has */
};

static inline void span_add(struct span *s, unsigned word, uint64_t new)
{
    if (!new)
        return;
    if (!s->lowest) {
        s->low = word;
        s->lowest = new;
    }
    s->high = word;
    s->highest = new;
}

/* All bytes of the words from `first` to before `last`. */
static inline __attribute__((always_inline)) void
span_words(struct span *s, struct page *p, unsigned first, unsigned last, unsigned stores)
{
    unsigned whole[2] = {0};
    for (unsigned w = first; w < last; w++) {
        uint64_t *seen = p->seen[w], was = seen[READ] | seen[WRITE];
        uint64_t have = stores ? seen[WRITE] : was;
        if (have == ~0ull)
            continue;
        whole[READ] += was != ~0ull;
        whole[WRITE] += stores;
        seen[stores ? WRITE : READ] = ~0ull;
        span_add(s, w, ~have);
    }
    p->whole[READ] += whole[READ];
    p->whole[WRITE] += whole[WRITE];
}

/* Goes on where the last access of its place ended, or at the same distance as that from the one
 * before? */
static int grows(struct race_log_entry *a, uint64_t at, uint64_t len, unsigned stores,
                 const void *pc)
{
    if (a->pc != pc || a->stores != stores)
        return 0;
    if (a->blocks == 1 && a->at + a->len == at && len <= UINT32_MAX - a->len) {
        a->len += (uint32_t)len;
        return 1;
    }
    if (a->len != len)
        return 0;
    if (a->blocks == 1 && at > a->at + len && at - a->at <= STRIDE_MAX)
        a->stride = (uint32_t)(at - a->at);
    else if (a->blocks == 1 || at != a->at + (uint64_t)a->blocks * a->stride ||
             a->blocks == UINT32_MAX)
        return 0;
    a->blocks++;
    return 1;
}

/* A column beside the one before: both are one, wider. */
static int is_beside(struct race_log_entry *a, const struct race_log_entry *b)
{
    if (a->blocks == 1 || a->blocks != b->blocks || a->stride != b->stride)
        return 0;
    if (a->pc != b->pc || a->stores != b->stores || a->at + a->len != b->at)
        return 0;
    if (b->len > a->stride - a->len)
        return 0;
    a->len += b->len;
    return 1;
}

static void log_add(struct log *t, uint64_t at, uint64_t len, unsigned stores, const void *pc)
{
    unsigned i = (uint32_t)(uintptr_t)pc * 0x9e3779b1u >> (32 - STREAM_BITS);
    unsigned last = t->stream[i].last, before = t->stream[i].before;
    struct race_log_entry next = {at, (uint32_t)len, stores, pc, 0, 1};
    if (last && grows(&t->list[last - 1], at, len, stores, pc))
        return;
    if (before && is_beside(&t->list[before - 1], &t->list[last - 1])) {
        t->list[last - 1] = next;
        return;
    }
    t->list[t->n++] = next;
    t->stream[i].before = (uint16_t)last;
    t->stream[i].last = (uint16_t)t->n;
    if (t->n == LOG)
        log_take(t);
}

/* Bytes of one page. */
static void note_span(struct log *t, uint64_t at, unsigned len, unsigned stores, const void *pc)
{
    struct page *p = page_of(t, at >> PAGE_BITS);
    unsigned first = at & ((1 << PAGE_BITS) - 1), end = first + len;
    unsigned w = first / 64, last = end / 64;
    struct span s = {0};
    if (p->whole[stores ? WRITE : READ] == WORDS)
        return;
    if (first & 63) {
        unsigned n = 64 - (first & 63) < len ? 64 - (first & 63) : len;
        span_add(&s, w, unseen(p, w, bits_of(first, n), stores));
        w++;
    }
    if (stores)
        span_words(&s, p, w, last, 1);
    else
        span_words(&s, p, w, last, 0);
    if (end & 63 && w <= last)
        span_add(&s, last, unseen(p, last, bits_of(0, end & 63), stores));
    if (!s.lowest)
        return;
    first = s.low * 64 + (unsigned)__builtin_ctzll(s.lowest);
    end = s.high * 64 + 64 - (unsigned)__builtin_clzll(s.highest);
    log_add(t, (at >> PAGE_BITS << PAGE_BITS) + first, end - first, stores, pc);
}

static __attribute__((noinline)) void note_parts(uint64_t at, uint64_t len, unsigned stores,
                                                 const void *pc)
{
    struct log *t = mine;
    while (len) {
        uint64_t rest = (1 << PAGE_BITS) - (at & ((1 << PAGE_BITS) - 1));
        uint64_t part = len < rest ? len : rest;
        if (instrument_watched(at)) {
            if (!t && !(t = log_begin(1)))
                return;
            if (t->busy)
                return;
            note_span(t, at, (unsigned)part, stores, pc);
        }
        at += part;
        len -= part;
    }
}

void instrument_note(uint64_t at, uint64_t len, unsigned stores, const void *pc)
{
    struct log *t = mine;
    if (!LIKELY(t != NULL && (at & 63) + len <= 64 && len)) {
        note_parts(at, len, stores, pc);
        return;
    }
    if (t->busy || !instrument_watched(at))
        return;
    struct page *p = page_of(t, at >> PAGE_BITS);
    unsigned byte = at & ((1 << PAGE_BITS) - 1);
    if (unseen(p, byte / 64, bits_of(byte, (unsigned)len), stores))
        log_add(t, at, len, stores, pc);
}

/* --- order ------------------------------------------------------------------------------------ */

void order_fork(const void *object)
{
    const struct race_host *h = host_now();
    __atomic_store_n(&several, 1, __ATOMIC_RELAXED);
    if (h)
        h->fork(object);
}

void order_forked(void)
{
    const struct race_host *h = host_now();
    if (h)
        h->forked();
}

void order_end(const void *object)
{
    const struct race_host *h = host_now();
    if (h)
        h->end(object);
}

void order_join(const void *object)
{
    const struct race_host *h = host_now();
    if (h)
        h->acquire(object);
}

void order_renew(const void *object)
{
    const struct race_host *h = host_now();
    if (h)
        h->renew(object);
}

void order_forget(const void *object)
{
    const struct race_host *h = host_now();
    if (h)
        h->forget(object);
}

void order_acquire(const void *object)
{
    if (__atomic_load_n(&several, __ATOMIC_RELAXED))
        order_join(object);
}

void order_release(const void *object)
{
    const struct race_host *h = host_now();
    if (h && __atomic_load_n(&several, __ATOMIC_RELAXED))
        h->release(object);
}

int order_number(void)
{
    return number();
}

int order_split(const void *from)
{
    const struct race_host *h = host_now();
    log_flush(mine);
    mine->number = number_take();
    h->renew(from);
    return mine->number;
}

void order_unsplit(int number, unsigned split)
{
    log_flush(mine);
    mine->number = number;
    split &= (1u << (RACE_THREADS - 1)) - 1;
    __atomic_fetch_and(&numbers, ~split, __ATOMIC_RELAXED);
}

/* --- what the library calls ------------------------------------------------------------------- */

static void flush(void)
{
    struct log *t = mine ? mine : log_begin(1);
    if (t)
        log_flush(t);
}

static void watch(uint64_t at, uint64_t len)
{
    uint64_t first = at >> PAGE_BITS, last = (at + len - 1) >> PAGE_BITS;
    if (last - first >= FILTER)
        last = first + FILTER - 1;
    for (uint64_t p = first; p <= last; p++)
        __atomic_store_n(&instrument_filter[p % FILTER], 1, __ATOMIC_RELAXED);
}

static void run(const struct race_host *h)
{
    __atomic_store_n(&host, h, __ATOMIC_RELEASE);
    if (h)
        instrument_begin();
    else
        REAL(memset)(instrument_filter, 0, sizeof instrument_filter);
}

const struct race_runtime windrose_race_runtime
    __attribute__((visibility("default"))) = {RACE_RUNTIME_VERSION, number, flush, watch, run};

/* --- what the compiler calls ------------------------------------------------------------------ */

void __tsan_init(void);
void __tsan_init(void)
{
}

/* Left out by the wrapper's options, and called by code that has them all the same. */
void __tsan_func_entry(const void *pc);
void __tsan_func_entry(const void *pc)
{
    (void)pc;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

static inline __attribute__((always_inline)) void
access_one(const void *p, unsigned len, unsigned stores, const void *pc)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    struct stream *s = stream_of(pc);
    if (LIKELY(s->pc == pc && s->next == at)) {
        s->next = at + (uint64_t)s->step;
        return;
    }
    if (LIKELY(!instrument_watched(at) && !instrument_watched(at + len - 1)))
        return;
    stream_miss(at, len, stores, pc);
}

#define ACCESS(name, len, stores)                                                                  \
    void __tsan_##name(void *p);                                                                   \
    void __tsan_##name(void *p)                                                                    \
    {                                                                                              \
        access_one(p, len, stores, CALLER);                                                        \
    }
#define ACCESSES(len)                                                                              \
    ACCESS(read##len, len, 0)                                                                      \
    ACCESS(write##len, len, 1)                                                                     \
    ACCESS(read_write##len, len, 1)                                                                \
    ACCESS(unaligned_read##len, len, 0)                                                            \
    ACCESS(unaligned_write##len, len, 1)                                                           \
    ACCESS(unaligned_read_write##len, len, 1)                                                      \
    ACCESS(volatile_read##len, len, 0)                                                             \
    ACCESS(volatile_write##len, len, 1)                                                            \
    ACCESS(unaligned_volatile_read##len, len, 0)                                                   \
    ACCESS(unaligned_volatile_write##len, len, 1)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ACCESS(vptr_read, sizeof(void *), 0)

void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_update(void **p, void *value)
{
    (void)value;
    touch(p, sizeof *p, 1, CALLER);
}

void __tsan_read_range(void *p, size_t len);
void __tsan_read_range(void *p, size_t len)
{
    touch_range(p, len, 0, CALLER);
}

void __tsan_write_range(void *p, size_t len);
void __tsan_write_range(void *p, size_t len)
{
    touch_range(p, len, 1, CALLER);
}
