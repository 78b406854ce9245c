// Text round trips: random programs over every operation and field, and text by hand.
#include "catch.h"
#include "ir/text.h"
#include "random_program.h"
#include "same_program.h"

#include "ir/structure.h"

#include <fstream>

using namespace mscclc;
using namespace mscclc::ir;

namespace {
std::string printed(const Program &program) {
  std::string text;
  print(program, text);
  return text;
}

/// Returns the program that `text` describes.
Program parsed(std::string_view text) {
  DiagnosticEngine diagnostics;
  auto program = parse(text, "x.ir", diagnostics);
  INFO(diagnostics.render(false) << text);
  REQUIRE(program);
  return std::move(*program);
}

/// Checks that a valid program is the one that its text describes.
void checkRoundTrip(const Program &program) {
  DiagnosticEngine diagnostics;
  REQUIRE(checkStructure(program, diagnostics));
  const std::string text = printed(program);
  const Program again = parsed(text);
  REQUIRE(test::sameProgram(again, program));
  REQUIRE(printed(again) == text);
}
} // namespace

TEST_CASE("a printed program parses back to itself and prints the same") {
  std::vector<bool> kindSeen(opKindCount);
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    const Program program = test::randomProgram(seed);
    checkRoundTrip(program);
    for (const Rank &rank : program.ranks)
      for (const ThreadBlock &block : rank.blocks)
        for (const Op &op : block.ops)
          kindSeen[static_cast<std::size_t>(op.kind)] = true;
  }
  CHECK(std::ranges::count(kindSeen, false) == 0);
}

TEST_CASE("a printed movement parses back to itself and prints the same") {
  std::size_t copies = 0, reductions = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const Program program = test::randomProgram(seed, {.movement = true});
    checkRoundTrip(program);
    for (const Move &move : program.movement.statements)
      ++(move.kind == MoveKind::Copy ? copies : reductions);
  }
  CHECK(copies > 100);
  CHECK(reductions > 100);
}

TEST_CASE("canonical text stays as it is") {
  const std::string text = R"(mscclc.ir 1

program "all \"of\\ it\"\xff" {
  collective custom "mine" inplace chunk_factor 2
  protocol LL
  fuse off
  auto_sync off
  instances 2
  replication none
  reuse_resources on
  double_scratch on
  threads_per_block 512
  buffer_alignment 32
  min_message_size 1
  max_message_size 1099511627776
  expect 0.output[1] = 0.input[0] + 1.input[1] @2
  expect 1.output[0] = nothing

  rank 0 {
    buffers input 2 output 2 scratch 4
    port_channels [1]
    memory_channels [1, 1]
    semaphores [0, 7]
    switch0 = output of [0, 1]
    remote0 = 1.output via memory via port
    remote1 = 1.scratch via memory
    block 0 {
      channels [memory 0, port 0, switch 0]
      remotes [memory 0, port 0, memory 1]
      rlxsignal memory [0] @1
      rlxwait memory [0] sync after @3
      %2 = copy scratch[0:2] <- input[0:2]%in slice 1 of 4
      pipeline unit_size 65536 num_chunks 3 @2 {
        %4 = re output[0:1] <- output[0:1]%in, scratch[1:2]%2 reduce_op max
        pwsf port [0] remote0[0:1] <- output[0:1]%4
      }
      sem_release [0, 1] sync both
      %7 = gstore switch [0] switch0[1:2] <- output[0:1]%4
      %8 = copy scratch[0:2] <- input[0:2]%{4, 7}
      flush port [0]
      barrier 5 blocks 2
    }
    block 1 {
      barrier 5 blocks 2
      pipeline unit_size 1 num_chunks 0 {
      }
    }
  }

  rank 1 {
    buffers input 2 output 2 scratch 4
    memory_channels [0]
    switch0 = output of [0, 1]
  }
}

locations {
  file0 = "a.cpp"
  file1 = "b\n.cpp"
  @1 = file0:3:4
  @2 = file1:5:6 from @1
  @3 = @1 + @2
}
)";
  CHECK(printed(parsed(text)) == text);
}

TEST_CASE("canonical text of statements stays as it is") {
  const std::string text = R"(mscclc.ir 1

program "statements" {
  collective allreduce
  schedule auto
  ranks_per_node 2
  most_blocks 8
  order any
  choose_protocol on
  choose_instances on

  rank 0 {
    buffers input 2 output 2 scratch 2
  }

  rank 1 {
    buffers input 2 output 2 scratch 0
  }

  move {
    copy 1.output[0:1], 0.scratch[1:2] <- 0.input[0:1] via memory by 0 block 3 packets on @1
    reduce 0.output[0:2] <- 0.output[0:2], 1.input[0:2] reduce_op max via switch packets off
    copy 0.output[0:2] <- 1.output[0:2] via port
  }
}

locations {
  file0 = "a.cpp"
  @1 = file0:3:4
}
)";
  const Program program = parsed(text);
  CHECK(printed(program) == text);
  const Move &first = program.movement.statements[0];
  CHECK(program.movement.srcs(first)[0] == RankChunk{0, BufferKind::Input, 0, 1});
  CHECK(program.movement.dsts(first)[1] == RankChunk{0, BufferKind::Scratch, 1, 1});
}

TEST_CASE("options of a statement stand in any order") {
  const Program program =
      parsed("mscclc.ir 1\nprogram \"p\" {\nschedule auto\nrank 0 {\nbuffers input 2 output 1\n}\nmove {\n"
             "reduce 0.output[0:1]<-0.input[0:1],0.input[1:2] packets on by 0 reduce_op min // that\n}\n}");
  CHECK(
      printed(program).find("    reduce 0.output[0:1] <- 0.input[0:1], 0.input[1:2] reduce_op min by 0 packets on\n") !=
      std::string::npos);
}

TEST_CASE("comments, blank lines and defaults may be there or not") {
  const Program program =
      parsed("// RUN: mscclc %s\n\n mscclc.ir 1 // format\r\nprogram \"p\" { // one\n"
             "  protocol Simple\n  collective allreduce chunk_factor 1\n rank 0 {\n"
             "buffers input 3 output 3\nblock 0 {\n copy output[0:1]<-input[1:2] reduce_op sum sync none\n"
             "  copy output[1:2] <- output[0:1] // no versions\n}\n}\n}");
  CHECK(printed(program).find("%1 = copy output[1:2] <- output[0:1]%0\n") != std::string::npos);
}

TEST_CASE("locations of many lines keep their numbers") {
  Program program;
  program.name = "p";
  program.ranks.resize(1);
  const std::uint32_t file = program.sources.addFile("x.cpp");
  LocId merged = noLoc;
  for (std::uint32_t line = 1; line <= 50; ++line)
    merged = program.sources.merge(merged, program.sources.addPlace(file, line, 1, line % 2 ? noLoc : 1));
  const Program again = parsed(printed(program));
  CHECK(test::sameProgram(again, program));
  CHECK(again.sources.places(merged).size() == 50);
}

TEST_CASE("the fuzzer's seeds parse, and the canonical ones print as they are") {
  for (const std::string name : {"operations", "options", "locations", "inplace", "movement", "loose"}) {
    INFO(name);
    std::ifstream in(std::string(MSCCLC_SOURCE_DIR) + "/tests/fuzz/corpus/ir/" + name + ".ir", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK((printed(parsed(text)) == text) == (name != "loose"));
  }
}

TEST_CASE("the README's examples parse") {
  std::ifstream in(std::string(MSCCLC_SOURCE_DIR) + "/ir/README.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  std::vector<Program> programs;
  for (std::size_t at = 0; (at = page.find("```\nmscclc.ir", at)) != std::string::npos;) {
    const std::size_t begin = at + 4;
    at = page.find("```", begin) + 3;
    programs.push_back(parsed(page.substr(begin, at - 3 - begin)));
  }
  REQUIRE(programs.size() == 2);
  CHECK(programs[0].numOps() == 7);
  CHECK(programs[1].movement.statements.size() == 3);
}

TEST_CASE("a collective with experts says their number and layout") {
  const std::string text = "mscclc.ir 1\n\nprogram \"p\" {\n  collective combine experts 3 rank_major\n\n"
                           "  rank 0 {\n    buffers input 1 output 1 scratch 0\n  }\n}\n";
  const Program program = parsed(text);
  CHECK(program.collective.experts == 3);
  CHECK(program.collective.expertLayout == ExpertLayout::RankMajor);
  CHECK(printed(program) == text);
}

TEST_CASE("a collective of rows says its layout") {
  const std::string text = "mscclc.ir 1\n\nprogram \"p\" {\n  collective alltoallv packed\n\n"
                           "  rank 0 {\n    buffers input 1 output 1 scratch 0\n  }\n}\n";
  DiagnosticEngine diagnostics;
  const auto program = parse(text, "p.ir", diagnostics);
  REQUIRE(program);
  CHECK(program->collective.kind == CollectiveKind::AllToAllV);
  CHECK(program->collective.rows == RowLayout::Packed);
  CHECK(printed(*program) == text);
}

TEST_CASE("a collective with a root says which rank it is") {
  const std::string text = "mscclc.ir 1\n\nprogram \"p\" {\n  collective scatter root 1 inplace chunk_factor 3\n\n"
                           "  rank 0 {\n    buffers input 6 output 3 scratch 0\n  }\n\n"
                           "  rank 1 {\n    buffers input 6 output 3 scratch 0\n  }\n}\n";
  DiagnosticEngine diagnostics;
  const auto program = parse(text, "p.ir", diagnostics);
  REQUIRE(program);
  CHECK(program->collective.kind == CollectiveKind::Scatter);
  CHECK(program->collective.root == 1);
  CHECK(printed(*program) == text);
}
