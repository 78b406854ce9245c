#include "compiler/outputs/dsl/tree_text.h"

#include "compiler/outputs/dsl/program_text.h"

#include <algorithm>
#include <utility>

namespace mscclc::dsl {
namespace {

/// These characters enclose the number of a shared expression in text that is not final.
constexpr char markBegin = '\x01', markEnd = '\x02';

std::string mark(std::size_t index) {
  return markBegin + std::to_string(index) + markEnd;
}

/// Removes parentheses around a whole expression, as in `(rank ^ 1)`. An argument of a call does not need them.
std::string withoutParentheses(std::string text) {
  int open = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if ((open += (text[i] == '(') - (text[i] == ')')) == 0)
      return text;
  return text.size() > 1 ? text.substr(1, text.size() - 2) : text;
}

formula::Expr spelled(std::string text) {
  return formula::makeExpr(formula::Spelled{std::move(text)});
}

/// True if an expression is longer than a variable or an entry of a table.
bool isLong(const formula::Expr &expr) {
  return std::holds_alternative<formula::Binary>(expr->what) || std::holds_alternative<formula::Grouped>(expr->what);
}

std::string nameFor(const std::string &expression, char letter) {
  if (letter == 'p')
    return "peer";
  if (letter == 'b')
    return "block";
  if (expression.find("rank / ") == 0)
    return "node";
  return expression.find("rank % ") == 0 ? "place" : "part";
}

} // namespace

std::string Tables::nameOf(const std::vector<std::uint32_t> &ranks, std::span<const std::int64_t> values, char letter) {
  std::vector<std::int64_t> all(numRanks_, 0);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    all[ranks[i]] = values[i];
  const auto [found, isNew] = names_.try_emplace(all);
  if (!isNew)
    return found->second;
  found->second = (letter == 'p' ? "peers" : letter == 'b' ? "blocks" : "table") + std::to_string(names_.size());
  const auto [low, high] = std::ranges::minmax(all);
  std::string text = std::string("  constexpr ") + (high > 0x7fffffff || low < -0x7fffffff ? "long long " : "int ") +
                     found->second + "[] = {";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(all[i]);
  definitions_.push_back(text + "};\n");
  return found->second;
}

std::string Tables::text() const {
  std::string text;
  for (const std::string &definition : definitions_)
    text += definition;
  return text;
}

std::string TreeWriter::write(const std::vector<Node> &lines, unsigned indent) {
  return resolve(body(lines, indent), indent);
}

std::string TreeWriter::body(const std::vector<Node> &lines, unsigned indent) {
  std::string text;
  const std::string margin(indent, ' ');
  for (const Node &node : lines)
    switch (node.kind) {
    case Node::Kind::Call:
      text += margin + call(node) + "\n";
      break;
    case Node::Kind::Scope:
      text += margin + "{\n" + margin + "  " + call(node) + "\n" + body(node.body, indent + 2) + margin + "}\n";
      break;
    case Node::Kind::Loop:
      text += loop(node, indent);
      break;
    }
  return text;
}

/// Returns `wanted` as a name. Appends a number if the scopes around the text, or the loops in it, use this name.
std::string TreeWriter::freeName(const std::string &wanted) {
  std::string name = wanted;
  const auto isTaken = [&] {
    return std::ranges::find(names_, name) != names_.end() || std::ranges::find(inside_, name) != inside_.end();
  };
  for (int i = 2; isTaken(); ++i)
    name = wanted + std::to_string(i);
  names_.push_back(name);
  return name;
}

/// True if the number of some thread block in `node` equals the variable of `loop` at all points. `width`: the product
/// of the iterations of `loop` and of the loops around it. `inner`: the same product for the loops between `loop` and
/// `node`.
bool TreeWriter::countsBlocks(const Node &node, const Node &loop, std::size_t width, std::size_t inner) const {
  if (node.kind == Node::Kind::Loop) {
    const std::size_t more = inner * node.count;
    return std::ranges::any_of(node.body, [&](const Node &line) { return countsBlocks(line, loop, width, more); });
  }
  const std::string &text = templates_[node.text];
  const std::size_t points = ranks_.size() * width * inner;
  std::size_t at = 0;
  for (std::size_t i = text.find('%'); i != std::string::npos; i = text.find('%', i + 1)) {
    bool same = text[i + 1] == 'b';
    for (std::size_t p = 0; p < points && same; ++p)
      same = node.values[at * points + p] == static_cast<std::int64_t>(p / inner % loop.count + loop.style.first);
    if (same)
      return true;
    at += text[i + 1] == 's' ? 2 : 1;
  }
  return std::ranges::any_of(node.body, [&](const Node &line) { return countsBlocks(line, loop, width, inner); });
}

std::string TreeWriter::variableOf(const Node &loop) {
  inside_.clear();
  switch (loop.style.kind) {
  case LoopStyle::Kind::SkipRank:
    return freeName("peer");
  case LoopStyle::Kind::SkipInNode:
    return freeName("other");
  case LoopStyle::Kind::SkipNode:
    return freeName("node");
  case LoopStyle::Kind::Count:
    break;
  }
  std::size_t width = loop.count;
  for (const Loop &outer : loops_)
    width *= outer.count;
  for (const Node &line : loop.body)
    if (countsBlocks(line, loop, width, 1))
      return freeName("block");
  if (loop.style.first == 1)
    return freeName("step");
  for (const char *name : {"i", "j", "k", "m"})
    if (std::ranges::find(names_, name) == names_.end())
      return freeName(name);
  return freeName("i");
}

std::string TreeWriter::loop(const Node &node, unsigned indent) {
  const std::string margin(indent, ' ');
  const std::size_t known = names_.size();
  const std::vector<std::string> outside = inside_;
  const std::string name = variableOf(node);
  loops_.push_back({node.count, node.style, name});
  const std::uint32_t past = node.count + (node.style.kind == LoopStyle::Kind::Count ? node.style.first : 1);
  const bool ofRanks = node.style.kind == LoopStyle::Kind::SkipRank || node.style.first == 1;
  std::string skipped;
  switch (node.style.kind) {
  case LoopStyle::Kind::Count:
    break;
  case LoopStyle::Kind::SkipRank:
    skipped = "rank";
    break;
  case LoopStyle::Kind::SkipInNode:
    skipped = "rank % " + std::to_string(node.style.node);
    break;
  case LoopStyle::Kind::SkipNode:
    skipped = "rank / " + std::to_string(node.style.node);
    break;
  }
  const std::string inner = resolve(body(node.body, indent + 2), indent + 2);
  const bool braces = !skipped.empty() || std::ranges::count(inner, '\n') > 1;
  std::string text = margin + "for (int " + name + " = " + std::to_string(node.style.first) + "; " + name + " < " +
                     (ofRanks && past == numRanks_ ? "ranks" : std::to_string(past)) + "; ++" + name + ")" +
                     (braces ? " {\n" : "\n");
  if (!skipped.empty())
    text += margin + "  if (" + name + " == " + skipped + ")\n" + margin + "    continue;\n";
  text += inner;
  if (braces)
    text += margin + "}\n";
  loops_.pop_back();
  inside_.insert(inside_.end(), names_.begin() + static_cast<std::ptrdiff_t>(known), names_.end());
  inside_.insert(inside_.end(), outside.begin(), outside.end());
  names_.resize(known);
  return text;
}

formula::Sum TreeWriter::number(const Node &node, std::size_t at, char letter) {
  const LoopSpace &space = folder_.spaceOf(loops_);
  const auto values = std::span<const std::int64_t>(node.values).subspan(at * space.points(), space.points());
  if (auto found = space.fit(values))
    return *std::move(found);
  return {{{1, spelled(tables_.nameOf(ranks_, values, letter) + "[rank]")}}, 0}; // no loop is made around such
}

std::string TreeWriter::share(const std::string &text, int depth, char letter) {
  auto known = std::ranges::find_if(shared_, [&](const Shared &s) { return s.text == text && s.depth == depth; });
  if (known == shared_.end())
    known = shared_.insert(known, {text, depth, 'v'});
  if (known->letter == 'v')
    known->letter = letter;
  return mark(static_cast<std::size_t>(known - shared_.begin()));
}

/// Returns the text of `sum`, with marks for expressions that may get a name. These are the long terms of `sum`, or all
/// of it if it is a rank.
std::string TreeWriter::marked(formula::Sum sum, char letter) {
  const bool isOne = sum.terms.size() == 1 && sum.terms[0].factor == 1 && sum.constant == 0;
  int depth = 0;
  for (const formula::Term &term : sum.terms)
    depth = std::max(depth, term.depth);
  if (!isOne && !sum.terms.empty()) {
    formula::Sum whole = sum;
    for (formula::Term &term : whole.terms)
      if (isLong(term.what) && term.depth < depth)
        term.what = spelled(share(spell(term.what), term.depth, 'v'));
    const std::string text = spell(whole.spelledPositiveFirst());
    if (letter == 'p' || std::ranges::any_of(shared_, [&](const Shared &s) {
          return s.text == text && s.depth == depth && s.letter == 'p';
        }))
      return share(text, depth, 'p');
  }
  for (formula::Term &term : sum.terms)
    if (isLong(term.what))
      term.what = spelled(share(spell(term.what), term.depth, isOne ? letter : 'v'));
  return spell(sum.spelledPositiveFirst());
}

std::string TreeWriter::resolve(std::string text, unsigned indent) {
  const int depth = static_cast<int>(loops_.size());
  std::string names;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    if (shared_[i].depth != depth)
      continue;
    const char letter = std::exchange(shared_[i].letter, 'v');
    const std::string marking = mark(i);
    std::size_t count = 0;
    for (std::size_t at = text.find(marking); at != std::string::npos; at = text.find(marking, at + 1))
      ++count;
    if (count == 0)
      continue;
    std::string with = shared_[i].text;
    if (count > 1) {
      const std::string name = freeName(nameFor(with, letter));
      names += std::string(indent, ' ') + "const int " + name + " = " + withoutParentheses(with) + ";\n";
      with = name;
    }
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(marking); at != std::string::npos; at = text.find(marking, from)) {
      out.append(text, from, at - from);
      from = at + marking.size();
      const char before = out.empty() ? ' ' : out.back(), after = from < text.size() ? text[from] : ' ';
      const bool alone = (before == '[' || before == '(') && (after == ']' || after == ')');
      out += alone ? withoutParentheses(with) : with;
    }
    text = out.append(text, from);
  }
  return names + text;
}

std::string TreeWriter::call(const Node &node) {
  const std::string &form = templates_[node.text];
  std::string text;
  std::size_t number = 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%') {
      text += form[i];
      continue;
    }
    const char letter = form[++i];
    formula::Sum value = this->number(node, number++, letter);
    if (letter == 'u' && value.terms.empty()) {
      text += bytesText(static_cast<std::uint64_t>(value.constant));
      continue;
    }
    if (letter != 's') {
      text += marked(value, letter);
      continue;
    }
    const formula::Sum size = this->number(node, number++, 'v');
    if (size.terms.empty() && size.constant == 1)
      text += "[" + marked(value, 'v') + "]";
    else {
      text += ".slice(" + marked(value, 'v') + ", ";
      value.add(size);
      text += marked(std::move(value), 'v') + ")";
    }
  }
  return text;
}

} // namespace mscclc::dsl
