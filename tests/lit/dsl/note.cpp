// What note() prints, and where; it leaves no trace in the program.
// RUN: mscclc %s --no-verify -o %t.with 2>&1 | FileCheck %s --implicit-check-not=note:
// RUN: mscclc %s --no-verify -o %t.quiet -q 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: mscclc %s -P talks=false --no-verify -o %t.without
// RUN: diff %t.with %t.without
// QUIET-NOT: note
#include <mscclc/dsl.hpp>
#include <array>
#include <string>
#include <vector>
using namespace mscclc;

static void say(bool talks, int step, Place at = Place::here()) {
  if (talks)
    note({"step {}", at}, step);
}
enum Unscoped { Two = 2 };

MSCCLC_ALGORITHM void notes(bool talks = true) {
  CollectiveProgram program("notes", AllReduce(2, 2, true), {.maxMessageSize = 1_MiB});
  const std::string text = "text";
  const Rank rank(1);
  const Buffer scratch(0, 4);
  if (talks) {
    // CHECK: note.cpp:[[#@LINE+2]]:10: note: plain
    // CHECK-NEXT: note("plain");
    note("plain");
    // CHECK: note.cpp:[[#@LINE+1]]:10: note: {braces} 1 -2 18446744073709551615 -9223372036854775808 2 A true 0.5 1e+30
    note("{{braces}} {} {} {} {} {} {} {} {} {}", 1, -2L, ~0ull, -9223372036854775807 - 1, Two, 'A', true, 0.5f, 1e30);
    // CHECK: note.cpp:[[#@LINE+1]]:10: note: text, text and text on rank 1 in 3
    note("{}, {} and {} on {} in {}", "text", text, std::string_view(text), rank, tb(3));
    // CHECK: note: output[2] of rank 1, output[1:3] of rank 1, scratch[0:4] of rank 0, no chunk; scratch of rank 0, no buffer
    note("{}, {}, {}, {}; {}, {}", rank.output()[2], rank.output().slice(1, 3), scratch.slice(0), Chunk(), scratch, Buffer());
    // CHECK: note: [0, 1], [], [-1], [7, 8]
    note("{}, {}, {}, {}", List<int>{0, 1}, std::vector<int>(), std::array<short, 1>{-1}, std::vector<unsigned long>{7, 8});
    const int plain[] = {4, 5};
    // CHECK: note: [4, 5] [input[0] of rank 1, input[1] of rank 1] [rank 1] [input of rank 1]
    note("{} {} {} {}", plain, List<Chunk>{rank.input()[0], rank.input()[1]}, List<Rank>{rank}, List<Buffer>{rank.input()});
    // CHECK: note: [0, 1, 2, {{[0-9, ]*}}…
    List<int> many;
    for (int i = 0; i < 10000; ++i)
      many.push_back(i);
    note("{}{}", many, many);
  }
  // CHECK: note.cpp:[[#@LINE+4]]:5: note: step 0
  // CHECK: note.cpp:[[#@LINE+3]]:5: note: step 1
  // CHECK: note: and 1 more like it
  for (int step : {0, 1, 1})
    say(talks, step);
  for (int at = 0; at < 2; ++at)
    Rank(at).copy(Rank(at).output()[0], Rank(at).input()[1], tb(0));
}
