// The lines of a source for each rank, before loops replace repeated lines.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/program.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::dsl {

/// Describes the lists in the source from which calls take channels.
struct Names {
  /// [type]: true if no rank has two channels of this type to the same peer. Then a peer is enough to name a channel.
  std::array<bool, 4> byPeer = {};
  bool scratch = false;                    ///< true if some rank has scratch
  std::vector<ir::SwitchChannel> switches; ///< switch channels in the order of construction
  /// [rank][switch channel of the rank]: index into `switches`.
  std::vector<std::vector<std::uint32_t>> switchOf;
};

/// Returns the lists for `program`. Throws NoSource if there is no order in which its switch channels can be
/// constructed.
Names namesOf(const ir::Program &program);

/// Returns the lines of `rank`: first its channels and semaphores, then its calls. The program must consist of calls
/// (calls.h). Throws NoSource if the language cannot express them.
std::vector<Node> scriptOf(const ir::Program &program, const Names &names, std::uint32_t rank, Templates &templates);

/// The maximum number of chunks that a call lists. A longer list of chunks is stored in a variable.
inline constexpr std::size_t othersInCall = 3;

/// Returns `ReduceOp::Max`.
std::string_view reduceOpText(ir::ReduceOp op);

/// Returns a template for a list of integers: `{%v, %v}`, or a call of numbers() if they are consecutive. Appends the
/// numbers to `values`.
std::string listTemplate(const std::vector<std::uint32_t> &list, std::vector<std::int64_t> &values, char letter);

} // namespace mscclc::dsl
