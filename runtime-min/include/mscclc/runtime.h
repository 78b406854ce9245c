/* The host library that emitted kernels run on: communicators of ranks, buffers, loaded kernels and their launches, and
 * the registry that picks a kernel for a call. Plain C.
 *
 * Every function that returns int32_t returns MSCCLC_OK or a code of MscclcResult or MscclcError; the text of the
 * calling thread's last failure is mscclc_last_error(). Sizes and offsets are bytes. Communicators are independent of
 * each other; one communicator, with all that was made from it, is used by one thread at a time. */
#ifndef MSCCLC_RUNTIME_H
#define MSCCLC_RUNTIME_H

#include "mscclc/runtime_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of this library, such as MSCCLC_ERROR_TIMEOUT; errors.def says when they come. */
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
  MSCCLC_PLATFORM_AUTO = 0, /* CUDA where the library has it and a device is there, else the host */
  MSCCLC_PLATFORM_CUDA = 1,
  MSCCLC_PLATFORM_HOST = 2 /* host memory and kernels built for the CPU stand-in; any device number is a device */
};

/* A wait in a kernel may last for ever. */
#define MSCCLC_NO_TIMEOUT UINT64_MAX

typedef struct MscclcCommunicator MscclcCommunicator;

typedef struct MscclcCommunicatorOptions {
  uint32_t options_bytes; /* sizeof(MscclcCommunicatorOptions) */
  uint32_t ranks;
  /* Ranks of this process: `local_ranks` from `first_local_rank` on. 0: all. */
  uint32_t first_local_rank;
  uint32_t local_ranks;
  /* Device of each local rank; several may name the same. Null: rank r is on device r modulo the devices there. */
  const int32_t *devices;
  uint32_t platform; /* MscclcPlatform */
  /* 1: launches of different instances may run side by side, where ranks have devices of their own. They deadlock if
   * the blocks of both do not fit on a device together, and devices begin with different ones. 0: they follow each
   * other, as launches of one instance do. */
  uint32_t unchained;
  /* Where the processes of the communicator meet: the path of a Unix socket ("@name": in the abstract namespace). Rank
   * 0's process makes it. Null where every rank is in this process, and where there is an `allgather`. */
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
   * folder ($TMPDIR, else /tmp), which other network namespaces of the machine reach too. Processes of different
   * machines are told so: MSCCLC_ERROR_UNSUPPORTED. */
  int32_t (*allgather)(void *context, void *all, uint64_t each);
  void *allgather_context;
  /* For `allgather`: this process's index, and how many processes there are. An index counts processes, from 0 on, in
   * the order of their ranks. `processes` 0: each has `local_ranks` ranks, so the index is first_local_rank /
   * local_ranks. */
  uint32_t process;
  uint32_t processes;
  /* The ncclComm_t of each local rank (`local_ranks`; 0: one), whose ranks follow each other: the communicator then
   * shares memory and meets by NCCL, 2.28.9 or newer. `ranks`, `first_local_rank` and `devices` are taken from them,
   * and `rendezvous` and `allgather` are not used. They outlive the communicator. Null: on the runtime's own means. */
  void *const *nccl;
  void *nccl_library; /* dlopen's handle of their NCCL. Null: the one that is loaded in the process */
} MscclcCommunicatorOptions;

void mscclc_communicator_options_init(MscclcCommunicatorOptions *options);

/* Calls marked "collective" are made by every process of the communicator, in the same order. A process that calls
 * something else, or does not come, makes them fail by name. */
int32_t mscclc_communicator_create(const MscclcCommunicatorOptions *options,
                                   MscclcCommunicator **communicator); /* collective */
/* The same with the options' defaults, on one rank's ncclComm_t. Collective. */
int32_t mscclc_communicator_create_nccl(void *nccl, MscclcCommunicator **communicator);
/* Waits for this process's launches, and for no other process: each may destroy its communicators at any time and in
 * any order, and the others' launches go on. What was made from the communicator is gone for this process; memory that
 * others can access is freed when all have destroyed theirs or ended. A process that exits before waits for that, for
 * as long as a set-up may take. While graphs with its launches are there, in this process, it is
 * MSCCLC_ERROR_IN_GRAPH after a second, and the communicator stays, unless it has failed: then nothing is waited for.
 * On NCCL it is collective, and the graphs of all processes count, as memory must not outlast NCCL's communicator.
 * Null is ignored. */
int32_t mscclc_communicator_destroy(MscclcCommunicator *communicator);

uint32_t mscclc_communicator_ranks(const MscclcCommunicator *communicator);
uint32_t mscclc_communicator_first_local_rank(const MscclcCommunicator *communicator);
uint32_t mscclc_communicator_local_ranks(const MscclcCommunicator *communicator);
int32_t mscclc_communicator_device(const MscclcCommunicator *communicator, uint32_t local_rank_index);
uint32_t mscclc_communicator_platform(const MscclcCommunicator *communicator); /* MSCCLC_PLATFORM_CUDA or _HOST */
/* The communicator's own stream of a local rank: a cudaStream_t, or a mscclc::standin::Stream * on the host. */
void *mscclc_communicator_stream(const MscclcCommunicator *communicator, uint32_t rank);

/* Waits until the launches so far are done, but for replays of graphs, as their user knows their streams. Fails with
 * the reason if the communicator failed. */
int32_t mscclc_communicator_synchronize(MscclcCommunicator *communicator);
/* Waits until every process has come here (not for their launches). Collective. */
int32_t mscclc_communicator_barrier(MscclcCommunicator *communicator);
/* MSCCLC_OK, or how the communicator failed; from any thread. */
int32_t mscclc_communicator_health(MscclcCommunicator *communicator);
/* Makes every wait of every rank give up, in all processes; from any thread. */
int32_t mscclc_communicator_abort(MscclcCommunicator *communicator, const char *reason);
/* The NCCL communicators that it was made of are about to end before it. When this returns, the runtime does not ask
 * them for their health any more, and what it has made on them stays there, for NCCL to clean up. Only
 * mscclc_communicator_destroy follows. Without NCCL it does nothing. Waits for nobody; from any thread. */
int32_t mscclc_communicator_detach_nccl(MscclcCommunicator *communicator);
/* After an abort or a time-out: waits for the launches, and makes the communicator as new. The caller waits for replays
 * of graphs before. Data in buffers stays as the failure left it. Collective. */
int32_t mscclc_communicator_reset(MscclcCommunicator *communicator);

/* ------------------------------------------------------------------------------------------------------ buffers */

/* Memory of the same size on every rank, which all ranks can reach. */
typedef struct MscclcBuffer MscclcBuffer;

/* Allocates, zeroed; multicast mappings are made where the devices have them. Collective. */
int32_t mscclc_buffer_allocate(MscclcCommunicator *communicator, uint64_t bytes, MscclcBuffer **buffer);
/* Takes in memory that the caller owns and keeps until the buffer is released: `pointers` has one for each local rank,
 * anywhere within an allocation of its device that peers can reach: one of cudaMalloc, ncclMemAlloc or
 * mscclc_buffer_allocate; on NCCL, of ncclMemAlloc or mscclc_buffer_allocate. Memory that another process cannot map,
 * such as that of cudaMallocAsync and cudaMallocManaged, is MSCCLC_ERROR_UNSUPPORTED. Within one process the pool of
 * cudaMallocAsync is told to let the communicator's devices in, and memory of cuMemMap must let them in: else it is
 * MSCCLC_ERROR_UNSUPPORTED. Memory of another device than the rank's is MSCCLC_ERROR_ARGUMENT. Collective. */
int32_t mscclc_buffer_register(MscclcCommunicator *communicator, void *const *pointers, uint64_t bytes,
                               MscclcBuffer **buffer);
/* Collective, waits for the launches; kernels forget the buffer. While graphs with launches on it are there, in any
 * process, it is MSCCLC_ERROR_IN_GRAPH after a second, and the buffer stays until the next call. If a process does not
 * come, it fails, and so does the communicator; the buffer is gone all the same. Null is ignored. */
int32_t mscclc_buffer_release(MscclcBuffer *buffer);
/* The same, without the second: also a graph that was just destroyed is still there, until CUDA tells of its end.
 * Collective. */
int32_t mscclc_buffer_try_release(MscclcBuffer *buffer);

/* The buffer in which `bytes` from `pointer` on lie, of a local rank, and where in it; null: in none of them. */
int32_t mscclc_buffer_find(const MscclcCommunicator *communicator, uint32_t rank, const void *pointer, uint64_t bytes,
                           const MscclcBuffer **buffer, uint64_t *offset);

uint64_t mscclc_buffer_bytes(const MscclcBuffer *buffer);
void *mscclc_buffer_address(const MscclcBuffer *buffer, uint32_t rank); /* of a local rank; else null */
uint32_t mscclc_buffer_multicast(const MscclcBuffer *buffer);           /* 1: switch channels go through the network */
/* Copies between the host and a local rank's part; waits for the copy, not for launches. */
int32_t mscclc_buffer_write(MscclcBuffer *buffer, uint32_t rank, uint64_t offset, const void *from, uint64_t bytes);
int32_t mscclc_buffer_read(const MscclcBuffer *buffer, uint32_t rank, uint64_t offset, void *to, uint64_t bytes);

/* ------------------------------------------------------------------------------------------- kernels and launches */

/* A kernel with its channels, semaphores and scratch in a communicator. */
typedef struct MscclcInstance MscclcInstance;

/* `max_message_bytes`: the largest message it will be launched with; scratch is sized for it. Collective. */
int32_t mscclc_instance_create(MscclcCommunicator *communicator, const MscclcKernel *kernel, uint64_t max_message_bytes,
                               MscclcInstance **instance);
/* Collective, waits for the launches. While graphs with launches of it are there, in any process, it is
 * MSCCLC_ERROR_IN_GRAPH after a second, and the instance stays. Null is ignored. */
int32_t mscclc_instance_destroy(MscclcInstance *instance);
const MscclcKernel *mscclc_instance_kernel(const MscclcInstance *instance);
uint64_t mscclc_instance_scratch_bytes(const MscclcInstance *instance); /* of each rank */

typedef struct MscclcCall {
  uint32_t call_bytes; /* sizeof(MscclcCall) */
  uint32_t dtype;      /* MscclcDtype */
  uint32_t reduce_op;  /* MscclcReduceOp */
  uint32_t packet;     /* MscclcPacket; 0: the first kind the kernel has */
  /* The same place on every rank, at a multiple of the element. A kernel that works in place takes one of the two
   * as long as the longer of both (mscclc_input_step and mscclc_output_step say how the shorter lies in it) or the
   * same twice. */
  const MscclcBuffer *input;
  const MscclcBuffer *output;
  uint64_t input_offset;
  uint64_t output_offset;
  uint64_t message_bytes;
  /* Of a block, MscclcKernel::threads at most: a kernel that reduces takes 768 at the most, one that reduces packets
   * 512. 0: as many as have work (MscclcKernel::useful_threads), 4 at most on the host. */
  uint32_t threads;
  uint32_t reserved;
  /* One for each local rank, alive until mscclc_communicator_synchronize; those of ranks on one device differ, and none
   * of them is the default one. Null: the communicator's own, which do not wait for the default stream. */
  void *const *streams;
  /* One for each local rank: what the kernel itself copies to the rank's input and from its output, so that the data of
   * a call may lie anywhere. A rank without blocks can copy nothing: its input and output are
   * null. Null: nothing is copied. */
  const MscclcStaging *staging;
} MscclcCall;

void mscclc_call_init(MscclcCall *call);

/* Starts all local ranks, asynchronously; nothing if the message has 0 bytes. Launches of a communicator follow each
 * other on each device, as far as they are of ranks of this process, whatever their instances (but see
 * MscclcCommunicatorOptions::unchained) and streams. May be captured into CUDA graphs; a graph is then ordered against
 * other launches by its user, and keeps its instance and buffers: they can be released when it is destroyed and its
 * replays are over. */
int32_t mscclc_launch(MscclcInstance *instance, const MscclcCall *call);

/* ----------------------------------------------------------------------------------------- registry and selection */

/* The file of this runtime, once it has loaded a library of kernels or made a communicator; null before. A process uses
 * one runtime: both calls fail, with the files of both, where another one has done so already. */
const char *mscclc_runtime_in_use(void);

/* mscclc_register_kernel (runtime_abi.h) adds to the registry. Registered kernels must stay loaded. From any thread. */
int32_t mscclc_unregister_kernel(const MscclcKernel *kernel);
uint32_t mscclc_kernel_count(void);
const MscclcKernel *mscclc_kernel_at(uint32_t index);     /* in the order of registration; null past the end */
const MscclcKernel *mscclc_find_kernel(const char *name); /* the last registered of that name, or null */
/* What ranks must have the same of a kernel: its name, tool, source, switches and text, and for which types, operations
 * and packets it was compiled. Valid until the thread's next call; "" for what is no kernel. */
const char *mscclc_kernel_identity(const MscclcKernel *kernel);
/* Loads a library of kernels, for good, and gives up to `capacity` of those registered from it; `count` is how many
 * there are. `kernels` may be null if `capacity` is 0. A file that is shorter than its own tables say is refused. */
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

/* Whether a kernel can answer a query, its tags aside. */
int32_t mscclc_kernel_fits(const MscclcKernel *kernel, const MscclcQuery *query);

/* Kernels to pick from, with rules. Independent of any communicator. */
typedef struct MscclcSelector MscclcSelector;
/* Decides instead of the rules: the index of one of the `count` candidates (those that fit, best first), or -1 for
 * none of them. */
typedef int32_t (*MscclcSelectFunction)(const MscclcQuery *query, const MscclcKernel *const *candidates, uint32_t count,
                                        void *user);

int32_t mscclc_selector_create(MscclcSelector **selector);
void mscclc_selector_destroy(MscclcSelector *selector);
/* Adds a kernel for messages of min_bytes to max_bytes (both included, within the kernel's own range). Tags are
 * comma-separated; on top of them come those of the program that the kernel was made of (MscclcKernel::tags), and those
 * that it has by itself: "packets", "port", "multicast", "double-scratch", "baked". Among those that fit, the highest
 * priority wins, then the narrowest range, then the first added. */
int32_t mscclc_selector_add(MscclcSelector *selector, const MscclcKernel *kernel, const char *tags, uint64_t min_bytes,
                            uint64_t max_bytes, int32_t priority);
int32_t mscclc_selector_set_function(MscclcSelector *selector, MscclcSelectFunction function, void *user);
/* MSCCLC_ERROR_NO_KERNEL if nothing fits; the text says why each one does not. A null selector picks among all
 * registered kernels by their own ranges and tags. */
int32_t mscclc_select(const MscclcSelector *selector, const MscclcQuery *query, const MscclcKernel **kernel);

#ifdef __cplusplus
}
#endif

#endif
