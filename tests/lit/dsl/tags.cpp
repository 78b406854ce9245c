// Tags go with the program: into IR text, plans and kernels, where selectors at run time find them.
// RUN: %verify %s
// RUN: mscclc %s -P bad=false --emit-ir -o %t.ir && FileCheck %s --check-prefix=IR --input-file %t.ir
// IR: tags ["tuned", "level=2", "v1.0_b-c=-3"]
// RUN: mscclc %t.ir --passes= --emit-ir | diff %t.ir -
// RUN: mscclc %s -P bad=false -o %t.json && FileCheck %s --check-prefix=PLAN --input-file %t.json
// PLAN: "tags": ["tuned", "level=2", "v1.0_b-c=-3"]
// RUN: mscclc %t.json --emit-ir | FileCheck %s --check-prefix=IR
// RUN: mscclc %t.json --emit-dsl -o %t.cpp && FileCheck %s --check-prefix=SOURCE --input-file %t.cpp && mscclc %t.cpp -o - | diff %t.json -
// SOURCE: .tags = {"tuned", {"level", 2}, {"v1.0_b-c", -3}}
// RUN: mscclc %s -P bad=false --emit-cuda | FileCheck %s --check-prefix=KERNEL
// KERNEL: static constexpr const char *tags = "tuned,level=2,v1.0_b-c=-3";
// Order means nothing when plans are compared.
// RUN: sed 's/"tuned", "level=2"/"level=2", "tuned"/' %t.json > %t-turned.json && mscclc %t.json --diff %t-turned.json
// RUN: sed 's/"tuned", //' %t.json > %t-less.json && not mscclc %t.json --diff %t-less.json 2>&1 | FileCheck %s --check-prefix=DIFF
// DIFF: tags
// RUN: sed 's/"tuned"/"two words"/' %t.json > %t-bad.json && not mscclc %t-bad.json --verify 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: {{.*}}'two words' is not a valid tag: that is a name of letters, digits, '_', '-' and '.', then '=' and an integer if that is not 1
// RUN: sed 's/"tuned"/"level=2"/' %t.json > %t-twice.json && not mscclc %t-twice.json --verify 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}tag 'level=2' is stated twice
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(bool bad = true) {
  ProgramOptions options{.tags = {"tuned", {"level", 2}}};
  options.tags.push_back({"v1.0_b-c", -3});
  if (bad) {
    options.tags.push_back("tuned");
    options.tags.push_back({"a,b", 7});
  }
  // expected-error@+2:21 {{tag 'tuned' is given twice}}
  // expected-error@+1:21 {{'a,b' is not a valid name of a tag: it has only letters, digits, '_', '-' and '.'}}
  CollectiveProgram program("p", TestCollective(1, 1, 1), options);
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}
