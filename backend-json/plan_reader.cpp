#include "backend-json/plan_reader.h"

#include "backend-json/check_ids.h"
#include "ir/internal_error.h"

#include <algorithm>

namespace mscclc::json {

using namespace ir;

namespace {

enum PlanField {
  Name,
  CollectiveName,
  ProtocolName,
  Inplace,
  ReuseResources,
  Gpus,
  Threads,
  DoubleScratch,
  Alignment,
  MinSize,
  MaxSize
};
constexpr std::string_view planFields[] = {"name",
                                           "collective",
                                           "protocol",
                                           "inplace",
                                           "reuse_resources",
                                           field_name::gpus,
                                           "num_threads_per_block",
                                           "use_double_scratch_buffer",
                                           "buffer_alignment",
                                           "min_message_size",
                                           "max_message_size"};

/// A plan does not state it; counts that the collective cannot have are for others to refuse.
std::uint32_t chunkFactorOf(const Program &program) {
  const Rank &rank = program.ranks.front();
  switch (program.collective.kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::SendRecv:
    return std::max(rank.inputChunks, 1u);
  case CollectiveKind::ReduceScatter:
    return std::max(rank.outputChunks, 1u);
  case CollectiveKind::AllReduce:
  case CollectiveKind::AllToAll:
    return std::max(rank.inputChunks / static_cast<std::uint32_t>(program.ranks.size()), 1u);
  case CollectiveKind::Test:
  case CollectiveKind::Custom:
    return 1;
  }
  throw InternalError("a collective of no kind");
}

/// Where a plan lists what is at `place` of the program read from it.
JsonPath pathOf(const Program &program, const ProgramPlace &place) {
  JsonPath path;
  if (place.rank == ProgramPlace::none)
    return path;
  path = path / field_name::gpus / place.rank;
  if (place.block == ProgramPlace::none)
    return path;
  path = path / field_name::blocks / place.block;
  if (place.op == ProgramPlace::none)
    return path;
  const auto &ops = program.ranks[place.rank].blocks[place.block].ops;
  for (std::size_t i = 0, listed = 0; i < ops.size(); i += 1 + ops[i].bodySize, ++listed) {
    if (i == place.op)
      return path / field_name::ops / listed;
    if (place.op <= i + ops[i].bodySize)
      return path / field_name::ops / listed / field_name::ops / (place.op - i - 1);
  }
  return path;
}

} // namespace

PlanReader::PlanReader(std::string_view text, std::string_view filename, DiagnosticEngine &engine,
                       std::uint64_t rankLimit, bool asRun)
    : ObjectReader({planFields}), in_(text, filename, engine), plan_{in_, rankLimit, asRun}, gpus_(plan_) {}

std::optional<Program> PlanReader::read() {
  plan_.planLoc = plan_.sources.addPlace(plan_.sources.addFile(in_.filename()), 1, 1);
  plan_.opsLabel = plan_.sources.addLabel(field_name::ops);
  in_.read(*this);
  if (in_.numErrors() == 0)
    checkIds(gpus_.ids(), "gpu", [&](std::size_t i, const DiagInfo &info, const auto &args) {
      in_.errorAt(gpu(i), gpu(i).path / field_name::id, info, args);
    });
  if (in_.numErrors() != 0 || namesUnknownRank())
    return std::nullopt;
  program_.sources = std::move(plan_.sources);
  program_.collective.kind = namedCollective(program_.collective.name).value_or(CollectiveKind::Custom);
  if (!program_.ranks.empty())
    program_.collective.chunkFactor = chunkFactorOf(program_);
  if (!checkStructure(program_, in_.engine(), [&](const ProgramPlace &place) { return placeOf(place); }))
    return std::nullopt;
  return std::move(program_);
}

ValueReader::Anchor PlanReader::gpu(std::size_t index) const {
  return {JsonPath() / field_name::gpus / index, gpus_.places()[index]};
}

ShownPlace PlanReader::placeOf(const ProgramPlace &place) {
  const ValueReader::Anchor near = place.rank == ProgramPlace::none ? ValueReader::Anchor{} : gpu(place.rank);
  return in_.shownPlace(near, pathOf(program_, place));
}

Expected PlanReader::field(std::size_t k) {
  switch (static_cast<PlanField>(k)) {
  case Name:
    return string(program_.name);
  case CollectiveName:
    return string(program_.collective.name);
  case ProtocolName:
    return word(protocolWords, program_.protocol);
  case Inplace:
    return boolean(program_.collective.inplace);
  case ReuseResources:
    return boolean(program_.reuseResources);
  case Gpus:
    return gpus_.several(program_.ranks);
  case Threads:
    return positive(program_.threadsPerBlock);
  case DoubleScratch:
    return boolean(program_.doubleScratch);
  case Alignment:
    return number(program_.bufferAlignment);
  case MinSize:
    return number(program_.minMessageSize);
  case MaxSize:
    return number(program_.maxMessageSize);
  }
  return Ignored{};
}

} // namespace mscclc::json
