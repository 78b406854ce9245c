// Functions that cannot be algorithms.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

struct Holder {
  // expected-error@+1:25 {{'method' cannot be an algorithm: it must be a function outside a class}}
  MSCCLC_ALGORITHM void method() {}
};
// expected-error@+1:22 {{'result' cannot be an algorithm: it must be a function that returns nothing (void)}}
MSCCLC_ALGORITHM int result() { return 1; }
// expected-error@+1:38 {{parameter 'ranks' of an algorithm needs a default value}}
MSCCLC_ALGORITHM void no_default(int ranks) {}
// expected-error@+1:45 {{parameter 'p' of an algorithm cannot have type 'const int *': integers, bool, enums, double and std::string_view are possible}}
MSCCLC_ALGORITHM void wrong_type(const int *p = nullptr) {}
int three();
// expected-error@+3:46 {{the default value of parameter 'n' is not a constant}}
// expected-note@-2:5 {{declared here}}
// expected-error@+1:48 {{'three' has no definition here: write it in this file or a header; libraries cannot be called}}
MSCCLC_ALGORITHM void not_constant(int n = 1 + three()) {}
// expected-error@+1:35 {{a parameter of an algorithm needs a name}}
MSCCLC_ALGORITHM void unnamed(int = 1) {}
