// The declarations of a recording (the collective, the program, buffers, channels, …), checked one by one.
//
// Tables also have entries for faulty declarations, because handles are indices. An entry with a false `valid` has been
// reported, and calls that use it are ignored.
#pragma once

#include "frontend/lower/buffer_sizes.h"
#include "frontend/lower/places.h"
#include "frontend/trace/trace_reader.h"
#include "ir/diagnostics.h"
#include "ir/program.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace mscclc::frontend {

/// The collective of a program, with the promises of a custom collective.
struct CollectiveDecl {
  bool valid = false;
  ir::Collective collective;
  std::int64_t ranks = 0;
  BufferSizes sizes{};
  std::vector<BufferSizes> rankSizes; ///< sizes of each rank, if they differ
  /// Returns the sizes of the buffers of `rank`.
  const BufferSizes &sizesOf(std::size_t rank) const { return rankSizes.empty() ? sizes : rankSizes[rank]; }
  ir::LocId then = ir::noLoc;                                            ///< where a hook was promised
  std::map<std::pair<std::uint32_t, std::uint32_t>, ir::LocId> expected; ///< (rank, output chunk) → its promise
};

/// A Buffer: a range of a rank's scratch, in chunks.
struct ScratchDecl {
  bool valid = false;
  std::uint32_t rank = 0;
  std::uint32_t offset = 0; ///< first chunk in the rank's scratch
  std::uint32_t size = 0;
  PlaceId place = 0;
};

/// A thread-block group.
struct GroupDecl {
  bool valid = false;
  PlaceId place = 0;
  std::size_t first = 0, count = 0; ///< range in Declarations::groupBlocks_
};

/// One end of a memory or port channel.
struct ChannelDecl {
  bool valid = false;
  ir::ChannelType type = ir::ChannelType::Memory;
  std::uint32_t dst = 0, src = 0;
  std::uint32_t id = 0;     ///< index among the source rank's channels of this type
  std::uint32_t number = 0; ///< index among all valid channels
  PlaceId place = 0;
};

/// A rank of a switch channel's group.
struct SwitchMember {
  std::uint32_t rank;
  std::uint32_t id; ///< index among the rank's switch channels
  friend auto operator<=>(const SwitchMember &, const SwitchMember &) = default;
};

/// A switch channel with its whole group.
struct SwitchDecl {
  bool valid = false;
  ir::BufferKind buffer = ir::BufferKind::Input;
  PlaceId place = 0;
  std::size_t first = 0, count = 0; ///< range in Declarations::members_, sorted by rank
  std::int64_t extent = 0;          ///< number of chunks that every rank of the group surely has
};

/// A switch channel for use by one of its ranks.
struct ViewDecl {
  bool valid = false;
  std::uint32_t channel = 0; ///< index of the SwitchDecl
  SwitchMember member{};
};

/// A semaphore of a rank.
struct SemaphoreDecl {
  bool valid = false;
  std::uint32_t rank = 0;
  std::uint32_t id = 0; ///< index among the rank's semaphores
};

/// A hook.
struct HookDecl {
  bool valid = false;
  std::uint32_t number = 0; ///< index among the hooks of the program
};

/// The thread block of a rank at one end of a channel.
struct ChannelEnd {
  std::uint32_t rank, block;
  friend auto operator<=>(const ChannelEnd &, const ChannelEnd &) = default;
};

/// The state of a recording: before, inside or after a program.
enum class ProgramPhase : std::uint8_t {
  Before,   ///< no program yet
  Open,     ///< inside the program
  Skipping, ///< inside a second program, which is ignored
  After,    ///< after the program
};

/// Reads declarations in the order of the recording, checks them, and resolves handles.
class Declarations {
public:
  /// `program` receives sizes and tables as they are declared.
  Declarations(ir::Program &program, ir::DiagnosticEngine &diagnostics, std::span<const CallSite> sites)
      : places(program.sources, sites), program_(program), diagnostics_(diagnostics) {}

  /// Reads a record that is neither a call nor part of a loop. False if it cannot come from the recorder.
  bool take(const TraceReader &reader);
  /// Reports declarations that are missing at the end of the recording.
  void finish();
  /// Allows a second walk over the calls of a program that has ended.
  void reopen() { phase_ = ProgramPhase::Open; }

  ProgramPhase phase() const { return phase_; }
  /// Returns the location where the open program began.
  ir::LocId programLoc() const { return programLoc_; }
  /// Returns the bytes of those declarations that may grow faster than the recording.
  std::uint64_t bytes() const { return bytes_; }
  /// Returns true inside a program. Otherwise reports that `what` is outside a program.
  bool inProgram(std::string_view what, ir::LocId at);
  /// Does the same, and also reports `what` in a program of Schedule::Auto, with the advice `instead`. Returns true in
  /// a program of Schedule::Manual.
  bool inManualProgram(std::string_view what, std::string_view instead, ir::LocId at);
  /// Returns the name of a buffer: "input", "output" or "scratch buffer".
  static std::string_view bufferName(ir::BufferKind kind);

  std::span<const std::uint32_t> blocksOf(const GroupDecl &group) const {
    return {groupBlocks_.data() + group.first, group.count};
  }
  std::span<const SwitchMember> membersOf(const SwitchDecl &channel) const {
    return {members_.data() + channel.first, channel.count};
  }
  /// Checks thread blocks of a group or barrier, reports at `at`, and appends them to `blocks`. True if all are right.
  bool checkBlocks(const TraceReader &reader, ir::LocId at, std::vector<std::uint32_t> &blocks);

  /// Returns the number of valid channels.
  std::uint32_t numChannels() const { return numChannels_; }
  /// Returns the channel between two thread blocks of different ranks, for calls on refs. The first call, at `place`,
  /// makes both ends of the channel.
  const ChannelDecl &refChannel(bool port, const ChannelEnd &near, const ChannelEnd &far, PlaceId place);
  /// Makes a rank's scratch at least `chunks` long. With double scratch, all ranks have the same size in the end.
  void growScratch(std::uint32_t rank, std::uint32_t chunks);

  PlaceTable places;
  std::vector<ScratchDecl> scratch;
  std::vector<GroupDecl> groups;
  std::vector<ChannelDecl> channels;
  std::vector<SwitchDecl> switches;
  std::vector<ViewDecl> views;
  std::vector<SemaphoreDecl> semaphores;
  std::vector<HookDecl> hooks;

private:
  // declare_program.cpp
  void collective(const TraceReader &reader);
  bool collectiveSizes(const TraceReader &reader);
  bool expectation(const TraceReader &reader);
  bool then(const TraceReader &reader);
  void hook(const TraceReader &reader);
  bool hookText(const TraceReader &reader);
  void checkHooks();
  void tag(const TraceReader &reader);
  bool programBegin(const TraceReader &reader);
  void programEnd();
  void takeOptions(const ProgramRecord &record, ir::LocId at);
  void takeWire(const ProgramRecord &record, ir::LocId at);
  void takeSchedule(const ProgramRecord &record, ir::LocId at);
  void takeNodes(const ProgramRecord &record, std::int64_t ranks, ir::LocId at);
  void refuseChoices(const ProgramRecord &record, ir::LocId at);
  void checkName(std::string_view name, std::string_view owner, ir::LocId at);
  // declarations.cpp
  void scratchBuffer(const TraceReader &reader);
  void group(const TraceReader &reader);
  void channel(const TraceReader &reader);
  void makeChannel(ChannelDecl &decl, bool port, std::uint32_t dst, std::uint32_t src);
  bool switchChannel(const TraceReader &reader);
  bool switchView(const TraceReader &reader);
  void semaphore(const TraceReader &reader);
  bool faultySlice(const TraceReader &reader);
  void note(const TraceReader &reader);
  bool checkNumbers(const TraceReader &reader, ir::LocId at, std::size_t end, const ir::DiagInfo &outOfRange,
                    const ir::DiagInfo &twice, std::vector<std::uint32_t> &numbers);

  /// Returns true if `rank` is a rank of the program.
  bool isRank(std::int64_t rank) const { return rank >= 0 && rank < static_cast<std::int64_t>(program_.ranks.size()); }
  std::size_t limit() const { return program_.ranks.empty() ? 0 : program_.ranks.size() - 1; }
  ir::LocId locOf(const TraceReader &reader) const { return places[reader.head().place]; }

  ir::Program &program_;
  ir::DiagnosticEngine &diagnostics_;
  std::vector<CollectiveDecl> collectives_;
  std::vector<std::uint32_t> groupBlocks_;
  std::vector<SwitchMember> members_;
  std::vector<std::uint32_t> stamps_; ///< [block or rank]: number of the last list with it
  std::uint32_t stamp_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t numChannels_ = 0;
  std::uint32_t grownScratch_ = 0; ///< the largest number of chunks in a call of growScratch
  std::map<std::tuple<bool, ChannelEnd, ChannelEnd>, ChannelDecl>
      refChannels_; ///< channels of calls on refs, by type, near end and far end
  std::uint32_t numNotes_ = 0;

  ProgramPhase phase_ = ProgramPhase::Before;
  bool isPastEnd_ = false;                     ///< true after the one report of a use after the program
  ProgramPhase resume_ = ProgramPhase::Before; ///< the phase after the skipped programs
  std::uint32_t skipped_ = 0;                  ///< number of skipped programs that are open
  ir::LocId programLoc_ = ir::noLoc;
  std::uint32_t usedCollective_ = detail::unset; ///< index of the program's collective
};

} // namespace mscclc::frontend
