// The lines of a source for each rank, before they are folded into loops.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/program.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::dsl {

/// The lists from which calls take channels.
struct Names {
  /// By type: true if no rank has more than one channel to a peer, so that lists are by peer.
  std::array<bool, 4> byPeer = {};
  bool scratch = false;                    ///< some rank has scratch
  std::vector<ir::SwitchChannel> switches; ///< switch channels in the order of construction
  /// [rank][switch channel of the rank] → index into `switches`.
  std::vector<std::vector<std::uint32_t>> switchOf;
};

/// Throws NoSource if switch channels cannot be constructed in any order.
Names namesOf(const ir::Program &program);

/// Returns the lines of `rank`: first its channels and semaphores, then its calls. The program must consist of calls
/// (calls.h). If the language cannot express them, throws NoSource.
std::vector<Node> scriptOf(const ir::Program &program, const Names &names, std::uint32_t rank, Templates &templates);

/// The most chunks of a list that are written in its call. More become a list with a name.
inline constexpr std::size_t othersInCall = 3;

/// Returns `ReduceOp::Max`.
std::string_view reduceOpText(ir::ReduceOp op);

/// Returns a list of integers as a template with numbers: `{%v, %v}`, or a call of numbers() if they are consecutive.
std::string listTemplate(const std::vector<std::uint32_t> &list, std::vector<std::int64_t> &values, char letter);

} // namespace mscclc::dsl
