#include "passes/time/trace_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>

namespace mscclc::passes::time {

namespace {

/// After a mismatch, the next match is searched within so many spans and operations together.
constexpr std::size_t farthest = 16;

/// The measured operations of one launch of a block.
using Launch = std::span<const MeasuredOp>;

/// A span of the walk, and a measured operation that corresponds to it.
struct Pair {
  std::uint32_t span = 0;
  std::uint32_t launch = 0;
  Time start = 0, end = 0; ///< measured
};

/// Divides a block's operations of the trace into launches. If the trace does not mark launches, each launch has
/// `predicted` operations. With NPKit, it has at most as many operations as NPKit records.
std::vector<Launch> launchesOf(Launch ops, std::size_t predicted, bool npkit) {
  std::vector<Launch> launches;
  const auto isMark = [](const MeasuredOp &op) { return op.name == MeasuredOp::launch; };
  if (std::any_of(ops.begin(), ops.end(), isMark)) {
    for (auto begin = ops.begin(); begin != ops.end();) {
      const auto end = std::find_if(begin, ops.end(), isMark);
      if (begin != end)
        launches.emplace_back(begin, end);
      begin = end == ops.end() ? end : end + 1;
    }
    return launches;
  }
  std::size_t length = npkit ? std::min(predicted, npkitOperations) : predicted;
  if (length == 0 || ops.size() % length != 0)
    length = ops.size();
  for (std::size_t at = 0; at < ops.size(); at += length)
    launches.push_back(ops.subspan(at, length));
  return launches;
}

class Comparison {
public:
  Comparison(const ir::Program &program, const Timeline &timeline, const MeasuredTrace &trace)
      : program_(program), timeline_(timeline), trace_(trace) {
    for (const std::string &name : trace.names)
      for (std::size_t kind = 0; kind < ir::opKindCount; ++kind)
        isName_.push_back(isNameOf(name, static_cast<ir::OpKind>(kind)));
  }
  TraceDifference run();

private:
  bool agree(std::uint32_t span, const MeasuredOp &op) const {
    const Span &own = timeline_.spans[span];
    const ir::OpKind kind = ir::opAt(program_, {own.rank, own.block, own.op}).kind;
    return isName_[op.name * ir::opKindCount + static_cast<std::size_t>(kind)];
  }
  void align(std::span<const std::uint32_t> spans, Launch ops, std::uint32_t launch);
  void compareOperations();
  void compareRanks();

  const ir::Program &program_;
  const Timeline &timeline_;
  const MeasuredTrace &trace_;
  std::vector<bool> isName_; ///< [name · opKindCount + kind]: true if operations of the kind may have the name
  std::vector<Pair> pairs_;
  TraceDifference result_;
};

void Comparison::align(std::span<const std::uint32_t> spans, Launch ops, std::uint32_t launch) {
  std::size_t s = 0, m = 0;
  while (s < spans.size() && m < ops.size()) {
    if (agree(spans[s], ops[m])) {
      pairs_.push_back({spans[s++], launch, ops[m].start, ops[m].end});
      ++m;
      continue;
    }
    std::size_t skipped = 1, ofSpans = 1, ofOps = 1; // if nothing agrees, one span and one operation are skipped
    const auto search = [&] {
      for (; skipped <= farthest; ++skipped)
        for (ofSpans = 0; ofSpans <= skipped; ++ofSpans) {
          ofOps = skipped - ofSpans;
          if (s + ofSpans < spans.size() && m + ofOps < ops.size() && agree(spans[s + ofSpans], ops[m + ofOps]))
            return;
        }
      ofSpans = ofOps = 1;
    };
    search();
    s += ofSpans;
    m += ofOps;
    result_.unpredicted += ofOps;
  }
  result_.unpredicted += ops.size() - m;
}

/// Takes the median duration of each span's pairs. Then takes the mean over all spans that come from the same place of
/// the source.
void Comparison::compareOperations() {
  std::map<std::tuple<ir::LocId, ir::OpKind, ir::OpRef>, OperationDifference> places;
  const auto duration = [](const Pair &pair) { return pair.end - pair.start; };
  std::sort(pairs_.begin(), pairs_.end(), [&](const Pair &a, const Pair &b) {
    return std::tuple(a.span, duration(a)) < std::tuple(b.span, duration(b));
  });
  for (std::size_t begin = 0, end = 0; begin < pairs_.size(); begin = end) {
    while (end < pairs_.size() && pairs_[end].span == pairs_[begin].span)
      ++end;
    const Span &span = timeline_.spans[pairs_[begin].span];
    const ir::OpRef ref{span.rank, span.block, span.op};
    const ir::Op &op = ir::opAt(program_, ref);
    const ir::LocId place = program_.sources.firstPlace(op.loc);
    const Time measured = duration(pairs_[begin + (end - begin) / 2]), predicted = span.end - span.start;
    OperationDifference &difference = places[{place, op.kind, place == ir::noLoc ? ref : ir::OpRef()}];
    if (difference.times++ == 0)
      difference.first = ref;
    difference.measured += measured;
    difference.predicted += predicted;
    difference.departing += departs(measured, predicted);
  }
  for (const auto &[place, difference] : places)
    result_.operations.push_back(difference);
  std::stable_sort(result_.operations.begin(), result_.operations.end(), [](const auto &a, const auto &b) {
    return std::abs(a.measured - a.predicted) > std::abs(b.measured - b.predicted);
  });
  for (OperationDifference &difference : result_.operations) {
    difference.measured /= static_cast<Time>(difference.times);
    difference.predicted /= static_cast<Time>(difference.times);
  }
}

void Comparison::compareRanks() {
  struct Stretch {
    Time start = std::numeric_limits<Time>::infinity(), end = -std::numeric_limits<Time>::infinity();
    void cover(Time from, Time to) {
      start = std::min(start, from);
      end = std::max(end, to);
    }
    Time length() const { return end - start; }
  };
  std::map<std::uint32_t, std::pair<Stretch, std::map<std::uint32_t, Stretch>>> ranks;
  for (const Pair &pair : pairs_) {
    const Span &span = timeline_.spans[pair.span];
    auto &[predicted, launches] = ranks[span.rank];
    predicted.cover(span.start, span.end);
    launches[pair.launch].cover(pair.start, pair.end);
  }
  for (const auto &[rank, stretches] : ranks) {
    std::vector<Time> lengths;
    for (const auto &[launch, stretch] : stretches.second)
      lengths.push_back(stretch.length());
    std::sort(lengths.begin(), lengths.end());
    result_.ranks.push_back({rank, lengths[lengths.size() / 2], stretches.first.length()});
  }
}

TraceDifference Comparison::run() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> blocks;
  std::uint64_t predicted = 0;
  for (std::uint32_t number = 0; number < timeline_.spans.size(); ++number)
    if (const Span &span = timeline_.spans[number]; !span.proxy) {
      blocks[{span.rank, span.block}].push_back(number);
      ++predicted;
    }
  for (const auto &[block, ops] : trace_.blocks) {
    const std::vector<std::uint32_t> &spans = blocks[block];
    const std::vector<Launch> launches = launchesOf(ops, spans.size(), trace_.npkit);
    for (std::uint32_t launch = 0; launch < launches.size(); ++launch)
      align(spans, launches[launch], launch);
    result_.launches = std::max<std::uint64_t>(result_.launches, launches.size());
  }
  result_.compared = pairs_.size();
  compareOperations();
  compareRanks();
  for (const OperationDifference &difference : result_.operations)
    predicted -= difference.times;
  result_.unmeasured = predicted;
  return std::move(result_);
}

} // namespace

TraceDifference compareTraces(const ir::Program &program, const Timeline &timeline, const MeasuredTrace &trace) {
  return Comparison(program, timeline, trace).run();
}

} // namespace mscclc::passes::time
