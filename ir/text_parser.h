// Internal to the text form: the parser's state. The parser descends recursively, line by line. The depth of the
// recursion is fixed, because pipelines have a stack of their own. text_parser.cpp parses the file, ranks and
// locations. text_parser_ops.cpp parses blocks, and text_parser_movement.cpp parses statements that move data.
#pragma once

#include "ir/def_use.h"
#include "ir/structure.h"
#include "ir/text_cursor.h"

#include <limits>
#include <optional>
#include <utility>

namespace mscclc::ir {

class TextParser {
public:
  TextParser(std::string_view text, std::string_view filename, DiagnosticEngine &diagnostics)
      : cursor_(text, filename, diagnostics), diagnostics_(diagnostics) {}

  std::optional<Program> parse();

private:
  using Position = TextCursor::Position;

  // Parses a body. `statement` parses one line, or a line and its body. It returns false after an error.
  template <typename Statement> void parseBody(std::string_view what, const Position &opened, Statement &&statement);
  void missingClose(std::string_view what, const Position &opened);
  void skipBody();
  bool opensBody(bool headerIsGood);

  bool parseHeader();
  bool parseProgram();
  bool parseProgramStatement();
  bool parseCollective();
  bool parseOption(bool &found);
  bool parseExpectation();
  bool parseHook();
  bool parseHookNumber(std::uint64_t &number);
  bool parseRank();
  bool parseRankStatement();
  bool parseBuffers();
  bool parseChannels(ChannelType type);
  bool parseSwitchChannel();
  bool parseRemoteBuffer();
  bool parseLocations();
  bool parseLocation();
  bool parseEarlierLocation(LocId &id);
  bool parseMerge(LocId first);
  bool parseElement(LocId holder);

  void parseBlock();
  void parseBlockBody(std::string_view what, const Position &opened);
  bool parseBlockStatement();
  bool parseTable(std::vector<ResourceUse> &table, std::string_view what, std::string_view of);
  bool parseOperation();
  bool parseImmediates(Op &op);
  bool parseOperands(Op &op);
  bool parseChunk(Chunk &chunk, bool &found);
  bool parseRange(std::uint32_t &index, std::uint32_t &size);
  bool parseVersions(const Op &op, std::uint32_t index, const Chunk &chunk);
  bool parseAttributes(Op &op);
  void checkDefinition(const Op &op, Version given, const Position &position);

  bool parseMovement();
  bool parseMove();
  bool parsePlaces(std::vector<RankChunk> &places);
  bool parseMoveOptions(Move &move);

  bool parseLoc(LocId &loc);
  bool parseBufferKind(BufferKind &kind);
  bool parseRankBuffer(std::uint32_t &rank, BufferKind &kind);
  bool parseReduceOp(ReduceOp &op);
  template <typename Enum, std::size_t count>
  bool parseWord(const std::string_view (&names)[count], Enum &value, std::string_view what);
  template <typename Item> bool parseList(Item &&item);
  bool parseNumbers(std::vector<std::uint32_t> &numbers, std::string_view what);
  bool once(bool isRepeated, std::string_view what, const Position &position);
  bool before(bool isLate, std::string_view what, std::string_view other, const Position &position);

  Rank &rank() { return program_.ranks.back(); }
  ThreadBlock &block() { return rank().blocks.back(); }
  ShownPlace show(const ProgramPlace &place) const;

  TextCursor cursor_;
  DiagnosticEngine &diagnostics_;
  Program program_;
  bool endReported_ = false;

  bool hasCollective_ = false;
  bool hasTags_ = false;
  std::uint32_t optionsSeen_ = 0; // options that were parsed: a bit for each, in the order of MSCCLC_IR_OPTIONS
  bool hasBuffers_ = false, hasMemory_ = false, hasPort_ = false,
       hasSemaphores_ = false; // parts of the current rank that were parsed
  bool hasMovement_ = false, hasLocations_ = false;
  LocId highestLoc_ = noLoc;
  Position highestLocAt_;

  // State of the current block:
  struct OpenPipeline {
    std::uint32_t op;
    Position opened;
  };
  bool hasChannelTable_ = false, hasRemoteTable_ = false;
  std::vector<OpenPipeline> pipelines_;
  std::optional<VersionTracker> tracker_; // made when the first version is parsed
  std::uint32_t tracked_ = 0;             // number of operations that the tracker has stepped over
  bool versionsKnown_ = true;             // false after an operation that could not be read
  std::vector<Chunk> srcs_, dsts_;
  std::vector<std::uint32_t> ids_;
  std::vector<Version> seen_, given_;

  std::vector<RankChunk> srcPlaces_, dstPlaces_; // places of the current statement

  // Lines of ranks, blocks, operations and statements, for faults that the structural checker finds
  std::uint32_t programLine_ = 1;
  std::vector<std::uint32_t> rankLines_, blockLines_, opLines_, moveLines_;
  std::vector<std::uint32_t> firstBlock_, firstOp_; // first index in `blockLines_` by rank, in `opLines_` by block
};

template <typename Statement>
void TextParser::parseBody(std::string_view what, const Position &opened, Statement &&statement) {
  while (cursor_.nextLine()) {
    if (cursor_.accept('}')) {
      cursor_.expectLineEnd();
      return;
    }
    if (!statement() && cursor_.lineOpensBody())
      skipBody();
  }
  missingClose(what, opened);
}

template <typename Enum, std::size_t count>
bool TextParser::parseWord(const std::string_view (&names)[count], Enum &value, std::string_view what) {
  for (std::size_t i = 0; i < count; ++i)
    if (cursor_.accept(names[i])) {
      value = static_cast<Enum>(i);
      return true;
    }
  return cursor_.expected(what);
}

template <typename Item> bool TextParser::parseList(Item &&item) {
  if (!cursor_.expect('['))
    return false;
  if (cursor_.accept(']'))
    return true;
  do {
    if (!item())
      return false;
  } while (cursor_.accept(','));
  return cursor_.expect(']');
}

} // namespace mscclc::ir
