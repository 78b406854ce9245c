// The executor counts bytes in 32 bits: a plan says how large a message it takes. What the target takes at most is no
// difference to a golden plan that says nothing.
// RUN: mscclc %s | FileCheck %s
// RUN: mscclc %s --target=none -o %t.json && FileCheck %s --check-prefix=NONE < %t.json
// RUN: mscclc %s --diff %t.json
// RUN: mscclc %s -o %t-limited.json && mscclc %s --diff %t-limited.json && mscclc %t-limited.json --diff %t-limited.json
// RUN: mscclc %s -P gib=4 | FileCheck %s
// RUN: mscclc %s -P gib=4 --diff %t.json
// RUN: not mscclc %s -P gib=4 --diff %t.json --target=none 2>&1 | FileCheck %s --check-prefix=STATED -DSTATED=4294967296
// RUN: not mscclc %s -P gib=2 --diff %t.json 2>&1 | FileCheck %s --check-prefix=STATED -DSTATED=2147483648
// RUN: %verify --prefix=large %s -P gib=5
// RUN: mscclc %s -P gib=5 --target=none -o /dev/null
// RUN: mscclc %s -P gib=5 --emit-cuda -o /dev/null

// CHECK: "max_message_size": 4294967296
// NONE: "max_message_size": 18446744073709551615
// STATED: max_message_size is [[STATED]], but 18446744073709551615 in
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void sent(int gib = 0) {
  ProgramOptions options;
  if (gib != 0)
    options.maxMessageSize = gib * 1_GiB;
  CollectiveProgram program("sent", SendRecv(2, 4, false), options);
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    MemoryChannel channel(peer, rank);
    channel.signal(tb(0), {.relaxed = true});
    channel.wait(tb(0), {.sync = Sync::After, .relaxed = true});
    for (int i = 0; i < 4; ++i)
      // large-error@+2 {{put in block 0 of rank 0 reaches byte 5368709120 at the maximum message size of 5368709120 bytes; mscclpp-1f5f065d holds offsets and sizes in 32 bits}}
      // large-note@"" {{and 1 more like it}}
      channel.put(Rank(peer).output()[i], Rank(rank).input()[i], tb(0));
    channel.signal(tb(0), {.sync = Sync::Before});
    channel.wait(tb(0), {.sync = Sync::After});
  }
}
