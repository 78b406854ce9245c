#include "backend-json/plan_reader.h"

#include "backend-json/check_ids.h"
#include "backend-json/plan_fields.h"
#include "ir/collectives.h"

namespace mscclc::json {

using namespace ir;

namespace {

/// Returns the path in the plan to the rank, block or operation at `place` of the program.
JsonPath pathOf(const Program &program, const ProgramPlace &place) {
  JsonPath path;
  if (place.rank == ProgramPlace::none)
    return path;
  path = path / nameOf(PlanField::Gpus) / place.rank;
  if (place.block == ProgramPlace::none)
    return path;
  path = path / nameOf(GpuField::Blocks) / place.block;
  if (place.op == ProgramPlace::none)
    return path;
  const auto &ops = program.ranks[place.rank].blocks[place.block].ops;
  for (std::size_t i = 0, listed = 0; i < ops.size(); i += 1 + ops[i].bodySize, ++listed) {
    if (i == place.op)
      return path / nameOf(BlockField::Ops) / listed;
    if (place.op <= i + ops[i].bodySize)
      return path / nameOf(BlockField::Ops) / listed / nameOf(op_field::Body) / (place.op - i - 1);
  }
  return path;
}

} // namespace

PlanReader::PlanReader(std::string_view text, std::string_view filename, DiagnosticEngine &engine,
                       std::uint64_t rankLimit, bool asRun)
    : ObjectReader({planFields, bitOf(PlanField::Root) | bitOf(PlanField::Tags)}), in_(text, filename, engine),
      plan_{in_, rankLimit, asRun}, gpus_(plan_) {}

std::optional<Program> PlanReader::read() {
  plan_.planLoc = plan_.sources.addPlace(plan_.sources.addFile(in_.filename()), 1, 1);
  plan_.opsLabel = plan_.sources.addLabel(nameOf(BlockField::Ops));
  in_.read(*this);
  if (in_.numErrors() == 0)
    checkIds(gpus_.ids(), "gpu", [&](std::size_t i, const DiagInfo &info, const auto &args) {
      in_.errorAt(gpu(i), gpu(i).path / nameOf(GpuField::Id), info, args);
    });
  if (in_.numErrors() != 0 || namesUnknownRank())
    return std::nullopt;
  program_.sources = std::move(plan_.sources);
  // A plan does not state the chunk factor. checkStructure refuses numbers of chunks that are impossible for the
  // collective.
  program_.collective.chunkFactor = chunksOfShare(program_);
  if (!checkStructure(program_, in_.engine(), [&](const ProgramPlace &place) { return placeOf(place); }))
    return std::nullopt;
  return std::move(program_);
}

ValueReader::Anchor PlanReader::gpu(std::size_t index) const {
  return {JsonPath() / nameOf(PlanField::Gpus) / index, gpus_.places()[index]};
}

ShownPlace PlanReader::placeOf(const ProgramPlace &place) {
  const ValueReader::Anchor near = place.rank == ProgramPlace::none ? ValueReader::Anchor{} : gpu(place.rank);
  return in_.shownPlace(near, pathOf(program_, place));
}

Expected PlanReader::field(std::size_t k) {
  switch (static_cast<PlanField>(k)) {
  case PlanField::Name:
    return string(program_.name);
  case PlanField::Collective:
    return string(program_.collective.name);
  case PlanField::Protocol:
    return word(protocolWords, program_.protocol);
  case PlanField::Inplace:
    return boolean(program_.collective.inplace);
  case PlanField::Root:
    return number(program_.collective.root);
  case PlanField::ReuseResources:
    return boolean(program_.reuseResources);
  case PlanField::Gpus:
    return gpus_.several(program_.ranks);
  case PlanField::Threads:
    return positive(program_.threadsPerBlock);
  case PlanField::DoubleScratch:
    return boolean(program_.doubleScratch);
  case PlanField::Alignment:
    return number(program_.bufferAlignment);
  case PlanField::MinSize:
    return number(program_.minMessageSize);
  case PlanField::MaxSize:
    return number(program_.maxMessageSize);
  case PlanField::Tags:
    return list([this] { return string(program_.tags.emplace_back()); });
  }
  return Ignored{};
}

void PlanReader::end(const ReadObject &object) {
  const bool hasRoot = (object.fields & bitOf(PlanField::Root)) != 0;
  const auto kind = namedCollective(program_.collective.name, hasRoot);
  if (hasRoot && !kind)
    in_.error(diag::unknown_field, object.begin, {nameOf(PlanField::Root)});
  program_.collective.kind = kind.value_or(CollectiveKind::Custom);
}

} // namespace mscclc::json
