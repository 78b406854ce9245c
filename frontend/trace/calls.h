// The calls of the language that become operations or statements (calls.def).
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

/// The object of a call. It determines the kind of record, and the meaning of the record's handle.
enum class CallFamily : std::uint8_t {
  Rank,
  Blocks, ///< several thread blocks of a rank, listed in the record
  Channel,
  Semaphore,
  Switch,
  Hook,
  Movement, ///< a statement of Schedule::Auto, without a handle
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
