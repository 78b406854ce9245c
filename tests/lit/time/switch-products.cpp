// No switch multiplies: a kernel loads the values of all ranks of the group then, over as many bytes of the links.
// RUN: mscclc %s --estimate --target=none --size 16M --machine h100x8 --json > %t.sum
// RUN: mscclc %s -P multiplies=1 --estimate --target=none --size 16M --machine h100x8 --json > %t.product
// RUN: %python -c "import json, sys; s, p = [json.load(open(f))['estimates'][0] for f in sys.argv[1:]]; into = [sum(l['bytes'] for l in e['traffic'] if l['kind'] == 'link in') for e in (s, p)]; print(p['links_us'] > 5 * s['links_us'], into[1] > 5 * into[0])" %t.sum %t.product | FileCheck %s
// CHECK: True True
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void products(int multiplies = 0) {
  constexpr int ranks = 8;
  CollectiveProgram program("products", Reduce(ranks, 1, 0, /*inplace=*/false));
  List<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  SwitchChannel nvls(all, BufferType::Input);
  List<MemoryChannel> peers;
  for (int rank = 1; rank < ranks; ++rank) {
    MemoryChannel root(0, rank);
    peers.push_back(MemoryChannel(rank, 0));
    root.signal(tb(0), {.sync = Sync::None, .relaxed = true});
    root.wait(tb(0), {.sync = Sync::After});
    peers[rank - 1].wait(tb(0), {.sync = Sync::After, .relaxed = true});
  }
  nvls.atRank(0).reduce(0, 1, Rank(0).output()[0], tb(0), multiplies == 1 ? ReduceOp::Prod : ReduceOp::Sum);
  for (MemoryChannel &peer : peers)
    peer.signal(tb(0), {.sync = Sync::Before});
}
