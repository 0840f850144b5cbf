/* nodemap.h - which world rank is on which node (private to boot/).
 *
 * Kept as the launcher's vector: blocks (first node, nodes, ranks per node), repeated until all
 * ranks are placed.  (0,4,2) puts ranks 0 1 on node 0, 2 3 on node 1, .. and rank 8 on node 0
 * again.  One block for block and round-robin layouts, so memory does not grow with the number of
 * ranks. "Host" is the launcher's node; "node" is what the rest of the library sees after NOLOCAL
 * and NUM_CLIQUES. */
#ifndef BOOT_NODEMAP_H
#define BOOT_NODEMAP_H

#include <stdint.h>

struct node_block {
    int first, nodes, per;
    int64_t start; /* ranks before this block within one period */
};

struct node_map {
    int rank, size;
    int nblocks;
    struct node_block *block;
    int64_t period; /* ranks of one pass over the blocks */
    int hosts;      /* launcher's nodes that hold a rank */
    int cliques;    /* pretended nodes per host */
    int alone;      /* every rank is its own node */
    int nodes;
    /* cached for this process */
    int host, host_size; /* its host, ranks there */
    int node;
    int local_first, local_size; /* its node's ranks among its host's */
};

/* text: "(vector,(first,nodes,per),..)"; NULL: unknown, every rank is its own node.
 * 0; -EINVAL malformed; -ENOMEM. */
int node_map_init(struct node_map *m, const char *text, int rank, int size, int nolocal,
                  int cliques);
void node_map_free(struct node_map *m);

int node_map_node(const struct node_map *m, int rank);
/* the launcher's number; without a map each rank's own */
int node_map_host(const struct node_map *m, int rank);
int node_map_local_index(const struct node_map *m, int rank); /* -1 if elsewhere */
int node_map_local_rank(const struct node_map *m, int index);
/* The same among the ranks of this host, pretended nodes ignored. */
int node_map_host_index(const struct node_map *m, int rank);
int node_map_host_rank(const struct node_map *m, int index);

#endif
