#include "passes/verify/switch_signals.h"

#include "ir/cursor.h"
#include "ir/op_semantics.h"
#include "passes/diagnostics.h"
#include "passes/verify/verify_diagnostics.h"

#include <optional>
#include <utility>
#include <vector>

namespace mscclc::passes::proof {

namespace {

class TurnCheck {
public:
  TurnCheck(const ir::Program &program, ir::DiagnosticEngine &diags) : program_(program), diags_(diags) {}

  bool run() {
    for (rank_ = 0; rank_ < program_.ranks.size(); ++rank_) {
      const ir::Rank &rank = program_.ranks[rank_];
      turns_.assign(rank.switchChannels.size(), {});
      for (block_ = 0; block_ < rank.blocks.size(); ++block_)
        checkBlock(rank.blocks[block_]);
      endTurns(); // a wait must follow the last signals
    }
    return good_;
  }

private:
  /// The state of a switch channel: the block that uses it, and its last operation.
  struct Turn {
    std::optional<std::uint32_t> block;
    std::optional<ir::OpRef> signal; ///< the last signal, if no wait has followed it
    bool isFaulty = false;
  };

  void checkBlock(const ir::ThreadBlock &block) {
    std::uint32_t pipeline = ir::none; // the pipeline that contains the previous operation
    ir::forEachOp(block, [&](std::uint32_t o, std::uint32_t header) {
      if (block.ops[o].kind == ir::OpKind::Pipeline || header != std::exchange(pipeline, header))
        endTurns();
      if (ir::signalsThroughSwitch(block.ops[o].kind))
        take(block, block.ops[o], {rank_, block_, o});
    });
    endTurns();
  }

  void take(const ir::ThreadBlock &block, const ir::Op &op, const ir::OpRef &place) {
    const std::uint32_t channel = block.idsOf(op)[0];
    Turn &turn = turns_[channel];
    if (turn.isFaulty)
      return;
    if (turn.block.value_or(block_) != block_) {
      fail(turn);
      diags_.report(diag::switch_signals_apart, whereIs(program_, place),
                    {ir::wordOf(program_, op), channel, rank_, *turn.block, block_});
      return;
    }
    turn.block = block_;
    if (ir::isSignal(op.kind) == turn.signal.has_value())
      report(turn, channel, place, turn.signal ? "a wait" : "a signal");
    else if (turn.signal)
      turn.signal.reset();
    else
      turn.signal = place;
  }

  /// Checks that a wait has followed each signal so far.
  void endTurns() {
    for (std::uint32_t channel = 0; channel < turns_.size(); ++channel)
      if (Turn &turn = turns_[channel]; turn.signal && !turn.isFaulty)
        report(turn, channel, *turn.signal, "a wait after it");
  }

  void report(Turn &turn, std::uint32_t channel, const ir::OpRef &place, std::string_view due) {
    fail(turn);
    const ir::Op &op = ir::opAt(program_, place);
    diags_.report(diag::switch_signals_in_turn, whereIs(program_, place),
                  {ir::wordOf(program_, op), channel, rank_, due});
  }

  void fail(Turn &turn) {
    turn.isFaulty = true;
    good_ = false;
  }

  const ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  std::uint32_t rank_ = 0, block_ = 0;
  std::vector<Turn> turns_; ///< [switch channel]
  bool good_ = true;
};

} // namespace

bool checkSwitchSignals(const ir::Program &program, ir::DiagnosticEngine &diags) {
  return TurnCheck(program, diags).run();
}

} // namespace mscclc::passes::proof
