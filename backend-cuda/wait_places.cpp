#include "backend-cuda/wait_places.h"

#include "backend-cuda/operation_writer.h"
#include "ir/op_memory.h"

#include <algorithm>
#include <map>

namespace mscclc::cuda {

namespace {

using ir::Op;

constexpr Variable listRank{"r"}, listBlock{"b"}, packetOperand{"i"};
constexpr Axes axes{&listRank, &listBlock, &var::step, &packetOperand};
constexpr std::int64_t severalSenders = -1; // becomes MSCCLC_UNPAIRED as an unsigned number
/// The most entries of a table of senders. Instead of a larger table, the kernel only says that there are several
/// senders.
constexpr std::size_t mostSenders = 4096;

/// Returns the indices of the packet operands for which the operation waits.
std::vector<std::uint32_t> packetOperands(const Op &op) {
  std::vector<std::uint32_t> operands;
  for (std::uint32_t i = 0; ir::awaitsPackets(op.kind) && i < op.numSrcs; ++i)
    if (ir::formOfSource(op, i) == ir::DataForm::Packet)
      operands.push_back(i);
  return operands;
}

/// True if the operation may wait. Any operation of a port channel may wait for room in the queue of requests.
bool mayWait(const Op &op) {
  if (op.kind == ir::OpKind::Nop || op.kind == ir::OpKind::Pipeline)
    return false;
  return ir::awaitsOthers(op.kind) || op.kind == ir::OpKind::Flush || op.channelType == ir::ChannelType::Port;
}

/// The rank that writes each chunk of packets.
class Senders {
public:
  explicit Senders(const ir::Program &program) : of_(program.ranks.size()) {
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
      for (const ir::ThreadBlock &block : program.ranks[r].blocks)
        for (const Op &op : block.ops)
          ir::forEachMemory(program, r, block, op, [&](const ir::MemoryPiece &piece) {
            if (piece.isPacket() && piece.access != ir::Access::Read)
              add(piece, r);
          });
  }

  std::int64_t of(std::uint32_t owner, const ir::Chunk &chunk) const {
    std::int64_t sender = anyValue;
    for (std::uint32_t c = chunk.index; c < chunk.index + chunk.size; ++c) {
      const std::int64_t one = c < of_[owner].size() ? of_[owner][c] : anyValue;
      sender = sender == anyValue || sender == one ? one : severalSenders;
    }
    return sender;
  }

private:
  void add(const ir::MemoryPiece &piece, std::uint32_t sender) {
    std::vector<std::int64_t> &chunks = of_[piece.rank];
    chunks.resize(std::max<std::size_t>(chunks.size(), piece.index + piece.size), anyValue);
    for (std::uint32_t c = piece.index; c < piece.index + piece.size; ++c)
      chunks[c] = chunks[c] == anyValue || chunks[c] == sender ? std::int64_t{sender} : severalSenders;
  }
  std::vector<std::vector<std::int64_t>> of_; ///< [owner][chunk]: the rank that writes its packets
};

class Finder {
public:
  Finder(const ir::Program &program, Tables &tables)
      : program_(program), senders_(program), finder_(static_cast<int>(program.ranks.size()), tables) {}

  WaitPlaces find() {
    collect();
    for (WaitList &list : found_.lists)
      describe(list);
    std::vector<RankBlock> all;
    for (const auto &[at, list] : listOf_)
      all.push_back({at.first, at.second});
    if (!all.empty())
      found_.listOf = finder_.expressionOrTable(
          {all}, [&](const Sample &s) { return static_cast<std::int64_t>(listOf_.at({s.rank, s.block})); }, axes);
    return std::move(found_);
  }

private:
  /// An operation that waits: its position, and the index into texts_ of its name and place.
  struct Wait {
    std::uint32_t position, text;
    friend auto operator<=>(const Wait &, const Wait &) = default;
  };
  const ir::ThreadBlock &blockAt(const RankBlock &at) const {
    return program_.ranks[static_cast<std::size_t>(at.rank)].blocks[static_cast<std::size_t>(at.block)];
  }

  /// Puts blocks with the same waits into one list.
  void collect() {
    std::map<std::vector<Wait>, std::size_t> known;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        const RankBlock at{static_cast<int>(r), static_cast<int>(b)};
        std::vector<Wait> waits = waitsOf(blockAt(at));
        const auto [it, isNew] = known.try_emplace(waits, found_.lists.size());
        if (isNew) {
          found_.lists.emplace_back();
          waits_.push_back(std::move(waits));
        }
        found_.lists[it->second].instances.push_back(at);
        listOf_[{at.rank, at.block}] = it->second;
      }
  }
  std::vector<Wait> waitsOf(const ir::ThreadBlock &block) {
    std::vector<Wait> waits;
    for (std::uint32_t o = 0; o < block.ops.size(); ++o)
      if (const Op &op = block.ops[o]; mayWait(op))
        waits.push_back({o, textOf(op)});
    return waits;
  }
  std::uint32_t textOf(const Op &op) {
    const auto [it, isNew] = textOfLoc_.try_emplace({op.kind, op.loc, packetOperands(op).size()}, 0);
    if (isNew) {
      const Text text{std::string(ir::toString(op.kind)), placesOf(program_, op), packetOperands(op).size()};
      it->second = static_cast<std::uint32_t>(std::ranges::find(texts_, text) - texts_.begin());
      if (it->second == texts_.size())
        texts_.push_back(text);
    }
    return it->second;
  }

  /// Divides the waits with equal texts into sequences with equal steps between their positions.
  void describe(WaitList &list) {
    const std::vector<Wait> &waits = waits_[static_cast<std::size_t>(&list - found_.lists.data())];
    std::map<std::uint32_t, std::vector<std::uint32_t>> positions; // by text
    for (const Wait &wait : waits)
      positions[wait.text].push_back(wait.position);
    for (const auto &[text, at] : positions)
      for (std::size_t begin = 0; begin < at.size();) {
        WaitPlace wait{at[begin], 1, 1, texts_[text].operation, texts_[text].place, {}};
        if (begin + 1 < at.size())
          wait.step = at[begin + 1] - at[begin];
        while (begin + wait.times < at.size() && at[begin + wait.times] == at[begin] + wait.times * wait.step)
          ++wait.times;
        wait.sender = senderOf(list, wait);
        begin += wait.times;
        list.waits.push_back(std::move(wait));
      }
  }
  Expr senderOf(const WaitList &list, const WaitPlace &wait) {
    const auto count = packetOperands(blockAt(list.instances.front()).ops[wait.first]).size();
    if (count == 0)
      return {};
    const SampleSpace space{list.instances, static_cast<int>(wait.times), 0, static_cast<int>(count)};
    const ValueOf value = [&](const Sample &s) {
      const ir::ThreadBlock &block = blockAt({s.rank, s.block});
      const Op &op = block.ops[wait.first + static_cast<std::uint32_t>(s.step) * wait.step];
      const std::uint32_t operand = packetOperands(op)[static_cast<std::size_t>(s.item)];
      return senders_.of(static_cast<std::uint32_t>(s.rank), block.operands(op)[operand]);
    };
    if (list.instances.size() * wait.times * count <= mostSenders)
      return finder_.expressionOrTable(space, value, axes);
    const Expr formula = finder_.expression(space, value, axes);
    return formula ? formula : constant(severalSenders);
  }

  struct Text {
    std::string operation, place;
    std::size_t packets;
    friend bool operator==(const Text &, const Text &) = default;
  };

  const ir::Program &program_;
  const Senders senders_;
  FormulaFinder finder_;
  WaitPlaces found_;
  std::vector<std::vector<Wait>> waits_; ///< by list
  std::map<std::pair<int, int>, std::size_t> listOf_;
  std::vector<Text> texts_;
  std::map<std::tuple<ir::OpKind, ir::LocId, std::size_t>, std::uint32_t> textOfLoc_;
};

} // namespace

WaitPlaces findWaits(const ir::Program &program, Tables &tables) {
  return Finder(program, tables).find();
}

} // namespace mscclc::cuda
