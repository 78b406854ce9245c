// Several values of parameters that are no integers. Bools, enums and doubles take lists; a string is itself.
// RUN: mscclc %s --algorithm typed -P deep=true,false -P how=Near,How::Far -P share=0.5,1 -P name=a,b..c --verify | FileCheck %s --check-prefix=TYPED
// RUN: mscclc %s --algorithm typed -P name=a,b..c | FileCheck %s --check-prefix=NAME
#include <mscclc/dsl.hpp>
#include <string_view>
using namespace mscclc;

enum class How { Near, Far };
MSCCLC_ALGORITHM void typed(bool deep = false, How how = How::Near, double share = 1, std::string_view name = "typed") {
  CollectiveProgram program(name, AllReduce(1, 1, false));
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}

// TYPED: deep how share exit result
// TYPED-COUNT-8: {{(true|false) (Near|How::Far) (0.5|1) 0 proven}}
// NAME: "name": "a,b..c"
