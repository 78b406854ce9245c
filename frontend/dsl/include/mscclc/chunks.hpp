// The chunk language: chunks that move from rank to rank, each step named by the chunk that the step before has left.
//
// A ref stands for a range of chunks as it is at one point of the program. Calls on it move the data, and return the
// ref of what they wrote: `chunk(0, BufferType::Input, 0).put(1, BufferType::Output, 0)`. A ref is stale as soon as
// something else is written there; to use it then is an error, with both places. The calls are those of MSCCLPPLang,
// the chunk language of MSCCL++; MSCCLang has `chunk`, `copy` and `reduce` alone.
//
// In a program of Schedule::Auto the calls say what moves, and the compiler chooses the rest. In one of
// Schedule::Manual each call names its thread block, and `signal` and `wait` order the blocks. Channels are made as the
// calls need them: one, with both its ends, for each pair of ranks, type, and thread block of either end.
#ifndef MSCCLC_CHUNKS_HPP
#define MSCCLC_CHUNKS_HPP

#include "dsl.hpp"

namespace mscclc {

/// Through what a call reaches another rank. MSCCLPPLang: ChannelType.
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

/// Who carries out a call, and through what: `{.sendtb = 0, .channel = ChannelType::Port}`. A program of Schedule::Auto
/// leaves the thread blocks out.
struct ChunkOptions {
  /// The thread block of the rank that data or a signal comes from. It executes put, signal, flush and putPackets, and
  /// what stays in one rank. Elsewhere it names the other end; by default that has the number of `recvtb`.
  detail::AnyInteger sendtb = automatic;
  /// The thread block of the rank that data or a signal goes to. It executes get, wait, and reduce. Elsewhere it names
  /// the other end; by default that has the number of `sendtb`.
  detail::AnyInteger recvtb = automatic;
  /// By default ChannelType::Memory, or in a program of Schedule::Auto what the compiler chooses. A call within a rank
  /// goes through no channel: there ChannelType::Port is an error in a program of Schedule::Manual, and decides nothing
  /// in one of Schedule::Auto.
  detail::AnyChannel channel = automatic;
};

/// The same for a reduction.
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

/// A range of chunks as it is at this point of the program; see chunk(). Copying a ref copies the handle.
///
/// The place that a call moves data to or from is `index` in `buffer` of a rank, with the size of this ref. get, reduce
/// and reducePackets write the chunks of this ref itself, which then stands for what they wrote.
class ChunkRef {
public:
  /// No chunks yet.
  ChunkRef() = default;

  /// The rank that the chunks lie on.
  std::int64_t rank() const { return data_.rank; }
  /// The buffer that they lie in.
  BufferType buffer() const { return static_cast<BufferType>(data_.type); }
  /// The first of them.
  std::int64_t index() const { return data_.index; }
  /// How many they are.
  std::int64_t size() const { return data_.size; }

  /// Writes the chunks to another rank `dst`. MSCCLPPLang: put(dst, buffer, index, sendtb, chan_type).
  ChunkRef put(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
               Place at = Place::here()) const;
  /// Reads chunks of another rank `src` over these. MSCCLPPLang: get(src, buffer, index, recvtb, chan_type).
  ChunkRef get(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
               Place at = Place::here());
  /// Copies the chunks to rank `dst`, this one or, in a program of Schedule::Auto, any. Copied onto themselves they do
  /// not move; the options are checked nevertheless. MSCCLPPLang: copy(dst, buffer, index, sendtb).
  ChunkRef copy(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                Place at = Place::here()) const;
  /// Reduces these chunks and `other`, of any rank, into these. MSCCLPPLang: reduce(other, recvtb, channel_type).
  ChunkRef reduce(const ChunkRef &other, const ChunkReduceOptions &options = {}, Place at = Place::here());
  /// Tells rank `dst` that what came before is done; the place is that of its data. Returns this ref.
  /// MSCCLPPLang: signal(dst, buffer, index, sendtb, chan_type).
  ChunkRef signal(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                  Place at = Place::here()) const;
  /// Waits for a signal of rank `src`; the place is where its data came from. Returns this ref.
  /// MSCCLPPLang: wait(src, buffer, index, recvtb, chan_type).
  ChunkRef wait(std::int64_t src, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                Place at = Place::here()) const;
  /// Waits until what was put to rank `dst` through a port has left its source. Returns this ref.
  /// MSCCLPPLang: flush(dst, buffer, index, sendtb).
  ChunkRef flush(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                 Place at = Place::here()) const;
  /// Writes the chunks to another rank `dst` as packets, which lie in scratch. Through a port they are packets in
  /// scratch already. MSCCLPPLang: put_packet(dst, buffer, index, sendtb, …).
  ChunkRef putPackets(std::int64_t dst, BufferType buffer, std::int64_t index, const ChunkOptions &options = {},
                      Place at = Place::here()) const;
  /// Copies packets of scratch to rank `dst`, this one, as plain data. Chunks that are not in scratch are plain; these
  /// become packets. MSCCLPPLang: copy_packet(dst, buffer, index, sendtb).
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

/// Chunks [index, index + size) of a buffer of `rank`, as they are at this point. Scratch counts from the beginning of
/// all that the rank has, and grows as far as it is named, with double scratch on all ranks; a Buffer made later lies
/// after what was named before.
/// MSCCLPPLang: chunk(rank, buffer, index, size).
ChunkRef chunk(std::int64_t rank, BufferType buffer, std::int64_t index, std::int64_t size = 1,
               Place at = Place::here());

} // namespace mscclc

#endif // MSCCLC_CHUNKS_HPP
