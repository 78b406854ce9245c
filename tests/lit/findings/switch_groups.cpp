// Each rank of a plan lists its switch groups for itself: the lists must agree.
// RUN: mscclc %s --target=none -q -o %t.json
// RUN: mscclc %t.json --verify -q
// RUN: sed 's/"ranks": \[0, 1, 2\]/"ranks": [0, 2, 1]/' %t.json > %t.members.json
// RUN: mscclc %t.members.json --verify -q
// RUN: %python -c "import sys; t = open(sys.argv[1]).read(); at = t.rindex(sys.argv[2]); print(t[:at] + t[at:].replace(sys.argv[2], sys.argv[3]))" %t.json "[0, 1, 2]" "[0, 2, 1]" > %t.order.json
// RUN: not mscclc %t.order.json --verify 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: %python -c "import sys; t = open(sys.argv[1]).read(); at = t.rindex(sys.argv[2]); print(t[:at] + t[at:].replace(sys.argv[2], sys.argv[3]))" %t.json "\"size\": 3, \"ranks\": [0, 1, 2]" "\"size\": 2, \"ranks\": [1, 2]" > %t.fewer.json
// RUN: not mscclc %t.fewer.json --verify 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: %python -c "import sys; t = open(sys.argv[1]).read(); at = t.rindex(sys.argv[2]); print(t[:at] + t[at:].replace(sys.argv[2], sys.argv[3]))" %t.json "\"buffer_type\": \"o\", \"rank_groups\"" "\"buffer_type\": \"i\", \"rank_groups\"" > %t.buffer.json
// RUN: not mscclc %t.buffer.json --verify 2>&1 | FileCheck %s --check-prefix=BUFFER
// RUN: mscclc %s --passes= --emit-ir -o %t.ir
// RUN: sed '/^  rank 1 /,/^  }/s/switch0 = output of .*//' %t.ir > %t.without.ir
// RUN: not mscclc %t.without.ir --verify 2>&1 | FileCheck %s --check-prefix=WITHOUT
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void group() {
  CollectiveProgram program("group", TestCollective(3, 1, 1));
  SwitchChannel all({0, 1, 2}, BufferType::Output);
  all.atRank(0).broadcast(Rank(0).input()[0], 0, 1, tb(0));
}

// ORDER: order.json:{{[0-9:]+}} $.gpus[0]{{.*}}: error: switch channel 0 of rank 0 is over ranks [0, 1, 2], but switch channel 0 of rank 2, which it meets, is over [0, 2, 1]: all ends of a group name the same ranks in the same order
// FEWER: error: switch channel 0 of rank 0, over ranks [0, 1, 2], has no end on rank 2: it is number 1 of those that rank 0 has with rank 2, which has 0 with rank 0
// BUFFER: error: switch channel 0 of rank 0 is over output buffers, but switch channel 0 of rank 2, which it meets, is over input buffers: a group has one kind of buffer
// WITHOUT: without.ir:{{[0-9]+}}:{{[0-9]+}}: error: switch channel 0 of rank 0, over ranks [0, 1, 2], has no end on rank 1: it is number 1 of those that rank 0 has with rank 1, which has 0 with rank 0
