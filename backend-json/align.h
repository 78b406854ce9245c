// Pairs equal elements of two sequences, in the order of both (a longest common subsequence).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace mscclc::json {

/// Returns pairs of equal elements (left index, right index), ascending in both. `equal(i, j)` compares left element i
/// with right element j.
///
/// If the sequences are at most `maxEdits` insertions and deletions apart, uses Myers' O(ND) search (An O(ND)
/// Difference Algorithm and Its Variations, 1986). Otherwise pairs equal elements at the same position, so that the
/// cost is linear in the lengths.
std::vector<std::pair<std::size_t, std::size_t>>
alignSequences(std::size_t leftSize, std::size_t rightSize, const std::function<bool(std::size_t, std::size_t)> &equal,
               std::size_t maxEdits = 128);

} // namespace mscclc::json
