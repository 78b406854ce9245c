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

/// The order of the sums and products of a program's outputs. Minimum and maximum have no order.
struct SumOrder {
  /// An output chunk and its reduction tree.
  struct Chunk {
    std::uint32_t rank = 0, chunk = 0;
    std::string tree; ///< the tree for a user, with ranks as its leaves: "0+1+2+3"
    ir::Where writer; ///< the operation that wrote the chunk last
  };
  /// Two chunks with different trees.
  struct Pair {
    Chunk first, second;
    bool sameOrder = false; ///< the trees differ only in the steps that narrow, which stand in brackets
  };

  bool any = false;             ///< true if some output is a sum or a product
  Chunk first;                  ///< the first output that is a sum or a product
  std::string exact;            ///< the whole tree of `first`, with the steps that narrow
  bool isRanks = false;         ///< true if the tree of `first` is a chain in the order of ranks
  bool isTree = false;          ///< true if the tree of `first` is that of Order::Tree
  std::uint64_t narrowings = 0; ///< the largest number of steps that narrow in the tree of an output
  bool isZeroed = false;        ///< true if the last step gives +0.0 for -0.0 (Lamport packets)
  std::string encodings;        ///< how often values were encoded; empty if the program has no wire format
  bool inSwitch = false;        ///< true if a switch chose the order of a sum
  /// Two chunks of the same inputs with different trees. If there are such chunks, the program is not rank-consistent.
  std::optional<Pair> ranksDiffer;
  /// Any two chunks with different trees. If there are such chunks, the program is not invariant. If a switch sums,
  /// both may be the same chunk, because its tree is not known.
  std::optional<Pair> chunksDiffer;

  bool isInvariant() const { return any && !chunksDiffer; }
  /// Adds the orders of the same program at another message size.
  void add(SumOrder other);
  /// Returns a line for a user: "sums: ((0+1)+2)+3 everywhere, narrowed once". It is empty if there are no sums.
  std::string sentence() const;
  /// Returns which values of Order describe the sums: "Ranks", "Tree", "Ranks and Tree" or "none".
  std::string_view family() const;
};

/// Reports `pair` at its second chunk, with a note at the first chunk. The arguments of `info` are the name and the
/// tree of each chunk, and a remark on the trees.
void reportSums(const ir::DiagInfo &info, const SumOrder::Pair &pair, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
