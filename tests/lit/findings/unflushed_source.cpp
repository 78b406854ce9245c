// A launch may end while a port still reads the user's input.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
// RUN: mscclc %s --allow=unflushed-source -o %t 2>&1 | FileCheck %s --check-prefix=ALLOWED
// RUN: not mscclc %t --verify 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: mscclc %t --verify --allow unflushed-source | FileCheck %s --check-prefix=PROVEN
// RUN: mscclc %s --allow=unflushed-source --emit-cuda -q | FileCheck %s --check-prefix=KERNEL
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void unflushed_source() {
  CollectiveProgram program("unflushed_source", CustomCollective("move", 2, 1, 1, false).expect(1, 0, {{0, 0}}));
  PortChannel there(1, 0), back(0, 1);
  back.signal(tb(0));
  there.wait(tb(0));
  there.putWithSignal(Rank(1).output()[0], Rank(0).input()[0], tb(0));
  back.wait(tb(0));
}

// CHECK: unflushed_source.cpp:[[#@LINE-4]]:9: error: rank 0 may end its launch while the port still reads input[0] of rank 0: without a flush, its user may not overwrite it then [--allow=unflushed-source]
// CHECK: 1 error generated.
// ALLOWED: unflushed_source.cpp:[[#@LINE-6]]:9: warning: rank 0 may end its launch while the port still reads
// PLAN: $.gpus[0].threadblocks[0].ops[{{[0-9]}}]: error: rank 0 may end its launch while the port still reads
// PROVEN: unflushed_source: proven: 2 ranks
// KERNEL: --allow=unflushed-source
