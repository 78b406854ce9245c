// note() prints refs; of a type that it does not know, the error says what it prints.
// RUN: mscclc %s --no-verify -o %t 2>&1 | FileCheck %s
// RUN: not mscclc %s -DUNKNOWN -o %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN
#include <mscclc/chunks.hpp>
using namespace mscclc;

struct Pair {
  int first, second;
};

MSCCLC_ALGORITHM void f() {
  CollectiveProgram program("p", AllReduce(2, 2, false));
  const ChunkRef a = chunk(0, BufferType::Input, 1, 2);
  const ChunkRef b = a.put(1, BufferType::Scratch, 4, {.sendtb = 0});
  // CHECK: notes.cpp:[[#@LINE+1]]:8: note: input[1:3] of rank 0, scratch[4:6] of rank 1, input[3] of rank 1, no chunk
  note("{}, {}, {}, {}", a, b, chunk(1, BufferType::Input, 3), ChunkRef());
#ifdef UNKNOWN
  // UNKNOWN: error: {{.*}}note() prints numbers, bool, text, chunks, refs, buffers, ranks, thread blocks, and ranges
  // UNKNOWN: notes.cpp:[[#@LINE+1]]:3: note: {{.*}}requested here
  note("{}", Pair{1, 2});
#endif
}
