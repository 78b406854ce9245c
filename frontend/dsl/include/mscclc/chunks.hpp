// The chunk language: chunks move from rank to rank. Each call is made on the chunk that the call before has written.
//
// A ref names a range of chunks with their contents at one point of the program. Calls on it move the data, and return
// the ref of what they wrote: `chunk(0, BufferType::Input, 0).put(1, BufferType::Output, 0)`. A ref becomes stale when
// something else is written there. Using a stale ref is an error, which shows both places. The calls are those of
// MSCCLPPLang, the chunk language of MSCCL++. MSCCLang only has `chunk`, `copy` and `reduce`.
//
// In a program of Schedule::Auto the calls describe movements, and the compiler chooses the rest. In a program of
// Schedule::Manual each call names its thread block, and `signal` and `wait` order the blocks. Channels are made when
// calls need them: one, with both its ends, for each pair of ranks, type, and thread block of either end.
#ifndef MSCCLC_CHUNKS_HPP
#define MSCCLC_CHUNKS_HPP

#include "dsl.hpp"

namespace mscclc {

/// The way on which a call reaches another rank. MSCCLPPLang: ChannelType.
enum class ChannelType : std::uint8_t {
  Memory, ///< mapped memory
  Port,   ///< a NIC or a copy engine, which only sends
};

namespace detail {
/// A type of channel, or none.
struct AnyChannel {
  constexpr AnyChannel(Automatic) {}
  constexpr AnyChannel(ChannelType given) : type(given), isGiven(true) {}

  ChannelType type = ChannelType::Memory;
  bool isGiven = false;
};
} // namespace detail

/// The thread blocks and the channel of a call: `{.sendtb = 0, .channel = ChannelType::Port}`. A program of
/// Schedule::Auto does not name thread blocks.
struct ChunkOptions {
  /// The thread block of the rank that data or a signal comes from. It executes put, signal, flush and putPackets, and
  /// operations within one rank. For other operations it is the other end, and its default is the number of `recvtb`.
  detail::AnyInteger sendtb = automatic;
  /// The thread block of the rank that data or a signal goes to. It executes get, wait, and reduce. For other
  /// operations it is the other end, and its default is the number of `sendtb`.
  detail::AnyInteger recvtb = automatic;
  /// By default ChannelType::Memory, or in a program of Schedule::Auto the compiler's choice. A call within a rank uses
  /// no channel. There, ChannelType::Port is an error in a program of Schedule::Manual, and has no effect in one of
  /// Schedule::Auto.
  detail::AnyChannel channel = automatic;
};

/// The options of a reduction.
struct ChunkReduceOptions {
  /// As in ChunkOptions.
  detail::AnyInteger sendtb = automatic;
  /// As in ChunkOptions.
  detail::AnyInteger recvtb = automatic;
  /// As in ChunkOptions.
  detail::AnyChannel channel = automatic;
  /// How elements are combined.
  ReduceOp op = ReduceOp::Sum;
};

/// A range of chunks with its contents at this point of the program; see chunk(). Copying a ref copies the handle.
///
/// The other place of a call is `index` in `buffer` of a rank, with the size of this ref. get, reduce and reducePackets
/// write the chunks of this ref itself. The ref that they return names the new contents.
class ChunkRef {
public:
  /// No chunks yet.
  ChunkRef() = default;

  /// The rank that the chunks lie on.
  std::int64_t rank() const { return data_.rank; }
  /// The buffer that they lie in.
  BufferType buffer() const { return static_cast<BufferType>(data_.type); }
  /// The index of the first chunk.
  std::int64_t index() const { return data_.index; }
  /// The number of chunks.
  std::int64_t size() const { return data_.size; }

  /// Writes the chunks to another rank `dst`. MSCCLPPLang: put(dst, buffer, index, sendtb, chan_type).
  ChunkRef put(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
               Place at = Place::here()) const;
  /// Reads chunks of another rank `src` into these. MSCCLPPLang: get(src, buffer, index, recvtb, chan_type).
  ChunkRef get(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
               Place at = Place::here());
  /// Copies the chunks to rank `dst`, which is this one or, in a program of Schedule::Auto, any. A copy onto itself
  /// moves nothing, but its options are checked. MSCCLPPLang: copy(dst, buffer, index, sendtb).
  ChunkRef copy(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                Place at = Place::here()) const;
  /// Reduces these chunks and `other`, of any rank, into these. MSCCLPPLang: reduce(other, recvtb, channel_type).
  ChunkRef reduce(const ChunkRef &other, const ChunkReduceOptions &options = {}, Place at = Place::here());
  /// Signals rank `dst` that all earlier operations are complete. The place is that of its data. Returns this ref.
  /// MSCCLPPLang: signal(dst, buffer, index, sendtb, chan_type).
  ChunkRef signal(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                  Place at = Place::here()) const;
  /// Waits for a signal of rank `src`. The place is the source of its data. Returns this ref. MSCCLPPLang: wait(src,
  /// buffer, index, recvtb, chan_type).
  ChunkRef wait(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                Place at = Place::here()) const;
  /// Waits until all data that was put to rank `dst` through a port has left its source. Returns this ref. MSCCLPPLang:
  /// flush(dst, buffer, index, sendtb).
  ChunkRef flush(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                 Place at = Place::here()) const;
  /// Writes the chunks to scratch of another rank `dst` as packets. For a port they must already be packets in scratch.
  /// MSCCLPPLang: put_packet(dst, buffer, index, sendtb, …).
  ChunkRef putPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                      Place at = Place::here()) const;
  /// Copies chunks within a rank; `dst` is this rank. Packets in scratch become plain data. Chunks that are not in
  /// scratch are plain, and become packets. MSCCLPPLang: copy_packet(dst, buffer, index, sendtb).
  ChunkRef copyPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                       Place at = Place::here()) const;
  /// Reduces these chunks and `other`, packets in scratch of the same rank, into these.
  /// MSCCLPPLang: reduce_packet(other, recvtb).
  ChunkRef reducePackets(const ChunkRef &other, const ChunkReduceOptions &options = {}, Place at = Place::here());

private:
  friend ChunkRef chunk(std::int64_t rank, BufferType buffer, std::int64_t index, std::int64_t size, Place at);
  friend struct detail::Access;
  detail::RefData data_;
};

/// Chunks [index, index + size) of a buffer of `rank`, with their contents at this point. Scratch is counted from the
/// beginning of all scratch of the rank. It grows to the largest chunk that is named; with double scratch, on all
/// ranks. A Buffer that is made later follows what was named before. MSCCLPPLang: chunk(rank, buffer, index, size).
ChunkRef chunk(std::int64_t rank, BufferType buffer, std::int64_t index, std::int64_t size = 1,
               Place at = Place::here());

} // namespace mscclc

#endif // MSCCLC_CHUNKS_HPP
