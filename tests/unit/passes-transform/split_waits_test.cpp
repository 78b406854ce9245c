// Waits on one channel that two threads of a block would do at once are split; others stay.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

const std::string repeated = "pipeline unit_size 16 num_chunks 1 {\n";

TEST_CASE("waits that meet are split") {
  CHECK(opsAfter("split-waits", "wait memory [0]\nsignal memory [0]\nwait memory [1, 0]\n") ==
        "wait memory [0]\nsignal memory [0]\nwait memory [1]\nwait memory [0]\n");
  CHECK(opsAfter("split-waits", "rlxwait memory [1, 0]\nwait memory [0]\nwait port [0]\n") ==
        "rlxwait memory [1]\nrlxwait memory [0]\nwait memory [0]\nwait port [0]\n");
  CHECK(opsAfter("split-waits", "sem_acquire [0]\nsem_release [2]\nsem_acquire [1, 0]\n") ==
        "sem_acquire [0]\nsem_release [2]\nsem_acquire [1]\nsem_acquire [0]\n");
}

TEST_CASE("an iteration meets the next, and what is around the loop") {
  CHECK(opsAfter("split-waits", repeated + "wait memory [0]\nnop\nsignal memory [0]\nwait memory [1, 0]\n}\nnop\n") ==
        repeated + "wait memory [0]\nnop\nsignal memory [0]\nwait memory [1]\nwait memory [0]\n}\nnop\n");
  CHECK(opsAfter("split-waits", repeated + "wait memory [0]\n}\nwait memory [1, 0]\n") ==
        repeated + "wait memory [0]\n}\nwait memory [1]\nwait memory [0]\n");
  CHECK(opsAfter("split-waits", "wait memory [1, 0]\n" + repeated + "wait memory [0]\nnop\n}\n") ==
        "wait memory [1]\nwait memory [0]\n" + repeated + "wait memory [0]\nnop\n}\n");
}

TEST_CASE("others stay") {
  for (const std::string &kept :
       {std::string("wait memory [0]\nnop\nsignal memory [0]\nwait memory [1, 0]\n"),
        std::string("wait memory [1, 0]\nwait port [0]\nwait memory [2, 3]\n"), // two types, other channels
        std::string("sem_acquire [0]\nsem_acquire [1, 0]\n"),                   // nothing comes between
        std::string("wait memory [1, 0]\nsignal memory [2, 3]\nrlxwait memory [1, 0]\nwait memory [1]\n"), // one thread
        std::string("sem_acquire [1, 0]\nsem_release [2, 3]\nsem_acquire [1, 0]\n"),                       // each
        repeated + "wait memory [1, 0]\nsignal memory [2, 3]\n}\n", repeated + "wait memory [1, 0]\nnop\n}\n",
        "wait memory [1, 0]\nnop\n" + repeated + "nop\nwait memory [0]\nnop\n}\n"})
    CHECK(opsAfter("split-waits", kept) == kept);
}

} // namespace
