// The rest of what C++ leaves undefined.
// RUN: %verify --prefix=shift %s --algorithm shift
// RUN: %verify --prefix=convert %s --algorithm convert
// RUN: %verify --prefix=zeros %s --algorithm zeros
// RUN: %verify --prefix=unreachable %s --algorithm unreachable
// RUN: %verify --prefix=negate %s --algorithm negate
#include <bit>
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void shift(int by = 40) {
  // shift-error@+1:23 {{shift by 40 bits is out of range for type 'int'}}
  mscclc::Rank rank(1 << by);
}
MSCCLC_ALGORITHM void convert(double value = 1e30) {
  // convert-error@+1:38 {{1e+30 is outside the range of type 'int'}}
  mscclc::Rank rank(static_cast<int>(value));
}
MSCCLC_ALGORITHM void zeros(unsigned value = 0) {
  // zeros-error@+1:35 {{counting the leading or trailing zeros of 0 has no result}}
  mscclc::Rank rank(__builtin_ctz(value));
}
MSCCLC_ALGORITHM void unreachable(bool reach = true) {
  if (reach)
    // unreachable-error@+1:5 {{the algorithm reaches a point marked as unreachable}}
    __builtin_unreachable();
}
MSCCLC_ALGORITHM void negate(int value = -2147483647 - 1) {
  // negate-error@+1:21 {{integer overflow: -(-2147483648) cannot be represented in type 'int'}}
  mscclc::Rank rank(-value);
}
