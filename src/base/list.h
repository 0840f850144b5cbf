/* list.h - intrusive circular doubly linked list with a head node.
 *
 *   struct list head = LIST_INIT(head);   struct foo { struct list link; ... };
 *   list_push(&head, &f->link);           list_del(&f->link);
 *   for (struct list *p = head.next; p != &head; p = p->next) LIST_OBJ(p, struct foo, link) ...
 *
 * A node that is on no list points to itself (list_init), so list_del is idempotent. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

struct list {
    struct list *next, *prev;
};

#define LIST_INIT(name) {&(name), &(name)}
#define LIST_OBJ(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline int list_empty(const struct list *l)
{
    return l->next == l;
}

/* Insert n before `at`; with `at` the head: at the tail of the list. */
static inline void list_insert(struct list *at, struct list *n)
{
    n->next = at;
    n->prev = at->prev;
    at->prev->next = n;
    at->prev = n;
}

static inline void list_push(struct list *head, struct list *n)
{
    list_insert(head, n);
}

static inline void list_push_front(struct list *head, struct list *n)
{
    list_insert(head->next, n);
}

static inline void list_del(struct list *n)
{
    n->next->prev = n->prev;
    n->prev->next = n->next;
    list_init(n);
}

static inline struct list *list_first(const struct list *head)
{
    return head->next == head ? NULL : head->next;
}

/* First node, removed; NULL when empty. */
static inline struct list *list_pop(struct list *head)
{
    struct list *n = list_first(head);
    if (n)
        list_del(n);
    return n;
}

#endif
