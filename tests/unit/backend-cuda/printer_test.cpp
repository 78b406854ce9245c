// Spelling and line breaking of emitted code.
#include "backend-cuda/printer.h"

#include "backend-cuda/document.h"

#include "catch.h"

using namespace mscclc::cuda;

namespace {

std::string printed(const Statement &statement) {
  std::string out;
  printStatements(out, {statement}, "  ");
  return out;
}

Statement call(std::vector<Argument> arguments) {
  return {{}, CallStatement{"copy", {}, std::move(arguments), true}};
}

Expr rank() {
  return use(var::rank);
}

/// A place at a peer whose index is wide.
ChunkExpr wideChunk() {
  return {ChunkExpr::Reach::Peer, ChunkExpr::View::Output, rank(),
          binary(var::block, Operator::Add, 1'000'000'000'000)};
}

} // namespace

TEST_CASE("parentheses stand where C++ needs them") {
  const Expr sum = binary(var::rank, Operator::Add, 1), quotient = binary(var::rank, Operator::Divide, 2);
  CHECK(spell(binary(sum, Operator::Multiply, constant(3))) == "(k.rank + 1) * 3");
  CHECK(spell(binary(quotient, Operator::Multiply, constant(3))) == "k.rank / 2 * 3");
  CHECK(spell(binary(constant(3), Operator::Multiply, quotient)) == "3 * (k.rank / 2)");
  CHECK(spell(binary(constant(3), Operator::Add, sum)) == "3 + k.rank + 1");
  CHECK(spell(binary(constant(3), Operator::Subtract, sum)) == "3 - (k.rank + 1)");
  CHECK(spell(binary(constant(3), Operator::Subtract, negation(rank()))) == "3 - (-k.rank)");
  CHECK(spell(negation(sum)) == "-(k.rank + 1)");
  CHECK(spell(makeExpr(mscclc::formula::Modulo{sum, 8})) == "mod(k.rank + 1, 8)");
  CHECK(spell(makeExpr(mscclc::formula::Lookup{"table0", sum})) == "table0[k.rank + 1]");
  CHECK(spell(makeExpr(mscclc::formula::Grouped{rank()})) == "(k.rank)");
}

TEST_CASE("a conditional is in parentheses within a larger expression") {
  const Expr conditional =
      makeExpr(mscclc::formula::Conditional{binary(var::item, Operator::Less, 1), rank(), constant(0)});
  CHECK(spell(conditional) == "i < 1 ? k.rank : 0");
  CHECK(spellWithin(conditional) == "(i < 1 ? k.rank : 0)");
  CHECK(spellWithin(rank()) == "k.rank");
}

TEST_CASE("a list names its number only where it is used") {
  const ListExpr same{{{5, rank()}}}, numbered{{{5, use(var::item)}}}, one{{{1, rank()}}};
  CHECK(printed(call({same})) == "  copy(k, list<5>([&](int) { return k.rank; }));\n");
  CHECK(printed(call({numbered})) == "  copy(k, list<5>([&](int i) { return i; }));\n");
  CHECK(printed(call({one})) == "  copy(k, one(k.rank));\n");
  // A variable of this name that is another variable.
  constexpr Variable other{"i"};
  CHECK(printed(call({ListExpr{{{5, use(other)}}}})) == "  copy(k, list<5>([&](int) { return i; }));\n");
}

TEST_CASE("calls break between arguments, and too long arguments within") {
  const ListExpr few{{{1, wideChunk()}, {2, wideChunk()}, {3, wideChunk()}}, &var::item, true};
  CHECK(printed(call({few})) == "  copy(k,\n"
                                "      few(k.peerOutput(k.rank, k.block + 1000000000000),\n"
                                "          k.peerOutput(k.rank, k.block + 1000000000000),\n"
                                "          k.peerOutput(k.rank, k.block + 1000000000000)));\n");
  const ListExpr runs{{{3, wideChunk()}, {7, wideChunk()}}};
  CHECK(printed(call({runs, rank()})) == "  copy(k,\n"
                                         "      list<7>([&](int i) {\n"
                                         "          return i < 3 ? k.peerOutput(k.rank, k.block + 1000000000000)\n"
                                         "          : k.peerOutput(k.rank, k.block + 1000000000000); }),\n"
                                         "      k.rank);\n");
  const ListExpr short1{{{2, wideChunk()}}};
  CHECK(printed(call({short1, short1})) ==
        "  copy(k, list<2>([&](int) { return k.peerOutput(k.rank, k.block + 1000000000000); }),\n"
        "      list<2>([&](int) { return k.peerOutput(k.rank, k.block + 1000000000000); }));\n");
}

TEST_CASE("lines are filled to the last column and no further") {
  const std::string half(59, 'x');
  std::string out;
  fillLines(out, "", "f", {half, half});
  CHECK(out == "f" + half + " " + half + "\n");
  out.clear();
  fillLines(out, "", "ff", {half, half});
  CHECK(out == "ff" + half + "\n    " + half + "\n");
}

TEST_CASE("what a comment holds stays in its line") {
  CHECK(oneLine("a\nb\\\\") == "a b");
  Statement sync{"at\nonce", SyncStatement{}};
  CHECK(printed(sync) == "  // at once\n  k.sync();\n");
}
