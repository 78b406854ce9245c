#include "module.h"
#include "tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace mscclc::ptx {
namespace {

std::string lower(std::string_view name) {
  std::string text(name);
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class Value> struct Named {
  std::string text;
  Value value;
};
template <class Value> const Value *find(const std::vector<Named<Value>> &names, std::string_view text) {
  const auto at = std::ranges::find(names, text, &Named<Value>::text);
  return at == names.end() ? nullptr : &at->value;
}

const std::vector<Named<Opcode>> opcodes = {
#define PTX_OPCODE(name) {lower(#name), Opcode::name},
#include "words.def"
};
const std::vector<Named<Modifier>> modifiers = {
#define PTX_MODIFIER(id, text) {text, Modifier::id},
#include "words.def"
};
const std::vector<Named<Space>> spaces = {{"global", Space::Global},
                                          {"param", Space::Param},
                                          {"const", Space::Const},
                                          {"local", Space::Local},
                                          {"shared", Space::Shared}};
const std::vector<Named<Order>> orders = {{"weak", Order::Weak},
                                          {"volatile", Order::Volatile},
                                          {"relaxed", Order::Relaxed},
                                          {"acquire", Order::Acquire},
                                          {"release", Order::Release},
                                          {"acq_rel", Order::AcqRel},
                                          {"sc", Order::Sc}};
const std::vector<Named<Scope>> scopes = {
    {"cta", Scope::Cta}, {"gpu", Scope::Gpu}, {"gl", Scope::Gpu}, {"sys", Scope::Sys}};
const std::vector<Named<Special>> specials = {{"%tid.x", Special::Tid},
                                              {"%ntid.x", Special::Ntid},
                                              {"%ctaid.x", Special::Ctaid},
                                              {"%nctaid.x", Special::Nctaid},
                                              {"%globaltimer", Special::GlobalTimer},
                                              {"%laneid", Special::LaneId}};
const std::vector<Named<Type>> types = {{"pred", {Type::Predicate, 8}},
                                        {"b8", {Type::Bits, 8}},
                                        {"b16", {Type::Bits, 16}},
                                        {"b32", {Type::Bits, 32}},
                                        {"b64", {Type::Bits, 64}},
                                        {"u8", {Type::Unsigned, 8}},
                                        {"u16", {Type::Unsigned, 16}},
                                        {"u32", {Type::Unsigned, 32}},
                                        {"u64", {Type::Unsigned, 64}},
                                        {"s8", {Type::Signed, 8}},
                                        {"s16", {Type::Signed, 16}},
                                        {"s32", {Type::Signed, 32}},
                                        {"s64", {Type::Signed, 64}},
                                        {"f16", {Type::Float, 16}},
                                        {"f16x2", {Type::Float, 16, 2}},
                                        {"f32", {Type::Float, 32}},
                                        {"f64", {Type::Float, 64}},
                                        {"bf16", {Type::Brain, 16}},
                                        {"bf16x2", {Type::Brain, 16, 2}},
                                        {"e4m3x2", {Type::Float8E4m3, 8, 2}},
                                        {"e5m2x2", {Type::Float8E5m2, 8, 2}},
                                        {"e4m3x4", {Type::Float8E4m3, 8, 4}},
                                        {"e5m2x4", {Type::Float8E5m2, 8, 4}}};

class Reader {
public:
  explicit Reader(std::string_view text) : tokens_(tokensOf(text)) {}

  Module run() {
    while (token().kind != Token::End)
      topLevel();
    for (Function &function : module_.functions)
      finish(function);
    return std::move(module_);
  }

private:
  /// Resolves names that are defined after their use: functions and file names.
  void finish(Function &function) {
    for (auto &[at, name] : calls_[function.name]) {
      const auto found = module_.functionOf.find(name);
      if (found == module_.functionOf.end())
        throw Unknown("call of " + name + ", which the module does not define");
      function.code[at].target = found->second;
    }
    for (Instruction &instruction : function.code)
      for (SourcePlace *place : {&instruction.place, &instruction.caller})
        place->file = files_[place->file];
  }

  struct Symbol {
    Operand::Kind kind;
    Variable variable;
  };

  // Tokens.
  const Token &token(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view text) const { return token().kind != Token::Text && token().text == text; }
  bool accept(std::string_view text) {
    if (!is(text))
      return false;
    ++at_;
    return true;
  }
  [[noreturn]] void unknown(const std::string &what) const {
    throw Unknown("line " + std::to_string(token().line) + ": " + what);
  }
  void expect(std::string_view text) {
    if (!accept(text))
      unknown("'" + std::string(text) + "' expected, not '" + std::string(token().text) + "'");
  }
  std::string word() {
    if (token().kind != Token::Word)
      unknown("a name expected, not '" + std::string(token().text) + "'");
    return std::string(tokens_[at_++].text);
  }
  std::int64_t number() {
    const bool negative = accept("-");
    if (token().kind != Token::Number)
      unknown("a number expected, not '" + std::string(token().text) + "'");
    const std::int64_t value = tokens_[at_++].number;
    return negative ? -value : value;
  }
  void skipLine() {
    for (const std::uint32_t line = token().line; token().kind != Token::End && token().line == line;)
      ++at_;
  }
  void skipBraces() {
    expect("{");
    for (int depth = 1; depth > 0 && token().kind != Token::End; ++at_)
      depth += is("{") ? 1 : is("}") ? -1 : 0;
  }

  // Outside functions.
  void topLevel() {
    if (accept(".visible") || accept(".extern") || accept(".weak"))
      return;
    if (accept(".target")) {
      module_.target = word();
    } else if (is(".version") || is(".address_size")) {
      skipLine();
    } else if (accept(".file")) {
      const std::string id = std::to_string(number());
      const std::string_view path = tokens_[at_++].text;
      files_[id] = path.substr(path.rfind('/') + 1);
    } else if (accept(".section")) {
      ++at_;
      skipBraces();
    } else if (is(".entry") || is(".func")) {
      function(tokens_[at_++].text == ".entry");
    } else if (accept(".const") || accept(".global")) {
      moduleVariable();
    } else if (accept(".shared")) {
      sharedVariable(global_);
    } else {
      unknown("directive " + std::string(token().text));
    }
  }

  static void reserve(std::uint64_t &end, Variable &variable, std::uint64_t alignment) {
    end = (end + alignment - 1) / alignment * alignment;
    variable.offset = end;
    end += variable.bytes;
  }

  Type typeWord() {
    const std::string text = word();
    const Type *type = find(types, std::string_view(text).substr(1));
    if (type == nullptr)
      unknown("type " + text);
    return *type;
  }

  /// `.align 4 .b8 name[12]`, behind the state space; places the variable behind `end`.
  Symbol declaration(Operand::Kind kind, std::uint64_t &end, std::string &name, Type &type) {
    std::uint64_t alignment = 1;
    if (accept(".align"))
      alignment = static_cast<std::uint64_t>(number());
    type = typeWord();
    name = word();
    Variable variable{0, type.bytes()};
    while (accept("[")) {
      variable.bytes *= is("]") ? 1 : static_cast<std::uint64_t>(number());
      expect("]");
    }
    reserve(end, variable, std::max<std::uint64_t>(alignment, type.bytes()));
    return {kind, variable};
  }

  void moduleVariable() {
    std::uint64_t end = (module_.data.size() + 15) / 16 * 16;
    std::string name;
    Type type;
    const Symbol symbol = declaration(Operand::Global, end, name, type);
    module_.data.resize(end);
    if (accept("=")) {
      std::uint64_t at = symbol.variable.offset;
      const bool list = accept("{");
      do {
        const std::int64_t value = number();
        for (unsigned byte = 0; byte < type.bytes(); ++byte)
          module_.data.at(at++) = static_cast<std::byte>(value >> (8 * byte));
      } while (list && accept(","));
      if (list)
        expect("}");
    }
    expect(";");
    global_[name] = symbol;
  }

  /// Of a block. All variables of the module have a place of their own, also those of functions.
  void sharedVariable(std::map<std::string, Symbol> &symbols) {
    std::string name;
    Type type;
    const Symbol symbol = declaration(Operand::Shared, module_.sharedBytes, name, type);
    symbols[name] = symbol;
    expect(";");
  }

  // Functions.
  std::vector<Variable> parameters(Operand::Kind kind, std::uint64_t &end) {
    std::vector<Variable> list;
    expect("(");
    while (!accept(")")) {
      accept(",");
      expect(".param");
      std::string name;
      Type type;
      local_[name] = {};
      const Symbol symbol = declaration(kind, end, name, type);
      local_[name] = symbol;
      list.push_back(symbol.variable);
    }
    return list;
  }

  void function(bool isEntry) {
    Function f;
    f.isEntry = isEntry;
    local_.clear();
    registers_.clear();
    labels_.clear();
    branches_.clear();
    loc_ = caller_ = {};
    if (is("("))
      f.results = parameters(Operand::Frame, f.frameBytes);
    f.name = word();
    if (is("("))
      f.parameters =
          isEntry ? parameters(Operand::Argument, f.parameterBytes) : parameters(Operand::Frame, f.frameBytes);
    while (!is("{") && !is(";")) {
      if (is(".maxntid") || is(".minnctapersm") || is(".noreturn"))
        skipLine();
      else
        unknown("directive " + std::string(token().text));
    }
    if (accept(";"))
      return; // a declaration
    expect("{");
    for (int depth = 1; depth > 0;)
      statement(f, depth);
    for (const auto &[at, label] : branches_) {
      if (!labels_.contains(label))
        unknown("label " + label);
      f.code[at].target = labels_[label];
    }
    f.registers = static_cast<std::uint32_t>(registers_.size());
    f.frameBytes = (f.frameBytes + 15) / 16 * 16;
    module_.functionOf[f.name] = static_cast<std::uint32_t>(module_.functions.size());
    module_.functions.push_back(std::move(f));
  }

  void statement(Function &f, int &depth) {
    if (accept("{")) {
      ++depth;
    } else if (accept("}")) {
      --depth;
    } else if (is(".loc")) {
      location();
    } else if (accept(".pragma")) {
      ++at_;
      expect(";");
    } else if (accept(".reg")) {
      for (typeWord(); !accept(";"); ++at_) // those of `%r<10>` are numbered where they are used
        if (token().kind == Token::Word)
          registerOf(std::string(token().text));
    } else if (accept(".param") || accept(".local")) {
      std::string name;
      Type type;
      const Symbol symbol = declaration(Operand::Frame, f.frameBytes, name, type);
      local_[name] = symbol;
      expect(";");
    } else if (accept(".shared")) {
      sharedVariable(local_);
    } else if (token(1).kind == Token::Sign && token(1).text == ":") {
      labels_[word()] = static_cast<std::uint32_t>(f.code.size());
      ++at_;
    } else {
      instruction(f);
    }
  }

  /// `.loc 1 29 3, function_name NAME, inlined_at 2 111 9`, to the end of the line.
  void location() {
    const std::uint32_t line = token().line;
    ++at_;
    using Position = std::array<std::int64_t, 3>; // file, line, column
    const auto position = [&]() -> Position { return {number(), number(), number()}; };
    const auto placeOf = [&](const Position &p) {
      return SourcePlace{std::to_string(p[0]), static_cast<std::uint32_t>(p[1])};
    };
    const Position here = position();
    Position outermost = here;
    for (; token().line == line && token().kind != Token::End;)
      if (!accept("inlined_at"))
        ++at_;
      else if (outermost = position(); outermost_.contains(outermost))
        outermost = outermost_[outermost]; // it is inlined itself, as an earlier .loc said
    outermost_[here] = outermost;
    loc_ = placeOf(here);
    caller_ = placeOf(outermost);
  }

  std::uint32_t registerOf(const std::string &name) {
    return registers_.try_emplace(name, static_cast<std::uint32_t>(registers_.size())).first->second;
  }

  Operand symbolOrRegister() {
    const std::string name = word();
    Operand operand;
    if (name == "_") {
      operand.kind = Operand::Sink;
    } else if (const Special *special = find(specials, name)) {
      operand.kind = Operand::Special;
      operand.index = static_cast<std::uint32_t>(*special);
    } else if (const auto local = local_.find(name); local != local_.end()) {
      operand.kind = local->second.kind;
      operand.value = static_cast<std::int64_t>(local->second.variable.offset);
    } else if (const auto global = global_.find(name); global != global_.end()) {
      operand.kind = global->second.kind;
      operand.value = static_cast<std::int64_t>(global->second.variable.offset);
    } else if (name[0] == '%' || registers_.contains(name)) {
      operand.index = registerOf(name);
    } else {
      unknown("name " + name);
    }
    return operand;
  }

  Operand single() {
    if (!accept("[")) {
      if (token().kind == Token::Number || is("-")) {
        Operand operand;
        operand.kind = Operand::Immediate;
        operand.value = number();
        return operand;
      }
      return symbolOrRegister();
    }
    Operand address = token().kind == Token::Number ? Operand{} : symbolOrRegister();
    if (token().kind == Token::Number)
      unknown("an address without a base");
    address.base = address.kind;
    address.kind = Operand::Memory;
    if (address.base == Operand::Register)
      address.value = 0;
    while (accept("+"))
      address.value += number();
    expect("]");
    return address;
  }

  std::vector<Operand> operand() {
    if (!accept("{"))
      return {single()};
    std::vector<Operand> list;
    do
      list.push_back(single());
    while (accept(","));
    expect("}");
    return list;
  }

  void decode(Instruction &instruction) {
    std::string_view rest = instruction.text;
    const auto next = [&] {
      const std::size_t end = std::min(rest.find('.'), rest.size());
      const std::string_view part = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      return part;
    };
    const std::string_view name = next();
    const Opcode *opcode = find(opcodes, name);
    if (opcode == nullptr)
      unknown("instruction " + instruction.text);
    instruction.opcode = *opcode;
    while (!rest.empty())
      modifier(instruction, next());
  }

  void modifier(Instruction &instruction, std::string_view part) {
    if (const Type *type = find(types, part)) {
      (instruction.type.kind == Type::None ? instruction.type : instruction.source) = *type;
    } else if (const Space *space = find(spaces, part)) {
      instruction.space = *space;
    } else if (const Order *order = find(orders, part)) {
      instruction.order = *order;
    } else if (const Scope *scope = find(scopes, part)) {
      instruction.scope = *scope;
      instruction.hasScope = true;
    } else if (part == "v2" || part == "v4") {
      instruction.vector = static_cast<std::uint8_t>(part[1] - '0');
    } else if (const Modifier *m = find(modifiers, part)) {
      instruction.modifiers |= std::uint64_t{1} << static_cast<unsigned>(*m);
    } else {
      unknown("instruction " + instruction.text + " (" + std::string(part) + ")");
    }
  }

  void instruction(Function &f) {
    Instruction i;
    i.place = loc_;
    i.caller = caller_;
    if (accept("@")) {
      i.guardNegated = accept("!");
      i.guard = static_cast<std::int32_t>(registerOf(word()));
    }
    i.text = word();
    decode(i);
    if (i.opcode == Opcode::Call) {
      call(f, i);
    } else if (i.opcode == Opcode::Bra) {
      branches_.emplace_back(f.code.size(), word());
    } else {
      while (!is(";")) {
        i.operands.push_back(operand());
        if (!accept(",") && !accept("|") && !is(";"))
          unknown("instruction " + i.text);
      }
    }
    expect(";");
    f.code.push_back(std::move(i));
  }

  std::vector<Variable> callList() {
    std::vector<Variable> list;
    expect("(");
    while (!accept(")")) {
      accept(",");
      const std::string name = word();
      const auto found = local_.find(name);
      if (found == local_.end())
        unknown("argument " + name);
      list.push_back(found->second.variable);
    }
    return list;
  }

  void call(Function &f, Instruction &i) {
    if (is("(")) {
      i.results = callList();
      expect(",");
    }
    calls_[f.name].emplace_back(f.code.size(), word());
    if (accept(","))
      i.arguments = callList();
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Module module_;
  std::map<std::string, std::string> files_;
  std::map<std::string, Symbol> global_, local_;
  std::map<std::string, std::uint32_t> registers_, labels_;
  std::vector<std::pair<std::size_t, std::string>> branches_;
  std::map<std::string, std::vector<std::pair<std::size_t, std::string>>> calls_;
  SourcePlace loc_, caller_;
  std::map<std::array<std::int64_t, 3>, std::array<std::int64_t, 3>>
      outermost_; ///< of places in functions that are inlined
};

} // namespace

Module readModule(std::string_view text) {
  return Reader(text).run();
}

} // namespace mscclc::ptx
