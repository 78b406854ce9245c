// Half-precision numbers compute as wherever else; where the processor has none, the compiler calls its own library.
// RUN: mscclc %s | FileCheck %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int rounds = 3, double scale = 0.5) {
  _Float16 half = 1;
  for (int i = 0; i < rounds; ++i)
    half = half * static_cast<_Float16>(1.5f) + static_cast<_Float16>(scale); // 2, 3.5, 5.75
#ifdef __x86_64__
  const auto wide = static_cast<long double>(half);
  half = static_cast<_Float16>(wide);
#endif
  // CHECK: "max_message_size": 5750
  CollectiveProgram program("p", AllGather(1, 1, false),
                            {.maxMessageSize = static_cast<unsigned long>(static_cast<double>(half) * 1000)});
  copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}
