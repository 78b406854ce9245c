#include "backend-cuda/printer.h"

#include "backend-cuda/document.h"

#include <algorithm>
#include <array>

namespace mscclc::cuda {

namespace {

// ----------------------------------------------------------------------------------------------------------- operands

std::string spell(const ChunkExpr &chunk) {
  constexpr std::array<std::string_view, 4> own{"input(", "output(", "scratch(", "packets("};
  constexpr std::array<std::string_view, 4> others{"Input(", "Output(", "Scratch(", "Packets("};
  const auto view = static_cast<std::size_t>(chunk.view);
  std::string text = "k.";
  switch (chunk.reach) {
  case ChunkExpr::Reach::Own:
    text += own[view];
    break;
  case ChunkExpr::Reach::Peer:
    text += "peer";
    text += others[view];
    text += spell(chunk.peer) + ", ";
    break;
  case ChunkExpr::Reach::Port:
    text += "port";
    text += others[view];
    break;
  }
  text += spell(chunk.index) + ")";
  return chunk.slot ? text + ".holding(" + spell(chunk.slot) + ", " + spell(chunk.slotStep) + ")" : text;
}

std::string spell(const std::variant<Expr, ChunkExpr> &item) {
  return std::visit([](const auto &x) { return spell(x); }, item);
}

bool mentions(const std::variant<Expr, ChunkExpr> &item, const Variable &variable) {
  if (const ChunkExpr *chunk = std::get_if<ChunkExpr>(&item))
    return mentions(chunk->index, variable) || mentions(chunk->peer, variable) || mentions(chunk->slot, variable) ||
           mentions(chunk->slotStep, variable);
  return mentions(std::get<Expr>(item), variable);
}

/// Returns few(a, b), which may be broken after each item.
Breakable itemsWrittenOut(const ListExpr &list) {
  Breakable text("few(");
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    if (i != 0) {
      text << ",";
      text.mayBreak();
    }
    text << spell(list.runs[i].item);
  }
  return text << ")";
}

/// Returns list<n>([&](int i) { return i < end ? a : b; }), which may be broken after the head and each run.
Breakable itemsByNumber(const ListExpr &list) {
  bool numbered = list.runs.size() > 1;
  for (const ListExpr::Run &run : list.runs)
    numbered |= mentions(run.item, *list.number);
  const std::string number(list.number->name);
  Breakable text("list<" + std::to_string(list.size()) + ">([&](int" + (numbered ? " " + number : "") + ") {");
  text.mayBreak();
  text << "return ";
  for (const ListExpr::Run &run : list.runs) {
    const bool last = &run == &list.runs.back();
    if (&run != &list.runs.front()) {
      text.mayBreak();
      text << ": ";
    }
    if (!last)
      text << number + " < " + std::to_string(run.end) + " ? ";
    text << spell(run.item);
  }
  return text << "; })";
}

Breakable breakable(const Expr &expr) {
  return spell(expr);
}

Breakable items(const ListExpr &list) {
  if (list.size() == 1)
    return "one(" + spell(list.runs[0].item) + ")";
  return list.writtenOut ? itemsWrittenOut(list) : itemsByNumber(list);
}

Breakable breakable(const ListExpr &list) {
  if (list.hook.empty())
    return items(list);
  return items(list).prepend("hooked<" + list.hook + ">(") << ", " + spell(list.inOutput) + ")";
}

Breakable breakable(const SliceExpr &slice) {
  std::string text = "k.whole(" + std::to_string(slice.rows) + ")";
  if (slice.part)
    text += ".part(" + spell(slice.part) + ", " + std::to_string(slice.parts) +
            (slice.dividesUnits ? ", k.layout.unit)" : ")");
  if (slice.unit != nullptr)
    text += ".unit(" + std::string(slice.unit->name) + ", " + std::to_string(slice.unitBytes) + ")";
  return text;
}

Breakable breakable(const Argument &argument) {
  return std::visit([](const auto &a) { return breakable(a); }, argument);
}

// --------------------------------------------------------------------------------------------------------- statements

constexpr std::string_view syncText = "k.sync";

std::string functionOf(const CallStatement &call) {
  return call.templateArgument.empty() ? call.function : call.function + "<" + call.templateArgument + ">";
}

struct StatementPrinter {
  std::string &out;
  const std::string &indent;

  void operator()(const SyncStatement &) const {
    out += indent;
    out += syncText;
    out += "();\n";
  }
  void operator()(const CallStatement &call) const {
    std::vector<Breakable> pieces{Breakable("k")};
    for (const Argument &argument : call.arguments) {
      pieces.back() << ",";
      pieces.push_back(breakable(argument));
    }
    pieces.back() << ");";
    fillLines(out, indent, functionOf(call) + "(", pieces);
  }
  void operator()(const UnitLoop &loop) const {
    const std::string u(loop.counter->name);
    out += indent + "for (uint64_t " + u + " = 0, units = k.units(" + std::to_string(loop.chunks) + ", " +
           std::to_string(loop.unitBytes) + "); " + u + " < units; ++" + u + ") {\n";
    body(loop.body);
  }
  void operator()(const RepeatLoop &loop) const {
    const std::string j(loop.counter->name);
    out += indent + "for (int " + j + " = 0; " + j + " < " + std::to_string(loop.times) + "; ++" + j + ") {\n";
    body(loop.body);
  }

private:
  void body(const std::vector<Statement> &statements) const {
    printStatements(out, statements, indent + "  ");
    out += indent + "}\n";
  }
};

struct Length {
  std::size_t operator()(const SyncStatement &) const { return syncText.size(); }
  std::size_t operator()(const CallStatement &call) const {
    std::size_t n = functionOf(call).size() + std::string_view("k, ").size();
    for (const Argument &argument : call.arguments)
      n += breakable(argument).width() + 2;
    return n;
  }
  std::size_t operator()(const UnitLoop &loop) const { return textLength(loop.body); }
  std::size_t operator()(const RepeatLoop &loop) const { return textLength(loop.body); }
};

} // namespace

std::string oneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  // A backslash at the end of a comment would join it with the next line.
  while (!text.empty() && text.back() == '\\')
    text.pop_back();
  return text;
}

void printStatements(std::string &out, const std::vector<Statement> &statements, const std::string &indent) {
  for (const Statement &s : statements) {
    if (!s.comment.empty())
      out += indent + "// " + oneLine(s.comment) + "\n";
    std::visit(StatementPrinter{out, indent}, s.what);
  }
}

std::size_t textLength(const std::vector<Statement> &statements) {
  constexpr std::size_t lineAndIndent = 24; // about
  std::size_t n = 0;
  for (const Statement &s : statements)
    n += s.comment.size() + lineAndIndent + std::visit(Length{}, s.what);
  return n;
}

} // namespace mscclc::cuda
