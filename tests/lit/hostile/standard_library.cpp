// Wrong use of the standard library is reported where the algorithm uses it.
// RUN: rm -f %t
// RUN: not mscclc %s --algorithm at -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-AT
// RUN: not mscclc %s --algorithm empty -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-EMPTY
// RUN: not mscclc %s --algorithm optional -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-OPTIONAL
// RUN: not mscclc %s --algorithm missing_key -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-MISSING_KEY
// RUN: not mscclc %s --algorithm function -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-FUNCTION
// RUN: not mscclc %s --algorithm asserting -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-ASSERTING
// RUN: not mscclc %s --algorithm value -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-VALUE
// RUN: not mscclc %s --algorithm number -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-NUMBER
// RUN: not mscclc %s --algorithm cast -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-CAST
// RUN: not mscclc %s --algorithm view -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-VIEW
// RUN: test ! -e %t
#include <cassert>
#include <functional>
#include <map>
#include <mscclc/dsl.hpp>
#include <optional>
#include <string>
#include <vector>

MSCCLC_ALGORITHM void at(unsigned index = 7) {
  std::vector<int> values(3);
  // CHECK-AT: standard_library.cpp:[[#@LINE+1]]:10: error: this would throw std::out_of_range: vector::_M_range_check: __n (which is 7) >= this->size() (which is 3)
  values.at(index) = 1;
}
MSCCLC_ALGORITHM void empty() {
  std::vector<int> values;
  // CHECK-EMPTY: standard_library.cpp:[[#@LINE+1]]:10: error: access to an element of an empty container: the standard library's check '!this->empty()' failed
  values.back() = 1;
}
MSCCLC_ALGORITHM void optional() {
  std::optional<int> value;
  // CHECK-OPTIONAL: standard_library.cpp:[[#@LINE+1]]:{{3|4}}: error: access to the value of an empty optional
  *value = 1;
}
MSCCLC_ALGORITHM void missing_key() {
  std::map<int, int> values;
  // CHECK-MISSING_KEY: standard_library.cpp:[[#@LINE+1]]:10: error: this would throw std::out_of_range: map::at
  values.at(3) = 1;
}
MSCCLC_ALGORITHM void function() {
  std::function<void()> call;
  // CHECK-FUNCTION: standard_library.cpp:[[#@LINE+1]]:3: error: an empty std::function is called
  call();
}
MSCCLC_ALGORITHM void asserting(int ranks = 0) {
  // CHECK-ASSERTING: standard_library.cpp:[[#@LINE+1]]:3: error: assertion 'ranks > 0 && "too few"' failed
  assert(ranks > 0 && "too few");
}
MSCCLC_ALGORITHM void value() {
  std::optional<int> none;
  // CHECK-VALUE: standard_library.cpp:[[#@LINE+1]]:8: error: the algorithm aborts here
  none.value();
}
MSCCLC_ALGORITHM void number(std::string_view text = "x") {
  // CHECK-NUMBER: standard_library.cpp:[[#@LINE+1]]:3: error: this would throw std::invalid_argument: stoi
  std::stoi(std::string(text));
}
struct Base {
  virtual ~Base() = default;
};
struct Derived : Base {};
MSCCLC_ALGORITHM void cast() {
  Base base;
  // CHECK-CAST: standard_library.cpp:[[#@LINE+1]]:3: error: this would throw std::bad_cast
  dynamic_cast<Derived &>(base);
}
MSCCLC_ALGORITHM void view(std::string_view text = "x") {
  // CHECK-VIEW: standard_library.cpp:[[#@LINE+1]]:21: error: index past the end: the standard library's check '__pos < this->_M_len' failed
  mscclc::Rank rank(text[7]);
}
