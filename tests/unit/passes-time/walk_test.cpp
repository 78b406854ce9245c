// Times of small programs, against arithmetic by hand.
#include "timed.h"

#include "ir/diagnostics.h"
#include "passes/time/unmeasured.h"

#include <algorithm>
#include <string_view>

using namespace mscclc::passes::time;
using namespace mscclc;

namespace {

constexpr double close = 1e-3; // picoseconds, in nanoseconds

const std::string sender = "rank 0 {\nbuffers input 1 output 0 scratch 0\nmemory_channels [1]\n"
                           "remote0 = 1.output via memory\nblock 0 {\nchannels [memory 0]\nremotes [memory 0]\n";
const std::string receiver = "rank 1 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [0]\n"
                             "block 0 {\nchannels [memory 0]\n";

double totalOf(const ir::Program &program, std::uint64_t bytes, const Machine &machine = roundMachine()) {
  const Estimate result = estimate(program, machine, Runner::Kernel, bytes);
  REQUIRE(result.complete);
  CHECK(result.linkBound <= result.total + close);
  CHECK(result.latencyBound <= result.total + close);
  double spent = 0;
  for (const Time time : result.spent)
    spent += time;
  CHECK(std::abs(spent - result.total) < close);
  return result.total;
}

TEST_CASE("one put and its signal") {
  const ir::Program program =
      programOf(sender + "put memory remote0[0:1] <- input[0:1]\nnop\nsignal memory [0]\n}\n}\n" + receiver +
                "wait memory [0]\n}\n}\n");
  // launch + first load + 64 KiB at a block's 50 GB/s + fence + store seen
  CHECK(std::abs(totalOf(program, 65536) - (1000 + 250 + 65536 / 50.0 + 200 + 500)) < close);
  // A relaxed signal does not wait for what was stored.
  const ir::Program relaxed =
      programOf(sender + "put memory remote0[0:1] <- input[0:1]\nnop\nrlxsignal memory [0]\n}\n}\n" + receiver +
                "rlxwait memory [0]\n}\n}\n");
  CHECK(std::abs(totalOf(relaxed, 65536) - (1000 + 250 + 65536 / 50.0 + 500)) < close);
}

TEST_CASE("a time rests on unmeasured parameters that make it 15 % longer if they are twice as bad") {
  const ir::Program program =
      programOf(sender + "put memory remote0[0:1] <- input[0:1]\nnop\nsignal memory [0]\n}\n}\n" + receiver +
                "wait memory [0]\n}\n}\n");
  Machine machine = roundMachine();
  const auto restsAt = [&](std::uint64_t bytes, const Machine &on) {
    return ir::enumerate(keysOf(restsOn(on, totalOf(program, bytes, on), [&](const Machine &other) {
      return launchTime(program, other, Runner::Kernel, bytes);
    })));
  };
  CHECK(restsAt(16, machine) == "");
  machine.unmeasured.set();
  // 1000 launch, 250 load, 200 fence, 500 seen: 15 % are 293, and 1 MiB takes 20972 at a block's 50 GB/s.
  CHECK(restsAt(16, machine) == "launch and store_visible");
  CHECK(restsAt(1 << 20, machine) == "block_copy");
  // The launch is 1000 of 22922 then.
  for (std::size_t i = 0; i < machine.unmeasured.size(); ++i)
    machine.unmeasured[i] = parameterFields[i].key == std::string_view("launch");
  CHECK(restsAt(1 << 20, machine) == "");
  CHECK(restsAt(16, machine) == "launch");
}

TEST_CASE("data between two GPUs takes the links on its way") {
  const ir::Program program =
      programOf(sender + "put memory remote0[0:1] <- input[0:1]\nnop\nsignal memory [0]\n}\n}\n" + receiver +
                "wait memory [0]\n}\n}\n");
  const auto timeAt = [&](double rate) { return 1000 + 250 + 65536 / rate + 200 + 500; };
  Machine machine = roundMachine();
  LinkGraph &node = machine.fabric.node;
  node.gpus = 4;
  node.links = {{0, 1, 20000}, {1, 0, 40000}};
  CHECK(std::abs(totalOf(program, 65536, machine) - timeAt(20)) < close);
  // Through a switch, the slower of the two links counts.
  node.switches = {"hub"};
  machine.fabric.shared = {false};
  node.links = {{0, 4, 30000}, {4, 0, 30000}, {1, 4, 10000}, {4, 1, 10000}};
  CHECK(std::abs(totalOf(program, 65536, machine) - timeAt(10)) < close);
  CHECK_FALSE(cannotRun(program, machine));
  // Rates are payload of stores, which take more of the line.
  machine.parameters.store = 50;
  CHECK(std::abs(totalOf(program, 65536, machine) - timeAt(10)) < close);
  // A link in the other direction is enough for signals, and data hardly moves.
  node.links = {{1, 0, 30000}};
  CHECK_FALSE(cannotRun(program, machine));
  CHECK(totalOf(program, 65536, machine) > 1e6);
  // A switch between nodes joins no GPUs of a node.
  machine.fabric.shared = {true};
  node.links = {{0, 4, 30000}, {4, 0, 30000}, {1, 4, 10000}, {4, 1, 10000}};
  CHECK(cannotRun(program, machine) == "ranks 0 and 1 have a memory channel, and no link of round joins them");
}

TEST_CASE("a ring of two shares nothing but the links") {
  std::string ranks;
  for (const int r : {0, 1}) {
    ranks += "rank " + std::to_string(r) + " {\nbuffers input 2 output 2 scratch 0\nmemory_channels [" +
             std::to_string(1 - r) + ", " + std::to_string(1 - r) + "]\nremote0 = " + std::to_string(1 - r) +
             ".output via memory\n";
    for (const int b : {0, 1}) {
      const std::string n = std::to_string(b), chunk = "[" + n + ":" + std::to_string(b + 1) + "]";
      ranks += "block " + n + " {\nchannels [memory " + n + "]\nremotes [memory 0]\nput memory remote0" + chunk +
               " <- input" + chunk + "\nnop\nsignal memory [" + n + "]\nwait memory [" + n + "]\n}\n";
    }
    ranks += "}\n";
  }
  const ir::Program program = programOf(ranks);
  // Two blocks of 50 GB/s each fill the 100 GB/s of their link, and the other direction is another's.
  CHECK(std::abs(totalOf(program, 2 * 65536) - (1000 + 250 + 65536 / 50.0 + 200 + 500)) < close);
  // Where stores carry 80 of the link's 100 GB/s, each block has 40.
  Machine machine = roundMachine();
  machine.parameters.store = 80;
  CHECK(std::abs(totalOf(program, 2 * 65536, machine) - (1000 + 250 + 65536 / 40.0 + 200 + 500)) < close);
}

TEST_CASE("rows are packed before the first operation, and unpacked after the last one") {
  const std::string ranks =
      "rank 0 {\nbuffers input 1 output 1 scratch 0\nblock 0 {\ncopy output[0:1] <- input[0:1]\n}\n}\n";
  const auto program = [&](const std::string &collective, const std::string &more = "") {
    return programOf(ranks, "collective " + collective + " experts 1 expert_major\n" + more);
  };
  // launch + 3 meetings + a line of cells + all rows at a block's 50 GB/s + first load + the copy + a meeting + the
  // polls and two lines of cells + all rows again
  const double moved = 65536 / 50.0, dispatch = 1000 + 300 + 250 + moved + 250 + moved + 100 + 750 + moved;
  CHECK(std::abs(totalOf(program("dispatch"), 65536) - dispatch) < close);
  // A combine looks at four lines before it packs, and at none before it adds.
  CHECK(std::abs(totalOf(program("combine"), 65536) - dispatch) < close);
  // First entries, and places of cells: two more meetings.
  CHECK(std::abs(totalOf(program("dispatch", "once_per_rank on\n"), 65536) - (dispatch + 200)) < close);
  const Estimate result = estimate(program("dispatch"), roundMachine(), Runner::Kernel, 65536);
  CHECK(std::abs(result.spent[static_cast<std::size_t>(Cause::Packing)] - (1400 + 2 * moved)) < close);
  CHECK(std::abs(result.latencyBound - (1000 + 300 + 250 + 250 + 100 + 750)) < close);
}

TEST_CASE("rows of a known length, whose index is counted") {
  const std::string ranks =
      "rank 0 {\nbuffers input 1 output 1 scratch 0\nblock 0 {\ncopy output[0:1] <- input[0:1]\n}\n}\n";
  ir::RowSlots slots;
  slots.set({0, 0, 0}, 0, 0, {0, 0});
  const passes::RowCounts full = passes::RowCounts::parse("full").value();
  const auto timeOf = [&](std::uint64_t rowBytes, std::uint32_t choices, const std::string &once = "off") {
    const LiveRows rows{slots, full, rowBytes, choices};
    return estimate(programOf(ranks, "collective dispatch experts 4 expert_major\nonce_per_rank " + once + "\n"),
                    roundMachine(), Runner::Kernel, 65536, Detail::Ranks, &rows)
        .total;
  };
  const double moved = 65536 / 50.0, unknown = timeOf(0, 8);
  CHECK(std::abs(unknown - (1000 + 300 + 250 + moved + 250 + moved + 100 + 750 + moved)) < close);
  CHECK(std::abs(timeOf(4096, 8) - (unknown + 2 * 250)) < close); // 16 entries, 8 at once
  // 4096 entries are counted in 32 parts, before and with their ordinals, and blocks meet between.
  CHECK(std::abs(timeOf(16, 8) - (unknown + 2 * 16 * 250 + 100)) < close);
  // 16 entries are 8 rows of 2 choices, with lists of 8 bytes. All are for one rank, so half of them move.
  CHECK(std::abs(timeOf(4096, 2, "on") - (unknown + 4 * 250 + 200 - 2 * moved + 2 * 8 * (4096 + 16) / 50.0)) < close);
}

TEST_CASE("the kernel that receives begins a launch after the one that sends") {
  const ir::Program program =
      programOf(sender + "put memory remote0[0:1] <- input[0:1]\nnop\nsignal memory [0]\n}\n}\n" + receiver +
                    "wait memory [0]\n}\n}\n",
                "collective test\nsplit on\n");
  CHECK(std::abs(totalOf(program, 65536) - (1000 + 250 + 65536 / 50.0 + 200 + 500)) < close); // it has begun by then
  CHECK(std::abs(totalOf(program, 64) - 2000) < close);
}

TEST_CASE("a pipeline of three steps") {
  const std::string body = "pipeline unit_size 65536 num_chunks 1 {\n";
  const ir::Program program =
      programOf(sender + body + "put memory remote0[0:1] <- input[0:1]\nnop\nsignal memory [0]\n}\n}\n}\n" + receiver +
                body + "wait memory [0]\nnop\ncopy input[0:1] <- output[0:1]\nnop\n}\n}\n}\n");
  // A step of the sender: first load and 64 KiB. One thread waits for the fence of its signal while the others go on,
  // so the last signal goes out after three steps and a fence, is seen 500 ns later, and the receiver then copies the
  // last 64 KiB; a copy of its own takes as long as a step.
  const double move = 250 + 65536 / 50.0;
  CHECK(std::abs(totalOf(program, 3 * 65536) - (1000 + 3 * move + 200 + 500 + move)) < close);
}

TEST_CASE("a pipeline of many steps is as long as it would be walked out", "[slow]") {
  const std::string body = "pipeline unit_size 4096 num_chunks 1 {\n";
  const ir::Program program =
      programOf(sender + body + "put memory remote0[0:1] <- input[0:1]\nnop\nsignal memory [0]\n}\n}\n}\n" + receiver +
                body + "wait memory [0]\n}\n}\n}\n");
  const double step = 250 + 4096 / 50.0; // the fence of a signal is over before the next
  const std::uint64_t steps = 200'000;
  const Estimate result = estimate(program, roundMachine(), Runner::Kernel, steps * 4096);
  CHECK(result.extrapolated);
  CHECK(std::abs(result.total / (1000 + static_cast<double>(steps) * step + 200 + 500) - 1) < 1e-6);
  CHECK(launchTime(program, roundMachine(), Runner::Kernel, steps * 4096) == result.total);
}

TEST_CASE("packets are read as they come") {
  const ir::Program program =
      programOf("rank 0 {\nbuffers input 1 output 0 scratch 0\nmemory_channels [1]\nremote0 = 1.scratch via memory\n"
                "block 0 {\nchannels [memory 0]\nremotes [memory 0]\nppkt memory remote0[0:1] <- input[0:1]\n}\n}\n"
                "rank 1 {\nbuffers input 1 output 1 scratch 1\nmemory_channels [0]\nblock 0 {\nupkt output[0:1] <- "
                "scratch[0:1]\n}\n}\n",
                "collective test\nprotocol LL\n");
  // The block's cap on copies is 50 GB/s, and so is what the link carries of packets: the reader begins 500 ns after
  // the writer, polls for 250 ns and needs as long as the writer did.
  CHECK(std::abs(totalOf(program, 65536) - (1000 + 250 + 500 + 250 + 65536 / 50.0)) < close);
}

TEST_CASE("a port's put, signal and flush") {
  const ir::Program program =
      programOf("rank 0 {\nbuffers input 1 output 0 scratch 0\nport_channels [1]\nremote0 = 1.output via port\n"
                "block 0 {\nchannels [port 0]\nremotes [port 0]\npwsf port [0] remote0[0:1] <- input[0:1]\n}\n}\n"
                "rank 1 {\nbuffers input 1 output 1 scratch 0\nport_channels [0]\nblock 0 {\nchannels [port 0]\nwait "
                "port [0]\n}\n}\n");
  // push + the proxy notices + 64 KiB at the copy engine's 100 GB/s + its latency + the thread notices
  CHECK(std::abs(totalOf(program, 65536) - (1000 + 300 + 2000 + 65536 / 100.0 + 3000 + 1100)) < close);
  Machine nodes = roundMachine();
  nodes.gpusPerNode = 1;
  nodes.nodes = 2;
  const double farther = 1000 + 300 + 2000 + 65536 / 10.0 + 5000 + 1100;
  CHECK(std::abs(totalOf(program, 65536, nodes) - farther) < close);
  // Nodes of one rank lie on nodes of four GPUs.
  ir::Program apart = program;
  apart.movement.ranksPerNode = 1;
  nodes.gpusPerNode = 4;
  CHECK(std::abs(totalOf(apart, 65536, nodes) - farther) < close);
}

TEST_CASE("a port's put in a pipeline is of a step, however late the proxy comes to it") {
  const std::string body = "pipeline unit_size 65536 num_chunks 1 {\n";
  const ir::Program program =
      programOf("rank 0 {\nbuffers input 1 output 0 scratch 0\nport_channels [1]\nremote0 = 1.output via port\n"
                "block 0 {\nchannels [port 0]\nremotes [port 0]\n" +
                body +
                "pws port [0] remote0[0:1] <- input[0:1]\n}\n}\n}\n"
                "rank 1 {\nbuffers input 1 output 1 scratch 0\nport_channels [0]\nblock 0 {\nchannels [port 0]\n" +
                body + "wait port [0]\n}\n}\n}\n");
  // The thread pushes three requests before the proxy takes the first; the connection moves them one after the other.
  CHECK(std::abs(totalOf(program, 3 * 65536) - (1000 + 300 + 2000 + 3 * 65536 / 100.0 + 3000)) < close);
}

TEST_CASE("blocks meet at a barrier and at semaphores") {
  const auto two = [](const std::string &first, const std::string &second) {
    return programOf("rank 0 {\nbuffers input 2 output 2 scratch 0\nsemaphores [0]\nblock 0 {\n" + first +
                     "\n}\nblock 1 {\n" + second + "\n}\n}\n");
  };
  const double copy = 250 + 65536 / 50.0;
  CHECK(std::abs(totalOf(two("copy output[0:1] <- input[0:1]\nbarrier 0 blocks 2\ncopy output[0:1] <- input[1:2]",
                             "barrier 0 blocks 2\ncopy output[1:2] <- input[0:1]"),
                         2 * 65536) -
                 (1000 + copy + 100 + copy)) < close);
  CHECK(std::abs(totalOf(two("copy output[0:1] <- input[0:1]\nnop\nsem_release [0]",
                             "sem_acquire [0]\nnop\ncopy output[1:2] <- input[0:1]"),
                         2 * 65536) -
                 (1000 + copy + 100 + copy)) < close);
}

TEST_CASE("no more blocks run than a GPU holds at once") {
  const auto copies = [](std::uint32_t blocks, const std::string &rest) {
    std::string text = "rank 0 {\nbuffers input 1 output 4 scratch 0\n";
    for (std::uint32_t b = 0; b < blocks; ++b)
      text += "block " + std::to_string(b) + " {\ncopy output[" + std::to_string(b) + ":" + std::to_string(b + 1) +
              "] <- input[0:1]\n" + rest + "}\n";
    return programOf(text + "}\n");
  };
  Machine machine = roundMachine();
  const double copy = 250 + 65536 / 50.0;
  for (const auto &[multiprocessors, rounds] : {std::pair{1u, 2}, {2u, 1}, {100u, 1}}) { // two on each
    machine.multiprocessors = multiprocessors;
    CHECK(std::abs(totalOf(copies(4, ""), 65536, machine) - (1000 + rounds * copy)) < close);
  }
  // The executor's blocks are one on each, and each loads its plan when it begins.
  machine.multiprocessors = 3;
  machine.parameters.planLoad = 0.3;
  const Estimate run = estimate(copies(4, ""), machine, Runner::Executor, 65536);
  CHECK(run.complete);
  CHECK(std::abs(run.total - (1000 + 2 * (300 + copy))) < close);
  const ir::Program meet = copies(4, "barrier 0 blocks 4\n");
  CHECK_FALSE(estimate(meet, machine, Runner::Executor, 65536).complete);
  CHECK(estimate(meet, machine, Runner::Kernel, 65536).complete);
}

TEST_CASE("a switch reduces at what a block can ask of it") {
  const ir::Program program = programOf(
      "rank 0 {\nbuffers input 1 output 1 scratch 0\nswitch0 = input of [0, 1]\nblock 0 {\nchannels [switch 0]\n"
      "glre switch [0] output[0:1] <- switch0[0:1]\n}\n}\nrank 1 {\nbuffers input 1 output 1 scratch 0\n"
      "switch0 = input of [0, 1]\nblock 0 {\nchannels [switch 0]\n}\n}\n");
  CHECK(std::abs(totalOf(program, 65536) - (1000 + 2000 + 65536 / 5.0)) < close);
  // The slowest link that leads to the switch, or back, counts.
  Machine machine = roundMachine();
  LinkGraph &node = machine.fabric.node;
  node.gpus = 2;
  machine.gpusPerNode = 2;
  node.switches = {"hub"};
  machine.fabric.shared = {false};
  node.links = {{0, 2, 40000}, {2, 0, 3000}, {1, 2, 2000}, {2, 1, 1000}};
  CHECK_FALSE(cannotRun(program, machine));
  CHECK(std::abs(totalOf(program, 65536, machine) - (1000 + 2000 + 65536 / 2.0)) < close);
  node.links[2].rate = 40000;
  CHECK(std::abs(totalOf(program, 65536, machine) - (1000 + 2000 + 65536 / 3.0)) < close);
  // A switch that has no link to rank 1 cannot write to it.
  node.links = {{0, 2, 40000}, {2, 0, 40000}, {1, 2, 40000}, {0, 1, 40000}, {1, 0, 40000}};
  CHECK(cannotRun(program, machine) == "it has a switch channel, and nothing on round reduces on the way");
}

TEST_CASE("a block loops over a switch's group for a product") {
  const auto ofThree = [](const std::string &op) {
    const std::string memory = "buffers input 1 output 1 scratch 0\nswitch0 = input of [0, 1, 2]\nblock 0 {\n"
                               "channels [switch 0]\n";
    return programOf("rank 0 {\n" + memory + "glre switch [0] output[0:1] <- switch0[0:1]" + op + "\n}\n}\nrank 1 {\n" +
                     memory + "}\n}\nrank 2 {\n" + memory + "}\n}\n");
  };
  CHECK(std::abs(totalOf(ofThree(""), 65536) - (1000 + 2000 + 65536 / 5.0)) < close);
  // Each of its 768 threads has 16 bytes of each rank under way at a time, for as long as a remote load takes.
  CHECK(std::abs(totalOf(ofThree(" reduce_op prod"), 65536) - (1000 + 1000 + 65536 / (768 * 16 / 1000.0))) < close);
}

TEST_CASE("nobody waits for what a multicast of packets leaves at its own rank's place") {
  const std::string reader = "upkt output[0:1] <- scratch[0:1]\n}\n}\n";
  const std::string memory = "buffers input 1 output 1 scratch 1\nswitch0 = scratch of [0, 1]\n";
  const ir::Program program = programOf("rank 0 {\n" + memory +
                                            "block 0 {\nchannels [switch 0]\ncpkt scratch[0:1] <- input[0:1]\n"
                                            "gstorepkt switch [0] switch0[0:1] <- scratch[0:1]\n}\nblock 1 {\n" +
                                            reader + "rank 1 {\n" + memory + "block 0 {\n" + reader,
                                        "collective test\nprotocol LL\n");
  // The links carry flags, too: 50 GB/s of payload, which is also what a block copies. Rank 1 begins 500 ns after the
  // multicast, polls for 250 ns and needs as long as that. Rank 0 is done before.
  const double copy = 65536 / 50.0;
  CHECK(std::abs(totalOf(program, 65536) - (1000 + 250 + copy + 250 + 500 + 250 + copy)) < close);
}

/// Rank 0 copies 64 KiB, lets rank 1's block go on through channel 0, and waits for it; `rest` is the rest of rank 1.
ir::Program copyThenLet(const std::string &more, const std::string &rest) {
  return programOf("rank 0 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [1, 1]\nport_channels [1]\n"
                   "block 0 {\nchannels [memory 0, memory 1, port 0]\ncopy output[0:1] <- input[0:1]\nnop\n"
                   "rlxsignal memory [0]\n" +
                   more +
                   "}\n}\nrank 1 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [0, 0]\nport_channels [0]\n"
                   "remote0 = 0.output via port\n" +
                   rest + "}\n");
}
constexpr double copied = 1000 + 250 + 65536 / 50.0;

TEST_CASE("a thread that waits holds back what it does later in the phase") {
  const ir::Program program = copyThenLet("wait memory [0]\n", "block 0 {\nchannels [memory 0]\nrlxwait memory [0]\n"
                                                               "rlxsignal memory [0]\n}\n");
  // Rank 0 copies and signals; rank 1's thread 0 sees that after 500 ns, and only then signals itself.
  CHECK(std::abs(totalOf(program, 65536) - (copied + 500 + 500)) < close);
  const Timeline timeline = estimate(program, roundMachine(), Runner::Kernel, 65536).timeline;
  // The path goes through rank 1's wait, from when rank 0 signalled; its signal takes no time.
  std::vector<std::string> path;
  for (const PathStep &step : criticalPath(timeline))
    if (step.span != Span::none) {
      const Span &span = timeline.spans[step.span];
      path.push_back(std::to_string(span.rank) + "." + std::to_string(span.op) + " " +
                     std::to_string(std::llround(step.to - step.from)));
    }
  CHECK(path == std::vector<std::string>{"0.0 250", "0.0 1311", "1.0 500", "0.3 500"});
  const auto isSignal = [](const Span &span) { return span.rank == 1 && span.op == 1; };
  const auto signal = std::find_if(timeline.spans.begin(), timeline.spans.end(), isSignal);
  REQUIRE(signal != timeline.spans.end());
  CHECK(std::abs(signal->start - 1000) < close); // with the operation
  CHECK(std::abs(signal->moving - (copied + 500)) < close);
}

TEST_CASE("on the critical path an operation is bound by what most of its time goes by for") {
  const ir::Program program = copyThenLet("wait memory [0]\n", "block 0 {\nchannels [memory 0]\nrlxwait memory [0]\n"
                                                               "rlxsignal memory [0]\n}\n");
  const auto boundOfCopy = [&](std::uint64_t bytes) {
    const Timeline timeline = estimate(program, roundMachine(), Runner::Kernel, bytes).timeline;
    const auto isCopy = [](const Span &span) { return span.rank == 0 && span.op == 0; };
    const auto copy = std::find_if(timeline.spans.begin(), timeline.spans.end(), isCopy);
    REQUIRE(copy != timeline.spans.end());
    CHECK(copy->bound != Cause::Latency); // its data flows, however little
    return boundsOf(timeline, criticalPath(timeline))[static_cast<std::size_t>(copy - timeline.spans.begin())] ==
           copy->bound;
  };
  CHECK(boundOfCopy(65536)); // 1,311 ns of data after 250 ns of latency
  CHECK(!boundOfCopy(64));   // about a nanosecond
}

TEST_CASE("another thread goes on beside one that waits") {
  // Position 1 of the signal is thread 1, which does not wait; thread 0 signals a channel that nobody waits on.
  const ir::Program program =
      copyThenLet("wait memory [1]\n",
                  "block 0 {\nchannels [memory 0, memory 1]\nrlxwait memory [0]\nrlxsignal memory [0, 1]\n}\n");
  CHECK(std::abs(totalOf(program, 65536) - (copied + 500)) < close);
}

TEST_CASE("a held thread's put through a port is pushed after its wait") {
  const auto rest = [](const std::string &second) {
    return "block 0 {\nchannels [memory 0, port 0]\nremotes [port 0]\nrlxwait memory [0]\npws port [0] remote0[0:1] <- "
           "input[0:1]\n}\n" +
           second;
  };
  // push + the proxy notices + 64 KiB at the copy engine's 100 GB/s + its latency
  const double put = 300 + 2000 + 65536 / 100.0 + 3000;
  CHECK(std::abs(totalOf(copyThenLet("wait port [0]\n", rest("")), 65536) - (copied + 500 + put)) < close);
  // Another block's request is pushed before that, and does not queue behind it.
  const ir::Program two =
      programOf("rank 0 {\nbuffers input 64 output 64 scratch 0\nmemory_channels [1]\nport_channels [1, 1]\nblock 0 {\n"
                "channels [memory 0, port 0, port 1]\ncopy output[0:64] <- input[0:64]\nnop\nrlxsignal memory [0]\n"
                "wait port [1]\n}\n}\n"
                "rank 1 {\nbuffers input 64 output 64 scratch 0\nmemory_channels [0]\nport_channels [0, 0]\nblock 0 {\n"
                "channels [memory 0, port 0]\nrlxwait memory [0]\nsignal port [0]\n}\nblock 1 {\nchannels [port 1]\n"
                "copy output[0:64] <- input[0:64]\ncopy output[0:1] <- input[0:1]\nnop\nsignal port [1]\n}\n}\n");
  // Block 1 copies 1 KiB more than rank 0, which takes 270.48 ns; the held thread pushes 500 ns after rank 0's copy.
  CHECK(std::abs(totalOf(two, 65536) - (copied + 250 + 1024 / 50.0 + 300 + 2000 + 3000)) < close);
}

TEST_CASE("spans that wait for each other in turn have one path") {
  // Rank 0's thread 0 waits for channel 0 and its thread 1 for channel 1. Rank 1 lets the first go on, which signals
  // back, and only then lets the second go on: the wait ends after the signal that it held back for a time.
  const ir::Program program = programOf(
      "rank 0 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [1, 1]\nblock 0 {\nchannels [memory 0, memory 1]\n"
      "rlxwait memory [0, 1]\nrlxsignal memory [0]\n}\n}\n"
      "rank 1 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [0, 0]\nblock 0 {\nchannels [memory 0, memory 1]\n"
      "copy output[0:1] <- input[0:1]\nnop\nrlxsignal memory [0]\nrlxwait memory [0]\nrlxsignal memory [1]\n}\n}\n");
  CHECK(std::abs(totalOf(program, 65536) - (copied + 500 + 500 + 500)) < close);
}

TEST_CASE("a program that hangs has no time") {
  const ir::Program program = programOf(sender + "wait memory [0]\n}\n}\n" + receiver + "wait memory [0]\n}\n}\n");
  CHECK_FALSE(estimate(program, roundMachine(), Runner::Kernel, 4096).complete);
  // Both would signal after their wait, in the same phase and by the same thread.
  const std::string both = "rlxwait memory [0]\nrlxsignal memory [0]\n}\n}\n";
  CHECK_FALSE(estimate(programOf(sender + both + receiver + both), roundMachine(), Runner::Kernel, 4096).complete);
}

} // namespace
