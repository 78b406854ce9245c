#include "passes/verify/sum_order.h"

#include "passes/verify/verify_diagnostics.h"

#include <algorithm>

namespace mscclc::passes {

namespace {

std::string nameOf(const SumOrder::Chunk &chunk, bool withRank) {
  return "output[" + std::to_string(chunk.chunk) + "]" + (withRank ? " of rank " + std::to_string(chunk.rank) : "");
}

} // namespace

void SumOrder::add(SumOrder other) {
  if (!other.any)
    return;
  if (!any) {
    *this = std::move(other);
    return;
  }
  inSwitch |= other.inSwitch;
  narrowings = std::max(narrowings, other.narrowings);
  if (!ranksDiffer)
    ranksDiffer = std::move(other.ranksDiffer);
  if (!chunksDiffer)
    chunksDiffer = std::move(other.chunksDiffer);
  if (!chunksDiffer && exact != other.exact)
    chunksDiffer = {first, std::move(other.first), first.tree == other.first.tree};
}

std::string SumOrder::sentence() const {
  if (!any)
    return "";
  const std::string times = narrowings == 1 ? "once" : std::to_string(narrowings) + " times";
  const std::string zeroes = isZeroed ? ", with -0.0 as +0.0" : "";
  if (!chunksDiffer)
    return "sums: " + first.tree + " everywhere, " + (encodings.empty() ? "narrowed " + times + zeroes : encodings);
  const Chunk &a = chunksDiffer->first, &b = chunksDiffer->second;
  if (inSwitch)
    return "sums: a switch adds in an order of its own: " + nameOf(a, false) + " " + a.tree;
  const bool withRank = a.rank != b.rank;
  return std::string("sums: ") +
         (chunksDiffer->sameOrder ? "where they are narrowed, in brackets, depends on the chunk: "
                                  : "the order depends on the chunk: ") +
         nameOf(a, withRank) + " " + a.tree + ", " + nameOf(b, withRank) + " " + b.tree +
         (!encodings.empty()        ? ", " + encodings
          : chunksDiffer->sameOrder ? zeroes
                                    : ", narrowed " + times + (narrowings == 1 ? "" : " at most") + zeroes);
}

std::string_view SumOrder::family() const {
  if (!isInvariant() || (!isRanks && !isTree))
    return "none";
  return !isTree ? "Ranks" : !isRanks ? "Tree" : "Ranks and Tree";
}

void reportSums(const ir::DiagInfo &info, const SumOrder::Pair &pair, ir::DiagnosticEngine &diags) {
  const SumOrder::Chunk &a = pair.first, &b = pair.second;
  const bool marks = (a.tree + b.tree).find("q(") != std::string::npos;
  auto report = diags.report(info, b.writer,
                             {nameOf(a, true), a.tree, nameOf(b, true), b.tree,
                              marks            ? "; what stands in q(…) is in the wire format"
                              : pair.sameOrder ? "; what stands in brackets is narrowed to the type of elements"
                                               : ""});
  report.note(proof::diag::sum_written, a.writer, {nameOf(a, true), a.tree});
}

} // namespace mscclc::passes
