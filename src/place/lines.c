/* lines.c - file and line of a place, from addr2line, which may take seconds. Start with
 * site_lookup().
 *
 *   site_lookup(place) --> starts addr2line; 0: later --> ... --> 1: site_text_known() has the text
 *
 * So no hook waits for it, and other threads of the process go on. What was found is kept. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
#include "place/addr2line.h"
#include "place/place_types.h"
#include "var/var.h"

static const uint64_t REAP_NS = 1000000000u; /* a call waits so long for those that are killed */

enum {
    KEPT = 128, /* lines: of many verdicts at once, too */
    ASKED = 4,  /* at a time: each may read a program of gigabytes */
    MODULE = 160
};

struct site_line {
    struct list link;
    uint64_t id;
    enum { LINE_NEW, LINE_ASKED, LINE_OVER } state;
    pid_t pid;      /* 0: none, or the system has given it back */
    int fd;         /* LINE_ASKED: of the answer */
    uint64_t until; /* ns */
    size_t n;
    char text[512]; /* empty: not known */
};

/* --- one answer ------------------------------------------------------------------------------- */

/* A privileged program runs no other program. Simulated ranks get their answer at some time. */
static void ask(struct site_line *s, uint64_t ns)
{
    char module[MODULE];
    int fd[2];
    s->state = LINE_OVER;
    s->until = time_now() + (sched ? random_bits() % 50000000u : ns);
    if (sched)
        s->state = LINE_ASKED;
    if (sched || var_privileged() || !site_module_of(s->id, module, sizeof module) ||
        !*module || pipe2(fd, O_CLOEXEC | O_NONBLOCK))
        return;
    fcntl(fd[1], F_SETFL, 0); /* it is the other program's */
    if (!addr2line_start(&s->pid, module, site_offset(s->id), fd[1])) {
        s->state = LINE_ASKED;
        s->fd = fd[0];
    } else {
        close(fd[0]);
    }
    close(fd[1]);
}

/* Where the program ignores SIGCHLD or waits for any child, it may be gone, and its number another
 * process's: then waitpid() fails. 0: it is not over yet. */
static int reap(struct site_line *s)
{
    if (s->pid && waitpid(s->pid, NULL, WNOHANG) == 0)
        return 0;
    s->pid = 0;
    return 1;
}

static void reap_until(struct site_line *s, uint64_t until)
{
    for (unsigned i = 0; !reap(s) && time_now() < until; i++)
        thread_pause(i);
}

/* It has answered, or never will. What is killed may take a while to end, as where a file system
 * does not answer: the lock is held, so it is reaped later. */
static void end(struct site_line *s)
{
    s->state = LINE_OVER;
    if (sched)
        return;
    close(s->fd);
    if (!reap(s))
        kill(s->pid, SIGKILL);
    addr2line_answer(s->text);
}

/* Read what is there. */
static void turn(struct site_line *s)
{
    ssize_t n = 1;
    while (!sched && n > 0 && s->n < sizeof s->text - 1) {
        n = read(s->fd, s->text + s->n, sizeof s->text - 1 - s->n);
        if (n < 0 && errno == EINTR)
            n = 1;
        else
            s->n += n > 0 ? (size_t)n : 0;
    }
    s->text[s->n] = 0;
    int later = sched || (n < 0 && errno == EAGAIN && !strchr(s->text, '\n'));
    if (!later || time_now() >= s->until)
        end(s);
}

/* --- all of the process ----------------------------------------------------------------------- */

static struct site_line *line_of(const struct place_room *room, uint64_t id)
{
    for (struct list *l = room->lines.next; l != &room->lines; l = l->next)
        if (LIST_OBJ(l, struct site_line, link)->id == id)
            return LIST_OBJ(l, struct site_line, link);
    return NULL;
}

/* A new one, in place of the oldest if there are many; NULL: all are being asked, or no memory. */
static struct site_line *new_line(struct place_room *room, uint64_t id)
{
    struct site_line *s = NULL;
    int n = 0;
    for (struct list *l = room->lines.next; l != &room->lines; l = l->next, n++)
        if (!s && LIST_OBJ(l, struct site_line, link)->state == LINE_OVER &&
            reap(LIST_OBJ(l, struct site_line, link)))
            s = LIST_OBJ(l, struct site_line, link);
    if (n < KEPT)
        s = malloc(sizeof *s);
    else if (s)
        list_del(&s->link);
    if (!s)
        return NULL;
    *s = (struct site_line){.id = id};
    list_push(&room->lines, &s->link);
    return s;
}

int site_lookup(uint64_t id)
{
    struct place_room *k = proc->place;
    struct site_line *s = id && k ? line_of(k, id) : NULL;
    int asked = 0;
    if (!id || !k || (!s && !(s = new_line(k, id))))
        return 1; /* without a line */
    for (struct list *l = k->lines.next; l != &k->lines; l = l->next) {
        struct site_line *other = LIST_OBJ(l, struct site_line, link);
        if (other->state == LINE_OVER)
            reap(other);
        if (other->state == LINE_ASKED) /* it may be that none waits for this one any more */
            turn(other);
        asked += other->state == LINE_ASKED;
    }
    if (s->state == LINE_NEW && asked < ASKED)
        ask(s, k->lines_ns);
    return s->state == LINE_OVER;
}

void lines_init(struct place_room *room)
{
    list_init(&room->lines);
    room->lines_ns = SITE_NS;
}

void lines_drop(struct place_room *room)
{
    struct list *l;
    for (l = room->lines.next; l != &room->lines; l = l->next)
        if (LIST_OBJ(l, struct site_line, link)->state == LINE_ASKED)
            end(LIST_OBJ(l, struct site_line, link));
    uint64_t until = time_now() + REAP_NS;
    while ((l = list_pop(&room->lines)) != NULL) {
        reap_until(LIST_OBJ(l, struct site_line, link), until);
        free(LIST_OBJ(l, struct site_line, link));
    }
}

/* --- text ------------------------------------------------------------------------------------- */

static void fill_line(uint64_t id, const char *line, char *buf, size_t len)
{
    char module[MODULE];
    if (!id || !site_module_of(id, module, sizeof module))
        snprintf(buf, len, "%s", id ? "(in another program)" : "");
    else if (*line)
        snprintf(buf, len, "%s", addr2line_last_part(line));
    else
        snprintf(buf, len, "%s+%#llx", *module ? addr2line_last_part(module) : "program",
                 (unsigned long long)site_offset(id));
}

void site_text_known(uint64_t id, char *buf, size_t len)
{
    const struct place_room *k = proc->place;
    const struct site_line *s = k ? line_of(k, id) : NULL;
    fill_line(id, s && s->state == LINE_OVER ? s->text : "", buf, len);
}

void site_text(uint64_t id, char *buf, size_t len)
{
    site_text_until(SITE_NS, id, buf, len);
}

void site_text_until(uint64_t ns, uint64_t id, char *buf, size_t len)
{
    uint64_t reap_ns = ns < REAP_NS ? ns : REAP_NS;
    struct site_line one = {.id = id};
    struct place_room *k = proc->place;
    struct site_line *s = k && id ? line_of(k, id) : NULL;
    s = s ? s : &one;
    if (s->state == LINE_NEW && id && !sched)
        ask(s, ns);
    for (unsigned i = 0; s->state == LINE_ASKED && !sched; i++) {
        thread_pause(i);
        turn(s);
    }
    if (s == &one) /* nothing keeps its number */
        reap_until(s, time_now() + reap_ns);
    fill_line(id, s->state == LINE_OVER ? s->text : "", buf, len);
}
