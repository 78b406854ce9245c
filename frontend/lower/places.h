// Converts places of a recording to locations of a program.
#pragma once

#include "frontend/lower/build_ir.h"
#include "frontend/trace/trace_reader.h"

#include <span>
#include <vector>

namespace mscclc::frontend {

/// Numbers files, call chains and places in the order of their records.
class PlaceTable {
public:
  PlaceTable(ir::SourceMap &sources, std::span<const CallSite> sites) : sources_(sources), sites_(sites) {}

  /// Each reads a record of its kind. takeChain() and takePlace() return false if the record refers to an entry that
  /// does not exist.
  void takeFile(const TraceReader &reader);
  bool takeChain(const TraceReader &reader);
  bool takePlace(const TraceReader &reader);

  /// Returns the location of place `id`; noLoc for 0 and for a place that was never recorded.
  ir::LocId operator[](PlaceId id) const { return id < places_.size() ? places_[id] : ir::noLoc; }

private:
  ir::LocId callerOf(const PlaceRecord &record, ir::LocId chain) const;

  ir::SourceMap &sources_;
  std::span<const CallSite> sites_;
  std::vector<std::uint32_t> files_;
  std::vector<ir::LocId> chains_{ir::noLoc};
  std::vector<ir::LocId> places_{ir::noLoc};
};

} // namespace mscclc::frontend
