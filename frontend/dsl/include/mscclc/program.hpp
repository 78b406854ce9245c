// Collectives, programs that implement them, and loops.
#ifndef MSCCLC_PROGRAM_HPP
#define MSCCLC_PROGRAM_HPP

#include "types.hpp"

namespace mscclc {

/// The task of a program: the sizes of its buffers, and the final contents of its output. Python: Collective.
class Collective {
public:
  /// The number of ranks that take part. Python: num_ranks.
  std::int64_t ranks() const { return ranks_; }

  /// Promises that each output is the collective's result after one application of the hook named `hook`. Example:
  /// `AllReduce(8, 1, true).then("add_rms_norm")`. No Python counterpart.
  Collective &then(detail::Text hook, Place at = Place::here());

protected:
  Collective(detail::CollectiveKind kind, detail::Text name, std::int64_t ranks, std::int64_t first,
             std::int64_t second, bool inplace, const Place &at);
  std::uint32_t handle_;

private:
  friend class CollectiveProgram;
  std::int64_t ranks_;
};

/// Every rank gets the inputs of all ranks: input of `chunkFactor` chunks, output of `ranks` × `chunkFactor`.
/// Python: AllGather(num_ranks, chunk_factor, inplace).
class AllGather : public Collective {
public:
  AllGather(std::int64_t ranks, std::int64_t chunkFactor, bool inplace, Place at = Place::here());
};

/// Every rank gets the reduction of all inputs: input and output of `ranks` × `chunkFactor` chunks.
/// Python: AllReduce(num_ranks, chunk_factor, inplace).
class AllReduce : public Collective {
public:
  AllReduce(std::int64_t ranks, std::int64_t chunkFactor, bool inplace, Place at = Place::here());
};

/// Rank r gets the r-th share of the reduction of all inputs: input of `ranks` × `chunkFactor` chunks, output of
/// `chunkFactor`. Python: ReduceScatter(num_ranks, chunk_factor, inplace).
class ReduceScatter : public Collective {
public:
  ReduceScatter(std::int64_t ranks, std::int64_t chunkFactor, bool inplace, Place at = Place::here());
};

/// Rank r gets the r-th share of the input of every rank: input and output of `ranks` × `chunkFactor` chunks.
/// Python: AllToAll(num_ranks, chunk_factor, inplace).
class AllToAll : public Collective {
public:
  AllToAll(std::int64_t ranks, std::int64_t chunkFactor, bool inplace, Place at = Place::here());
};

/// Every rank gets the input of the rank before it: input and output of `chunkFactor` chunks.
/// Python: SendRecv(num_ranks, chunk_factor, inplace).
class SendRecv : public Collective {
public:
  SendRecv(std::int64_t ranks, std::int64_t chunkFactor, bool inplace, Place at = Place::here());
};

/// Every rank gets the input of the root: input and output of `chunkFactor` chunks. In place they are one buffer. No
/// Python counterpart. It is like ncclBroadcast, except that all ranks have an input.
class Broadcast : public Collective {
public:
  Broadcast(std::int64_t ranks, std::int64_t chunkFactor, std::int64_t root, bool inplace, Place at = Place::here());
};

/// The root gets the reduction of all inputs: input and output of `chunkFactor` chunks. In place they are one buffer.
/// The other ranks' outputs may be anything. No Python counterpart. It is like ncclReduce, except that all ranks have
/// an output.
class Reduce : public Collective {
public:
  Reduce(std::int64_t ranks, std::int64_t chunkFactor, std::int64_t root, bool inplace, Place at = Place::here());
};

/// The root gets the inputs of all ranks: input of `chunkFactor` chunks, output of `ranks` × `chunkFactor`. In place
/// the input of rank r is the r-th share of its output. The other ranks' outputs may be anything. No Python
/// counterpart. It is like ncclGather, except that all ranks have an output.
class Gather : public Collective {
public:
  Gather(std::int64_t ranks, std::int64_t chunkFactor, std::int64_t root, bool inplace, Place at = Place::here());
};

/// Rank r gets the r-th share of the root's input: input of `ranks` × `chunkFactor` chunks, output of `chunkFactor`. In
/// place the output of rank r is the r-th share of its input. No Python counterpart. It is like ncclScatter, except
/// that all ranks have an input.
class Scatter : public Collective {
public:
  Scatter(std::int64_t ranks, std::int64_t chunkFactor, std::int64_t root, bool inplace, Place at = Place::here());
};

/// Rank r gets the r-th slot of every rank. Input and output have one slot for each rank, and each slot is one chunk. A
/// slot holds rows. All slots have the same capacity, which is fixed when a kernel is loaded. The number of live rows
/// of a slot is known only at run time, and the sender has it in device memory. A copy of a chunk moves the live rows
/// of the slot in this chunk. Buffer::to and Buffer::from name slots. No Python counterpart.
class AllToAllV : public Collective {
public:
  AllToAllV(std::int64_t ranks, RowLayout layout, Place at = Place::here());
};

/// Sends each row to the experts that an index names for it. Each rank has `experts` experts, and expert e is on rank e
/// / experts. The launch brings the rows and the index. Before the program's first operation, the kernel packs the rows
/// into the slots of the input. After the last operation, the kernel stores the rows of the output in `layout`. The
/// program moves slots, like a program of an AllToAllV. No Python counterpart.
class Dispatch : public Collective {
public:
  Dispatch(std::int64_t ranks, std::int64_t experts, ExpertLayout layout = ExpertLayout::ExpertMajor,
           Place at = Place::here());
};

/// The way back of a Dispatch: each row becomes the weighted sum of its experts' results. The launch brings the rows of
/// experts in `layout`, the index of the dispatch and the weights. Products are rounded to f32, and then added in the
/// order of the index. The program moves slots, like a program of an AllToAllV. No Python counterpart.
class Combine : public Collective {
public:
  Combine(std::int64_t ranks, std::int64_t experts, ExpertLayout layout = ExpertLayout::ExpertMajor,
          Place at = Place::here());
};

/// A collective with buffers of any size and no promise about the output. Python: TestCollective(num_ranks, input_size,
/// output_size).
class TestCollective : public Collective {
public:
  TestCollective(std::int64_t ranks, std::int64_t inputChunks, std::int64_t outputChunks, Place at = Place::here());
};

/// A collective of the user: a name, buffers of any size, and the promised contents of the output, for the verifier.
class CustomCollective : public Collective {
public:
  /// `name` is the collective's name in the plan. Sizes are in chunks, and the same on each rank. In place, input and
  /// output are one buffer.
  CustomCollective(detail::Text name, std::int64_t ranks, std::int64_t inputChunks, std::int64_t outputChunks,
                   bool inplace = false, Place at = Place::here());
  /// A collective with sizes that differ between ranks: `sizes` lists the {input, output} of rank 0, of rank 1 and so
  /// on. All chunks are equally long: `CustomCollective("gatherv", {{1, 3}, {2, 0}})`.
  CustomCollective(detail::Text name, detail::ElementList<ChunkCounts> sizes, bool inplace = false,
                   Place at = Place::here());

  /// Promises that chunk `outputChunk` of the output of rank `rank` is finally the reduction of `contributions`. These
  /// are listed as {rank, input chunk}: `.expect(0, 1, {{0, 1}, {1, 1}})`. Chunks without a promise may hold anything.
  CustomCollective &expect(std::int64_t rank, std::int64_t outputChunk, detail::ElementList<Contribution> contributions,
                           Place at = Place::here());
};

/// The program: it begins with its construction and ends with its scope. All constructions and calls in between belong
/// to the program. Python: with CollectiveProgram(name, collective, num_ranks, …).
class CollectiveProgram {
public:
  /// `name` is the plan's name. The number of ranks is that of `collective`.
  [[nodiscard("a program ends with its scope, so one without a name ends at once: give it a name")]]
  CollectiveProgram(detail::Text name, const Collective &collective, const ProgramOptions &options = {},
                    Place at = Place::here());
  ~CollectiveProgram();
  CollectiveProgram(const CollectiveProgram &) = delete;
  CollectiveProgram &operator=(const CollectiveProgram &) = delete;

  /// The number of ranks that take part. Python: program.num_ranks.
  std::int64_t ranks() const { return ranks_; }

private:
  std::int64_t ranks_;
};

/// A loop over slices of every chunk, each of one unit. While a PipelineLoop exists, the operations of each thread
/// block form the body of one loop of this block. Loops do not nest. Python: with LoopIterationContext(unit,
/// num_chunks).
class PipelineLoop {
public:
  /// `unit` is in bytes; `numChunks` is the number of iterations.
  PipelineLoop(std::int64_t unit, std::int64_t numChunks, Place at = Place::here());
  ~PipelineLoop();
  PipelineLoop(const PipelineLoop &) = delete;
  PipelineLoop &operator=(const PipelineLoop &) = delete;
};

/// Makes a PipelineLoop whose body is a function: `pipeline(1_MiB, 4, [&] { … });`
template <typename Body>
void pipeline(std::int64_t unit, std::int64_t numChunks, Body &&body, Place at = Place::here()) {
  PipelineLoop loop(unit, numChunks, at);
  body();
}

} // namespace mscclc

#endif // MSCCLC_PROGRAM_HPP
