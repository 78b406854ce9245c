// AllReduce with what a model does next: the residual is added, and each row normalised (RMSNorm).
//
// When: one NVLink domain of up to 9 GPUs; the sum is read once, by the kernel that has just made it. A kernel only, as
// plans call no functions:
//   mscclc allreduce_norm.cpp -P ranks=8 --emit-cuda -o allreduce_norm.cu
// A launch brings the arrays of each rank and the length of a row. -P quantize=true also gives rows of f8e4m3.
//
// A share is whole rows, so the sum of a few rows is made on a few ranks, and then it is sent to the others. For these
// -P oneshot=true is faster: each rank adds up all data, in one hop.
//
// With -P wire=true values travel as f8e4m3 (allreduce_quantized.cpp), and the hook takes the decoded sum. Let u be the
// exact sum plus the residual, R = √(Σu²/n + epsilon) for a row of n elements, and h and R' the same as they are
// computed. E is the bound of that sample on the sum's error, with that of rounding h to the type of elements: |h - u|
// ≤ E. R is a norm of the vector (u/√n, √epsilon), so |R' - R| ≤ √(ΣE²/n). From
//   h/R' - u/R = (h - u)/R' + u/R · (R - R')/R'
// the error of a normalised element follows, before it is rounded to the type of elements:
//   |result - gamma · u/R| ≤ |gamma|/R' · (E + |u|/R · √(ΣE²/n)) · (1 + 2^-10)
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void allreduce_norm(int ranks = 8, bool quantize = false, Order order = Order::Ranks,
                                     bool wire = false, bool oneshot = false, Protocol protocol = Protocol::Auto) {
  const char *name = quantize ? "add_rms_norm_quantize" : "add_rms_norm";
  HookOptions options{.granularity = Granularity::Row,
                      .reads = {"residual", "gamma", "epsilon"},
                      .writes = {"residual"},
                      .equal = {"gamma", "epsilon"},
                      .function = "mscclc::hooks::AddRmsNorm",
                      .header = "mscclc/hooks/add_rms_norm.cuh"};
  if (quantize) {
    options.writes = {"residual", "quantized", "scales"};
    options.function = "mscclc::hooks::AddRmsNormQuantizeF8E4m3";
    options.header = "mscclc/hooks/add_rms_norm_quantize_f8e4m3.cuh";
  }
  CollectiveProgram program(oneshot ? "allreduce_norm_oneshot" : "allreduce_norm",
                            AllReduce(ranks, 1, /*inplace=*/true).then(name),
                            {.instances = automatic,
                             .protocol = protocol,
                             .schedule = Schedule::Auto,
                             .order = order,
                             .wire = wire ? Wire(Wire::F8E4m3{}) : Wire()});
  Hook norm(name, options);
  List<Buffer> arrived; // on each rank, in one shot
  for (int rank = 0; rank < ranks && oneshot; ++rank) {
    arrived.push_back(Buffer(rank, ranks * ranks));
    for (int step = 1; step < ranks; ++step)
      copy(arrived[rank].slice(step * ranks, (step + 1) * ranks), Rank((rank + step) % ranks).input().slice(0, ranks));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    List<Chunk> others; // where the data of the others is: all of it, or share `rank`
    for (int step = 1; step < ranks; ++step)
      others.push_back(oneshot ? arrived[rank].slice(step * ranks, (step + 1) * ranks)
                               : Rank((rank + step) % ranks).input()[rank]);
    reduce(oneshot ? Rank(rank).input().slice(0, ranks) : Rank(rank).input()[rank], others);
    if (!oneshot)
      copy(others, Rank(rank).input()[rank]);
  }
  for (int rank = 0; rank < ranks; ++rank)
    apply(norm, Rank(rank).input().slice(0, ranks)); // each rank has a residual
}
