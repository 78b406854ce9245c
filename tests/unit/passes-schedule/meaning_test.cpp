// What statements mean, and what is wrong with them.
#include "statements.h"

#include <algorithm>
#include <cmath>
#include <ctime>

using namespace mscclc;
using namespace mscclc::passes::schedule;
using ir::CollectiveKind;
using ir::ReduceOp;

namespace {

/// Every rank reduces chunk `rank` of all ranks, and copies it to all.
Statements allPairsStatements(std::uint32_t ranks, bool inplace = false) {
  Statements s(CollectiveKind::AllReduce, ranks, ranks, ranks, inplace);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankChunks srcs, others;
    for (std::uint32_t of = 0; of < ranks; ++of)
      srcs.push_back(in((rank + of) % ranks, rank));
    s.reduce({out(rank, rank)}, srcs);
    for (std::uint32_t to = 0; to < ranks; ++to)
      if (to != rank)
        s.copy({out(to, rank)}, out(rank, rank));
  }
  return s;
}

Statements allGatherStatements(std::uint32_t ranks, bool inplace) {
  Statements s(CollectiveKind::AllGather, ranks, 1, ranks, inplace);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t to = 0; to < ranks; ++to)
      s.copy({out(to, rank)}, in(rank, 0));
  return s;
}

} // namespace

TEST_CASE("statements that do what the collective promises") {
  for (const bool inplace : {false, true}) {
    CHECK(ask(allPairsStatements(4, inplace)).text == "");
    CHECK(ask(allGatherStatements(4, inplace)).text == "");
  }
}

TEST_CASE("in place, output that is input need not be written") {
  Statements s(CollectiveKind::AllGather, 2, 1, 2, true);
  s.copy({out(1, 0)}, out(0, 0)).copy({out(0, 1)}, in(1, 0));
  CHECK(ask(s).text == "");
  s.program.collective.inplace = false;
  CHECK(ask(s).text == "statement 0: error: output[0] of rank 0 is read, but no statement before this one writes it "
                       "[meaning-read-unwritten]\n"
                       "program 'by hand': error: no statement writes output[0] of rank 0, output[1] of rank 1: this "
                       "allgather of 2 ranks with chunk factor 1 has 2 output chunks on each [meaning-not-written]\n"
                       "2 errors generated.\n");
}

TEST_CASE("all ranks' sources are read before anything is written") {
  Statements s(CollectiveKind::Test, 2, 2, 2);
  s.copy({out(0, 0, 2)}, in(1, 0, 2));
  s.reduce({out(0, 0, 2), out(1, 0, 2)}, {in(0, 0, 2), out(0, 0, 2)});
  const Asked asked = ask(s);
  REQUIRE(asked.meaning);
  CHECK(asked.meaning->outputs[0] == asked.meaning->outputs[1]);
}

TEST_CASE("a read of what no statement wrote") {
  Statements s(CollectiveKind::Test, 2, 2, 2, false, 3);
  s.copy({scratch(0, 0)}, in(1, 0));
  s.copy({out(0, 0, 2)}, scratch(0, 0, 2)); // scratch[1] is written later
  s.copy({out(1, 0, 2)}, out(0, 0, 2));     // made of that, and not reported again
  s.copy({scratch(0, 1)}, in(1, 1));
  s.reduce({out(1, 0)}, {in(0, 0), scratch(1, 2)}); // never written
  CHECK(ask(s).text == "statement 1: error: scratch[1] of rank 0 is read, but no statement before this one writes it "
                       "[meaning-read-unwritten]\n"
                       "statement 3: note: it is first written here\n"
                       "statement 4: error: scratch[2] of rank 1 is read, but no statement before this one writes it "
                       "[meaning-read-unwritten]\n"
                       "2 errors generated.\n");
}

TEST_CASE("operands that overlap") {
  Statements s(CollectiveKind::Test, 2, 4, 4, false, 8);
  s.copy({out(0, 0, 3)}, in(0, 0, 3));
  s.reduce({out(0, 0, 2)}, {out(0, 0, 2), in(0, 0, 2), in(0, 0, 2)}); // equal or disjoint
  s.copy({out(0, 1, 2)}, out(0, 0, 2));
  s.copy({out(1, 0, 2), scratch(1, 0, 2), out(1, 1, 2)}, in(0, 0, 2));
  s.copy({out(1, 0), out(1, 2), out(1, 0)}, in(0, 0));
  CHECK(ask(s).text ==
        "statement 2: error: output[0:2] of rank 0 and output[1:3] of rank 0 overlap: operands of a statement have to "
        "be equal or disjoint [meaning-overlap]\n"
        "statement 3: error: output[0:2] of rank 1 and output[1:3] of rank 1 overlap: operands of a statement have to "
        "be equal or disjoint [meaning-overlap]\n"
        "statement 4: error: output[0] of rank 1 and output[0] of rank 1 are both destinations, and the same memory: "
        "name one of them [meaning-same-destination]\n"
        "3 errors generated.\n");
}

TEST_CASE("operands that overlap in place alone") {
  for (const bool inplace : {true, false}) {
    Statements s(CollectiveKind::AllGather, 2, 2, 4, inplace);
    s.copy({out(0, 2, 2), out(1, 0, 2)}, in(1, 0, 2));
    s.copy({out(0, 0, 2), out(1, 0, 2)}, in(0, 0, 2)).copy({out(1, 2, 2)}, out(0, 2, 2));
    CHECK(ask(s).text == ""); // equal in place
    s.copy({out(1, 1, 2)}, in(1, 0, 2)).copy({in(1, 0), out(1, 2)}, in(1, 0));
    const Asked asked = ask(s);
    CHECK((asked.text.find("statement 3: error: input[0:2] of rank 1 and output[1:3] of rank 1 overlap in place: ") !=
           asked.text.npos) == inplace);
    CHECK((asked.text.find("statement 4: error: input[0] of rank 1 and output[2] of rank 1 are both destinations, and "
                           "the same memory in place: ") != asked.text.npos) == inplace);
  }
}

TEST_CASE("writing inputs is a warning out of place") {
  for (const bool inplace : {false, true}) {
    Statements s(CollectiveKind::AllReduce, 2, 2, 2, inplace);
    s.reduce({in(0, 0, 2)}, {in(0, 0, 2), in(1, 0, 2)});
    s.copy({out(0, 0, 2), out(1, 0, 2)}, in(0, 0, 2));
    const Asked asked = ask(s);
    CHECK(asked.errors == 0);
    CHECK(asked.text ==
          (inplace ? ""
                   : "statement 0: warning: this overwrites input[0:2] of rank 0, which is its user's, as the "
                     "collective is not in place [meaning-input-written]\n1 warning generated.\n"));
    REQUIRE(asked.meaning);
    CHECK(asked.meaning->inputs[0] == asked.meaning->outputs[1]);
    CHECK((asked.meaning->inputs[1] == asked.meaning->outputs[1]) == inplace);
  }
}

TEST_CASE("a chunk copied onto itself stays what it is") {
  Statements s(CollectiveKind::AllGather, 2, 1, 2, true);
  s.copy({out(0, 0), out(1, 0)}, out(0, 0)).copy({out(1, 1)}, in(1, 0)).copy({out(0, 1)}, in(1, 0));
  CHECK(ask(s).text == "");
}

TEST_CASE("the promise of the collective") {
  Statements s = allPairsStatements(3);
  auto &movement = s.program.movement;
  SECTION("a part is missing") {
    movement.statements[3].numSrcs = 2; // of rank 1: its own part and rank 2's
    movement.places.erase(movement.places.begin() + movement.statements[3].firstPlace + 2);
    for (std::size_t i = 4; i < movement.statements.size(); ++i)
      --movement.statements[i].firstPlace;
    CHECK(ask(s).text == "statement 3: error: output[1] of rank 0 lacks rank 0's part, input[1] [meaning-lacks]\n"
                         "statement 4: note: the result is copied to output[1] of rank 0 here\n"
                         "1 error generated.\n");
  }
  SECTION("a part is there twice") {
    s.reduce({out(2, 0)}, {out(2, 0), in(1, 0)});
    CHECK(ask(s).text ==
          "statement 9: error: output[0] of rank 2 has rank 1's part, input[0], in it twice [meaning-twice]\n"
          "1 error generated.\n");
  }
  SECTION("a part of another chunk") {
    s.reduce({out(2, 0)}, {out(2, 0), in(1, 2)});
    CHECK(ask(s).text == "statement 9: error: output[0] of rank 2 has input[2] of rank 1 in it, which does not belong "
                         "there [meaning-foreign]\n1 error generated.\n");
  }
  SECTION("reduce operations are mixed") {
    s.reduce({out(2, 0)}, {in(0, 0), in(1, 0)}).reduce({out(2, 0)}, {out(2, 0), in(2, 0)}, ReduceOp::Max);
    CHECK(ask(s).text ==
          "statement 10: error: output[0] of rank 2 ends as a mix of different reduce operations [meaning-mixed-ops]\n"
          "1 error generated.\n");
  }
  SECTION("chunks are reduced with different operations") {
    s.reduce({out(2, 1)}, {in(0, 1), in(1, 1), in(2, 1)}, ReduceOp::Min);
    CHECK(ask(s).text ==
          "statement 9: error: output[1] of rank 2 is reduced with min, other chunks with sum [meaning-ops-differ]\n"
          "statement 0: note: output[0] of rank 0 is reduced with sum here\n"
          "1 error generated.\n");
  }
  SECTION("nothing is written") {
    s.program.movement = {};
    CHECK(ask(s).text ==
          "program 'by hand': error: no statement writes output[0:3] of ranks 0 to 2: this allreduce of 3 "
          "ranks with chunk factor 1 has 3 output chunks on each [meaning-not-written]\n"
          "1 error generated.\n");
  }
  SECTION("in place, where nothing is written an input lies") {
    s.program.movement = {};
    s.program.collective.inplace = true;
    CHECK(ask(s).text ==
          "program 'by hand': error: no statement writes output[0:3] of ranks 0 to 2: this allreduce of 3 "
          "ranks with chunk factor 1 has 3 output chunks on each [meaning-not-written]\n"
          "1 error generated.\n");
  }
}

TEST_CASE("an input where another belongs") {
  Statements s = allGatherStatements(2, false);
  s.copy({out(1, 0)}, in(1, 0));
  CHECK(ask(s).text == "statement 4: error: output[0] of rank 1 ends as input[0] of rank 1; input[0] of rank 0 belongs "
                       "there [meaning-other-input]\n1 error generated.\n");
}

TEST_CASE("max may take a part twice") {
  Statements s(CollectiveKind::AllReduce, 2, 2, 2);
  s.reduce({out(0, 0, 2)}, {in(0, 0, 2), in(1, 0, 2)}, ReduceOp::Max);
  s.reduce({out(1, 0, 2)}, {out(0, 0, 2), in(1, 0, 2)}, ReduceOp::Max);
  CHECK(ask(s).text == "");
}

TEST_CASE("a custom collective is held to what it states") {
  Statements s(CollectiveKind::Custom, 2, 1, 2);
  s.copy({out(0, 0)}, in(1, 0));
  CHECK(ask(s).text == "");
  s.program.collective.expectations.push_back({0, 0, {{0, 0}}, ir::noLoc});
  CHECK(ask(s).text == "statement 0: error: output[0] of rank 0 ends as input[0] of rank 1; input[0] of rank 0 belongs "
                       "there [meaning-other-input]\n1 error generated.\n");
}

TEST_CASE("the search ends after many errors") {
  Statements s(CollectiveKind::Test, 2, 1, 1, false, 1);
  for (int i = 0; i < 1000; ++i)
    s.copy({out(0, 0)}, scratch(1, 0)).copy({scratch(1, 0), scratch(1, 0)}, in(0, 0));
  CHECK(ask(s).errors == 100);
}

TEST_CASE("warnings end after many") {
  Statements s(CollectiveKind::Test, 2, 1, 1);
  for (int i = 0; i < 1000; ++i)
    s.copy({in(0, 0)}, in(1, 0));
  const Asked asked = ask(s);
  CHECK(asked.meaning);
  CHECK(asked.warnings == 100);
}

TEST_CASE("too much to follow") {
  Statements s(CollectiveKind::Test, 2, 1, 1, false, 0xffffffff);
  CHECK(ask(s).text == "program 'by hand': error: not checked: 8589934594 chunks are too many to follow; up to "
                       "67108864 are followed [meaning-too-large]\n1 error generated.\n");
  Statements t(CollectiveKind::Test, 1, 1 << 20, 1 << 20);
  for (int i = 0; i < 65; ++i)
    t.copy({out(0, 0, 1 << 20)}, in(0, 0, 1 << 20));
  CHECK(ask(t).text == "program 'by hand': error: not checked: 136314880 chunk operands are too many to follow; up to "
                       "134217728 are followed [meaning-too-large]\n1 error generated.\n");
}

TEST_CASE("the cost grows with the chunks that statements touch") {
  // Seconds of the processor, which other tests use as well: the less of two runs.
  const auto seconds = [](const Statements &statements) {
    double least = INFINITY;
    for (int run = 0; run < 2; ++run) {
      const std::clock_t start = std::clock();
      CHECK(ask(statements).errors == 0);
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  // Twice the ranks touch four times the chunks. If each statement cost as much as all chunks, it would be 16 times.
  CHECK(seconds(allPairsStatements(64)) < 10 * seconds(allPairsStatements(32)));
  CHECK(seconds(allGatherStatements(256, true)) < 10 * seconds(allGatherStatements(128, true)));
}
