/* The host library that emitted kernels run on. It has communicators of ranks, buffers, loaded kernels and their
 * launches, and the registry that picks a kernel for a call. Plain C.
 *
 * Every function that returns int32_t returns MSCCLC_OK or a code of MscclcResult or MscclcError.
 * mscclc_last_error() returns the text of the calling thread's last failure. Sizes and offsets are in bytes.
 * Communicators are independent of each other. Only one thread at a time may use a communicator and everything that
 * was made from it, except for calls marked "from any thread". */
#ifndef MSCCLC_RUNTIME_H
#define MSCCLC_RUNTIME_H

#include "mscclc/runtime_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Failures of this library, such as MSCCLC_ERROR_TIMEOUT. errors.def explains each. */
enum MscclcError {
#define MSCCLC_FAILURE(id, number, text) MSCCLC_ERROR_##id = number,
#include "errors.def"
};

const char *mscclc_error_name(int32_t code); /* "MSCCLC_ERROR_TIMEOUT"; never null */
const char *mscclc_error_text(int32_t code); /* what the code means, one line */
const char *mscclc_last_error(void);         /* details of this thread's last failure; "" if there was none */
const char *mscclc_runtime_version(void);    /* "0.1.0" */

/* ----------------------------------------------------------------------------------------------- communicators */

enum MscclcPlatform {
  MSCCLC_PLATFORM_AUTO = 0, /* CUDA if the library was built with it and there is a device; otherwise the host */
  MSCCLC_PLATFORM_CUDA = 1,
  MSCCLC_PLATFORM_HOST = 2 /* host memory, and kernels for the CPU stand-in; any device number is valid */
};

/* A wait in a kernel has no time limit. */
#define MSCCLC_NO_TIMEOUT UINT64_MAX

typedef struct MscclcCommunicator MscclcCommunicator;

typedef struct MscclcCommunicatorOptions {
  uint32_t options_bytes; /* sizeof(MscclcCommunicatorOptions) */
  uint32_t ranks;
  /* The ranks of this process: `local_ranks` ranks from `first_local_rank` on. 0: all ranks. */
  uint32_t first_local_rank;
  uint32_t local_ranks;
  /* The device of each local rank; several ranks may have the same. Null: rank r has device r modulo the number of
   * devices. */
  const int32_t *devices;
  uint32_t platform; /* MscclcPlatform */
  /* 1: launches of different instances may run concurrently, if each rank has its own device. They deadlock if the
   * blocks of both do not fit on a device together and devices begin with different launches. 0: all launches follow
   * each other, as launches of one instance always do. */
  uint32_t unchained;
  /* The meeting point of the communicator's processes: the path of a Unix socket ("@name": in the abstract
   * namespace). The process of rank 0 creates it. Null if every rank is in this process, or if there is an
   * `allgather`. */
  const char *rendezvous;
  uint64_t setup_timeout_ms; /* how long a process waits for the others in a collective call; 0: 60 s */
  uint64_t wait_timeout_ms;  /* how long a wait in a kernel may take; 0: 10 s in debug builds, for ever in others */
  /* A wait that takes so long is reported on stderr, again each time that long after, and goes on until its time-out.
   * 0: 30 s. MSCCLC_NO_TIMEOUT: it is not reported. */
  uint64_t report_after_ms;
  /* An exchange of the caller's (MPI_Allgather in place, a key-value store), by which the processes meet instead of at
   * `rendezvous`. `all` has `each` bytes for every process, in the order of their indices; this process's are filled
   * in, and it returns 0 when the others' are too. mscclc_communicator_create calls it, from the calling thread, the
   * same number of times with the same `each` in every process; nobody calls it later. It is not called where every
   * rank is in this process. From then on the processes are in touch by a Unix socket of their own in a temporary
   * folder ($TMPDIR, else /tmp), which other network namespaces of the machine reach too. If processes are on different
   * machines, the result is MSCCLC_ERROR_UNSUPPORTED. */
  int32_t (*allgather)(void *context, void *all, uint64_t each);
  void *allgather_context;
  /* For `allgather`: the index of this process, and the number of processes. Processes are counted from 0 on, in the
   * order of their ranks. If `processes` is 0, each has `local_ranks` ranks, so the index is first_local_rank /
   * local_ranks. */
  uint32_t process;
  uint32_t processes;
  /* The ncclComm_t of each local rank (`local_ranks` of them; 0: one). Their ranks are consecutive. If given, the
   * communicator shares memory and meets by NCCL, 2.28.9 or newer. `ranks`, `first_local_rank` and `devices` are
   * taken from them, and `rendezvous` and `allgather` are not used. They must live longer than the communicator.
   * Null: the runtime uses its own means. */
  void *const *nccl;
  void *nccl_library; /* the handle that dlopen returned for their NCCL. Null: the NCCL that is loaded in the process */
} MscclcCommunicatorOptions;

/// Sets every field to its default.
void mscclc_communicator_options_init(MscclcCommunicatorOptions *options);

/* Every process of the communicator must make the calls marked "collective", in the same order. If a process makes
 * another call, or none, they fail and name that call. */
int32_t mscclc_communicator_create(const MscclcCommunicatorOptions *options,
                                   MscclcCommunicator **communicator); /* collective */
/* Does the same with default options, for the ncclComm_t of one rank. Collective. */
int32_t mscclc_communicator_create_nccl(void *nccl, MscclcCommunicator **communicator);
/* Waits for the launches of this process, and for no other process. Each process may destroy its communicators at
 * any time and in any order, and launches of the others continue. In this process, everything that was made from the
 * communicator is gone. Memory that other processes can access is freed when all of them have destroyed their
 * communicators or ended. A process that exits before that waits for it, at most for the set-up timeout. If graphs
 * with launches of the communicator exist in this process, the call fails with MSCCLC_ERROR_IN_GRAPH after a second,
 * and the communicator stays. It does not wait for them if the communicator has failed. On NCCL the call is
 * collective, and graphs of all processes count, because memory must not live longer than NCCL's communicator. Null
 * is ignored. */
int32_t mscclc_communicator_destroy(MscclcCommunicator *communicator);

uint32_t mscclc_communicator_ranks(const MscclcCommunicator *communicator);
uint32_t mscclc_communicator_first_local_rank(const MscclcCommunicator *communicator);
uint32_t mscclc_communicator_local_ranks(const MscclcCommunicator *communicator);
int32_t mscclc_communicator_device(const MscclcCommunicator *communicator, uint32_t local_rank_index);
uint32_t mscclc_communicator_platform(const MscclcCommunicator *communicator); /* MSCCLC_PLATFORM_CUDA or _HOST */
/* The communicator's own stream of a local rank: a cudaStream_t, or a mscclc::standin::Stream * on the host. */
void *mscclc_communicator_stream(const MscclcCommunicator *communicator, uint32_t rank);

/* Waits until all launches so far are done, except for replays of graphs, because their streams are unknown here. If
 * the communicator failed, fails with the reason. */
int32_t mscclc_communicator_synchronize(MscclcCommunicator *communicator);
/* Waits until every process has called it, but not for their launches. Collective. */
int32_t mscclc_communicator_barrier(MscclcCommunicator *communicator);
/* Returns MSCCLC_OK, or the failure of the communicator. From any thread. */
int32_t mscclc_communicator_health(MscclcCommunicator *communicator);
/* Makes every wait of every rank give up, in all processes. From any thread. */
int32_t mscclc_communicator_abort(MscclcCommunicator *communicator, const char *reason);
/* Announces that the NCCL communicators on which the communicator was made will end before it. When the call
 * returns, the runtime no longer asks for their health. Everything that it has made on them stays, and NCCL cleans
 * it up. Afterwards only mscclc_communicator_destroy may be called. Without NCCL the call does nothing. It waits for
 * nothing. From any thread. */
int32_t mscclc_communicator_detach_nccl(MscclcCommunicator *communicator);
/* Makes a communicator usable again after an abort or a time-out. Waits for its launches. The caller must have
 * waited for replays of graphs. Data in buffers stays as the failure left it. Collective. */
int32_t mscclc_communicator_reset(MscclcCommunicator *communicator);

/* ------------------------------------------------------------------------------------------------------ buffers */

/* Memory of the same size on every rank, which all ranks can reach. */
typedef struct MscclcBuffer MscclcBuffer;

/* Allocates a buffer and fills it with zeros. Makes multicast mappings if the devices have them. Collective. */
int32_t mscclc_buffer_allocate(MscclcCommunicator *communicator, uint64_t bytes, MscclcBuffer **buffer);
/* Makes a buffer of memory that the caller owns. The caller must keep it until the buffer is released. `pointers`
 * has one pointer for each local rank, anywhere within an allocation of the rank's device that peers can reach: one
 * of cudaMalloc, ncclMemAlloc or mscclc_buffer_allocate; on NCCL, of ncclMemAlloc or mscclc_buffer_allocate. Memory
 * that another process cannot map, such as that of cudaMallocAsync and cudaMallocManaged, is
 * MSCCLC_ERROR_UNSUPPORTED. Within one process, the call gives the communicator's devices access to the pool of
 * cudaMallocAsync. Memory of cuMemMap must already give them access; otherwise it is MSCCLC_ERROR_UNSUPPORTED.
 * Memory of another device than the rank's is MSCCLC_ERROR_ARGUMENT. Collective. */
int32_t mscclc_buffer_register(MscclcCommunicator *communicator, void *const *pointers, uint64_t bytes,
                               MscclcBuffer **buffer);
/* Releases a buffer. Waits for the launches. If graphs with launches on the buffer exist in any process, fails with
 * MSCCLC_ERROR_IN_GRAPH after a second, and the buffer stays until the next call. If a process does not make the
 * call, the call and the communicator fail, but the buffer is gone. Null is ignored. Collective. */
int32_t mscclc_buffer_release(MscclcBuffer *buffer);
/* Does the same without waiting a second. A graph that was just destroyed still counts, until CUDA reports its end.
 * Collective. */
int32_t mscclc_buffer_try_release(MscclcBuffer *buffer);

/* Finds the buffer of a local rank that contains `bytes` bytes from `pointer` on, and the offset in it. Null if
 * there is none. */
int32_t mscclc_buffer_find(const MscclcCommunicator *communicator, uint32_t rank, const void *pointer, uint64_t bytes,
                           const MscclcBuffer **buffer, uint64_t *offset);

uint64_t mscclc_buffer_bytes(const MscclcBuffer *buffer);
void *mscclc_buffer_address(const MscclcBuffer *buffer, uint32_t rank); /* of a local rank; else null */
uint32_t mscclc_buffer_multicast(const MscclcBuffer *buffer);           /* 1: switch channels go through the network */
/* Copy between the host and a local rank's part of a buffer. They wait for the copy, but not for launches. */
int32_t mscclc_buffer_write(MscclcBuffer *buffer, uint32_t rank, uint64_t offset, const void *from, uint64_t bytes);
int32_t mscclc_buffer_read(const MscclcBuffer *buffer, uint32_t rank, uint64_t offset, void *to, uint64_t bytes);

/* ------------------------------------------------------------------------------------------- kernels and launches */

/* A kernel, with its channels, semaphores and scratch in a communicator. */
typedef struct MscclcInstance MscclcInstance;

/* `max_message_bytes` is the size of the largest message of any launch. Scratch is allocated for it. Collective. */
int32_t mscclc_instance_create(MscclcCommunicator *communicator, const MscclcKernel *kernel, uint64_t max_message_bytes,
                               MscclcInstance **instance);
/* The same for a kernel with MSCCLC_TAKES_ROWS. `max_row_bytes` is the length of the longest row of any launch. For the
 * function of a hook, chunks are whole multiples of 16 bytes, so the least common multiple with 16 counts where rows
 * are none. */
int32_t mscclc_instance_create_for_rows(MscclcCommunicator *communicator, const MscclcKernel *kernel,
                                        uint64_t max_message_bytes, uint64_t max_row_bytes, MscclcInstance **instance);
/* Waits for the launches. If graphs with launches of the instance exist in any process, fails with
 * MSCCLC_ERROR_IN_GRAPH after a second, and the instance stays. Null is ignored. Collective. */
int32_t mscclc_instance_destroy(MscclcInstance *instance);
const MscclcKernel *mscclc_instance_kernel(const MscclcInstance *instance);
uint64_t mscclc_instance_scratch_bytes(const MscclcInstance *instance); /* of each rank */

/* An array that functions of hooks take (MscclcKernel::arrays). */
typedef struct MscclcCallArray {
  const char *name;
  void *const *pointers; /* one for each local rank, in memory of its device; no other rank accesses it */
} MscclcCallArray;

/* With MSCCLC_SPLIT a launch is two kernels, and a call may start one of them. Work of the caller's between the two
 * runs while data travels. The kernel that sends waits for no other rank. The one that receives is the next call of the
 * instance, with the same arguments, and what these point to stays as it is until then. */
enum MscclcPart { MSCCLC_WHOLE = 0, MSCCLC_SEND = 1, MSCCLC_RECEIVE = 2 };

typedef struct MscclcCall {
  uint32_t call_bytes; /* sizeof(MscclcCall) */
  uint32_t dtype;      /* MscclcDtype */
  uint32_t reduce_op;  /* MscclcReduceOp */
  uint32_t packet;     /* MscclcPacket; 0: the first kind the kernel has */
  /* The place is the same on every rank, and a multiple of the element size. A kernel that works in place takes the
   * longer one of both buffers, or one buffer twice. mscclc_input_step and mscclc_output_step say where the shorter
   * one is in the longer one. */
  const MscclcBuffer *input;
  const MscclcBuffer *output;
  uint64_t input_offset;
  uint64_t output_offset;
  uint64_t message_bytes;
  /* Threads of a block, at most MscclcKernel::threads. That is at most 768 for a kernel that reduces, and at most
   * 512 for one that reduces packets. 0: as many as have work (MscclcKernel::useful_threads), but at most 4 on the
   * host. */
  uint32_t threads;
  /* 1: programmatic dependent launch. The kernel may begin as the earlier kernel of its stream ends, or while that one
   * runs and has allowed it (cudaTriggerProgrammaticLaunchCompletion). It waits for that end before it accesses memory.
   * A kernel that is launched so behind it may begin when all blocks have done their work. Ranks that share a device,
   * devices below sm_90 and the host launch without. */
  uint32_t pdl;
  /* One stream for each local rank. It must exist until mscclc_communicator_synchronize. Ranks on one device have
   * different streams, none of them the default stream. Null: the communicator's own streams, which do not wait for
   * the default stream. */
  void *const *streams;
  /* One for each local rank: the copies that the kernel itself makes to the rank's input and from its output. So the
   * data of a call may be anywhere. A rank without blocks cannot copy, so its `input` and `output` must be null.
   * Null: nothing is copied. */
  const MscclcStaging *staging;
  /* For kernels with hooks. */
  uint64_t row_bytes;            /* of a row, with MSCCLC_TAKES_ROWS; else 0. Each share of a message has whole rows */
  const MscclcCallArray *arrays; /* [num_arrays]: all that the kernel takes, in any order */
  uint32_t num_arrays;
  uint32_t part; /* MscclcPart */
  /* For kernels with MSCCLC_TAKES_COUNTS: one for each local rank. The runtime adds `tables`. `in_rows` and `out_rows`
   * are the same on every rank, and say how long buffers are at least. A message is ranks * capacity rows long. */
  const MscclcCounts *counts;
  /* For kernels with MSCCLC_TAKES_INDEX: one for each local rank. `input` and `output` are then memory that the kernel
   * works in, and `counts` is null. A message is ranks * experts * capacity rows long. */
  const MscclcIndex *index;
} MscclcCall;

void mscclc_call_init(MscclcCall *call);

/* Starts the launches of all local ranks, asynchronously. Does nothing if the message has 0 bytes, unless the kernel
 * takes counts of rows or an index of experts: then it writes counts, and zeros as sums. On each device, launches of
 * this process on one communicator follow each other, whatever their instances and streams (but see
 * MscclcCommunicatorOptions::unchained). Launches may be captured into CUDA graphs. Then the user orders the graph
 * against other launches. The graph keeps its instance and buffers: they can be released when the graph is destroyed
 * and its replays have ended.
 *
 * Fails with MSCCLC_ERROR_PART for a part of a kernel without MSCCLC_SPLIT; for MSCCLC_RECEIVE without the MSCCLC_SEND
 * before it, or of another size; and for any other part between the two. mscclc_communicator_reset forgets a
 * MSCCLC_SEND. */
int32_t mscclc_launch(MscclcInstance *instance, const MscclcCall *call);

/* ----------------------------------------------------------------------------------------- registry and selection */

/* Returns the path of this runtime, once it has loaded a library of kernels or made a communicator; null before. A
 * process uses only one runtime. If another one is in use, loading a library and making a communicator fail, and the
 * error names the files of both. */
const char *mscclc_runtime_in_use(void);

/* mscclc_register_kernel (runtime_abi.h) adds a kernel to the registry. Registered kernels must stay loaded. From
 * any thread. */
int32_t mscclc_unregister_kernel(const MscclcKernel *kernel);
uint32_t mscclc_kernel_count(void);
const MscclcKernel *mscclc_kernel_at(uint32_t index);     /* in the order of registration; null past the end */
const MscclcKernel *mscclc_find_kernel(const char *name); /* the last registered of that name, or null */
/* Returns a text of everything in a kernel that must be the same on all ranks: its name, tool, source, switches and
 * text, and the types, operations and packets that it was compiled for. Valid until the thread's next call. "" if
 * `kernel` is not a kernel. */
const char *mscclc_kernel_identity(const MscclcKernel *kernel);
/* Loads a library of kernels permanently. Writes up to `capacity` of the kernels that it registers to `kernels`, and
 * their total number to `count`. `kernels` may be null if `capacity` is 0. Refuses a file that is shorter than its
 * own tables say. */
int32_t mscclc_load_library(const char *path, const MscclcKernel **kernels, uint32_t capacity, uint32_t *count);

typedef struct MscclcQuery {
  const char *collective; /* "allreduce", … */
  uint32_t ranks;
  uint32_t dtype;     /* MscclcDtype */
  uint32_t reduce_op; /* MscclcReduceOp; a kernel whose plan mixes them fits MSCCLC_MIXED_REDUCE only */
  uint32_t in_place;  /* 0 or 1 */
  uint64_t message_bytes;
  const char *tags; /* comma-separated, all of them wanted; null: none */
  uint32_t root;    /* rank; of a collective that has one */
} MscclcQuery;

/* Returns whether a kernel can run a query, without regard to its tags. */
int32_t mscclc_kernel_fits(const MscclcKernel *kernel, const MscclcQuery *query);

/* A set of kernels to select from, with rules. It is independent of any communicator. */
typedef struct MscclcSelector MscclcSelector;
/* Decides instead of the rules. Returns the index of one of the `count` candidates, or -1 for none. The candidates
 * are those that fit, the best first. */
typedef int32_t (*MscclcSelectFunction)(const MscclcQuery *query, const MscclcKernel *const *candidates, uint32_t count,
                                        void *user);

int32_t mscclc_selector_create(MscclcSelector **selector);
void mscclc_selector_destroy(MscclcSelector *selector);
/* Adds a kernel for messages of min_bytes to max_bytes (both included, and within the kernel's own range). Tags are
 * comma-separated. A kernel also has the tags of its program (MscclcKernel::tags), and those that follow from its
 * properties: "packets", "port", "multicast", "double-scratch", "baked". Among the kernels that fit, the highest
 * priority wins, then the narrowest range, then the first added. */
int32_t mscclc_selector_add(MscclcSelector *selector, const MscclcKernel *kernel, const char *tags, uint64_t min_bytes,
                            uint64_t max_bytes, int32_t priority);
int32_t mscclc_selector_set_function(MscclcSelector *selector, MscclcSelectFunction function, void *user);
/* Selects a kernel. Fails with MSCCLC_ERROR_NO_KERNEL if none fits; the text gives the reason for each kernel. A
 * null selector selects among all registered kernels by their own ranges and tags. */
int32_t mscclc_select(const MscclcSelector *selector, const MscclcQuery *query, const MscclcKernel **kernel);

#ifdef __cplusplus
}
#endif

#endif
