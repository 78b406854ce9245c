// Tests the forms in which the DSL accepts its arguments.
#include "ir/collectives.h"
#include "recorded.h"
#include "shown_ops.h"

#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

using namespace mscclc;
using namespace mscclc::frontend;
using Lines = std::vector<std::string>;

namespace {
template <typename Body> Lines linesOf(Body &&body) {
  Outcome outcome = runIn(2, body);
  INFO(outcome.diagnostics.render(false));
  REQUIRE(outcome.program);
  return outcome.program->ranks[0].blocks.empty() ? Lines{} : show(*outcome.program, 0, 0);
}
} // namespace

TEST_CASE("a function of the language makes every call of the table") {
  std::ifstream library(MSCCLC_SOURCE_DIR "/frontend/dsl/dsl_library.cpp"),
      recorder(MSCCLC_SOURCE_DIR "/frontend/trace/recorder.cpp");
  std::stringstream functions;
  functions << library.rdbuf() << recorder.rdbuf();
  constexpr std::string_view calls[] = {
#define CALL(id, ...) #id,
#include "frontend/trace/calls.def"
  };
  for (const std::string_view call : calls) {
    INFO("no function in frontend/dsl/dsl_library.cpp makes a Call::" << call);
    CHECK(functions.str().find("Call::" + std::string(call) + ",") != std::string::npos);
  }
}

TEST_CASE("options of a program, all given and all left out") {
  const std::size_t instances = 3;
  const Outcome given = run([&] {
    CollectiveProgram program(std::string("named"), AllReduce(2, 3, true),
                              {.instances = instances,
                               .protocol = Protocol::LL,
                               .fuse = false,
                               .autoSync = false,
                               .replication = Replication::None,
                               .reuseResources = true,
                               .threadsPerBlock = 512,
                               .doubleScratch = true,
                               .bufferAlignment = 32,
                               .minMessageSize = 1_KiB,
                               .maxMessageSize = 2_GiB,
                               .latePacketsApart = true,
                               .split = true});
    Rank(0).barrier({0});
  });
  const ir::Program &p = given.program.value();
  CHECK(p.name == "named");
  CHECK((p.instances == 3 && p.protocol == ir::Protocol::LL && !p.fuse && !p.autoSync));
  CHECK(
      (p.replication == ir::Replication::None && p.reuseResources && p.doubleScratch && p.latePacketsApart && p.split));
  CHECK((p.threadsPerBlock == 512 && p.bufferAlignment == 32));
  CHECK((p.minMessageSize == 1024 && p.maxMessageSize == std::uint64_t{2} << 30));
  CHECK((p.collective.chunkFactor == 3 && p.collective.inplace && p.collective.name == "allreduce"));

  const Outcome plain = run([] {
    CollectiveProgram program(std::string_view("plain"), SendRecv(2, 1, false));
    Rank(0).barrier({0});
  });
  const ir::Program &q = plain.program.value();
  CHECK((q.instances == 1 && q.protocol == ir::Protocol::Simple && q.fuse && q.autoSync));
  CHECK((q.replication == ir::Replication::Interleaved && !q.reuseResources && !q.doubleScratch));
  CHECK((!q.latePacketsApart && !q.split && q.readyRows == 0));
  CHECK((q.threadsPerBlock == 1024 && q.bufferAlignment == 16));
  CHECK((q.minMessageSize == 0 && q.maxMessageSize == ~std::uint64_t{0}));
}

TEST_CASE("a dispatch says whether it sends a row once to each rank") {
  const auto of = [](auto given) {
    return run([&] {
             CollectiveProgram program("p", Dispatch(2, 1), {.oncePerRank = given});
             Rank(0).barrier({0});
           })
        .program.value()
        .oncePerRank;
  };
  CHECK(of(false) == ir::OncePerRank::Off);
  CHECK(of(true) == ir::OncePerRank::On);
  CHECK(of(automatic) == ir::OncePerRank::Automatic);
}

TEST_CASE("every collective sizes its buffers") {
  const auto sizes = [](auto makeCollective) {
    const Outcome outcome = run([&] {
      CollectiveProgram program("p", makeCollective());
      Rank(0).barrier({0});
    });
    const ir::Rank &rank = outcome.program.value().ranks.at(3);
    return std::array{rank.inputChunks, rank.outputChunks};
  };
  using Sizes = std::array<std::uint32_t, 2>;
  CHECK(sizes([] { return AllGather(4, 3, false); }) == Sizes{3, 12});
  CHECK(sizes([] { return AllReduce(4, 3, false); }) == Sizes{12, 12});
  CHECK(sizes([] { return ReduceScatter(4, 3, false); }) == Sizes{12, 3});
  CHECK(sizes([] { return AllToAll(4, 3, false); }) == Sizes{12, 12});
  CHECK(sizes([] { return SendRecv(4, 3, false); }) == Sizes{3, 3});
  CHECK(sizes([] { return TestCollective(4, 5, 6); }) == Sizes{5, 6});
  CHECK(sizes([] { return CustomCollective("own", 4, 7, 8, true); }) == Sizes{7, 8});
}

TEST_CASE("slices") {
  CHECK(linesOf([] {
          Rank rank(0);
          CHECK(rank.id() == 0);
          CHECK(rank.input().size() == 4);
          const std::size_t two = 2;
          rank.copy(rank.output().slice(1), rank.input().slice(0, 3), tb(0));
          rank.copy(rank.output()[two], rank.input()[0u], tb(0));
          const Buffer scratch(0, 5);
          CHECK((scratch.size() == 5 && scratch.rank() == 0 && scratch.type() == BufferType::Scratch));
          const Chunk chunk = scratch.slice(two, 4);
          CHECK((chunk.rank() == 0 && chunk.index() == 2 && chunk.size() == 2));
          CHECK(chunk.buffer() == BufferType::Scratch);
        }) == Lines{"copy o[1:4] <- i[0:3]", "copy o[2:3] <- i[0:1]"});
}

TEST_CASE("lists of chunks") {
  CHECK(linesOf([] {
          Rank rank(0);
          const Chunk a = rank.input()[0], b = rank.input()[1], c = rank.input()[2];
          const std::vector<Chunk> vector{b, c};
          const std::array<Chunk, 1> array{b};
          const Chunk plain[] = {c, b};
          List<Chunk> list{c};
          rank.reduce(a, {b}, tb(0));
          rank.reduce(a, vector, tb(0), {.op = ReduceOp::Min});
          rank.reduce(a, array, tb(0), {.dst = rank.output()[3]});
          rank.reduce(a, plain, tb(0));
          rank.reduce(a, std::span(vector).first(1), tb(0));
          rank.reduce(a, list, tb(0));
        }) == Lines{"re i[0:1] <- i[0:1], i[1:2]", "re i[0:1] <- i[0:1], i[1:2], i[2:3] min",
                    "re o[3:4] <- i[0:1], i[1:2]", "re i[0:1] <- i[0:1], i[2:3], i[1:2]", "re i[0:1] <- i[0:1], i[1:2]",
                    "re i[0:1] <- i[0:1], i[2:3]"});
}

/// Uses every function of a list, with two elements that `key` distinguishes.
template <typename T, typename Key> void useList(const T &a, const T &b, Key &&key) {
  using Items = List<T>;
  Items list;
  CHECK((list.empty() && list.begin() == list.end()));
  list.reserve(2);
  list.push_back(a);
  for (int i = 0; i < 20; ++i)
    list.push_back(list[0]); // an element of its own, also where it grows
  list.back() = b;
  const Items copy(list), pair{a, b}, many(3, b);
  Items moved(static_cast<Items &&>(list));
  CHECK((list.empty() && moved.size() == 21 && copy.size() == 21 && pair.size() == 2 && many.size() == 3));
  CHECK((moved.data() == moved.begin() && &moved[20] == &moved.back() && moved.end() == moved.begin() + 21));
  CHECK((copy.data() == copy.begin() && &copy[20] == &copy.back() && copy.end() == copy.begin() + 21));
  REQUIRE(key(a) != key(b));
  CHECK((key(copy[0]) == key(a) && key(copy[19]) == key(a) && key(copy[20]) == key(b)));
  CHECK((key(pair[1]) == key(b) && key(many[2]) == key(b)));
  list = pair;
  CHECK((list.size() == 2 && key(list[0]) == key(a)));
  list.clear();
  CHECK(list.empty());
}

TEST_CASE("a list of any class of the DSL has all functions of lists") {
  runIn(2, [] {
    const auto itself = [](auto x) { return x; };
    const auto id = [](const auto &x) { return x.id(); };
    const auto rank = [](const auto &x) { return x.rank(); };
    const auto size = [](const auto &x) { return x.size(); };
    const auto target = [](const auto &x) { return x.dstRank(); };
    const auto bytes = [](const auto &x) {
      static_assert(std::has_unique_object_representations_v<std::decay_t<decltype(x)>>);
      return std::string(reinterpret_cast<const char *>(&x), sizeof x);
    };
    useList(1, 2, itself);
    useList(7u, 8u, itself);
    useList(Rank(0), Rank(1), id);
    useList(Rank(0).input(), Rank(1).output(), rank);
    useList(Rank(0).input()[0], Rank(1).output()[1], rank);
    useList(MemoryChannel(1, 0), MemoryChannel(0, 1), target);
    useList(PortChannel(1, 0), PortChannel(0, 1), target);
    const SwitchChannel inputs({0, 1}, BufferType::Input), outputs({0, 1}, BufferType::Output);
    useList(inputs, outputs, bytes);
    useList(inputs.atRank(0), inputs.atRank(1), bytes);
    useList(Semaphore(0, 1), Semaphore(1, 1), bytes);
    useList(tb(0), tb(3), bytes);
    useList(ThreadBlockGroup({0, 1}), ThreadBlockGroup({2}), size);
  });
}

TEST_CASE("lists of integers of every type") {
  CHECK(linesOf([] {
          const Rank rank(0);
          const int zero = 0;
          const unsigned long one = 1;
          rank.barrier({zero, one, 2u});
          rank.barrier(std::vector<short>{0, 1, 2});
          rank.barrier(std::array<unsigned char, 3>{2, 1, 0});
          rank.barrier(std::vector<std::int64_t>{0, 1, 2});
          rank.barrier(List<unsigned>{0, 1, 2});
          const int plain[] = {1, 0, 2};
          rank.barrier(plain);
          CHECK(ThreadBlockGroup(std::vector<int>{4, 2}).size() == 2);
        }) == Lines(6, "barrier 0 of 3"));
}

TEST_CASE("local operations without naming the rank") {
  CHECK(linesOf([] {
          const Buffer scratch(0, 2);
          const Chunk in = Rank(0).input()[0], out = Rank(0).output()[1];
          copy(out, in, tb(0));
          copy(out, in, ThreadBlockGroup({0}));
          copyPackets(scratch[0], in, tb(0));
          unpackPackets(out, scratch[1], tb(0));
          reduce(in, {scratch[1]}, tb(0), {.dst = out, .packet = true});
        }) == Lines{"copy o[1:2] <- i[0:1]", "copy o[1:2] <- i[0:1] 0/1", "cpkt s[0:1] <- i[0:1]",
                    "upkt o[1:2] <- s[1:2]", "repkt o[1:2] <- i[0:1], s[1:2]"});
}

TEST_CASE("synchronisation options and their defaults") {
  CHECK(linesOf([] {
          MemoryChannel memory(1, 0);
          CHECK((memory.dstRank() == 1 && memory.srcRank() == 0));
          PortChannel port(1, 0);
          Semaphore semaphore(0, 2);
          memory.signal(tb(0));
          memory.wait(tb(0), {.sync = Sync::None, .relaxed = true});
          port.signal(tb(0), {.sync = Sync::Before});
          port.flush(tb(0));
          semaphore.acquire(tb(0));
          semaphore.release(tb(0), Sync::Before | Sync::After);
        }) == Lines{"signal memory {0} both", "rlxwait memory {0}", "signal port {0} before", "flush port {0} both",
                    "sem_acquire {0} both", "sem_release {0} both"});
}

TEST_CASE("a copy of a handle names the same channel, a construction makes another") {
  const Outcome outcome = runIn(2, [] {
    MemoryChannel first(1, 0), second(1, 0);
    const MemoryChannel alias = first;
    second.signal(tb(0));
    alias.signal(tb(0));
  });
  CHECK(show(outcome.program.value(), 0, 0) == Lines{"signal memory {1} both", "signal memory {0} both"});
}

TEST_CASE("a custom collective carries its expectations") {
  const Outcome outcome = run([] {
    CustomCollective own("gather2", 2, 2, 1);
    own.expect(0, 0, {{0, 1}, {1, 1}}).expect(1, 0, std::vector<Contribution>{{0, 0}});
    CollectiveProgram program("p", own);
    Rank(0).barrier({0});
  });
  const ir::Collective &collective = outcome.program.value().collective;
  CHECK((collective.kind == ir::CollectiveKind::Custom && collective.name == "gather2" && !collective.inplace));
  REQUIRE(collective.expectations.size() == 2);
  CHECK(collective.expectations[0].contributions == std::vector<ir::Contribution>{{0, 1}, {1, 1}});
  CHECK(collective.expectations[1].rank == 1);
}

TEST_CASE("every collective of the table has a class") {
  const auto check = [](ir::CollectiveKind kind, std::uint32_t root, auto make) {
    INFO(toString(kind));
    const Outcome outcome = run([&] {
      CollectiveProgram program("p", make());
      Rank(0).barrier({0});
    });
    const ir::Program &program = outcome.program.value();
    CHECK(program.collective.kind == kind);
    CHECK(program.collective.name == toString(kind));
    CHECK(program.collective.inplace);
    CHECK(program.collective.chunkFactor == 2);
    CHECK(program.collective.root == root);
    REQUIRE(program.ranks.size() == 3);
    const auto chunks = [](ir::Extent extent) { return extent == ir::Extent::Whole ? 6u : 2u; };
    for (const ir::Rank &rank : program.ranks) {
      CHECK(rank.inputChunks == chunks(ir::info(kind).input));
      CHECK(rank.outputChunks == chunks(ir::info(kind).output));
    }
  };
#define COLLECTIVE(kind, ...) check(ir::CollectiveKind::kind, 0, [] { return kind(3, 2, true); });
#define ROW_COLLECTIVE(...)
#define ROOTED_COLLECTIVE(kind, ...) check(ir::CollectiveKind::kind, 1, [] { return kind(3, 2, 1, true); });
#include "runtime-min/include/mscclc/collectives.def"
}
