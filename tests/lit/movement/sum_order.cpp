// With .order all sums are taken in one order, whatever is chosen: protocol, instances, pipelines, size of the message.
// REQUIRES: frontend
// RUN: mscclc %s -P ranks=2..6 -P order=Ranks --verify=invariant | FileCheck %s --check-prefix=RANKS
// RUN: mscclc %s -P ranks=2..6 -P order=Tree --verify=invariant | FileCheck %s --check-prefix=TREE
// RUN: mscclc %s -P order=Ranks,Tree -P protocol=Simple,LL -P copies=1,2 --message-size 4K --verify=invariant
// RUN: mscclc %s -P order=Ranks,Tree -P protocol=Simple,LL -P oneHop=true --message-size 64M --target=mscclpp --verify=invariant
// RUN: mscclc %s -P order=Ranks,Tree -P perNode=2 -P protocol=Simple,LL --verify=invariant
// RUN: mscclc %s -P order=Tree --run --size 64K --dtype bf16,f8e5m2 --schedules 3 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %s -P order=Any --run --size 64K --dtype i32 --schedules 10 | FileCheck %s --check-prefix=RAN --implicit-check-not=bits
// RUN: mscclc %s -P order=Ranks -P protocol=LL --run --dtype f32 --schedules 10
// Packets are taken as the sums are. A kernel adds a rank's own operand among them; for a plan it becomes packets, too.
// RUN: mscclc %s -P order=Ranks -P protocol=LL --target=none --message-size 4K --emit-ir | FileCheck %s --check-prefix=PLACES --implicit-check-not=cpkt
// RUN: mscclc %s -P order=Ranks -P protocol=LL --target=mscclpp --message-size 4K --emit-ir | FileCheck %s --check-prefix=PACKETS
// As they are written, each share begins with its own.
// RUN: mscclc %s --verify | FileCheck %s --check-prefix=WRITTEN
// The switch is out.
// RUN: mscclc %s -P ranks=8 -P order=Ranks --message-size 64M --verify | FileCheck %s --check-prefix=NO-SWITCH
// The IR keeps the order.
// RUN: mscclc %s -P order=Ranks --emit-ir -o %t.ir
// RUN: FileCheck %s --check-prefix=IR --input-file %t.ir
// RUN: sed '/<- scratch.*, input.3:4/s/scratch\[1:2\]%in, scratch\[2:3\]%in/scratch[2:3]%in, scratch[1:2]%in/' %t.ir | not mscclc - -x ir --verify 2>&1 | FileCheck %s --check-prefix=BROKEN
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void sum_order(int ranks = 4, Order order = Order::Written, Protocol protocol = Protocol::Auto,
                                int copies = 1, bool oneHop = false, int perNode = 0) {
  CollectiveProgram program("sum_order", AllReduce(ranks, 1, /*inplace=*/!oneHop),
                            {.instances = copies,
                             .protocol = protocol,
                             .schedule = Schedule::Auto,
                             .ranksPerNode = perNode,
                             .order = order});
  for (int rank = 0; rank < ranks; ++rank) {
    const auto place = [&](int of) { return oneHop ? Rank(of).input().slice(0, ranks) : Rank(of).input()[rank]; };
    List<Chunk> others;
    for (int step = 1; step < ranks; ++step)
      others.push_back(place((rank + step) % ranks));
    if (oneHop) {
      reduce(Rank(rank).output().slice(0, ranks), place(rank), others);
    } else {
      reduce(place(rank), others);
      copy(others, place(rank));
    }
  }
}

// RANKS: 2 {{.*}} right; order of sums: Ranks and Tree
// RANKS: 3 {{.*}} right; order of sums: Ranks and Tree
// RANKS: 4 {{.*}} right; order of sums: Ranks{{$}}
// RANKS: 5 {{.*}} right; order of sums: Ranks{{$}}
// RANKS: 6 {{.*}} right; order of sums: Ranks{{$}}
// TREE: 3 {{.*}} right; order of sums: Ranks and Tree
// TREE: 4 {{.*}} right; order of sums: Tree
// TREE: 5 {{.*}} right; order of sums: Tree
// TREE: 6 {{.*}} right; order of sums: Tree
// BITS: {{^ *}}65536 {{ *3 *0 *}}yes
// BITS: {{^ *}}65536 bits {{ *3 *0 *}}yes
// BITS: {{^ *}}65536 bits {{ *3 *0 *}}yes
// RAN: {{^ *}}65536 {{ *10 *0 *}}yes
// PLACES: respkt {{.*}} <- input[0:1]{{[^<]*}}@
// PLACES: respkt {{.*}} <- input[1:2]{{[^<]*}} first_after 1 @
// PLACES: respkt {{.*}} <- input[2:3]{{[^<]*}} first_after 2 @
// PLACES: respkt {{.*}} <- input[3:4]{{[^<]*}} first_after 3 @
// PACKETS: cpkt scratch
// PACKETS: pkt {{.*}} <- input[2:3]{{.*}}, scratch{{.*}}, scratch{{.*}}, scratch{{.*}}
// WRITTEN: sums: the order depends on the chunk: output[0] 0+1+2+3, output[{{[0-9]+}}] 1+2+3+0, narrowed once
// NO-SWITCH: {{^}}sums: ((((((0+1)+2)+3)+4)+5)+6)+7 everywhere, narrowed once
// IR: order ranks
// BROKEN: error: the schedule does not keep the order of sums that the program asks for (.order): output[
