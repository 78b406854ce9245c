// Makes statements of the movement form from checked movement statements.
#pragma once

#include "frontend/lower/check_calls.h"

#include <vector>

namespace mscclc::frontend {

/// Writes the statements of a program in two walks over the recording. The first counts, so that the second writes into
/// memory of exactly the right size. Both must visit the same statements in the same order.
class MoveEmitter {
public:
  explicit MoveEmitter(ir::Movement &movement) : movement_(movement) {}

  /// First walk.
  void count(const CheckedCall &call);
  /// Returns the memory for the counted statements, in bytes.
  std::uint64_t bytes() const { return numStatements_ * sizeof(ir::Move) + numPlaces_ * sizeof(ir::RankChunk); }
  /// Reserves the memory; called between the walks.
  void allocate();
  /// Second walk.
  void emit(const CheckedCall &call);

private:
  ir::Movement &movement_;
  std::uint64_t numStatements_ = 0, numPlaces_ = 0;
  std::vector<ir::RankChunk> srcs_, dsts_;
};

} // namespace mscclc::frontend
