#include "catch.h"
#include "ir/diagnostics.h"

using namespace mscclc::ir;

namespace {
constexpr DiagInfo tooLarge{"too_large", Severity::Error, "chunk {0} is larger than {1}"};
constexpr DiagInfo madeHere{"made_here", Severity::Note, "made here"};

SourceMap withFile() {
  SourceMap sources;
  sources.setContents(sources.addFile("a.cpp"), "one\n\ttwo\nthree\n");
  return sources;
}
} // namespace

TEST_CASE("a diagnostic shows its line and a caret under the column") {
  SourceMap sources = withFile();
  DiagnosticEngine engine;
  engine.setSources(&sources);
  engine.report(tooLarge, sources.addPlace(0, 2, 2), {7, "three"}).note(madeHere, sources.addPlace(0, 3, 1));
  CHECK(engine.render(false) == "a.cpp:2:2: error: chunk 7 is larger than three [too-large]\n\ttwo\n\t^\n"
                                "a.cpp:3:1: note: made here\nthree\n^\n1 error generated.\n");
}

TEST_CASE("the call chain follows as notes, innermost call first") {
  SourceMap sources = withFile();
  DiagnosticEngine engine;
  engine.setSources(&sources);
  const LocId outer = sources.addPlace(0, 1, 1);
  engine.report(tooLarge, sources.addPlace(0, 2, 2, sources.addPlace(0, 3, 2, outer)), {1, 2});
  REQUIRE(engine.all().size() == 1);
  REQUIRE(engine.all()[0].notes.size() == 2);
  CHECK(engine.all()[0].notes[0].place.line == 3);
  CHECK(engine.all()[0].notes[1].place.line == 1);
}

TEST_CASE("an element of a document is named by its path, without callers or excerpt") {
  SourceMap sources = withFile();
  DiagnosticEngine engine;
  engine.setSources(&sources);
  const LocId root = sources.addPlace(0, 1, 1);
  const LocId list = sources.addElement(root, sources.addLabel("ops"), 3);
  const LocId element = sources.addElement(list, sources.addLabel("ops"), 1);
  CHECK(sources.labels().size() == 1);
  CHECK(sources.elementPath(root) == "$");
  CHECK(sources.documentOf(element) == root);
  engine.report(tooLarge, sources.merge(element, list), {7, 6}).note(madeHere, list);
  CHECK(engine.render(false) == "a.cpp: $.ops[3].ops[1]: error: chunk 7 is larger than 6 [too-large]\n"
                                "a.cpp: $.ops[3]: note: made here\n1 error generated.\n");
}

TEST_CASE("one kind at one place is kept once and counted") {
  SourceMap sources = withFile();
  DiagnosticEngine engine;
  engine.setSources(&sources);
  for (int i = 0; i < 5; ++i)
    engine.report(tooLarge, sources.addPlace(0, 1, 1), {i, 0}).note(madeHere, Where{});
  REQUIRE(engine.all().size() == 1);
  CHECK(engine.all()[0].similar == 4);
  CHECK(engine.all()[0].notes.size() == 1);
  CHECK(engine.numErrors() == 5);
}

TEST_CASE("the error limit stops keeping, not counting") {
  DiagnosticEngine engine;
  engine.setErrorLimit(3);
  for (int i = 0; i < 10; ++i)
    engine.report(tooLarge, Where{"rank " + std::to_string(i)}, {i, 0});
  CHECK(engine.all().size() == 3);
  CHECK(engine.numErrors() == 10);
  CHECK(engine.render(false).ends_with("rank 2: error: chunk 2 is larger than 0 [too-large]\n"
                                       "10 errors generated (7 errors not shown; --max-errors=0 shows all).\n"));
}

TEST_CASE("finished diagnostics are under the limit, too; warnings are not") {
  DiagnosticEngine engine;
  engine.setErrorLimit(1);
  for (int i = 0; i < 3; ++i) {
    engine.add({Severity::Error, "clang", "wrong", {}, {}});
    engine.add({Severity::Warning, "clang", "odd", {}, {}});
  }
  CHECK(engine.all().size() == 4);
  CHECK(engine.render(false).ends_with("3 warnings and 3 errors generated (2 errors not shown; --max-errors=0 shows "
                                       "all).\n"));
  DiagnosticEngine all;
  all.setErrorLimit(0);
  for (int i = 0; i < 100; ++i)
    all.report(tooLarge, Where{"rank " + std::to_string(i)}, {i, 0});
  CHECK(all.all().size() == 100);
}

TEST_CASE("one kind at places alike is told once") {
  DiagnosticEngine engine;
  for (int i = 0; i < 3; ++i) {
    Where where("rank " + std::to_string(i));
    where.alike = "operation 1";
    engine.report(tooLarge, where, {i, 0});
  }
  engine.report(tooLarge, Where("rank 0"), {0, 0});
  CHECK(engine.render(false) == "rank 0: error: chunk 0 is larger than 0 [too-large]\nnote: and 2 more like it\n"
                                "rank 0: error: chunk 0 is larger than 0 [too-large]\n2 errors generated.\n");
}

TEST_CASE("what is allowed is a warning, and says so") {
  constexpr DiagInfo fragile{"fragile", Severity::Error, "chunk {0} may break", "fragile-chunk"};
  DiagnosticEngine strict, lax;
  lax.allow({"fragile-chunk"});
  for (DiagnosticEngine *engine : {&strict, &lax}) {
    engine->report(fragile, Where("rank 0"), {1});
    engine->report(tooLarge, Where("rank 0"), {1, 0});
  }
  CHECK(strict.numErrors() == 2);
  CHECK(strict.severityOf(fragile) == Severity::Error);
  CHECK(lax.numErrors() == 1);
  CHECK(lax.numWarnings() == 1);
  CHECK(lax.severityOf(fragile) == Severity::Warning);
  CHECK(lax.render(false) == "rank 0: warning: chunk 1 may break [--allow=fragile-chunk] [fragile]\n"
                             "rank 0: error: chunk 1 is larger than 0 [too-large]\n1 warning and 1 error generated.\n");
}

TEST_CASE("a warning or error ends in its name; notes and Clang's diagnostics have none") {
  DiagnosticEngine engine;
  engine.add({Severity::Warning, "low_word", "low", {}, {{Severity::Note, "made_here", "here", {}, {}}}});
  engine.add({Severity::Error, clangId, "wrong", {}, {}});
  CHECK(engine.render(false) == "mscclc: warning: low [low-word]\nmscclc: note: here\nmscclc: error: wrong\n"
                                "1 warning and 1 error generated.\n");
}

TEST_CASE("warnings can be errors, except those that are allowed") {
  constexpr DiagInfo slow{"slow", Severity::Warning, "slow"};
  constexpr DiagInfo fragile{"fragile", Severity::Error, "fragile", "fragile-chunk"};
  DiagnosticEngine engine;
  engine.setWarningsAsErrors(true);
  engine.allow({"fragile-chunk"});
  engine.report(slow, {});
  engine.report(fragile, {});
  engine.add({Severity::Warning, clangId, "odd", {}, {}});
  CHECK(engine.severityOf(slow) == Severity::Error);
  CHECK(engine.numErrors() == 2);
  CHECK(engine.numWarnings() == 1);
  CHECK(engine.render(false) == "mscclc: error: slow [slow]\n"
                                "mscclc: warning: fragile [--allow=fragile-chunk] [fragile]\n"
                                "mscclc: error: odd\n1 warning and 2 errors generated.\n");
}

TEST_CASE("a run fails with the code that all its errors have, else as for an input that is wrong") {
  constexpr DiagInfo badOption{"bad_option", level::UsageError.severity, "no {0}", {}, level::UsageError.exitCode};
  constexpr DiagInfo slow{"slow", level::Warning.severity, "slow", {}, level::Warning.exitCode};
  DiagnosticEngine engine;
  CHECK(engine.exitCode() == 1);
  engine.report(slow, {});
  engine.report(badOption, {}, {"a"});
  engine.report(badOption, {}, {"b"});
  CHECK(engine.exitCode() == 2);
  engine.report(tooLarge, {}, {1, 0});
  CHECK(engine.exitCode() == 1);
}

TEST_CASE("merged locations show their first place") {
  SourceMap sources = withFile();
  const LocId a = sources.addPlace(0, 1, 1), b = sources.addPlace(0, 3, 1);
  const LocId m = sources.merge(sources.merge(a, b), a);
  CHECK(sources.firstPlace(m) == a);
  CHECK(sources.places(m) == std::vector<LocId>{a, b});
  CHECK(sources.merge(noLoc, b) == b);
  CHECK(sources.merge(a, a) == a);
}

TEST_CASE("a recursion's chain of calls is shown once and counted") {
  SourceMap sources = withFile();
  DiagnosticEngine engine;
  engine.setSources(&sources);
  LocId caller = sources.addPlace(0, 3, 1);
  for (int depth = 0; depth < 40; ++depth)
    caller = sources.addPlace(0, 1, 2, caller);
  engine.report(tooLarge, caller, {1, 2});
  CHECK(engine.render(false) == "a.cpp:1:2: error: chunk 1 is larger than 2 [too-large]\none\n ^\n"
                                "a.cpp:1:2: note: called from here\none\n ^\nnote: (38 more calls like it)\n"
                                "a.cpp:3:1: note: called from here\nthree\n^\n1 error generated.\n");
}
