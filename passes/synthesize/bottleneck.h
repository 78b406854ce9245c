// The most that a machine's links allow, with the cut that proves it.
//
// Sources are GPUs whose data all GPUs must receive, each source an equal share: all GPUs for an all-gather, the root
// for a broadcast. A set S of vertices that lacks some GPU sends the shares of its sources over the links that leave
// it. So no share moves faster than B(S) / d(S), the bandwidth of these links over the number of sources in S. The
// least such ratio can be reached. This follows from Edmonds' theorem on disjoint branchings, because switches can be
// split off (Zhao et al., ForestColl, arXiv 2402.06787).
//
// The ratio is found by Newton's method, not by binary search. If a flow is too small for a ratio, it gives a cut with
// a smaller ratio. This ratio is tried next. All ratios are exact, and the last cut is the proof.
#pragma once

#include "passes/time/links.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace mscclc::passes::synthesize {

/// A fraction in lowest terms. Both parts are at least 0, and the denominator is at least 1.
struct Fraction {
  std::int64_t num = 0, den = 1;
  static Fraction of(std::int64_t num, std::int64_t den) {
    const std::int64_t divisor = std::gcd(num, den);
    return {num / divisor, den / divisor};
  }
  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
  friend bool operator==(const Fraction &, const Fraction &) = default;
  friend bool operator<(const Fraction &a, const Fraction &b) {
    __extension__ using Wide = __int128;
    return Wide{a.num} * b.den < Wide{b.num} * a.den;
  }
};

/// Links of one rate across a cut.
struct CutLinks {
  std::uint64_t rate = 0; ///< MB/s
  std::uint32_t count = 0;
};

/// The least ratio, with its cut.
struct Bottleneck {
  Fraction share;                        ///< MB/s of one source's data that every GPU can receive
  std::vector<std::uint32_t> receivers;  ///< GPUs on the other side of the cut, ascending
  std::uint32_t sources = 0, across = 0; ///< number of sources, and of those whose data crosses the cut
  std::vector<CutLinks> links;           ///< the links that cross the cut, by falling rate

  /// Returns the algorithmic bandwidth in GB/s: the rate at which every GPU can receive the data of all sources.
  double bandwidth() const { return share.value() * sources / 1000; }
  /// Returns "ranks 0-7 receive 3/4 of the data through 8 x 25 GB/s: 266.67 GB/s". `sends`: the links are those of the
  /// reversed graph, so the ranks send.
  std::string sentence(bool sends = false) const;
};

/// Returns the bottleneck of a graph of at least two GPUs, one of which is a source. If some GPU cannot be reached, the
/// share is 0. `isSource`: one entry for each GPU.
Bottleneck findBottleneck(const time::LinkGraph &graph, const std::vector<bool> &isSource);

/// Returns a sentence with a bound for an all-to-all, in GB/s of a rank's message: "ranks 0-7 receive 6 messages
/// through 200 GB/s: 33.33 GB/s". The bound is the least over the cuts around each GPU, each node and each first half
/// of the nodes. `ranksPerNode`: GPUs of a node.
std::string allToAllBound(const time::LinkGraph &graph, std::uint32_t ranksPerNode);

/// Returns "0-7, 9" for ascending numbers.
std::string shownRanks(const std::vector<std::uint32_t> &ranks);

/// Returns "266.67": with two decimals, without zeros at their end.
std::string shownRate(double gigabytes);

} // namespace mscclc::passes::synthesize
