// A file that never ends.
// RUN: %verify %s --allow-include=/dev
#include <mscclc/dsl.hpp>
// expected-error@+1:10 {{'/dev/zero' is not a regular file}}
#include "/dev/zero"

MSCCLC_ALGORITHM void f() {}
