// What --diff tells: rank, block, operation, field, both values, and the line of the source.
// REQUIRES: frontend
// RUN: rm -rf %t && mkdir %t
// RUN: mscclc %s --no-verify -o %t/golden.json
// RUN: mscclc %s --no-verify --diff %t/golden.json | count 0
// RUN: not mscclc %s --no-verify -P sync=true --diff %t/golden.json 2>&1 | FileCheck %s --check-prefix=SYNC
// RUN: not mscclc %s --no-verify -P to=1 --diff %t/golden.json 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not mscclc %s --no-verify -P ranks=4 --diff %t/golden.json 2>&1 | FileCheck %s --check-prefix=RANKS
// A golden that is no plan.
// RUN: echo '{"name": "x", "gpus": [{"id": true}]}' > %t/bad.json
// RUN: not mscclc %s --no-verify --diff %t/bad.json 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: cp %s %t/other.cpp
// RUN: not mscclc %s --no-verify --diff %t/other.cpp 2>&1 | FileCheck %s --check-prefix=NOPLAN
// A golden that cannot be replaced stays as it is, and so does one whose plan has an error.
// RUN: not mscclc %s --no-verify -P to=5 --diff %t/golden.json --update 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: mscclc %s --no-verify --diff %t/golden.json
// RUN: not mscclc %s --no-verify --diff %t/golden.json/none/golden.json --update 2>&1 | FileCheck %s --check-prefix=NOFOLDER
// A new golden is made, and an old one replaced.
// RUN: mscclc %s --no-verify -P sync=true --diff %t/new.json --update
// RUN: mscclc %s --no-verify --diff %t/new.json --update
// RUN: cmp %t/new.json %t/golden.json
// RUN: ls %t | FileCheck %s --check-prefix=FILES
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void spread(int ranks = 3, bool sync = false, int to = 0) {
  CollectiveProgram program("spread", TestCollective(ranks, 2, 3));
  for (int rank = 0; rank < ranks; ++rank) {
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) {
        MemoryChannel channel(peer, rank);
        channel.put(Rank(peer).output()[to], Rank(rank).input()[0], tb(0));
        channel.signal(tb(0), {.sync = sync ? Sync::Both : Sync::Before});
        channel.wait(tb(0), {.sync = Sync::None});
      }
  }
}
// SYNC: mscclc: error: the plan differs from '{{.*}}golden.json' in {{[0-9]+}} places
// SYNC-NEXT: {{.*}}diff-account.cpp:[[#@LINE-6]]:{{[0-9]+}}: note: rank 0, block 0, operation 3 (nop): {"name": "nop"} is not in {{.*}}golden.json
// SYNC-NEXT: channel.signal(tb(0), {.sync = sync ? Sync::Both : Sync::Before});
// SYNC-NEXT: ^
// SYNC-NEXT: mscclc: note: and {{[0-9]+}} more like it, of the same source line or on other ranks
// CHUNK: error: the plan differs from '{{.*}}golden.json' in 6 places
// CHUNK-NEXT: diff-account.cpp:[[#@LINE-12]]:{{[0-9]+}}: note: rank 0, block 0, operation 0 (put): dst_buff[0] is rank 1's output[1:2], but rank 1's output[0:1] in {{.*}}golden.json
// CHUNK-NEXT: channel.put(
// CHUNK-NEXT: ^
// CHUNK-NEXT: and 5 more like it
// CHUNK-NOT: note
// RANKS: error: the plan differs from '{{.*}}golden.json' in 1 place
// RANKS-NEXT: mscclc: note: number of gpus is 4, but 3 in {{.*}}golden.json
// RANKS-NOT: note
// BAD: bad.json:1:31: $.gpus[0].id: error: expected a number, found true or false
// NOPLAN: other.cpp:1:1: $: error: this is not JSON: invalid literal
// ERROR: error: slice 5:6 is out of range
// NOFOLDER: error: cannot write '{{.*}}none/golden.json': Not a directory
// FILES: bad.json
// FILES-NEXT: golden.json
// FILES-NEXT: new.json
// FILES-NEXT: other.cpp
// FILES-NOT: {{.}}
