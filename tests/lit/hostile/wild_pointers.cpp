// Pointers that no check knows to be wrong: the place is where they are used.
// RUN: %verify --prefix=load %s --algorithm load
// RUN: %verify --prefix=store %s --algorithm store
// RUN: %verify --prefix=beyond %s --algorithm beyond
// RUN: %verify --prefix=call %s --algorithm call
// RUN: %verify --prefix=null_call %s --algorithm null_call
// RUN: %verify --prefix=null_member %s --algorithm null_member
#include <bit>
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void load(long address = 12345678) {
  const int *pointer = std::bit_cast<const int *>(address);
  const int unrelated = 3;
  // load-error@+1:33 {{access to memory that is not the algorithm's}}
  mscclc::Rank rank(unrelated + *pointer);
}
MSCCLC_ALGORITHM void store(long address = 12345678) {
  int *pointer = nullptr;
  __builtin_memcpy(&pointer, &address, sizeof pointer);
  // store-error@+1:3|12 {{access to memory that is not the algorithm's}}
  *pointer = 1;
}
MSCCLC_ALGORITHM void beyond(unsigned long size = 1ul << 40) {
  char to[8] = {};
  const char from[8] = {};
  // A sanitizer of the compiler's own would report this, and is stopped.
  // beyond-error-re@+1:3 {{{{access to memory that is not the algorithm's|the algorithm made a system call}}}}
  __builtin_memcpy(to, from, size);
}
MSCCLC_ALGORITHM void call(long address = 12345678) {
  union {
    long number;
    void (*function)();
  };
  number = address;
  // call-error@+1:3 {{access to memory that is not the algorithm's}}
  function();
}
MSCCLC_ALGORITHM void null_call(bool reach = true) {
  void (*function)() = nullptr;
  if (reach)
    // null_call-error@+1:5 {{a call through a null pointer}}
    function();
}
struct S {
  void f() {}
};
MSCCLC_ALGORITHM void null_member() {
  S s;
  void (S::*function)() = nullptr;
  // null_member-error@+1:3 {{a call through a null pointer}}
  (s.*function)();
}
