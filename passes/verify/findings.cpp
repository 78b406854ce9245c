#include "passes/verify/findings.h"

#include "passes/diagnostics.h"

namespace mscclc::passes::proof {

namespace {
/// Combines two hashes. The order matters, and common parts do not cancel.
std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = h * 0x9e3779b97f4a7c15u + v;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}
} // namespace

ir::Where Findings::where(ir::OpRef place) const {
  ir::Where where = whereIs(index_.program, place);
  where.alike.clear(); // equal findings have been counted already
  return where;
}

std::uint64_t Findings::key(ir::OpRef place, bool exact) const {
  if (place == nowhere)
    return 0;
  const std::uint64_t inBlock = std::uint64_t{place.block} << 32 | place.op;
  if (exact)
    return mix(mix(1, place.rank), inBlock);
  const auto &blocks = index_.program.ranks[place.rank].blocks;
  if (place.block >= blocks.size() || place.op >= blocks[place.block].ops.size())
    return mix(2, inBlock);
  const ir::LocId loc = index_.program.sources.firstPlace(blocks[place.block].ops[place.op].loc);
  if (loc == ir::noLoc ||
      index_.program.sources.isElement(loc)) // other blocks and ranks of a plan have equal operations
    return mix(mix(2, place.op), static_cast<std::uint64_t>(blocks[place.block].ops[place.op].kind));
  const ir::Loc &at = index_.program.sources.get(loc); // the place counts, and not the call that leads to it
  return mix(mix(mix(3, at.file), at.line), at.column);
}

Findings::Finding *Findings::addKeyed(const ir::DiagInfo &info, std::uint64_t group, std::uint64_t identity,
                                      ir::OpRef place) {
  const auto kind = reinterpret_cast<std::uintptr_t>(info.id.data());
  if (!state_.seen.insert(mix(kind, identity)).second)
    return nullptr;
  ++(diags_.severityOf(info) == ir::Severity::Error ? state_.errors : state_.warnings);
  const auto [it, isNew] = state_.groups.try_emplace(mix(kind, group), state_.findings.size());
  if (!isNew) {
    Finding &same = state_.findings[it->second];
    ++same.alike;
    same.otherRanks |= same.place.rank != place.rank;
    same.otherBlocks |= same.place.rank == place.rank && same.place.block != place.block;
    return nullptr;
  }
  Finding &finding = state_.findings.emplace_back();
  finding.info = &info;
  finding.place = place;
  return &finding;
}

Findings::Finding *Findings::add(const ir::DiagInfo &info, ir::OpRef place, ir::OpRef other) {
  Finding *finding =
      addKeyed(info, mix(key(place, false), key(other, false)), mix(key(place, true), key(other, true)), place);
  if (finding)
    finding->where = where(place);
  return finding;
}

Findings::Finding *Findings::addOnRank(const ir::DiagInfo &info, std::uint32_t rank, std::uint32_t group) {
  Finding *finding = addKeyed(info, mix(5, group), mix(mix(5, group), rank), {rank, none, none});
  if (finding)
    finding->where = rankWhere(rank);
  return finding;
}

Findings::Finding *Findings::addOnProgram(const ir::DiagInfo &info) {
  Finding *finding = addKeyed(info, 0, 0, nowhere);
  if (finding)
    finding->where = ir::Where("program '" + index_.program.name + "'");
  return finding;
}

void Findings::dropWarnings() {
  std::erase_if(state_.findings, [&](const Finding &f) { return diags_.severityOf(*f.info) != ir::Severity::Error; });
}

void Findings::flush() {
  for (const Finding &f : state_.findings) {
    auto report = diags_.report(*f.info, f.where, f.args);
    for (const Note &note : f.notes)
      report.note(*note.info, note.where, note.args);
    if (f.alike != 0)
      report.note(diag::alike_elsewhere, ir::Where{},
                  {f.alike, f.otherRanks    ? " on other ranks"
                            : f.otherBlocks ? " in other blocks"
                                            : ""});
  }
  state_.findings.clear();
}

} // namespace mscclc::passes::proof
