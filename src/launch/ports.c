/* ports.c - ports: what waits there, and which processes meet (ports.h). Start with meets_ask(). */
#include "launch/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct port {
    struct list link;
    int owner, once;
    int failed; /* -errno for its owner: nothing comes to it any more; 0: it is open */
    unsigned number;
    struct list waiting[2]; /* by accepts, the oldest first */
};

struct guest {
    struct list link;
    int rank;
    unsigned number;
    char bring[];
};

void meets_init(struct meets *m, const char *job,
                void (*met)(void *arg, int rank, unsigned number, int rc, const char *brought),
                void *arg)
{
    *m = (struct meets){.job = job, .met = met, .arg = arg};
    list_init(&m->ports);
}

/* Answer those that wait on a side.  rc 0: without a word. */
static void refuse(struct meets *m, struct port *p, int side, int rc)
{
    for (struct list *l; (l = list_pop(&p->waiting[side])) != NULL;) {
        struct guest *g = LIST_OBJ(l, struct guest, link);
        if (rc)
            m->met(m->arg, g->rank, g->number, rc, NULL);
        free(g);
    }
}

/* It closes.  rc: what those get that wait there; 0: nothing. */
static void port_free(struct meets *m, struct port *p, int rc)
{
    list_del(&p->link); /* first: met() may ask again */
    for (int side = 0; side < 2; side++)
        refuse(m, p, side, rc);
    free(p);
}

void meets_free(struct meets *m)
{
    while (!list_empty(&m->ports))
        port_free(m, LIST_OBJ(m->ports.next, struct port, link), 0);
}

/* The port's name is that of the job, so that another mpiexec knows it as foreign. */
static void name_of(const struct meets *m, const struct port *p, char name[MEET_PORT_MAX])
{
    snprintf(name, MEET_PORT_MAX, "%.200s:%u", m->job, p->number);
}

int meets_open(struct meets *m, int rank, int once, char port[MEET_PORT_MAX])
{
    struct port *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->owner = rank;
    p->once = once;
    p->number = ++m->opened;
    list_init(&p->waiting[0]);
    list_init(&p->waiting[1]);
    list_push(&m->ports, &p->link);
    name_of(m, p, port);
    return 0;
}

static struct port *find(const struct meets *m, const char *port)
{
    char name[MEET_PORT_MAX];
    for (struct list *l = m->ports.next; l != &m->ports; l = l->next) {
        name_of(m, LIST_OBJ(l, struct port, link), name);
        if (!strcmp(name, port))
            return LIST_OBJ(l, struct port, link);
    }
    return NULL;
}

int meets_close(struct meets *m, int rank, const char *port)
{
    struct port *p = find(m, port);
    if (!p || p->owner != rank)
        return -ENOENT;
    port_free(m, p, -ENOENT);
    return 0;
}

void meets_fail(struct meets *m, const char *port, int rc)
{
    struct port *p = find(m, port);
    if (!p)
        return;
    if (!list_empty(&p->waiting[1])) {
        port_free(m, p, rc);
        return;
    }
    p->failed = rc; /* the owner comes later, and should learn the reason */
    refuse(m, p, 0, rc);
}

/* Answer to a name that is no port here. */
static int no_port(const struct meets *m, const char *port)
{
    size_t n = strlen(m->job);
    int job = !strncmp(port, "job_", 4);
    return job && (strncmp(port, m->job, n) != 0 || port[n] != ':') ? -EXDEV : -ENOENT;
}

static struct guest *guest_new(int rank, unsigned number, const char *bring)
{
    size_t len = strlen(bring) + 1;
    struct guest *g = malloc(sizeof *g + len);
    if (!g)
        return NULL;
    list_init(&g->link);
    g->rank = rank;
    g->number = number;
    memcpy(g->bring, bring, len);
    return g;
}

int meets_ask(struct meets *m, int rank, unsigned number, int accepts, const char *port,
              const char *bring)
{
    struct port *p = find(m, port);
    if (!p)
        return no_port(m, port);
    if (accepts && p->owner != rank)
        return -EACCES;
    if (p->failed) {
        int rc = p->failed;
        if (accepts)
            port_free(m, p, rc);
        return rc;
    }
    struct guest *mine = guest_new(rank, number, bring);
    if (!mine)
        return -ENOMEM;
    struct list *l = list_pop(&p->waiting[!accepts]);
    if (!l) {
        list_push(&p->waiting[accepts], &mine->link);
        return 0;
    }
    struct guest *other = LIST_OBJ(l, struct guest, link);
    if (p->once)
        port_free(m, p, -ENOENT);
    m->met(m->arg, other->rank, other->number, 0, mine->bring);
    m->met(m->arg, mine->rank, mine->number, 0, other->bring);
    free(other);
    free(mine);
    return 0;
}

/* Number of them: of one meeting, or, with number NULL, of all. */
static int forget(struct port *p, int rank, const unsigned *number)
{
    int n = 0;
    for (int side = 0; side < 2; side++)
        for (struct list *w = p->waiting[side].next, *after; w != &p->waiting[side]; w = after) {
            struct guest *g = LIST_OBJ(w, struct guest, link);
            after = w->next;
            if (g->rank != rank || (number && g->number != *number))
                continue;
            list_del(w);
            free(g);
            n++;
        }
    return n;
}

int meets_leave(struct meets *m, int rank, unsigned number)
{
    int n = 0;
    for (struct list *l = m->ports.next; l != &m->ports; l = l->next)
        n += forget(LIST_OBJ(l, struct port, link), rank, &number);
    return n != 0;
}

void meets_gone(struct meets *m, int rank)
{
    for (struct list *l = m->ports.next, *next; l != &m->ports; l = next) {
        struct port *p = LIST_OBJ(l, struct port, link);
        next = l->next;
        forget(p, rank, NULL);
        if (p->owner == rank)
            port_free(m, p, -ENOENT);
    }
}
