// Pairs the elements of two sequences, so that equal elements in the same order are paired (a longest common
// subsequence).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace mscclc::json {

/// Returns pairs of equal elements (left index, right index), ascending in both. `equal(i, j)` compares left i with
/// right j.
///
/// Uses Myers' O(ND) search (An O(ND) Difference Algorithm and Its Variations, 1986) if the sequences are at most
/// `maxEdits` insertions and deletions apart. Otherwise pairs equal positions, so the cost stays linear in the lengths.
std::vector<std::pair<std::size_t, std::size_t>>
alignSequences(std::size_t leftSize, std::size_t rightSize, const std::function<bool(std::size_t, std::size_t)> &equal,
               std::size_t maxEdits = 128);

} // namespace mscclc::json
