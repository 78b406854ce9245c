// Pointers that no check knows to be wrong: the place is where they are used.
// RUN: rm -f %t
// RUN: not mscclc %s --algorithm load -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-LOAD
// RUN: not mscclc %s --algorithm store -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-STORE
// RUN: not mscclc %s --algorithm beyond -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-BEYOND
// RUN: not mscclc %s --algorithm call -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-CALL
// RUN: not mscclc %s --algorithm null_call -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-NULL_CALL
// RUN: not mscclc %s --algorithm null_member -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-NULL_MEMBER
// RUN: test ! -e %t
#include <bit>
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void load(long address = 12345678) {
  const int *pointer = std::bit_cast<const int *>(address);
  const int unrelated = 3;
  // CHECK-LOAD: wild_pointers.cpp:[[#@LINE+1]]:33: error: access to memory that is not the algorithm's
  mscclc::Rank rank(unrelated + *pointer);
}
MSCCLC_ALGORITHM void store(long address = 12345678) {
  int *pointer = nullptr;
  __builtin_memcpy(&pointer, &address, sizeof pointer);
  // CHECK-STORE: wild_pointers.cpp:[[#@LINE+1]]:{{3|12}}: error: access to memory that is not the algorithm's
  *pointer = 1;
}
MSCCLC_ALGORITHM void beyond(unsigned long size = 1ul << 40) {
  char to[8] = {};
  const char from[8] = {};
  // A sanitizer of the compiler's own would report this, and is stopped.
  // CHECK-BEYOND: wild_pointers.cpp:[[#@LINE+1]]:3: error: {{access to memory that is not the algorithm's|the algorithm made a system call}}
  __builtin_memcpy(to, from, size);
}
MSCCLC_ALGORITHM void call(long address = 12345678) {
  union {
    long number;
    void (*function)();
  };
  number = address;
  // CHECK-CALL: wild_pointers.cpp:[[#@LINE+1]]:3: error: access to memory that is not the algorithm's
  function();
}
MSCCLC_ALGORITHM void null_call(bool reach = true) {
  void (*function)() = nullptr;
  if (reach)
    // CHECK-NULL_CALL: wild_pointers.cpp:[[#@LINE+1]]:5: error: a call through a null pointer
    function();
}
struct S {
  void f() {}
};
MSCCLC_ALGORITHM void null_member() {
  S s;
  void (S::*function)() = nullptr;
  // CHECK-NULL_MEMBER: wild_pointers.cpp:[[#@LINE+1]]:3: error: a call through a null pointer
  (s.*function)();
}
