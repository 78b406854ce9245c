// Sums to which a later statement adds.
#pragma once

#include "ir/program_index.h"
#include "passes/schedule/chunk_memory.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {

/// Executes the statements of a program on symbolic values.
class StatementValues {
public:
  explicit StatementValues(const ir::Program &program) : program_(program), values_(ir::ProgramIndex(program), 1) {}

  /// Executes the statements. Calls visit(number, memory) before each statement. Returns the memory after the last one.
  template <typename Visit> ChunkMemory eachStatement(const Visit &visit) {
    const ir::Movement &movement = program_.movement;
    ChunkMemory memory(program_, values_);
    for (std::uint32_t s = 0; s < movement.statements.size(); ++s) {
      const ir::Move &move = movement.statements[s];
      visit(s, std::as_const(memory));
      memory.execute(movement, move, [&](std::uint32_t i) { return ChunkCell{resultOf(move, memory, i)}; });
    }
    return memory;
  }
  /// Returns the value that a statement gives chunk `i` of its destinations.
  proof::ValueId resultOf(const ir::Move &move, const ChunkMemory &memory, std::uint32_t i);

  /// Returns the partial results: sums and products that one statement makes, and to which another statement adds.
  /// Calls found(maker, adder) for each, with the numbers of both statements.
  std::unordered_set<proof::ValueId> partialSums(const std::function<void(std::uint32_t, std::uint32_t)> &found);

  /// True if `value`, encoded or not, is a reduction and not an input.
  bool isSum(proof::ValueId value) const { return !values_.partsOf(values_.decoded(value)).empty(); }

  /// True if a hook has made `value`.
  bool isApplied(proof::ValueId value) const { return values_.operandOf(value) != value; }

private:
  const ir::Program &program_;
  proof::Values values_;
  std::vector<proof::ValueId> parts_;
};

} // namespace mscclc::passes::schedule
