// The flush of a block's last port puts comes after its waits; others stay.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

const std::string put = " port [0] remote0[0:1] <- input[0:1]\n";
const std::string loop = "pipeline unit_size 16 num_chunks 1 {\n";

TEST_CASE("a flush at the end follows the waits") {
  CHECK(opsAfter("defer-flush", "pwsf" + put + "wait port [0]\nnop\nwait memory [0]\n") ==
        "pws" + put + "wait port [0]\nnop\nwait memory [0]\nflush port [0]\n");
  CHECK(opsAfter("defer-flush", "signal memory [0]\npwsf" + put + "sem_acquire [0]\n") ==
        "signal memory [0]\npws" + put + "sem_acquire [0]\nflush port [0]\n");
}

TEST_CASE("what follows may rely on a flush") {
  for (const std::string &kept :
       {"pwsf" + put, "pwsf" + put + "wait port [0]\nnop\nsignal memory [0]\n", "pwsf" + put + "nop\nsem_release [0]\n",
        loop + "pwsf" + put + "wait port [0]\n}\n"}) {
    INFO(kept);
    CHECK(opsAfter("defer-flush", kept) == kept);
  }
}

} // namespace
