// What the command line asks of a source that has no such thing is a wrong command line (2); a fault of the source is not (1).
// REQUIRES: frontend
// RUN: sh -c 'mscclc %s -P N=3; echo code=$?' 2>&1 | FileCheck %s --check-prefixes=ALGORITHMS,TWO
// RUN: sh -c 'mscclc %s --algorithm foo; echo code=$?' 2>&1 | FileCheck %s --check-prefixes=NO-ALGORITHM,TWO
// RUN: sh -c 'mscclc %s --algorithm f -P N=3; echo code=$?' 2>&1 | FileCheck %s --check-prefixes=NO-PARAMETER,TWO
// RUN: sh -c 'mscclc %s --algorithm f -P n=abc; echo code=$?' 2>&1 | FileCheck %s --check-prefixes=VALUE,TWO
// RUN: sh -c 'mscclc %s --algorithm f -P n=abc -DWRONG; echo code=$?' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sh -c 'mscclc %s --algorithm h -DWRONG; echo code=$?' 2>&1 | FileCheck %s --check-prefixes=UNREAD,ONE --implicit-check-not="no algorithm"
// RUN: sh -c 'mscclc %s --algorithm f -P n=9; echo code=$?' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sh -c 'mscclc %s --algorithm f --diff %t.none; echo code=$?' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sh -c 'mscclc %t.none; echo code=$?' 2>&1 | FileCheck %s --check-prefix=ONE
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int n = 1) {
  CollectiveProgram program("f", TestCollective(1, 2, 2));
  Rank(0).copy(Rank(0).output()[n], Rank(0).input()[0], tb(0));
}
MSCCLC_ALGORITHM void g() {}
#ifdef WRONG
int wrong = "text";
MSCCLC_ALGORITHM void h(std::no_such_type n = 1) {} // UNREAD: exit-codes.cpp:[[#@LINE]]:30: error:
#endif
// ALGORITHMS: error: there are several algorithms: choose one with --algorithm (f, g)
// NO-ALGORITHM: error: there is no algorithm 'foo': this source has f, g
// NO-PARAMETER: error: 'f' has no parameter 'N': it has n
// VALUE: error: 'abc' is not a value of parameter 'n' of type 'int'
// TWO: code=2
// ONE: error:
// ONE: code=1
