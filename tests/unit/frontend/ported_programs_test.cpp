#include "ported_programs.h"
#include "recorded.h"
#include "shown_ops.h"

using namespace mscclc;
using namespace mscclc::frontend;
using Lines = std::vector<std::string>;

namespace {
ir::Program programOf(void (*algorithm)()) {
  Outcome outcome = run(algorithm);
  INFO(outcome.diagnostics.render(false));
  REQUIRE(outcome.program);
  return std::move(*outcome.program);
}
} // namespace

TEST_CASE("copyPackets and unpackPackets") {
  const ir::Program p = programOf(ported::copyPackets);
  CHECK(p.name == "copy_packets_test");
  CHECK(p.protocol == ir::Protocol::LL);
  CHECK(p.ranks[0].scratchChunks == 1);
  CHECK(show(p, 0, 0) == Lines{"cpkt s[0:1] <- i[0:1]", "upkt o[0:1] <- s[0:1]"});
}

TEST_CASE("get names its channel") {
  const ir::Program p = programOf(ported::get);
  CHECK(p.ranks[1].remoteBuffers == std::vector<ir::RemoteBuffer>{{0, ir::BufferKind::Input, true, false}});
  CHECK(show(p, 1, 0) == Lines{"rlxsignal memory {0} both", "rlxwait memory {0} after",
                               "get memory i[0:1] <- remote0[1:2] {0}", "signal memory {0} before",
                               "wait memory {0} after"});
}

TEST_CASE("port puts name their channel") {
  const ir::Program p = programOf(ported::putWithSignalAndFlush);
  CHECK(p.ranks[0].portPeers == std::vector<std::uint32_t>{1});
  CHECK(show(p, 0, 0) == Lines{"signal port {0} both", "wait port {0} after", "pwsf port remote0[1:2] <- i[0:1] {0}",
                               "wait port {0} after"});
}

TEST_CASE("semaphores") {
  const ir::Program p = programOf(ported::semaphore);
  CHECK(p.ranks[0].semaphores == std::vector<ir::Semaphore>{{0}});
  CHECK(show(p, 0, 0) == Lines{"sem_acquire {0} after"});
  CHECK(show(p, 0, 1) == Lines{"sem_release {0} before"});
}

TEST_CASE("a barrier is an operation of each of its blocks") {
  const ir::Program p = programOf(ported::barrier);
  CHECK(show(p, 0, 0) == Lines{"barrier 0 of 2"});
  CHECK(show(p, 0, 1) == Lines{"barrier 0 of 2"});
}

TEST_CASE("a loop around one copy") {
  CHECK(show(programOf(ported::pipelineCopy), 0, 0) == Lines{"pipeline 1048576 x 1 body 1", "copy o[0:1] <- i[0:1]"});
}

TEST_CASE("switch channels reduce and broadcast") {
  const ir::Program reduce = programOf(ported::switchReduce);
  CHECK(show(reduce, 0, 0) == Lines{"glre switch s[0:1] <- switch0[0:1] {0}"});
  const std::vector<ir::SwitchChannel> channels{{ir::BufferKind::Input, {0, 1}}};
  CHECK(reduce.ranks[0].switchChannels == channels);
  CHECK(reduce.ranks[1].switchChannels == channels);
  CHECK(reduce.ranks[2].switchChannels.empty());
  CHECK(show(programOf(ported::switchBroadcast), 0, 0) == Lines{"gstore switch switch0[0:1] <- s[0:1] {0}"});
}

TEST_CASE("a thread-block group shares local reduces and puts") {
  const ir::Program p = programOf(ported::groupReduceSend);
  CHECK(show(p, 1, 0) == Lines{"rlxsignal memory {0} both", "rlxwait memory {0} after",
                               "re o[0:1] <- i[0:1], i[1:2] 0/4", "put memory remote0[1:2] <- o[0:1] 0/4",
                               "signal memory {0} before", "wait memory {0} after"});
  CHECK(show(p, 1, 3) == Lines{"re o[0:1] <- i[0:1], i[1:2] 3/4", "put memory remote0[1:2] <- o[0:1] 3/4"});
}

TEST_CASE("a reduce that reads the other rank, then a put of its result") {
  const ir::Program p = programOf(ported::readReduceSend);
  CHECK(p.ranks[0].remoteBuffers == std::vector<ir::RemoteBuffer>{{1, ir::BufferKind::Input, true, false},
                                                                  {1, ir::BufferKind::Output, true, false}});
  CHECK(show(p, 0, 0)[2] == "rre memory o[0:1] <- i[0:1], remote0[1:2]");
  CHECK(show(p, 0, 0)[3] == "put memory remote1[1:2] <- o[0:1]");
}

TEST_CASE("flush") {
  CHECK(show(programOf(ported::flush), 0, 0) == Lines{"flush port {0} before"});
}

TEST_CASE("reduce of packets") {
  const ir::Program p = programOf(ported::reduceCopySendPackets);
  CHECK(p.ranks[0].scratchChunks == 2);
  CHECK(p.ranks[1].scratchChunks == 1);
  CHECK(show(p, 0, 0) ==
        Lines{"repkt i[0:1] <- i[0:1], s[0:1]", "cpkt s[1:2] <- i[0:1]", "ppkt memory remote0[0:1] <- i[0:1]"});
}

TEST_CASE("packets handed on") {
  CHECK(show(programOf(ported::readPutPackets), 1, 0) == Lines{"rppkt memory remote0[1:2] <- s[0:1]"});
}

TEST_CASE("an in-place allgather of a group") {
  const ir::Program p = programOf(ported::allgatherGroup);
  CHECK(p.collective.kind == ir::CollectiveKind::AllGather);
  CHECK(p.collective.inplace);
  CHECK(p.ranks[1].inputChunks == 1);
  CHECK(p.ranks[1].outputChunks == 2);
  CHECK(show(p, 1, 2) == Lines{"barrier 0 of 4", "put memory remote0[1:2] <- o[1:2] 2/4", "barrier 0 of 4"});
}

TEST_CASE("a three-stage loop") {
  const ir::Program p = programOf(ported::allreducePipeline);
  CHECK(p.reuseResources);
  CHECK(show(p, 1, 0) == Lines{"pipeline 1048576 x 1 body 5", "copy s[0:1] <- i[0:1]", "copy s[1:2] <- i[1:2]",
                               "signal memory {0} before", "wait memory {0} after", "sem_release {0} both"});
  CHECK(show(p, 1, 1) == Lines{"pipeline 1048576 x 1 body 5", "sem_acquire {0} after",
                               "glre switch s[1:2] <- switch0[1:2] {0}", "gstore switch switch0[1:2] <- s[1:2] {0}",
                               "signal memory {1} before", "sem_release {1} both"});
  CHECK(show(p, 1, 2).size() == 5);
}
