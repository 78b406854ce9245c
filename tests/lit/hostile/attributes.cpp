// Attributes that reach beyond the algorithm.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

// expected-error@+1:16 {{attribute 'constructor' is not part of the language: nothing runs before the algorithm}}
__attribute__((constructor)) void before() {}
// expected-error@+1:16 {{attribute 'no_sanitize' is not part of the language: undefined behaviour is always checked}}
__attribute__((no_sanitize("undefined"))) int unchecked(int x) { return x * x; }
// expected-error@+1:28 {{attribute 'asm' is not part of the language}}
extern "C" int other() asm("getpid");
// expected-error@+1:16 {{attribute 'section' is not part of the language}}
__attribute__((section(".init"))) void placed() {}

MSCCLC_ALGORITHM void f() {}
