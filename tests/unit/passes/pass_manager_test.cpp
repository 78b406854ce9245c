// The pass manager: names, wiring, dumps, stops, checks and records.
#include "ir_text.h"

#include "ir/internal_error.h"

using namespace mscclc;
using namespace mscclc::passes;

namespace {

const char *const someOps = "copy scratch[0:1] <- input[0:1]\nsignal memory [0] sync before\nsignal memory [1]";

/// A program of statements that move data.
ir::Program statements() {
  return parseProgram("mscclc.ir 1\nprogram \"t\" {\nschedule auto\nrank 0 {\nbuffers input 1 output 1\n}\n"
                      "move {\ncopy 0.output[0:1] <- 0.input[0:1]\n}\n}\n");
}

TEST_CASE("lists of passes") {
  PassManager manager({}, Scheduled);
  CHECK(manager.add("") == "");
  CHECK(manager.add(" fuse, lower-data-sync") == "");
  REQUIRE(manager.passes().size() == 2);
  CHECK(manager.passes()[1].name == "lower-data-sync");
  std::string there = "there are ";
  for (const Pass &pass : allPasses())
    there.append(there.ends_with(' ') ? "" : ", ").append(pass.name);
  CHECK(manager.add("infer-sync,fusee") == "unknown pass 'fusee'; did you mean 'fuse'? " + there);
  CHECK(manager.add(",") == "unknown pass ''; " + there);
}

TEST_CASE("wiring is checked as the pipeline is built") {
  CHECK(PassManager({}, Scheduled).add("fuse,infer-sync") ==
        "infer-sync needs lowered data sync, which lower-data-sync gives: put that before it");
  CHECK(PassManager({}, Scheduled).add("lower-data-sync,fit-executor") ==
        "fit-executor needs replicated instances, which replicate-instances gives: put that before it");
  CHECK(PassManager({}, Scheduled | DataSyncLowered).add("infer-sync") == "");
  Pass pass = *std::ranges::find(allPasses(), "infer-sync", &Pass::name);
  pass.name = "mine";
  CHECK(PassManager({}, Scheduled).add(pass) ==
        "mine needs lowered data sync, which lower-data-sync gives: put that before it");
}

TEST_CASE("passes that work on thread blocks do not take statements") {
  const ir::Program program = statements();
  for (const Pass &pass : allPasses())
    if (pass.needs & Scheduled)
      CHECK(PassManager({}, propertiesOf(program)).add(std::string(pass.name)) ==
            std::string(pass.name) + " needs thread blocks, which synchronise gives: put that before it");
  CHECK(PassManager({}, propertiesOf(program)).add("cut") ==
        "cut needs placed statements, which place gives: put that before it");
  CHECK(PassManager({}, propertiesOf(program)).add("place,order,synchronise") ==
        "synchronise needs statements dealt out to thread blocks, which cut gives: put that before it");
  CHECK(PassManager({}, propertiesOf(program)).add("place,order,cut,synchronise,fuse") == "");
}

TEST_CASE("what a program has") {
  CHECK(propertiesOf(parseProgram(programText("nop"))) ==
        (Placed | Cut | Scheduled | DataSyncLowered | SingleInstance));
  CHECK(propertiesOf(parseProgram(programText("wait memory [0] sync after"))) ==
        (Placed | Cut | Scheduled | SingleInstance));
  CHECK(propertiesOf(parseProgram(programText("nop", "instances 2\n"))) ==
        (Placed | Cut | Scheduled | DataSyncLowered));
  CHECK(propertiesOf(parseProgram(programText("nop", "schedule auto\ninstances 2\n"))) ==
        (Placed | Cut | Scheduled | DataSyncLowered));
  CHECK(propertiesOf(statements()) == 0);
  ir::Program program = parseProgram(programText("wait memory [0] sync after"));
  ir::DiagnosticEngine diags;
  PassManagerOptions options;
  options.verifyEach = true;
  CHECK_THROWS_AS(PassManager(options, DataSyncLowered).run(program, diags), ir::InternalError);
}

TEST_CASE("a pass that does not provide what it promises is a fault") {
  ir::Program program = parseProgram(programText("wait memory [0] sync after"));
  const Pass &lowering = *std::ranges::find(allPasses(), "lower-data-sync", &Pass::name);
  for (const bool keeps : {true, false}) {
    Pass pass = lowering;
    if (!keeps)
      pass.run = [](PassContext &) {};
    PassManagerOptions options;
    options.verifyEach = true;
    PassManager manager(options, Scheduled);
    manager.use("lower-data-sync", pass);
    REQUIRE(manager.add("lower-data-sync").empty());
    ir::Program copy = program;
    ir::DiagnosticEngine diags;
    if (keeps)
      CHECK(manager.run(copy, diags).ok);
    else
      CHECK_THROWS_AS(manager.run(copy, diags), ir::InternalError);
  }
}

TEST_CASE("lists of names") {
  using Names = std::vector<std::string_view>;
  CHECK(splitNames("") == Names{});
  CHECK(splitNames("a") == Names{"a"});
  CHECK(splitNames(" a b , c ") == Names{"a b", "c"});
  CHECK(splitNames("a,,b,") == Names{"a", "", "b", ""});
  CHECK(splitNames(" ") == Names{""});
  CHECK(PassManager({}, Scheduled).add("fuse,").starts_with("unknown pass ''; "));
}

TEST_CASE("dumps") {
  ir::Program program = parseProgram(programText(someOps));
  PassManagerOptions options;
  options.printBefore.names = {"lower-data-sync"};
  options.printAfter.all = true;
  std::vector<std::pair<std::string, std::string>> dumps;
  options.print = [&](std::string_view title, std::string_view text) { dumps.emplace_back(title, text); };
  PassManager manager(options, Scheduled);
  REQUIRE(manager.add("fuse,fuse,lower-data-sync") == "");
  ir::DiagnosticEngine diags;
  CHECK(manager.run(program, diags).ok);
  REQUIRE(dumps.size() == 4);
  CHECK(dumps[0].first == "IR after fuse");
  CHECK(dumps[0].second.find("signal memory [0, 1] sync before") != std::string::npos);
  CHECK(dumps[1] == std::pair<std::string, std::string>("IR after fuse (unchanged)", ""));
  CHECK(dumps[2] == std::pair<std::string, std::string>("IR before lower-data-sync (unchanged)", ""));
  CHECK(dumps[3].first == "IR after lower-data-sync");
  CHECK(dumps[3].second.find("nop") != std::string::npos);
}

TEST_CASE("stopping, and options that name no pass to run") {
  auto problem = [](auto set) {
    PassManagerOptions options;
    set(options);
    PassManager manager(options, Scheduled);
    REQUIRE(manager.add("fuse,lower-data-sync") == "");
    return manager.checkOptions();
  };
  CHECK(problem([](PassManagerOptions &o) { o.stopAfter = "fuse"; }) == "");
  CHECK(problem([](PassManagerOptions &o) { o.stopAfter = "infer-sync"; }) ==
        "--stop-after names 'infer-sync', which is not among the passes to run");
  CHECK(problem([](PassManagerOptions &o) {
          o.printAfter.names = {"fusion"};
        }).starts_with("--print-after names 'fusion', which is no pass; there are "));

  PassManagerOptions options;
  options.stopAfter = "fuse";
  PassManager manager(options, Scheduled);
  REQUIRE(manager.add("fuse,lower-data-sync") == "");
  ir::Program program = parseProgram(programText(someOps));
  ir::DiagnosticEngine diags;
  CHECK(manager.run(program, diags).records.size() == 1);
  CHECK(propertiesOf(program) == (Placed | Cut | Scheduled | SingleInstance));
}

TEST_CASE("what the passes that run leave missing") {
  constexpr Properties both = DataSyncLowered | SingleInstance;
  PassManagerOptions options;
  options.stopAfter = "fuse";
  PassManager stopped(options, Scheduled);
  REQUIRE(stopped.add("fuse,lower-data-sync") == "");
  CHECK(stopped.missing(both) == both);
  CHECK(stopped.missing(0) == 0);
  PassManager whole({}, Scheduled);
  REQUIRE(whole.add("fuse,lower-data-sync") == "");
  CHECK(whole.missing(both) == SingleInstance);
  CHECK(PassManager({}, both).missing(both) == 0);
  CHECK(PassManager({}, both).missing(Scheduled) == Scheduled);
  CHECK(providerOf(DataSyncLowered) == "lower-data-sync");
  CHECK(providerOf(SingleInstance) == "replicate-instances");
  CHECK(providerOf(Scheduled) == "synchronise");
}

TEST_CASE("an error stops behind its pass, with all its errors") {
  PassManagerOptions options;
  options.target = *findTarget("mscclpp");
  PassManager manager(options, Scheduled | DataSyncLowered | SingleInstance);
  REQUIRE(manager.add("check-executor,fuse") == "");
  ir::Program program = parseProgram(programText("glre switch [0] output[0:1] <- switch0[0:1]\n"
                                                 "re input[0:1] <- input[0:1], input[1:2] reduce_op min"));
  ir::DiagnosticEngine diags;
  const PassRun run = manager.run(program, diags);
  CHECK_FALSE(run.ok);
  CHECK(run.records.size() == 1);
  CHECK(diags.numErrors() == 2);
}

TEST_CASE("checks between passes") {
  PassManagerOptions options;
  options.verifyEach = true;
  std::vector<std::string> checked;
  options.check = [&](std::string_view pass, const ir::Program &, ir::DiagnosticEngine &) {
    checked.emplace_back(pass);
    return checked.size() < 2;
  };
  PassManager manager(options, Scheduled);
  REQUIRE(manager.add("fuse,lower-data-sync,infer-sync") == "");
  ir::Program program = parseProgram(programText(someOps));
  ir::DiagnosticEngine diags;
  CHECK_FALSE(manager.run(program, diags).ok);
  CHECK(checked == std::vector<std::string>{"fuse", "lower-data-sync"});

  Pass vandal;
  vandal.name = "vandal";
  vandal.run = [](PassContext &context) { context.program.ranks[0].blocks[0].ops[0].numSrcs = 99; };
  PassManagerOptions structure;
  structure.verifyEach = true;
  PassManager broken(structure);
  REQUIRE(broken.add(vandal) == "");
  CHECK_THROWS_WITH(broken.run(program, diags), containsText("the structure is broken after vandal"));
}

/// An analysis: how many ranks there are.
struct NumRanks {
  static inline int made = 0;
  explicit NumRanks(const ir::Program &program) : ranks(program.ranks.size()) { ++made; }
  friend bool operator==(const NumRanks &, const NumRanks &) = default;
  std::size_t ranks;
};

/// A pass that asks for NumRanks, and then does `rest`.
Pass asking(std::function<void(PassContext &)> rest) {
  Pass pass;
  pass.name = "asking";
  pass.run = [rest = std::move(rest)](PassContext &context) {
    CHECK(context.analyses.of<NumRanks>(context.program).ranks == context.program.ranks.size());
    rest(context);
  };
  return pass;
}

/// How often NumRanks is computed by these passes, which nothing checks.
int timesMade(std::vector<Pass> passes, ir::Program program, Analyses &analyses) {
  PassManagerOptions options;
  options.verifyEach = false;
  PassManager manager(options);
  for (Pass &pass : passes)
    REQUIRE(manager.add(std::move(pass)) == "");
  ir::DiagnosticEngine diags;
  NumRanks::made = 0;
  CHECK(manager.run(program, diags, analyses).ok);
  return NumRanks::made;
}

TEST_CASE("analyses are kept for as long as passes say that they hold") {
  const ir::Program program = statements();
  const Pass keeps = asking([](PassContext &context) { context.analyses.preserve<NumRanks>(); }),
             keepsAll = asking([](PassContext &context) { context.analyses.preserveAll(); }),
             drops = asking([](PassContext &) {}), grows = asking([](PassContext &context) {
                                                     context.program.ranks.emplace_back();
                                                     context.analyses.set(NumRanks(context.program));
                                                   });
  const auto times = [&](std::vector<Pass> passes) {
    Analyses analyses;
    return timesMade(std::move(passes), program, analyses);
  };
  CHECK(times({keeps, keepsAll, keeps}) == 1);
  CHECK(times({drops, keeps, keeps}) == 2);
  CHECK(times({keeps, grows, keeps}) == 2); // the pass made the second

  // From one run of passes to the next, and for copies of the program.
  Analyses analyses;
  CHECK(timesMade({keeps}, program, analyses) == 1);
  Analyses copy = analyses;
  CHECK(timesMade({drops, keeps}, program, copy) == 1);
  CHECK(timesMade({keeps}, program, analyses) == 0);
  Analyses unasked, other = unasked;
  CHECK(unasked.of<NumRanks>(program).ranks == 1);
  CHECK(timesMade({keeps}, program, other) == 0);
}

TEST_CASE("stale analyses are found") {
  PassManagerOptions options;
  options.verifyEach = true;
  ir::DiagnosticEngine diags;
  ir::Program program = statements();
  PassManager lies(options);
  REQUIRE(lies.add(asking([](PassContext &context) {
    context.program.ranks.push_back(context.program.ranks[0]);
    context.analyses.preserveAll();
  })) == "");
  CHECK_THROWS_WITH(lies.run(program, diags), containsText("an analysis is stale after asking"));

  Analyses ofOther;
  ofOther.of<NumRanks>(statements());
  PassManager manager(options);
  CHECK_THROWS_WITH(manager.run(program, diags, ofOther), containsText("an analysis is not of the program"));
}

TEST_CASE("records tell time and counts") {
  const Outcome outcome = runPasses(parseProgram(programText(someOps)), "fuse,lower-data-sync");
  REQUIRE(outcome.records.size() == 2);
  CHECK(outcome.records[0].pass == "fuse");
  CHECK(outcome.records[0].seconds >= 0);
  REQUIRE(outcome.records[0].stats.counters().size() == 4);
  CHECK(outcome.records[0].stats.counters()[0].name == "operations merged");
  CHECK(outcome.records[0].stats.counters()[0].value == 1);
  CHECK(outcome.records[1].stats.counters()[0].value == 1);
}

TEST_CASE("each pass has a summary and runs") {
  for (const Pass &pass : allPasses()) {
    CHECK_FALSE(pass.summary.empty());
    CHECK(pass.run);
  }
}

} // namespace
