// The reader's state machine: from JSON values to ranks, blocks and operations. Used by read_plan.cpp alone.
#pragma once

#include "backend-json/value_reader.h"
#include "ir/program.h"
#include "ir/structure.h"

namespace mscclc::json {

/// Reads one plan. Operations hold indices into their block's tables until the gpu that they belong to is complete
/// (a plan lists the tables last); resolve() then turns them into the rank's own.
class PlanReader : ValueReader {
public:
  /// Ranks that the plan names must lie below `rankLimit`.
  /// `asRun`: see json::readPlan.
  PlanReader(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine, std::uint64_t rankLimit,
             bool asRun)
      : ValueReader(text, filename, engine), rankLimit_(rankLimit), asRun_(asRun) {}

  /// The program, or nothing after errors, which are reported.
  std::optional<ir::Program> read();

  /// True if read() found nothing wrong but that the plan names a rank it has no gpu for. That is not reported: read
  /// again with the number of gpus as limit.
  bool namesUnknownRank() const { return numErrors() == 0 && numGpus() != 0 && largestRank_ >= numGpus(); }
  std::size_t numGpus() const { return gpuIds_.size(); }

private:
  /// An operation being read. One for the block's list, one for a pipeline's.
  struct Draft {
    ir::Op op;
    bool kindKnown = false;
    ir::BufferKind switchBuffer = ir::BufferKind::Input;
    ir::Chunk switchRange, switchTarget;
    std::vector<ir::Chunk> srcs, dsts;
    std::vector<std::uint32_t> ids;
    void reset();
  };

  // plan_reader.cpp: all but operations
  void readPlan(ir::Program &program);
  void readGpu(ir::Program &program);
  std::uint64_t idAhead();
  void readGpuChannel(ir::Rank &rank);
  void readSwitchChannel(ir::Rank &rank, std::size_t begin);
  void readRankGroup(std::vector<std::uint32_t> &ranks);
  void readRank(std::uint32_t &out);
  void readRemoteBuffer(ir::Rank &rank);
  void readBlock(ir::Rank &rank);
  void readTableEntry(const ObjectSchema &schema, std::vector<ir::ResourceUse> &table,
                      std::span<const std::string_view> types);
  void numberList(std::vector<std::uint32_t> &out);
  JsonPath pathOf(const ir::Program &program, const ir::ProgramPlace &place) const;
  /// Reports `ids`, of the entries of the list that `path` leads to, unless they are 0, 1, … in order: the executor
  /// takes some of what an entry holds by its id and the rest by its position (execution_plan.cc, setupOperations).
  void checkIds(const std::vector<std::uint32_t> &ids, const JsonPath &path, std::string_view what);

  // read_ops.cpp
  void readOp(std::size_t depth);
  void readOpField(Draft &draft, std::size_t field, std::size_t depth);
  bool finishOp(Draft &draft, std::uint32_t fields, std::size_t begin, std::size_t depth);
  bool checkFields(const Draft &draft, std::uint32_t fields, std::size_t begin);
  bool finishSwitchReduce(Draft &draft, std::size_t begin);
  bool finishFlush(Draft &draft, std::size_t begin);
  void readChunks(std::vector<ir::Chunk> &out);
  bool readChunk(ir::Chunk &out);
  void readGroupInfo(ir::Op &op);
  void readIterContext(ir::Op &op);

  // resolve.cpp
  void resolve(ir::Rank &rank, const JsonPath &gpu);
  bool resolveTables(const ir::Rank &rank, const ir::ThreadBlock &block, const JsonPath &path);
  void resolveOps(const ir::Rank &rank, ir::ThreadBlock &block, const JsonPath &path);
  void resolveOp(const ir::Rank &rank, ir::ThreadBlock &block, const ir::Op &op, const JsonPath &list,
                 std::size_t position);
  void resolveSwitchRange(const ir::Rank &rank, std::uint32_t channel, ir::Chunk &chunk, const JsonPath &list,
                          std::size_t position);

  const std::uint64_t rankLimit_;
  const bool asRun_;
  std::uint64_t largestRank_ = 0;
  std::uint64_t gpuId_ = 0; ///< of the gpu being read
  ir::SourceMap sources_;   ///< of the program: each gpu, thread block and operation as listed
  ir::LocId planLoc_ = ir::noLoc, gpuLoc_ = ir::noLoc, blockLoc_ = ir::noLoc;
  std::uint32_t opsLabel_ = 0;
  std::uint32_t listed_[2] = {};                 ///< operations read, of the block and of the pipeline
  std::vector<std::uint32_t> gpuIds_, blockIds_; ///< as listed
  ir::ThreadBlock block_;                        ///< being read; its capacity is kept from block to block
  Draft drafts_[2];
  /// Of the block being resolved: ids by type of channel.
  std::vector<std::uint32_t> channelTables_[4], remoteTables_[4];
};

} // namespace mscclc::json
