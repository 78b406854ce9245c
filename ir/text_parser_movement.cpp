// The parser's part for statements that move data.
#include "ir/ir_diagnostics.h"
#include "ir/text_parser.h"
#include "ir/text_words.h"

namespace mscclc::ir {

bool TextParser::parseMovement() {
  const Position opened = cursor_.here();
  if (!opensBody(cursor_.expect('{') && cursor_.expectLineEnd()))
    return false;
  parseBody("the statements", opened, [&] { return parseMove(); });
  return true;
}

/// copy 1.output[0:1], 2.output[0:1] <- 0.input[0:1] by 0 @3
bool TextParser::parseMove() {
  static const std::string_view kinds[] = {toString(MoveKind::Copy), toString(MoveKind::Reduce),
                                           toString(MoveKind::Apply)};
  Move move;
  srcPlaces_.clear();
  dstPlaces_.clear();
  if (!parseWord(kinds, move.kind, "'copy', 'reduce', 'apply' or '}'"))
    return false;
  if (move.kind == MoveKind::Apply && !((cursor_.acceptPrefix("hook") || cursor_.expected("'hook0'")) &&
                                        cursor_.expectNumber(move.hook, "the hook's number")))
    return false;
  if (!parsePlaces(dstPlaces_))
    return false;
  if (!cursor_.acceptPrefix("<-"))
    return cursor_.expected("',' or '<-'");
  if (!parsePlaces(srcPlaces_) || !parseMoveOptions(move))
    return false;
  moveLines_.push_back(cursor_.line());
  program_.movement.append(move, srcPlaces_, dstPlaces_);
  return true;
}

bool TextParser::parsePlaces(std::vector<RankChunk> &places) {
  do {
    RankChunk place;
    if (!parseRankBuffer(place.rank, place.buffer) || !parseRange(place.index, place.size))
      return false;
    places.push_back(place);
  } while (cursor_.accept(','));
  return true;
}

bool TextParser::parseMoveOptions(Move &move) {
  bool hasReduceOp = false, hasLoc = false, hasFirstAfter = false;
  while (!cursor_.atLineEnd()) {
    const Position at = cursor_.here();
    if (cursor_.accept('@')) {
      if (!once(std::exchange(hasLoc, true), "the location", at) || !parseLoc(move.loc))
        return false;
    } else if (cursor_.accept("reduce_op")) {
      if (!once(std::exchange(hasReduceOp, true), "'reduce_op'", at) || !parseReduceOp(move.reduceOp))
        return false;
    } else if (cursor_.accept("via")) {
      static const std::string_view names[] = {toString(Via::Memory), toString(Via::Port), toString(Via::Switch)};
      if (!once(move.via.has_value(), "'via'", at) ||
          !parseWord(names, move.via.emplace(), "'memory', 'port' or 'switch'"))
        return false;
    } else if (cursor_.accept("by")) {
      if (!once(move.by.has_value(), "'by'", at) || !cursor_.expectNumber(move.by.emplace(), "a rank"))
        return false;
    } else if (cursor_.accept("block")) {
      if (!once(move.block.has_value(), "'block'", at) ||
          !cursor_.expectNumber(move.block.emplace(), "the block's number"))
        return false;
    } else if (cursor_.accept("packets")) {
      if (!once(move.packets.has_value(), "'packets'", at) ||
          !parseWord(words::switches, move.packets.emplace(), "'off' or 'on'"))
        return false;
    } else if (cursor_.accept("first_after")) {
      if (!once(std::exchange(hasFirstAfter, true), "'first_after'", at) ||
          !cursor_.expectNumber(move.firstAfter, "a number of sources"))
        return false;
    } else {
      return cursor_.expected("options or end of line");
    }
  }
  return true;
}

} // namespace mscclc::ir
