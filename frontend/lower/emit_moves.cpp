#include "frontend/lower/emit_moves.h"

namespace mscclc::frontend {

void MoveEmitter::count(const CheckedCall &call) {
  ++numStatements_;
  numPlaces_ += call.srcs.size() + call.move.dsts.size();
}

void MoveEmitter::allocate() {
  movement_.statements.reserve(numStatements_);
  movement_.places.reserve(numPlaces_);
}

void MoveEmitter::emit(const CheckedCall &call) {
  const auto placesOf = [](const std::vector<Operand> &operands, std::vector<ir::RankChunk> &places) {
    places.clear();
    for (const Operand &operand : operands)
      places.push_back({operand.rank, operand.buffer, operand.index, operand.size});
  };
  placesOf(call.srcs, srcs_);
  placesOf(call.move.dsts, dsts_);
  ir::Move move;
  const bool reduces = call.srcs.size() != 1, applies = call.info->kind == ir::OpKind::Apply;
  move.kind = reduces   ? ir::MoveKind::Reduce // one chunk alone is the result
              : applies ? ir::MoveKind::Apply
                        : ir::MoveKind::Copy;
  move.hook = applies ? call.hook : 0;
  move.reduceOp = reduces ? call.reduceOp : ir::ReduceOp{};
  move.loc = call.loc;
  move.via = call.move.via;
  move.by = call.move.by;
  move.block = call.move.block;
  move.packets = call.move.packets;
  movement_.append(move, srcs_, dsts_);
}

} // namespace mscclc::frontend
