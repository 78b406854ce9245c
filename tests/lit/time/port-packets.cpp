// Packets that a port puts are awaited by who reads them: by the time model, too.
// REQUIRES: frontend
// RUN: mscclc %s --machine h100x8 --estimate --size 8K | FileCheck %s
// CHECK: {{^ +8K +8\.}}
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void port_packets() {
  CollectiveProgram program("port_packets", AllGather(2, 1, true), {.protocol = Protocol::LL, .doubleScratch = true});
  Buffer scratch[] = {Buffer(0, 4), Buffer(1, 4)};
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    Rank(rank).copyPackets(scratch[rank][rank], Rank(rank).output()[rank], tb(0));
    PortChannel(peer, rank).readPutPackets(scratch[peer][rank], scratch[rank][rank], tb(0));
    Rank(rank).unpackPackets(Rank(rank).output()[peer], scratch[rank][peer], tb(1));
  }
}
