#include "compiler/outputs/sync_sentences.h"

#include "ir/diagnostics.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace mscclc::driver {

using ir::OpKind;
using ir::OpRef;
using ir::plural;
using passes::prune::Accessor;
using passes::prune::Reason;
using passes::prune::SyncEdge;
using passes::prune::SyncReason;

namespace {

/// The place of an operation in a document. For a document without lines, a comparison ignores rank and block, so that
/// the same operation of several blocks gives one sentence.
struct SourcePlace {
  std::string document; ///< the file
  std::uint32_t line = 0, column = 0;
  std::string onBlock; ///< "operation 2" if the place has no line, else empty
  std::string element;

  StatementOrder order() const { return {line == 0, document, line, column}; }
  auto compared() const { return std::tie(document, line, column, onBlock); }
  friend bool operator==(const SourcePlace &a, const SourcePlace &b) { return a.compared() == b.compared(); }
  friend auto operator<=>(const SourcePlace &a, const SourcePlace &b) { return a.compared() <=> b.compared(); }

  std::string text() const {
    if (line != 0)
      return document + ":" + std::to_string(line) + ":" + std::to_string(column);
    return document.empty() ? element : document + ": " + element;
  }
  /// Returns the place in words: "line 12". Omits the document if `other` is in the same one.
  std::string from(const SourcePlace &other) const {
    if (document != other.document)
      return text();
    return line != 0 ? "line " + std::to_string(line) : element;
  }
};

SourcePlace placeOf(const ir::Program &program, const OpRef &at) {
  const ir::SourceMap &sources = program.sources;
  const ir::LocId id = sources.firstPlace(ir::opAt(program, at).loc);
  const std::string onBlock = "operation " + std::to_string(at.op);
  if (id == ir::noLoc)
    return {"", 0, 0, onBlock,
            "rank " + std::to_string(at.rank) + ", block " + std::to_string(at.block) + ", " + onBlock};
  const ir::Loc &loc = sources.get(sources.documentOf(id));
  const std::string file = ir::printable(sources.files()[loc.file]);
  if (sources.isElement(id))
    return {file, 0, 0, onBlock, sources.elementPath(id)};
  return {file, loc.line, loc.column, "", ""};
}

/// Returns the noun for the kind of sync that `op` makes: "barrier of thread blocks".
std::string_view nounOf(const ir::Op &op) {
  if (ir::putsAndSignals(op.kind))
    return "signal that ends a put";
  switch (ir::info(op.kind).step) {
  case ir::OpStep::BlockSync:
    return "sync of the threads of a block";
  case ir::OpStep::Barrier:
    return "barrier of thread blocks";
  case ir::OpStep::Drain:
    return "flush of a port";
  case ir::OpStep::Give:
  case ir::OpStep::Take:
    break;
  case ir::OpStep::Data:
  case ir::OpStep::Loop:
    return "";
  }
  if (ir::isSemaphoreOp(op.kind))
    return "semaphore";
  if (op.channelType == ir::ChannelType::Port)
    return "signal through a port";
  return op.kind == OpKind::RelaxedSignal || op.kind == OpKind::RelaxedWait ? "relaxed signal" : "signal";
}

/// Returns "on each rank", "on rank 3" or "on ranks 0, 2 and 4".
std::string onRanks(const std::set<std::uint32_t> &ranks, std::size_t numRanks) {
  if (ranks.size() == numRanks && numRanks != 1)
    return "on each rank";
  if (ranks.size() == 1)
    return "on rank " + std::to_string(*ranks.begin());
  constexpr std::size_t most = 8;
  if (ranks.size() > most)
    return "on " + std::to_string(ranks.size()) + " ranks from " + std::to_string(*ranks.begin()) + " to " +
           std::to_string(*ranks.rbegin());
  std::string text = "on ranks ";
  for (const std::uint32_t rank : ranks)
    text += (rank == *ranks.begin() ? "" : rank == *ranks.rbegin() ? " and " : ", ") + std::to_string(rank);
  return text;
}

/// Returns "of each rank to the next one" or "of rank 0 to rank 1".
std::string betweenRanks(const std::vector<SyncEdge> &edges, std::size_t numRanks) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::set<std::uint32_t> senders, takers, distances;
  for (const SyncEdge &edge : edges) {
    pairs.emplace(edge.from.rank, edge.to.rank);
    senders.insert(edge.from.rank);
    takers.insert(edge.to.rank);
    distances.insert(static_cast<std::uint32_t>((edge.to.rank + numRanks - edge.from.rank) % numRanks));
  }
  const auto rank = [](std::uint32_t r) { return "rank " + std::to_string(r); };
  if (pairs.size() == 1)
    return "of " + rank(*senders.begin()) + " to " + rank(*takers.begin());
  if (pairs.size() == numRanks * (numRanks - 1))
    return "of each rank to each other rank";
  if (senders.size() == 1)
    return "of " + rank(*senders.begin()) + " to " +
           (takers.size() == numRanks - 1 ? "each other rank" : plural(takers.size(), "other rank"));
  if (takers.size() == 1)
    return "of " + (senders.size() == numRanks - 1 ? "each other rank" : plural(senders.size(), "other rank")) +
           " to " + rank(*takers.begin());
  if (distances.size() == 1) {
    const std::uint32_t distance = *distances.begin();
    const std::string who = senders.size() == numRanks ? "each rank" : std::to_string(senders.size()) + " ranks";
    if (distance == 1)
      return "of " + who + " to the next one";
    if (distance == numRanks - 1)
      return "of " + who + " to the one before";
    return "of " + who + " to the one " + std::to_string(distance) + " further on";
  }
  if (senders.size() == numRanks && pairs.size() % numRanks == 0)
    return "of each rank to " + plural(pairs.size() / numRanks, "other rank");
  return "of " + plural(senders.size(), "rank") + " to " + plural(takers.size(), "rank");
}

/// Returns the words for the maker of an access: "block 1 of rank 0". Omits what is clear from the `other` access of
/// the sentence.
std::string nameOf(const Accessor &who, const Accessor &other, bool isFirst) {
  const std::string rank = "rank " + std::to_string(who.at.rank);
  if (who.isPort)
    return "the port of " + rank;
  if (other.isUser || who.at.rank != other.at.rank || other.isPort)
    return rank;
  if (who.at.block != other.at.block)
    return "block " + std::to_string(who.at.block) + " of " + rank;
  return isFirst ? "another thread of the block" : "a thread of block " + std::to_string(who.at.block) + " of " + rank;
}

/// Returns "output[1] of rank 0" or "input[0:4] of rank 1".
std::string nameOf(const ir::MemoryPiece &memory) {
  std::string text = (memory.isPacket() ? "packets in " : "") + std::string(ir::toString(memory.buffer)) + "[" +
                     std::to_string(memory.index);
  if (memory.size > 1)
    text += ":" + std::to_string(memory.index + memory.size);
  return text + "] of rank " + std::to_string(memory.rank);
}

class Teller {
public:
  explicit Teller(const ir::Program &program) : program_(program) {}

  void add(const SyncReason &reason) {
    std::set<Group *> groups;
    for (const SyncEdge &edge : reason.edges) {
      Key key{placeOf(program_, edge.from), edge.from == edge.to ? SourcePlace{} : placeOf(program_, edge.to),
              nounOf(ir::opAt(program_, edge.from)), reason.reason, accessPlace(reason)};
      Group &group = groups_.try_emplace(std::move(key), Group{&reason, {}, groups_.size()}).first->second;
      group.edges.push_back(edge);
      groups.insert(&group);
    }
    for (Group *const group : groups)
      group->isPart = group->isPart || (groups.size() > 1 && group->reason == &reason);
  }

  std::vector<SyncSentence> sentences() const {
    std::vector<const std::pair<const Key, Group> *> order;
    for (const auto &group : groups_)
      order.push_back(&group);
    std::ranges::sort(order, {}, [](const auto *g) { return std::pair(g->first.from.order(), g->second.number); });
    std::vector<SyncSentence> all;
    for (const auto *group : order)
      all.push_back(sentence(group->first, group->second));
    return all;
  }

private:
  struct Key {
    SourcePlace from, to;
    std::string_view noun;
    Reason reason;
    SourcePlace at; ///< place of the access that would be wrong without the sync
    friend auto operator<=>(const Key &, const Key &) = default;
  };
  struct Group {
    const SyncReason *reason;
    std::vector<SyncEdge> edges;
    std::size_t number;  ///< position in the order of the program
    bool isPart = false; ///< true if syncs of other groups share the reason
  };

  /// Returns the place of the access that would be wrong without the sync. It is the second access, or the first one if
  /// a user of the rank makes the second.
  SourcePlace accessPlace(const SyncReason &reason) const {
    const Accessor &who = reason.second.isUser ? reason.first : reason.second;
    const bool isOfAccess = reason.reason != Reason::Proof && !passes::prune::isNone(reason.reason);
    return placeOf(program_, isOfAccess && isOperation(who) ? who.at : reason.edges[0].from);
  }
  bool isOperation(const Accessor &who) const {
    const auto &blocks = program_.ranks[who.at.rank].blocks;
    return !who.isUser && who.at.block < blocks.size() && who.at.op < blocks[who.at.block].ops.size();
  }

  SyncSentence sentence(const Key &key, const Group &group) const {
    SyncSentence text;
    const SyncReason &reason = *group.reason;
    text.where = key.from.text();
    text.count = group.edges.size();
    text.key = passes::prune::keyOf(reason.reason);
    text.isNeeded = !passes::prune::isNone(reason.reason);
    text.isExamined = !passes::prune::isUnknown(reason.reason);
    text.what = std::string(key.noun) + " " + who(group);
    if (group.edges.size() > 1)
      text.what += " (" + std::to_string(group.edges.size()) + " in all)";
    if (key.to != SourcePlace{} && ir::info(ir::opAt(program_, group.edges[0].from).kind).step != ir::OpStep::Barrier)
      text.what += ", waited for at " + key.to.from(key.from);
    text.at = text.isNeeded ? key.at.text() : text.where;
    text.reason = words(key, reason) + tail(group.edges[0].from, reason);
    text.isTogether = reason.together;
    text.isPart = text.isNeeded && group.isPart;
    text.isExample = text.isNeeded && group.edges.size() > 1;
    return text;
  }

  std::string who(const Group &group) const {
    const bool isInside = std::ranges::all_of(group.edges, [](const SyncEdge &e) { return e.from.rank == e.to.rank; });
    if (!isInside)
      return betweenRanks(group.edges, program_.ranks.size());
    std::set<std::uint32_t> ranks;
    for (const SyncEdge &edge : group.edges)
      ranks.insert(edge.from.rank);
    return onRanks(ranks, program_.ranks.size());
  }

  std::string words(const Key &key, const SyncReason &reason) const {
    if (passes::prune::isNone(reason.reason))
      return std::string(passes::prune::textOf(reason.reason));
    std::string first = nameOf(reason.first, reason.second, true);
    if (!reason.second.isUser && isOperation(reason.first))
      if (const SourcePlace at = placeOf(program_, reason.first.at); at != key.at)
        first += " (" + at.from(key.at) + ")";
    return ir::formatDiag(
        passes::prune::textOf(reason.reason),
        {first, nameOf(reason.second, reason.first, false), nameOf(reason.memory), reason.memory.rank, reason.finding});
  }

  /// Returns the end of the sentence about a nop that orders accesses of other blocks. One thread of its block waits or
  /// signals for all threads.
  std::string tail(const OpRef &sync, const SyncReason &reason) const {
    if (ir::opAt(program_, sync).kind != OpKind::Nop || reason.reason == Reason::Proof ||
        passes::prune::isNone(reason.reason))
      return "";
    const bool isOne = isOperation(reason.first) && isOperation(reason.second) &&
                       reason.first.at.rank == reason.second.at.rank && reason.first.at.block == reason.second.at.block;
    const auto &ops = program_.ranks[sync.rank].blocks[sync.block].ops;
    if (isOne)
      return "";
    if (sync.op != 0 && ir::takes(ops[sync.op - 1].kind))
      return "; one thread of the block waits for that, and the others wait here for that thread";
    if (sync.op + 1 < ops.size() && ir::sends(ops[sync.op + 1].kind))
      return "; one thread of the block signals this next, and waits here until the others are done";
    return "";
  }

  const ir::Program &program_;
  std::map<Key, Group> groups_;
};

} // namespace

std::string statementOf(const ir::Program &program, const OpRef &op) {
  return placeOf(program, op).text();
}

StatementOrder orderOf(const ir::Program &program, const OpRef &op) {
  return placeOf(program, op).order();
}

std::vector<SyncSentence> sentencesOf(const ir::Program &program, const std::vector<SyncReason> &reasons) {
  Teller teller(program);
  for (const SyncReason &reason : reasons)
    teller.add(reason);
  return teller.sentences();
}

} // namespace mscclc::driver
