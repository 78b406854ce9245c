// Checks recorded operations. It looks up their handles, and finds every fault that is visible in a single operation.
#pragma once

#include "frontend/lower/declarations.h"
#include "frontend/lower/last_writes.h"
#include "ir/op_semantics.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mscclc::frontend {

/// A row of calls.def.
struct CallInfo {
  std::string_view spelling;
  CallFamily family;
  ir::OpKind kind, variant;
  std::string_view instead;

  /// Returns the shape of the operation. The variant has the same shape, because its operands have the same places.
  const ir::OpShape &shape() const { return ir::opShapes[static_cast<std::size_t>(kind)]; }
};
const CallInfo &infoOf(detail::Call call);

/// A chunk operand: a range of a buffer of some rank, in chunks. Scratch is counted from the beginning of all scratch
/// of the rank.
struct Operand {
  std::uint32_t rank = 0;
  ir::BufferKind buffer = ir::BufferKind::Input;
  std::uint32_t index = 0;
  std::uint32_t size = 0;
  PlaceId place = 0;
  bool isOfRef = false; ///< a ref names the chunks, so no buffer was sliced
};

/// Returns the note that shows where an operand was made.
const ir::DiagInfo &chunkMadeHere(const Operand &chunks);

/// A ref: chunks with their contents at some point of the program.
struct RefDecl {
  bool valid = false;
  Operand chunks;          ///< `place` is where the ref was made
  std::uint32_t taken = 0; ///< number of the last write before the ref was made
  /// The form of the chunks when the ref was made; plain data for a ref of chunk().
  ir::DataForm form = ir::DataForm::Plain;
};

/// The parts of a movement statement besides its sources.
struct CheckedMove {
  std::vector<Operand> dsts;
  std::optional<ir::Via> via;
  std::optional<std::uint32_t> by, block;
  std::optional<bool> packets;
};

/// A call without faults. For a call on a ref, this is the statement or operation that the call becomes.
struct CheckedCall {
  detail::Call call{};
  const CallInfo *info = nullptr;
  std::string_view spelling; ///< the call's name in the source, also for a call on a ref
  ir::LocId loc = ir::noLoc;
  std::uint32_t rank = 0;                ///< the executing rank
  std::span<const std::uint32_t> blocks; ///< the executing thread blocks
  bool inGroup = false;                  ///< true if the blocks share the work
  const ChannelDecl *channel = nullptr;  ///< the channel, for the Channel family
  const ViewDecl *view = nullptr;        ///< the view, for the Switch family
  ir::BufferKind switchBuffer{};
  std::uint32_t semaphore = 0; ///< number of the semaphore on its rank, for the Semaphore family
  std::uint32_t hook = 0;      ///< number of the hook in the program, for an apply
  ir::DataSync sync = ir::DataSync::None;
  bool relaxed = false, packet = false;
  ir::ReduceOp reduceOp = ir::ReduceOp::Sum;
  bool hasChunks = false;
  Operand dst;
  std::vector<Operand> srcs;
  std::uint32_t offset = 0; ///< first chunk in the channel's buffer, for the Switch family
  CheckedMove move;         ///< the statement, for the Movement family, which does not use `rank`, `blocks` and `dst`

  /// Returns the operation that the call becomes.
  ir::OpKind kind() const {
    const bool isVariant = info->family == CallFamily::Blocks ? blocks.size() == 1 : relaxed || packet;
    return isVariant ? info->variant : info->kind;
  }
  ir::ChannelType channelType() const {
    if (channel)
      return channel->type;
    return view ? ir::ChannelType::Switch : ir::ChannelType::None;
  }
  /// Each returns true if an operand is on the channel's other rank: source `index`, or the destination.
  bool isRemoteSource(std::size_t index) const { return isRemote(info->shape().srcs, index); }
  bool isRemoteDestination() const { return isRemote(info->shape().dsts, 0); }

private:
  static bool isRemote(const ir::SideShape &side, std::size_t index) {
    return side.maxRemote != 0 && index >= side.maxLocal;
  }
};

/// Checks calls one after the other, in the order of the recording.
class CallChecker {
public:
  CallChecker(const ir::Program &program, Declarations &declarations, ir::DiagnosticEngine &diagnostics)
      : program_(program), declarations_(declarations), diagnostics_(diagnostics) {}

  enum class Result : std::uint8_t { Good, Nothing, Faulty, Damaged };
  /// Checks the call at which `reader` is. Fills `call`, which is reused from call to call. Returns Faulty if an error
  /// in the call, or in something that it uses, was reported. Returns Nothing if the call is right and moves nothing,
  /// and Damaged if it cannot come from the recorder.
  Result check(const TraceReader &reader, CheckedCall &call);
  /// Reads a Ref record.
  void takeRef(const TraceReader &reader);
  /// Prepares another walk over the same recording.
  void restart();
  /// Returns the bytes of memory for refs and for the writes to chunks.
  std::uint64_t bytes() const { return refs_.size() * sizeof(RefDecl) + writes_.bytes(); }
  /// Checks at the end of the program whether scratch is large enough for switch channels.
  void finish();

private:
  struct PendingExtent {
    ir::LocId loc;
    std::uint32_t channel;
    std::int64_t offset, size;
  };

  Result look(const TraceReader &reader, CheckedCall &call);
  Result executor(const CallRecord &record, CheckedCall &call);
  Result blocks(const CallRecord &record, CheckedCall &call);
  Result barrierBlocks(const TraceReader &reader, CheckedCall &call);
  Result operands(const TraceReader &reader, CheckedCall &call);
  Result operand(const ChunkRecord &record, std::string_view role, const CheckedCall &call, Operand &out);
  bool checkChunks(const CheckedCall &call);
  bool checkForms(const CheckedCall &call);
  bool checkSwitch(const SwitchCallRecord &record, CheckedCall &call);
  bool checkExtent(ir::LocId loc, std::uint32_t channel, std::int64_t offset, std::int64_t size, bool final);
  bool ownedBy(const Operand &operand, std::string_view role, std::uint32_t rank, std::string_view reason,
               const CheckedCall &call);
  bool sameSize(const Operand &first, std::string_view firstRole, const Operand &second, std::string_view secondRole,
                const CheckedCall &call);
  Result takeHook(std::uint32_t handle, CheckedCall &call);
  bool inOutput(const Operand &operand, const CheckedCall &call);
  bool inScratch(const Operand &operand, std::string_view role, const CheckedCall &call);
  // check_moves.cpp
  Result statement(const TraceReader &reader, CheckedCall &call);
  Result moveChoices(const MoveRecord &record, CheckedCall &call);
  Result moveOperands(const TraceReader &reader, CheckedCall &call);
  bool checkMove(const CheckedCall &call);
  bool checkExecutor(const CheckedCall &call);
  bool checkVia(const CheckedCall &call);
  bool checkSwitchedMove(const CheckedCall &call);
  // check_refs.cpp

  /// The thread block that executes a call on a ref, and the block at the other end.
  struct RefBlocks {
    std::uint32_t own, other;
  };
  bool isEnumerator(std::uint8_t value, std::uint8_t last, std::string_view type, ir::LocId at);
  bool refPlace(std::int64_t rank, std::int64_t index, std::int64_t size, ir::LocId at, Operand &out);
  Result refOf(std::uint32_t handle, const CheckedCall &call, RefDecl &out);
  ir::DataForm formTaken(const RefDecl &self, bool isPort, const CheckedCall &call) const;
  bool isFresh(const RefDecl &ref, std::string_view role, ir::DataForm form, const CheckedCall &call);
  Result refCall(const TraceReader &reader, CheckedCall &call);
  bool checkReach(const Operand &self, const Operand &other, const CheckedCall &call);
  Result refStatement(const RefCallRecord &record, const Operand &self, const Operand &other, CheckedCall &call);
  std::optional<RefBlocks> refBlocks(const RefCallRecord &record, bool isFar, const CheckedCall &call);
  Result refOperation(const RefCallRecord &record, const Operand &self, const Operand &other, CheckedCall &call);
  ir::MemoryRange memoryOf(const Operand &chunks, ir::DataForm form = ir::DataForm::Plain) const;
  void noteWrites(const CheckedCall &call);

  const ir::Program &program_;
  Declarations &declarations_;
  ir::DiagnosticEngine &diagnostics_;
  std::uint32_t block_ = 0;            ///< storage of CheckedCall::blocks for a single block
  std::vector<std::uint32_t> barrier_; ///< storage of CheckedCall::blocks for a barrier
  std::vector<PendingExtent> pending_;
  std::vector<RefDecl> refs_; ///< by number
  RefDecl made_;              ///< the ref that the current call makes
  LastWrites writes_;         ///< writes since the first ref
};

} // namespace mscclc::frontend
