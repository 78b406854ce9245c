// Writes the operands of a block program's operations. Numbers that differ between instances become formulas.
#pragma once

#include "backend-cuda/kernel_facts.h"
#include "backend-cuda/model.h"
#include "backend-cuda/numbers.h"
#include "ir/op_semantics.h"
#include "ir/program.h"

namespace mscclc::cuda {

/// The place of an operation: `op` in each instance, and `op + step · stride` in its repetitions.
struct At {
  std::size_t op = 0;
  int steps = 1;
  std::size_t stride = 0;
};

class OperandWriter {
public:
  /// `instances` must have one shape and outlive the writer. Adds tables to `tables` if needed.
  OperandWriter(const KernelFacts &facts, const std::vector<RankBlock> &instances, Tables &tables);

  /// The rank of the first instance. Kinds and counts of its operations are the same in all instances.
  const ir::Rank &rank() const { return rank_; }
  const ir::ThreadBlock &block() const { return block_; }
  const ir::Op &op(const At &at) const { return block_.ops[at.op]; }

  /// Returns the position of the operation in its block.
  Expr position(const At &at) const;
  Expr barrier(const At &at);
  /// Returns channels or semaphores of the operation, from index `first` on.
  ListExpr ids(const At &at, std::uint32_t first, std::uint32_t count);
  /// Returns `count` operands from `first` on, all of form `form`, as one list.
  ListExpr chunks(const At &at, std::uint32_t first, std::uint32_t count, ir::DataForm form);
  /// Returns the chunks of a switch channel's operand, one on each rank of the channel's group.
  ListExpr members(const At &at, std::uint32_t operand, ir::DataForm form);
  Expr switchChannel(const At &at, std::uint32_t operand);
  SliceExpr slice(const At &at, std::uint32_t operand);
  /// Returns the number of sources that a reduction adds before its first source (ir::Op::firstAfter).
  Expr firstAfter(const At &at);
  /// True if firstAfter() is above 0 in some instance or repetition.
  bool firstIsLater(const At &at) const;
  /// Returns the position of a local operand in the output, in chunks. The operand must be in the output.
  Expr inOutput(const At &at, std::uint32_t operand);
  /// True if operands [first, first + count) name the same chunk in every instance and repetition.
  bool areOneChunk(const At &at, std::uint32_t first, std::uint32_t count) const;

  /// Sets the unit of the pipeline around the next operations, in bytes; 0: there is no pipeline.
  void setPipelineUnit(std::uint64_t bytes) { unit_ = bytes; }

  /// Forbids tables until endFormulasOnly(). That returns false if a formula was missing. Then the result must be
  /// dropped.
  void beginFormulasOnly();
  bool formulaFailed() const { return failed_; }
  bool endFormulasOnly();

private:
  const ir::Rank &rankAt(const Sample &s) const { return program_.ranks[static_cast<std::size_t>(s.rank)]; }
  const ir::ThreadBlock &blockAt(const Sample &s) const { return rankAt(s).blocks[static_cast<std::size_t>(s.block)]; }
  const ir::Op &opAt(const At &at, const Sample &s) const {
    return blockAt(s).ops[at.op + static_cast<std::size_t>(s.step) * at.stride];
  }
  const ir::Chunk &chunkAt(const At &at, std::uint32_t operand, const Sample &s) const {
    return blockAt(s).operands(opAt(at, s))[operand];
  }

  /// Returns an expression for the numbers value(sample). A sample is an instance, a repetition, and one of `count`
  /// items from `first` on.
  template <class F> Expr number(const At &at, int first, int count, F value);
  /// Returns an expression for numbers that depend only on the instance and the repetition.
  template <class F> Expr number(const At &at, F value) { return number(at, 0, 1, value); }

  /// Returns an expression for `count` consecutive operands of one kind. Operand `first` has item number `shift`.
  ChunkExpr run(const At &at, std::uint32_t first, std::uint32_t count, ir::DataForm form, int shift);
  /// Sets the slots of a scratch operand's rows if all operands of the operation are in scratch. Otherwise the place of
  /// another operand gives the slots. Does nothing if the slots do not follow each other in equal steps.
  void addSlots(const At &at, std::uint32_t first, std::uint32_t count, int shift, ChunkExpr &written);
  bool areOneKind(const ir::Chunk &a, const ir::Chunk &b) const;

  const ir::Program &program_;
  const ir::RowSlots *const rows_;
  const std::vector<RankBlock> &instances_;
  FormulaFinder finder_;
  const ir::Rank &rank_;
  const ir::ThreadBlock &block_;
  std::uint64_t unit_ = 0;
  bool formulasOnly_ = false;
  bool failed_ = false; ///< a formula was missing where tables are not allowed
};

} // namespace mscclc::cuda
