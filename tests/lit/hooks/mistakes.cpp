// Hooks that are declared or applied wrongly.
// REQUIRES: frontend
// RUN: %verify --prefix=declared %s --algorithm declared --max-errors=0
// RUN: %verify --prefix=statements %s --algorithm statements
// RUN: %verify --prefix=operations %s --algorithm operations
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void declared(int ranks = 2) {
  AllReduce collective(ranks, 1, true);
  collective.then("norm"); // declared-note@:14 {{this one}}
  // declared-error@+2:14 {{the collective promises a hook already: leave one out}}
  // declared-error@+1:14 {{the program has no Hook of the promised name 'none'}}
  collective.then("none");
  Hook early("early"); // declared-error@:8 {{'Hook' outside a program}}
  CollectiveProgram program("declared", collective);
  Hook norm("norm"); // declared-note@:8 {{the other one is here}}
  Hook again("norm"); // declared-error@:8 {{there is a hook 'norm' already: give it another name}}
  Hook unnamed(""); // declared-error@:8 {{the hook has an empty name}}
  Hook cast("cast", {.granularity = static_cast<Granularity>(9)}); // declared-error@:8 {{'Hook' is given a .granularity that is none of the enumerators of Granularity}}
  Hook blocks("blocks", {.granularity = Granularity::Block}); // declared-error@:8 {{hook 'blocks' has blocks of no elements}}
  Hook rows("rows", {.granularity = Granularity::Row, .block = 128}); // declared-error@:8 {{hook 'rows' has a number of elements of a block, but no blocks}}
  Hook huge("huge", {.granularity = Granularity::Block, .block = -1}); // declared-error@:8 {{a block of -1 elements is out of range: it has 1 to}}
  Hook twice("twice", {.reads = {"a", "b", "a"}}); // declared-error@:8 {{hook 'twice' reads array 'a' twice}}
  Hook writes("writes", {.writes = {"w", "w"}}); // declared-error@:8 {{hook 'writes' writes array 'w' twice}}
  Hook unread("unread", {.reads = {"a"}, .equal = {"b"}}); // declared-error@:8 {{hook 'unread' says that array 'b' is equal on all ranks, and does not read it}}
  Hook changed("changed", {.reads = {"c"}, .writes = {"c"}, .equal = {"c"}}); // declared-error@:8 {{hook 'changed' says that array 'c' is equal on all ranks, and writes it}}
  Hook taker("taker", {.reads = {"state"}}); // declared-note@:8 {{the other one is here}}
  Hook writer("writer", {.writes = {"state"}}); // declared-error@:8 {{hook 'writer' writes the array 'state', which hook 'taker' takes, too: let one hook do both}}
  Hook call("call", {.function = "f();"}); // declared-error@:8 {{hook 'call' has the function 'f();', which is no name of a type}}
  Hook path("path", {.function = "F", .header = "a\"b"}); // declared-error@:8 {{hook 'path' has the header 'a"b', which is no path of letters, digits and _-+./}}
  Hook lost("lost", {.header = "f.cuh"}); // declared-error@:8 {{hook 'lost' has a header but no function}}
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}

MSCCLC_ALGORITHM void statements(int ranks = 2) {
  CollectiveProgram program("statements", AllReduce(ranks, 1, false), {.schedule = Schedule::Auto});
  Hook norm("norm", {.granularity = Granularity::Row});
  const Chunk out = Rank(0).output()[0];
  const Chunk in = Rank(0).input()[0]; // statements-note@:36 {{chunk of rank 0 sliced here}}
  apply(norm, in);                       // statements-error@:3 {{the chunk is in the input, but a hook is applied to the output, whose rows are those of its arrays}}
  apply(norm, out, {.via = Via::Port});  // statements-error@:3 {{'apply' moves and combines nothing: leave .via out}}
  apply(norm, out, {.packets = true});   // statements-error@:3 {{'apply' moves and combines nothing: leave .packets out}}
  apply(norm, out, {.op = ReduceOp::Max}); // statements-error@:3 {{'apply' moves and combines nothing: leave .op out}}
  apply(norm, out, tb(0));               // statements-error@:3 {{'apply' cannot be used in a program of Schedule::Auto: write apply(hook, chunk), with {.on = tb(i)} to choose its thread block}}
}

MSCCLC_ALGORITHM void operations(int ranks = 2) {
  CollectiveProgram program("operations", AllReduce(ranks, 1, true));
  Hook norm("norm", {.granularity = Granularity::Row}), scale("scale");
  const Chunk chunk = Rank(0).input()[0];
  Buffer scratch(0, 1);
  apply(norm, chunk); // operations-error@:3 {{the movement statement 'apply' cannot be used in a program of Schedule::Manual}}
  // operations-error@+2:3 {{the chunk is in the scratch buffer, but a hook is applied to the output}}
  // operations-note@+1:23 {{chunk of rank 0 sliced here}}
  apply(norm, scratch[0], tb(0));
  PipelineLoop loop(1024, 1);
  apply(scale, chunk, tb(0));
  apply(norm, chunk, tb(0)); // operations-error@:3 {{hook 'norm' takes whole rows, and a pipeline divides them: apply it after the pipeline}}
}
