// Kernels call the functions of hooks.
// REQUIRES: frontend
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=2 --message-size 64M --emit-cuda | FileCheck %s
// CHECK: #include "mscclc/device.cuh"
// CHECK-NEXT: #include "mscclc/hooks.cuh"
// CHECK-NEXT: #include "mscclc/hooks/add_rms_norm.cuh"
// CHECK: #define MSCCLC_DTYPES float, Half, Bfloat16
// CHECK: collective = "allreduce+add_rms_norm"
// CHECK: static constexpr uint32_t hookArrays = 3;
// CHECK: static constexpr uint64_t blockElements = 1;
// CHECK: arrays[] = {{[{][{]"residual", 1, 0}, {"gamma", 0, 0}, {"epsilon", 0, 0}[}]}};
// CHECK: using Hook0 = RowHook<mscclc::hooks::AddRmsNorm, Writes<0>, Reads<1>, Reads<2>>; // add_rms_norm
// CHECK: apply<Hook0>(k, k.whole(
// The IR keeps the function.
// RUN: mscclc %samples/auto/allreduce_norm.cpp --passes=none --emit-ir -o %t.ir && FileCheck %s --check-prefix=IR --input-file %t.ir
// IR: function "mscclc::hooks::AddRmsNorm" header "mscclc/hooks/add_rms_norm.cuh" @
// RUN: mscclc %t.ir --passes=none --emit-ir | diff %t.ir -
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=2..9 -P quantize=true --message-size 64K --verify
// Blocks of a hook are units of chunks, and of what each block of a group does. A hook of elements divides nothing.
// RUN: mscclc %s --emit-cuda --dtype bf16 | FileCheck %s --check-prefix=BLOCKS
// RUN: mscclc %s -P block=0 --emit-cuda | FileCheck %s --check-prefix=ELEMENTS --implicit-check-not=blockElements
// BLOCKS-NOT: {{#include "mscclc/hooks/}}
// BLOCKS: #define MSCCLC_DTYPES Bfloat16
// BLOCKS: hookArrays = 0;
// BLOCKS: blockElements = 96;
// BLOCKS-DAG: using Hook0 = BlockHook<32, my::Function>; // function
// BLOCKS-DAG: using Hook1 = BlockHook<48, my::Other>; // other
// BLOCKS: apply<Hook0>(k, k.whole(2).part(k.block, 2, k.layout.unit), one(k.output(0)), 0);
// ELEMENTS: using Hook0 = ElementHook<my::Function>; // function
// ELEMENTS: apply<Hook0>(k, k.whole(2).part(k.block, 2), one(k.output(0)), 0);
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int block = 32) {
  CollectiveProgram program("p", AllReduce(1, 2, true).then("function"));
  const Granularity granularity = block == 0 ? Granularity::Element : Granularity::Block;
  Hook function("function", {.granularity = granularity, .block = block, .function = "my::Function"});
  Hook other("other", {.granularity = granularity, .block = block * 3 / 2, .function = "my::Other"});
  apply(function, Rank(0).output().slice(0, 2), ThreadBlockGroup({0, 1}));
}
