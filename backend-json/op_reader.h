// Reads operations. Their indices stay those of the plan until resolve.h turns them into indices of the rank.
#pragma once

#include "backend-json/plan_context.h"
#include "backend-json/plan_schema.h"

#include <vector>

namespace mscclc::json {

class ChunkReader final : public ObjectReader {
public:
  explicit ChunkReader(PlanContext &plan);
  /// Expects a chunk, or a list of chunks, and appends them to `out`.
  Expected one(std::vector<ir::Chunk> &out);
  Expected several(std::vector<ir::Chunk> &out);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

private:
  PlanContext &plan_;
  std::vector<ir::Chunk> *out_ = nullptr;
  ir::Chunk chunk_;
  ir::BufferKind buffer_{};
  std::uint32_t rank_ = 0;
};

/// Reads operations and appends them to a block.
class OpReader final : public ObjectReader {
public:
  /// `body` reads the operations inside a pipeline. If `body` is null, this reader is inside a pipeline, and refuses
  /// another pipeline.
  OpReader(PlanContext &plan, ir::ThreadBlock &block, OpReader *body);
  /// Expects a list of operations. `around` is the location of the block or the pipeline.
  Expected several(ir::LocId around);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

private:
  Expected name();
  Expected bodyOps();
  bool finish(const ReadObject &object);
  bool checkFields(const ReadObject &object);
  bool finishSwitchReduce(const ReadObject &object);
  bool finishFlush(const ReadObject &object);

  PlanContext &plan_;
  ir::ThreadBlock &block_;
  OpReader *const body_;
  ir::LocId around_ = ir::noLoc;
  std::uint32_t listed_ = 0; ///< number of operations that were read from the list

  // The operation that is being read.
  std::size_t slot_ = 0; ///< index of the operation in the block, before the operations of its body
  ir::Op op_;
  bool kindKnown_ = false;
  ir::BufferKind switchBuffer_{};
  ir::Chunk switchRange_;
  std::vector<ir::Chunk> srcs_, dsts_, switchTarget_;
  std::vector<std::uint32_t> ids_;
  ChunkReader chunks_;
  PlainObject groupInfo_, iterContext_;
};

/// Expects a list of numbers, and appends them to `out`.
Expected numbers(std::vector<std::uint32_t> &out);

} // namespace mscclc::json
