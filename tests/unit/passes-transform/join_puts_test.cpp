// Port puts of adjacent chunks become one; others stay.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

TEST_CASE("puts of adjacent chunks become one, which ends as the last one does") {
  CHECK(opsAfter("join-puts",
                 "put port [0] remote0[0:1] <- input[2:3]\nput port [0] remote0[1:2] <- input[3:4]\n"
                 "pwsf port [0] remote0[2:4] <- input[4:6]\n") == "pwsf port [0] remote0[0:4] <- input[2:6]\n");
  CHECK(opsAfter("join-puts", "put port [0, 1] remote0[0:1], remote1[4:5] <- input[0:1], output[2:3]\n"
                              "pws port [0, 1] remote0[1:2], remote1[5:6] <- input[1:2], output[3:4]\n") ==
        "pws port [0, 1] remote0[0:2], remote1[4:6] <- input[0:2], output[2:4]\n");
}

TEST_CASE("other puts stay") {
  const std::string first = "put port [0] remote0[0:1] <- input[0:1]\n";
  for (const std::string &kept : std::initializer_list<std::string>{
           first + "put port [1] remote0[1:2] <- input[1:2]\n",      // another channel
           first + "put port [0] remote1[1:2] <- input[1:2]\n",      // another buffer
           first + "put port [0] remote0[2:3] <- input[1:2]\n",      // a gap
           first + "put port [0] remote0[1:2] <- input[2:3]\n",      // a gap between the sources
           first + "nop\nput port [0] remote0[1:2] <- input[1:2]\n", // something between
           "pws port [0] remote0[0:1] <- input[0:1]\n"
           "pws port [0] remote0[1:2] <- input[1:2]\n",                                      // two signals
           "put memory remote0[0:1] <- input[0:1]\nput memory remote0[1:2] <- input[1:2]\n", // threads do them
           "pipeline unit_size 16 num_chunks 1 {\n" + first + "put port [0] remote0[1:2] <- input[1:2]\n}\n",
       }) {
    INFO(kept);
    CHECK(opsAfter("join-puts", kept) == kept);
  }
}

} // namespace
