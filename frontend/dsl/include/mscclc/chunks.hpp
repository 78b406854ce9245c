// The chunk language: chunks move from rank to rank. Each call is made on the chunk that the call before has written.
//
// A ref names a range of chunks with their contents at one point of the program. Calls on a ref move the data, and
// return a ref of the written chunks: `chunk(0, BufferType::Input, 0).put(1, BufferType::Output, 0)`. A ref becomes
// stale when another call writes to its chunks. Using a stale ref is an error, which shows both places. The calls are
// those of MSCCLPPLang, the chunk language of MSCCL++. MSCCLang only has `chunk`, `copy` and `reduce`.
//
// In a program of Schedule::Auto the calls describe movements, and the compiler chooses their execution. In a program
// of Schedule::Manual each call names its thread block, and `signal` and `wait` order the blocks. Channels are made
// when calls need them. Calls share a channel if they agree in the pair of ranks, the type, and the thread blocks of
// both ends.
#ifndef MSCCLC_CHUNKS_HPP
#define MSCCLC_CHUNKS_HPP

#include "dsl.hpp"

namespace mscclc {

/// The type of channel through which a call reaches another rank. MSCCLPPLang: ChannelType.
enum class ChannelType : std::uint8_t {
  Memory, ///< mapped memory
  Port,   ///< a NIC or a copy engine, which only sends
};

namespace detail {
/// A type of channel, or `automatic`.
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
  /// The thread block of the rank that sends data or a signal. It executes put, signal, flush and putPackets, and
  /// operations within one rank. In other operations it is only the block at the other end, and by default has the
  /// number of `recvtb`.
  detail::AnyInteger sendtb = automatic;
  /// The thread block of the rank that receives data or a signal. It executes get, wait, and reduce. In other
  /// operations it is only the block at the other end, and by default has the number of `sendtb`.
  detail::AnyInteger recvtb = automatic;
  /// The default is ChannelType::Memory; in a program of Schedule::Auto, it is the compiler's choice. A call within a
  /// rank uses no channel. Within a rank, ChannelType::Port is an error in a program of Schedule::Manual, and has no
  /// effect in a program of Schedule::Auto.
  detail::AnyChannel channel = automatic;
};

/// The options of a reduction.
struct ChunkReduceOptions {
  /// The same as ChunkOptions::sendtb.
  detail::AnyInteger sendtb = automatic;
  /// The same as ChunkOptions::recvtb.
  detail::AnyInteger recvtb = automatic;
  /// The same as ChunkOptions::channel.
  detail::AnyChannel channel = automatic;
  /// The operation that combines elements.
  ReduceOp op = ReduceOp::Sum;
};

/// A range of chunks with its contents at one point of the program; see chunk(). Copying a ref copies the handle.
///
/// A call names the place at its other end by a rank, a `buffer` and the `index` of the first chunk. The size is that
/// of this ref. get, reduce and reducePackets write the chunks of this ref itself, and return a ref of the new
/// contents.
class ChunkRef {
public:
  /// An empty handle, without chunks.
  ChunkRef() = default;

  /// The rank of the chunks.
  std::int64_t rank() const { return data_.rank; }
  /// The buffer of the chunks.
  BufferType buffer() const { return static_cast<BufferType>(data_.type); }
  /// The index of the first chunk.
  std::int64_t index() const { return data_.index; }
  /// The number of chunks.
  std::int64_t size() const { return data_.size; }

  /// Writes the chunks to another rank `dst`. MSCCLPPLang: put(dst, buffer, index, sendtb, chan_type).
  ChunkRef put(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
               Place at = Place::here()) const;
  /// Reads chunks of another rank `src` into the chunks of this ref. MSCCLPPLang: get(src, buffer, index, recvtb,
  /// chan_type).
  ChunkRef get(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
               Place at = Place::here());
  /// Copies the chunks to rank `dst`. In a program of Schedule::Manual, `dst` must be the rank of this ref. A copy of
  /// chunks onto themselves moves nothing, but its options are checked. MSCCLPPLang: copy(dst, buffer, index, sendtb).
  ChunkRef copy(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                Place at = Place::here()) const;
  /// Reduces the chunks of this ref and of `other`, on any rank, into the chunks of this ref. MSCCLPPLang:
  /// reduce(other, recvtb, channel_type).
  ChunkRef reduce(const ChunkRef &other, const ChunkReduceOptions &options = {}, Place at = Place::here());
  /// Signals rank `dst` that all earlier operations are complete. `buffer` and `index` name the place of the data
  /// there. Returns this ref. MSCCLPPLang: signal(dst, buffer, index, sendtb, chan_type).
  ChunkRef signal(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                  Place at = Place::here()) const;
  /// Waits for a signal of rank `src`. `buffer` and `index` name the source of the data there. Returns this ref.
  /// MSCCLPPLang: wait(src, buffer, index, recvtb, chan_type).
  ChunkRef wait(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                Place at = Place::here()) const;
  /// Waits until all data that was put to rank `dst` through a port has left its source. Returns this ref. MSCCLPPLang:
  /// flush(dst, buffer, index, sendtb).
  ChunkRef flush(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                 Place at = Place::here()) const;
  /// Writes the chunks to scratch of another rank `dst` as packets. Through a port, the chunks must already be packets
  /// in scratch. MSCCLPPLang: put_packet(dst, buffer, index, sendtb, …).
  ChunkRef putPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                      Place at = Place::here()) const;
  /// Copies chunks within a rank; `dst` is this rank. Packets in scratch become plain data. Chunks that are not in
  /// scratch are plain, and become packets. MSCCLPPLang: copy_packet(dst, buffer, index, sendtb).
  ChunkRef copyPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                       Place at = Place::here()) const;
  /// Reduces the chunks of this ref and of `other` into the chunks of this ref. The chunks of `other` must be packets
  /// in scratch of the same rank. MSCCLPPLang: reduce_packet(other, recvtb).
  ChunkRef reducePackets(const ChunkRef &other, const ChunkReduceOptions &options = {}, Place at = Place::here());

private:
  friend ChunkRef chunk(std::int64_t rank, BufferType buffer, std::int64_t index, std::int64_t size, Place at);
  friend struct detail::Access;
  detail::RefData data_;
};

/// Returns a ref of chunks [index, index + size) of a buffer of `rank`, with their contents at this point. Scratch is
/// counted from the beginning of all scratch of the rank. It grows to the largest chunk that calls name; with double
/// scratch, on all ranks. A Buffer that is made later comes after this scratch. MSCCLPPLang: chunk(rank, buffer, index,
/// size).
ChunkRef chunk(std::int64_t rank, BufferType buffer, std::int64_t index, std::int64_t size = 1,
               Place at = Place::here());

} // namespace mscclc

#endif // MSCCLC_CHUNKS_HPP
