// Finds the formula behind a number that differs between ranks, blocks, operands and repetitions.
//
// SPMD folding turns many equal programs into one; what still differs (a peer, a chunk, a channel) is a function of who
// runs it. Most such functions are affine, or affine modulo the number of ranks, or skip the rank itself, and are
// written as an expression; the rest becomes a table.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace mscclc::cuda {

/// Where a number is taken: block `block` of rank `rank`, repetition `step` of a rolled sequence, operand `item`.
struct Sample {
  int rank = 0;
  int block = 0;
  int step = 0;
  int item = 0;
};

/// All samples of a number: every instance × steps × items.
struct SampleSpace {
  struct Instance {
    int rank;
    int block;
    friend bool operator==(const Instance &, const Instance &) = default;
  };
  std::span<const Instance> instances;
  int steps = 1;
  int firstItem = 0;
  int items = 1;
};

/// A value that may be anything, because nobody asks for it.
inline constexpr std::int64_t anyValue = std::numeric_limits<std::int64_t>::min();

/// How the variables are spelled in the emitted code.
struct Spelling {
  std::string rank = "k.rank";
  std::string block = "k.block";
  std::string step = "j";
  std::string item = "i";
};

/// Constant tables of an emitted file, each written once.
class Tables {
public:
  /// `prefix`: their names are that and a number.
  explicit Tables(std::string prefix = "table") : prefix_(std::move(prefix)) {}
  /// Name of the table with these entries, in emission order.
  std::string add(std::vector<std::int64_t> entries);
  struct Table {
    std::string name;
    std::vector<std::int64_t> entries;
  };
  const std::vector<Table> &all() const { return tables_; }
  std::size_t entries() const { return entries_; }

private:
  std::string prefix_;
  std::vector<Table> tables_;
  std::size_t entries_ = 0;
};

using ValueOf = std::function<std::int64_t(const Sample &)>;

class FormulaFinder {
public:
  /// `ranks`: number of ranks of the program, the modulus of most rings.
  FormulaFinder(int ranks, Tables &tables) : ranks_(ranks), tables_(tables) {}

  /// An expression for `value` over `space`, without a table; empty if there is none.
  std::string expression(const SampleSpace &space, const ValueOf &value, const Spelling &spelling = {}) const;
  /// The same, with a table where it must be.
  std::string expressionOrTable(const SampleSpace &space, const ValueOf &value, const Spelling &spelling = {});

private:
  int ranks_;
  Tables &tables_;
};

} // namespace mscclc::cuda
