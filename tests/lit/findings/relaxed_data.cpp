// A relaxed signal is all that tells a rank of its result: an error, which --allow names for who knows better.
// RUN: rm -f %t
// RUN: %verify %s
// RUN: test ! -e %t
// RUN: mscclc %s --allow=relaxed-data -o %t 2>&1 | FileCheck %s --check-prefix=ALLOWED
// RUN: test -s %t
// RUN: mscclc %s --allow=relaxed-data,unflushed-source --verify --verify-each=proof 2> %t.err | FileCheck %s --check-prefix=PROVEN
// RUN: FileCheck %s --check-prefix=ALLOWED < %t.err
// RUN: mscclc %s --allow=relaxed-data -q -o %t 2>&1 | count 0
// RUN: %verify %s --allow=unflushed-source --verify
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void relaxed_data() {
  CollectiveProgram program("relaxed_data", CustomCollective("move", 2, 1, 1, false).expect(1, 0, {{0, 0}}));
  MemoryChannel there(1, 0), back(0, 1);
  back.signal(tb(0), {.relaxed = true});
  there.wait(tb(0), {.sync = Sync::After, .relaxed = true});
  there.put(Rank(1).output()[0], Rank(0).input()[0], tb(0));
  there.signal(tb(0), {.sync = Sync::Before, .relaxed = true});
  back.wait(tb(0), {.sync = Sync::After, .relaxed = true});
}

// expected-error@-5:9 {{rank 1 learns that output[0] of rank 1 is written only by a relaxed signal; it orders, but makes no data visible [--allow=relaxed-data]}}
// ALLOWED: relaxed_data.cpp:[[#@LINE-6]]:9: warning: rank 1 learns that output[0] of rank 1 is written only by a relaxed signal; it orders, but makes no data visible [--allow=relaxed-data]
// ALLOWED: 1 warning generated.
// PROVEN: relaxed_data: proven: 2 ranks
