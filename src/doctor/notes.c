/* notes.c - the part of the contract (tp.h) about puts that the owner of the memory is told of.
 * Start with body_noted(). */
#include "doctor/onesided.h"

enum { NOTERS = 3, NOTES = 48, NOTE_AREA = 16384 }; /* notes of each process that puts */
static int notes[NOTERS][NOTES], stray;

static size_t len_of(unsigned i)
{
    return 1 + i * (NOTE_AREA - 1) / (NOTES - 1);
}

static unsigned char byte_of(unsigned rank, unsigned i, size_t at)
{
    return (unsigned char)(1 + (rank * 31 + i * 7 + at * 13 + (at >> 8)) % 255);
}

/* All of the data is there when its note is. */
static void take_note(void *up, uint32_t note)
{
    unsigned rank = note >> 16, i = note & 0xffff;
    (void)up;
    if (rank >= NOTERS || i >= NOTES || !one.truth) {
        stray++;
        return;
    }
    const unsigned char *p = one.truth + (rank * NOTES + i) * (size_t)NOTE_AREA;
    notes[rank][i]++;
    for (size_t at = 0; at < len_of(i); at++)
        job_check(p[at] == byte_of(rank, i, at));
}

static int all_noted(void)
{
    for (int r = 0; r < one.owner; r++)
        for (int i = 0; i < NOTES; i++)
            if (!notes[r][i])
                return 0;
    return 1;
}

static void put_noted(unsigned i)
{
    unsigned rank = (unsigned)one.e.rank;
    size_t len = len_of(i), at = (rank * NOTES + i) * (size_t)NOTE_AREA;
    uint32_t note = rank << 16 | i;
    for (size_t k = 0; k < len; k++)
        one.buf[k] = byte_of(rank, i, k);
    DO(one.e.ops->put_note(one.e.tp, one.far, at, one.buf, len, one.local, note, &c.d));
    if (len + 8 <= NOTE_AREA)
        one_put(at + len, (size_t)LOCAL - 8, i % 8);
}

/* Each put_note is reported once, at the owner; a put is not. */
void body_noted(void)
{
    end_noted = take_note;
    one_open();
    int has = (one.e.caps.flags & TP_PUT_NOTE) != 0, owns = one.e.rank == one.owner;
    job_check(!has || one.e.ops->put_note);
    for (unsigned i = 0; has && !owns && i < NOTES; i++)
        put_noted(i);
    if (has && !owns)
        one_flush();
    while (has && owns && !all_noted())
        one_poll();
    one_barrier();
    for (int turn = 0; turn < 1000; turn++)
        one_poll();
    for (int r = 0; has && r < NOTERS; r++)
        for (int i = 0; i < NOTES; i++)
            job_check(notes[r][i] == (owns && r < one.owner));
    job_check(stray == 0);
    one_close();
}
