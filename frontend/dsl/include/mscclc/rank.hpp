// Things of one rank: its buffers and their chunks, thread blocks, local operations, semaphores.
#ifndef MSCCLC_RANK_HPP
#define MSCCLC_RANK_HPP

#include "types.hpp"

namespace mscclc {

namespace detail {
struct Access;
}

/// A range of chunks of a buffer, which operations read and write. Python: Chunk. A default-constructed one is a
/// place-holder that no operation accepts.
class Chunk {
public:
  Chunk() = default;
  Chunk(const Chunk &) = default;
  /// Names other chunks by a variable. It moves no data, as copy() does, so `rank.input()[0] = …` is none.
  Chunk &operator=(const Chunk &) & = default;

  /// The rank whose buffer it lies in. Python: chunk.rank.
  std::int64_t rank() const { return data_.rank; }
  /// The kind of buffer it lies in. Python: chunk.buffer.
  BufferType buffer() const { return static_cast<BufferType>(data_.type); }
  /// Its first chunk, counted from the beginning of the Buffer that it was sliced from.
  std::int64_t index() const { return data_.index; }
  /// The number of its chunks. Python: chunk.size.
  std::int64_t size() const { return data_.size; }

private:
  friend struct detail::Access;
  detail::ChunkData data_;
};

/// A buffer: the input or output of a rank (Rank::input, Rank::output), or scratch that this constructor makes. Python:
/// Buffer.
class Buffer {
public:
  /// No buffer yet.
  Buffer() = default;
  Buffer(const Buffer &) = default;
  /// As of a Chunk.
  Buffer &operator=(const Buffer &) & = default;
  /// New scratch of `size` chunks on `rank`, after what the rank has already. Python: Buffer(rank, size).
  Buffer(std::int64_t rank, std::int64_t size, Place at = Place::here());

  /// Chunks [first, last). Python: buffer[first:last].
  Chunk slice(std::int64_t first, std::int64_t last, Place at = Place::here()) const;
  /// Chunks from `first` to the end. Python: buffer[first:].
  Chunk slice(std::int64_t first, Place at = Place::here()) const;
  /// The one chunk at `index`. Python: buffer[index : index + 1].
  Chunk operator[](detail::PlacedIndex index) const;
  /// The slot of rows that goes to rank `dst`, in an input of a collective of rows (AllToAllV). No Python counterpart.
  Chunk to(detail::PlacedIndex dst) const;
  /// The slot of rows that comes from rank `src`, in an output of one. No Python counterpart.
  Chunk from(detail::PlacedIndex src) const;

  /// Size in chunks. Python: len of the buffer.
  std::int64_t size() const { return size_; }
  /// The rank that it belongs to. Python: buffer.rank.
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

/// Thread blocks that share an operation: each moves its equal slice of the chunk. Python: ThreadBlockGroup.
class ThreadBlockGroup {
public:
  /// No group yet.
  ThreadBlockGroup() = default;
  /// The given blocks; the order is that of the slices. Python: ThreadBlockGroup(tb_list).
  explicit ThreadBlockGroup(std::initializer_list<detail::ListedInteger> blocks, Place at = Place::here());
  /// The same, from an array or another contiguous range.
  explicit ThreadBlockGroup(detail::IntegerList blocks, Place at = Place::here());

  /// The number of its blocks. Python: group.numtb().
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
  /// The destination of the result; by default the first source. Python: dst_chunk.
  Chunk dst = {};
  /// Python: reduce_op.
  ReduceOp op = ReduceOp::Sum;
  /// The other chunks are packets in scratch. Python: packet.
  bool packet = false;
};

/// A GPU of the program, and the operations on its own memory. Python: Rank.
class Rank {
public:
  /// Rank `id` of the program. Python: Rank(id).
  explicit Rank(std::int64_t id, Place at = Place::here());

  /// Its number. Python: rank.rank.
  std::int64_t id() const { return id_; }
  /// Its input. Python: get_input_buffer().
  Buffer input() const;
  /// Its output. Python: get_output_buffer().
  Buffer output() const;

  /// Copies `src` to `dst`. Python: copy(dst_chunk, src_chunk, tb | tb_group).
  void copy(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Copies `src` to `dst` in scratch, as packets. Python: copy_packets.
  void copyPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Copies packets of scratch `src` to `dst`, as plain data. Python: unpack_packets.
  void unpackPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here()) const;
  /// Reduces `src` and `others`, one or more chunks of this rank. The result goes to `options.dst`, or else to `src`.
  /// Python: reduce(src_chunk, other_chunks, tb | tb_group, dst_chunk, reduce_op, packet).
  void reduce(const Chunk &src, ChunkList others, On on, const ReduceOptions &options = {},
              Place at = Place::here()) const;
  /// Makes the given thread blocks wait for one another; of a single one, its threads. Python: barrier(tb_list).
  void barrier(detail::IntegerList blocks, Place at = Place::here()) const;

private:
  Buffer buffer(BufferType type) const;

  std::int64_t id_;
  std::uint32_t handle_;
};

// The local operations without the rank, which follows from the chunks. Exact overloads of copy and reduce take
// precedence over the standard algorithms of those names, if both namespaces are in use.

/// Rank::copy of the rank that the chunks belong to.
void copy(const Chunk &dst, const Chunk &src, ThreadBlock on, Place at = Place::here());
/// The same, shared by a group.
void copy(const Chunk &dst, const Chunk &src, const ThreadBlockGroup &on, Place at = Place::here());
/// The same for any `on`.
void copy(const Chunk &dst, const Chunk &src, const On &on, Place at = Place::here());
/// Rank::copyPackets of the rank that the chunks belong to.
void copyPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here());
/// Rank::unpackPackets of the rank that the chunks belong to.
void unpackPackets(const Chunk &dst, const Chunk &src, On on, Place at = Place::here());
/// Rank::reduce of the rank that the chunks belong to.
void reduce(const Chunk &src, ChunkList others, const On &on, const ReduceOptions &options = {},
            Place at = Place::here());
/// The same for a braced list, in one thread block.
void reduce(const Chunk &src, std::initializer_list<Chunk> others, ThreadBlock on, const ReduceOptions &options = {},
            Place at = Place::here());
/// The same for a braced list, shared by a group.
void reduce(const Chunk &src, std::initializer_list<Chunk> others, const ThreadBlockGroup &on,
            const ReduceOptions &options = {}, Place at = Place::here());

/// A counter with which thread blocks of one rank wait for one another. Python: Semaphore. Copying it copies the
/// handle.
class Semaphore {
public:
  /// No semaphore yet.
  Semaphore() = default;
  /// A new semaphore of `rank`. Python: Semaphore(rank, initial_value).
  Semaphore(std::int64_t rank, std::int64_t initialValue, Place at = Place::here());

  /// Waits until the count is above zero and takes one off. Python: acquire(tb, data_sync).
  void acquire(On on, Sync sync = Sync::Both, Place at = Place::here()) const;
  /// Adds one to the count. Python: release(tb, data_sync).
  void release(On on, Sync sync = Sync::Both, Place at = Place::here()) const;

private:
  std::uint32_t handle_ = detail::unset;
};

} // namespace mscclc

#endif // MSCCLC_RANK_HPP
