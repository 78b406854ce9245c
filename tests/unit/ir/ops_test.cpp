// What is told of every operation besides its line in ops.def.
#include "catch.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace mscclc::ir;

namespace {
std::string contentsOf(const std::string &path) {
  std::ifstream file(MSCCLC_SOURCE_DIR "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
} // namespace

TEST_CASE("every operation is in the corpus that readers are tried on") {
  std::istringstream corpus(contentsOf("tests/fuzz/corpus/ir/operations.ir"));
  std::vector<std::string> words;
  for (std::string word; corpus >> word;)
    words.push_back(word);
  for (const OpInfo &op : opInfos) {
    INFO("tests/fuzz/corpus/ir/operations.ir lacks " << op.mnemonic);
    CHECK(std::find(words.begin(), words.end(), op.mnemonic) != words.end());
  }
}

TEST_CASE("what operations do follows from their effect") {
  for (std::size_t k = 0; k < opKindCount; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const OpInfo &op = info(kind);
    INFO(op.mnemonic);
    CHECK((op.step == OpStep::Data) == (op.destinations != OperandForms::None));
    CHECK((op.step == OpStep::Data) == (op.stored != Stored::Nothing));
    CHECK_FALSE((sends(kind) && takes(kind)));
    CHECK((isSignal(kind) || isWait(kind) || isSemaphoreOp(kind) || kind == OpKind::Flush) == hasDataSync(kind));
    if (awaitsPackets(kind))
      CHECK(isPacketOp(kind));
  }
  CHECK(isPacketOp(OpKind::PutPacket));
  CHECK_FALSE(awaitsPackets(OpKind::PutPacket));
  CHECK_FALSE(awaitsPackets(OpKind::CopyPacket));
  CHECK(awaitsPackets(OpKind::UnpackPacket));
  CHECK(flushes(OpKind::PutWithSignalAndFlush));
  CHECK_FALSE(flushes(OpKind::PutWithSignal));
}

TEST_CASE("which reductions a switch may take") {
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod}) {
    CHECK(mayReduceInSwitch(op, 2, Order::Ranks)); // a step commutes
    CHECK_FALSE(mayReduceInSwitch(op, 3, Order::Ranks));
    CHECK(mayReduceInSwitch(op, 3, Order::Any));
  }
  CHECK(mayReduceInSwitch(ReduceOp::Max, 3, Order::Tree));
  CHECK(isDoneInSwitch(ReduceOp::Sum));
  CHECK_FALSE(isDoneInSwitch(ReduceOp::Prod));
}

TEST_CASE("blocks without operations are not busy") {
  Rank rank;
  rank.blocks.resize(3);
  CHECK(rank.busyBlocks() == 0);
  rank.blocks[1].append({});
  CHECK(rank.busyBlocks() == 1);
}
