// Small programs with outcomes that the PTX memory model allows or forbids. Each is run under many schedules. A
// forbidden outcome must never be seen. An allowed outcome that is no race must be seen; otherwise the machine is
// stronger than PTX and misses faults.
#include "catch.h"

#include "litmus.h"

#include <cstring>

using namespace mscclc::ptx;

namespace {

Seen run(const std::vector<std::string> &bodies, bool oneDevice = false, std::uint64_t schedules = 300) {
  return runLitmus(Litmus::of(bodies, oneDevice), schedules);
}

/// A module of kernels of one thread.
Module moduleOf(const std::vector<std::string> &bodies) {
  std::string text = ".version 9.0\n.target sm_90\n";
  for (std::size_t i = 0; i < bodies.size(); ++i)
    text += litmusEntry({bodies[i]}, i);
  return readModule(text);
}

std::string sent(const std::string &flag) {
  return "st.global.u64 [a], 1; " + flag;
}
std::string received(const std::string &flag) {
  return flag + " out 0, %rd1; setp.eq.u64 %p1, %rd1, 0; @%p1 bra DONE; ld.global.u64 %rd2, [a]; out 1, %rd2; DONE:";
}
const std::string store = "st.relaxed.sys.global.u64 ", load = "ld.relaxed.sys.global.u64 ";

} // namespace

TEST_CASE("a message is passed by a release and an acquire") {
  const Seen seen = run({sent("st.release.sys.global.u64 [b], 1;"), received("ld.acquire.sys.global.u64 %rd1, [b];")});
  CHECK(seen.races.empty());
  CHECK(seen.has({0, 0}));
  CHECK(seen.has({1, 1}));
  CHECK_FALSE(seen.has({1, 0}));
}

TEST_CASE("a message is passed by fences and relaxed accesses") {
  const std::string fence = "fence.acq_rel.sys; ";
  const std::string signal = fence + "red.relaxed.sys.global.add.u64 [b], 1;", wait = load + "%rd1, [b];";
  CHECK(run({sent(signal), received(wait + fence)}).races.empty());
  CHECK(run({sent("st.relaxed.sys.global.u64 [b], 1;"), received(wait + fence)}).races.size() == 1);
  CHECK(run({sent(signal), received(wait)}).races.size() == 1);
  CHECK(run({sent(fence + store + "[b], 1;"), received(fence + wait)}).races.size() == 1); // before the read
}

TEST_CASE("a scope that does not include the other thread orders nothing") {
  const std::vector<std::string> threads{sent("st.release.gpu.global.u64 [b], 1;"),
                                         received("ld.acquire.gpu.global.u64 %rd1, [b];")};
  CHECK_FALSE(run(threads).races.empty());
  CHECK(run(threads, true).races.empty());
  CHECK_FALSE(run({sent("fence.acq_rel.cta; st.relaxed.sys.global.u64 [b], 1;"),
                   received("ld.acquire.sys.global.u64 %rd1, [b];")},
                  true)
                  .races.empty());
  CHECK_FALSE(run({sent("fence.acq_rel.sys; st.relaxed.sys.global.u64 [b], 1;"),
                   received("ld.relaxed.sys.global.u64 %rd1, [b]; fence.acq_rel.gpu;")})
                  .races.empty());
}

TEST_CASE("plain accesses race, and strong ones of the same bytes do not") {
  CHECK_FALSE(run({"st.global.u64 [a], 1;", "ld.global.u64 %rd1, [a];"}).races.empty());
  CHECK_FALSE(run({"st.global.u64 [a], 1;", load + "%rd1, [a];"}).races.empty());
  CHECK(run({store + "[a], 1;", load + "%rd1, [a];"}).races.empty());
  CHECK_FALSE(run({store + "[a], 1;", "ld.relaxed.sys.global.u32 %rd1, [a];"}).races.empty());
  CHECK_FALSE(run({"st.global.u64 [a], 1;", "st.global.u8 [a], 1;"}).races.empty());
  CHECK(run({"ld.global.u64 %rd1, [a];", "ld.global.u64 %rd1, [a];"}).races.empty());
  CHECK(run({"st.volatile.global.u32 [a], 1;", "ld.volatile.global.u32 %rd1, [a];"}).races.empty());
}

TEST_CASE("stores may be seen late, but for fence.sc between them and loads") {
  const std::string left = store + "[a], 1; ", right = store + "[b], 1; ";
  const auto both = [&](const std::string &between) {
    return run({left + between + load + "%rd1, [b]; out 0, %rd1;", right + between + load + "%rd1, [a]; out 1, %rd1;"});
  };
  CHECK(both("").has({0, 0}));
  CHECK(both("fence.acq_rel.sys; ").has({0, 0}));
  CHECK_FALSE(both("fence.sc.sys; ").has({0, 0}));
  CHECK_FALSE(both("membar.sys; ").has({0, 0}));
}

TEST_CASE("reads of one location go forward") {
  const Seen seen = run(
      {store + "[a], 1; " + store + "[a], 2;", load + "%rd1, [a]; out 0, %rd1; " + load + "%rd2, [a]; out 1, %rd2;"});
  CHECK(seen.has({0, 2}));
  CHECK(seen.has({1, 1}));
  for (const std::vector<std::uint64_t> &backwards : {std::vector<std::uint64_t>{1, 0}, {2, 0}, {2, 1}})
    CHECK_FALSE(seen.has(backwards));
}

TEST_CASE("what a read saw binds those that it happens before") {
  // The second thread has read 1, and says so to the third.
  const Seen seen = run({store + "[a], 1;", load + "%rd1, [a]; out 0, %rd1; st.release.sys.global.u64 [b], 1;",
                         "ld.acquire.sys.global.u64 %rd1, [b]; out 1, %rd1; " + load + "%rd2, [a]; out 2, %rd2;"});
  CHECK(seen.has({1, 1, 1}));
  CHECK(seen.has({1, 0, 0}));
  CHECK_FALSE(seen.has({1, 1, 0}));
}

TEST_CASE("causality passes through a third thread") {
  const Seen seen = run({sent("st.release.sys.global.u64 [b], 1;"),
                         "ld.acquire.sys.global.u64 %rd1, [b]; setp.eq.u64 %p1, %rd1, 0; @%p1 bra DONE; "
                         "st.release.sys.global.u64 [c], 1; DONE:",
                         received("ld.acquire.sys.global.u64 %rd1, [c];")});
  CHECK(seen.races.empty());
  CHECK(seen.has({1, 1}));
}

TEST_CASE("two readers may see independent writes in different orders") {
  const auto reader = [](const char *first, const char *second, const std::string &at) {
    return std::string("ld.acquire.sys.global.u64 %rd1, ") + first + "; out " + at[0] + ", %rd1; " +
           "ld.acquire.sys.global.u64 %rd2, " + second + "; out " + at[1] + ", %rd2;";
  };
  CHECK(run({store + "[a], 1;", store + "[b], 1;", reader("[a]", "[b]", "01"), reader("[b]", "[a]", "23")}, false, 3000)
            .has({1, 0, 1, 0}));
}

TEST_CASE("a read-modify-write hands on what the write before it released") {
  const std::string middle = "red.relaxed.sys.global.add.u64 [b], 1;";
  const Seen seen = run({sent("fence.acq_rel.sys; red.relaxed.sys.global.add.u64 [b], 1;"), middle,
                         "ld.acquire.sys.global.u64 %rd1, [b]; out 0, %rd1; setp.ne.u64 %p1, %rd1, 2; @%p1 bra DONE; "
                         "ld.global.u64 %rd2, [a]; out 1, %rd2; DONE:"});
  CHECK(seen.races.empty());
  CHECK(seen.has({2, 1}));
}

TEST_CASE("the host passes on what was released to it") {
  const auto races = [](Order request, bool isHosts, Order wait) {
    alignas(8) std::uint64_t data = 0, requests = 0, signals = 0;
    const Instruction instruction{};
    const auto access = [&](std::uint32_t thread, std::uint64_t &word, Order order, bool writes = false) {
      return Access{.thread = thread,
                    .address = reinterpret_cast<std::uint64_t>(&word),
                    .bytes = 8,
                    .order = order,
                    .by = &instruction,
                    .writes = writes,
                    .isHosts = isHosts && &word == &requests};
    };
    std::mt19937_64 random(1);
    Memory memory(random);
    const std::uint32_t sender = memory.addThread(0, 0), receiver = memory.addThread(1, 0);
    memory.load(access(receiver, signals, Order::Relaxed));
    memory.load(access(sender, data, Order::Weak));
    memory.store(access(sender, requests, request, true), 1);
    signals = 1; // the host's write
    memory.load(access(receiver, signals, wait));
    memory.store(access(receiver, data, Order::Weak, true), 2);
    return memory.races().size();
  };
  CHECK(races(Order::Release, true, Order::Acquire) == 0);
  CHECK(races(Order::Relaxed, true, Order::Acquire) == 1);
  CHECK(races(Order::Release, false, Order::Acquire) == 1); // no word that the host reads
  CHECK(races(Order::Release, true, Order::Relaxed) == 1);
}

TEST_CASE("read-modify-writes see the last value") {
  const std::string add = "atom.relaxed.sys.global.add.u64 %rd1, [a], 1; ";
  const Seen seen = run({add + "out 0, %rd1;", add + "out 1, %rd1;"});
  CHECK(seen.outcomes.size() == 2);
  CHECK(seen.has({0, 1}));
  CHECK(seen.has({1, 0}));
}

TEST_CASE("a fence of aliases stands between a multicast address and the addresses that it stands for") {
  const std::string store = "multimem.st.relaxed.sys.global.u64 [A], 1; ", fence = "fence.proxy.alias; ";
  const std::string load = "multimem.ld_reduce.relaxed.sys.global.add.u64 %rd2, [A]; out 1, %rd2; DONE:";
  const auto racesOf = [](const std::string &sender, const std::string &reader) {
    return run({sender + "st.release.sys.global.u64 [b], 1;",
                "ld.acquire.sys.global.u64 %rd1, [b]; setp.eq.u64 %p1, %rd1, 0; @%p1 bra DONE; " + reader})
        .races.size();
  };
  const std::string plain = "ld.global.u64 %rd2, [a]; out 1, %rd2; DONE:", before = "st.global.u64 [a], 1; ";
  CHECK(racesOf(store, plain) == 1);
  CHECK(racesOf(store + fence, plain) == 0);
  CHECK(racesOf(store, fence + plain) == 0);
  CHECK(racesOf(fence + store, plain) == 1);
  CHECK(racesOf(before, load) == 1);
  CHECK(racesOf(before + fence, load) == 0);
  CHECK(racesOf(store, load) == 0); // both by one kind of address
  CHECK(run({before + store}).races.size() == 1);
  CHECK(run({before + fence + store}).races.empty());
  CHECK(run({"ld.global.u64 %rd2, [a]; multimem.st.relaxed.sys.global.u64 [A], 2;"}).races.size() == 1);
  CHECK(run({"ld.global.u64 %rd2, [a]; multimem.st.relaxed.sys.global.u64 [A], %rd2;"}).races.empty());
}

TEST_CASE("a store does not reach the reduction in the switch that its value was computed from") {
  const std::string reduction = "multimem.ld_reduce.relaxed.sys.global.add.u64 %rd2, [A]; ";
  CHECK(run({reduction + "add.u64 %rd2, %rd2, 1; st.global.u64 [a], %rd2;"}).races.empty());
  CHECK(run({reduction + "st.global.u64 [a], 1;"}).races.size() == 1);
  CHECK(run({reduction + "fence.proxy.alias; st.global.u64 [a], 1;"}).races.empty());
  // That of another thread.
  CHECK(run({reduction + "add.u64 %rd2, %rd2, 1; st.global.u64 [a], %rd2;", reduction}).races.size() >= 1);
}

TEST_CASE("different launches access a packet slot in an order") {
  const Module module = moduleOf({"ld.relaxed.sys.global.b64 %rd1, [a];", "st.relaxed.sys.global.b64 [a], 1;",
                                  "st.relaxed.sys.global.u64 [b], 1;",
                                  "WAIT: ld.relaxed.sys.global.u64 %rd1, [b]; setp.eq.u64 %p1, %rd1, 0; "
                                  "@%p1 bra WAIT;"});
  // Kernels, by their numbers, on two streams, one after the other.
  const auto racesOf = [&](const std::vector<std::pair<int, std::uint32_t>> &kernels) {
    alignas(64) std::uint64_t memory[16] = {};
    const std::uint64_t parameters[] = {reinterpret_cast<std::uint64_t>(memory), 0, 0};
    Machine machine(1);
    for (const auto &[stream, entry] : kernels) {
      Launch launch;
      launch.module = &module;
      launch.entry = entry;
      launch.parameters.resize(sizeof parameters);
      std::memcpy(launch.parameters.data(), parameters, sizeof parameters);
      launch.stream = &parameters[stream];
      launch.packets = {{parameters[0], 8}};
      machine.run({launch});
    }
    return machine.memory().races().size();
  };
  constexpr std::uint32_t load = 0, store = 1, say = 2, hear = 3;
  CHECK(racesOf({{0, load}, {1, store}}) == 0);
  CHECK(racesOf({{0, load}, {1, load}, {1, store}}) == 1);
  CHECK(racesOf({{0, load}, {0, say}, {1, hear}, {1, store}}) == 0);
  CHECK(racesOf({{0, store}, {1, say}, {1, store}}) == 1);
  CHECK(racesOf({{0, store}, {1, load}, {1, load}}) == 0); // what a launch has read, the next may read again
}

TEST_CASE("kernels of a stream follow each other, and a user sees what has come by the end") {
  const Module module = moduleOf({"st.global.u64 [a], 1;"});
  const auto racesOf = [&](bool oneStream, bool used) {
    alignas(64) std::uint64_t memory[8] = {};
    const std::uint64_t parameters[] = {reinterpret_cast<std::uint64_t>(memory), 0, 0};
    std::vector<Launch> launches(2);
    for (std::size_t i = 0; i < 2; ++i) {
      launches[i].module = &module;
      launches[i].parameters.resize(sizeof parameters);
      std::memcpy(launches[i].parameters.data(), parameters, sizeof parameters);
      launches[i].stream = &parameters[oneStream ? 0 : i];
    }
    if (used)
      launches[1].buffers = {{parameters[0], 8}};
    Machine machine(1);
    if (oneStream) {
      machine.run({launches[0]});
      machine.run({launches[1]});
    } else {
      machine.run(launches);
    }
    return machine.memory().races().size();
  };
  CHECK(racesOf(true, true) == 0);
  CHECK(racesOf(false, false) == 1);
}

TEST_CASE("a launch that may begin early waits for the earlier one before it accesses memory") {
  const Module module =
      moduleOf({"st.global.u64 [a], 1;", "griddepcontrol.wait; st.global.u64 [a], 1;",
                store + "[a], 1; griddepcontrol.wait;", "griddepcontrol.launch_dependents; ld.global.u64 %rd1, [a];"});
  const auto racesOf = [&](std::uint32_t entry, bool isDependent) {
    alignas(64) std::uint64_t memory[8] = {};
    const std::uint64_t parameters[] = {reinterpret_cast<std::uint64_t>(memory), 0, 0};
    Launch launch;
    launch.module = &module;
    launch.entry = entry;
    launch.isDependent = isDependent;
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), parameters, sizeof parameters);
    launch.buffers = {{parameters[0], 8}};
    Machine machine(1);
    machine.run({launch});
    return machine.memory().races().size();
  };
  for (const std::uint32_t entry : {0, 1, 2, 3})
    CHECK(racesOf(entry, false) == 0);
  CHECK(racesOf(0, true) == 1);
  CHECK(racesOf(1, true) == 0);
  CHECK(racesOf(2, true) == 1); // a strong access, too
  CHECK(racesOf(3, true) == 1);
}

TEST_CASE("threads of a block meet at a barrier, and a wait without end is a hang") {
  const std::string head = ".version 9.0\n.target sm_90\n.entry t(.param .u64 p0) {\n.reg .b64 %rd<9>;\n.reg .b32 "
                           "%r<9>;\n.reg .pred %p<9>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\n"
                           "setp.ne.u32 %p1, %r1, 0;\n";
  const auto racesOf = [&](const std::string &between) {
    const Module module =
        readModule(head + "@!%p1 st.global.u64 [%rd1], 7;\n" + between + "@%p1 ld.global.u64 %rd2, [%rd1];\nret;\n}\n");
    alignas(64) std::uint64_t memory[8] = {};
    const std::uint64_t parameter = reinterpret_cast<std::uint64_t>(memory);
    Launch launch;
    launch.module = &module;
    launch.threads = 32;
    launch.parameters.resize(8);
    std::memcpy(launch.parameters.data(), &parameter, 8);
    Machine machine(1);
    machine.run({launch});
    return machine.memory().races().size();
  };
  CHECK(racesOf("bar.sync 0;\n") == 0);
  CHECK(racesOf("") != 0);
  CHECK_THROWS_WITH(
      racesOf("WAIT: ld.relaxed.sys.global.u64 %rd3, [%rd1+8];\nsetp.eq.u64 %p2, %rd3, 0;\n@%p2 bra WAIT;\n"),
      containsText("no thread can go on") && containsText("block 0"));
}

// ISA 5.1.7 (shared state space), 9.7.9.8 (ld), 9.7.9.20 (cvta).
TEST_CASE("each block has shared memory of its own, in which threads can race") {
  const auto run = [](const std::string &between, const std::string &load, std::uint64_t (&results)[2]) {
    const Module module = readModule(
        ".version 9.0\n.target sm_90\n.shared .align 4 .b8 of_all[16];\n.entry t(.param .u64 p0) {\n.reg .b64 %rd<9>;\n"
        ".reg .b32 %r<9>;\n.reg .pred %p<9>;\n.shared .align 8 .b8 own[8];\nld.param.u64 %rd1, [p0];\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\nmov.u32 %r3, own;\n"
        "@!%p1 st.shared.u32 [%r3+4], %r2;\n@!%p1 st.shared.u32 [of_all], 9;\n" +
        between + load + "mul.wide.u32 %rd2, %r2, 8;\nadd.s64 %rd3, %rd1, %rd2;\n" +
        "setp.eq.u32 %p2, %r1, 1;\n@%p2 st.global.u32 [%rd3], %r4;\nret;\n}\n");
    const std::uint64_t parameter = reinterpret_cast<std::uint64_t>(&results[0]);
    Launch launch;
    launch.module = &module;
    launch.blocks = 2;
    launch.threads = 2;
    launch.parameters.resize(8);
    std::memcpy(launch.parameters.data(), &parameter, 8);
    Machine machine(1);
    machine.run({launch});
    return machine.memory().races().size();
  };
  alignas(64) std::uint64_t results[2] = {7, 7};
  CHECK(run("bar.sync 0;\n", "ld.shared.u32 %r4, [own+4];\n", results) == 0);
  CHECK((results[0] == 0 && results[1] == 1));
  CHECK(run("bar.sync 0;\n", "mov.u64 %rd5, own;\ncvta.shared.u64 %rd6, %rd5;\nld.u32 %r4, [%rd6+4];\n", results) == 0);
  CHECK((results[0] == 0 && results[1] == 1));
  CHECK(run("bar.sync 0;\n", "ld.shared.u32 %r4, [of_all];\n", results) == 0);
  CHECK((results[0] == 9 && results[1] == 9));
  CHECK(run("", "ld.shared.u32 %r4, [own+4];\n", results) != 0);
  CHECK_THROWS_WITH(run("", "ld.shared.u32 %r4, [own+8];\n", results), containsText("outside of shared memory"));
}

TEST_CASE("what the machine does not know is named") {
  const auto error = [](const std::string &body) -> std::string {
    try {
      readModule(".version 9.0\n.target sm_90\n.entry t() {\n" + body + "\nret;\n}\n");
    } catch (const Unknown &unknown) {
      return unknown.what();
    }
    return "";
  };
  CHECK(error("wgmma.fence.sync.aligned;") == "line 4: instruction wgmma.fence.sync.aligned");
  CHECK(error("ld.global.cg.u32 %r1, [%rd1];") == "line 4: instruction ld.global.cg.u32 (cg)");
  CHECK(error("bra NOWHERE;") == "line 7: label NOWHERE");
  CHECK(error("mov.u32 %r1, nothing;") == "line 4: name nothing");
  CHECK(error("mov.u32 %r1, %r2") == "line 5: instruction mov.u32");
}

TEST_CASE("places are the innermost and the outermost that .loc gives") {
  const Module module =
      readModule(".version 9.0\n.target sm_90\n.entry t() {\n.loc 2 7 3, function_name N, inlined_at 1 40 5\n"
                 ".loc 3 9 1, function_name N, inlined_at 2 7 3\nbar.sync 0;\n.loc 1 50 1\nret;\n}\n"
                 ".file 1 \"/a/kernel.cu\"\n.file 2 \"/b/sync.cuh\"\n.file 3 \"/b/platform.cuh\"\n");
  const Instruction &bar = module.functions.at(0).code.at(0), &ret = module.functions.at(0).code.at(1);
  CHECK(bar.place.file == "platform.cuh");
  CHECK(bar.place.line == 9);
  CHECK(bar.caller.file == "kernel.cu");
  CHECK(bar.caller.line == 40);
  CHECK(ret.place.line == 50);
}
