// Tests how operations of different blocks wait for each other.
#include "catch.h"

#include "ir/diagnostics.h"
#include "ir/text.h"
#include "passes/analysis/dependences.h"

using namespace mscclc;
using passes::Dependence;
using passes::DependenceKind;

namespace {

std::vector<Dependence> dependencesOf(const std::string &ranks, const std::string &head = "collective test\n") {
  ir::DiagnosticEngine diagnostics;
  const std::string text = "mscclc.ir 1\nprogram \"t\" {\n" + head + ranks + "}\n";
  const auto program = ir::parse(text, "t.ir", diagnostics);
  INFO(text << diagnostics.render(false));
  REQUIRE(program);
  return passes::dependences(*program);
}

TEST_CASE("the k-th signal of a channel meets the k-th wait at its other end") {
  const auto found = dependencesOf(
      "rank 0 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [1, 1]\nblock 0 {\n"
      "channels [memory 0, memory 1]\nsignal memory [0, 1]\nnop\nsignal memory [1]\nsignal memory [1]\n}\n}\n"
      "rank 1 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [0, 0]\nblock 0 {\nchannels [memory 1]\n"
      "wait memory [1]\nnop\nrlxwait memory [1]\n}\nblock 1 {\nchannels [memory 0]\nwait memory [0]\n}\n}\n");
  CHECK(found == std::vector<Dependence>{{DependenceKind::Signal, {0, 0, 0}, {1, 0, 0}},
                                         {DependenceKind::Signal, {0, 0, 0}, {1, 1, 0}},
                                         {DependenceKind::Signal, {0, 0, 2}, {1, 0, 2}}});
}

TEST_CASE("a semaphore's initial value is taken first") {
  const auto found = dependencesOf("rank 0 {\nbuffers input 1 output 1 scratch 0\nsemaphores [1]\nblock 0 "
                                   "{\nsem_acquire [0]\nnop\nsem_acquire [0]\n}\n"
                                   "block 1 {\nsem_release [0]\n}\n}\n");
  CHECK(found == std::vector<Dependence>{{DependenceKind::Semaphore, {0, 1, 0}, {0, 0, 2}}});
}

TEST_CASE("blocks of a barrier are linked, each time they meet") {
  const std::string meet = "barrier 0 blocks 3\nnop\nbarrier 0 blocks 3\n";
  const auto found = dependencesOf("rank 0 {\nbuffers input 1 output 1 scratch 0\nblock 0 {\n" + meet +
                                   "}\nblock 1 {\n" + meet + "}\nblock 2 {\n" + meet + "}\n}\n");
  CHECK(found == std::vector<Dependence>{{DependenceKind::Barrier, {0, 0, 0}, {0, 1, 0}},
                                         {DependenceKind::Barrier, {0, 0, 2}, {0, 1, 2}},
                                         {DependenceKind::Barrier, {0, 1, 0}, {0, 2, 0}},
                                         {DependenceKind::Barrier, {0, 1, 2}, {0, 2, 2}}});
}

TEST_CASE("packets meet at their cells, each pair once") {
  const auto found = dependencesOf(
      "rank 0 {\nbuffers input 2 output 2 scratch 2\nmemory_channels [1]\nremote0 = 1.scratch via memory\nblock 0 {\n"
      "channels [memory 0]\nremotes [memory 0]\nppkt memory remote0[0:2] <- input[0:2]\n}\n}\n"
      "rank 1 {\nbuffers input 2 output 2 scratch 3\nmemory_channels [0]\nblock 0 {\nupkt output[0:2] <- "
      "scratch[0:2]\n}\nblock 1 {\ncpkt scratch[2:3] <- input[0:1]\nupkt output[0:1] <- scratch[2:3]\n}\n}\n",
      "collective test\nprotocol LL\n");
  CHECK(found == std::vector<Dependence>{{DependenceKind::Packet, {0, 0, 0}, {1, 0, 0}},
                                         {DependenceKind::Packet, {1, 1, 0}, {1, 1, 1}}});
}

} // namespace
