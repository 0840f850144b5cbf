/* random.c - random views, memory layouts and kinds of access against a model of the file, byte for
 * byte. Each unit of the file belongs to one rank or to none; what belongs to none must stay as it
 * was. --seed N --programs M repeats and prolongs it; a failure names its seed. */
#include "../mt.h"

#include <fcntl.h>
#include <unistd.h>

enum { UNITS = 40, TILES = 30, MAX_FILE = 2000000 };
static char name[200];
static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull >> 16;
}

static int below(int n)
{
    return (int)(rnd() % (uint64_t)n);
}

/* Everything but mine, skip and memory is the same on all ranks. */
struct program {
    int units, bytes, tiles, disp, size, owner[UNITS];
    int mine, skip; /* own units of a tile; own units that are left out at the begin */
    int blk, gap;   /* memory: blocks of bytes and gaps */
    int last;       /* where its first block lies, if each further one is in front; else 0 */
    MPI_Datatype etype, filetype, memory;
    MPI_File f;
};

static unsigned char value(int at, int seed)
{
    return (unsigned char)(at * 7 + at / 251 + seed);
}

static void types(struct program *p)
{
    int len[UNITS], n = 0;
    MPI_Aint at[UNITS];
    MPI_Datatype t;
    for (int i = 0; i < p->units; i++)
        if (p->owner[i] == mt_rank) {
            len[n] = p->bytes;
            at[n++] = (MPI_Aint)i * p->bytes;
        }
    p->mine = n;
    MPI_Type_contiguous(p->bytes, MPI_BYTE, &p->etype);
    MPI_Type_commit(&p->etype);
    if (n)
        MPI_Type_create_hindexed(n, len, at, MPI_BYTE, &t);
    else
        MPI_Type_contiguous(p->bytes, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, (MPI_Aint)p->units * p->bytes, &p->filetype);
    MPI_Type_commit(&p->filetype);
    MPI_Type_free(&t);
}

static const char *const choices[] = {"automatic", "enable", "disable"};

static void start(struct program *p)
{
    static const int sizes[] = {1, 2, 3, 4, 8, 64, 1000};
    char text[20];
    MPI_Info info;
    p->units = 1 + below(UNITS);
    p->bytes = sizes[below(7)];
    p->tiles = 1 + below(TILES);
    p->disp = below(3) ? below(5000) : 0;
    p->size = p->disp + p->units * p->bytes * p->tiles;
    for (int i = 0, run = 0, owner = -1; i < p->units; i++, run--) {
        if (run <= 0) {
            run = 1 + below(4);
            owner = below(mt_size + (below(4) == 0)) - (below(5) == 0);
            owner = owner >= mt_size ? -1 : owner;
        }
        p->owner[i] = owner;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", choices[below(3)]);
    MPI_Info_set(info, "romio_cb_read", choices[below(3)]);
    MPI_Info_set(info, "romio_ds_read", choices[below(3)]);
    MPI_Info_set(info, "romio_ds_write", choices[below(3)]);
    sprintf(text, "%d", 4096 << below(6));
    MPI_Info_set(info, "cb_buffer_size", text);
    sprintf(text, "%d", 1 + below(mt_size));
    MPI_Info_set(info, "cb_nodes", text);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &p->f),
             MPI_SUCCESS);
    MPI_Info_free(&info);
    types(p);
    CHECK_EQ(MPI_File_set_view(p->f, p->disp, p->etype, p->filetype, "native", MPI_INFO_NULL),
             MPI_SUCCESS);
}

static void memory(struct program *p, int n)
{
    p->blk = 1 + below(3) * below(2000);
    p->blk = n % p->blk ? 1 : p->blk;
    p->gap = below(3) ? 0 : below(50);
    int each = p->blk + p->gap, down = n > p->blk && below(4) == 0;
    p->last = down ? (n / p->blk - 1) * each : 0;
    MPI_Type_create_hvector(n / p->blk, p->blk, down ? -each : each, MPI_BYTE, &p->memory);
    MPI_Type_commit(&p->memory);
}

static int in_memory(const struct program *p, int i)
{
    int at = i / p->blk * (p->blk + p->gap);
    return (p->last ? p->last - at : at) + i % p->blk;
}

static size_t in_all(const struct program *p, int n)
{
    return (size_t)(n / p->blk * (p->blk + p->gap) + p->gap + 1);
}

/* Where in the file the i-th own byte lies. */
static int in_file(const struct program *p, int i)
{
    int unit = i / p->bytes + p->skip, tile = unit / p->mine, k = unit % p->mine, u = 0;
    for (; p->owner[u] != mt_rank || k--; u++)
        ;
    return p->disp + (tile * p->units + u) * p->bytes + i % p->bytes;
}

static void move(struct program *p, int how, int write, char *buf, int n)
{
    MPI_Status st;
    MPI_Request r;
    MPI_File f = p->f;
    MPI_Datatype t = p->memory;
    int got = -1, one = n > 0;
    if (how != 1 && how != 2)
        MPI_File_seek(f, p->skip, MPI_SEEK_SET);
    switch (how * 2 + write) {
    case 0: MPI_File_read_all(f, buf, one, t, &st); break;
    case 1: MPI_File_write_all(f, buf, one, t, &st); break;
    case 2: MPI_File_read_at_all(f, p->skip, buf, one, t, &st); break;
    case 3: MPI_File_write_at_all(f, p->skip, buf, one, t, &st); break;
    case 4: MPI_File_read_at(f, p->skip, buf, one, t, &st); break;
    case 5: MPI_File_write_at(f, p->skip, buf, one, t, &st); break;
    case 6: MPI_File_iread(f, buf, one, t, &r); MPI_Wait(&r, &st); break;
    case 7: MPI_File_iwrite(f, buf, one, t, &r); MPI_Wait(&r, &st); break;
    case 8: MPI_File_iread_all(f, buf, one, t, &r); MPI_Wait(&r, &st); break;
    case 9: MPI_File_iwrite_all(f, buf, one, t, &r); MPI_Wait(&r, &st); break;
    case 10: MPI_File_read_all_begin(f, buf, one, t); MPI_File_read_all_end(f, buf, &st); break;
    default: MPI_File_write_all_begin(f, buf, one, t); MPI_File_write_all_end(f, buf, &st);
    }
    MPI_Get_count(&st, MPI_BYTE, &got);
    CHECK_EQ(got, n);
}

/* 4 of 6 ways are collective: all ranks draw the same one. */
static void one_program(int seed)
{
    static unsigned char file[MAX_FILE], model[MAX_FILE];
    struct program p = {0};
    int n, how, bad = 0, before = mt_errors;
    state = 88172645463325252ull + (uint64_t)seed * 0x9e3779b97f4a7c15ull;
    start(&p);
    how = below(6);
    p.skip = p.mine ? below(2) * below(p.mine * p.tiles) : 0;
    n = (p.mine * p.tiles - p.skip) * p.bytes;
    if (!p.mine)
        p.skip = n = 0;
    memory(&p, n);
    char *buf = mt_alloc(in_all(&p, n));
    memset(model, 0, (size_t)p.size);
    memset(file, 0xee, (size_t)p.size);
    if (mt_rank == 0) {
        int fd = open(name, O_WRONLY);
        CHECK_EQ(pwrite(fd, file, (size_t)p.size, 0), p.size);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    memset(buf, 0x11, in_all(&p, n));
    for (int i = 0; i < n; i++) {
        buf[in_memory(&p, i)] = (char)value(in_file(&p, i), seed);
        model[in_file(&p, i)] = (unsigned char)(value(in_file(&p, i), seed) ^ 0xee);
    }
    move(&p, how, 1, buf + p.last, n);
    MPI_Allreduce(MPI_IN_PLACE, model, p.size, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    int fd = open(name, O_RDONLY);
    CHECK_EQ(pread(fd, file, (size_t)p.size, 0), p.size);
    close(fd);
    for (int i = 0; i < p.size && !bad; i++)
        bad = file[i] != (model[i] ^ 0xee) ? i + 1 : 0;
    MUST(!bad, "seed %d: byte %d of %d is wrong in the file", seed, bad - 1, p.size);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(buf, 0x22, in_all(&p, n));
    move(&p, (how + seed) % 6, 0, buf + p.last, n);
    bad = 0;
    for (int i = 0; i < n && !bad; i++) {
        bad = buf[in_memory(&p, i)] != (char)value(in_file(&p, i), seed) ? i + 1 : 0;
        if (p.gap && i % p.blk == p.blk - 1 && buf[in_memory(&p, i) + 1] != 0x22)
            bad = i + 1;
    }
    MUST(!bad, "seed %d: byte %d of %d was read wrong", seed, bad - 1, n);
    if (mt_errors != before && mt_rank == 0)
        printf("seed %d: how %d, units %d of %d bytes, %d tiles\n", seed, how, p.units, p.bytes,
               p.tiles);
    MPI_Type_free(&p.memory);
    MPI_Type_free(&p.etype);
    MPI_Type_free(&p.filetype);
    MPI_File_close(&p.f);
    if (mt_rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    free(buf);
}

int main(int argc, char **argv)
{
    int seed = 1, programs = 60, id = (int)getpid();
    mt_init(&argc, &argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        seed = !strcmp(argv[i], "--seed") ? atoi(argv[i + 1]) : seed;
        programs = !strcmp(argv[i], "--programs") ? atoi(argv[i + 1]) : programs;
    }
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/mt-io-random-%d", id);
    for (int i = 0; i < programs && mt_errors < 5; i++)
        one_program(seed + i);
    return mt_finish();
}
