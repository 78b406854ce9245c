// AllReduce, quantised: values travel as f8e4m3, 132 bytes for each 128 elements, which are 256 bytes of bf16. With
// -P bf16=true they travel as bf16, half the bytes of f32.
//
// When: one NVLink domain, messages of activations that stand the error below; short ones travel in packets. A kernel
// only, as plans move elements as they are:
//   mscclc allreduce_quantized.cpp -P ranks=8 --emit-cuda -o allreduce_quantized.cu
//
// The error, for an element x of a block whose largest absolute value is a (at least 2^-117): the scale is a / 448, and
// quotients between 256 and 448 are rounded to multiples of 32. So x is off by at most 16 scales, which is a / 28. Each
// contribution is quantised once, and so is the sum, whose block has the largest absolute value A:
//   |result - sum| <= (a_0 + a_1 + … + A) / 28 · (1 + 2^-10) + |result| / 2^p
// The factor covers the roundings of f32 for up to 512 ranks, and the last term those to the type of elements: p is 8
// for bf16, 11 for f16, and for f32 the term is 0.
//
// As bf16, a contribution x (at least 2^-126) is off by at most x / 2^8, and so is the sum s of what came:
//   |result - sum| <= (|x_0| + |x_1| + … + |s|) / 2^8 · (1 + 2^-10)
// Here the factor covers the roundings of f32 for up to 64 ranks. A contribution or sum beyond 3.39 · 10^38 becomes
// infinite.
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_quantized(int ranks = 8, int block = 128, bool bf16 = false,
                                          Protocol protocol = Protocol::Auto) {
  CollectiveProgram program("allreduce_quantized", AllReduce(ranks, 1, /*inplace=*/true),
                            {.instances = automatic,
                             .protocol = protocol,
                             .schedule = Schedule::Auto,
                             .order = Order::Ranks,
                             .wire = bf16 ? Wire(Wire::Bf16{.block = block}) : Wire::F8E4m3{.block = block}});
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // where the other GPUs hold share `rank`
    for (int step = 1; step < ranks; ++step)
      others.push_back(Rank((rank + step) % ranks).input()[rank]);
    reduce(Rank(rank).input()[rank], others);
    copy(others, Rank(rank).input()[rank]);
  }
}
