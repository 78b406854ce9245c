// Mistakes in what operations name: ranks, buffers, slices, channels, groups, semaphores.
#include "recorded.h"

using namespace mscclc;
using namespace mscclc::frontend;

TEST_CASE("ranks out of range") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    line = __LINE__ + 1;
    Rank(2);
    Rank(-1).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
    Rank(1ll << 40).input()[0];
    Buffer(5, 1)[3];
    Semaphore(-2, 0).acquire(tb(0));
  });
  CHECK(outcome.text("rank_out_of_range", line) == "rank 2 is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.text("rank_out_of_range", line + 1) == "rank -1 is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.text("rank_out_of_range", line + 2) ==
        "rank 1099511627776 is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.text("scratch_rank_out_of_range", line + 3) ==
        "buffer of rank 5 is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.text("semaphore_rank_out_of_range", line + 4) ==
        "semaphore of rank -2 is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.diagnostics.numErrors() == 5);
}

TEST_CASE("sizes of scratch buffers") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    line = __LINE__ + 1;
    Buffer(0, -1);
    Buffer(0, 1ll << 32);
    Buffer(0, 0xffffffff);
    Buffer(0, 2);
    Buffer(1, 0);
  });
  CHECK(outcome.text("bad_buffer_size", line) == "a scratch buffer cannot have -1 chunks: it has 0 to 4294967295");
  CHECK(outcome.text("bad_buffer_size", line + 1) ==
        "a scratch buffer cannot have 4294967296 chunks: it has 0 to 4294967295");
  CHECK(outcome.text("scratch_too_large", line + 3) ==
        "rank 0's scratch is too large: 4294967297 chunks, of at most 4294967295");
  CHECK(outcome.diagnostics.numErrors() == 3);
}

TEST_CASE("slices out of range") {
  int line = 0, made = 0;
  const Outcome outcome = runIn(2, [&] {
    Buffer none, output = Rank(1).output();
    made = __LINE__ + 1;
    Buffer scratch(0, 3);
    line = __LINE__ + 1;
    output[4];
    output.slice(2, 5);
    output[-1];
    output.slice(2, 2);
    output.slice(3, 1);
    scratch.slice(3);
    scratch[1ll << 40];
    none[0];
    output.slice(0, -1);
  });
  CHECK(outcome.text("chunk_out_of_range", line) == "slice 4:5 is out of range: rank 1's output has 4 chunks");
  CHECK(outcome.text("chunk_out_of_range", line + 1) == "slice 2:5 is out of range: rank 1's output has 4 chunks");
  CHECK(outcome.text("negative_index", line + 2) ==
        "slice -1:0 is out of range: indices are not negative, and do not count from the end");
  CHECK(outcome.text("empty_slice", line + 3) == "slice 2:2 is empty");
  CHECK(outcome.text("slice_reversed", line + 4) == "slice 3:1 ends before it begins");
  CHECK(outcome.text("empty_slice", line + 5) == "slice 3:3 is empty");
  CHECK(outcome.text("chunk_out_of_range", line + 6) ==
        "slice 1099511627776:1099511627777 is out of range: rank 0's scratch buffer has 3 chunks");
  CHECK(outcome.text("never_made", line + 7) == "'slice' of a buffer that was never made");
  CHECK(outcome.text("negative_index", line + 8).starts_with("slice 0:-1 is out of range"));
  CHECK(outcome.diagnostics.numErrors() == 9);
}

TEST_CASE("slots of rows are chunks") {
  const Outcome outcome = run([&] {
    CollectiveProgram program("p", AllToAllV(3, RowLayout::Packed));
    copy(Rank(1).output().from(1), Rank(1).input().to(2), tb(0));
  });
  const ir::Program &program = outcome.program.value();
  CHECK(program.collective.kind == ir::CollectiveKind::AllToAllV);
  CHECK(program.collective.rows == ir::RowLayout::Packed);
  CHECK_FALSE(program.collective.inplace);
  CHECK(program.ranks[2].inputChunks == 3);
  CHECK(program.ranks[2].outputChunks == 3);
  const ir::ThreadBlock &block = program.ranks[1].blocks[0];
  CHECK(block.srcs(block.ops[0])[0] == ir::Chunk{ir::ChunkSpace::Input, 2, 1, 0});
  CHECK(block.dsts(block.ops[0])[0] == ir::Chunk{ir::ChunkSpace::Output, 1, 1, 0});
}

TEST_CASE("experts have slots of rows") {
  const Outcome outcome = run([&] {
    CollectiveProgram made("p", Combine(2, 5, ExpertLayout::RankMajor));
    copy(Rank(1).output().from(0), Rank(1).input().to(1), tb(0));
  });
  const ir::Program &program = outcome.program.value();
  CHECK(program.collective.experts == 5);
  CHECK(program.collective.expertLayout == ir::ExpertLayout::RankMajor);
  CHECK(program.ranks[1].inputChunks == 2);
  int line = 0;
  const Outcome layout = run([&] {
    line = __LINE__ + 1;
    CollectiveProgram other("p", Dispatch(2, 1, static_cast<ExpertLayout>(2)));
  });
  CHECK(layout.text("no_enumerator", line) ==
        "'dispatch' is given a layout that is none of the enumerators of ExpertLayout");
}

TEST_CASE("slots where there are none") {
  int line = 0;
  const Outcome outcome = run([&] {
    CollectiveProgram program("p", AllToAllV(2, RowLayout::Padded));
    const Buffer scratch(0, 3), none;
    line = __LINE__ + 1;
    Rank(0).input().from(1);
    Rank(0).output().to(1);
    scratch.to(1);
    Rank(0).input().to(2);
    Rank(0).output().from(-1);
    none.to(0);
  });
  const auto words = [](const std::string &call, const std::string &buffer) {
    return "'" + call + "' names a slot of rows, which only the " + buffer +
           " of a collective of rows has, as AllToAllV: write slice() or []";
  };
  CHECK(outcome.text("no_slot", line) == words("from", "output"));
  CHECK(outcome.text("no_slot", line + 1) == words("to", "input"));
  CHECK(outcome.text("no_slot", line + 2) == words("to", "input"));
  CHECK(outcome.text("chunk_out_of_range", line + 3) == "slice 2:3 is out of range: rank 0's input has 2 chunks");
  CHECK(outcome.text("negative_index", line + 4).starts_with("slice -1:0 is out of range"));
  CHECK(outcome.text("never_made", line + 5) == "'slice' of a buffer that was never made");
  CHECK(outcome.diagnostics.numErrors() == 6);
  const Outcome other = run([&] {
    CollectiveProgram program("p", AllToAll(2, 1, false));
    line = __LINE__ + 1;
    Rank(0).input().to(1);
  });
  CHECK(other.text("no_slot", line) == words("to", "input"));
  const Outcome layout = run([&] {
    line = __LINE__ + 1;
    CollectiveProgram program("p", AllToAllV(2, static_cast<RowLayout>(2)));
  });
  CHECK(layout.text("no_enumerator", line) ==
        "'alltoallv' is given a layout that is none of the enumerators of RowLayout");
}

TEST_CASE("a slice beyond a scratch buffer points at the buffer, too") {
  int made = 0;
  const Outcome outcome = runIn(2, [&] {
    made = __LINE__ + 1;
    Buffer scratch(1, 3);
    scratch[3];
  });
  CHECK(outcome.note("chunk_out_of_range", "buffer_made_here", made) == "buffer of 3 chunks made here");
}

TEST_CASE("ends of channels") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    line = __LINE__ + 1;
    MemoryChannel(2, 0).signal(tb(0));
    PortChannel(1, -1).signal(tb(0));
    MemoryChannel(1, 1).signal(tb(0));
    MemoryChannel(5, 6);
  });
  CHECK(outcome.text("channel_destination_out_of_range", line) ==
        "destination rank 2 of a channel is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.text("channel_source_out_of_range", line + 1) ==
        "source rank -1 of a channel is out of range: the program's ranks are 0 to 1");
  CHECK(outcome.text("channel_to_itself", line + 2) ==
        "a channel leads from rank 1 to itself: use copy() and reduce() on its own chunks");
  CHECK(outcome.text("channel_destination_out_of_range", line + 3).starts_with("destination rank 5"));
  CHECK(outcome.text("channel_source_out_of_range", line + 3).starts_with("source rank 6"));
  CHECK(outcome.diagnostics.numErrors() == 5);
}

TEST_CASE("ranks of switch channels") {
  int line = 0;
  const Outcome outcome = runIn(4, [&] {
    line = __LINE__ + 1;
    SwitchChannel({}, BufferType::Input);
    SwitchChannel({0, 4}, BufferType::Input).atRank(0).broadcast(Rank(0).input()[0], 0, 1, tb(0));
    SwitchChannel({0, 1, 0}, BufferType::Input);
    SwitchChannel good({0, 1, 3}, BufferType::Input);
    good.atRank(2).broadcast(Rank(2).input()[0], 0, 1, tb(0));
    good.atRank(-1);
    SwitchChannel().atRank(0);
  });
  CHECK(outcome.text("switch_without_ranks", line) == "a switch channel needs at least one rank");
  CHECK(outcome.text("switch_rank_out_of_range", line + 1) ==
        "rank 4 of a switch channel is out of range: the program's ranks are 0 to 3");
  CHECK(outcome.text("switch_rank_twice", line + 2) == "rank 0 is listed twice in a switch channel");
  CHECK(outcome.text("rank_not_in_switch", line + 4) == "rank 2 does not belong to the switch channel");
  CHECK(outcome.text("rank_not_in_switch", line + 5) == "rank -1 does not belong to the switch channel");
  CHECK(outcome.text("never_made", line + 6) == "'atRank' of a switch channel that was never made");
  CHECK(outcome.diagnostics.numErrors() == 6);
}

TEST_CASE("a rank that a switch channel lacks points at the channel, too") {
  int made = 0;
  const Outcome outcome = runIn(2, [&] {
    made = __LINE__ + 1;
    SwitchChannel nvls({0}, BufferType::Input);
    nvls.atRank(1);
  });
  CHECK(outcome.note("rank_not_in_switch", "switch_made_here", made) == "switch channel made here");
}

TEST_CASE("thread blocks of groups and barriers") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    Rank rank(0);
    const Chunk in = rank.input()[0], out = rank.output()[0];
    line = __LINE__ + 1;
    rank.copy(out, in, ThreadBlockGroup({}));
    rank.copy(out, in, ThreadBlockGroup({0, 4096}));
    rank.copy(out, in, ThreadBlockGroup({1, 2, 1}));
    rank.barrier({});
    rank.barrier({0, -7});
    rank.barrier({3, 3});
    rank.copy(out, in, tb(-1));
    rank.copy(out, in, tb(1ll << 35));
    rank.copy(out, in, ThreadBlockGroup());
  });
  CHECK(outcome.text("empty_group", line) == "a thread-block group needs at least one thread block");
  CHECK(outcome.text("block_out_of_range", line + 1) ==
        "thread block 4096 is out of range: thread blocks are 0 to 4095");
  CHECK(outcome.text("block_twice", line + 2) == "thread block 1 is listed twice");
  CHECK(outcome.text("empty_barrier", line + 3) == "a barrier needs at least one thread block");
  CHECK(outcome.text("block_out_of_range", line + 4) == "thread block -7 is out of range: thread blocks are 0 to 4095");
  CHECK(outcome.text("block_twice", line + 5) == "thread block 3 is listed twice");
  CHECK(outcome.text("block_out_of_range", line + 6) == "thread block -1 is out of range: thread blocks are 0 to 4095");
  CHECK(outcome.text("block_out_of_range", line + 7) ==
        "thread block 34359738368 is out of range: thread blocks are 0 to 4095");
  CHECK(outcome.text("never_made", line + 8) == "'copy' in a thread-block group that was never made");
  CHECK(outcome.diagnostics.numErrors() == 9);
}

TEST_CASE("initial values of semaphores") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    line = __LINE__ + 1;
    Semaphore(0, -1);
    Semaphore(0, 1ll << 31);
    Semaphore().release(tb(0));
  });
  CHECK(outcome.text("semaphore_value_out_of_range", line) ==
        "initial value -1 of a semaphore is out of range: 0 to 2147483647");
  CHECK(outcome.text("semaphore_value_out_of_range", line + 1) ==
        "initial value 2147483648 of a semaphore is out of range: 0 to 2147483647");
  CHECK(outcome.text("never_made", line + 2) == "'release' of a semaphore that was never made");
}
