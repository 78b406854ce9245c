#include "backend-json/compare_plans.h"

#include "backend-json/align.h"
#include "backend-json/block_tables.h"
#include "backend-json/op_fields.h"
#include "backend-json/write_plan.h"
#include "ir/collectives.h"
#include "ir/internal_error.h"

#include <algorithm>
#include <unordered_map>

namespace mscclc::json {

using namespace ir;

namespace {

using Kind = PlanDifference::Kind;
constexpr std::string_view absent = "nothing";

std::string show(const RemoteBuffer &remote) {
  std::string text = "rank " + std::to_string(remote.rank) + "'s " + std::string(toString(remote.buffer)) + " through ";
  text += remote.viaMemory ? "memory" : "";
  text += remote.viaMemory && remote.viaPort ? " and " : "";
  return text + (remote.viaPort ? "port" : "");
}

std::string show(const SwitchChannel &channel) {
  std::string text = std::string(toString(channel.buffer)) + " of ranks";
  for (const std::uint32_t rank : channel.ranks)
    text.append(1, ' ').append(std::to_string(rank));
  return text;
}

std::string show(std::uint64_t value) {
  return std::to_string(value);
}
std::string show(bool value) {
  return value ? "true" : "false";
}
std::string show(std::string_view text) {
  std::string quoted("\"");
  quoted.append(text);
  quoted.push_back('"');
  return quoted;
}
std::string show(const std::vector<std::string> &texts) {
  std::string list;
  for (const std::string &text : texts)
    list.append(list.empty() ? "" : ", ").append(show(std::string_view(text)));
  return "[" + list + "]";
}
std::string show(const Semaphore &semaphore) {
  return show(std::uint64_t{semaphore.initialValue});
}
std::string show(ChannelType type) {
  return std::string(toString(type));
}

/// Returns the tags in sorted order, because they are a set.
std::vector<std::string> sortedTags(const Program &program) {
  std::vector<std::string> tags = program.tags;
  std::ranges::sort(tags);
  return tags;
}

SwitchChannel sorted(SwitchChannel channel) {
  std::sort(channel.ranks.begin(), channel.ranks.end());
  return channel;
}

class Comparer {
public:
  Comparer(const Program &left, const Program &right, const CompareOptions &options)
      : left_(left), right_(right), options_(options) {}

  PlanComparison run();

private:
  template <typename T> void field(std::string_view name, const T &left, const T &right) {
    if (left != right)
      add({Kind::Changed, at_, {}, std::string(name), show(left), show(right), noLoc});
  }
  template <typename T> void lists(std::string_view name, const std::vector<T> &left, const std::vector<T> &right);
  bool isNew(Kind kind, std::string_view operation, std::string_view field, LocId loc, std::size_t op);
  void add(PlanDifference difference) {
    if (isNew(difference.kind, difference.operation, difference.field, difference.loc, difference.place.op))
      found_.differences.push_back(std::move(difference));
  }
  void compareRanks(const Rank &left, const Rank &right);
  void compareTables(std::string_view field, const std::vector<ResourceUse> &left,
                     const std::vector<ResourceUse> &right);
  void compareOps(const Rank &leftRank, const ThreadBlock &left, const Rank &rightRank, const ThreadBlock &right);
  void compareGap(const Rank &leftRank, const ThreadBlock &left, std::size_t leftFrom, std::size_t leftTo,
                  const Rank &rightRank, const ThreadBlock &right, std::size_t rightFrom, std::size_t rightTo);
  void addOneSided(Kind kind, std::size_t op);
  void addChanged(const PlacedOp &left, const PlacedOp &right, std::size_t op);

  const Program &left_, &right_;
  const CompareOptions options_;
  ProgramPlace at_;
  std::vector<bool> leftInBody_, rightInBody_; ///< [operation of the block]: true if it is inside a pipeline
  PlanComparison found_;
  std::unordered_map<std::string, std::size_t>
      alike_; ///< properties that similar differences share → index into found_.differences
};

/// Counts a difference. Returns true if no similar one was found before, and if there is room for another one.
bool Comparer::isNew(Kind kind, std::string_view operation, std::string_view field, LocId loc, std::size_t op) {
  ++found_.total;
  std::string key(field.substr(0, field.find('[')));
  const auto append = [&key](std::uint64_t number) { key.append(1, ' ').append(std::to_string(number)); };
  key.append(1, ' ').append(operation);
  append(static_cast<std::uint64_t>(kind));
  if (const LocId place = left_.sources.firstPlace(loc); place != noLoc && !left_.sources.isElement(place)) {
    const Loc &at = left_.sources.get(place);
    append(at.file);
    append(at.line);
    append(at.column);
  } else {
    append(at_.block);
    append(op);
  }
  if (const auto found = alike_.find(key); found != alike_.end()) {
    ++found_.differences[found->second].others;
    return false;
  }
  if (found_.differences.size() >= options_.limit)
    return false;
  alike_.emplace(std::move(key), found_.differences.size());
  return true;
}

PlanComparison Comparer::run() {
  if (!options_.ignoreName)
    field("name", std::string_view(left_.name), std::string_view(right_.name));
  field("collective", std::string_view(left_.collective.name), std::string_view(right_.collective.name));
  field("protocol", toString(left_.protocol), toString(right_.protocol));
  const auto rootOf = [](const Program &program) {
    return info(program.collective.kind).hasRoot ? std::to_string(program.collective.root) : std::string(absent);
  };
  if (rootOf(left_) != rootOf(right_))
    add({Kind::Changed, at_, {}, "root", rootOf(left_), rootOf(right_), noLoc});
  field("inplace", left_.collective.inplace, right_.collective.inplace);
  field("reuse_resources", left_.reuseResources, right_.reuseResources);
  field<std::uint64_t>("num_threads_per_block", left_.threadsPerBlock, right_.threadsPerBlock);
  field("use_double_scratch_buffer", left_.doubleScratch, right_.doubleScratch);
  field<std::uint64_t>("buffer_alignment", left_.bufferAlignment, right_.bufferAlignment);
  field("min_message_size", left_.minMessageSize, right_.minMessageSize);
  field("max_message_size", left_.maxMessageSize, right_.maxMessageSize);
  field("tags", sortedTags(left_), sortedTags(right_));
  field<std::uint64_t>("number of gpus", left_.ranks.size(), right_.ranks.size());
  if (left_.ranks.size() != right_.ranks.size())
    return std::move(found_); // otherwise all ranks would differ
  for (std::size_t i = 0; i < std::min(left_.ranks.size(), right_.ranks.size()); ++i) {
    at_ = {static_cast<std::uint32_t>(i)};
    compareRanks(left_.ranks[i], right_.ranks[i]);
  }
  return std::move(found_);
}

template <typename T>
void Comparer::lists(std::string_view name, const std::vector<T> &left, const std::vector<T> &right) {
  if (left == right)
    return;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const bool inLeft = i < left.size(), inRight = i < right.size();
    if (inLeft && inRight && left[i] == right[i])
      continue;
    add({Kind::Changed,
         at_,
         {},
         std::string(name) + "[" + std::to_string(i) + "]",
         inLeft ? show(left[i]) : std::string(absent),
         inRight ? show(right[i]) : std::string(absent),
         noLoc});
  }
}

void Comparer::compareRanks(const Rank &left, const Rank &right) {
  field<std::uint64_t>("input_chunks", left.inputChunks, right.inputChunks);
  field<std::uint64_t>("output_chunks", left.outputChunks, right.outputChunks);
  field<std::uint64_t>("scratch_chunks", left.scratchChunks, right.scratchChunks);
  const auto peers = [](const std::vector<std::uint32_t> &list) {
    return std::vector<std::uint64_t>(list.begin(), list.end());
  };
  lists("memory channels", peers(left.memoryPeers), peers(right.memoryPeers));
  lists("port channels", peers(left.portPeers), peers(right.portPeers));
  const auto first = [](const Rank &rank) {
    return rank.portPeers.empty() || (!rank.memoryPeers.empty() && !rank.portChannelsFirst) ? ChannelType::Memory
                                                                                            : ChannelType::Port;
  };
  field("type of the channels listed first", first(left), first(right));
  std::vector<SwitchChannel> leftSwitches, rightSwitches;
  std::transform(left.switchChannels.begin(), left.switchChannels.end(), std::back_inserter(leftSwitches), sorted);
  std::transform(right.switchChannels.begin(), right.switchChannels.end(), std::back_inserter(rightSwitches), sorted);
  lists("switch channels", leftSwitches, rightSwitches);
  lists("remote_buffers", left.remoteBuffers, right.remoteBuffers);
  lists("semaphores", left.semaphores, right.semaphores);
  field<std::uint64_t>("number of thread blocks", left.blocks.size(), right.blocks.size());
  for (std::size_t i = 0; i < std::min(left.blocks.size(), right.blocks.size()); ++i) {
    at_.block = static_cast<std::uint32_t>(i);
    compareOps(left, left.blocks[i], right, right.blocks[i]);
    compareTables("channels", left.blocks[i].channels, right.blocks[i].channels);
    compareTables("remote_buffer_refs", left.blocks[i].remoteBuffers, right.blocks[i].remoteBuffers);
  }
  at_.block = ProgramPlace::none;
}

void Comparer::compareTables(std::string_view name, const std::vector<ResourceUse> &left,
                             const std::vector<ResourceUse> &right) {
  if (left == right)
    return;
  const auto typeList = [](const std::vector<ResourceUse> &table) {
    const TableTypes types = typesOf(table);
    return std::vector<ChannelType>(types.list().begin(), types.list().end());
  };
  const auto idList = [](const std::vector<ResourceUse> &table, ChannelType type) {
    std::vector<std::uint64_t> ids;
    forEachOfType(table, type, [&](std::uint32_t, std::uint32_t id) { ids.push_back(id); });
    return ids;
  };
  lists(std::string(name) + " types", typeList(left), typeList(right));
  for (const ChannelType type : {ChannelType::Memory, ChannelType::Port, ChannelType::Switch})
    lists(std::string(name) + " (" + show(type) + ")", idList(left, type), idList(right, type));
}

std::vector<bool> bodies(const std::vector<Op> &ops) {
  std::vector<bool> inBody(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (std::size_t k = i + 1; k <= i + ops[i].bodySize && k < ops.size(); ++k)
      inBody[k] = true;
  return inBody;
}

void Comparer::compareOps(const Rank &leftRank, const ThreadBlock &left, const Rank &rightRank,
                          const ThreadBlock &right) {
  leftInBody_ = bodies(left.ops);
  rightInBody_ = bodies(right.ops);
  const auto pairs = alignSequences(left.ops.size(), right.ops.size(), [&](std::size_t i, std::size_t j) {
    return leftInBody_[i] == rightInBody_[j] && sameOp({leftRank, left, left.ops[i]}, {rightRank, right, right.ops[j]});
  });
  std::size_t nextLeft = 0, nextRight = 0;
  for (const auto &[i, j] : pairs) {
    compareGap(leftRank, left, nextLeft, i, rightRank, right, nextRight, j);
    nextLeft = i + 1;
    nextRight = j + 1;
  }
  compareGap(leftRank, left, nextLeft, left.ops.size(), rightRank, right, nextRight, right.ops.size());
}

/// Compares the operations between two aligned ones. Pairs operations of the same kind and reports them as changed.
/// Reports the other ones as present in one plan only.
void Comparer::compareGap(const Rank &leftRank, const ThreadBlock &left, std::size_t leftFrom, std::size_t leftTo,
                          const Rank &rightRank, const ThreadBlock &right, std::size_t rightFrom, std::size_t rightTo) {
  const auto pairs = alignSequences(leftTo - leftFrom, rightTo - rightFrom, [&](std::size_t i, std::size_t j) {
    return left.ops[leftFrom + i].kind == right.ops[rightFrom + j].kind &&
           leftInBody_[leftFrom + i] == rightInBody_[rightFrom + j];
  });
  std::size_t nextLeft = leftFrom, nextRight = rightFrom;
  const auto addUntil = [&](std::size_t leftEnd, std::size_t rightEnd) {
    for (; nextLeft < leftEnd; ++nextLeft)
      addOneSided(Kind::OnlyLeft, nextLeft);
    for (; nextRight < rightEnd; ++nextRight)
      addOneSided(Kind::OnlyRight, nextRight);
  };
  for (const auto &[i, j] : pairs) {
    addUntil(leftFrom + i, rightFrom + j);
    addChanged({leftRank, left, left.ops[nextLeft]}, {rightRank, right, right.ops[nextRight]}, nextLeft);
    ++nextLeft;
    ++nextRight;
  }
  addUntil(leftTo, rightTo);
}

void Comparer::addOneSided(Kind kind, std::size_t op) {
  const Program &program = kind == Kind::OnlyLeft ? left_ : right_;
  const OpRef ref{at_.rank, at_.block, static_cast<std::uint32_t>(op)};
  const Op &there = opAt(program, ref);
  PlanDifference difference;
  difference.kind = kind;
  difference.place = {ref.rank, ref.block, ref.op};
  difference.operation = toString(there.kind);
  if (kind == Kind::OnlyLeft)
    difference.loc = there.loc;
  if (!isNew(kind, difference.operation, {}, difference.loc, op))
    return;
  std::string text = planTextOf(program, ref);
  if (constexpr std::size_t shown = 240; text.size() > shown)
    text.replace(shown, text.npos, " ...");
  (kind == Kind::OnlyLeft ? difference.left : difference.right) = std::move(text);
  found_.differences.push_back(std::move(difference));
}

void Comparer::addChanged(const PlacedOp &left, const PlacedOp &right, std::size_t op) {
  for (FieldDifference &changed : differingFields(left, right))
    add({Kind::Changed,
         {at_.rank, at_.block, static_cast<std::uint32_t>(op)},
         std::string(toString(left.op.kind)),
         std::move(changed.field),
         std::move(changed.left),
         std::move(changed.right),
         left.op.loc});
}

} // namespace

PlanComparison comparePlans(const Program &left, const Program &right, const CompareOptions &options) {
  return Comparer(left, right, options).run();
}

std::string describe(const PlanDifference &difference, std::string_view rightName) {
  std::string out;
  if (difference.place.rank != ProgramPlace::none)
    out += describe(difference.place) + (difference.operation.empty() ? ": " : " (" + difference.operation + "): ");
  switch (difference.kind) {
  case Kind::Changed:
    return out + difference.field + " is " + difference.left + ", but " + difference.right + " in " +
           std::string(rightName);
  case Kind::OnlyLeft:
    return out + difference.left + " is not in " + std::string(rightName);
  case Kind::OnlyRight:
    return out + "only " + std::string(rightName) + " has " + difference.right;
  }
  throw InternalError("a difference of no kind");
}

} // namespace mscclc::json
