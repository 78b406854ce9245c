// The host's side of what algorithms call: the same declarations that the DSL header makes, and the call stack that
// instrumented code keeps.
#pragma once

#include "frontend/dsl/include/mscclc/chunks.hpp"

/// The insides of the DSL's classes.
struct mscclc::detail::Access {
  static const ChunkData &data(const Chunk &chunk) { return chunk.data_; }
  static ChunkData &data(Chunk &chunk) { return chunk.data_; }
  static const BlockSet *set(const On &on) { return &on.set_; }
  static const RefData &data(const ChunkRef &ref) { return ref.data_; }
  static RefData &data(ChunkRef &ref) { return ref.data_; }
};

namespace mscclc::frontend {

/// The chain of calls through which an algorithm reached the present point, outermost first. Instrumented code pushes
/// the id of a call site before a call (sites[depth], while there is room, and depth + 1) and pops it after the call.
struct CallStack {
  static constexpr std::uint32_t capacity = 64;
  std::uint32_t depth; ///< may exceed the capacity; deeper sites are not kept
  std::uint32_t sites[capacity];
};

} // namespace mscclc::frontend

extern "C" mscclc::frontend::CallStack __mscclc_call_stack;
