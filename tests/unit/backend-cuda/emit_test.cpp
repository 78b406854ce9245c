#include "backend-cuda/fused_hooks.h"
#include "emit.h"
#include "ir/internal_error.h"
#include "runtime-min/include/mscclc/runtime_abi.h"

#include "tests/cuda/program_maker.h"

using namespace mscclc;
using namespace mscclc::test;

namespace {

ir::Program copyProgram() {
  ProgramMaker m("my plan-1", ir::CollectiveKind::AllGather, 2, 1, 2, 0, 1);
  for (std::uint32_t r = 0; r < 2; ++r)
    m.add(r, 0, OpKind::Copy, {m.input(0)}, {m.output(r)});
  return m.program;
}

/// Returns the error for a program that cannot be a kernel. Checks that nothing is written then.
std::string refusal(const ir::Program &program, const cuda::EmitOptions &options = {}) {
  ir::DiagnosticEngine diagnostics;
  diagnostics.setSources(&program.sources);
  std::string out = "before";
  CHECK_FALSE(cuda::emitKernel(program, options, out, diagnostics));
  CHECK(out == "before");
  return diagnostics.render(false);
}

ir::Program pipeline(std::uint64_t unit, OpKind kind) {
  ProgramMaker m("p", ir::CollectiveKind::Test, 1, 1, 1, 1, 1);
  ir::Op &loop = m.add(0, 0, OpKind::Pipeline);
  loop.imm = unit;
  loop.count = 1;
  loop.bodySize = 1;
  loop.loc = m.program.sources.addPlace(m.program.sources.addFile("algo.cpp"), 7, 3);
  m.add(0, 0, kind, {m.input(0)}, {m.scratch(0)});
  return m.program;
}

} // namespace

TEST_CASE("the head names tool, source and switches") {
  cuda::EmitOptions options;
  options.toolVersion = "mscclc 1.2.3";
  options.sourceName = "algo.cpp";
  options.switches = "-O1 -P name=\"a\\b?\?/\"\n";
  const std::string text = emit(copyProgram(), options);
  CHECK(text.rfind("// my plan-1: allgather of 2 ranks\n//\n"
                   "// Written by mscclc 1.2.3 from algo.cpp with -O1 -P name=\"a\\b?\?/\" \n",
                   0) == 0);
  CHECK(text.find("switches = \"-O1 -P name=\\\"a\\\\b?\\?/\\\"\\012\";") != std::string::npos);
  CHECK(text.find("mscclc_kernel_my_plan_1()") != std::string::npos);
  CHECK(text.find('@') == std::string::npos);
}

TEST_CASE("the text has its digest") {
  const auto digestIn = [](const std::string &text) { return text.substr(text.find("*digest = \"") + 11, 16); };
  cuda::EmitOptions options;
  const std::string text = emit(copyProgram(), options), digest = digestIn(text);
  CHECK(digest.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(digest != "0000000000000000");
  CHECK(text == emit(copyProgram(), options));
  options.toolVersion = "mscclc 9";
  CHECK(digestIn(emit(copyProgram(), options)) != digest);
  ir::Program other = copyProgram();
  std::swap(other.ranks[0].blocks[0].ops[0], other.ranks[0].blocks[0].ops.back());
  other.ranks[0].blocks[0].ops.pop_back();
  CHECK(digestIn(emit(other)) != digest);
  // A name that looks like the field is none.
  ir::Program named = copyProgram();
  named.name = "static constexpr const char *digest = \"abcdefghabcdefgh\"";
  CHECK(emit(named).find("= \"abcdefghabcdefgh\"") != std::string::npos);
}

TEST_CASE("operations name their place in the source") {
  ir::Program program = copyProgram();
  const std::uint32_t file = program.sources.addFile("dir/algo.cpp");
  for (ir::Rank &rank : program.ranks)
    rank.blocks[0].ops[0].loc = program.sources.addPlace(file, 12, 5);
  CHECK(emit(program).find("// copy  algo.cpp:12\n") != std::string::npos);
}

TEST_CASE("shares follow the collective") {
  CHECK(emit(copyProgram()).find("shares = 2;") != std::string::npos);
  ir::Program custom = copyProgram();
  custom.collective.kind = ir::CollectiveKind::Custom;
  CHECK(emit(custom).find("shares = 1;") != std::string::npos);
}

TEST_CASE("a kernel names its root, and says where buffers lie that share memory") {
  ir::Program program = copyProgram();
  CHECK(emit(program).find("root") == std::string::npos);
  program.collective.kind = ir::CollectiveKind::Gather;
  program.collective.root = 1;
  program.collective.inplace = true;
  CHECK(emit(program).find("flags = " + std::to_string(MSCCLC_IN_PLACE | MSCCLC_ROOTED) + ", root = 1;") !=
        std::string::npos);
  program.collective.kind = ir::CollectiveKind::Custom;
  CHECK(emit(program).find("flags = " + std::to_string(MSCCLC_IN_PLACE | MSCCLC_ONE_START) + ";") != std::string::npos);
}

TEST_CASE("a kernel says that several blocks signal on one channel") {
  const auto flagsOf = [](std::uint32_t second) {
    ProgramMaker m("two", ir::CollectiveKind::Test, 2, 1, 1, 0, 2);
    const std::uint32_t first = m.connectAll(), other = m.connectAll();
    for (std::uint32_t r = 0; r < 2; ++r)
      for (std::uint32_t b = 0; b < 2; ++b)
        m.all(r, b, OpKind::Signal, b == 0 ? first : second);
    static_cast<void>(other);
    const std::string text = emit(m.program);
    const std::size_t at = text.find("flags = ") + 8;
    return std::stoul(text.substr(at, text.find_first_of(",;", at) - at));
  };
  CHECK(flagsOf(0) == MSCCLC_SHARED_SIGNALS);
  CHECK(flagsOf(1) == 0);
}

TEST_CASE("a kernel says that it does not keep its input") {
  ir::Program program = copyProgram();
  CHECK(emit(program).find("flags = 0;") != std::string::npos);
  for (ir::Rank &rank : program.ranks)
    rank.blocks[0].chunks[1] = rank.blocks[0].chunks[0];
  CHECK(emit(program).find("flags = " + std::to_string(MSCCLC_WRITES_INPUT)) != std::string::npos);
  program.collective.inplace = true;
  CHECK(emit(program).find("flags = " + std::to_string(MSCCLC_IN_PLACE) + ";") != std::string::npos);
}

TEST_CASE("a size that is compiled in is the only size") {
  cuda::EmitOptions options;
  options.messageSize = 4096;
  const std::string text = emit(copyProgram(), options);
  CHECK(text.find("messageBytes = 4096;") != std::string::npos);
  CHECK(text.find("minMessageBytes = 4096, maxMessageBytes = 4096;") != std::string::npos);
}

TEST_CASE("instances of launches are a table") {
  cuda::EmitOptions options;
  CHECK(emit(copyProgram(), options).find("LaunchInstances") == std::string::npos);
  options.instances = {{0, 1}, {std::uint64_t{4} << 30, 8}};
  CHECK(emit(copyProgram(), options).find("LaunchInstances instances[] = {{0, 1}, {4294967296u, 8}};") !=
        std::string::npos);
}

TEST_CASE("ports, hooks, counts and Lamport packets allow one instance") {
  ir::Program program = copyProgram();
  CHECK(cuda::mayHaveInstances(program));
  program.protocol = ir::Protocol::Lamport;
  CHECK_FALSE(cuda::mayHaveInstances(program));
  program.protocol = ir::Protocol::LL;
  program.ranks[1].portPeers = {0};
  CHECK_FALSE(cuda::mayHaveInstances(program));
  program.ranks[1].portPeers.clear();
  program.collective.kind = ir::CollectiveKind::AllToAllV;
  CHECK_FALSE(cuda::mayHaveInstances(program));
  program.collective.kind = ir::CollectiveKind::AllGather;
  program.hooks.emplace_back();
  CHECK_FALSE(cuda::mayHaveInstances(program));
  cuda::EmitOptions options;
  options.instances = {{0, 2}};
  ir::DiagnosticEngine diagnostics;
  std::string out;
  CHECK_THROWS_AS(cuda::emitKernel(program, options, out, diagnostics), ir::InternalError);
}

TEST_CASE("a hook on elements is called by the operation that stores its chunk") {
  ProgramMaker m("hooked", ir::CollectiveKind::Test, 1, 2, 2, 0, 1);
  ir::Hook &hook = m.program.hooks.emplace_back();
  hook.name = "h";
  hook.function = "H";
  m.add(0, 0, OpKind::Copy, {m.input(0)}, {m.output(1)});
  m.nop(0, 0);
  m.add(0, 0, OpKind::Apply, {}, {m.output(1)});
  const auto isFused = [&] {
    const std::string text = emit(m.program);
    CHECK((text.find("apply<Hook0>(k") == std::string::npos) == (text.find("hooked<Hook0>(") != std::string::npos));
    return text.find("copy(k, k.whole(1), one(k.input(0)), hooked<Hook0>(one(k.output(1)), 1));") != std::string::npos;
  };
  CHECK(isFused());
  ir::ThreadBlock &block = m.program.ranks[0].blocks[0];
  hook.granularity = ir::Granularity::Row;
  CHECK_FALSE(isFused());
  hook.granularity = ir::Granularity::Element;
  block.ops[2].groupSize = 2;
  CHECK_FALSE(isFused());
  block.ops[2].groupSize = 0;
  block.chunks[2] = m.output(0);
  CHECK_FALSE(isFused());
  block.chunks[2] = m.output(1);
  m.program.movement.accumulate = ir::Accumulate::Wide;
  CHECK_FALSE(cuda::fusedHooks(m.program, 0, 0)[0] != 0);
}

TEST_CASE("a hook on rows is called by the operation that reads the packets of one rank") {
  ProgramMaker m("hooked", ir::CollectiveKind::Test, 1, 2, 2, 2, 1);
  ir::Hook &hook = m.program.hooks.emplace_back();
  hook.name = "h";
  hook.function = "H";
  hook.granularity = ir::Granularity::Row;
  m.add(0, 0, OpKind::CopyPacket, {m.input(0)}, {m.scratch(0)});
  m.add(0, 0, OpKind::UnpackPacket, {m.scratch(0)}, {m.output(1)});
  m.nop(0, 0);
  m.add(0, 0, OpKind::Apply, {}, {m.output(1)});
  // The threads have other elements than in the operation before. The end of the launch is a sync.
  const std::string text = emit(m.program);
  CHECK(text.find("  k.sync();\n  // upkt; apply\n"
                  "  fromPackets(k, 1, k.whole(1), one(k.packets(0)), hooked<Hook0>(one(k.output(1)), 1));\n}\n") !=
        std::string::npos);
  ir::ThreadBlock &block = m.program.ranks[0].blocks[0];
  block.ops[1].groupSize = block.ops[3].groupSize = 2;
  CHECK(cuda::fusedHooks(m.program, 0, 0)[1] == 0);
  block.ops[1].groupSize = block.ops[3].groupSize = 0;
  CHECK(cuda::fusedHooks(m.program, 0, 0)[1] == 2);
  // A sum of packets of several ranks is made so, too. With a wire format nothing is.
  ProgramMaker sums("sums", ir::CollectiveKind::Test, 1, 2, 2, 2, 1);
  sums.program.hooks = m.program.hooks;
  sums.add(0, 0, OpKind::ReducePacket, {sums.input(0), sums.scratch(0), sums.scratch(1)}, {sums.output(1)});
  sums.nop(0, 0);
  sums.add(0, 0, OpKind::Apply, {}, {sums.output(1)});
  CHECK(cuda::fusedHooks(sums.program, 0, 0)[0] == 2);
  sums.program.hooks[0].granularity = ir::Granularity::Element;
  CHECK(cuda::fusedHooks(sums.program, 0, 0)[0] == 2);
  sums.program.hooks.emplace_back().wire = ir::Wire::F8E4m3;
  CHECK(cuda::fusedHooks(sums.program, 0, 0)[0] == 0);
}

TEST_CASE("a size that is compiled in must be one of the plan's") {
  ir::Program program = copyProgram();
  program.minMessageSize = 1024;
  program.maxMessageSize = 2048;
  cuda::EmitOptions options;
  options.messageSize = 4096;
  CHECK(refusal(program, options).find("message size 4096 is outside the plan's range of 1024 to 2048 bytes") !=
        std::string::npos);
  options.messageSize = 1029;
  CHECK(refusal(program, options)
            .find("message size 1029 is not a multiple of 2, one share for each rank of an element's 1 byte;") !=
        std::string::npos);
}

TEST_CASE("blocks that no GPU runs are refused") {
  ir::Program program = copyProgram();
  program.threadsPerBlock = 2048;
  CHECK(
      refusal(program).find("plan 'my plan-1': error: a block of 2048 threads is more than the 1024 that a GPU runs") !=
      std::string::npos);
  program.threadsPerBlock = 0;
  CHECK(refusal(program).find("a thread block needs at least one thread") != std::string::npos);
}

TEST_CASE("alignment must be something") {
  ir::Program program = copyProgram();
  program.bufferAlignment = 0;
  CHECK(refusal(program).find("a buffer alignment of 0 bytes leaves no place for chunks") != std::string::npos);
}

TEST_CASE("pipeline units must be whole elements and packets") {
  CHECK(refusal(pipeline(0, OpKind::Copy)).find("algo.cpp:7:3: error: a pipeline unit of 0 bytes never ends") !=
        std::string::npos);
  CHECK(refusal(pipeline(6, OpKind::Copy))
            .find("a pipeline unit of 6 bytes is not a multiple of 8, so elements and packets would be cut in two") !=
        std::string::npos);
  CHECK(refusal(pipeline(12, OpKind::CopyPacket)).find("a pipeline unit of 12 bytes is not a multiple of 8") !=
        std::string::npos);
  emit(pipeline(24, OpKind::Copy));
}
