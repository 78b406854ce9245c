// Channels between ranks: through mapped memory, through ports, and through the switch.
//
// Each construction makes a new channel. A copy is another handle to the same channel. The k-th channel of a type from
// rank a to rank b is paired with the k-th one from b to a. pair() makes both at once. Calls take the destination
// first, as in the Python DSL.
#ifndef MSCCLC_CHANNELS_HPP
#define MSCCLC_CHANNELS_HPP

#include "rank.hpp"

namespace mscclc {

namespace detail {
/// Functions that memory and port channels share.
class PointToPoint {
public:
  /// The rank at the other end. Python: channel.dst_rank.
  std::int64_t dstRank() const { return dst_; }
  /// The rank that owns the channel and executes its operations. Python: channel.src_rank.
  std::int64_t srcRank() const { return src_; }

protected:
  PointToPoint() = default;
  PointToPoint(bool port, std::int64_t dst, std::int64_t src, const Place &at);
  /// Makes `ab` and `ba` the ends of a new connection of ranks `a` and `b`.
  static void join(bool port, std::int64_t a, std::int64_t b, PointToPoint &ab, PointToPoint &ba, const Place &at);

  std::uint32_t handle_ = unset;
  std::int64_t dst_ = -1, src_ = -1;
};
} // namespace detail

/// Both ends of a connection: `auto [ab, ba] = MemoryChannel::pair(a, b);`
template <typename Channel> struct ChannelPair {
  Channel ab; ///< the end of rank `a`, to `b`
  Channel ba; ///< the end of rank `b`, to `a`
};

/// Options of MemoryChannel::reduce.
struct ReadReduceOptions {
  /// The destination of the result; by default `local`. Python: local_dst_chunk.
  Chunk dst = {};
  /// Python: reduce_op.
  ReduceOp op = ReduceOp::Sum;
};

/// A channel through which `src` reads and writes memory of `dst` directly. Python: MemoryChannel.
class MemoryChannel : public detail::PointToPoint {
public:
  /// An empty handle, without a channel.
  MemoryChannel() = default;
  /// A new channel of rank `src` to rank `dst`. Python: MemoryChannel(dst_rank, src_rank).
  MemoryChannel(std::int64_t dst, std::int64_t src, Place at = Place::here());
  /// Makes both ends of a new connection of ranks `a` and `b`. A signal of one end arrives at the other. Two ranks may
  /// have several connections, if all of them are made in pairs. Python has no counterpart.
  static ChannelPair<MemoryChannel> pair(std::int64_t a, std::int64_t b, Place at = Place::here());

  /// Signals the other end that all earlier operations are complete. Python: signal(tb, data_sync, relaxed).
  void signal(On on, SignalOptions options = {}, Place at = Place::here()) const;
  /// Waits for a signal of the other end. Python: wait(tb, data_sync, relaxed).
  void wait(On on, SignalOptions options = {}, Place at = Place::here()) const;
  /// Reads `src` of the other rank into `dst` of this rank. Python: get(dst_chunk, src_chunk, tb | tb_group).
  void get(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Writes `src` of this rank into `dst` of the other rank. Python: put(dst_chunk, src_chunk, tb | tb_group).
  void put(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Writes `src` as packets into scratch `dst` of the other rank. Python: put_packets.
  void putPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Forwards packets from scratch `src` to scratch `dst` of the other rank. Python: read_put_packets.
  void readPutPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Reduces `local` and the chunks `remotes` of the other rank. Stores the result at `options.dst`; by default at
  /// `local`. Python: reduce(local_src_chunk, remote_src_chunks, tb | tb_group, local_dst_chunk, reduce_op).
  void reduce(const Chunk &local, ChunkList remotes, On on, const ReadReduceOptions &options = {},
              Place at = Place::here()) const;
};

/// A channel through which `src` sends data to `dst`, by a NIC or a copy engine. Python: PortChannel. A single thread
/// issues an operation, so `on` is one thread block: tb(i). Only readPutPackets takes a group.
class PortChannel : public detail::PointToPoint {
public:
  /// An empty handle, without a channel.
  PortChannel() = default;
  /// A new channel of rank `src` to rank `dst`. Python: PortChannel(dst_rank, src_rank).
  PortChannel(std::int64_t dst, std::int64_t src, Place at = Place::here());
  /// Makes both ends of a new connection of ranks `a` and `b`; see MemoryChannel::pair.
  static ChannelPair<PortChannel> pair(std::int64_t a, std::int64_t b, Place at = Place::here());

  /// Signals the other end that all earlier puts have arrived. Python: signal(tb, data_sync).
  void signal(On on, PortSignalOptions options = {}, Place at = Place::here()) const;
  /// Waits for a signal of the other end. Python: wait(tb, data_sync).
  void wait(On on, PortSignalOptions options = {}, Place at = Place::here()) const;
  /// Waits until earlier puts have left their source. Python: flush(tb, data_sync).
  void flush(On on, PortSignalOptions options = {}, Place at = Place::here()) const;
  /// Sends `src` of this rank to `dst` of the other rank. Python: put(dst_chunk, src_chunk, tb).
  void put(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Does a put and a signal in one operation. Python: put_with_signal.
  void putWithSignal(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Does a put, a signal and a flush in one operation. Python: put_with_signal_and_flush.
  void putWithSignalAndFlush(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Sends packets unchanged from scratch `src` to scratch `dst` of the other rank. Does not wait for the packets: they
  /// must already be written, for example by copyPackets and a sync after it. `src` may be written again after a flush,
  /// or after the receiver has signalled that it took the packets. Python: put_packets.
  void putPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Sends packets as putPackets() does, but first waits until they have arrived in `src`. Python: read_put_packets.
  void readPutPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
};

/// A switch channel as one rank of its group uses it. See SwitchChannel::atRank.
class SwitchChannelView {
public:
  /// Reduces chunks [offset, offset + size) of the channel's buffer over all ranks of the group into `dst` of this
  /// rank. Python: reduce(buffer_offset, size, dst_chunk, tb, reduce_op).
  void reduce(std::int64_t offset, std::int64_t size, const Chunk &dst, On on, ReduceOp op = ReduceOp::Sum,
              Place at = Place::here()) const;
  /// Writes `src` of this rank to chunks [offset, offset + size) of the channel's buffer on all ranks of the group.
  /// Python: broadcast(src_chunk, buffer_offset, size, tb).
  void broadcast(const Chunk &src, std::int64_t offset, std::int64_t size, On on, Place at = Place::here()) const;
  /// Does the same as broadcast() with packets. Both ends are in scratch. Python: broadcast_packets.
  void broadcastPackets(const Chunk &src, std::int64_t offset, std::int64_t size, On on,
                        Place at = Place::here()) const;
  /// Signals all ranks of the group that all earlier operations are complete. Each rank of the group must signal and
  /// wait in turn, beginning with a signal, in one thread block. Python: signal(tb, data_sync, relaxed).
  void signal(On on, SignalOptions options = {}, Place at = Place::here()) const;
  /// Waits for a signal of each rank of the group. Python: wait(tb, data_sync, relaxed).
  void wait(On on, SignalOptions options = {}, Place at = Place::here()) const;

private:
  friend class SwitchChannel;
  explicit SwitchChannelView(std::uint32_t handle);
  std::uint32_t handle_;
};

/// A channel of a group of ranks through the switch, which reduces and multicasts. Python: SwitchChannel.
class SwitchChannel {
public:
  /// An empty handle, without a channel.
  SwitchChannel() = default;
  /// A new channel of the group `ranks` to their buffers of type `buffer`. Python: SwitchChannel(rank_list,
  /// buffer_type).
  SwitchChannel(detail::IntegerList ranks, BufferType buffer, Place at = Place::here());

  /// Returns the channel for use by rank `rank` of the group. Python: at_rank(rank).
  SwitchChannelView atRank(std::int64_t rank, Place at = Place::here()) const;

private:
  std::uint32_t handle_ = detail::unset;
};

} // namespace mscclc

#endif // MSCCLC_CHANNELS_HPP
