// What fuse merges: every rule of fusion_rules.h, and what keeps neighbours apart.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

struct Pair {
  const char *left, *right, *merged;
};

// One row for each rule.
const Pair merging[] = {
    {"sem_acquire [0]", "sem_acquire [0]", "sem_acquire [0, 0]"},
    {"sem_release [1]", "sem_release [0]", "sem_release [1, 0]"},
    {"signal memory [0]", "signal memory [1]", "signal memory [0, 1]"},
    {"wait port [1]", "wait port [0]", "wait port [1, 0]"},
    {"rlxsignal memory [0]", "rlxsignal memory [1]", "rlxsignal memory [0, 1]"},
    {"rlxwait memory [0]", "rlxwait memory [1]", "rlxwait memory [0, 1]"},
    {"flush port [0, 1]", "flush port [1, 2]", "flush port [0, 1, 2]"},
    {"get memory [0] output[0:1] <- remote0[0:1]", "get memory [1] output[2:3] <- remote0[1:2]",
     "get memory [0, 1] output[0:1], output[2:3] <- remote0[0:1], remote0[1:2]"},
    {"put memory remote0[0:1] <- input[0:1]", "put memory remote1[1:2] <- input[2:3]",
     "put memory remote0[0:1], remote1[1:2] <- input[0:1], input[2:3]"},
    {"put port [0] remote0[0:1] <- input[0:1]", "put port [1] remote1[1:2] <- scratch[2:3]",
     "put port [0, 1] remote0[0:1], remote1[1:2] <- input[0:1], scratch[2:3]"},
    {"pws port [0] remote0[0:1] <- input[0:1]", "pws port [1] remote1[1:2] <- input[2:3]",
     "pws port [0, 1] remote0[0:1], remote1[1:2] <- input[0:1], input[2:3]"},
    {"pwsf port [0] remote0[0:1] <- input[0:1]", "pwsf port [1] remote1[1:2] <- input[2:3]",
     "pwsf port [0, 1] remote0[0:1], remote1[1:2] <- input[0:1], input[2:3]"},
    {"ppkt memory remote2[0:1] <- input[0:1]", "ppkt memory remote2[1:2] <- input[2:3]",
     "ppkt memory remote2[0:1], remote2[1:2] <- input[0:1], input[2:3]"},
    {"rppkt memory remote2[0:1] <- scratch[0:1]", "rppkt memory remote2[1:2] <- scratch[0:1]",
     "rppkt memory remote2[0:1], remote2[1:2] <- scratch[0:1]"},
    {"re input[0:1] <- input[0:1], input[1:2]", "re input[0:1] <- input[0:1], scratch[2:3]",
     "re input[0:1] <- input[0:1], input[1:2], scratch[2:3]"},
    {"repkt input[0:1] <- input[0:1], scratch[1:2]", "repkt input[0:1] <- input[0:1], scratch[2:3]",
     "repkt input[0:1] <- input[0:1], scratch[1:2], scratch[2:3]"},
    {"rre memory input[0:1] <- input[0:1], remote0[0:1]", "rre memory input[0:1] <- input[0:1], remote0[1:2]",
     "rre memory input[0:1] <- input[0:1], remote0[0:1], remote0[1:2]"},
    {"re output[0:1] <- input[0:1], input[1:2]", "put memory remote0[3:4] <- output[0:1]",
     "res memory output[0:1], remote0[3:4] <- input[0:1], input[1:2]"},
    {"res memory output[0:1], remote0[3:4] <- input[0:1], input[1:2]", "put memory remote1[0:1] <- output[0:1]",
     "res memory output[0:1], remote0[3:4], remote1[0:1] <- input[0:1], input[1:2]"},
    {"rre memory output[0:1] <- input[0:1], remote0[0:1]", "put memory remote0[3:4] <- output[0:1]",
     "rres memory output[0:1], remote0[3:4] <- input[0:1], remote0[0:1]"},
    {"rres memory output[0:1], remote0[3:4] <- input[0:1], remote0[0:1]", "put memory remote1[0:1] <- output[0:1]",
     "rres memory output[0:1], remote0[3:4], remote1[0:1] <- input[0:1], remote0[0:1]"},
    {"repkt output[0:1] <- input[0:1], scratch[1:2]", "ppkt memory remote2[0:1] <- output[0:1]",
     "respkt memory output[0:1], remote2[0:1] <- input[0:1], scratch[1:2]"},
    {"respkt memory output[0:1], remote2[0:1] <- input[0:1], scratch[1:2]", "ppkt memory remote2[1:2] <- output[0:1]",
     "respkt memory output[0:1], remote2[0:1], remote2[1:2] <- input[0:1], scratch[1:2]"},
    {"repkt output[0:1] <- input[0:1], scratch[1:2]", "cpkt scratch[5:6] <- output[0:1]",
     "recpkt output[0:1], scratch[5:6] <- input[0:1], scratch[1:2]"},
    {"recpkt output[0:1], scratch[5:6] <- input[0:1], scratch[1:2]", "ppkt memory remote2[1:2] <- output[0:1]",
     "recspkt memory output[0:1], scratch[5:6], remote2[1:2] <- input[0:1], scratch[1:2]"},
    {"recpkt output[0:1], scratch[5:6] <- input[0:1], scratch[1:2]", "rppkt memory remote2[1:2] <- scratch[5:6]",
     "recspkt memory output[0:1], scratch[5:6], remote2[1:2] <- input[0:1], scratch[1:2]"},
    {"recspkt memory output[0:1], scratch[5:6], remote2[1:2] <- input[0:1], scratch[1:2]",
     "ppkt memory remote2[0:1] <- output[0:1]",
     "recspkt memory output[0:1], scratch[5:6], remote2[1:2], remote2[0:1] <- input[0:1], scratch[1:2]"},
    {"recspkt memory output[0:1], scratch[5:6], remote2[1:2] <- input[0:1], scratch[1:2]",
     "rppkt memory remote2[0:1] <- scratch[5:6]",
     "recspkt memory output[0:1], scratch[5:6], remote2[1:2], remote2[0:1] <- input[0:1], scratch[1:2]"},
    {"glre switch [0] output[2:3] <- switch0[2:3] reduce_op max", "gstore switch [0] switch0[2:3] <- output[2:3]",
     "glres switch [0] switch0[2:3] <- switch0[2:3] reduce_op max"},
    {"glre switch [0] scratch[2:3] <- switch0[2:3]", "gstore switch [1] switch1[2:3] <- scratch[2:3]",
     "glres switch [0, 1] switch1[2:3] <- switch0[2:3]"},
};

// One row for each condition.
const std::pair<const char *, const char *> apart[] = {
    {"signal memory [0]", "signal memory [0]"},                                                   // one channel
    {"signal memory [0]", "signal port [1]"},                                                     // two types
    {"signal memory [0]", "rlxsignal memory [1]"},                                                // two kinds
    {"get memory [0] output[0:1] <- remote0[0:1]", "get memory [0] output[2:4] <- remote0[0:2]"}, // two sizes
    {"put memory remote0[0:1] <- input[0:1]", "put port [0] remote0[1:2] <- input[2:3]"},         // two types
    {"pws port [0] remote0[0:1] <- input[0:1]", "pws port [0] remote1[1:2] <- input[2:3]"}, // one queue, two threads
    {"put memory remote0[0:1] <- input[0:1] slice 0 of 2", "put memory remote0[1:2] <- input[2:3]"}, // a group
    {"put memory remote0[0:1] <- input[0:1]", "put memory remote0[1:2] <- scratch[2:3]"},            // two buffers
    {"rppkt memory remote2[0:1] <- scratch[0:1]", "rppkt memory remote2[1:2] <- scratch[1:2]"},      // two sources
    {"re input[0:1] <- input[0:1], input[1:2]", "re input[0:1] <- input[0:1], input[2:3] reduce_op max"},
    {"re output[0:1] <- input[0:1], input[1:2]", "re output[0:1] <- input[0:1], input[2:3]"}, // does not accumulate
    {"re input[0:1] <- input[0:1], input[1:2]", "re input[0:1] <- input[0:1], input[0:1]"},   // reads the sum
    {"repkt scratch[2:3] <- scratch[2:3], scratch[5:6]", "repkt scratch[2:3] <- scratch[2:3], scratch[1:2]"},
    {"re output[0:1] <- input[0:1], input[1:2]", "put memory remote0[0:1] <- input[0:1]"}, // not the result
    {"re output[0:1] <- input[0:1], input[1:2]", "put port [0] remote0[0:1] <- output[0:1]"},
    {"repkt output[0:1] <- input[0:1], scratch[1:2]", "put memory remote0[0:1] <- output[0:1]"},
    {"copy output[0:1] <- input[0:1]", "copy output[1:2] <- input[1:2]"},
    {"glre switch [0] output[2:3] <- switch0[2:3]", "gstore switch [0] switch0[3:4] <- output[2:3]"}, // lost result
    {"glre switch [0] input[2:3] <- switch0[2:3]", "gstore switch [0] switch0[2:3] <- input[2:3]"},
};

TEST_CASE("each rule merges") {
  for (const Pair &pair : merging) {
    const std::string both = std::string(pair.left) + "\n" + pair.right + "\n";
    CHECK(opsAfter("fuse", both) == std::string(pair.merged) + "\n");
    CHECK(opsAfter("fuse", both, "fuse off\n") == both);
  }
}

TEST_CASE("each condition keeps neighbours apart") {
  for (const auto &[left, right] : apart) {
    const std::string both = std::string(left) + "\n" + right + "\n";
    CHECK(opsAfter("fuse", both) == both);
  }
}

TEST_CASE("merging goes on to the right") {
  CHECK(opsAfter("fuse", "repkt input[0:1] <- input[0:1], scratch[0:1]\n"
                         "repkt input[0:1] <- input[0:1], scratch[1:2]\n"
                         "cpkt scratch[2:3] <- input[0:1]\n"
                         "ppkt memory remote2[0:1] <- input[0:1]\n"
                         "rppkt memory remote2[1:2] <- scratch[2:3]\n"
                         "copy output[0:1] <- input[0:1]") ==
        "recspkt memory input[0:1], scratch[2:3], remote2[0:1], remote2[1:2] <- input[0:1], scratch[0:1], "
        "scratch[1:2]\n"
        "copy output[0:1] <- input[0:1]\n");
}

TEST_CASE("in place, a reduce that writes what it reads under another name accumulates") {
  const char *chain = "re input[0:1] <- output[0:1], scratch[1:2]\nre input[0:1] <- output[0:1], scratch[2:3]\n";
  CHECK(opsAfter("fuse", chain) == chain);
  CHECK(opsAfter("fuse", chain, "collective allreduce inplace\n") ==
        "re input[0:1] <- output[0:1], scratch[1:2], scratch[2:3]\n");
}

TEST_CASE("a merged operation keeps both places") {
  const Outcome outcome = runPasses(parseProgram(programText("signal memory [0] @1\nsignal memory [1] @2") +
                                                 "locations {\nfile0 = \"a.cpp\"\n@1 = file0:3:1\n@2 = file0:4:1\n}\n"),
                                    "fuse");
  const auto &sources = outcome.program.sources;
  const auto places = sources.places(outcome.program.ranks[0].blocks[0].ops.at(0).loc);
  REQUIRE(places.size() == 2);
  CHECK(sources.get(places[0]).line == 3);
  CHECK(sources.get(places[1]).line == 4);
}

} // namespace
