#include "passes/synthesize/algorithms.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace mscclc::passes::synthesize {

namespace {

/// Limits for algorithms in which each rank gets the data of all others in one step. On several nodes, only few ranks
/// or nodes do this, because more would move too much. Inside a node, links are fast enough for many more ranks.
constexpr std::uint32_t mostOneShot = 16;
constexpr std::uint32_t mostOneShotInNode = 128;
/// The most ranks on several nodes for an algorithm that ignores nodes. With more ranks, algorithms in levels need
/// equally few rounds and send less between nodes. Besides, ranks at the same distance may be on the same node or not,
/// so no rank represents all.
constexpr std::uint32_t mostFlat = 64;

using ir::CollectiveKind;
using ir::RankChunk;

/// The chunks that a tree carries.
struct Part {
  const Tree *tree;
  std::uint32_t first, size; ///< in chunks of the message's buffer
};

/// Divides the chunks of each root among its trees.
std::vector<Part> partsOf(const Forest &forest, bool hasRoot) {
  std::map<std::uint32_t, std::uint32_t> taken; // by root
  std::vector<Part> parts;
  for (const Tree &tree : forest.packed) {
    std::uint32_t &begun = taken[tree.root];
    const auto size = static_cast<std::uint32_t>(tree.weight);
    const std::uint32_t share = hasRoot ? 0 : tree.root * static_cast<std::uint32_t>(forest.trees);
    parts.push_back({&tree, share + begun, size});
    begun += size;
  }
  return parts;
}

/// Returns the children of each GPU that has children. GPUs are in the order in which the tree reaches them.
std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> childrenOf(const Tree &tree) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> children;
  for (const Hop &hop : tree.hops)
    children[hop.from].push_back(hop.to);
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> all{{tree.root, {}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].second = std::move(children[all[i].first]);
    for (const std::uint32_t child : std::vector(all[i].second))
      all.push_back({child, {}});
  }
  std::erase_if(all, [](const auto &one) { return one.second.empty(); });
  return all;
}

void sendDown(Statements &to, const Part &part) {
  for (const auto &[parent, children] : childrenOf(*part.tree)) {
    std::vector<RankChunk> places;
    for (const std::uint32_t child : children)
      places.push_back(to.at(child, part.first, part.size));
    to.copy(places, to.at(parent, part.first, part.size));
  }
}

void sumUp(Statements &to, const Part &part) {
  auto all = childrenOf(*part.tree);
  std::ranges::reverse(all);
  for (const auto &[parent, children] : all) {
    std::vector<RankChunk> places;
    for (const std::uint32_t child : children)
      places.push_back(to.at(child, part.first, part.size));
    to.addTo(to.at(parent, part.first, part.size), places);
  }
}

} // namespace

ir::Program treeProgram(const Task &task, const std::string &name, const Forest &down, const Forest &up) {
  const Forest &used = task.spreads() ? down : up;
  const bool isRooted = used.bound.sources == 1;
  Statements to(task, name, static_cast<std::uint32_t>(used.trees));
  // In an all-reduce with one root, the trees divide the whole message, which has one chunk for each rank and part.
  const std::uint32_t stretch = isRooted && task.kind == CollectiveKind::AllReduce ? task.ranks : 1;
  const auto forAll = [&](const Forest &forest, void (*send)(Statements &, const Part &)) {
    for (Part part : partsOf(forest, isRooted)) {
      part.first *= stretch;
      part.size *= stretch;
      send(to, part);
    }
  };
  if (task.sums())
    forAll(up, sumUp);
  if (task.spreads())
    forAll(down, sendDown);
  return std::move(to).take();
}

namespace {

/// A group of `count` ranks: `start` + index · `stride`. An index of `count` or more begins again at the first rank.
class Group {
public:
  Group(std::uint32_t start, std::uint32_t stride, std::uint32_t count)
      : start_(start), stride_(stride), count_(count) {}
  std::uint32_t size() const { return count_; }
  std::uint32_t operator[](std::uint32_t index) const { return start_ + index % count_ * stride_; }

private:
  std::uint32_t start_, stride_, count_;
};

/// The chunks that are gathered or scattered. Member i has `size` chunks from chunk `first` + i · `apart` on.
struct Shares {
  std::uint32_t first, apart, size;
};

/// Calls `then(first, size)` for each run of consecutive chunks of `count` members, from member `from` on. The first
/// member of the group follows the last one.
template <typename Then>
void forRuns(const Group &group, const Shares &shares, std::uint32_t from, std::uint32_t count, Then &&then) {
  const bool isDense = shares.apart == shares.size;
  for (std::uint32_t done = 0; done < count;) {
    const std::uint32_t member = (from + done) % group.size();
    const std::uint32_t length = isDense ? std::min(count - done, group.size() - member) : 1;
    then(shares.first + member * shares.apart, length * shares.size);
    done += length;
  }
}

/// Bruck's algorithm, with any radix: in each round, the number of shares that a member has grows by the factor
/// `radix`. If `radix` is the number of members, all pairs exchange shares in one round. `reversed`: goes through the
/// rounds backwards, and adds instead of copying, which scatters sums.
void bruck(Statements &to, const Group &group, const Shares &shares, std::uint32_t radix, bool reversed = false) {
  struct Round {
    std::uint32_t have, digit;
  };
  std::vector<Round> rounds;
  for (std::uint64_t have = 1; have < group.size(); have *= radix)
    for (std::uint32_t digit = 1; digit < radix && digit * have < group.size(); ++digit)
      rounds.push_back({static_cast<std::uint32_t>(have), digit});
  if (reversed)
    std::ranges::reverse(rounds);
  for (const auto &[have, digit] : rounds)
    for (std::uint32_t member = 0; member < group.size(); ++member) {
      const std::uint32_t other = member + digit * have; // the member with the shares that `member` lacks
      forRuns(group, shares, other % group.size(), std::min(have, group.size() - digit * have),
              [&](std::uint32_t first, std::uint32_t size) {
                if (reversed)
                  to.addTo(to.at(group[other], first, size), to.at(group[member], first, size));
                else
                  to.copy(to.at(group[member], first, size), to.at(group[other], first, size));
              });
    }
}

/// Reduces the share of each member at that member, directly from all others.
void scatterDirect(Statements &to, const Group &group, const Shares &shares) {
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    const std::uint32_t first = shares.first + member * shares.apart;
    std::vector<RankChunk> others;
    for (std::uint32_t step = 1; step < group.size(); ++step)
      others.push_back(to.at(group[member + step], first, shares.size));
    to.addTo(to.at(group[member], first, shares.size), others);
  }
}

void gather(Statements &to, const Group &group, const Shares &shares, std::uint32_t radix) {
  bruck(to, group, shares, radix);
}

void scatter(Statements &to, const Group &group, const Shares &shares, std::uint32_t radix) {
  if (radix >= group.size())
    scatterDirect(to, group, shares);
  else
    bruck(to, group, shares, radix, /*reversed=*/true);
}

/// Recursive halving; twice() is recursive doubling. The number of ranks is a power of two, and so are the distances of
/// partners.
void halve(Statements &to, std::uint32_t size) {
  for (std::uint32_t width = to.ranks() / 2; width > 0; width /= 2)
    for (std::uint32_t rank = 0; rank < to.ranks(); ++rank) {
      const std::uint32_t first = rank / width * width * size;
      to.addTo(to.at(rank, first, width * size), to.at(rank ^ width, first, width * size));
    }
}
void twice(Statements &to, std::uint32_t size) {
  for (std::uint32_t width = 1; width < to.ranks(); width *= 2)
    for (std::uint32_t rank = 0; rank < to.ranks(); ++rank) {
      const std::uint32_t first = (rank ^ width) / width * width * size;
      to.copy(to.at(rank, first, width * size), to.at(rank ^ width, first, width * size));
    }
}

/// Scatters sums in two levels. In each node, GPU g sums the shares of GPU g of each node. Then GPUs with the same
/// number in their nodes sum over the nodes.
void scatterLevels(Statements &to, std::uint32_t inNode, std::uint32_t between) {
  const std::uint32_t gpus = to.ranksPerNode(), size = to.factor();
  for (std::uint32_t node = 0; node < to.nodes(); ++node)
    for (std::uint32_t part = 0; part < to.nodes(); ++part)
      scatter(to, {node * gpus, 1, gpus}, {part * gpus * size, size, size}, inNode);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    scatter(to, {gpu, gpus, to.nodes()}, {gpu * size, gpus * size, size}, between);
}
void gatherLevels(Statements &to, std::uint32_t inNode, std::uint32_t between) {
  const std::uint32_t gpus = to.ranksPerNode(), size = to.factor();
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    gather(to, {gpu, gpus, to.nodes()}, {gpu * size, gpus * size, size}, between);
  for (std::uint32_t part = 0; part < to.nodes(); ++part)
    for (std::uint32_t node = 0; node < to.nodes(); ++node)
      gather(to, {node * gpus, 1, gpus}, {part * gpus * size, size, size}, inNode);
}

/// The switch of each node sums a share for each GPU. Then GPUs with the same number in their nodes sum over the nodes.
/// At last, the switch multicasts the sums.
void throughSwitch(Statements &to) {
  const std::uint32_t gpus = to.ranksPerNode(), nodes = to.nodes(), size = to.factor();
  const auto share = [&](std::uint32_t node, std::uint32_t gpu, std::uint32_t of) {
    return to.at(node * gpus + gpu, of * nodes * size, nodes * size);
  };
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t of = 0; of < gpus; ++of) {
      std::vector<RankChunk> others;
      for (std::uint32_t step = 1; step < gpus; ++step)
        others.push_back(share(node, (of + step) % gpus, of));
      to.addTo(share(node, of, of), others, ir::Via::Switch);
    }
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    scatter(to, {gpu, gpus, nodes}, {gpu * nodes * size, size, size}, nodes);
    gather(to, {gpu, gpus, nodes}, {gpu * nodes * size, size, size}, nodes);
  }
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t of = 0; of < gpus; ++of) {
      std::vector<RankChunk> all;
      for (std::uint32_t step = 1; step <= gpus; ++step)
        all.push_back(share(node, (of + step) % gpus, of));
      to.copy(all, share(node, of, of), ir::Via::Switch);
    }
}

/// Each rank reads the whole message of all others. The sums replace the inputs, so a copy of each input is kept. All
/// ranks add in the order of ranks, so that they end with the same bits. With many ranks, this needs fewer instructions
/// than sending packets to all ranks.
void oneShotByReads(Statements &to) {
  const std::uint32_t whole = to.ranks() * to.factor();
  std::vector<RankChunk> kept;
  for (std::uint32_t rank = 0; rank < to.ranks(); ++rank) {
    kept.push_back(to.scratch(rank, whole));
    to.copy(kept.back(), to.at(rank, 0, whole));
  }
  for (std::uint32_t rank = 0; rank < to.ranks(); ++rank)
    to.sum(to.at(rank, 0, whole), kept);
}

/// Each member sends `size` chunks from `first` on to all other members. It then sums its own chunks and the chunks
/// that come into its scratch. All members add in the order of the group, so that they end with the same bits.
void exchangeSums(Statements &to, const Group &group, std::uint32_t first, std::uint32_t size) {
  std::vector<std::vector<RankChunk>> parts(group.size()); // [member]: the places that it sums
  for (std::uint32_t from = 0; from < group.size(); ++from) {
    std::vector<RankChunk> places;
    for (std::uint32_t member = 0; member < group.size(); ++member)
      if (member == from)
        parts[member].push_back(to.at(group[member], first, size));
      else
        places.push_back(parts[member].emplace_back(to.scratch(group[member], size)));
    to.copy(places, to.at(group[from], first, size));
  }
  for (std::uint32_t member = 0; member < group.size(); ++member)
    to.sum(to.at(group[member], first, size), parts[member]);
}

/// The GPUs of a node divide the message and sum their shares. GPUs with the same number in their nodes exchange these
/// sums in one round. Then each node gathers the results.
void oneShotBetween(Statements &to) {
  const std::uint32_t gpus = to.ranksPerNode(), nodes = to.nodes(), size = nodes * to.factor();
  for (std::uint32_t node = 0; node < nodes; ++node)
    scatterDirect(to, {node * gpus, 1, gpus}, {0, size, size});
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    exchangeSums(to, {gpu, gpus, nodes}, gpu * size, size);
  for (std::uint32_t node = 0; node < nodes; ++node)
    gather(to, {node * gpus, 1, gpus}, {0, size, size}, gpus);
}

/// A binomial tree: in each round, the number of ranks with the data grows by the factor `radix`. `reversed`: sums go
/// to the root.
void spread(Statements &to, std::uint32_t root, std::uint32_t radix, bool reversed) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> hops;
  const std::uint32_t ranks = to.ranks(), size = to.factor();
  for (std::uint64_t have = 1; have < ranks; have *= radix)
    for (std::uint32_t digit = 1; digit < radix; ++digit)
      for (std::uint32_t from = 0; from < have && digit * have + from < ranks; ++from)
        hops.emplace_back((root + from) % ranks, (root + digit * static_cast<std::uint32_t>(have) + from) % ranks);
  if (reversed)
    std::ranges::reverse(hops);
  for (const auto &[from, to_] : hops)
    if (reversed)
      to.addTo(to.at(from, 0, size), to.at(to_, 0, size));
    else
      to.copy(to.at(to_, 0, size), to.at(from, 0, size));
}

void exchange(Statements &to) {
  const std::uint32_t size = to.factor();
  for (std::uint32_t from = 0; from < to.ranks(); ++from)
    for (std::uint32_t rank = 0; rank < to.ranks(); ++rank)
      to.copy({rank, ir::BufferKind::Output, from * size, size}, {from, ir::BufferKind::Input, rank * size, size});
}

/// An all-to-all in two levels. In each node, GPU g gathers all that is for GPU g of another node, and sends it there
/// as one piece.
void exchangeLevels(Statements &to) {
  const std::uint32_t gpus = to.ranksPerNode(), nodes = to.nodes(), size = to.factor();
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      for (std::uint32_t step = 0; step < nodes; ++step) {
        const std::uint32_t other = (node + step) % nodes, receiver = other * gpus + gpu;
        const RankChunk result{receiver, ir::BufferKind::Output, node * gpus * size, gpus * size};
        const RankChunk gathered = step == 0 ? result : to.scratch(node * gpus + gpu, gpus * size);
        for (std::uint32_t from = 0; from < gpus; ++from)
          to.copy({gathered.rank, gathered.buffer, gathered.index + from * size, size},
                  {node * gpus + from, ir::BufferKind::Input, receiver * size, size});
        if (step != 0)
          to.copy(result, gathered);
      }
}

/// Returns the radices that are tried for a number of ranks: all radices up to this number, or only powers of two and
/// the number itself if there are many ranks.
std::vector<std::uint32_t> radicesOf(std::uint32_t ranks) {
  constexpr std::uint32_t many = 16;
  std::vector<std::uint32_t> radices;
  for (std::uint32_t radix = 2; radix < ranks; radix = ranks <= many ? radix + 1 : 2 * radix)
    radices.push_back(radix);
  if (ranks > 1)
    radices.push_back(ranks);
  return radices;
}

/// Collects the algorithms for a task.
class Collector {
public:
  explicit Collector(const Task &task) : task_(task) {}
  template <typename Write> void add(const std::string &name, Write write) {
    all_.push_back({name, [task = task_, name, write] {
                      Statements to(task, name, 1);
                      write(to);
                      return std::move(to).take();
                    }});
  }
  std::vector<Algorithm> take() && { return std::move(all_); }

private:
  Task task_;
  std::vector<Algorithm> all_;
};

} // namespace

std::vector<Algorithm> symmetricAlgorithms(const Task &task, bool hasSwitch) {
  Collector all(task);
  const std::uint32_t ranks = task.ranks, gpus = task.ranksPerNode, nodes = ranks / gpus;
  const bool scatters = task.kind == CollectiveKind::ReduceScatter || task.kind == CollectiveKind::AllReduce;
  const bool gathers = task.kind == CollectiveKind::AllGather || task.kind == CollectiveKind::AllReduce;
  const auto nameOf = [](std::uint32_t radix, std::uint32_t members) {
    return radix >= members ? std::string("allpairs") : "bruck" + std::to_string(radix);
  };
  const bool isFlat = nodes == 1 || gpus == 1 || ranks <= mostFlat;
  const Group everyone(0, 1, ranks);
  for (const std::uint32_t inNode : std::set{2u, gpus})
    for (const std::uint32_t between : std::set{2u, nodes})
      if ((scatters || gathers) && nodes > 1 && gpus > 1 && inNode <= gpus && between <= nodes)
        all.add("levels_" + nameOf(inNode, gpus) + "_" + nameOf(between, nodes), [=](Statements &to) {
          if (scatters)
            scatterLevels(to, inNode, between);
          if (gathers)
            gatherLevels(to, inNode, between);
        });
  for (const std::uint32_t radix : radicesOf((scatters || gathers) && isFlat ? ranks : 1))
    all.add(nameOf(radix, ranks), [=](Statements &to) {
      if (scatters)
        scatter(to, everyone, {0, 1, 1}, radix);
      if (gathers)
        gather(to, everyone, {0, 1, 1}, radix);
    });
  if ((scatters || gathers) && isFlat && std::has_single_bit(ranks) && ranks > 2)
    all.add("doubling", [=](Statements &to) {
      if (scatters)
        halve(to, 1);
      if (gathers)
        twice(to, 1);
    });
  if (task.kind == CollectiveKind::AllReduce && ranks <= (nodes == 1 ? mostOneShotInNode : mostOneShot)) {
    all.add("oneshot", [=](Statements &to) { exchangeSums(to, everyone, 0, ranks); });
    all.add("oneshot_reads", oneShotByReads);
  }
  if (task.kind == CollectiveKind::AllReduce && nodes > 1 && gpus > 1 && nodes <= mostOneShot)
    all.add("levels_allpairs_oneshot", oneShotBetween);
  if (task.kind == CollectiveKind::AllReduce && hasSwitch && gpus > 1)
    all.add("switch", throughSwitch);
  const bool reduces = task.kind == CollectiveKind::Reduce;
  for (const std::uint32_t radix : radicesOf(reduces || task.kind == CollectiveKind::Broadcast ? ranks : 1))
    all.add(radix == ranks ? "direct" : "tree" + std::to_string(radix),
            [=](Statements &to) { spread(to, task.root, radix, reduces); });
  if (task.kind == CollectiveKind::AllToAll)
    all.add("direct", exchange);
  if (task.kind == CollectiveKind::AllToAll && nodes > 1 && gpus > 1)
    all.add("levels", exchangeLevels);
  return std::move(all).take();
}

} // namespace mscclc::passes::synthesize
