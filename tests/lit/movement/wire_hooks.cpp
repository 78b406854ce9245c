// A hook takes sums that have travelled in a wire format.
// REQUIRES: frontend
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=4 -P wire=true --message-size 8K --target=none --verify | FileCheck %s --check-prefix=PROOF
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=4 -P wire=true --message-size 1M --target=none --run --dtype f32,bf16 --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=4 -P wire=true --message-size 8K --target=none --run --dtype bf16 --schedules 5 | FileCheck %s --check-prefix=BITS
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=4 -P wire=true --message-size 8K --emit-cuda | FileCheck %s --check-prefix=KERNEL
// RUN: mscclc %samples/auto/allreduce_norm.cpp -P ranks=4 -P wire=true --message-size 8K --target=none --emit-ir -o %t.ir
// RUN: mscclc %t.ir --passes= --emit-ir | diff %t.ir -
// PROOF: sums: ((0+1)+2)+3 everywhere, each contribution quantised once, the sum once
// BITS: {{bits +5 +0 +yes}}
// KERNEL: #include "mscclc/hooks/wire_f8e4m3.cuh"
// KERNEL: collective = "allreduce+add_rms_norm+f8e4m3";
// KERNEL: using Wire = mscclc::hooks::WireF8E4m3<128>; // the form of values in scratch
// KERNEL-NEXT: hookArrays = 3;
// KERNEL-NEXT: blockElements = 128;
// KERNEL: using Hook1 = RowHook<mscclc::hooks::AddRmsNorm,
// KERNEL: apply<Hook1>(
//
// What a hook has made would be another value for its owner. So it is not moved before copies, and not sent.
// RUN: mscclc %s --target=none --verify
// RUN: %verify %s -P early=true --target=none
// A promised hook that is not applied is missed behind a wire format, too.
// RUN: %verify --prefix=missing %s -P applied=false --target=none
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void scaled(bool early = false, bool applied = true) {
  CollectiveProgram program("scaled", AllReduce(2, 1, /*inplace=*/true).then("scale"),
                            {.schedule = Schedule::Auto, .wire = Wire::F8E4m3{}});
  Hook scale("scale", {.reads = {"factor"}, .equal = {"factor"}});
  for (int chunk = 0; chunk < 2; ++chunk) {
    const Chunk sum = Rank(chunk).input()[chunk], other = Rank(1 - chunk).input()[chunk];
    reduce(sum, {other}); // missing-error@:5 {{input[1] of rank 0 ends without hook 'scale' applied, which the collective promises (.then)}}
    const bool isEarly = early && chunk == 0;
    if (isEarly)
      apply(scale, sum);
    copy(other, sum); // expected-error@:5 {{this statement takes what a hook has made to another rank, where no wire format goes (.wire): apply the hook on each rank, after the copy}}
    // missing-note@-1:5 {{the result is copied to input[1] of rank 0 here}}
    if (isEarly)
      continue;
    apply(scale, sum);
    if (applied || chunk == 0)
      apply(scale, other);
  }
}
