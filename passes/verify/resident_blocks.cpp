#include "passes/verify/resident_blocks.h"

#include <algorithm>

namespace mscclc::passes::proof {
namespace {

/// Returns the name of the machine, such as "h100x8", with a hint at --machine if that option was not given.
std::string machineOf(const Residency &residency) {
  return residency.machine + (residency.isAssumed ? " (--machine names another)" : "");
}

} // namespace

bool runResident(const Residency *residency, Control &control, Reporter &reporter) {
  if (residency)
    control.holdAtOnce(residency->blocks);
  if (control.runLaunch())
    return true;
  const std::vector<Reporter::Held> held = reporter.heldRanks();
  if (!control.runTheRest())
    return false; // the launch gets stuck with any number of resident blocks
  if (residency)
    reporter.notResident(held, *residency);
  return true;
}

std::vector<Reporter::Held> Reporter::heldRanks() const {
  const Control &control = run_->control();
  std::vector<Held> all;
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    const std::uint32_t first = index_.block(r, 0), blocks = index_.numBlocks(r), begun = control.begun(r);
    if (begun == blocks)
      continue;
    std::uint32_t stuck = first;
    while (control.finished(stuck))
      ++stuck;
    all.push_back({stuck, control.at(stuck).op(), waitWords(control.waiting(stuck)), blocks, begun});
  }
  return all;
}

void Reporter::notResident(const std::vector<Held> &held, const Residency &residency) {
  for (const Held &one : held)
    findings_.report(diag::blocks_not_resident, index_.place(one.block, one.op),
                     {index_.rankOf(one.block), ir::plural(one.blocks, "thread block"),
                      ir::plural(residency.threads, "thread"), machineOf(residency), residency.blocks,
                      index_.idOf(one.block), one.waitsFor, one.blocks - one.begun});
}

void warnOfTurns(const Residency *residency, const ProgramIndex &index, Findings &findings) {
  const bool isSaid = std::ranges::any_of(
      findings.all(), [](const Findings::Finding &f) { return f.info == &diag::blocks_not_resident; });
  if (!residency || isSaid)
    return;
  for (std::uint32_t r = 0; r < index.numRanks(); ++r) {
    const ir::Rank &rank = index.program.ranks[r];
    if (rank.busyBlocks() <= residency->blocks || !waitsForOthers(rank))
      continue;
    if (auto *f = findings.addOnRank(diag::blocks_in_turns, r))
      f->args = {r, ir::plural(rank.busyBlocks(), "thread block"), ir::plural(residency->threads, "thread"),
                 machineOf(*residency), residency->blocks};
  }
}

} // namespace mscclc::passes::proof
