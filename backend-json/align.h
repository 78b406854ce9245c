// Pairs up two sequences so that what is in both in the same order stays together (a longest common subsequence).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace mscclc::json {

/// Pairs of equal elements (left index, right index), ascending in both. `equal(i, j)` compares left i with right j.
///
/// Myers' O(ND) search (An O(ND) Difference Algorithm and Its Variations, 1986), as long as the sequences are at most
/// `maxEdits` insertions and deletions apart; further apart, elements are paired at equal positions instead, so the
/// cost stays linear in their lengths.
std::vector<std::pair<std::size_t, std::size_t>>
alignSequences(std::size_t leftSize, std::size_t rightSize, const std::function<bool(std::size_t, std::size_t)> &equal,
               std::size_t maxEdits = 128);

} // namespace mscclc::json
