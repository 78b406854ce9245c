#include "ir/text_parser.h"

#include "ir/collectives.h"
#include "ir/ir_diagnostics.h"
#include "ir/text.h"
#include "ir/text_words.h"

#include <utility>

namespace mscclc::ir {

std::optional<Program> parse(std::string_view text, std::string_view filename, DiagnosticEngine &diagnostics) {
  return TextParser(withoutByteOrderMark(text), filename, diagnostics).parse();
}

std::optional<Program> TextParser::parse() {
  if (!parseHeader() || !parseProgram())
    return std::nullopt;
  while (cursor_.nextLine()) {
    const Position at = cursor_.here();
    const bool good = cursor_.accept("locations") ? once(hasLocations_, "'locations'", at) && parseLocations()
                                                  : cursor_.expected("'locations' or end of file");
    if (!good && cursor_.lineOpensBody())
      skipBody();
  }
  if (cursor_.numErrors() == 0 && highestLoc_ >= program_.sources.size())
    cursor_.error(diag::ir_unknown_location, highestLocAt_,
                  {highestLoc_, plural(program_.sources.size() - 1, "location")});
  if (cursor_.numErrors() != 0 ||
      !checkStructure(program_, diagnostics_, [&](const ProgramPlace &place) { return show(place); }))
    return std::nullopt;
  return std::move(program_);
}

ShownPlace TextParser::show(const ProgramPlace &place) const {
  std::uint32_t line = programLine_;
  if (place.statement != ProgramPlace::none)
    line = moveLines_[place.statement];
  else if (place.op != ProgramPlace::none)
    line = opLines_[firstOp_[firstBlock_[place.rank] + place.block] + place.op];
  else if (place.block != ProgramPlace::none)
    line = blockLines_[firstBlock_[place.rank] + place.block];
  else if (place.rank != ProgramPlace::none)
    line = rankLines_[place.rank];
  return cursor_.showLine(line);
}

void TextParser::missingClose(std::string_view what, const Position &opened) {
  if (!std::exchange(endReported_, true))
    cursor_.error(diag::ir_missing_close, cursor_.here(), {what}, &diag::ir_opened_here, &opened);
}

void TextParser::skipBody() {
  for (std::size_t depth = 1; depth != 0 && cursor_.nextLine();) {
    if (cursor_.accept('}'))
      --depth;
    else if (cursor_.lineOpensBody())
      ++depth;
  }
}

/// Returns true if a body follows the header that was just parsed. A wrong header may have a body, too.
bool TextParser::opensBody(bool headerIsGood) {
  return headerIsGood || cursor_.lineOpensBody();
}

bool TextParser::once(bool isRepeated, std::string_view what, const Position &position) {
  return !isRepeated || cursor_.error(diag::ir_stated_twice, position, {what});
}

bool TextParser::before(bool isLate, std::string_view what, std::string_view other, const Position &position) {
  return !isLate || cursor_.error(diag::ir_stated_late, position, {what, other});
}

bool TextParser::parseLoc(LocId &loc) {
  const Position at = cursor_.here();
  if (!cursor_.expectNumber(loc, "a location's number"))
    return false;
  if (loc > highestLoc_) {
    highestLoc_ = loc;
    highestLocAt_ = at;
  }
  return true;
}

bool TextParser::parseBufferKind(BufferKind &kind) {
  static const std::string_view names[] = {toString(BufferKind::Input), toString(BufferKind::Output),
                                           toString(BufferKind::Scratch)};
  return parseWord(names, kind, "'input', 'output' or 'scratch'");
}

/// 3.output
bool TextParser::parseRankBuffer(std::uint32_t &rank, BufferKind &kind) {
  return cursor_.expectNumber(rank, "a rank") && cursor_.expect('.') && parseBufferKind(kind);
}

bool TextParser::parseReduceOp(ReduceOp &op) {
  return parseWord(reduceOpNames, op, "'sum', 'min', 'max' or 'prod'");
}

bool TextParser::parseNumbers(std::vector<std::uint32_t> &numbers, std::string_view what) {
  return parseList([&] {
    std::uint32_t number = 0;
    if (!cursor_.expectNumber(number, what))
      return false;
    numbers.push_back(number);
    return true;
  });
}

bool TextParser::parseHeader() {
  if (!cursor_.nextLine() || !cursor_.accept(words::header))
    return cursor_.expected("'mscclc.ir 1' as the first statement");
  const Position at = cursor_.here();
  std::uint64_t version = 0;
  if (!cursor_.expectNumber(version, std::numeric_limits<std::uint64_t>::max(), "the format's version"))
    return false;
  if (version != words::formatVersion)
    return cursor_.error(diag::ir_format_version, at, {version, words::formatVersion});
  return cursor_.expectLineEnd();
}

bool TextParser::parseProgram() {
  if (!cursor_.nextLine())
    return cursor_.expected("'program'");
  programLine_ = cursor_.line();
  const Position opened = cursor_.here();
  if (!cursor_.expect("program"))
    return false;
  if (!opensBody(cursor_.expectString(program_.name) && cursor_.expect('{') && cursor_.expectLineEnd()))
    return false;
  parseBody("the program", opened, [&] { return parseProgramStatement(); });
  return true;
}

bool TextParser::parseProgramStatement() {
  const Position at = cursor_.here();
  if (cursor_.accept("rank"))
    return before(hasMovement_, "a rank", "'move'", at) && parseRank();
  if (cursor_.accept("move"))
    return once(std::exchange(hasMovement_, true), "'move'", at) && parseMovement();
  const bool late = !program_.ranks.empty();
  if (cursor_.accept("collective"))
    return once(hasCollective_, "'collective'", at) && before(late, "'collective'", "the first rank", at) &&
           parseCollective();
  if (cursor_.accept("expect"))
    return parseExpectation();
  if (cursor_.accept("tags"))
    return once(std::exchange(hasTags_, true), "'tags'", at) && before(late, "'tags'", "the first rank", at) &&
           parseList([&] { return cursor_.expectString(program_.tags.emplace_back()); }) && cursor_.expectLineEnd();
  if (cursor_.acceptPrefix("hook"))
    return before(late, "a hook", "the first rank", at) && parseHook();
  bool found = false;
  const bool good = parseOption(found);
  return found ? good : cursor_.expected("'rank', 'collective', 'expect', 'move', 'hook0', an option, or '}'");
}

bool TextParser::parseCollective() {
  hasCollective_ = true;
  Collective &collective = program_.collective;
  if (!parseWord(words::collectives, collective.kind, "a collective"))
    return false;
  collective.name = toString(collective.kind);
  if (cursor_.at('"') && !cursor_.expectString(collective.name))
    return false;
  if (info(collective.kind).hasExperts) {
    if (!cursor_.expect("experts") || !cursor_.expectNumber(collective.experts, "a number of experts") ||
        !parseWord(expertLayoutNames, collective.expertLayout, "'expert_major' or 'rank_major'"))
      return false;
  } else if (info(collective.kind).hasRows && !parseWord(rowLayoutNames, collective.rows, "'padded' or 'packed'"))
    return false;
  if (info(collective.kind).hasRoot &&
      (!cursor_.expect("root") || !cursor_.expectNumber(collective.root, "the root's rank")))
    return false;
  collective.inplace = cursor_.accept("inplace");
  if (cursor_.accept("chunk_factor") && !cursor_.expectNumber(collective.chunkFactor, "a number of chunks"))
    return false;
  if (cursor_.accept("then") && !cursor_.expectString(collective.then))
    return false;
  if (cursor_.accept('@') && !parseLoc(collective.loc))
    return false;
  return cursor_.expectLineEnd();
}

bool TextParser::parseOption(bool &found) {
  const Position at = cursor_.here();
  const auto parseValue = [&](const auto &names, auto &field) {
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(names)>, std::nullptr_t>) {
      std::uint64_t value = 0;
      if (!cursor_.expectNumber(value, std::numeric_limits<Field>::max(), "a number"))
        return false;
      field = static_cast<Field>(value);
      return true;
    } else {
      std::string choices;
      for (const std::string_view name : names)
        choices += (choices.empty() ? "'" : " or '") + std::string(name) + '\'';
      return parseWord(names, field, choices);
    }
  };
  using namespace words;
  constexpr std::nullptr_t numbers = nullptr;
  std::uint32_t bit = 1;
#define PARSE_OPTION(word, field, names)                                                                               \
  if (cursor_.accept(word)) {                                                                                          \
    found = true;                                                                                                      \
    const bool repeated = (optionsSeen_ & bit) != 0;                                                                   \
    optionsSeen_ |= bit;                                                                                               \
    return once(repeated, "'" word "'", at) && before(!program_.ranks.empty(), "'" word "'", "the first rank", at) &&  \
           parseValue(names, program_.field) && cursor_.expectLineEnd();                                               \
  }                                                                                                                    \
  bit <<= 1;
  MSCCLC_IR_OPTIONS(PARSE_OPTION)
#undef PARSE_OPTION
  return false;
}

bool TextParser::parseExpectation() {
  // R.output[K] = R.input[K] + …
  const auto place = [&](std::uint32_t &rank, std::string_view buffer, std::uint32_t &chunk) {
    return cursor_.expectNumber(rank, "a rank") && cursor_.expect('.') && cursor_.expect(buffer) &&
           cursor_.expect('[') && cursor_.expectNumber(chunk, "a chunk") && cursor_.expect(']');
  };
  Expectation expectation;
  if (!place(expectation.rank, "output", expectation.outputChunk) || !cursor_.expect('='))
    return false;
  if (!cursor_.accept("nothing")) {
    do {
      Contribution contribution;
      if (!place(contribution.rank, "input", contribution.chunk))
        return false;
      expectation.contributions.push_back(contribution);
    } while (cursor_.accept('+'));
  }
  if (cursor_.accept('@') && !parseLoc(expectation.loc))
    return false;
  program_.collective.expectations.push_back(std::move(expectation));
  return cursor_.expectLineEnd();
}

bool TextParser::parseHookNumber(std::uint64_t &number) {
  return cursor_.expectNumber(number, std::numeric_limits<std::uint64_t>::max(), "the hook's number");
}

/// hook0 = "norm" row reads ["residual", "gamma"] writes ["residual"] equal ["gamma"] function "Norm" header "norm.h"
bool TextParser::parseHook() {
  const Position at = cursor_.here();
  const std::size_t index = program_.hooks.size();
  Hook hook;
  std::uint64_t number = 0;
  if (!parseHookNumber(number))
    return false;
  if (number != index)
    cursor_.error(diag::ir_out_of_order, at, {"hook", index, number});
  if (!cursor_.expect('=') || !cursor_.expectString(hook.name) ||
      !parseWord(granularityNames, hook.granularity, "'element', 'block' or 'row'"))
    return false;
  if (hook.granularity == Granularity::Block && !cursor_.expectNumber(hook.block, "a number of elements"))
    return false;
  const auto arrays = [&](std::string_view word, std::vector<std::string> &names) {
    return !cursor_.accept(word) || parseList([&] { return cursor_.expectString(names.emplace_back()); });
  };
  const auto text = [&](std::string_view word, std::string &value) {
    return !cursor_.accept(word) || cursor_.expectString(value);
  };
  if (!arrays("reads", hook.reads) || !arrays("writes", hook.writes) || !arrays("equal", hook.equal) ||
      !text("function", hook.function) || !text("header", hook.header) ||
      (cursor_.accept("wire") && !parseWord(wireNames, hook.wire, "'f8e4m3' or 'bf16'")))
    return false;
  if (cursor_.accept('@') && !parseLoc(hook.loc))
    return false;
  program_.hooks.push_back(std::move(hook));
  return cursor_.expectLineEnd();
}

bool TextParser::parseRank() {
  const auto index = static_cast<std::uint32_t>(program_.ranks.size());
  const Position at = cursor_.here();
  program_.ranks.emplace_back();
  rankLines_.push_back(cursor_.line());
  firstBlock_.push_back(static_cast<std::uint32_t>(blockLines_.size()));
  hasBuffers_ = hasMemory_ = hasPort_ = hasSemaphores_ = false;
  std::uint32_t number = 0;
  if (!opensBody(cursor_.expectNumber(number, "the rank's number") && cursor_.expect('{') && cursor_.expectLineEnd()))
    return false;
  if (number != index)
    cursor_.error(diag::ir_out_of_order, at, {"rank", index, number});
  parseBody("rank " + std::to_string(index), at, [&] { return parseRankStatement(); });
  return true;
}

bool TextParser::parseRankStatement() {
  const Position at = cursor_.here();
  if (cursor_.accept("block")) {
    parseBlock();
    return true;
  }
  if (!before(!rank().blocks.empty(), "what a rank has", "its first block", at))
    return false;
  if (cursor_.acceptPrefix("remote"))
    return parseRemoteBuffer();
  if (cursor_.acceptPrefix("switch"))
    return parseSwitchChannel();
  if (cursor_.accept("buffers"))
    return once(std::exchange(hasBuffers_, true), "'buffers'", at) && parseBuffers();
  if (cursor_.accept("memory_channels"))
    return once(std::exchange(hasMemory_, true), "'memory_channels'", at) && parseChannels(ChannelType::Memory);
  if (cursor_.accept("port_channels"))
    return once(std::exchange(hasPort_, true), "'port_channels'", at) && parseChannels(ChannelType::Port);
  if (cursor_.accept("semaphores"))
    return once(std::exchange(hasSemaphores_, true), "'semaphores'", at) && parseList([&] {
             return cursor_.expectNumber(rank().semaphores.emplace_back().initialValue, "a semaphore's initial value");
           }) &&
           cursor_.expectLineEnd();
  return cursor_.expected("'buffers', 'memory_channels', 'port_channels', 'semaphores', 'switch0', 'remote0', 'block', "
                          "or '}'");
}

bool TextParser::parseBuffers() {
  while (!cursor_.atLineEnd()) {
    BufferKind kind{};
    std::uint32_t chunks = 0;
    if (!parseBufferKind(kind) || !cursor_.expectNumber(chunks, "a number of chunks"))
      return false;
    (kind == BufferKind::Input    ? rank().inputChunks
     : kind == BufferKind::Output ? rank().outputChunks
                                  : rank().scratchChunks) = chunks;
  }
  return true;
}

bool TextParser::parseChannels(ChannelType type) {
  // The list that comes first shows which type of channel was constructed first.
  if (type == ChannelType::Memory)
    rank().portChannelsFirst = hasPort_;
  return parseNumbers(type == ChannelType::Port ? rank().portPeers : rank().memoryPeers, "a peer's rank") &&
         cursor_.expectLineEnd();
}

bool TextParser::parseSwitchChannel() {
  const Position at = cursor_.here();
  const auto index = static_cast<std::uint32_t>(rank().switchChannels.size());
  SwitchChannel channel;
  std::uint32_t number = 0;
  if (!cursor_.expectNumber(number, "the switch channel's number"))
    return false;
  if (number != index)
    cursor_.error(diag::ir_out_of_order, at, {"switch channel", index, number});
  if (!cursor_.expect('=') || !parseBufferKind(channel.buffer) || !cursor_.expect("of") ||
      !parseNumbers(channel.ranks, "a rank"))
    return false;
  rank().switchChannels.push_back(std::move(channel));
  return cursor_.expectLineEnd();
}

bool TextParser::parseRemoteBuffer() {
  const Position at = cursor_.here();
  const auto index = static_cast<std::uint32_t>(rank().remoteBuffers.size());
  RemoteBuffer remote;
  std::uint32_t number = 0;
  if (!cursor_.expectNumber(number, "the remote buffer's number"))
    return false;
  if (number != index)
    cursor_.error(diag::ir_out_of_order, at, {"remote buffer", index, number});
  if (!cursor_.expect('=') || !parseRankBuffer(remote.rank, remote.buffer))
    return false;
  while (cursor_.accept("via")) {
    if (cursor_.accept("memory"))
      remote.viaMemory = true;
    else if (cursor_.accept("port"))
      remote.viaPort = true;
    else
      return cursor_.expected("'memory' or 'port'");
  }
  rank().remoteBuffers.push_back(remote);
  return cursor_.expectLineEnd();
}

bool TextParser::parseLocations() {
  hasLocations_ = true;
  const Position opened = cursor_.here();
  if (!cursor_.expect('{') || !cursor_.expectLineEnd())
    return false;
  // Entries are numbered in order, so after one error every further entry would cause the same error.
  bool good = true;
  parseBody("the locations", opened, [&] { return good = good && parseLocation(); });
  return true;
}

bool TextParser::parseEarlierLocation(LocId &id) {
  const Position at = cursor_.here();
  if (!cursor_.expect('@') || !cursor_.expectNumber(id, "a location's number"))
    return false;
  if (id == noLoc || id >= program_.sources.size())
    return cursor_.error(diag::ir_expected, at, {"a location that is listed above", "@" + std::to_string(id)});
  return true;
}

bool TextParser::parseMerge(LocId first) {
  LocId second = noLoc;
  if (!parseEarlierLocation(second))
    return false;
  program_.sources.merge(first, second);
  return true;
}

bool TextParser::parseElement(LocId holder) {
  SourceMap &sources = program_.sources;
  std::string label;
  std::uint32_t index = 0;
  if (sources.isMerge(holder) || !cursor_.at('"'))
    return cursor_.expected(sources.isMerge(holder) ? "'+'" : "'+' or the name of a list");
  if (!cursor_.expectString(label) || !cursor_.expectNumber(index, "an element's number"))
    return false;
  sources.addElement(holder, sources.addLabel(label), index);
  return true;
}

bool TextParser::parseLocation() {
  SourceMap &sources = program_.sources;
  const Position at = cursor_.here();
  std::uint32_t number = 0;
  if (cursor_.acceptPrefix("file")) {
    std::string path;
    if (!cursor_.expectNumber(number, "the file's number"))
      return false;
    if (number != sources.files().size())
      return cursor_.error(diag::ir_out_of_order, at, {"file", sources.files().size(), number});
    if (!cursor_.expect('=') || !cursor_.expectString(path) || !cursor_.expectLineEnd())
      return false;
    return sources.addFile(path) == number || cursor_.error(diag::ir_location_repeated, at, {"file"});
  }
  if (!cursor_.accept('@'))
    return cursor_.expected("'file0', '@1', or '}'");
  if (!cursor_.expectNumber(number, "the location's number"))
    return false;
  if (number != sources.size()) // number 0 stands for no location, so the first location is 1
    return cursor_.error(diag::ir_expected, at, {"@" + std::to_string(sources.size()), "@" + std::to_string(number)});
  if (!cursor_.expect('='))
    return false;
  const std::size_t known = sources.size();
  const Position placeAt = cursor_.here();
  if (cursor_.acceptPrefix("file")) {
    Loc loc;
    if (!cursor_.expectNumber(loc.file, "a file's number"))
      return false;
    if (loc.file >= sources.files().size())
      return cursor_.error(diag::ir_expected, placeAt,
                           {"a file that is listed above", "file" + std::to_string(loc.file)});
    if (!cursor_.expect(':') || !cursor_.expectNumber(loc.line, "a line") || !cursor_.expect(':') ||
        !cursor_.expectNumber(loc.column, "a column"))
      return false;
    if (cursor_.accept("from") && !parseEarlierLocation(loc.caller))
      return false;
    sources.addPlace(loc.file, loc.line, loc.column, loc.caller);
  } else {
    LocId first = noLoc;
    if (!parseEarlierLocation(first) || !(cursor_.accept('+') ? parseMerge(first) : parseElement(first)))
      return false;
  }
  if (sources.size() == known)
    return cursor_.error(diag::ir_location_repeated, at, {"location"});
  return cursor_.expectLineEnd();
}

} // namespace mscclc::ir
