// Tests which operations fusing would move to other threads although one thread did them in order: see
// passes/analysis/thread_order.h. Single calls are in tests/lit/passes/fuse-one-thread.ir. Here are operations that
// several threads do already, and cases that depend on the program around a block.
#include "../passes/ir_text.h"

#include <random>

using namespace mscclc::passes;

namespace {

const char *const lowered = "fuse,lower-data-sync";
const std::string loop = "pipeline unit_size 64 num_chunks 2 {\n";

TEST_CASE("an order of threads that stay the same is kept by fusing") {
  for (const auto &[in, out] : {
           // Thread 1 told of its put before, and does now.
           std::pair("put port [0, 1] remote0[0:1], remote0[1:2] <- input[0:1], input[1:2]\n"
                     "signal port [0]\nsignal port [1]",
                     "put port [0, 1] remote0[0:1], remote0[1:2] <- input[0:1], input[1:2]\nsignal port [0, 1]\n"),
           // Thread 0 told of nothing that thread 1 had put, so there is no order to lose.
           std::pair("put port [0, 1] remote0[0:1], remote0[1:2] <- input[0:1], input[1:2]\n"
                     "signal port [2]\nsignal port [3]",
                     "put port [0, 1] remote0[0:1], remote0[1:2] <- input[0:1], input[1:2]\nsignal port [2, 3]\n"),
           std::pair("wait memory [0, 1]\nnop\nsignal memory [2]\nsignal memory [3]",
                     "wait memory [0, 1]\nnop\nsignal memory [2, 3]\n"),
           std::pair("wait memory [0]\nwait memory [1]\nput port [0] remote0[0:1] <- input[0:1]",
                     "wait memory [0]\nwait memory [1]\nput port [0] remote0[0:1] <- input[0:1]\n"),
           std::pair("wait memory [0]\nsignal memory [0, 1]\nsignal memory [2]",
                     "wait memory [0]\nsignal memory [0, 1]\nsignal memory [2]\n"),
       })
    CHECK(opsAfter(lowered, in) == out);
}

TEST_CASE("what the second of two threads ordered counts as well") {
  // Thread 1 of the merged put would be thread 2.
  const std::string ops = "wait memory [0, 1]\nput port [0] remote0[0:1] <- input[0:1]\n"
                          "put port [1, 2] remote0[1:2], remote0[2:3] <- input[1:2], input[2:3]\n";
  CHECK(opsAfter(lowered, ops) == ops);
  const std::string signals = "put port [0, 1] remote0[0:1], remote0[1:2] <- input[0:1], input[1:2]\n"
                              "signal port [2]\nsignal port [0, 1]\n";
  CHECK(opsAfter(lowered, signals) == signals);
}

TEST_CASE("a signal that relays is not one of several threads' signals") {
  for (const std::string &ops :
       {std::string("signal memory [0]\nsignal memory [1]\nwait memory [2]\nsignal memory [1]\n"),
        std::string("sem_release [0]\nsem_release [1]\nsem_acquire [2]\nsem_release [1]\n")})
    CHECK(opsAfter(lowered, ops) == ops);
  // Of two that tell the same either may come first.
  CHECK(opsAfter(lowered, "signal memory [0]\nsignal memory [1]\nsignal memory [1]\nsignal memory [0]\n") ==
        "signal memory [0, 1]\nsignal memory [1, 0]\n");
}

TEST_CASE("a sync that would move to the front keeps apart what brings it") {
  for (const std::string &ops :
       {std::string("wait memory [0]\nwait memory [1] sync before\nupkt output[0:1] <- scratch[0:1]\n"),
        std::string("sem_acquire [0]\nsem_acquire [1] sync before\nget memory [0] output[0:1] <- remote0[0:1]\n"),
        std::string("flush port [0]\nflush port [1] sync before\nsignal memory [0]\n"),
        std::string("wait memory [0, 1]\nwait memory [2] sync before\nsignal memory [3, 4]\n")}) {
    const std::string kept = std::regex_replace(ops, std::regex("([a-z_]+ ?[a-z]* \\[\\d\\]) sync before"), "nop\n$1");
    CHECK(opsAfter(lowered, ops) == kept);
  }
  // The same thread goes on, in whatever phase.
  CHECK(opsAfter(lowered, "wait memory [0]\nwait memory [1] sync before\nnop\nsignal memory [3]\n") ==
        "nop\nwait memory [0, 1]\nnop\nsignal memory [3]\n");
}

TEST_CASE("a merged flush is the thread of its channel's first place") {
  CHECK(opsAfter(lowered, "put port [0] remote0[0:1] <- input[0:1]\nput port [1] remote0[1:2] <- input[1:2]\n"
                          "flush port [0]\nflush port [0]\nflush port [1]\n") ==
        "put port [0, 1] remote0[0:1], remote0[1:2] <- input[0:1], input[1:2]\nflush port [0, 1]\n");
}

TEST_CASE("two names may stand for one memory") {
  const std::string ops = "put port [0] remote0[2:3] <- input[0:1]\nput port [0] remote1[2:3] <- input[1:2]\n";
  CHECK(opsAfter(lowered, ops) ==
        "put port [0, 0] remote0[2:3], remote1[2:3] <- input[0:1], input[1:2]\n"); // input and output
  CHECK(opsAfter(lowered, ops, "collective allreduce inplace\n") == ops);
  // Packet chunk 1 lies where plain chunks 2 and 3 do.
  const std::string packets = "put port [1] remote2[2:3] <- input[0:1]\nppkt port [0] remote2[4:5] <- scratch[1:2]\n"
                              "ppkt port [1] remote2[1:2] <- scratch[2:3]\n";
  CHECK(opsAfter(lowered, packets) == packets);
  CHECK(opsAfter(lowered, "put port [1] remote2[1:2] <- input[0:1]\nppkt port [0] remote2[4:5] <- scratch[1:2]\n"
                          "ppkt port [1] remote2[1:2] <- scratch[2:3]\n") ==
        "put port [1] remote2[1:2] <- input[0:1]\nppkt port [0, 1] remote2[4:5], remote2[1:2] <- scratch[1:2], "
        "scratch[2:3]\n");
}

TEST_CASE("each order is kept where a loop goes round, and where it meets its neighbours") {
  for (const std::string &ops : {
           loop + "signal memory [1]\nwait memory [0]\nwait memory [2]\n}\n",      // the wait, and the next signal
           "wait memory [0]\nwait memory [1]\n" + loop + "signal memory [0]\n}\n", // before and in
           loop + "wait memory [0]\nwait memory [1]\n}\nsignal memory [0]\n",      // in and behind
           loop + "copy output[0:1] <- input[0:1]\nsignal memory [0]\nnop\nsignal memory [1]\n}\n",
       })
    CHECK(opsAfter(lowered, ops) == ops);
  CHECK(opsAfter(lowered, loop + "signal memory [1]\nnop\nwait memory [0]\nwait memory [2]\nnop\n}\n") ==
        loop + "signal memory [1]\nnop\nwait memory [0, 2]\nnop\n}\n");
}

TEST_CASE("the loss found first in each phase is mended first") {
  // Two phases, one loss each; then the second loss of the first phase.
  CHECK(opsAfter(lowered, "pws port [0] remote0[0:1] <- input[0:1]\npws port [0] remote0[1:2] <- input[1:2]\n"
                          "pws port [1] remote0[2:3] <- input[2:3]\npws port [0] remote0[3:4] <- input[3:4]\nnop\n"
                          "pws port [2] remote0[0:1] <- input[0:1]\npws port [2] remote0[1:2] <- input[1:2]\n") ==
        "pws port [0] remote0[0:1] <- input[0:1]\n"
        "pws port [0, 1] remote0[1:2], remote0[2:3] <- input[1:2], input[2:3]\n"
        "pws port [0] remote0[3:4] <- input[3:4]\nnop\n"
        "pws port [2] remote0[0:1] <- input[0:1]\npws port [2] remote0[1:2] <- input[1:2]\n");
}

/// `count` random operations of single threads, some of several, with few names.
std::string singleThreadOps(std::mt19937 &random, int count) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto pick = [&](std::initializer_list<const char *> items) {
    return std::string(items.begin()[below(static_cast<int>(items.size()))]);
  };
  std::string ops;
  for (int i = 0; i < count; ++i) {
    const std::string ids = pick({" [0]", " [1]", " [2]", " [0]", " [1]", " [2]", " [0, 1]", " [2, 1]"});
    const bool one = ids.size() == 4; // calls that ask for sync name one thing
    const std::string sync = one ? pick({"", "", "", "", "", " sync before", " sync after", " sync both"}) : "";
    const auto chunks = [&](const std::string &buffer) {
      const auto chunk = [&](int at) { return buffer + "[" + std::to_string(at) + ":" + std::to_string(at + 1) + "]"; };
      const std::string first = chunk(below(3));
      return one ? first : first + ", " + chunk(3 + below(3));
    };
    switch (below(6)) {
    case 0:
      ops += pick({"signal memory", "signal memory", "rlxsignal memory", "signal port"}) + ids + sync;
      break;
    case 1:
      ops += pick({"wait memory", "rlxwait memory", "wait port", "flush port"}) + ids + sync;
      break;
    case 2:
      ops += pick({"sem_acquire", "sem_release"}) + ids + sync;
      break;
    case 3:
      ops += below(4) == 0 ? "nop" : "copy output[0:1] <- input[0:1]";
      break;
    default: {
      const std::string to = chunks(pick({"remote0", "remote1"}));
      ops += pick({"put port", "pws port", "pwsf port"}) + ids + " " + to + " <- " + chunks("input");
    }
    }
    ops += "\n";
  }
  return ops;
}

TEST_CASE("what stays apart stays so when it is fused again") {
  std::uint64_t apart = 0;
  for (int i = 0; i < 600; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    std::string ops = singleThreadOps(random, 2 + i % 12);
    if (i % 3 == 0)
      ops = loop + ops + "}\n" + singleThreadOps(random, 3);
    const Outcome once = runPasses(parseProgram(programText(ops)), lowered);
    INFO("program " << i << "\n" << ops);
    CHECK(opsOf(runPasses(once.program, lowered).program) == opsOf(once.program));
    apart += once.records.at(0).stats.counters().at(3).value;
  }
  CHECK(apart > 90);
}

} // namespace
