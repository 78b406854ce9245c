#include "backend-cuda/numbers.h"
#include "backend-cuda/specialise.h"

#include "ir/channel_pairing.h"

#include "runtime-min/include/mscclc/runtime_abi.h"

#include <algorithm>

namespace mscclc::cuda {

namespace {

/// The most entries at the beginning of a list that may have a formula of their own.
constexpr int maxOtherKind = 16;

// The variables of the descriptor's functions.
constexpr Variable rankVariable{"r"}, indexVariable{"i"}, memberVariable{"m"};

class RankDescriber {
public:
  RankDescriber(const ir::Program &program, Tables &tables)
      : program_(program), finder_(static_cast<int>(program.ranks.size()), tables) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
      ranks_.push_back({static_cast<int>(r), 0});
  }

  /// Returns an expression for a number that each rank has.
  template <class F> Expr ofRank(F value) {
    return finder_.expressionOrTable(
        {ranks_}, [&](const Sample &s) { return static_cast<std::int64_t>(value(rank(s))); }, axes_);
  }

  /// Returns an expression for a number that each entry of a list has. Every rank has such a list, of `count(rank)`
  /// entries.
  template <class Count, class F> Expr ofEntry(Count count, F value) {
    std::size_t most = 0;
    for (const ir::Rank &r : program_.ranks)
      most = std::max<std::size_t>(most, count(r));
    if (most == 0)
      return constant(0);
    const ValueOf valueOf = [&](const Sample &s) {
      const auto i = static_cast<std::size_t>(s.item);
      return i < count(rank(s)) ? static_cast<std::int64_t>(value(s, rank(s), i)) : anyValue;
    };
    const SampleSpace space{ranks_, 1, 0, static_cast<int>(most)};
    if (Expr whole = finder_.expression(space, valueOf, axes_))
      return whole;
    // A list often begins with a few entries of another kind, such as a peer on another node or a buffer behind a port.
    for (int first = 1; first < std::min(static_cast<int>(most), maxOtherKind); ++first) {
      const Expr begin = finder_.expression({ranks_, 1, 0, first}, valueOf, axes_);
      if (!begin)
        break;
      const Expr rest = finder_.expression({ranks_, 1, first, static_cast<int>(most) - first}, valueOf, axes_);
      if (rest)
        return makeExpr(formula::Conditional{binary(indexVariable, Operator::Less, first), begin, rest});
    }
    return finder_.expressionOrTable(space, valueOf, axes_);
  }

  Expr switchMember() {
    std::vector<RankBlock> channels;
    std::size_t most = 0;
    for (std::size_t r = 0; r < program_.ranks.size(); ++r)
      for (std::size_t c = 0; c < program_.ranks[r].switchChannels.size(); ++c) {
        channels.push_back({static_cast<int>(r), static_cast<int>(c)});
        most = std::max(most, program_.ranks[r].switchChannels[c].ranks.size());
      }
    if (channels.empty())
      return constant(0);
    // In these samples, `block` is the number of the switch channel.
    const Axes axes{&rankVariable, &indexVariable, &var::step, &memberVariable};
    return finder_.expressionOrTable(
        {channels, 1, 0, static_cast<int>(most)},
        [&](const Sample &s) {
          const auto &group = rank(s).switchChannels[static_cast<std::size_t>(s.block)].ranks;
          const auto m = static_cast<std::size_t>(s.item);
          return m < group.size() ? static_cast<std::int64_t>(group[m]) : anyValue;
        },
        axes);
  }

private:
  const ir::Rank &rank(const Sample &s) const { return program_.ranks[static_cast<std::size_t>(s.rank)]; }

  const ir::Program &program_;
  FormulaFinder finder_;
  static constexpr Axes axes_{&rankVariable, &var::block, &var::step, &indexVariable};
  std::vector<RankBlock> ranks_;
};

std::uint32_t barriersOf(const ir::Rank &rank) {
  std::uint64_t n = 0;
  for (const ir::ThreadBlock &block : rank.blocks)
    for (const ir::Op &op : block.ops)
      if (op.kind == ir::OpKind::Barrier)
        n = std::max(n, op.imm + 1);
  return static_cast<std::uint32_t>(n);
}

} // namespace

DescriptorFormulas describeRanks(const ir::Program &program, Tables &tables) {
  RankDescriber d(program, tables);
  DescriptorFormulas f;
  f.inputChunks = d.ofRank([](const ir::Rank &r) { return r.inputChunks; });
  f.outputChunks = d.ofRank([](const ir::Rank &r) { return r.outputChunks; });
  f.scratchChunks = d.ofRank([](const ir::Rank &r) { return r.scratchChunks; });
  f.blocks = d.ofRank([](const ir::Rank &r) { return r.blocks.size(); });
  f.memoryChannels = d.ofRank([](const ir::Rank &r) { return r.memoryPeers.size(); });
  f.portChannels = d.ofRank([](const ir::Rank &r) { return r.portPeers.size(); });
  f.switchChannels = d.ofRank([](const ir::Rank &r) { return r.switchChannels.size(); });
  f.remoteBuffers = d.ofRank([](const ir::Rank &r) { return r.remoteBuffers.size(); });
  f.semaphores = d.ofRank([](const ir::Rank &r) { return r.semaphores.size(); });
  f.barriers = d.ofRank(barriersOf);

  const ir::ChannelPairing pairing(program);
  const auto channels = [&](ir::ChannelType type, Expr &peer, Expr &peerChannel) {
    const auto count = [&](const ir::Rank &r) { return r.peers(type).size(); };
    peer = d.ofEntry(count, [&](const Sample &, const ir::Rank &r, std::size_t i) { return r.peers(type)[i]; });
    peerChannel = d.ofEntry(count, [&](const Sample &s, const ir::Rank &, std::size_t i) -> std::int64_t {
      const auto end = pairing.peer(type, {static_cast<std::uint32_t>(s.rank), static_cast<std::uint32_t>(i)});
      return end ? std::int64_t{end->channel} : std::int64_t{-1}; // -1 becomes MSCCLC_UNPAIRED as an unsigned number
    });
  };
  channels(ir::ChannelType::Memory, f.memoryPeer, f.memoryPeerChannel);
  channels(ir::ChannelType::Port, f.portPeer, f.portPeerChannel);

  const auto switches = [](const ir::Rank &r) { return r.switchChannels.size(); };
  f.switchBuffer = d.ofEntry(
      switches, [](const Sample &, const ir::Rank &r, std::size_t i) { return int(r.switchChannels[i].buffer); });
  f.switchSize = d.ofEntry(
      switches, [](const Sample &, const ir::Rank &r, std::size_t i) { return r.switchChannels[i].ranks.size(); });
  f.switchMember = d.switchMember();

  const auto remotes = [](const ir::Rank &r) { return r.remoteBuffers.size(); };
  f.remoteRank =
      d.ofEntry(remotes, [](const Sample &, const ir::Rank &r, std::size_t i) { return r.remoteBuffers[i].rank; });
  f.remoteBuffer = d.ofEntry(
      remotes, [](const Sample &, const ir::Rank &r, std::size_t i) { return int(r.remoteBuffers[i].buffer); });
  f.remoteViaMemory = d.ofEntry(
      remotes, [](const Sample &, const ir::Rank &r, std::size_t i) { return int(r.remoteBuffers[i].viaMemory); });
  f.remoteViaPort = d.ofEntry(
      remotes, [](const Sample &, const ir::Rank &r, std::size_t i) { return int(r.remoteBuffers[i].viaPort); });
  f.semaphoreValue =
      d.ofEntry([](const ir::Rank &r) { return r.semaphores.size(); },
                [](const Sample &, const ir::Rank &r, std::size_t i) { return r.semaphores[i].initialValue; });
  return f;
}

} // namespace mscclc::cuda
