// A split program is two kernels. In the one that sends are the operations of each thread block before its first wait.
// RUN: mscclc %s --emit-cuda | FileCheck %s
// RUN: %verify --prefix=late %s -P mistake=1 --no-verify --emit-cuda
// RUN: %verify --prefix=pull %s -P mistake=2 --no-verify --emit-cuda
// RUN: %verify --prefix=alone %s -P ranks=1 --emit-cuda
// RUN: %verify --prefix=plan %s
// RUN: mscclc %s --emit-ir -o %t.ir && FileCheck %s --check-prefix=TEXT < %t.ir
// RUN: mscclc %t.ir --emit-dsl | FileCheck %s --check-prefix=SOURCE
// TEXT: split on
// SOURCE: .split = true
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void gather(int ranks = 2, int mistake = 0) {
  // alone-error@+2 {{no thread block moves data to another rank, so there is nothing for a kernel that sends (.split)}}
  // plan-error@+1 {{a plan is one kernel, so it cannot send in one and receive in another (.split); --emit-cuda makes both}}
  CollectiveProgram program("gather", AllGather(ranks, 1, false), {.doubleScratch = true, .split = true});
  // CHECK: static constexpr bool split = true; // a kernel that sends, and one that receives
  List<Buffer> scratch;
  for (int rank = 0; rank < ranks; ++rank)
    scratch.push_back(Buffer(rank, 1));
  for (int rank = 0; rank < ranks; ++rank) {
    Rank self(rank);
    self.copy(self.output()[rank], self.input()[0], tb(0));
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank)
        continue;
      MemoryChannel there(peer, rank);
      if (mistake == 1)
        there.wait(tb(0)); // late-note@:15 {{'wait' waits here}}
      if (mistake == 2) {
        there.signal(tb(0));
        there.wait(tb(0));                                                // pull-note@:15 {{'wait' waits here}}
        there.get(self.output()[peer], Rank(peer).input()[0], tb(0)); // pull-error@:15 {{'get' moves data between ranks after its thread block has waited, so a kernel that never waits cannot do it (.split): send first, to scratch of which launches use the halves in turn (.doubleScratch)}}
        continue;
      }
      // CHECK: if constexpr (K::sends) {
      // CHECK-NOT: wait
      // CHECK: copy(k, k.whole(1), {{.*}}(k.peerScratch({{.*}}, 0)));
      // CHECK: signal(k, one(0));
      // CHECK-NEXT: }
      // CHECK-NEXT: if constexpr (K::receives) {
      // CHECK-NEXT: // wait
      // CHECK: copy(k, k.whole(1), one(k.scratch(0)), one(k.output({{.*}})));
      there.put(scratch[peer][0], self.input()[0], tb(0)); // late-error@:13 {{'put' moves data between ranks after its thread block has waited}}
      there.signal(tb(0));
      if (mistake != 1)
        there.wait(tb(0));
      self.copy(self.output()[peer], scratch[rank][0], tb(0));
    }
  }
  // CHECK: template <class T, class Op, class Packet, KernelPart part> MSCCLC_KERNEL
  // CHECK-NEXT: const Kernel<Plan, T, Op, Packet, part> k(given);
  // CHECK: static constexpr auto entry = mscclc_gather<T, Op, Packet, part>;
}
