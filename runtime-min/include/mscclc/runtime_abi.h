/* The contract between an emitted kernel and its launcher: the description of a kernel (MscclcKernel), and the
 * arguments of a launch (MscclcRankArgs). Plain C. No pointer changes its owner: descriptions are static data of the
 * kernel's library, and arguments belong to the launcher.
 *
 * Sizes and offsets are in bytes unless they are in chunks. Counters only grow, over all launches of a communicator.
 * All memory that a MscclcRankArgs points to must be accessible to the rank's device. Below, "device" is memory of
 * that device, and "host" is pinned memory that is mapped into the device.
 *
 * The launcher makes one set of this memory for each kernel, rank and communicator. It fills it with zeros, and sets
 * semaphores to their initial values. Then it leaves it unchanged, because the counters carry the state from launch
 * to launch. So a captured graph can be replayed. The two tables of addresses are an exception: they belong to one
 * launch, which reads them before it returns. A set serves one launch at a time. A launch that begins while another
 * launch of the set runs reports MSCCLC_OVERLAP. After an abort the sets of all ranks are filled with zeros again
 * before the next launch. */
#ifndef MSCCLC_RUNTIME_ABI_H
#define MSCCLC_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MSCCLC_ABI_MAGIC 0x4c43534du /* "MSCL" in memory, little endian */
/* Raised with any change of layout or meaning in this file. A launcher refuses a kernel of another version. */
#define MSCCLC_ABI_VERSION 15u

enum MscclcDtype {
#define MSCCLC_DTYPE(id, number, bytes, name, type) MSCCLC_##id = number,
#include "dtypes.def"
  MSCCLC_ANY_DTYPE = 255 /* a variant that only moves bytes */
};

enum MscclcReduceOp {
#define MSCCLC_REDUCE_OP(id, number, name, type) MSCCLC_##id = number,
#include "reduce_ops.def"
  MSCCLC_NO_REDUCE = 254,   /* the plan reduces nothing: fits any operation asked for */
  MSCCLC_MIXED_REDUCE = 255 /* the plan fixes the operation at each place, and they differ */
};

/* The layout of packets: 4 bytes and a flag (8 bytes in all); 4 bytes, flag, 4 bytes, flag (16 bytes in all); or 16
 * bytes of floats without a flag. */
enum MscclcPacket { MSCCLC_NO_PACKET = 0, MSCCLC_LL8 = 1, MSCCLC_LL16 = 2, MSCCLC_LAMPORT = 3 };

enum MscclcBufferKind { MSCCLC_INPUT = 0, MSCCLC_OUTPUT = 1, MSCCLC_SCRATCH = 2 };
/* Memory that only the requests of port channels name, beside these kinds: MscclcCounts::tables. */
#define MSCCLC_COUNT_TABLES 3u

enum MscclcChannelType { MSCCLC_MEMORY = 1, MSCCLC_PORT = 2, MSCCLC_SWITCH = 3 };

/* The result of a launch function. */
enum MscclcResult {
  MSCCLC_OK = 0,
  MSCCLC_ERROR_ABI = 1,          /* args->abi_version is not the kernel's */
  MSCCLC_ERROR_SIZE = 2,         /* message size outside the kernel's range, or not a multiple of its shares */
  MSCCLC_ERROR_RANK = 3,         /* no such rank */
  MSCCLC_ERROR_THREADS = 4,      /* more threads a block than the kernel was compiled for, or none */
  MSCCLC_ERROR_NOT_RESIDENT = 5, /* the blocks of this rank do not fit on the device at once */
  MSCCLC_ERROR_SCRATCH = 6,      /* scratch_stride too small for this message, or not a multiple of 16 */
  MSCCLC_ERROR_ROWS = 7,   /* no row_bytes in a kernel that takes rows, or the message's shares are no whole rows */
  MSCCLC_ERROR_COUNTS = 8, /* no counts or index in a kernel that takes them, of another width, or 2^31 rows or more */
  MSCCLC_ERROR_PART = 9, /* one kernel of a launch is asked for (MscclcArgFlags), and the launch has one, or both are */
  MSCCLC_ERROR_DEVICE = 1000 /* plus the code of the CUDA error */
};

/* ------------------------------------------------------------------------------------------- what a launch gets */

/* The three buffers of one rank, as addresses on the launching rank's device. In place, one of input and output lies
 * in the other, as mscclc_input_step and mscclc_output_step say. The launcher sets the pointers accordingly. A
 * pointer may be null if this rank does not access that buffer of that rank. */
typedef struct MscclcBuffers {
  void *input;
  void *output;
  void *scratch;
} MscclcBuffers;

/* One end of a memory channel: where its signals go. Its counters are in MscclcRankArgs. */
typedef struct MscclcMemoryChannel {
  /* The word of the paired end in `memory_inbound`, as an address on this device. An end without a pair gets a word of
   * its own, which is never read. */
  uint64_t *outbound;
  uint32_t peer; /* rank of the other end */
  /* 0: a signal adds 1. 1: the link to the peer does not support atomic adds, and the count of signals is stored. */
  uint32_t stores;
} MscclcMemoryChannel;

/* One end of a port channel. */
typedef struct MscclcPortChannel {
  /* Device: number of signals that the peer has sent to this end. Its proxy stores the running count. */
  uint64_t *inbound;
  /* Device: number of waits that this end has finished. */
  uint64_t *expected;
  /* Device: number of flushes that this end has requested. Over the network, what the network body counts for
   * flushes. */
  uint64_t *flush_requests;
  /* Host or device: number of flushes that the proxy has finished. A flush is finished when every earlier put of the
   * channel has left its source. */
  const uint64_t *flushes_done;
  uint32_t peer; /* rank of the other end */
  /* 0: the proxy serves the channel. Otherwise the channel uses the network (MscclcNetworkBody). Then this is 1 + the
   * number of the paired end among the peer's port channels, or MSCCLC_UNPAIRED if no end receives the signals. Only
   * `expected` and `flush_requests` of the words above are used. */
  uint32_t network;
} MscclcPortChannel;

enum MscclcTriggerFlags {
  MSCCLC_TRIGGER_SIGNAL =
      1, /* after the data: store the channel's count of signals, raised by 1, in the peer's inbound */
  MSCCLC_TRIGGER_FLUSH = 2 /* after that: raise flushes_done once all puts so far have left their source */
};

/* A request to the proxy of a rank: copy, then signal, then flush. Each of the three may be absent. Requests of one
 * channel take effect in order. */
typedef struct MscclcTrigger {
  uint64_t sequence; /* written last: 1 + the number of the request, which marks the slot as full */
  uint64_t size;     /* 0: nothing to copy */
  uint64_t src_offset;
  uint64_t dst_offset;
  uint32_t channel;    /* port channel of the rank */
  uint32_t src_memory; /* MscclcPlace::memory; the part of this rank */
  uint32_t dst_memory; /* MscclcPlace::memory; the part of the channel's peer */
  uint32_t flags;      /* MscclcTriggerFlags */
  uint8_t reserved[16];
} MscclcTrigger; /* 64 bytes */

/* The place of a launch's buffers of one kind. The buffer of rank r begins at byte offset + r * rank_step of rank
 * r's part of a memory. */
typedef struct MscclcPlace {
  uint64_t offset;
  uint64_t rank_step;
  uint32_t memory; /* the proxy's number for the memory */
  uint32_t reserved;
  /* For channels over the network: the window of NCCL that contains the memory, as this rank's handle. `begins`
   * (device, by rank) is the byte of the window at which the memory begins; null: byte 0 on all ranks. */
  void *window;
  const uint64_t *begins;
} MscclcPlace;

/* A queue of requests. Blocks draw numbers from `head`, and fill slot number % capacity when number < *tail +
 * capacity. */
typedef struct MscclcFifo {
  MscclcTrigger *slots; /* host */
  uint64_t *head;       /* device; the next word is a value of `tail` that blocks have seen, possibly an old one */
  const uint64_t *tail; /* host: number of requests that the proxy has taken out of the queue */
  uint32_t capacity;    /* a power of two */
  uint32_t reserved;
  MscclcPlace places[4]; /* by MscclcBufferKind, and MSCCLC_COUNT_TABLES */
} MscclcFifo;

enum MscclcWaitKind {
  MSCCLC_WAIT_MEMORY = 1,    /* index: memory channel */
  MSCCLC_WAIT_PORT = 2,      /* index: port channel */
  MSCCLC_WAIT_FLUSH = 3,     /* index: port channel */
  MSCCLC_WAIT_FIFO = 4,      /* the request queue is full; index: port channel */
  MSCCLC_WAIT_SEMAPHORE = 5, /* index: semaphore */
  MSCCLC_WAIT_BARRIER = 6,   /* index: barrier */
  /* index: number of the packet in its chunk; peer: the number F of an operand of packets; expected: how many operands
   * the wait is for, F and those behind it; seen: bit i is set if the packet of operand F + i has come */
  MSCCLC_WAIT_PACKET = 7,
  MSCCLC_WAIT_STAGING = 8, /* all blocks of the rank; operation: 0 at the launch's beginning, 1 at its end */
  /* No wait: the block has begun while another launch with the same state ran. index: launches of the block before;
   * expected: blocks that had finished a kernel if those were over; seen: that had. `operation` is 0. With
   * MSCCLC_SPLIT it may be 1: no kernel that receives was due; or 2: one was due, and another one has begun */
  MSCCLC_OVERLAP = 9,
  /* index: rank that the rows go to, or that passes counts on to other nodes; peer: rank P; expected: how many ranks'
   * counts the wait is for, those of P and of the ranks behind it; seen: bit i is set if that of P + i has come */
  MSCCLC_WAIT_COUNT = 10,
  MSCCLC_WAIT_READY = 11 /* index: the number of a block of rows of all groups, which the user announces */
};

/* A wait that took too long, or that an abort has ended; or another reason to give up. */
typedef struct MscclcStall {
  uint32_t kind; /* MscclcWaitKind; 0 while being written */
  uint32_t rank;
  uint32_t block;
  uint32_t operation; /* position in the block's program, pipeline headers and bodies counted */
  uint32_t peer;      /* rank waited for, or 0xffffffff; of MSCCLC_WAIT_PACKET as it says */
  uint32_t aborted;   /* 1: an abort has ended the wait, not its time */
  uint64_t index;
  uint64_t expected;  /* what the wait wants to see */
  uint64_t seen;      /* what it saw last */
  uint64_t waited_ns; /* how long the wait has taken, 65 us more at most; 0: not known */
} MscclcStall;

#define MSCCLC_MAX_STALLS 32u

/* The status of a rank, in host memory. All launches of the rank share it. */
typedef struct MscclcStatus {
  uint32_t abort;           /* anyone sets it to make every wait of the rank give up; data is undefined from then on */
  uint32_t num_stalls;      /* entries claimed, perhaps more than fit */
  uint64_t reported_blocks; /* bit b % 64 is set if block b has an entry */
  MscclcStall stalls[MSCCLC_MAX_STALLS];
} MscclcStatus;

enum MscclcArgFlags {
  MSCCLC_BUFFERS_ALIGNED = 1, /* every pointer in `buffers` and `multicast` is a multiple of 16 */
  /* Programmatic dependent launch: the launch may begin before the earlier kernel of its stream has ended. It waits for
   * that end before it accesses memory. Not for ranks that share a device. Code below sm_90 ignores it. */
  MSCCLC_PDL = 2,
  /* With MSCCLC_SPLIT: the launch is only the kernel that sends, or only the one that receives. The two take turns. The
   * launcher gives both the same arguments, on one stream or in the same order. With neither flag it is both. */
  MSCCLC_ONLY_SEND = 4,
  MSCCLC_ONLY_RECEIVE = 8
};

/* The change of the elements that a launch copies, in a kernel that adds. */
enum MscclcScaling {
  MSCCLC_NO_SCALING = 0,
  MSCCLC_SCALE_INPUT = 1, /* each element of the input is multiplied by a factor; integers wrap around */
  MSCCLC_AVERAGE = 2 /* floats are multiplied by 1 / ranks, rounded to their type, in the input; integers are divided
                        by the number of ranks in the output, towards zero */
};

/* The caller's memory that a launch of a rank copies to its input before everything else, and from its output after
 * everything else. The device can access it. Addresses and sizes are multiples of the element size. It may be the
 * launch's own input and output; then only the scaling is done. Copies are left out if no other rank needs them: the
 * kernel then works on the caller's memory. All fields zero: nothing is copied. */
typedef struct MscclcStaging {
  const void *input; /* null: nothing is copied in */
  void *output;      /* null: nothing is copied out */
  uint64_t input_bytes;
  uint64_t output_bytes;
  uint64_t factor;       /* its first bytes are the factor, in the element type */
  const void *factor_at; /* if not null: the address of the factor when the launch runs, readable by the device */
  uint32_t scaling;      /* MscclcScaling */
  uint32_t keeps_input; /* 1: if a launch fails before its end, the input is unchanged, even if it is also the output */
} MscclcStaging;

/* The results of a launch's checks of a sender's counts, and of the rank's own output. */
enum MscclcCountStatus {
  MSCCLC_COUNTS_CUT = 1,  /* a count was negative, above the capacity, or led beyond the packed input */
  MSCCLC_RECEIVED_CUT = 2 /* of the own rank: its output had no room for all rows */
};

/* Counts of rows, for kernels with MSCCLC_TAKES_COUNTS. Rank s sends min(max(sent[d], 0), capacity) rows to rank d,
 * where capacity is the number of whole rows in a share of the message. Padded, these rows begin at row d * capacity of
 * the input, and arrive at row s * capacity of the output. Packed, they follow the rows for the ranks before d, as many
 * as the counts say, and arrive behind the rows of the ranks before s. Nothing is read or written beyond live rows.
 * All memory is on the device; only the rank itself accesses it. The numbers have `width` bytes. */
typedef struct MscclcCounts {
  const void *sent;       /* [ranks], by destination */
  void *received;         /* [ranks], written: the rows that came, by source; null: not wanted */
  void *sent_offsets;     /* [ranks], written: the first row for each destination in the input; null: not wanted */
  void *received_offsets; /* [ranks], written: the first row of each source in the output; null: not wanted */
  uint32_t *status;       /* [ranks], written: MscclcCountStatus of each rank as a sender; null: not wanted */
  /* Packed: the rows that an input and an output have room for, equal on all ranks; 0, or more than that: ranks *
   * capacity. A row beyond is not moved. */
  uint64_t in_rows;
  uint64_t out_rows;
  uint32_t width; /* 4: int32_t; 8: int64_t */
  uint32_t reserved;
  /* By rank: mscclc_count_table_bytes() of the rank's memory, in which other ranks leave packets. It is zero at first.
   * Null for a rank of another node (MscclcKernel::ranks_per_node). The launching thread reads the addresses. */
  void *const *tables;
} MscclcCounts;
#define MSCCLC_COUNT_TABLE_BYTES(ranks) ((uint64_t)32 * (ranks) * (ranks))

/* An array of a MscclcIndex, whose rows have `bytes` bytes. 0: there is no such array, and none behind it. */
typedef struct MscclcPayload {
  const void *from; /* a dispatch: [rows]; a combine: the rows of the rank's experts */
  void *to;         /* a dispatch: the rows of the rank's experts; a combine: [rows] */
  uint64_t bytes;   /* the same on all ranks */
} MscclcPayload;
#define MSCCLC_MAX_PAYLOADS 4u

/* Rows for experts, for kernels with MSCCLC_TAKES_INDEX. Each rank has MscclcKernel::experts of them, and expert e of
 * all ranks is on rank e / experts. An index has `choices` entries for each row, and each names an expert. Any other
 * number names none, for example -1. A rank's first `capacity` entries for one expert are live, where capacity is the
 * number of whole rows in a share of the message divided by `experts`, rounded down.
 *
 * A dispatch copies a row to the expert of each of its live entries. The rows of an expert follow each other, in the
 * order of ranks and, of one rank, of entries. They begin at row e * ranks * capacity of `to`, unless the
 * collective's name ends with "+rank_major". Then the rows of a rank s follow each other, in the order of experts, from
 * row s * experts * capacity on. Nothing is written behind live rows.
 *
 * With `align`, these groups of rows follow each other. Each begins at a multiple of `align` rows, and takes as many
 * rows as it has, rounded up to such a multiple. A group without rows takes `align` rows, but none if that is 1. Arrays
 * have room for all groups as if they were full.
 *
 * A row of a dispatch may have several payloads, for example numbers and their scales. They travel one behind the other
 * in MscclcRankArgs::row_bytes, which may be longer than all of them together. Row i of an array belongs to row i of
 * the others, before and after.
 *
 * With MSCCLC_ONCE_PER_RANK, a row goes at most once to each rank, with a list of its places there. The list takes the
 * last 4 * choices bytes of a row of MscclcRankArgs::row_bytes, so there payloads leave room for it. Rows are then
 * multiples of 4 bytes long, input and output lie at such multiples, and `choices` is the same on all ranks.
 *
 * A combine has one payload, which is as long as a row. It reads such rows from `from`. Row i of `to` becomes the sum
 * of the rows of the live entries of row i, each multiplied by its weight. Products are rounded to float, and then
 * added to 0 in the order of entries.
 *
 * With MscclcKernel::ready_rows, rows of experts are handed over by blocks. Block b of a group has its rows from b *
 * ready_rows on, at most ready_rows of them, and the word ready[1 + group * mscclc_ready_blocks() + b]. The word is 0
 * at first, and MSCCLC_READY or more when the rows are there (mscclc/ready.cuh has functions for both sides). All
 * blocks have a word, also those without live rows. A dispatch sets each word to MSCCLC_READY + the number of the
 * block's live rows. Whoever sees one of them also sees `received` and `cells`. The user sets the words back to 0
 * before the next launch. If the launch fails, all words are set, so that no kernel of the user waits for ever. A
 * combine waits for each word, before it reads the block's rows, and sets all back to 0 before its first kernel ends.
 * Words are stored with release and loaded with acquire, of gpu scope. Before the first launch, and after one that
 * failed, all are 0.
 *
 * An index without rows may have null for the arrays of [rows]. `work` and the rows of the rank's experts are never
 * null.
 *
 * All memory is on the device; only the rank itself accesses it. Arrays of numbers, and the rows of a combine, lie at
 * multiples of their elements, and `work` at a multiple of 4. The rows of a dispatch may lie anywhere. */
typedef struct MscclcIndex {
  const void *entries;  /* [rows][choices], of `width` bytes */
  const float *weights; /* [rows][choices], of a combine */
  MscclcPayload payloads[MSCCLC_MAX_PAYLOADS];
  uint32_t *received; /* [experts], written by a dispatch: live rows of each expert; null: not wanted */
  /* [ranks][experts]. A dispatch writes the rows that each rank has sent to each expert; null: not wanted. A combine
   * that brings them packs its rows before the other ranks have sent them again, and writes no status. They are those
   * of its dispatch; with others, its result is any. A combine with null waits for them, so with MSCCLC_SPLIT it brings
   * them. */
  uint32_t *cells;
  uint32_t *status; /* [ranks], written: MSCCLC_COUNTS_CUT for each rank of which not all entries are live, except for
                       those that name no expert; null: not wanted */
  void *work;       /* MSCCLC_INDEX_WORK_BYTES; what it holds before a launch does not matter */
  uint32_t *ready;  /* mscclc_ready_words() of them, with MscclcKernel::ready_rows; else null */
  uint64_t rows;
  uint32_t choices; /* rows * choices is below 2^31 */
  uint32_t width;   /* 4: int32_t; 8: int64_t */
  uint32_t align;   /* rows; 0: each group of rows has a place of its own */
  uint32_t reserved;
} MscclcIndex;
#define MSCCLC_READY 0x80000000u /* of a word of MscclcIndex::ready: the rows are there */
#define MSCCLC_INDEX_PARTS 32u   /* the most parts of an index that are counted at the same time */
#define MSCCLC_INDEX_WORK_BYTES(ranks, experts, entries)                                                               \
  ((uint64_t)4 * ((uint64_t)2 * (entries) + (uint64_t)(4 + MSCCLC_INDEX_PARTS) * (ranks) * (experts) + (ranks)))
/* The bytes behind MSCCLC_COUNT_TABLE_BYTES of each table, for the counts of experts. Over nodes there are twice as
 * many: the other half has those that the rank passes on. */
#define MSCCLC_EXPERT_TABLE_BYTES(ranks, experts) ((uint64_t)32 * (ranks) * (experts))

/* The arguments of one rank's launch. The launch copies them, and also the entries of `buffers` and `multicast` that
 * the kernel needs. */
typedef struct MscclcRankArgs {
  uint32_t abi_version;
  uint32_t rank;
  uint32_t flags;     /* MscclcArgFlags */
  uint32_t report_ms; /* a wait that takes so long is reported, again each time that long after, and goes on; 0: not */
  uint64_t message_bytes;
  /* The distance of two scratch chunks: MscclcKernel::scratch_stride of the largest message of the communicator. It
   * is the same on every rank and at every launch, so that launches of different sizes use the same slots. */
  uint64_t scratch_stride;
  uint64_t timeout_ns;          /* a longer wait is reported and aborts the rank; 0: no limit */
  const MscclcBuffers *buffers; /* [ranks], the own rank's included; the launching thread reads them */
  /* [MscclcRankInfo::memory_channels]. The launching thread reads them; with MSCCLC_CHANNEL_TABLE, the device does. */
  const MscclcMemoryChannel *memory_channels;
  /* Device, a word for each memory channel: */
  uint64_t *memory_inbound;  /* number of signals that the peer has sent: it adds 1, or stores the running count */
  uint64_t *memory_expected; /* number of waits that this end has finished */
  uint64_t *memory_sent;     /* number of signals that this end has sent, if it stores it at the peer */
  const MscclcPortChannel *port_channels; /* device, [MscclcRankInfo::port_channels] */
  void *const *multicast;                 /* [MscclcRankInfo::switch_channels]: the multicast mapping of the channel's
                                             buffer, or null: the kernel then loops over the group's `buffers`; the
                                             launching thread reads them */
  uint64_t *barriers;                     /* device, [MscclcRankInfo::barriers] */
  uint32_t *semaphores;                   /* device, [MscclcRankInfo::semaphores] */
  /* Device, [MscclcRankInfo::blocks]: number of launches that each block has finished. The block itself counts. With
   * MSCCLC_SPLIT it is the number of kernels, which is odd between the two of a launch. The
   * packet flag of a launch is 1 + launches % (2^32 - 1). Its half of double scratch is launches % 2, and its third of
   * scratch with Lamport packets is launches % 3. The highest bit is set while a launch runs. */
  uint64_t *launches;
  /* Device, four words: blocks that have finished a launch (with MSCCLC_SPLIT, a kernel), of all launches;
   * message_bytes of the launch that began last; and the bytes of a chunk of Lamport packets in the last launch with an
   * even number, and in the last with an odd one. Whoever asks why launches hang reads the second, and `launches`, of
   * all ranks. */
  uint64_t *finished;
  MscclcFifo fifo; /* used by ranks with port channels */
  /* Host: the device communicator that MscclcNetworkBody::create made; the launching thread copies it. Null where no
   * channel of the rank leads over the network. */
  const void *network;
  MscclcStatus *status;
  MscclcStaging staging;
  /* Device, two words: a counter for the meetings of the rank's blocks; and a word that is 1 after a wait has given
   * up. Then no output is copied. */
  uint64_t *staging_state;
  /* Kernels with MSCCLC_TAKES_ROWS: bytes of a row. The message divided by MscclcKernel::message_shares has whole rows.
   * Else it is not used. */
  uint64_t row_bytes;
  void *const *arrays; /* [MscclcKernel::num_arrays]: those of the rank; the launching thread reads them */
  MscclcCounts counts; /* with MSCCLC_TAKES_INDEX: only `tables` */
  MscclcIndex index;
} MscclcRankArgs;

/* ------------------------------------------------------------------------------------- what a kernel says of itself */

#define MSCCLC_ON_HOST 0xffffffffu
/* The bytes that CUDA has for a kernel's parameters, and the most of them that are not addresses of peers' buffers
 * or multicast mappings. */
#define MSCCLC_PARAMETER_BYTES 32764u
#define MSCCLC_OTHER_PARAMETER_BYTES 3072u
/* The most memory channels of a rank that are parameters of a kernel. They take 2 KB. So with up to 1 KB of addresses
 * all parameters fit into the 4 KB that CUDA had before 12.1. */
#define MSCCLC_PARAMETER_CHANNELS 128u

/* The compiled form of a kernel for one element type, reduce operation and kind of packet. */
typedef struct MscclcVariant {
  uint32_t dtype;     /* MscclcDtype */
  uint32_t reduce_op; /* MscclcReduceOp */
  uint32_t packet;    /* MscclcPacket */
  uint32_t reserved;
  /* Starts the launch of args->rank, or one of its two kernels (MscclcArgFlags), on the current device, asynchronously
   * on `stream` (a cudaStream_t). `threads` is the number of threads of a block, from 1 to MscclcKernel::threads.
   * The launcher has called resident_blocks on this device before. So the kernel is loaded, and its blocks fit. */
  int32_t (*launch)(const MscclcRankArgs *args, uint32_t threads, void *stream);
  /* Returns the number of blocks of this variant that the current device holds at once. Ranks that share a device
   * must fit together. A kernel for the CPU stand-in returns MSCCLC_ON_HOST. */
  int32_t (*resident_blocks)(uint32_t threads, uint32_t *blocks);
} MscclcVariant;

typedef struct MscclcRankInfo {
  uint32_t input_chunks;
  uint32_t output_chunks;
  uint32_t scratch_chunks;
  uint32_t blocks;
  uint32_t memory_channels;
  uint32_t port_channels;
  uint32_t switch_channels;
  uint32_t remote_buffers;
  uint32_t semaphores;
  uint32_t barriers;
} MscclcRankInfo;

#define MSCCLC_UNPAIRED 0xffffffffu

typedef struct MscclcChannelInfo {
  uint32_t peer;         /* rank */
  uint32_t peer_channel; /* the other end, among the peer's channels of this type; MSCCLC_UNPAIRED if there is none */
} MscclcChannelInfo;

typedef struct MscclcSwitchInfo {
  uint32_t buffer; /* MscclcBufferKind */
  uint32_t size;   /* ranks in the group */
} MscclcSwitchInfo;

typedef struct MscclcRemoteBufferInfo {
  uint32_t rank;
  uint32_t buffer; /* MscclcBufferKind */
  uint32_t via_memory;
  uint32_t via_port;
} MscclcRemoteBufferInfo;

/* An operation that waits. */
typedef struct MscclcWaitInfo {
  const char
      *operation;    /* "wait", "upkt": its name in plans; null: the kernel has no such operation, or does not say */
  const char *place; /* "allreduce.cpp:36", or two of them with ", " between them; empty: not known */
  uint32_t sender;   /* rank that writes the packets; MSCCLC_UNPAIRED: not packets, or of several ranks */
} MscclcWaitInfo;

enum MscclcKernelFlags {
  MSCCLC_IN_PLACE = 1,
  MSCCLC_USES_PACKETS = 2,
  MSCCLC_DOUBLE_SCRATCH = 4,
  MSCCLC_NEEDS_PORT = 8,        /* needs a proxy for each rank */
  MSCCLC_USES_MULTICAST = 16,   /* is faster with multicast mappings; works without */
  MSCCLC_SPECIALISED_SIZE = 32, /* min_message_bytes == max_message_bytes is compiled in */
  MSCCLC_ONE_START = 64,        /* in place, input and output begin at one address, though one is longer */
  MSCCLC_ROOTED = 128,          /* one of the ranks is the collective's root */
  MSCCLC_SHARED_SIGNALS = 256,  /* several blocks signal on one memory channel, so the links must support atomic adds */
  MSCCLC_WRITES_INPUT = 512,    /* not in place, but inputs are overwritten */
  MSCCLC_TAKES_ROWS = 1024,     /* a launch says how long rows are: the function of a hook takes them, or counts do */
  MSCCLC_TAKES_COUNTS = 2048,   /* a launch brings counts of live rows (MscclcCounts); also MSCCLC_TAKES_ROWS */
  MSCCLC_PACKED_ROWS = 4096,    /* and the rows are packed, in input and output */
  MSCCLC_TAKES_INDEX =
      8192,             /* a launch brings an index, which gives the counts (MscclcIndex); also MSCCLC_TAKES_COUNTS */
  MSCCLC_SPLIT = 16384, /* a launch is two kernels: one that sends, and one that receives (MscclcArgFlags) */
  MSCCLC_ONCE_PER_RANK = 32768, /* a dispatch sends a row once to each rank, with a list of its places (MscclcIndex) */
  MSCCLC_CHANNEL_TABLE = 65536  /* memory_channels is on the device: a rank has more than MSCCLC_PARAMETER_CHANNELS */
};

/* An array that functions of hooks take. The caller brings one for each rank, in the rank's memory. */
typedef struct MscclcArrayInfo {
  const char *name;
  uint32_t written; /* 1: functions write it, too. Row i then belongs to row i of the rank's output */
  uint32_t reserved;
} MscclcArrayInfo;

/* The steps that MscclcNetworkBody::settle starts. All ranks finish a step before the next one begins. */
enum MscclcSettleStep {
  MSCCLC_SETTLE_CLEAR = 0, /* sets the rank's signals to 0; nothing is in flight to it except for settling signals */
  MSCCLC_SETTLE_SEND = 1,  /* sends settling signals on each channel, after everything else */
  MSCCLC_SETTLE_AWAIT =
      2 /* waits for the settling signals of the peers, and until everything that the rank has sent has left it */
};

/* A step, and the counts of settling signals so far. Each end of a channel sends one at each settling. It sends
 * several if its process missed earlier settlings. Their counters are cleared only when the ports are made, because
 * the signal of a settling that was given up may arrive at any later time. */
typedef struct MscclcSettling {
  uint32_t step;     /* MscclcSettleStep */
  uint32_t signals;  /* as passed to MscclcNetworkBody::create */
  uint32_t channels; /* number of port channels of the rank */
  uint32_t
      unpaired;   /* number of other ranks' ends that send to this rank over the network, and for which it has no end */
  uint64_t sent;  /* settling signals that each of the rank's ends has sent before this settling */
  uint64_t round; /* the same, including this settling; equal in all processes. 0: the ports are new */
} MscclcSettling;

/* A second body of a kernel's port channels, for channels to ranks of other nodes. It uses NCCL's GIN. NCCL requires
 * that a kernel is compiled with the headers of exactly the version that runs. */
typedef struct MscclcNetworkBody {
  uint32_t nccl_version;       /* 22809 is 2.28.9 */
  uint32_t communicator_bytes; /* size of a device communicator (ncclDevComm) */
  /* Creates a device communicator for `signals` port channels of a rank and an NCCL communicator, by NCCL's
   * ncclDevCommCreate. Returns the result of that. */
  int32_t (*create)(int (*ncclDevCommCreate)(void *, const void *, void *), void *comm, uint32_t signals,
                    void *communicator);
  /* Returns the number of contexts of the network, which both ends of a channel count equally; 0: there is no
   * network. */
  uint32_t (*contexts)(const void *communicator);
  /* Starts a step on the current device and `stream`, between launches. It uses these of `args`: `network` and, except
   * for MSCCLC_SETTLE_CLEAR, `rank`, `port_channels`, `status` and `timeout_ns`. All waits of a step share this limit.
   * A wait that gives up is reported as in launches, with the step as the operation. A wait for ends without a
   * counterpart at this rank reports MSCCLC_UNPAIRED as the peer. */
  int32_t (*settle)(const MscclcRankArgs *args, const MscclcSettling *settling, void *stream);
} MscclcNetworkBody;

/* The description of a kernel; static data. A message is as long as the output of an AllGather, and as the input of
 * every other collective (the output if there is no input). */
typedef struct MscclcKernel {
  uint32_t abi_magic;
  uint32_t abi_version;
  const char *name;
  /* "allgather", "allreduce", …, or its own name; if the values have passed through a hook, "allreduce+add_rms_norm";
   * with MSCCLC_PACKED_ROWS, "alltoallv+packed"; for 4 experts of each rank, "dispatch+4experts" and
   * "combine+4experts", or these with "+rank_major" (MscclcIndex) and "+128ready" for 128 ready_rows */
  const char *collective;
  const char *tool;   /* "mscclc 0.1.0" */
  const char *source; /* the source and the switches of the compilation, as the emitted file names them */
  const char *switches;
  const char *tags; /* tags of the program, comma-separated; empty or null: none. Selectors add their own */
  uint32_t ranks;
  uint32_t flags;        /* MscclcKernelFlags */
  uint32_t threads;      /* the most threads of a block */
  uint32_t max_blocks;   /* largest number of blocks of a rank */
  uint32_t shared_bytes; /* dynamic shared memory of a block */
  uint32_t
      message_shares; /* a message consists of so many equal shares: its size is a multiple of shares * element size */
  uint64_t min_message_bytes;
  uint64_t max_message_bytes;
  uint64_t buffer_alignment; /* alignment of chunk boundaries; buffers that are multiples of 16 can be moved 16 bytes at
                                a time */

  uint32_t root; /* the root rank, if MSCCLC_ROOTED is set */
  uint32_t num_variants;
  const MscclcVariant *variants;

  /* Bytes of a rank's input and output at a message size. */
  uint64_t (*input_bytes)(uint32_t rank, uint64_t message_bytes);
  uint64_t (*output_bytes)(uint32_t rank, uint64_t message_bytes);
  /* Returns the distance of two scratch chunks that a message needs. It grows with the message. `row_bytes`: of a row,
   * with MSCCLC_TAKES_ROWS; it is also enough for rows whose least common multiple with 16 is not greater. */
  uint64_t (*scratch_stride)(uint64_t message_bytes, uint64_t row_bytes);
  /* Returns the bytes of scratch for a stride. They are the same on every rank. */
  uint64_t (*scratch_bytes)(uint64_t scratch_stride);

  /* Returns the number of threads of a block that have work in a message of this size: one for each word of its
   * largest operation (16 bytes, or the payload of a packet of this kind), rounded up to warps, at most `threads`. With
   * MSCCLC_TAKES_ROWS: `threads`. */
  uint32_t (*useful_threads)(uint64_t message_bytes, uint32_t packet /* MscclcPacket */);

  /* Describe the parts of rank `rank`. `index` is below the number that rank_info returns. */
  void (*rank_info)(uint32_t rank, MscclcRankInfo *info);
  void (*channel_info)(uint32_t rank, uint32_t type /* memory or port */, uint32_t index, MscclcChannelInfo *info);
  void (*switch_info)(uint32_t rank, uint32_t index, MscclcSwitchInfo *info);
  uint32_t (*switch_member)(uint32_t rank, uint32_t index, uint32_t member); /* rank of a group's member */
  void (*remote_buffer_info)(uint32_t rank, uint32_t index, MscclcRemoteBufferInfo *info);
  uint32_t (*semaphore_value)(uint32_t rank, uint32_t index); /* initial value */

  const MscclcNetworkBody *network; /* null: port channels only by the proxy */
  const char *digest;               /* of the emitted file's text; null: none */
  /* The operation that a MscclcStall names, and for packets its operand `operand` of packets. Null: not known. */
  void (*wait_info)(uint32_t rank, uint32_t block, uint32_t operation, uint32_t operand, MscclcWaitInfo *info);

  /* Functions of hooks. */
  const MscclcArrayInfo *arrays;
  uint32_t num_arrays;
  uint32_t block_elements; /* a share of a message consists of whole blocks of so many elements; 0 or 1: no hook
                              takes blocks */
  uint32_t experts;        /* of each rank, with MSCCLC_TAKES_INDEX; else 0 */
  /* With MSCCLC_TAKES_COUNTS: ranks n * ranks_per_node to (n + 1) * ranks_per_node - 1 are of one node. Counts for
   * other nodes go through ports: the last port channels of a rank lead to the rank in its place of each other node. 0:
   * counts go to the memory of all ranks. */
  uint32_t ranks_per_node;
  uint32_t groups;     /* of the rows of a rank's experts, with MSCCLC_TAKES_INDEX: one for each expert or sender */
  uint32_t ready_rows; /* of a block of rows that has a word (MscclcIndex::ready); 0: there are no words */
} MscclcKernel;

/* The bytes of a rank's table of counts (MscclcCounts::tables). */
static inline uint64_t mscclc_count_table_bytes(const MscclcKernel *kernel) {
  return MSCCLC_COUNT_TABLE_BYTES(kernel->ranks) +
         MSCCLC_EXPERT_TABLE_BYTES(kernel->ranks, kernel->experts) * (kernel->ranks_per_node != 0 ? 2 : 1);
}

/* The blocks of each group of rows, for a kernel with ready_rows. `capacity`: rows that an expert has room for from
 * each rank (MscclcIndex). */
static inline uint64_t mscclc_ready_blocks(const MscclcKernel *kernel, uint64_t capacity) {
  const uint64_t most = (uint64_t)kernel->ranks * kernel->experts / kernel->groups * capacity;
  return (most + kernel->ready_rows - 1) / kernel->ready_rows;
}
/* The words of MscclcIndex::ready; 0 for a kernel without ready_rows. */
static inline uint64_t mscclc_ready_words(const MscclcKernel *kernel, uint64_t capacity) {
  return kernel->ready_rows == 0 ? 0 : 1 + kernel->groups * mscclc_ready_blocks(kernel, capacity);
}

/* In place, the shorter buffer of rank r begins r steps after the beginning of the longer one, and a step is as long
 * as the shorter one. If both begin together, the step is 0. */
static inline uint64_t mscclc_input_step(const MscclcKernel *kernel, uint64_t message_bytes) {
  const uint64_t input = kernel->input_bytes(0, message_bytes), output = kernel->output_bytes(0, message_bytes);
  return (kernel->flags & (MSCCLC_IN_PLACE | MSCCLC_ONE_START)) == MSCCLC_IN_PLACE && input < output ? input : 0;
}
static inline uint64_t mscclc_output_step(const MscclcKernel *kernel, uint64_t message_bytes) {
  const uint64_t input = kernel->input_bytes(0, message_bytes), output = kernel->output_bytes(0, message_bytes);
  return (kernel->flags & (MSCCLC_IN_PLACE | MSCCLC_ONE_START)) == MSCCLC_IN_PLACE && output < input ? output : 0;
}

/* Every emitted file defines these functions, where NAME is the plan's name as a C identifier:
 *   const MscclcKernel *mscclc_kernel_NAME(void);
 *   int32_t mscclc_register_NAME(void);   passes the kernel to mscclc_register_kernel; MSCCLC_OK if that is not
 *   there
 * Unless it was compiled with MSCCLC_NO_AUTO_REGISTER, it also registers itself when its library is loaded.
 * The runtime's registry defines the function below. Registering a kernel twice is harmless. */
int32_t mscclc_register_kernel(const MscclcKernel *kernel);

/* If the runtime was loaded with RTLD_LOCAL, a library of kernels does not find the registry. So a library with
 * emitted files also defines mscclc_library_kernels, once for all of them. It returns the last of its kernels that
 * has registered. The runtime calls it when it loads the library. */
typedef struct MscclcRegistered {
  const MscclcKernel *kernel;
  const struct MscclcRegistered *before; /* null: the first */
} MscclcRegistered;

#ifdef __cplusplus
}
#endif

#endif
