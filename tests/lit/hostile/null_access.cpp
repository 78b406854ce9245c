// A null pointer.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

struct Link {
  int peer = 0;
};
MSCCLC_ALGORITHM void f() {
  Link *link = nullptr;
  // expected-error@+1:9 {{member access within a null pointer to 'Link'}}
  link->peer = 3;
}
