// Names that belong to the compiler.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
#include <cstddef>

// expected-error@+3:7 {{'operator new' is reserved for the compiler}}
// expected-warning@+2:35 0+ {{'operator new' should not return a null pointer unless it is declared 'throw()' or 'noexcept' [-Wnew-returns-null]}}
// expected-warning@+1:35 0+ {{null returned from function that requires a non-null return value [-Wnonnull]}}
void *operator new(std::size_t) { return nullptr; }
// expected-error@+1:5 {{an algorithm has no 'main': mark the function with MSCCLC_ALGORITHM}}
int main() {}
// expected-error@+1:31 {{'mscclc::Buffer::slice' is reserved for the compiler}}
mscclc::Chunk mscclc::Buffer::slice(std::int64_t, std::int64_t, Place) const { return {}; }
// expected-error@+1:13 {{'mscclc::On::On' is reserved for the compiler}}
mscclc::On::On(ThreadBlock) {}
// expected-error@+1:14 {{'mscclc::copy' is reserved for the compiler}}
void mscclc::copy(const Chunk &, const Chunk &, ThreadBlock, Place) {}

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:19 {{'__mscclc_loop_end' is reserved for the compiler}}
  mscclc::detail::__mscclc_loop_end();
}
