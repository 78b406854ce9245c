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
