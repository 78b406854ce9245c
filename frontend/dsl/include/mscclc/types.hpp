// Enumerations, units and options of the DSL.
#ifndef MSCCLC_TYPES_HPP
#define MSCCLC_TYPES_HPP

#include "detail/lists.hpp"
#include "list.hpp"

namespace mscclc {

/// Block-wide synchronisation (as __syncthreads) around an operation. Python: SyncType.
enum class Sync : std::uint8_t { None, Before, After, Both };

/// Sync is a set: `Sync::Before | Sync::After` is `Sync::Both`.
constexpr Sync operator|(Sync a, Sync b) {
  return static_cast<Sync>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr Sync operator&(Sync a, Sync b) {
  return static_cast<Sync>(static_cast<int>(a) & static_cast<int>(b));
}
constexpr Sync operator^(Sync a, Sync b) {
  return static_cast<Sync>(static_cast<int>(a) ^ static_cast<int>(b));
}

/// The buffers of a rank. Python: BufferType.
enum class BufferType : std::uint8_t { Input, Output, Scratch };

/// The operation that combines elements in a reduction. Python: ReduceOperationType, which has no Prod.
enum class ReduceOp : std::uint8_t { Sum, Min, Max, Prod };

/// The way in which data is ordered. Simple: by signals. LL: packets carry flags with the data. Auto: the compiler
/// chooses one of these two, in a program of Schedule::Auto. Lamport: packets have no flags and half the length, and
/// data itself shows that it has arrived. Lamport is for kernels that sum floats, and sends -0.0 as +0.0. In every
/// launch, a rank must then receive data, at least through other ranks, from all ranks to which it sends packets.
/// Python: protocol="Simple".
enum class Protocol : std::uint8_t { Simple, LL, Auto, Lamport };

/// The form of a program. Manual: operations of thread blocks, with their synchronisation. Auto: movement statements
/// (moves.hpp), from which the compiler makes the operations.
enum class Schedule : std::uint8_t { Manual, Auto };

/// The order in which sums and products are computed, in a program of Schedule::Auto. Written: as the statements say,
/// from the first operand to the last. Any: in any order. Ranks: a chain in the order of ranks, for every element.
/// Tree: a binary tree of ranks. The tree of ranks [a, b) adds the trees of [a, a + p) and [a + p, b), with p the
/// largest power of two below b - a. With Ranks and Tree the bits depend only on the data.
enum class Order : std::uint8_t { Written, Any, Ranks, Tree };

/// The type of partial results of sums and products of floats that are narrower than f32. Narrow: f32 inside an
/// operation, whose result is rounded to the type of elements. Wide: f32 until the last operation, so that every sum is
/// rounded once. With Wide, scratch is f32, and takes 4 / size(element) times as much memory.
enum class Accumulate : std::uint8_t { Narrow, Wide };

/// The form in which values travel between ranks: `.wire = Wire::F8E4m3{.block = 128}`, or `Wire::Bf16{}`. It is for
/// sums, and for kernels: plans have no such form. Each contribution is quantised once before it is added, including
/// the adding rank's own. A sum is quantised once when it is sent. Its rank keeps the quantised value, so all ranks end
/// with the same bits. Sums are f32. Scratch holds values in this form: storing encodes them, and reading decodes them.
/// Values that move from scratch to scratch stay as they are. A message has whole blocks.
struct Wire {
  enum class Form : std::uint8_t { None, F8E4m3, Bf16 };

  /// f8e4m3, with an f32 scale for each `block` elements, a multiple of 8 up to 256. The scale is the largest absolute
  /// value / 448, or 1 for a block of zeros. Elements are f32, f16 or bf16.
  struct F8E4m3 {
    detail::Integer block = 128;
  };
  /// bf16, for elements of type f32. Each `block` elements, a multiple of 8 up to 256, travel together.
  struct Bf16 {
    detail::Integer block = 128;
  };
  Wire() = default;
  Wire(const F8E4m3 &format) : block(format.block), form(Form::F8E4m3) {}
  Wire(const Bf16 &format) : block(format.block), form(Form::Bf16) {}

  detail::Integer block = 0;
  Form form = Form::None;
};

/// The places of rows in a collective whose sizes are known only at run time. Padded: each slot has a fixed place, as
/// long as its capacity. Packed: the rows of a slot follow those of the slot before it, in input and output.
enum class RowLayout : std::uint8_t { Padded, Packed };

/// The places of the rows of a rank's experts. Each rank sends at most `capacity` rows to an expert. ExpertMajor: each
/// expert has room for `capacity` rows from each rank, and its live rows follow each other, in the order of senders.
/// RankMajor: each sender has room for `capacity` rows to each expert, and its live rows follow each other, in the
/// order of experts.
enum class ExpertLayout : std::uint8_t { ExpertMajor, RankMajor };

/// The places of the chunks of an instance: interleaved with the chunks of other instances, or unchanged. Python:
/// ReplicationPolicy.
enum class Replication : std::uint8_t { Interleaved, None };

/// Sizes in bytes: `4_KiB`, `1_MiB`, `2_GiB`. They are signed, so that they mix with `int`.
constexpr std::int64_t operator""_KiB(unsigned long long n) {
  return static_cast<std::int64_t>(n << 10);
}
constexpr std::int64_t operator""_MiB(unsigned long long n) {
  return static_cast<std::int64_t>(n << 20);
}
constexpr std::int64_t operator""_GiB(unsigned long long n) {
  return static_cast<std::int64_t>(n << 30);
}

namespace detail {
/// The type of `automatic`.
struct Automatic {};

/// An integer, or `automatic`: the compiler chooses.
struct AnyInteger {
  constexpr AnyInteger(Automatic) {}
  template <typename T>
    requires requires(const T &t) { Integer(t); }
  constexpr AnyInteger(const T &given) : value(given), isGiven(true) {}

  Integer value;
  bool isGiven = false;
};

/// True, false, or `automatic`: the compiler chooses.
struct AnyFlag {
  constexpr AnyFlag(Automatic) {}
  constexpr AnyFlag(bool given) : flag(given), isGiven(true) {}

  bool flag = false;
  bool isGiven = false;
};
} // namespace detail

/// A value for options that lets the compiler choose: `.instances = automatic`.
inline constexpr detail::Automatic automatic;

/// A name with an optional value. A selector at run time chooses kernels by their tags. A Tag refers to the memory of
/// its text.
struct Tag {
  /// `text` is the name. It consists of letters, digits, '_', '-' and '.'.
  template <typename T>
    requires requires(const T &t) { detail::Text(t); }
  Tag(const T &text, detail::Integer number = 1) : name(text), value(number) {}

  detail::Text name;
  detail::Integer value;
};

/// The options of a program. Members have the defaults of the Python DSL. Members that Python does not have come last.
struct ProgramOptions {
  /// Copies of the program that run in parallel, each on its share of the data; may be `automatic` in a program of
  /// Schedule::Auto. Python: instances.
  detail::AnyInteger instances = 1;
  /// The way in which data is ordered. Protocol::Auto is only for programs of Schedule::Auto. Protocol::Lamport uses
  /// the parts of scratch in turn, as doubleScratch does. Python: protocol ("Simple", "LL").
  Protocol protocol = Protocol::Simple;
  /// Fuse adjacent operations of a thread block (from -O1 on). Python: instr_fusion.
  bool fuse = true;
  /// Insert the block-wide synchronisation that data dependencies need (from -O1 on). Python: auto_sync.
  bool autoSync = true;
  /// The places of the chunks of each instance. Python: replication_policy.
  Replication replication = Replication::Interleaved;
  /// Let the executor keep one scratch buffer, instead of using a buffer for each message. Python: reuse_resources.
  bool reuseResources = false;
  /// Threads of a thread block, 1 to 1024. A kernel with reductions has at most 768, and a kernel with reductions of
  /// packets at most 512. With more, its threads would have too few registers. Python: num_threads_per_block.
  detail::Integer threadsPerBlock = 1024;
  /// Use the halves of scratch in turn, so that a launch does not have to wait for the launch before. Python:
  /// use_double_scratch_buffer.
  bool doubleScratch = false;
  /// Unit by which a message is divided into chunks, in bytes, a power of two. Python: buffer_alignment.
  detail::Integer bufferAlignment = 16;
  /// Smallest message of the program, in bytes of a rank's input, or of an AllGather's output. Python:
  /// min_message_size.
  detail::Integer minMessageSize = 0;
  /// Largest message of the program, in bytes; by default there is no limit. Python: max_message_size.
  detail::Integer maxMessageSize = ~std::uint64_t{0};
  /// The form of the program: operations of thread blocks, or movement statements.
  Schedule schedule = Schedule::Manual;
  /// The number of ranks of a node: ranks 0 to n - 1 are the first node, and so on. It must divide the number of ranks.
  /// Ranks of one node reach each other through memory and the switch, and other ranks through ports. 0: in a program
  /// of Schedule::Auto all ranks are of one node; in a program of Schedule::Manual the nodes are unknown. Python:
  /// AlgoSpec.nranks_per_node.
  detail::Integer ranksPerNode = 0;
  /// The most thread blocks of a rank in a program of Schedule::Auto, all instances together; 0: the compiler chooses.
  detail::Integer blocks = 0;
  /// The order of sums in a program of Schedule::Auto. With Order::Any, the switch of a node may sum and multicast.
  Order order = Order::Written;
  /// The old name of `.order = Order::Any`.
  bool reassociate = false;
  /// Do not fuse two sums of packets if the sender of one has to wait before it sends. The other sum is done during
  /// that wait. Programs of Schedule::Auto always do this.
  bool latePacketsApart = false;
  /// Make two kernels of the program: one that sends and never waits for another rank, and one that receives. Other
  /// work of a rank can run between them. Data that leaves a rank then passes through scratch, and launches use the
  /// halves of scratch in turn. A program of Schedule::Manual must do both itself.
  bool split = false;
  /// Hand over rows of experts in blocks of this many rows, in a Dispatch or a Combine. A word in memory for each block
  /// says that its rows are there. The kernel of a Dispatch sets the words, so the user's kernel may begin with the
  /// first blocks. The kernel of a Combine waits for the words, so the user's kernel must set them. mscclc/ready.cuh
  /// has the functions for the user's kernels. 0: there are no words; a Dispatch hands over all rows at its end, and a
  /// Combine takes all at its beginning.
  detail::Integer readyRows = 0;
  /// Let a Dispatch send a row at most once to each rank, with a list of its places there. The receiving rank copies
  /// the row to each of its experts that the index names. Results are the same. `automatic`: the time model decides if
  /// this is faster.
  detail::AnyFlag oncePerRank = false;
  /// The type of partial results. With Accumulate::Wide, scratch holds them as f32.
  Accumulate accumulate = Accumulate::Narrow;
  /// The form in which values travel between ranks; by default, that of the message's elements.
  Wire wire = {};
  /// Tags by which a selector at run time chooses among kernels: `{"tuned", {"level", 2}}`. A tag of value 1 is
  /// requested by its name, and a tag of another value as "level=2". Python: AlgoSpec.tags.
  List<Tag> tags = {};
};

/// Options of MemoryChannel::signal and wait: `{.sync = Sync::After, .relaxed = true}`.
struct SignalOptions {
  /// Block-wide synchronisation around the operation. Python: data_sync.
  Sync sync = Sync::Both;
  /// True if the signal or wait orders only control, and no data. Python: relaxed.
  bool relaxed = false;
};

/// Options of PortChannel::signal, wait and flush: `{.sync = Sync::After}`.
struct PortSignalOptions {
  /// Block-wide synchronisation around the operation. Python: data_sync.
  Sync sync = Sync::Both;
};

/// Input chunk `chunk` of rank `rank`, as an operand of a result. See CustomCollective::expect.
struct Contribution {
  detail::Integer rank = 0;
  detail::Integer chunk = 0;
};

/// Chunks of a rank's input and output. See CustomCollective.
struct ChunkCounts {
  detail::Integer input = 0;
  detail::Integer output = 0;
};

} // namespace mscclc

#endif // MSCCLC_TYPES_HPP
