// Objects of one rank: its buffers and their chunks, thread blocks, local operations, semaphores.
#ifndef MSCCLC_RANK_HPP
#define MSCCLC_RANK_HPP

#include "types.hpp"

namespace mscclc {

namespace detail {
struct Access;
}

/// A range of chunks of a buffer, which operations read and write. Python: Chunk. A default-constructed Chunk is a
/// place-holder, and no operation accepts it.
class Chunk {
public:
  Chunk() = default;
  Chunk(const Chunk &) = default;
  /// Lets a variable refer to other chunks. This moves no data, unlike copy(), so `rank.input()[0] = …` is an error.
  Chunk &operator=(const Chunk &) & = default;

  /// The rank of the buffer. Python: chunk.rank.
  std::int64_t rank() const { return data_.rank; }
  /// The kind of the buffer. Python: chunk.buffer.
  BufferType buffer() const { return static_cast<BufferType>(data_.type); }
  /// The first chunk, counted from the beginning of the Buffer that was sliced.
  std::int64_t index() const { return data_.index; }
  /// The number of chunks. Python: chunk.size.
  std::int64_t size() const { return data_.size; }

private:
  friend struct detail::Access;
  detail::ChunkData data_;
};

/// A buffer: the input or output of a rank (Rank::input, Rank::output), or new scratch (by the constructor). Python:
/// Buffer.
class Buffer {
public:
  /// An empty handle, without a buffer.
  Buffer() = default;
  Buffer(const Buffer &) = default;
  /// Lets a variable refer to another buffer. This moves no data.
  Buffer &operator=(const Buffer &) & = default;
  /// New scratch of `size` chunks on `rank`, after the rank's other scratch. Python: Buffer(rank, size).
  Buffer(std::int64_t rank, std::int64_t size, Place at = Place::here());

  /// Chunks [first, last). Python: buffer[first:last].
  Chunk slice(std::int64_t first, std::int64_t last, Place at = Place::here()) const;
  /// Chunks from `first` to the end. Python: buffer[first:].
  Chunk slice(std::int64_t first, Place at = Place::here()) const;
  /// The one chunk at `index`. Python: buffer[index : index + 1].
  Chunk operator[](detail::PlacedIndex index) const;
  /// The slot of rows that goes to rank `dst`. The buffer is an input of a collective of rows (AllToAllV). No Python
  /// counterpart.
  Chunk to(detail::PlacedIndex dst) const;
  /// The slot of rows that comes from rank `src`. The buffer is an output of a collective of rows. No Python
  /// counterpart.
  Chunk from(detail::PlacedIndex src) const;

  /// Size in chunks. Python: len of the buffer.
  std::int64_t size() const { return size_; }
  /// The rank of the buffer. Python: buffer.rank.
  std::int64_t rank() const { return rank_; }
  /// The kind of buffer. Python: buffer.buffer_type.
  BufferType type() const { return type_; }

private:
  friend class Rank;
  Chunk unsliced() const;
  std::uint32_t handle_ = detail::unset;
  std::int32_t rank_ = -1;
  std::int64_t size_ = 0;
  BufferType type_ = BufferType::Scratch;
};

/// A thread block of a rank, by its number. See tb().
struct ThreadBlock {
  std::int64_t id = 0;
};

/// Thread block `id` of the rank that executes the operation. Python: tb=id.
constexpr ThreadBlock tb(std::int64_t id) {
  return {id};
}

/// Thread blocks that share an operation: each moves an equal slice of the chunk. Python: ThreadBlockGroup.
class ThreadBlockGroup {
public:
  /// An empty handle, without a group.
  ThreadBlockGroup() = default;
  /// A group of the given blocks, in the order of their slices. Python: ThreadBlockGroup(tb_list).
  explicit ThreadBlockGroup(std::initializer_list<detail::ListedInteger> blocks, Place at = Place::here());
  /// A group of the blocks in an array or another contiguous range.
  explicit ThreadBlockGroup(detail::IntegerList blocks, Place at = Place::here());

  /// The number of blocks. Python: group.numtb().
  std::size_t size() const { return size_; }

private:
  friend class On;
  std::uint32_t handle_ = detail::unset;
  std::size_t size_ = 0;
};

/// The thread blocks of an operation: `tb(i)` or a ThreadBlockGroup.
class On {
public:
  On(ThreadBlock block);
  On(const ThreadBlockGroup &group);

private:
  friend struct detail::Access;
  detail::BlockSet set_;
};

/// A list of chunks: `{a, b}` or any contiguous range of Chunk.
using ChunkList = detail::ElementList<Chunk>;

/// Options of Rank::reduce.
struct ReduceOptions {
  /// The destination of the result; by default `src`. Python: dst_chunk.
  Chunk dst = {};
  /// Python: reduce_op.
  ReduceOp op = ReduceOp::Sum;
  /// True if the other chunks are packets in scratch. Python: packet.
  bool packet = false;
};

/// A GPU of the program, and the operations on its own memory. Python: Rank.
class Rank {
public:
  /// Rank `id` of the program. Python: Rank(id).
  explicit Rank(std::int64_t id, Place at = Place::here());

  /// The number of the rank. Python: rank.rank.
  std::int64_t id() const { return id_; }
  /// The input of the rank. Python: get_input_buffer().
  Buffer input() const;
  /// The output of the rank. Python: get_output_buffer().
  Buffer output() const;

  /// Copies `src` to `dst`. Python: copy(dst_chunk, src_chunk, tb | tb_group).
  void copy(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Copies `src` to `dst` in scratch, as packets. Python: copy_packets.
  void copyPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Copies packets of scratch `src` to `dst`, as plain data. Python: unpack_packets.
  void unpackPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Reduces `src` and `others`, one or more chunks of this rank. Stores the result at `options.dst`; by default at
  /// `src`. Python: reduce(src_chunk, other_chunks, tb | tb_group, dst_chunk, reduce_op, packet).
  void reduce(const Chunk &src, ChunkList others, On on, const ReduceOptions &options = {},
              Place at = Place::here()) const;
  /// Makes the given thread blocks wait for one another. With a single block, its threads wait for one another. Python:
  /// barrier(tb_list).
  void barrier(detail::IntegerList blocks, Place at = Place::here()) const;

private:
  Buffer buffer(BufferType type) const;

  std::int64_t id_;
  std::uint32_t handle_;
};

// The local operations as functions; the rank follows from the chunks. Exact overloads of copy and reduce are preferred
// to the standard algorithms of these names, if both namespaces are in use.

/// Calls Rank::copy for the rank of the chunks.
void copy(const Chunk &dst, const Chunk &src, ThreadBlock on, Place at = Place::here());
/// Calls Rank::copy for the rank of the chunks; the blocks of a group share the copy.
void copy(const Chunk &dst, const Chunk &src, const ThreadBlockGroup &on, Place at = Place::here());
/// Calls Rank::copy for the rank of the chunks; `on` is a block or a group.
void copy(const Chunk &dst, const Chunk &src, const On &on, Place at = Place::here());
/// Calls Rank::copyPackets for the rank of the chunks.
void copyPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here());
/// Calls Rank::unpackPackets for the rank of the chunks.
void unpackPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here());
/// Calls Rank::reduce for the rank of the chunks.
void reduce(const Chunk &src, ChunkList others, const On &on, const ReduceOptions &options = {},
            Place at = Place::here());
/// Calls Rank::reduce for a braced list of chunks, in one thread block.
void reduce(const Chunk &src, std::initializer_list<Chunk> others, ThreadBlock on, const ReduceOptions &options = {},
            Place at = Place::here());
/// Calls Rank::reduce for a braced list of chunks; the blocks of a group share the reduction.
void reduce(const Chunk &src, std::initializer_list<Chunk> others, const ThreadBlockGroup &on,
            const ReduceOptions &options = {}, Place at = Place::here());

/// A counter with which thread blocks of one rank wait for one another. Python: Semaphore. Copying a Semaphore copies
/// the handle.
class Semaphore {
public:
  /// An empty handle, without a semaphore.
  Semaphore() = default;
  /// A new semaphore of `rank`. Python: Semaphore(rank, initial_value).
  Semaphore(std::int64_t rank, std::int64_t initialValue, Place at = Place::here());

  /// Waits until the count is above zero, and subtracts one. Python: acquire(tb, data_sync).
  void acquire(On on, Sync sync = Sync::Both, Place at = Place::here()) const;
  /// Adds one to the count. Python: release(tb, data_sync).
  void release(On on, Sync sync = Sync::Both, Place at = Place::here()) const;

private:
  std::uint32_t handle_ = detail::unset;
};

} // namespace mscclc

#endif // MSCCLC_RANK_HPP
