// The interface between an algorithm and the compiler: places, and the calls that record.
//
// Algorithms use nothing of this directly. Every DSL call ends in one of the `__mscclc_*` functions below. They record
// the call and its place, and check only the values that later calls depend on. The compiler defines them
// (frontend/trace/recorder.cpp), like the DSL's own functions (frontend/dsl/dsl_library.cpp). So an algorithm compiles
// with any compiler, but runs only inside mscclc. These headers only define functions that may be part of a constant
// expression.
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
// With `consteval`, places are constants, so Clang generates no code for them. GCC 12 would then take the place of the
// declaration. Clang before version 22 would take a place that cannot be corrected later
// (frontend/clang/call_places.h).
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
struct HookOptions;
struct MoveOptions;
struct ProgramOptions;

/// The place of a call in the source: that of the called name. The column is 0 if the compiler does not know it. A
/// Place is the last parameter of each call of the DSL, with a default, so that an error names the line of the caller.
/// A library can have such a parameter and pass it on. Then its errors are at the lines of its own callers:
///
///   inline void send(const Chunk &dst, const Chunk &src, Place at = Place::here()) { copy(dst, src, {}, at); }
struct Place {
  const char *file;
  std::uint32_t line;
  std::uint32_t column;

  /// As a default argument, returns the place of the call.
  static MSCCLC_CONSTANT Place here(const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                                    std::uint32_t column = MSCCLC_COLUMN) {
    return {file, line, column};
  }
};

namespace detail {

/// The handle of a default-constructed channel, buffer or chunk, which names no object.
inline constexpr std::uint32_t unset = 0xffffffff;
/// The handle of an object whose construction was an error. The error is reported once.
inline constexpr std::uint32_t faulty = 0xfffffffe;

/// An integer of any type, with its full value. So the compiler can report a negative or huge value, before C++
/// converts it.
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

/// An index and its place. Operators take it because they cannot have default arguments.
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

/// The properties of an operation besides its operands, in six bits.
struct CallFlags {
  static constexpr std::uint32_t syncMask = 3;     ///< bits 0 and 1: Sync
  static constexpr std::uint32_t relaxed = 1 << 2; ///< bit 2: a relaxed signal or wait
  static constexpr std::uint32_t packet = 1 << 2;  ///< bit 2: a reduce of packets; a relaxed call is never a reduce
  static constexpr std::uint32_t opShift = 3;      ///< bits 3 to 5: ReduceOp
  static constexpr std::uint32_t opMask = 7;
};

/// The thread blocks that execute an operation: a single one, or those of a group.
struct BlockSet {
  std::int64_t block;  ///< number of a single block
  std::uint32_t group; ///< handle of the group
  bool isGroup;
};

/// A list of integers of any type. It refers to the integers and does not own them.
struct IntegerArray {
  const void *data;
  std::size_t size;
  std::uint32_t width; ///< bytes of an element
  bool isSigned;

  /// Returns element `index`. The compiler defines this function.
  std::int64_t operator[](std::size_t index) const;
};

/// The contents of a Chunk.
struct ChunkData {
  std::uint32_t buffer = unset; ///< handle of the buffer
  std::uint32_t place = 0;      ///< number of the place where __mscclc_slice made the chunk
  std::int64_t index = 0;       ///< first chunk, counted from the beginning of the buffer
  std::int64_t size = 0;        ///< in chunks
  std::int32_t rank = -1;
  std::uint8_t type = 0; ///< BufferType
};

/// The contents of a ChunkRef: a range of chunks as it was when the ref was made.
struct RefData {
  std::uint32_t handle = unset; ///< number of the ref
  std::uint8_t type = 0;        ///< BufferType
  std::int64_t rank = -1;
  std::int64_t index = 0; ///< first chunk; in scratch, counted from the beginning of all scratch of the rank
  std::int64_t size = 0;  ///< in chunks
};

struct NoteArgument;
struct NoteFormat;

/// The kinds of collectives, with the numbers of the compiler's table (mscclc/collectives.def).
enum class CollectiveKind : std::uint32_t;
/// The operations, the movement statements and the calls on refs, with the numbers of their table
/// (frontend/trace/calls.def).
enum class Call : std::uint32_t;

extern "C" {
// Declare collectives and programs. For most kinds, `first` is the chunk factor, and `second` is the root, the
// RowLayout or 0. For kinds with experts, they are the experts of a rank and the ExpertLayout. For kinds with buffers
// of any size, they are the input and output chunks of a rank.
std::uint32_t __mscclc_collective(CollectiveKind kind, const char *name, std::size_t nameSize, std::int64_t ranks,
                                  std::int64_t first, std::int64_t second, bool inplace, const Place *place);
// Declares the sizes of a collective's buffers if they differ between ranks.
void __mscclc_collective_sizes(std::uint32_t collective, const ChunkCounts *sizes, std::size_t count,
                               const Place *place);
// Declares that the promised values are results of a hook.
void __mscclc_then(std::uint32_t collective, const char *name, std::size_t nameSize, const Place *place);
void __mscclc_expect(std::uint32_t collective, std::int64_t rank, std::int64_t outputChunk,
                     const Contribution *contributions, std::size_t count, const Place *place);
void __mscclc_program_begin(const char *name, std::size_t nameSize, std::uint32_t collective,
                            const ProgramOptions *options, const Place *place);
void __mscclc_program_end();

// Declare the objects that operations name. Each function with a result returns a handle, or `faulty` after an error.
std::uint32_t __mscclc_rank(std::int64_t rank, const Place *place);
std::uint32_t __mscclc_rank_buffer(std::uint32_t rank, std::uint32_t type, std::int64_t *size);
std::uint32_t __mscclc_scratch(std::int64_t rank, std::int64_t size, const Place *place);
void __mscclc_slice(ChunkData *chunk, std::int64_t bufferSize, std::int64_t first, std::int64_t last,
                    const Place *place);
// Makes `chunk` the slot of rows to `rank` in an input (`inInput`), or from `rank` in an output.
void __mscclc_slot(ChunkData *chunk, std::int64_t bufferSize, std::int64_t rank, bool inInput, const Place *place);
std::uint32_t __mscclc_group(const IntegerArray *blocks, const Place *place);
// With `pair`, makes two channels and returns the handle of the channel to `dst`. The channel back has the next handle.
std::uint32_t __mscclc_channel(bool port, bool pair, std::int64_t dst, std::int64_t src, const Place *place);
std::uint32_t __mscclc_switch(const IntegerArray *ranks, std::uint32_t bufferType, const Place *place);
std::uint32_t __mscclc_at_rank(std::uint32_t switchChannel, std::int64_t rank, const Place *place);
std::uint32_t __mscclc_semaphore(std::int64_t rank, std::int64_t initialValue, const Place *place);

std::uint32_t __mscclc_hook(const char *name, std::size_t nameSize, const HookOptions *options, const Place *place);

// Record operations. `handle` is a rank, a channel, a semaphore, a hook or a rank's view of a switch channel, as the
// call needs.
void __mscclc_operation(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on, const Chunk *dst,
                        const Chunk *src, const Place *place);
void __mscclc_reduce(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on, const Chunk *dst,
                     const Chunk *src, const Chunk *others, std::size_t numOthers, const Place *place);
void __mscclc_switch_operation(Call call, std::uint32_t flags, std::uint32_t handle, const BlockSet *on,
                               const Chunk *chunk, std::int64_t offset, std::int64_t size, const Place *place);
// `hook`: the hook of an apply; 0 for other statements.
void __mscclc_move(Call call, std::uint32_t hook, const MoveOptions *options, const Chunk *dsts, std::size_t numDsts,
                   const Chunk *first, const Chunk *others, std::size_t numOthers, const Place *place);
// Each makes a ref and returns its number. Refs are numbered in the order of these calls. `other` is the place at the
// other end of the call, or the other ref of a reduction. The new ref is of the chunks that the call writes; if it
// writes none, of the chunks of `ref`.
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
