// The executor flushes as many channels as it finds entries in a flush's dst_buff. They are written for it, read, and
// make no difference.
// RUN: mscclc %s -o %t.json && FileCheck %s < %t.json
// RUN: mscclc %s --target=none -o %t-none.json && FileCheck %s --check-prefix=PLAIN < %t-none.json
// RUN: mscclc %s --target=mscclpp-0.9 | FileCheck %s
// RUN: mscclc %s --diff %t-none.json
// RUN: mscclc %t.json --target=none | FileCheck %s --check-prefix=PLAIN
// RUN: mscclc %t-none.json --diff %t.json
// RUN: sed 's/"dst_buff": .{"type": "i", "index": 0, "size": 1}., "channel_ids"/"dst_buff": [{"type": "i", "index": 0, "size": 1}, {"type": "i", "index": 0, "size": 1}], "channel_ids"/' %t.json > %t-two.json
// RUN: not mscclc %t-two.json 2>&1 | FileCheck %s --check-prefix=TWO
// A plan whose flushes do nothing is not proven as it stands; written anew it is.
// RUN: not mscclc %t-none.json --verify 2>&1 | FileCheck %s --check-prefix=IGNORED
// RUN: not mscclc %t-none.json --run --schedules 1 2>&1 | FileCheck %s --check-prefix=IGNORED
// RUN: mscclc %t-none.json --verify --allow=ignored-flush
// RUN: mscclc %t.json --verify --target=mscclpp

// IGNORED: $.gpus[0].threadblocks[0].ops[{{[0-9]+}}]: error: MSCCL++'s executor does nothing for this flush of 1 channel: it takes their number from 'dst_buff', which is missing; a plan written by mscclc has it [--allow=ignored-flush]
// CHECK-COUNT-2: {"name": "flush", "dst_buff": [{"type": "i", "index": 0, "size": 1}], "channel_ids": [0], "channel_type": "port"}
// PLAIN: {"name": "flush", "channel_ids": [0], "channel_type": "port"}
// TWO: $.gpus[0].threadblocks[0].ops[{{[0-9]+}}]: error: a 'flush' has as many entries in 'dst_buff' as channels, or none: not 2 and 1 channel
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void flushed() {
  CollectiveProgram program("flushed", SendRecv(2, 1, false));
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    PortChannel channel(peer, rank);
    channel.signal(tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.putWithSignal(Rank(peer).output()[0], Rank(rank).input()[0], tb(0));
    channel.wait(tb(0), {.sync = Sync::After});
    channel.flush(tb(0), {.sync = Sync::Both});
  }
}
