// Mistakes in the operands of operations.
#include "recorded.h"

using namespace mscclc;
using namespace mscclc::frontend;

TEST_CASE("a chunk of another rank than the operation's") {
  int sliced = 0, made = 0, line = 0;
  const Outcome outcome = runIn(4, [&] {
    sliced = __LINE__ + 1;
    const Chunk of2 = Rank(2).input()[0];
    const Chunk of0 = Rank(0).input()[0], of1 = Rank(1).input()[0];
    made = __LINE__ + 1;
    MemoryChannel channel(1, 0);
    line = __LINE__ + 1;
    channel.put(of2, of0, tb(0));
    channel.put(of1, of2, tb(0));
    channel.get(of1, of1, tb(0));
    channel.get(of0, of0, tb(0));
    Rank(0).copy(of0, of1, tb(0));
    Rank(0).reduce(of0, {of2}, tb(0));
    channel.reduce(of0, {of1, of2}, tb(0));
    channel.reduce(of1, {of1}, tb(0), {.dst = of0});
    channel.reduce(of0, {of1}, tb(0), {.dst = of1});
    copy(of0, of1, tb(0));
    SwitchChannel({0, 1}, BufferType::Input).atRank(0).broadcast(of1, 0, 1, tb(0));
  });
  const auto text = [&](int offset) { return outcome.text("chunk_of_other_rank", line + offset); };
  CHECK(text(0) == "the destination is a chunk of rank 2, but the channel leads to rank 1");
  CHECK(text(1) == "the source is a chunk of rank 2, but the channel belongs to rank 0");
  CHECK(text(2) == "the destination is a chunk of rank 1, but the channel belongs to rank 0");
  CHECK(text(3) == "the source is a chunk of rank 0, but the channel leads to rank 1");
  CHECK(text(4) == "the source is a chunk of rank 1, but the operation is one of rank 0");
  CHECK(text(5) == "the other chunk is a chunk of rank 2, but the operation is one of rank 0");
  CHECK(text(6) == "the remote source is a chunk of rank 2, but the channel leads to rank 1");
  CHECK(text(7) == "the local source is a chunk of rank 1, but the channel belongs to rank 0");
  CHECK(text(8) == "the destination is a chunk of rank 1, but the channel belongs to rank 0");
  CHECK(text(9) == "the source is a chunk of rank 1, but the operation is one of rank 0");
  CHECK(text(10) == "the source is a chunk of rank 1, but the switch channel is used at rank 0");
  CHECK(outcome.diagnostics.numErrors() == 11);
  const ir::Diagnostic &first = outcome.diagnostics.all().front();
  REQUIRE(first.notes.size() == 2);
  CHECK(first.notes[0].message == "chunk of rank 2 sliced here");
  CHECK(first.notes[0].place.line == static_cast<std::uint32_t>(sliced));
  CHECK(first.notes[1].message == "channel from rank 0 to rank 1 made here");
  CHECK(first.notes[1].place.line == static_cast<std::uint32_t>(made));
}

TEST_CASE("sizes that differ") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    Rank rank(0);
    MemoryChannel channel(1, 0);
    const Chunk one = rank.input()[0], two = rank.output().slice(0, 2), far = Rank(1).input().slice(0, 3);
    line = __LINE__ + 1;
    rank.copy(two, one, tb(0));
    channel.put(far, two, tb(0));
    channel.get(one, far, tb(0));
    rank.reduce(one, {two}, tb(0));
    rank.reduce(one, {one}, tb(0), {.dst = two});
    channel.reduce(two, {far}, tb(0));
    SwitchChannel({0, 1}, BufferType::Input).atRank(0).reduce(0, 1, two, tb(0));
  });
  const auto text = [&](int offset) { return outcome.text("sizes_differ", line + offset); };
  CHECK(text(0) == "sizes differ: destination of 2 chunks, source of 1 chunk");
  CHECK(text(1) == "sizes differ: destination of 3 chunks, source of 2 chunks");
  CHECK(text(2) == "sizes differ: destination of 1 chunk, source of 3 chunks");
  CHECK(text(3) == "sizes differ: other chunk of 2 chunks, source of 1 chunk");
  CHECK(text(4) == "sizes differ: destination of 2 chunks, source of 1 chunk");
  CHECK(text(5) == "sizes differ: remote source of 3 chunks, local source of 2 chunks");
  CHECK(outcome.text("switch_size_differs", line + 6) == "sizes differ: destination of 2 chunks, size argument 1");
  CHECK(outcome.diagnostics.numErrors() == 7);
}

TEST_CASE("packets lie in scratch") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    Rank rank(0);
    Buffer scratch(0, 2);
    MemoryChannel channel(1, 0);
    const Chunk in = rank.input()[0], out = rank.output()[0], far = Rank(1).output()[0];
    line = __LINE__ + 1;
    rank.copyPackets(out, in, tb(0));
    rank.unpackPackets(out, in, tb(0));
    rank.reduce(in, {scratch[0], out}, tb(0), {.packet = true});
    channel.putPackets(far, in, tb(0));
    channel.readPutPackets(far, scratch[0], tb(0));
    PortChannel(1, 0).readPutPackets(Buffer(1, 1)[0], in, tb(0));
    SwitchChannel({0, 1}, BufferType::Output).atRank(0).broadcastPackets(scratch[0], 0, 1, tb(0));
    SwitchChannel({0, 1}, BufferType::Scratch).atRank(0).broadcastPackets(in, 0, 1, tb(0));
    PortChannel(1, 0).putPackets(Buffer(1, 1)[0], in, tb(0));
  });
  const auto text = [&](int offset) { return outcome.text("packets_outside_scratch", line + offset); };
  CHECK(text(0) == "the destination of 'copyPackets' is a chunk of the output: packets lie in scratch only");
  CHECK(text(1) == "the source of 'unpackPackets' is a chunk of the input: packets lie in scratch only");
  CHECK(text(2) == "the other chunk of 'reduce' is a chunk of the output: packets lie in scratch only");
  CHECK(text(3) == "the destination of 'putPackets' is a chunk of the output: packets lie in scratch only");
  CHECK(text(4) == "the destination of 'readPutPackets' is a chunk of the output: packets lie in scratch only");
  CHECK(text(5) == "the source of 'readPutPackets' is a chunk of the input: packets lie in scratch only");
  CHECK(outcome.text("switch_packets_outside_scratch", line + 6) ==
        "'broadcastPackets' goes through a switch channel over output buffers: packets lie in scratch only");
  CHECK(text(7) == "the source of 'broadcastPackets' is a chunk of the input: packets lie in scratch only");
  CHECK(outcome.text("port_packets_plain", line + 8) ==
        "a port sends the bytes of the source of 'putPackets' unchanged, so these must be packets in scratch, not a "
        "chunk of the input: call copyPackets into scratch first, and end the phase");
  CHECK(outcome.diagnostics.all().back().notes.size() == 1);
  CHECK(outcome.diagnostics.numErrors() == 9);
}

TEST_CASE("port operations in a thread-block group") {
  int made = 0, line = 0;
  const Outcome outcome = runIn(2, [&] {
    PortChannel port(1, 0);
    Buffer near(0, 1), far(1, 1);
    made = __LINE__ + 1;
    ThreadBlockGroup group({0, 1});
    line = __LINE__ + 1;
    port.put(far[0], near[0], group);
    port.signal(group);
    port.wait(group);
    port.flush(group);
    port.putWithSignal(far[0], near[0], group);
    port.putWithSignalAndFlush(far[0], near[0], group);
    port.putPackets(far[0], near[0], group);
    port.readPutPackets(far[0], near[0], group); // slices well: the DSL has it, too
    MemoryChannel(1, 0).signal(group);
  });
  const char *names[] = {"put", "signal", "wait", "flush", "putWithSignal", "putWithSignalAndFlush", "putPackets"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    CHECK(outcome.text("port_in_group", line + static_cast<int>(i)) ==
          "'" + std::string(names[i]) +
              "' of a port channel cannot be in a thread-block group: one thread issues it, so name a single thread "
              "block");
  CHECK(outcome.diagnostics.all().front().notes.at(0).message == "thread-block group made here");
  CHECK(outcome.diagnostics.all().front().notes.at(0).place.line == static_cast<std::uint32_t>(made));
  CHECK(outcome.diagnostics.numErrors() == std::size(names));
}

TEST_CASE("operands that are missing") {
  int line = 0;
  const Outcome outcome = runIn(2, [&] {
    Rank rank(0);
    const Chunk in = rank.input()[0];
    line = __LINE__ + 1;
    rank.reduce(in, {}, tb(0));
    MemoryChannel(1, 0).reduce(in, std::vector<Chunk>(), tb(0));
    rank.copy(Chunk(), in, tb(0));
    copy(Chunk(), Chunk(), tb(0));
    MemoryChannel().put(in, in, tb(0));
    PortChannel().flush(tb(0));
    rank.reduce(in, std::vector<Chunk>(70000, in), tb(0));
  });
  CHECK(outcome.text("no_other_chunks", line) == "'reduce' needs at least one other chunk");
  CHECK(outcome.text("no_other_chunks", line + 1) == "'reduce' needs at least one other chunk");
  CHECK(outcome.text("never_sliced", line + 2) == "the destination of 'copy' was never sliced from a buffer");
  CHECK(outcome.diagnostics.render(false).find("the source of 'copy'") == std::string::npos); // one of a kind a place
  CHECK(outcome.text("never_made", line + 4) == "'put' of a channel that was never made");
  CHECK(outcome.text("never_made", line + 5) == "'flush' of a channel that was never made");
  CHECK(outcome.text("too_many_chunks", line + 6) == "an operation names more than 65535 chunks");
}

TEST_CASE("chunks of a switch channel out of range") {
  int line = 0, made = 0;
  const Outcome outcome = runIn(3, [&] {
    Buffer a(0, 4), b(1, 3);
    const Chunk in = Rank(0).input()[0];
    made = __LINE__ + 1;
    SwitchChannel scratch({0, 1}, BufferType::Scratch);
    SwitchChannel output({0, 1}, BufferType::Output);
    line = __LINE__ + 1;
    output.atRank(0).reduce(4, 1, in, tb(0));
    output.atRank(0).reduce(-1, 1, in, tb(0));
    scratch.atRank(0).broadcast(in, 3, 1, tb(0));
    scratch.atRank(0).broadcast(in, 4, 1, tb(0));
    output.atRank(0).broadcast(in, 0x7fffffffffffffff, 1, tb(0));
    Buffer later(1, 1); // makes room for the first broadcast, which is no mistake then
  });
  const auto text = [&](int offset) { return outcome.text("switch_offset_out_of_range", line + offset); };
  CHECK(text(0) == "chunks 4:5 of the switch channel are out of range: rank 0's output has 4 chunks");
  CHECK(text(1) == "chunks -1:0 of the switch channel are out of range: rank 0's output has 4 chunks");
  CHECK(text(3) == "chunks 4:5 of the switch channel are out of range: rank 0's scratch buffer has 4 chunks");
  CHECK(text(4) == "chunks 9223372036854775807:9223372036854775807 of the switch channel are out of range: rank 0's "
                   "output has 4 chunks");
  CHECK(outcome.diagnostics.numErrors() == 4);
  CHECK(outcome.diagnostics.all().back().notes.at(0).place.line == static_cast<std::uint32_t>(made));
}

TEST_CASE("after a mistake the rest is looked at") {
  const Outcome outcome = runIn(2, [&] {
    const Chunk bad = Rank(9).input()[0];
    Rank(0).copy(bad, Rank(0).input()[9], tb(0)); // only the slice is new
    MemoryChannel(1, 0).put(bad, Rank(0).input()[0], tb(-1));
  });
  CHECK(outcome.diagnostics.numErrors() == 3);
  CHECK_FALSE(outcome.program);
}
