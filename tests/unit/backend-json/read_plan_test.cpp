#include "backend-json/compare_plans.h"
#include "ir/collectives.h"
#include "ir/structure.h"
#include "programs.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace plans;

namespace {
std::string fileText(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string flipped(const nlohmann::ordered_json &value) {
  if (value.is_array()) {
    std::string out;
    for (const auto &element : value)
      out += (out.empty() ? "" : ",") + flipped(element);
    return "[" + out + "]";
  }
  if (!value.is_object())
    return value.dump();
  std::string out;
  for (auto it = value.rbegin(); it != value.rend(); ++it)
    out += (out.empty() ? "" : " , ") + nlohmann::json(it.key()).dump() + "\t:\r\n" + flipped(*it);
  return "{ " + out + "}";
}
} // namespace

TEST_CASE("every golden plan is read, and written again means the same", "[slow]") {
  std::size_t count = 0;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(MSCCLC_SOURCE_DIR "/tests/conformance/plans")) {
    if (entry.path().extension() != ".json")
      continue;
    INFO(entry.path());
    const Program program = readGood(fileText(entry.path()));
    const std::string once = write(program);
    const Program back = readGood(once);
    CHECK(json::comparePlans(program, back).equal());
    CHECK(write(back) == once);
    ++count;
  }
  CHECK(count >= 49);
}

TEST_CASE("a program of every operation comes back as it was") {
  const Program program = everyOperation();
  DiagnosticEngine engine;
  REQUIRE(checkStructure(program, engine));
  const std::string text = write(program);
  const Program back = readGood(text);
  const auto comparison = json::comparePlans(program, back);
  INFO((comparison.equal() ? "" : json::describe(comparison.differences[0], "the plan")));
  CHECK(comparison.equal());
  CHECK(write(back) == text);
  CHECK(write(readGood(write(program, {.compact = true, .nameOverride = {}}))) == text);
  const ThreadBlock &block = back.ranks[0].blocks[1];
  CHECK(block.idsOf(block.ops[5])[0] == 0);
  CHECK(block.dsts(block.ops[5])[1] == remote(2, 1));
  CHECK(block.ops[1].bodySize == 3);
  CHECK(back.ranks[0].portChannelsFirst);
  CHECK(back.collective.kind == CollectiveKind::Custom);
  CHECK(back.threadsPerBlock == 512);
}

TEST_CASE("the order of fields means nothing") {
  const std::string text = write(everyOperation());
  CHECK(write(readGood(flipped(nlohmann::ordered_json::parse(text)))) == text);
}

TEST_CASE("gpus and thread blocks that are not listed by their ids are refused") {
  auto plan = nlohmann::ordered_json::parse(write(everyOperation()));
  std::string messages;
  SECTION("gpus") {
    std::swap(plan["gpus"][0], plan["gpus"][2]);
    CHECK_FALSE(read(plan.dump(), messages));
    CHECK_THAT(messages, containsText("$.gpus[1].id: error: gpu 1 is listed after gpu 2, but the executor takes an "
                                      "entry partly by its id and partly by its position: list them by their ids"));
  }
  SECTION("thread blocks") {
    std::swap(plan["gpus"][0]["threadblocks"][0], plan["gpus"][0]["threadblocks"][1]);
    CHECK_FALSE(read(plan.dump(), messages));
    CHECK_THAT(messages, containsText("$.gpus[0].threadblocks[1].id: error: thread block 0 is listed after thread "
                                      "block 1, but the executor takes"));
  }
}

TEST_CASE("the collective's name says which it is, and its chunks give the chunk factor") {
  const auto factor = [](const char *file) {
    return readGood(fileText(std::string(MSCCLC_SOURCE_DIR "/tests/conformance/plans/") + file)).collective;
  };
  CHECK(factor("single_node/allreduce.json").kind == CollectiveKind::AllReduce);
  CHECK(factor("single_node/allreduce.json").chunkFactor == 8);
  CHECK(factor("multi_node/reducescatter.json").kind == CollectiveKind::ReduceScatter);
  CHECK(factor("multi_node/send_recv.json").chunkFactor == 4);
  CHECK(factor("unit/copy_test.json").kind == CollectiveKind::Test);
}

TEST_CASE("a byte order mark and escaped names are understood") {
  std::string text = replaced(write(nops(1)), "\"nops\"", R"("n\u006fp\ud83d\ude00\n")");
  text = "\xef\xbb\xbf" + replaced(text, "\"collective\"", R"("\u0063ollective")");
  CHECK(readGood(text).name == "nop😀\n");
}

TEST_CASE("a plan names the root of a collective that has one, and no other plan does") {
  for (std::size_t i = 0; i < collectiveInfos.size(); ++i) {
    Program program = nops(0);
    program.collective.kind = static_cast<CollectiveKind>(i);
    const CollectiveInfo &row = collectiveInfos[i];
    program.collective.name = row.promise == Promise::Stated ? "mine" : row.name;
    program.collective.root = row.hasRoot ? 1 : 0;
    const auto chunks = [&](Extent extent) {
      return extent == Extent::Whole ? static_cast<std::uint32_t>(program.ranks.size()) : 1;
    };
    for (Rank &rank : program.ranks) {
      rank.inputChunks = chunks(row.input);
      rank.outputChunks = chunks(row.output);
    }
    const std::string text = write(program);
    INFO(text);
    CHECK((text.find("\"root\": 1,") != std::string::npos) == row.hasRoot);
    CHECK((text.find("root") != std::string::npos) == row.hasRoot);
    const Program back = readGood(text);
    // A plan has no layout of rows, so what it moves are whole slots.
    CHECK(back.collective.kind == (row.hasRows ? CollectiveKind::Custom : program.collective.kind));
    CHECK(back.collective.root == program.collective.root);
    CHECK(write(back) == text);
    if (!row.hasRoot)
      continue;
    const Program free = readGood(replaced(text, "\"root\": 1,", ""));
    CHECK(free.collective.kind == CollectiveKind::Custom);
    CHECK(free.collective.name == row.name);
    std::string messages;
    CHECK_FALSE(read(replaced(text, "\"root\": 1,", "\"root\": 9,"), messages));
    CHECK_THAT(messages, containsText("the root 9 of " + std::string(row.name) + " does not exist: there are"));
    CHECK_FALSE(read(replaced(text, "\"" + std::string(row.name) + "\"", "\"mine\""), messages));
    CHECK_THAT(messages, containsText("$: error: unknown field 'root'"));
  }
}
