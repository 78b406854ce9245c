// Which nops order nothing, and which do.
#include "../passes/ir_text.h"

using namespace mscclc::passes;

namespace {

/// The operations with "|" for nops that stayed.
std::string kept(std::string ops) {
  for (std::size_t at; (at = ops.find('|')) != ops.npos;)
    ops.replace(at, 1, "nop\n");
  std::string text = opsAfter("drop-redundant-sync", ops);
  for (std::size_t at; (at = text.find("nop\n")) != text.npos;)
    text.replace(at, 4, "|");
  return text;
}

TEST_CASE("nops that order nothing go") {
  CHECK(kept("|rlxsignal memory [0]\n|rlxwait memory [0]\n|put memory remote0[0:1] <- input[0:1]\n|") ==
        "rlxsignal memory [0]\nrlxwait memory [0]\n|put memory remote0[0:1] <- input[0:1]\n");
  CHECK(kept("copy output[0:1] <- input[0:1]\n|copy output[1:2] <- input[1:2]\n") ==
        "copy output[0:1] <- input[0:1]\ncopy output[1:2] <- input[1:2]\n");
  CHECK(kept("copy output[0:1] <- input[0:1]\n|barrier 0 blocks 1\n|copy input[0:1] <- output[0:1]") ==
        "copy output[0:1] <- input[0:1]\nbarrier 0 blocks 1\ncopy input[0:1] <- output[0:1]\n");
  CHECK(kept("wait memory [0]\n|wait memory [1]\n|copy output[0:1] <- input[0:1]\n") ==
        "wait memory [0]\nwait memory [1]\n|copy output[0:1] <- input[0:1]\n");
}

TEST_CASE("nops that order something stay") {
  for (const char *ops : {
           "copy output[0:1] <- input[0:1]\n|copy input[0:1] <- scratch[0:1]\n", // read, then written
           "copy output[0:1] <- input[0:1]\n|signal memory [0]\n",               // data, then released
           "wait memory [0]\n|copy output[0:1] <- input[0:1]\n",                 // acquired, then used
           "wait memory [0]\n|signal memory [1]\n",                              // what was seen is passed on
           "sem_acquire [0]\n|sem_release [1]\n",                                // the same inside a rank
           "wait memory [0]\n|wait memory [0]\n",                                // one channel's count
           "put port [0] remote0[0:1] <- input[0:1]\n|flush port [0]\n",         // the put's own thread
           "flush port [0]\n|copy input[0:1] <- output[0:1]\n",                  // the source may be reused
           "put memory remote0[0:1] <- input[0:1]\n|put memory remote0[0:1] <- input[1:2]\n", // the same place there
           "copy scratch[2:3] <- input[0:1]\n|upkt output[0:1] <- scratch[1:2]\n", // packets lie at twice the scale
           "gstore switch [0] switch0[0:1] <- scratch[0:1]\n|copy input[0:1] <- output[0:1]\n",
           "pipeline unit_size 64 num_chunks 1 {\nsignal memory [0]\n|signal memory [1]\n}\n",
           "signal memory [0]\n|pipeline unit_size 64 num_chunks 1 {\nsignal memory [1]\n}\n",
       })
    CHECK(kept(ops) == ops);
}

TEST_CASE("a nop is needed for what an earlier dropped one would have ordered") {
  // The first nop parts copies that do not meet; once it is gone, the second parts the first copy and the last.
  CHECK(kept("copy output[0:1] <- input[0:1]\n|copy output[1:2] <- input[1:2]\n|copy scratch[0:1] <- output[0:1]\n") ==
        "copy output[0:1] <- input[0:1]\ncopy output[1:2] <- input[1:2]\n|copy scratch[0:1] <- output[0:1]\n");
}

TEST_CASE("bodies shrink only beside another sync") {
  CHECK(kept("pipeline unit_size 64 num_chunks 1 {\n||copy output[0:1] <- input[0:1]\n|barrier 0 blocks 1\n}\nsignal "
             "memory [0]\n") ==
        "pipeline unit_size 64 num_chunks 1 {\n|copy output[0:1] <- input[0:1]\nbarrier 0 blocks "
        "1\n}\nsignal memory [0]\n");
}

} // namespace
