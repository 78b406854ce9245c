#include "emit.h"

#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

ProgramMaker twoRanks() {
  return ProgramMaker("two", ir::CollectiveKind::Test, 2, 4, 4, 4, 1);
}

/// The statements of both ranks' only block, which must be one program.
std::string statements(const ProgramMaker &m) {
  const std::string text = emit(m.program);
  CHECK(count(text, "void program") == 1);
  return blockProgram(text, 0);
}

bool has(const std::string &text, const std::string &what) {
  INFO(text);
  INFO(what);
  return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("chunks of scratch name the slot that they hold, and chunks of a share do not") {
  ProgramMaker m("rows", ir::CollectiveKind::AllToAllV, 2, 2, 2, 2, 1);
  ir::RowSlots rows;
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.add(r, 0, OpKind::Copy, {m.input(1)}, {m.scratch(0)});
    m.add(r, 0, OpKind::Copy, {m.scratch(0)}, {m.scratch(1)});
    rows.set({r, 0, 0}, 0, 0, {r, 1});
    rows.set({r, 0, 1}, 0, 0, {r, 1});
  }
  cuda::EmitOptions options;
  options.rows = &rows;
  const std::string text = emit(m.program, options);
  CHECK(has(text, "SlotLayout::Padded"));
  CHECK(has(text, "one(k.input(1)), one(k.scratch(0)));"));
  CHECK(has(text, "one(k.scratch(0).holding(2 * k.rank + 1, 0)), one(k.scratch(1).holding(2 * k.rank + 1, 0)));"));
}

TEST_CASE("a get writes where its destination says") {
  ProgramMaker m = twoRanks();
  const std::uint32_t c = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Get, {m.remote(r, 1 - r, BufferKind::Input, 3)}, {m.output(1)}, {m.channel(c, r, 1 - r)},
          ChannelType::Memory);
  CHECK(has(statements(m), "copy(k, k.whole(1), one(k.peerInput(-k.rank + 1, 3)), one(k.output(1)));"));
}

TEST_CASE("a put takes each source from its own buffer") {
  ProgramMaker m = twoRanks();
  m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Put, {m.input(0), m.scratch(2)},
          {m.remote(r, 1 - r, BufferKind::Output, 0), m.remote(r, 1 - r, BufferKind::Output, 1)}, {},
          ChannelType::Memory);
  CHECK(has(statements(m), "copyPairs(k, k.whole(1), few(k.input(0), k.scratch(2)),"));
}

TEST_CASE("pairs of different size are moved apart") {
  ProgramMaker m = twoRanks();
  m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Put, {m.input(0), m.input(1, 2)},
          {m.remote(r, 1 - r, BufferKind::Output, 0), m.remote(r, 1 - r, BufferKind::Output, 1, 2)}, {},
          ChannelType::Memory);
  const std::string body = statements(m);
  CHECK(has(body, "copy(k, k.whole(1), one(k.input(0))"));
  CHECK(has(body, "copy(k, k.whole(2), one(k.input(1))"));
}

TEST_CASE("the operation of a reduction is the plan's") {
  ProgramMaker m = twoRanks();
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.add(r, 0, OpKind::Reduce, {m.input(0), m.scratch(0)}, {m.output(0)}).reduceOp = ir::ReduceOp::Max;
    m.add(r, 0, OpKind::Reduce, {m.input(1), m.scratch(1)}, {m.output(1)}).reduceOp = ir::ReduceOp::Min;
  }
  const std::string body = statements(m);
  CHECK(has(body, "reduce<Max>"));
  CHECK(has(body, "reduce<Min>"));
  CHECK(has(emit(m.program), "#define MSCCLC_REDUCE_OPS MixedReduce"));
}

TEST_CASE("one operation throughout is a template argument") {
  ProgramMaker m = twoRanks();
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Reduce, {m.input(0), m.scratch(0)}, {m.output(0)}).reduceOp = ir::ReduceOp::Min;
  CHECK(has(statements(m), "reduce<Op>"));
  CHECK(has(emit(m.program), "#define MSCCLC_REDUCE_OPS Min"));
  for (ir::Rank &rank : m.program.ranks)
    for (ir::Op &op : rank.blocks[0].ops)
      op.reduceOp = ir::ReduceOp::Prod;
  CHECK(has(emit(m.program), "#define MSCCLC_REDUCE_OPS Prod"));
}

TEST_CASE("a rank may add its own operand after others") {
  ProgramMaker m = twoRanks();
  m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r) {
    m.add(r, 0, OpKind::ReadReduce, {m.input(0), m.remote(r, 1 - r, BufferKind::Input, 0)}, {m.output(0)}).firstAfter =
        r;
    m.add(r, 0, OpKind::ReducePacket, {m.input(0), m.scratch(0), m.scratch(1)}, {m.output(1)}, {}, ChannelType::None)
        .firstAfter = 2 - r;
  }
  const std::string body = statements(m);
  CHECK(has(body,
            "reduceAfter<Op>(k, k.whole(1), k.rank, few(k.input(0), k.peerInput(-k.rank + 1, 0)), one(k.output(0)));"));
  CHECK(has(body, "reducePacketsAfter<Op>(k, 1, k.whole(1), -k.rank + 2, one(k.input(0)),"));
}

TEST_CASE("ports: flush waits, packets go as they lie there") {
  ProgramMaker m = twoRanks();
  const std::uint32_t c = m.connectAll(ChannelType::Port);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const std::vector<std::uint32_t> ids{m.channel(c, r, 1 - r)};
    m.add(r, 0, OpKind::PutPacket, {m.scratch(1)}, {m.remote(r, 1 - r, BufferKind::Scratch, 2, 1, ChannelType::Port)},
          ids, ChannelType::Port);
    m.add(r, 0, OpKind::Flush, {}, {}, ids, ChannelType::Port);
  }
  const std::string body = statements(m);
  CHECK(has(body, "portPut<Then::Nothing>(k, 0, k.whole(1), one(0), one(k.packets(1)), one(k.portPackets(2)));"));
  CHECK(has(body, "portFlush(k, 1, one(0));"));
  CHECK(has(emit(m.program), "scratchSlots = 4;"));
  CHECK(has(emit(m.program), "peerBuffers = 0;")); // a proxy reaches them
}

TEST_CASE("a kernel is given the addresses of those buffers of its peers that it accesses") {
  ProgramMaker m = twoRanks();
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Copy, {m.input(0)}, {m.output(0)});
  CHECK(has(emit(m.program), "peerBuffers = 0;"));
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Put, {m.input(0)}, {m.remote(r, 1 - r, BufferKind::Output, 0)});
  CHECK(has(emit(m.program), "peerBuffers = 2;"));
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Get, {m.remote(r, 1 - r, BufferKind::Scratch, 0)}, {m.output(0)});
  CHECK(has(emit(m.program), "peerBuffers = 6;"));
  CHECK(has(emit(m.program), "switchChannels = 0;"));
}

TEST_CASE("pipelines and groups slice their operations") {
  ProgramMaker m = twoRanks();
  for (std::uint32_t r = 0; r < 2; ++r) {
    ir::Op &loop = m.add(r, 0, OpKind::Pipeline);
    loop.imm = 4096;
    loop.count = 2;
    loop.bodySize = 1;
    ir::Op &copy = m.add(r, 0, OpKind::Copy, {m.input(0, 2)}, {m.output(2, 2)});
    copy.groupIndex = 1;
    copy.groupSize = 4;
  }
  const std::string body = statements(m);
  CHECK(has(body, "for (uint64_t u = 0, units = k.units(2, 4096); u < units; ++u) {"));
  CHECK(has(body, "copy(k, k.whole(2).part(1, 4).unit(u, 4096), one(k.input(0)), one(k.output(2)));"));
}

TEST_CASE("synchronisation that an operation still asks for is there") {
  ProgramMaker m = twoRanks();
  const std::uint32_t c = m.connectAll();
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Signal, {}, {}, {m.channel(c, r, 1 - r)}, ChannelType::Memory).sync = ir::DataSync::Both;
  CHECK(has(statements(m), "k.sync();\n  // signal\n  signal(k, one(0));\n  k.sync();"));
}

TEST_CASE("threads of a block leave registers for what its loops hold") {
  ProgramMaker m = twoRanks();
  m.program.threadsPerBlock = 1024;
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Put, {m.input(0)}, {m.remote(r, 1 - r, BufferKind::Output, 0)});
  CHECK(has(emit(m.program), "threads = 1024,"));
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Reduce, {m.output(0), m.input(0)}, {m.output(0)}).numSrcs = 2;
  CHECK(has(emit(m.program), "threads = 768,"));
  m.program.threadsPerBlock = 256;
  CHECK(has(emit(m.program), "threads = 256,"));
  CHECK(has(emit(m.program), "mostRows = 1;"));
  CHECK(has(emit(m.program), "MSCCLC_KERNEL(256, 1) mscclc_"));
  cuda::EmitOptions options;
  options.blocksOnEach = 3;
  CHECK(has(emit(m.program, options), "MSCCLC_KERNEL(256, 3) mscclc_"));
}
