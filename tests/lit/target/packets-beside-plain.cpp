// MSCCL++'s executor does not switch halves of double scratch for plain data that another rank or a port touches. A
// program that has both such data and packets gets no packets there; a kernel of its own takes both.
// REQUIRES: frontend
// RUN: mscclc %s --message-size 8K -o - | FileCheck %s --check-prefix=PLAIN
// RUN: mscclc %s --message-size 8K -P what=1 -o - | FileCheck %s --check-prefix=PLAIN
// RUN: mscclc %s --message-size 8K -P what=2 -o - | FileCheck %s --check-prefix=PLAIN
// RUN: mscclc %s --message-size 8K -P what=3 -o - | FileCheck %s --check-prefix=PLAIN
// RUN: mscclc %s --message-size 8K -P what=4 -o - | FileCheck %s --check-prefix=PACKETS
// RUN: mscclc %s --message-size 8K --target=none --emit-ir | FileCheck %s --check-prefix=BOTH
// PLAIN-NOT: "{{[a-z]*pkt}}"
// PLAIN: "use_double_scratch_buffer": false
// PACKETS: "{{[a-z]*pkt}}"
// PACKETS: "use_double_scratch_buffer": true
// BOTH: double_scratch
// BOTH: packet
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void beside(int what = 0) {
  CollectiveProgram program(
      "beside", CustomCollective("any", 4, 1, 1, true),
      {.protocol = Protocol::LL, .schedule = Schedule::Auto, .ranksPerNode = what == 0 || what == 3 ? 2 : 4});
  reduce(Rank(1).output()[0], Rank(0).input()[0], {Rank(2).input()[0]});
  switch (what) {
  case 0: // an operand arrives as plain data, which a statement may ask for
    reduce(Rank(0).input()[0], {Rank(3).input()[0]}, {.packets = false});
    break;
  case 1: { // another rank writes plain data
    Buffer kept(3, 1);
    copy(kept[0], Rank(0).input()[0], {.packets = false});
    copy(Rank(3).output()[0], kept[0]);
    break;
  }
  case 2: { // another rank reads it
    Buffer kept(3, 1);
    copy(kept[0], Rank(3).input()[0]);
    copy(Rank(2).output()[0], kept[0], {.by = 2});
    break;
  }
  case 3: { // a port sends it
    Buffer kept(3, 1);
    copy(kept[0], Rank(3).input()[0]);
    copy(Rank(0).output()[0], kept[0], {.packets = false});
    break;
  }
  default: { // its own rank alone touches it
    Buffer kept(3, 1);
    copy(kept[0], Rank(3).input()[0]);
    copy(Rank(3).output()[0], kept[0]);
  }
  }
}
