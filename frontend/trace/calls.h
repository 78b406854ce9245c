// The closed set of the language's calls that do something (calls.def).
#pragma once

#include "frontend/dsl/include/mscclc/detail/record.hpp"

/// The DSL's operations, movement statements, and calls on refs (chunks.hpp).
enum class mscclc::detail::Call : std::uint32_t {
#define CALL(id, ...) id,
#include "frontend/trace/calls.def"
};

namespace mscclc::frontend {

inline constexpr std::uint32_t numCalls = 0
#define CALL(...) +1
#include "frontend/trace/calls.def"
    ;

/// The object that a call works on. It determines the record of the call, and the meaning of the handle in it.
enum class CallFamily : std::uint8_t {
  Rank,
  Blocks, ///< several of a rank, listed in the record
  Channel,
  Semaphore,
  Switch,
  Hook,
  Movement, ///< a statement of Schedule::Auto: no handle
  Ref,
};

constexpr CallFamily familyOf(detail::Call call) {
  constexpr CallFamily families[] = {
#define CALL(id, spelling, family, ...) CallFamily::family,
#include "frontend/trace/calls.def"
  };
  return families[static_cast<std::size_t>(call)];
}

} // namespace mscclc::frontend
