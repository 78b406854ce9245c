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

/// How a reduction combines elements. Python: ReduceOperationType, which has no Prod.
enum class ReduceOp : std::uint8_t { Sum, Min, Max, Prod };

/// How data travels: Simple orders it by signals, LL sends flags along with it in packets. Python: protocol="Simple".
/// Auto, in a program of Schedule::Auto: the compiler chooses.
enum class Protocol : std::uint8_t { Simple, LL, Auto };

/// What a program is made of. Manual: operations of thread blocks, with their synchronisation. Auto: movement
/// statements (moves.hpp), from which the compiler makes the operations.
enum class Schedule : std::uint8_t { Manual, Auto };

/// How the chunks of instances lie: interleaved with those of the other instances, or where they are. Python:
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
/// What `automatic` is.
struct Automatic {};

/// An integer, or none: the compiler's to choose.
struct AnyInteger {
  constexpr AnyInteger(Automatic) {}
  template <typename T>
    requires requires(const T &t) { Integer(t); }
  constexpr AnyInteger(const T &given) : value(given), isGiven(true) {}

  Integer value;
  bool isGiven = false;
};
} // namespace detail

/// In place of an option: the compiler chooses, as `.instances = automatic`.
inline constexpr detail::Automatic automatic;

/// A name, and perhaps a value, by which a selector at run time picks a kernel. The text stays its owner's.
struct Tag {
  /// `text` is the name, of letters, digits, '_', '-' and '.'.
  template <typename T>
    requires requires(const T &t) { detail::Text(t); }
  Tag(const T &text, detail::Integer number = 1) : name(text), value(number) {}

  detail::Text name;
  detail::Integer value;
};

/// What a program is besides its name and its collective. Every member has the Python DSL's default; those that Python
/// does not have stand at the end.
struct ProgramOptions {
  /// Copies of the program that run side by side, each on its share of the data; `automatic` in a program of
  /// Schedule::Auto. Python: instances.
  detail::AnyInteger instances = 1;
  /// Python: protocol ("Simple", "LL"); Protocol::Auto in a program of Schedule::Auto.
  Protocol protocol = Protocol::Simple;
  /// Fuse adjacent operations of a thread block (from -O1 on). Python: instr_fusion.
  bool fuse = true;
  /// Insert the block-wide synchronisation that data dependencies ask for (from -O1 on). Python: auto_sync.
  bool autoSync = true;
  /// Where the chunks of each instance lie. Python: replication_policy.
  Replication replication = Replication::Interleaved;
  /// Let the executor use a scratch buffer that it keeps, instead of one made for this message. Python:
  /// reuse_resources.
  bool reuseResources = false;
  /// Threads of a thread block, 1 to 1024. A kernel that reduces takes 768 at the most, one that reduces packets 512:
  /// with more its threads would have too few registers. Python: num_threads_per_block.
  detail::Integer threadsPerBlock = 1024;
  /// Use the halves of scratch by turns, so that a launch need not wait for the one before. Python:
  /// use_double_scratch_buffer.
  bool doubleScratch = false;
  /// Unit in which a message is cut into chunks, in bytes, a power of two. Python: buffer_alignment.
  detail::Integer bufferAlignment = 16;
  /// Smallest message that the program is for, in bytes of a rank's input, or of an AllGather's output. Python:
  /// min_message_size.
  detail::Integer minMessageSize = 0;
  /// Largest message that the program is for, in bytes; the default is no limit. Python: max_message_size.
  detail::Integer maxMessageSize = ~std::uint64_t{0};
  /// What the program is made of: operations of thread blocks, or movement statements.
  Schedule schedule = Schedule::Manual;
  /// Ranks of a node: ranks 0 to n - 1 are the first node, and so on. Ranks of one node reach each other through memory
  /// and switch, others through ports. It divides the number of ranks. 0: all ranks are of one node in a program of
  /// Schedule::Auto; in one of Schedule::Manual nothing is said of nodes. Python: AlgoSpec.nranks_per_node.
  detail::Integer ranksPerNode = 0;
  /// Thread blocks that a rank may use, in a program of Schedule::Auto, all instances together; 0: as many as pay.
  detail::Integer blocks = 0;
  /// Sums may be taken in any order, in a program of Schedule::Auto, and what the switch of a node can do may go
  /// through it. Otherwise each sum is the chain that its statements say, first operand to last.
  bool reassociate = false;
  /// Fusion keeps a sum of packets whose sender has to wait for something first apart from a sum of others, which is
  /// done until they come. In a program of Schedule::Auto it always does.
  bool latePacketsApart = false;
  /// By which a selector at run time picks among kernels: `{"tuned", {"level", 2}}`. A tag of value 1 is asked for by
  /// its name, another one as "level=2". Python: AlgoSpec.tags.
  List<Tag> tags = {};
};

/// Options of MemoryChannel::signal and wait: `{.sync = Sync::After, .relaxed = true}`.
struct SignalOptions {
  /// Block-wide synchronisation around the operation. Python: data_sync.
  Sync sync = Sync::Both;
  /// Order control only, not data. Python: relaxed.
  bool relaxed = false;
};

/// Options of PortChannel::signal, wait and flush: `{.sync = Sync::After}`.
struct PortSignalOptions {
  /// Block-wide synchronisation around the operation. Python: data_sync.
  Sync sync = Sync::Both;
};

/// Input chunk `chunk` of rank `rank`, as a part of a result. See CustomCollective::expect.
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
