/* What the runtime needs of the machinery under a communicator: who is there, memory that the ranks share, and how they
 * hear of each other's failures. One table in C for each engine: `local` (one machine, on the runtime's own means) and
 * `nccl` (an NCCL communicator that the program has). A communicator owns its table.
 *
 * Functions that return int32_t return MSCCLC_OK or a code of runtime.h, with the text in mscclc_last_error().
 * "Collective" is as there; `what` names the call, and processes that come to different calls fail by these names. */
#ifndef MSCCLC_ENGINE_H
#define MSCCLC_ENGINE_H

#include "mscclc/runtime.h"
#include "mscclc/runtime_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of one size on every rank. Each engine has its own kind. */
typedef struct MscclcMemory MscclcMemory;

/* A way of the local ranks' kernels to the memory of ranks outside the load/store team. */
typedef struct MscclcPorts MscclcPorts;

/* How ports name a memory: MscclcPlace says what is what. */
typedef struct MscclcWindow {
  void *handle;
  const uint64_t *begins;
} MscclcWindow;

typedef struct MscclcShape {
  uint32_t ranks;
  uint32_t first_local_rank; /* of this process */
  uint32_t local_ranks;
  uint32_t processes; /* in the order of their ranks */
  /* The load/store team: kernels of the local ranks may load and store the memory of `team_ranks` ranks from
   * `team_first` on. */
  uint32_t team_first;
  uint32_t team_ranks;
} MscclcShape;

/* Gets what a process sent; called once for each, in the order of their ranks. */
typedef void (*MscclcReceive)(void *context, const void *bytes, uint64_t count);

enum MscclcOthers {
  MSCCLC_OTHERS_HERE = 0,   /* other processes live, and have not left */
  MSCCLC_OTHERS_GONE = 1,   /* none does */
  MSCCLC_OTHERS_UNKNOWN = 2 /* nobody says any more who has left */
};

typedef struct MscclcEngine MscclcEngine;
struct MscclcEngine {
  const char *name;
  /* 1: other processes may use the memory of this one when its program has no part in the communicator any more, and
   * does not wait for them. 0: what lies under the engine is the program's, and may end then. */
  uint32_t outlasts;
  /* The last call. Waits for nobody. */
  void (*destroy)(MscclcEngine *engine);
  void (*shape)(const MscclcEngine *engine, MscclcShape *shape);

  /* Every process sends `count` bytes, each its own number, and gets those of all. Collective. */
  int32_t (*exchange)(MscclcEngine *engine, const char *what, const void *bytes, uint64_t count, MscclcReceive receive,
                      void *context);

  /* Zeroed memory of `bytes` on every rank; `multicast` 1: with a multicast mapping if it can be had. Collective. */
  int32_t (*allocate)(MscclcEngine *engine, const char *what, uint64_t bytes, uint32_t multicast,
                      MscclcMemory **memory);
  /* The caller's memory, a pointer for each local rank. Collective. */
  int32_t (*adopt)(MscclcEngine *engine, const char *what, void *const *pointers, uint64_t bytes,
                   MscclcMemory **memory);
  /* The part of `rank` as kernels of a local rank address it; null: they cannot load and store it. */
  void *(*address)(const MscclcMemory *memory, uint32_t local_index, uint32_t rank);
  /* The multicast mapping over all ranks, as kernels of a local rank address it, or null. */
  void *(*multicast)(const MscclcMemory *memory, uint32_t local_index);
  /* Lets go of the other ranks' parts. They may free theirs when all have done so. */
  void (*disconnect)(MscclcMemory *memory);
  /* The last call for a memory. Frees what allocate made. */
  void (*release)(MscclcMemory *memory);

  /* An engine whose load/store team may be smaller than the communicator has these, or all of them are null.
   *
   * Ports for a kernel with `body`, which is null where it has none, with `signals` signals on each rank. `what` is the
   * kernel. Collective. */
  int32_t (*open_ports)(MscclcEngine *engine, const char *what, const MscclcNetworkBody *body, uint32_t signals,
                        MscclcPorts **ports);
  /* The device communicator of a local rank, as `body` made it. */
  const void *(*port_communicator)(const MscclcPorts *ports, uint32_t local_index);
  /* The last call for ports. */
  void (*close_ports)(MscclcPorts *ports);
  /* A memory, for the ports of a local rank. */
  void (*window)(const MscclcMemory *memory, uint32_t local_index, MscclcWindow *window);

  /* Asked again and again, from a thread of the communicator's: a failure that the engine was not told of by anybody.
   * MSCCLC_OK if there is none. */
  int32_t (*health)(MscclcEngine *engine);
  /* Tells the other processes, as well as the engine can, that this one gives up. From any thread. */
  void (*abort)(MscclcEngine *engine, int32_t code, const char *reason);
  /* Tells them that this process ends its part. An engine that does not outlast the program's waits until those that
   * live do so too, for no longer than a set-up may take. */
  void (*leave)(MscclcEngine *engine);
  uint32_t (*others)(const MscclcEngine *engine); /* MscclcOthers */
  /* What lies under the engine ends before it: when this returns, nobody asks for its health any more, and memory and
   * ports are let go of without a call of it. From any thread. */
  void (*detach)(MscclcEngine *engine);
};

#ifdef __cplusplus
}
#endif

#endif
