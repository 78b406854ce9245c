// Helpers for the verifier's tests.
#pragma once

#include "plain_order.h"
#include "plan.h"

#include "catch.h"
#include "ir/structure.h"
#include "passes/verify/verify.h"

#include <string>

namespace plan {

struct Proof {
  mscclc::passes::VerifyResult result;
  std::string text; ///< all diagnostics, rendered
  std::vector<std::string> ids;

  bool has(std::string_view id) const { return std::find(ids.begin(), ids.end(), id) != ids.end(); }
  bool says(std::string_view words) const { return text.find(words) != std::string::npos; }
};

/// Proves a program. Every answer about order that the proof uses is compared with plain reachability.
inline Proof prove(const Program &program, mscclc::passes::VerifyOptions options = {},
                   const AllowedNames &allowed = {}) {
  DiagnosticEngine diags;
  diags.allow(allowed);
  diags.setSources(&program.sources);
  Proof proof;
  if (!checkStructure(program, diags)) {
    proof.text = "malformed: " + diags.render(false);
    return proof;
  }
  PlainOrder order;
  options.watcher = &order;
  proof.result = mscclc::passes::verify(program, diags, options);
  CHECK(order.faults() == std::vector<std::string>());
  proof.text = diags.render(false);
  for (const Diagnostic &d : diags.all())
    proof.ids.emplace_back(d.id);
  return proof;
}

/// Returns the program for messages of `least` to `most` bytes.
inline Program ofSize(Program program, std::uint64_t least, std::uint64_t most) {
  program.minMessageSize = least;
  program.maxMessageSize = most;
  return program;
}

/// Returns the program without operation `op` of a block.
inline Program without(Program program, std::uint32_t rank, std::uint32_t block, std::uint32_t op) {
  auto &ops = program.ranks[rank].blocks[block].ops;
  ops.erase(ops.begin() + op);
  return program;
}

} // namespace plan
