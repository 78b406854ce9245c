// The table of collectives: sizes, aliasing in place and results of each, written out.
#include "catch.h"
#include "ir/collectives.h"
#include "ir/memory_map.h"

#include <set>
#include <string>

using namespace mscclc::ir;

namespace {

struct Row {
  CollectiveKind kind;
  std::uint32_t ranks, factor, root;
  std::uint32_t inputs, outputs; ///< chunks of each rank
  /// For each rank, the final value of each output chunk: "rank.chunk" of an input; "+chunk": that chunk of all inputs,
  /// reduced; "?": any value.
  const char *results;
};

const Row rows[] = {
    // clang-format off
    {CollectiveKind::AllGather, 2, 1, 0, 1, 2, "0.0 1.0 | 0.0 1.0"},
    {CollectiveKind::AllGather, 2, 2, 1, 2, 4, "0.0 0.1 1.0 1.1 | 0.0 0.1 1.0 1.1"},
    {CollectiveKind::AllGather, 3, 1, 2, 1, 3, "0.0 1.0 2.0 | 0.0 1.0 2.0 | 0.0 1.0 2.0"},
    {CollectiveKind::AllGather, 4, 1, 1, 1, 4, "0.0 1.0 2.0 3.0 | 0.0 1.0 2.0 3.0 | 0.0 1.0 2.0 3.0 | 0.0 1.0 2.0 3.0"},
    {CollectiveKind::AllGather, 5, 1, 3, 1, 5, "0.0 1.0 2.0 3.0 4.0 | 0.0 1.0 2.0 3.0 4.0 | 0.0 1.0 2.0 3.0 4.0 | 0.0 1.0 2.0 3.0 4.0 | 0.0 1.0 2.0 3.0 4.0"},
    {CollectiveKind::AllReduce, 2, 1, 0, 2, 2, "+0 +1 | +0 +1"},
    {CollectiveKind::AllReduce, 2, 2, 1, 4, 4, "+0 +1 +2 +3 | +0 +1 +2 +3"},
    {CollectiveKind::AllReduce, 3, 1, 2, 3, 3, "+0 +1 +2 | +0 +1 +2 | +0 +1 +2"},
    {CollectiveKind::AllReduce, 4, 1, 1, 4, 4, "+0 +1 +2 +3 | +0 +1 +2 +3 | +0 +1 +2 +3 | +0 +1 +2 +3"},
    {CollectiveKind::AllReduce, 5, 1, 3, 5, 5, "+0 +1 +2 +3 +4 | +0 +1 +2 +3 +4 | +0 +1 +2 +3 +4 | +0 +1 +2 +3 +4 | +0 +1 +2 +3 +4"},
    {CollectiveKind::ReduceScatter, 2, 1, 0, 2, 1, "+0 | +1"},
    {CollectiveKind::ReduceScatter, 2, 2, 1, 4, 2, "+0 +1 | +2 +3"},
    {CollectiveKind::ReduceScatter, 3, 1, 2, 3, 1, "+0 | +1 | +2"},
    {CollectiveKind::ReduceScatter, 4, 1, 1, 4, 1, "+0 | +1 | +2 | +3"},
    {CollectiveKind::ReduceScatter, 5, 1, 3, 5, 1, "+0 | +1 | +2 | +3 | +4"},
    {CollectiveKind::AllToAll, 2, 1, 0, 2, 2, "0.0 1.0 | 0.1 1.1"},
    {CollectiveKind::AllToAll, 2, 2, 1, 4, 4, "0.0 0.1 1.0 1.1 | 0.2 0.3 1.2 1.3"},
    {CollectiveKind::AllToAll, 3, 1, 2, 3, 3, "0.0 1.0 2.0 | 0.1 1.1 2.1 | 0.2 1.2 2.2"},
    {CollectiveKind::AllToAll, 4, 1, 1, 4, 4, "0.0 1.0 2.0 3.0 | 0.1 1.1 2.1 3.1 | 0.2 1.2 2.2 3.2 | 0.3 1.3 2.3 3.3"},
    {CollectiveKind::AllToAll, 5, 1, 3, 5, 5, "0.0 1.0 2.0 3.0 4.0 | 0.1 1.1 2.1 3.1 4.1 | 0.2 1.2 2.2 3.2 4.2 | 0.3 1.3 2.3 3.3 4.3 | 0.4 1.4 2.4 3.4 4.4"},
    {CollectiveKind::SendRecv, 2, 1, 0, 1, 1, "1.0 | 0.0"},
    {CollectiveKind::SendRecv, 2, 2, 1, 2, 2, "1.0 1.1 | 0.0 0.1"},
    {CollectiveKind::SendRecv, 3, 1, 2, 1, 1, "2.0 | 0.0 | 1.0"},
    {CollectiveKind::SendRecv, 4, 1, 1, 1, 1, "3.0 | 0.0 | 1.0 | 2.0"},
    {CollectiveKind::SendRecv, 5, 1, 3, 1, 1, "4.0 | 0.0 | 1.0 | 2.0 | 3.0"},
    {CollectiveKind::Broadcast, 2, 1, 0, 1, 1, "0.0 | 0.0"},
    {CollectiveKind::Broadcast, 2, 2, 1, 2, 2, "1.0 1.1 | 1.0 1.1"},
    {CollectiveKind::Broadcast, 3, 1, 2, 1, 1, "2.0 | 2.0 | 2.0"},
    {CollectiveKind::Broadcast, 4, 1, 1, 1, 1, "1.0 | 1.0 | 1.0 | 1.0"},
    {CollectiveKind::Broadcast, 5, 1, 3, 1, 1, "3.0 | 3.0 | 3.0 | 3.0 | 3.0"},
    {CollectiveKind::Reduce, 2, 1, 0, 1, 1, "+0 | ?"},
    {CollectiveKind::Reduce, 2, 2, 1, 2, 2, "? ? | +0 +1"},
    {CollectiveKind::Reduce, 3, 1, 2, 1, 1, "? | ? | +0"},
    {CollectiveKind::Reduce, 4, 1, 1, 1, 1, "? | +0 | ? | ?"},
    {CollectiveKind::Reduce, 5, 1, 3, 1, 1, "? | ? | ? | +0 | ?"},
    {CollectiveKind::Gather, 2, 1, 0, 1, 2, "0.0 1.0 | ? ?"},
    {CollectiveKind::Gather, 2, 2, 1, 2, 4, "? ? ? ? | 0.0 0.1 1.0 1.1"},
    {CollectiveKind::Gather, 3, 1, 2, 1, 3, "? ? ? | ? ? ? | 0.0 1.0 2.0"},
    {CollectiveKind::Gather, 4, 1, 1, 1, 4, "? ? ? ? | 0.0 1.0 2.0 3.0 | ? ? ? ? | ? ? ? ?"},
    {CollectiveKind::Gather, 5, 1, 3, 1, 5, "? ? ? ? ? | ? ? ? ? ? | ? ? ? ? ? | 0.0 1.0 2.0 3.0 4.0 | ? ? ? ? ?"},
    {CollectiveKind::Scatter, 2, 1, 0, 2, 1, "0.0 | 0.1"},
    {CollectiveKind::Scatter, 2, 2, 1, 4, 2, "1.0 1.1 | 1.2 1.3"},
    {CollectiveKind::Scatter, 3, 1, 2, 3, 1, "2.0 | 2.1 | 2.2"},
    {CollectiveKind::Scatter, 4, 1, 1, 4, 1, "1.0 | 1.1 | 1.2 | 1.3"},
    {CollectiveKind::Scatter, 5, 1, 3, 5, 1, "3.0 | 3.1 | 3.2 | 3.3 | 3.4"},
    {CollectiveKind::AllToAllV, 2, 1, 0, 2, 2, "0.0 1.0 | 0.1 1.1"},
    {CollectiveKind::AllToAllV, 2, 2, 1, 4, 4, "0.0 0.1 1.0 1.1 | 0.2 0.3 1.2 1.3"},
    {CollectiveKind::AllToAllV, 3, 1, 2, 3, 3, "0.0 1.0 2.0 | 0.1 1.1 2.1 | 0.2 1.2 2.2"},
    {CollectiveKind::AllToAllV, 4, 1, 1, 4, 4, "0.0 1.0 2.0 3.0 | 0.1 1.1 2.1 3.1 | 0.2 1.2 2.2 3.2 | 0.3 1.3 2.3 3.3"},
    {CollectiveKind::Dispatch, 2, 1, 0, 2, 2, "0.0 1.0 | 0.1 1.1"},
    {CollectiveKind::Dispatch, 3, 1, 2, 3, 3, "0.0 1.0 2.0 | 0.1 1.1 2.1 | 0.2 1.2 2.2"},
    {CollectiveKind::Combine, 2, 1, 0, 2, 2, "0.0 1.0 | 0.1 1.1"},
    {CollectiveKind::Combine, 3, 1, 2, 3, 3, "0.0 1.0 2.0 | 0.1 1.1 2.1 | 0.2 1.2 2.2"},
    // clang-format on
};

Program programOf(const Row &row) {
  Program program;
  program.collective.kind = row.kind;
  program.collective.root = row.root;
  program.ranks.resize(row.ranks);
  for (Rank &rank : program.ranks) {
    rank.inputChunks = row.inputs;
    rank.outputChunks = row.outputs;
  }
  return program;
}

std::string nameOf(const Row &row) {
  return std::string(toString(row.kind)) + " of " + std::to_string(row.ranks) + " ranks, factor " +
         std::to_string(row.factor) + ", root " + std::to_string(row.root);
}

} // namespace

TEST_CASE("every collective with a chunk factor is written out below") {
  std::set<CollectiveKind> written;
  for (const Row &row : rows)
    written.insert(row.kind);
  for (std::size_t i = 0; i < collectiveInfos.size(); ++i) {
    INFO(collectiveInfos[i].name << " has no rows in collectives_test.cpp");
    CHECK(hasChunkFactor(static_cast<CollectiveKind>(i)) == written.contains(static_cast<CollectiveKind>(i)));
  }
}

TEST_CASE("sizes of buffers, and the chunk factor that they tell") {
  for (const Row &row : rows) {
    INFO(nameOf(row));
    const auto chunks = [&](Extent extent) { return extent == Extent::Whole ? row.ranks * row.factor : row.factor; };
    CHECK(chunks(info(row.kind).input) == row.inputs);
    CHECK(chunks(info(row.kind).output) == row.outputs);
    CHECK(chunksOfShare(programOf(row)) == row.factor);
  }
}

TEST_CASE("what outputs end as") {
  for (const Row &row : rows) {
    INFO(nameOf(row));
    const Program program = programOf(row);
    const WantedOutputs wanted(program);
    CHECK(wanted.any());
    std::string results;
    std::vector<Contribution> inputs;
    for (std::uint32_t rank = 0; rank < row.ranks; ++rank) {
      results += rank == 0 ? "" : " |";
      for (std::uint32_t chunk = 0; chunk < row.outputs; ++chunk) {
        wanted.of(rank, chunk, inputs);
        const auto reduced = wanted.reducedOverAll(rank, chunk);
        results += results.empty() ? "" : " ";
        if (reduced) {
          REQUIRE(inputs.size() == row.ranks);
          for (std::uint32_t from = 0; from < row.ranks; ++from)
            CHECK(inputs[from] == Contribution{from, *reduced});
          results += "+" + std::to_string(*reduced);
        } else if (inputs.empty()) {
          results += "?";
        } else {
          REQUIRE(inputs.size() == 1);
          results += std::to_string(inputs[0].rank) + "." + std::to_string(inputs[0].chunk);
        }
      }
    }
    CHECK(results == row.results);
  }
}

TEST_CASE("a program states the results of a custom collective, and nobody those of a test") {
  Program program = programOf({CollectiveKind::Custom, 2, 1, 0, 2, 2, ""});
  CHECK_FALSE(WantedOutputs(program).any());
  program.collective.expectations = {{1, 0, {{0, 1}, {1, 1}}, noLoc}, {0, 1, {}, noLoc}};
  const WantedOutputs wanted(program);
  CHECK(wanted.any());
  std::vector<Contribution> inputs;
  wanted.of(1, 0, inputs);
  CHECK(inputs == std::vector<Contribution>{{0, 1}, {1, 1}});
  CHECK_FALSE(wanted.reducedOverAll(1, 0));
  wanted.of(0, 1, inputs);
  CHECK(inputs.empty());
  CHECK_FALSE(WantedOutputs(programOf({CollectiveKind::Test, 2, 1, 0, 2, 2, ""})).any());
  CHECK((hasUser(CollectiveKind::Custom) && !hasUser(CollectiveKind::Test)));
}

TEST_CASE("in place, the smaller buffer lies in the larger") {
  for (const Row &row : rows) {
    INFO(nameOf(row));
    Program program = programOf(row);
    for (std::uint32_t rank = 0; rank < row.ranks; ++rank) {
      const auto place = [&](BufferKind buffer) { return canonicalPlace(program, rank, buffer, 0); };
      program.collective.inplace = false;
      CHECK((place(BufferKind::Input).buffer == BufferKind::Input && place(BufferKind::Input).index == 0));
      CHECK((place(BufferKind::Output).buffer == BufferKind::Output && place(BufferKind::Output).index == 0));
      program.collective.inplace = true;
      const CanonicalPlace input = place(BufferKind::Input), output = place(BufferKind::Output);
      CHECK(input.buffer == output.buffer);
      CHECK(input.index == (row.inputs < row.outputs ? rank * row.inputs : 0));
      CHECK(output.index == (row.outputs < row.inputs ? rank * row.outputs : 0));
      CHECK(program.ranks[rank].chunksOf(input.buffer) == std::max(row.inputs, row.outputs));
    }
  }
}

TEST_CASE("messages") {
  const auto chunks = [](CollectiveKind kind) {
    const Program program =
        programOf(*std::ranges::find_if(rows, [&](const Row &row) { return row.kind == kind && row.ranks == 3; }));
    return std::pair(chunksOfMessage(program, program.ranks[0]), sharesOfMessage(program));
  };
  using Chunks = std::pair<std::uint32_t, std::uint32_t>; // of a message, and equal shares of it
  CHECK(chunks(CollectiveKind::AllGather) == Chunks{3, 3});
  CHECK(chunks(CollectiveKind::AllReduce) == Chunks{3, 1});
  CHECK(chunks(CollectiveKind::ReduceScatter) == Chunks{3, 3});
  CHECK(chunks(CollectiveKind::AllToAll) == Chunks{3, 3});
  CHECK(chunks(CollectiveKind::SendRecv) == Chunks{1, 1});
  CHECK(chunks(CollectiveKind::Broadcast) == Chunks{1, 1});
  CHECK(chunks(CollectiveKind::Reduce) == Chunks{1, 1});
  CHECK(chunks(CollectiveKind::Gather) == Chunks{1, 1});
  CHECK(chunks(CollectiveKind::Scatter) == Chunks{3, 3});
  Program noInput = programOf({CollectiveKind::Custom, 1, 1, 0, 0, 5, ""});
  CHECK(chunksOfMessage(noInput, noInput.ranks[0]) == 5);
  CHECK(chunksOfScale(noInput.ranks[0]) == 5);
}

TEST_CASE("names") {
  for (std::size_t i = 0; i < collectiveInfos.size(); ++i) {
    const CollectiveInfo &row = collectiveInfos[i];
    INFO(row.name);
    const auto named = namedCollective(row.name, row.hasRoot);
    CHECK(named.has_value() == (row.promise != Promise::Stated && !row.hasRows));
    CHECK((!named || static_cast<std::size_t>(*named) == i));
    CHECK_FALSE(namedCollective(row.name, !row.hasRoot));
  }
  CHECK_FALSE(namedCollective("AllReduce", false));
}
