// What a source says of each rank, line by line, before lines that are alike are drawn together.
#pragma once

#include "compiler/outputs/dsl/node.h"
#include "ir/program.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::dsl {

/// Lists that the calls take channels from.
struct Names {
  /// By type: a rank has one channel to each peer at most, so that its list is by peer.
  std::array<bool, 4> byPeer = {};
  bool scratch = false;                    ///< some rank has scratch
  std::vector<ir::SwitchChannel> switches; ///< in the order of construction
  /// [rank][switch channel of the rank] → index into `switches`.
  std::vector<std::vector<std::uint32_t>> switchOf;
};

/// Nothing, and `why`, if switch channels cannot be constructed in any order.
std::optional<Names> namesOf(const ir::Program &program, std::string &why);

/// The lines of `rank`: first its channels and semaphores, then its calls. The program is one of calls (calls.h).
/// Nothing, and `why`, if the language does not have them.
std::optional<std::vector<Node>> scriptOf(const ir::Program &program, const Names &names, std::uint32_t rank,
                                          Templates &templates, std::string &why);

/// A list of integers as a template and its numbers: `{%v, %v}`, or a call of numbers() where these are in a row.
std::string listTemplate(const std::vector<std::uint32_t> &list, std::vector<std::int64_t> &values, char letter);

} // namespace mscclc::dsl
