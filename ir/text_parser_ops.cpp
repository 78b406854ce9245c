// The parser's part for thread blocks: tables and operations.
#include "ir/ir_diagnostics.h"
#include "ir/text_parser.h"
#include "ir/text_words.h"

namespace mscclc::ir {

namespace {

std::optional<OpKind> findMnemonic(std::string_view word) {
  if (word.empty())
    return std::nullopt;
  for (std::size_t i = 0; i < opKindCount; ++i)
    if (opInfos[i].mnemonic[0] == word[0] && opInfos[i].mnemonic == word)
      return static_cast<OpKind>(i);
  return std::nullopt;
}

} // namespace

void TextParser::parseBlock() {
  const auto index = static_cast<std::uint32_t>(rank().blocks.size());
  const Position at = cursor_.here();
  rank().blocks.emplace_back();
  blockLines_.push_back(cursor_.line());
  firstOp_.push_back(static_cast<std::uint32_t>(opLines_.size()));
  hasChannelTable_ = hasRemoteTable_ = false;
  pipelines_.clear();
  tracker_.reset();
  tracked_ = 0;
  versionsKnown_ = true;
  std::uint32_t number = 0;
  if (!opensBody(cursor_.expectNumber(number, "the block's number") && cursor_.expect('{') && cursor_.expectLineEnd()))
    return;
  if (number != index)
    cursor_.error(diag::ir_out_of_order, at, {"block", index, number});
  parseBlockBody("block " + std::to_string(index), at);
}

void TextParser::parseBlockBody(std::string_view what, const Position &opened) {
  while (cursor_.nextLine()) {
    if (cursor_.accept('}')) {
      cursor_.expectLineEnd();
      if (pipelines_.empty())
        return;
      const std::uint32_t header = pipelines_.back().op;
      block().ops[header].bodySize = static_cast<std::uint32_t>(block().ops.size()) - header - 1;
      pipelines_.pop_back();
    } else if (!parseBlockStatement()) {
      versionsKnown_ = false;
      if (cursor_.lineOpensBody())
        skipBody();
    }
  }
  if (pipelines_.empty())
    missingClose(what, opened);
  else
    missingClose("a pipeline", pipelines_.back().opened);
}

bool TextParser::parseBlockStatement() {
  const Position at = cursor_.here();
  if (cursor_.accept("channels"))
    return once(std::exchange(hasChannelTable_, true), "'channels'", at) &&
           parseTable(block().channels, "'channels'", "a channel's number");
  if (cursor_.accept("remotes"))
    return once(std::exchange(hasRemoteTable_, true), "'remotes'", at) &&
           parseTable(block().remoteBuffers, "'remotes'", "a remote buffer's number");
  return parseOperation();
}

bool TextParser::parseTable(std::vector<ResourceUse> &table, std::string_view what, std::string_view of) {
  if (!before(!block().ops.empty(), what, "the block's first operation", cursor_.here()))
    return false;
  return parseList([&] {
           ResourceUse use;
           static const std::string_view names[] = {toString(ChannelType::None), toString(ChannelType::Memory),
                                                    toString(ChannelType::Port), toString(ChannelType::Switch)};
           if (!parseWord(names, use.type, "'memory', 'port' or 'switch'") || !cursor_.expectNumber(use.id, of))
             return false;
           table.push_back(use);
           return true;
         }) &&
         cursor_.expectLineEnd();
}

bool TextParser::parseOperation() {
  const Position at = cursor_.here();
  std::optional<Version> definition;
  if (cursor_.accept('%')) {
    Version version = 0;
    if (!cursor_.expectNumber(version, "the version's number") || !cursor_.expect('='))
      return false;
    definition = version;
  }
  const Position kindAt = cursor_.here();
  const std::optional<OpKind> kind = findMnemonic(cursor_.word());
  if (!kind) {
    cursor_.back(kindAt);
    return cursor_.expected("an operation");
  }
  Op op;
  op.kind = *kind;
  ids_.clear();
  if (!parseImmediates(op))
    return false;
  for (const ChannelType type : {ChannelType::Memory, ChannelType::Port, ChannelType::Switch})
    if (cursor_.accept(toString(type))) {
      op.channelType = type;
      break;
    }
  if (cursor_.at('[') && !parseNumbers(ids_, "an id"))
    return false;
  if (!parseOperands(op) || !parseAttributes(op))
    return false;
  if ((op.kind == OpKind::Pipeline && !cursor_.expect('{')) || !cursor_.expectLineEnd())
    return false;
  if (op.kind == OpKind::Pipeline)
    pipelines_.push_back({static_cast<std::uint32_t>(block().ops.size()), at});
  opLines_.push_back(cursor_.line());
  const std::size_t index = block().append(op, srcs_, dsts_, ids_);
  if (definition && versionsKnown_)
    checkDefinition(block().ops[index], *definition, at);
  return true;
}

bool TextParser::parseImmediates(Op &op) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (op.kind == OpKind::Barrier)
    return cursor_.expectNumber(op.imm, most, "the barrier's number") && cursor_.expect("blocks") &&
           cursor_.expectNumber(op.count, "a number of blocks");
  if (op.kind == OpKind::Pipeline)
    return cursor_.expect("unit_size") && cursor_.expectNumber(op.imm, most, "a number of bytes") &&
           cursor_.expect("num_chunks") && cursor_.expectNumber(op.count, "a number of chunks");
  if (op.kind == OpKind::Apply)
    return (cursor_.acceptPrefix("hook") || cursor_.expected("'hook0'")) && parseHookNumber(op.imm);
  return true;
}

bool TextParser::parseOperands(Op &op) {
  srcs_.clear();
  dsts_.clear();
  Chunk chunk;
  bool found = false;
  if (!parseChunk(chunk, found))
    return false;
  if (found) {
    dsts_.push_back(chunk);
    while (cursor_.accept(',')) {
      if (!parseChunk(chunk, found))
        return false;
      if (!found)
        return cursor_.expected("a chunk");
      dsts_.push_back(chunk);
    }
  }
  if (!cursor_.acceptPrefix("<-"))
    return true;
  do {
    if (!parseChunk(chunk, found))
      return false;
    if (!found)
      return cursor_.expected("a chunk");
    if (!parseVersions(op, static_cast<std::uint32_t>(srcs_.size()), chunk))
      return false;
    srcs_.push_back(chunk);
  } while (cursor_.accept(','));
  return true;
}

/// Parses input[0:2], remote3[0:1], …. If the next word begins no chunk, sets `found` to false and reads nothing.
bool TextParser::parseChunk(Chunk &chunk, bool &found) {
  chunk = {};
  found = true;
  for (const BufferKind kind : {BufferKind::Input, BufferKind::Output, BufferKind::Scratch})
    if (cursor_.accept(toString(kind))) {
      chunk.space = spaceOf(kind);
      return parseRange(chunk.index, chunk.size);
    }
  if (cursor_.acceptPrefix("remote")) {
    chunk.space = ChunkSpace::Remote;
    return cursor_.expectNumber(chunk.id, "a remote buffer's number") && parseRange(chunk.index, chunk.size);
  }
  if (cursor_.acceptPrefix("switch")) {
    chunk.space = ChunkSpace::Switch;
    return cursor_.expectNumber(chunk.id, "a switch channel's number") && parseRange(chunk.index, chunk.size);
  }
  found = false;
  return true;
}

/// [3:5]
bool TextParser::parseRange(std::uint32_t &index, std::uint32_t &size) {
  if (!cursor_.expect('[') || !cursor_.expectNumber(index, "a chunk") || !cursor_.expect(':'))
    return false;
  const Position endAt = cursor_.here();
  constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t end = 0;
  if (!cursor_.expectNumber(end, index + largest, "the chunk after the last one"))
    return false;
  if (end < index)
    return cursor_.error(diag::ir_expected, endAt,
                         {"an end of at least " + std::to_string(index), std::to_string(end)});
  size = static_cast<std::uint32_t>(end - index);
  return cursor_.expect(']');
}

/// Parses %3, %in, %{in, 3, 5} or %{in, 3, 5, 7, 9, 11, 13, 15, ..}, and compares it with the versions that the source
/// sees.
bool TextParser::parseVersions(const Op &op, std::uint32_t index, const Chunk &chunk) {
  const Position at = cursor_.here();
  if (!cursor_.accept('%'))
    return true;
  given_.clear();
  bool cut = false;
  const auto one = [&] {
    Version version = initialVersion;
    if (!cursor_.accept("in") && !cursor_.expectNumber(version, "'in' or a version's number"))
      return false;
    given_.push_back(version);
    return true;
  };
  if (cursor_.accept('{')) {
    do {
      cut = cursor_.acceptPrefix("..");
      if (!cut && !one())
        return false;
    } while (!cut && cursor_.accept(','));
    if (!cursor_.expect('}'))
      return false;
  } else if (!one()) {
    return false;
  }
  if (!versionsKnown_)
    return true;
  if (!tracker_)
    tracker_.emplace(program_, static_cast<std::uint32_t>(program_.ranks.size() - 1));
  for (; tracked_ < block().ops.size(); ++tracked_)
    tracker_->define(block(), block().ops[tracked_], tracked_);
  seen_.clear();
  tracker_->see(op, index, chunk, words::maxVersionsShown + 1, seen_);
  const bool seesMore = seen_.size() > words::maxVersionsShown;
  if (seesMore)
    seen_.pop_back();
  if (seen_ != given_ || seesMore != cut)
    cursor_.error(diag::ir_wrong_version, at, {describe(seen_, seesMore), describe(given_, cut)});
  return true;
}

bool TextParser::parseAttributes(Op &op) {
  bool hasReduceOp = false, hasFirstAfter = false, hasSync = false, hasSlice = false, hasLoc = false;
  while (!cursor_.atLineEnd() && !cursor_.at('{')) {
    const Position at = cursor_.here();
    if (cursor_.accept('@')) {
      if (!once(std::exchange(hasLoc, true), "the location", at) || !parseLoc(op.loc))
        return false;
    } else if (cursor_.accept("sync")) {
      if (!once(std::exchange(hasSync, true), "'sync'", at) ||
          !parseWord(words::syncs, op.sync, "'none', 'before', 'after' or 'both'"))
        return false;
    } else if (cursor_.accept("reduce_op")) {
      if (!once(std::exchange(hasReduceOp, true), "'reduce_op'", at) || !parseReduceOp(op.reduceOp))
        return false;
    } else if (cursor_.accept("first_after")) {
      if (!once(std::exchange(hasFirstAfter, true), "'first_after'", at) ||
          !cursor_.expectNumber(op.firstAfter, "a number of sources"))
        return false;
    } else if (cursor_.accept("slice")) {
      if (!once(std::exchange(hasSlice, true), "'slice'", at) ||
          !cursor_.expectNumber(op.groupIndex, "the slice's number") || !cursor_.expect("of") ||
          !cursor_.expectNumber(op.groupSize, "the number of slices"))
        return false;
    } else {
      return cursor_.expected(srcs_.empty() && dsts_.empty() ? "operands, attributes or end of line"
                                                             : "attributes or end of line");
    }
  }
  return true;
}

void TextParser::checkDefinition(const Op &op, Version given, const Position &position) {
  const auto index = static_cast<Version>(block().ops.size() - 1);
  const bool defines = definesVersion(block(), op);
  if (!defines || given != index)
    cursor_.error(diag::ir_wrong_definition, position,
                  {describe({&index, std::size_t{defines}}, false), describe({&given, 1}, false)});
}

} // namespace mscclc::ir
