// The host's side of the functions that algorithms call: the declarations of the DSL header, and the call stack that
// instrumented code maintains.
#pragma once

#include "frontend/dsl/include/mscclc/chunks.hpp"
#include "frontend/dsl/include/mscclc/hooks.hpp"

/// Access to the private parts of the DSL's classes.
struct mscclc::detail::Access {
  static const ChunkData &data(const Chunk &chunk) { return chunk.data_; }
  static ChunkData &data(Chunk &chunk) { return chunk.data_; }
  static const BlockSet *set(const On &on) { return &on.set_; }
  static const RefData &data(const ChunkRef &ref) { return ref.data_; }
  static RefData &data(ChunkRef &ref) { return ref.data_; }
  static std::uint32_t handle(const Hook &hook) { return hook.handle_; }
};

namespace mscclc::frontend {

/// The calls through which an algorithm reached the current point, outermost first. Instrumented code pushes the id of
/// the call site before a call, and pops it after the call. To push, it stores sites[depth] while there is room, and
/// increments depth.
struct CallStack {
  static constexpr std::uint32_t capacity = 64;
  std::uint32_t depth; ///< may exceed the capacity; deeper sites are not kept
  std::uint32_t sites[capacity];
};

} // namespace mscclc::frontend

extern "C" mscclc::frontend::CallStack __mscclc_call_stack;
