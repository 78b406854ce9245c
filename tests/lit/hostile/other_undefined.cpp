// The rest of what C++ leaves undefined.
// RUN: rm -f %t
// RUN: not mscclc %s --algorithm shift -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-SHIFT
// RUN: not mscclc %s --algorithm convert -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-CONVERT
// RUN: not mscclc %s --algorithm zeros -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-ZEROS
// RUN: not mscclc %s --algorithm unreachable -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-UNREACHABLE
// RUN: not mscclc %s --algorithm negate -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-NEGATE
// RUN: test ! -e %t
#include <bit>
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void shift(int by = 40) {
  // CHECK-SHIFT: other_undefined.cpp:[[#@LINE+1]]:23: error: shift by 40 bits is out of range for type 'int'
  mscclc::Rank rank(1 << by);
}
MSCCLC_ALGORITHM void convert(double value = 1e30) {
  // CHECK-CONVERT: other_undefined.cpp:[[#@LINE+1]]:38: error: 1e+30 is outside the range of type 'int'
  mscclc::Rank rank(static_cast<int>(value));
}
MSCCLC_ALGORITHM void zeros(unsigned value = 0) {
  // CHECK-ZEROS: other_undefined.cpp:[[#@LINE+1]]:35: error: counting the leading or trailing zeros of 0 has no result
  mscclc::Rank rank(__builtin_ctz(value));
}
MSCCLC_ALGORITHM void unreachable(bool reach = true) {
  if (reach)
    // CHECK-UNREACHABLE: other_undefined.cpp:[[#@LINE+1]]:5: error: the algorithm reaches a point marked as unreachable
    __builtin_unreachable();
}
MSCCLC_ALGORITHM void negate(int value = -2147483647 - 1) {
  // CHECK-NEGATE: other_undefined.cpp:[[#@LINE+1]]:21: error: integer overflow: -(-2147483648) cannot be represented in type 'int'
  mscclc::Rank rank(-value);
}
