// Finds the order of the sums of a program's outputs, and the places where partial results are narrowed.
//
// Floating-point addition is not associative. Two outputs that sum the same inputs are equal bit by bit if they have
// the same reduction tree. Its leaves are inputs. Its steps have two operands, which commute. A step at the end of an
// operation narrows its result to the type of elements; the steps before it keep f32 or more.
#pragma once

#include "ir/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mscclc::passes {

/// The sums and products of a program's outputs. Minimum and maximum have no order.
struct SumOrder {
  /// An output chunk and its reduction tree.
  struct Chunk {
    std::uint32_t rank = 0, chunk = 0;
    std::string tree; ///< for a user: "0+1+2+3", of ranks
    ir::Where writer; ///< the operation that wrote it last
  };
  /// Two chunks with different trees.
  struct Pair {
    Chunk first, second;
    bool sameOrder = false; ///< they differ in the steps that narrow alone, which stand in brackets
  };

  bool any = false;             ///< some output is a sum or a product
  Chunk first;                  ///< the first of these outputs
  std::string exact;            ///< its whole tree, with the steps that narrow
  bool isRanks = false;         ///< its tree is a chain in the order of ranks
  bool isTree = false;          ///< its tree is that of Order::Tree
  std::uint64_t narrowings = 0; ///< the steps that narrow in a tree of an output, at most
  bool isZeroed = false;        ///< the last step gives +0.0 for -0.0 (Lamport packets)
  std::string encodings;        ///< how often the program's wire format was applied; empty: it has none
  bool inSwitch = false;        ///< a switch chose the order of a sum
  /// Two chunks of the same inputs with different trees. If there are such, the program is not rank-consistent.
  std::optional<Pair> ranksDiffer;
  /// Any two chunks with different trees. If there are such, the program is not invariant. If a switch
  /// sums, both may be the same chunk, because its tree is not known.
  std::optional<Pair> chunksDiffer;

  bool isInvariant() const { return any && !chunksDiffer; }
  /// Adds the orders of the same program at another message size.
  void add(SumOrder other);
  /// A line for a user: "sums: ((0+1)+2)+3 everywhere, narrowed once". Empty if there are no sums.
  std::string sentence() const;
  /// The orders of Order that the sums have: "Ranks", "Tree", "Ranks and Tree" or "none".
  std::string_view family() const;
};

/// Reports at the second chunk of `pair`, with a note at the first one. `info` takes the names of the two chunks and
/// their trees, in turn, and a remark on the trees.
void reportSums(const ir::DiagInfo &info, const SumOrder::Pair &pair, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
