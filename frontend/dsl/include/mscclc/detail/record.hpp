// What stands between an algorithm and the compiler: places, and the calls that record.
//
// Nothing here is for algorithms to use. Every DSL call ends in one of the `__mscclc_*` functions below, which note
// what was asked for and where; they check nothing but what keeps later calls meaningful. The compiler defines them
// (frontend/trace/recorder.cpp), as it does the DSL's own functions (frontend/dsl/dsl_library.cpp), so an algorithm
// compiles anywhere but runs only inside it. Only what may be part of a constant expression is defined in these
// headers.
#ifndef MSCCLC_DETAIL_RECORD_HPP
#define MSCCLC_DETAIL_RECORD_HPP

#include <cstdint>
#include <initializer_list> // for std::size_t as well; <cstddef> takes longer to read than the DSL's channels

#if defined(__has_builtin)
#if __has_builtin(__builtin_COLUMN)
#define MSCCLC_COLUMN __builtin_COLUMN()
#endif
#endif
#ifndef MSCCLC_COLUMN
#define MSCCLC_COLUMN 0
#endif
// Places are constants: Clang then generates no code that makes them. GCC 12 takes the place of the declaration then,
// and in older Clangs a place can no longer be set right (frontend/clang/call_places.h).
#if defined(__clang__) && __clang_major__ >= 22
#define MSCCLC_CONSTANT consteval
#else
#define MSCCLC_CONSTANT constexpr
#endif

namespace mscclc {

class Chunk;
struct ChunkCounts;
struct ChunkOptions;
struct Contribution;
struct MoveOptions;
struct ProgramOptions;

/// Where a call stands in the source: the place of the called name (column 0 where the compiler cannot tell). It is the
/// last parameter of each call of the DSL, and defaulted, so that an error names the line of the caller. A library that
/// takes it in the same way and hands it on has its errors at the lines of its own callers:
///
///   inline void send(const Chunk &dst, const Chunk &src, Place at = Place::here()) { copy(dst, src, {}, at); }
struct Place {
  const char *file;
  std::uint32_t line;
  std::uint32_t column;

  /// As a default argument: the place of the call that it is a default argument of.
  static MSCCLC_CONSTANT Place here(const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                                    std::uint32_t column = MSCCLC_COLUMN) {
    return {file, line, column};
  }
};

namespace detail {

/// Handle of something that was never made: what a default-constructed channel, buffer or chunk holds.
inline constexpr std::uint32_t unset = 0xffffffff;
/// Handle of something whose construction was an error. The error is reported once, there.
inline constexpr std::uint32_t faulty = 0xfffffffe;

/// An integer of any type, kept whole: a negative or huge value is the compiler's to report, not C++'s to convert.
struct Integer {
  constexpr Integer() = default;
  constexpr Integer(int value) : bits(static_cast<std::uint64_t>(value)), negative(value < 0) {}
  constexpr Integer(long value) : bits(static_cast<std::uint64_t>(value)), negative(value < 0) {}
  constexpr Integer(long long value) : bits(static_cast<std::uint64_t>(value)), negative(value < 0) {}
  constexpr Integer(unsigned value) : bits(value) {}
  constexpr Integer(unsigned long value) : bits(value) {}
  constexpr Integer(unsigned long long value) : bits(value) {}

  std::uint64_t bits = 0;
  bool negative = false;
};

/// An index together with its place, for operators, which cannot take default arguments.
struct PlacedIndex {
  PlacedIndex(int v, Place at = Place::here());
  PlacedIndex(long v, Place at = Place::here());
  PlacedIndex(long long v, Place at = Place::here());
  PlacedIndex(unsigned v, Place at = Place::here());
  PlacedIndex(unsigned long v, Place at = Place::here());
  PlacedIndex(unsigned long long v, Place at = Place::here());

  std::int64_t value;
  Place place;
};

/// What an operation was asked for besides its operands, in six bits.
struct CallFlags {
  static constexpr std::uint32_t syncMask = 3;     ///< bits 0 and 1: Sync
  static constexpr std::uint32_t relaxed = 1 << 2; ///< relaxed signal or wait
  static constexpr std::uint32_t packet = 1 << 2;  ///< reduce of packets: no call can be relaxed and a reduce
  static constexpr std::uint32_t opShift = 3;      ///< bits 3 to 5: ReduceOp
  static constexpr std::uint32_t opMask = 7;
};

/// Which blocks do an operation: one, or those of a group.
struct BlockSet {
  std::int64_t block;  ///< of a single block
  std::uint32_t group; ///< handle of the group
  bool isGroup;
};

/// A list of integers of any type, read where it lies.
struct IntegerArray {
  const void *data;
  std::size_t size;
  std::uint32_t width; ///< bytes an element
  bool isSigned;

  /// Element `index`. Defined on the compiler's side.
  std::int64_t operator[](std::size_t index) const;
};

/// What a Chunk holds.
struct ChunkData {
  std::uint32_t buffer = unset; ///< handle of the buffer
  std::uint32_t place = 0;      ///< where it was sliced, as __mscclc_slice numbered it
  std::int64_t index = 0;       ///< in chunks, from the beginning of the buffer
  std::int64_t size = 0;        ///< in chunks
  std::int32_t rank = -1;
  std::uint8_t type = 0; ///< BufferType
};

/// What a ChunkRef holds: a range of chunks as it was when the ref was taken.
struct RefData {
  std::uint32_t handle = unset; ///< number of the ref
  std::uint8_t type = 0;        ///< BufferType
  std::int64_t rank = -1;
  std::int64_t index = 0; ///< in chunks; of scratch, from the beginning of all that the rank has
  std::int64_t size = 0;  ///< in chunks
};

struct NoteArgument;
struct NoteFormat;

/// Kinds of collectives: the numbers of the compiler's table (mscclc/collectives.def).
enum class CollectiveKind : std::uint32_t;
/// The calls that act: those of its table (frontend/trace/calls.def).
enum class Call : std::uint32_t;

extern "C" {
// Collectives and programs. `first` and `second`: input and output chunks of a rank, or the chunk factor and the root
// (0 for a collective without one).
std::uint32_t __mscclc_collective(CollectiveKind kind, const char *name, std::size_t nameSize, std::int64_t ranks,
                                  std::int64_t first, std::int64_t second, bool inplace, const Place *place);
// Sizes of a collective's buffers where they differ between ranks.
void __mscclc_collective_sizes(std::uint32_t collective, const ChunkCounts *sizes, std::size_t count,
                               const Place *place);
void __mscclc_expect(std::uint32_t collective, std::int64_t rank, std::int64_t outputChunk,
                     const Contribution *contributions, std::size_t count, const Place *place);
void __mscclc_program_begin(const char *name, std::size_t nameSize, std::uint32_t collective,
                            const ProgramOptions *options, const Place *place);
void __mscclc_program_end();

// Things that operations name. Each returns a handle; `faulty` where it is an error.
std::uint32_t __mscclc_rank(std::int64_t rank, const Place *place);
std::uint32_t __mscclc_rank_buffer(std::uint32_t rank, std::uint32_t type, std::int64_t *size);
std::uint32_t __mscclc_scratch(std::int64_t rank, std::int64_t size, const Place *place);
void __mscclc_slice(ChunkData *chunk, std::int64_t bufferSize, std::int64_t first, std::int64_t last,
                    const Place *place);
std::uint32_t __mscclc_group(const IntegerArray *blocks, const Place *place);
// Of a pair, the handle of the channel to `dst`; that of the channel back is the next one.
std::uint32_t __mscclc_channel(bool port, bool pair, std::int64_t dst, std::int64_t src, const Place *place);
std::uint32_t __mscclc_switch(const IntegerArray *ranks, std::uint32_t bufferType, const Place *place);
std::uint32_t __mscclc_at_rank(std::uint32_t switchChannel, std::int64_t rank, const Place *place);
std::uint32_t __mscclc_semaphore(std::int64_t rank, std::int64_t initialValue, const Place *place);

// Operations. `handle` is a rank, a channel, a semaphore or a rank's view of a switch channel, as the call asks.
void __mscclc_operation(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on, const Chunk *dst,
                        const Chunk *src, const Place *place);
void __mscclc_reduce(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on, const Chunk *dst,
                     const Chunk *src, const Chunk *others, std::size_t numOthers, const Place *place);
void __mscclc_switch_operation(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on,
                               const Chunk *chunk, std::int64_t offset, std::int64_t size, const Place *place);
void __mscclc_move(Call call, const MoveOptions *options, const Chunk *dsts, std::size_t numDsts, const Chunk *first,
                   const Chunk *others, std::size_t numOthers, const Place *place);
// Refs are numbered in the order of these calls. `place` names the chunks at the call's other end; of a reduction, it
// is a ref. Returns the number of the ref of what was written, or of the chunks that are called on.
std::uint32_t __mscclc_ref(const RefData *ref, const Place *place);
std::uint32_t __mscclc_ref_call(Call call, std::uint32_t flags, const ChunkOptions *options, const RefData *ref,
                                const RefData *other, const Place *place);
void __mscclc_barrier(std::uint32_t rank, const IntegerArray *blocks, const Place *place);
void __mscclc_loop_begin(std::int64_t unit, std::int64_t numChunks, const Place *place);
void __mscclc_loop_end();

void __mscclc_note(const NoteFormat *format, const NoteArgument *arguments, std::size_t count);
}

} // namespace detail
} // namespace mscclc

#endif // MSCCLC_DETAIL_RECORD_HPP
