/* vec.h - arrays that grow: a pointer, how many elements fit there, and how many there are. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

/* The room that an array of `room` elements gets so that `need` fit: twice as much, and at first
 * `first`. So n elements that come one by one are copied less than 2n times. */
static inline size_t vec_room(size_t room, size_t need, size_t first)
{
    if (need <= room)
        return room;
    room = room ? 2 * room : first;
    return room > need ? room : need;
}

/* Do `need` elements fit? Makes the room for them; 0: no memory, and the array is as before. */
#define VEC_FITS(array, room, need, first)                                                         \
    ((size_t)(need) <= (size_t)(room) || __extension__({                                           \
        size_t vec_more = vec_room((size_t)(room), (size_t)(need), (first));                       \
        __typeof__(array) vec_new = realloc((array), vec_more * sizeof *(array));                  \
        if (vec_new) {                                                                             \
            (array) = vec_new;                                                                     \
            (room) = (__typeof__(room))vec_more;                                                   \
        }                                                                                          \
        vec_new != NULL;                                                                           \
    }))

#endif
