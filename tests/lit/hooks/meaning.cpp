// What statements leave is not what a collective with a hook promises.
// REQUIRES: frontend
// RUN: %verify --prefix=forgotten %s -P fault=forgotten
// RUN: %verify --prefix=early %s -P fault=early
// RUN: %verify --prefix=unpromised %s -P fault=unpromised
// RUN: %verify --prefix=copied %s -P fault=copied
// RUN: %verify --prefix=twice %s -P fault=twice
// A hook without arrays, or with equal ones, may be applied by one rank for all.
// RUN: mscclc %s -P fault=copied -P arrays=false --verify
#include <mscclc/dsl.hpp>
#include <string_view>
using namespace mscclc;

MSCCLC_ALGORITHM void f(std::string_view fault = "", bool arrays = true) {
  AllReduce sum(2, 1, true);
  if (fault != "unpromised")
    sum.then("norm");
  CollectiveProgram program("p", sum, {.schedule = Schedule::Auto});
  HookOptions options{.granularity = Granularity::Row, .reads = {"gamma"}, .equal = {"gamma"}};
  if (arrays)
    options.writes = {"residual"};
  Hook norm("norm", options);
  const Chunk own = Rank(0).input().slice(0, 2), other = Rank(1).input().slice(0, 2);
  if (fault == "early") {
    apply(norm, own);
    apply(norm, other);
  }
  // forgotten-error@+2:3 {{input[0] of rank 0 ends without hook 'norm' applied, which the collective promises (.then)}}
  // early-error@+1:3 {{input[0] of rank 0 ends without hook 'norm' applied}}
  reduce(own, {other});
  if (fault == "copied") {
    apply(norm, own); // copied-error@:5 {{input[0] of rank 1 ends with hook 'norm' applied by rank 0 to output[0], whose arrays have other rows: each rank that is promised the value applies it}}
    copy(other, own); // copied-note@:5 {{the result is copied to input[0] of rank 1 here}}
    return;
  }
  copy(other, own);
  if (fault == "forgotten" || fault == "early")
    return;
  // unpromised-error@+1:3 {{input[0] of rank 0 ends with hook 'norm' applied to a part of it or more than once, or although the collective does not promise that (.then)}}
  apply(norm, own);
  // unpromised-error@+2:3 {{input[0] of rank 1 ends with hook 'norm' applied to a part of it}}
  // twice-note@+1:3 {{applied here first}}
  apply(norm, other);
  if (fault == "twice") {
    // twice-error@+2:5 {{hook 'norm' is applied to input[0] of rank 1 twice, and changes its arrays each time}}
    // twice-error@+1:5 {{input[0] of rank 1 ends with hook 'norm' applied to a part of it}}
    apply(norm, other);
  }
}
