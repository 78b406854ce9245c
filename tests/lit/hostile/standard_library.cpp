// Wrong use of the standard library is reported where the algorithm uses it.
// RUN: %verify --prefix=at %s --algorithm at
// RUN: %verify --prefix=empty %s --algorithm empty
// RUN: %verify --prefix=optional %s --algorithm optional
// RUN: %verify --prefix=missing_key %s --algorithm missing_key
// RUN: %verify --prefix=function %s --algorithm function
// RUN: %verify --prefix=asserting %s --algorithm asserting
// RUN: %verify --prefix=value %s --algorithm value
// RUN: %verify --prefix=number %s --algorithm number
// RUN: %verify --prefix=cast %s --algorithm cast
// RUN: %verify --prefix=view %s --algorithm view
#include <cassert>
#include <functional>
#include <map>
#include <mscclc/dsl.hpp>
#include <optional>
#include <string>
#include <vector>

MSCCLC_ALGORITHM void at(unsigned index = 7) {
  std::vector<int> values(3);
  // at-error@+1:10 {{this would throw std::out_of_range: vector::_M_range_check: __n (which is 7) >= this->size() (which is 3)}}
  values.at(index) = 1;
}
MSCCLC_ALGORITHM void empty() {
  std::vector<int> values;
  // empty-error@+1:10 {{access to an element of an empty container: the standard library's check '!this->empty()' failed}}
  values.back() = 1;
}
MSCCLC_ALGORITHM void optional() {
  std::optional<int> value;
  // optional-error@+1:3|4 {{access to the value of an empty optional}}
  *value = 1;
}
MSCCLC_ALGORITHM void missing_key() {
  std::map<int, int> values;
  // missing_key-error@+1:10 {{this would throw std::out_of_range: map::at}}
  values.at(3) = 1;
}
MSCCLC_ALGORITHM void function() {
  std::function<void()> call;
  // function-error@+1:3 {{an empty std::function is called}}
  call();
}
MSCCLC_ALGORITHM void asserting(int ranks = 0) {
  // asserting-error@+1:3 {{assertion 'ranks > 0 && "too few"' failed}}
  assert(ranks > 0 && "too few");
}
MSCCLC_ALGORITHM void value() {
  std::optional<int> none;
  // value-error@+1:8 {{the algorithm aborts here}}
  none.value();
}
MSCCLC_ALGORITHM void number(std::string_view text = "x") {
  // number-error@+1:3 {{this would throw std::invalid_argument: stoi}}
  std::stoi(std::string(text));
}
struct Base {
  virtual ~Base() = default;
};
struct Derived : Base {};
MSCCLC_ALGORITHM void cast() {
  Base base;
  // cast-error@+1:9 {{this would throw std::bad_cast}}
  (void)dynamic_cast<Derived &>(base);
}
MSCCLC_ALGORITHM void view(std::string_view text = "x") {
  // view-error@+1:21 {{index past the end: the standard library's check '__pos < this->_M_len' failed}}
  mscclc::Rank rank(text[7]);
}
