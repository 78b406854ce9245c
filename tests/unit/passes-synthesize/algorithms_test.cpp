// Programs compute what their collective promises, whatever the number of ranks.
#include "catch.h"
#include "ir/diagnostics.h"
#include "ir/structure.h"
#include "passes/schedule/meaning.h"
#include "passes/synthesize/algorithms.h"
#include "topologies.h"

#include <set>

using namespace mscclc;
using namespace mscclc::passes::synthesize;
using ir::CollectiveKind;

namespace {

/// Returns the errors and warnings about the statements of `program`.
std::string faultsOf(const ir::Program &program) {
  ir::DiagnosticEngine diags;
  if (ir::checkStructure(program, diags))
    passes::schedule::meaningOf(program, diags);
  return diags.render(false);
}

constexpr CollectiveKind kinds[] = {CollectiveKind::AllGather, CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                                    CollectiveKind::AllToAll,  CollectiveKind::Broadcast, CollectiveKind::Reduce};

TEST_CASE("symmetric algorithms are right for every number of ranks", "[slow]") {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks)
    for (std::uint32_t gpus = 1; gpus <= ranks; ++gpus)
      for (const CollectiveKind kind : kinds) {
        if (ranks % gpus != 0)
          continue;
        std::set<std::string> names;
        for (const Algorithm &algorithm : symmetricAlgorithms({kind, ranks, gpus, ranks / 2}, true)) {
          INFO(ranks << " ranks, " << gpus << " on a node, " << ir::toString(kind) << " " << algorithm.name);
          CHECK(names.insert(algorithm.name).second);
          const ir::Program program = algorithm.write();
          CHECK(program.name == std::string(ir::toString(kind)) + "_" + algorithm.name);
          CHECK(faultsOf(program) == "");
        }
        CHECK(!names.empty());
      }
}

TEST_CASE("each radix, doubling, levels, one shot and the switch are among them") {
  const auto namesOf = [](const Task &task, bool hasSwitch) {
    std::set<std::string> names;
    for (const Algorithm &algorithm : symmetricAlgorithms(task, hasSwitch))
      names.insert(algorithm.name);
    return names;
  };
  CHECK(namesOf({CollectiveKind::AllReduce, 4, 4}, true) ==
        std::set<std::string>{"allpairs", "bruck2", "bruck3", "doubling", "oneshot", "oneshot_reads", "switch"});
  CHECK(namesOf({CollectiveKind::AllReduce, 72, 72}, true).contains("oneshot"));
  CHECK(!namesOf({CollectiveKind::AllReduce, 32, 8}, true).contains("oneshot"));
  CHECK(namesOf({CollectiveKind::AllGather, 4, 2}, true) ==
        std::set<std::string>{"allpairs", "bruck2", "bruck3", "doubling", "levels_allpairs_allpairs"});
  CHECK(namesOf({CollectiveKind::ReduceScatter, 6, 3}, false).contains("levels_bruck2_allpairs"));
  CHECK(namesOf({CollectiveKind::AllReduce, 6, 3}, false).contains("levels_allpairs_oneshot"));
  // With many ranks on several nodes, only those remain in which one rank represents all.
  CHECK(namesOf({CollectiveKind::AllGather, 64, 8}, false).contains("bruck2"));
  CHECK(namesOf({CollectiveKind::AllGather, 128, 128}, false).contains("bruck2"));
  CHECK(namesOf({CollectiveKind::AllGather, 128, 1}, false).contains("bruck2"));
  CHECK(namesOf({CollectiveKind::AllGather, 128, 8}, false) ==
        std::set<std::string>{"levels_allpairs_allpairs", "levels_allpairs_bruck2", "levels_bruck2_allpairs",
                              "levels_bruck2_bruck2"});
  CHECK(namesOf({CollectiveKind::Broadcast, 5, 5}, false) ==
        std::set<std::string>{"direct", "tree2", "tree3", "tree4"});
  CHECK(namesOf({CollectiveKind::AllToAll, 5, 5}, false) == std::set<std::string>{"direct"});
}

TEST_CASE("programs of trees are right, with trees of any weight") {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const passes::time::LinkGraph graph = tests::randomLinks(random, 8);
    passes::time::LinkGraph back = graph;
    for (passes::time::Link &link : back.links)
      std::swap(link.from, link.to);
    for (const CollectiveKind kind : kinds) {
      if (kind == CollectiveKind::AllToAll)
        continue;
      INFO("round " << round << " " << ir::toString(kind));
      const bool isRooted = kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce;
      const std::uint32_t root = graph.gpus / 2;
      std::vector<bool> isSource(graph.gpus, !isRooted);
      isSource[root] = true;
      const Forest down = growForest(graph, isSource);
      const Forest up = growForest(back, isSource, {down.trees, down.trees});
      const Task task{kind, graph.gpus, graph.gpus, root};
      const ir::Program program = treeProgram(task, "trees", down, up);
      CHECK(faultsOf(program) == "");
      CHECK(program.collective.chunkFactor == down.trees);
      // The other direction may need another number of trees. A collective that only sums does not use its trees.
      if (!task.spreads()) {
        const Forest own = growForest(back, isSource, {down.trees + 1, down.trees + 1});
        const ir::Program alone = treeProgram(task, "trees", down, own);
        CHECK(faultsOf(alone) == "");
        CHECK(alone.collective.chunkFactor == down.trees + 1);
      }
    }
  }
}

TEST_CASE("trees of one root may carry an all-reduce, a part of the message each") {
  const passes::time::LinkGraph graph = passes::time::linksOf(tests::topology("dgx1-v100"));
  std::vector<bool> isSource(graph.gpus, false);
  isSource[3] = true;
  const Forest forest = growForest(graph, isSource);
  CHECK(faultsOf(treeProgram({CollectiveKind::AllReduce, 8, 8}, "rooted", forest, forest)) == "");
}

} // namespace
