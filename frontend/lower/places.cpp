#include "frontend/lower/places.h"

namespace mscclc::frontend {

void PlaceTable::takeFile(const TraceReader &reader) {
  files_.push_back(sources_.addFile(reader.text()));
}

bool PlaceTable::takeChain(const TraceReader &reader) {
  const auto record = reader.as<CallChainRecord>();
  if (record.parent >= chains_.size() || record.site >= sites_.size())
    return false;
  const CallSite &site = sites_[record.site];
  chains_.push_back(sources_.addPlace(sources_.addFile(site.file), site.line, site.column, chains_[record.parent]));
  return true;
}

/// Returns the calls that led to the place of `record`. The place may itself be one of the calls in `chain`, because a
/// function that takes a Place passes on the place of its caller.
ir::LocId PlaceTable::callerOf(const PlaceRecord &record, ir::LocId chain) const {
  const std::uint32_t file = files_[record.file];
  for (ir::LocId call = chain; call != ir::noLoc; call = sources_.get(call).caller)
    if (const ir::Loc &loc = sources_.get(call);
        loc.file == file && loc.line == record.line && loc.column == record.column)
      return loc.caller;
  return chain;
}

bool PlaceTable::takePlace(const TraceReader &reader) {
  const auto record = reader.as<PlaceRecord>();
  if (record.file >= files_.size() || record.chain >= chains_.size())
    return false;
  places_.push_back(
      sources_.addPlace(files_[record.file], record.line, record.column, callerOf(record, chains_[record.chain])));
  return true;
}

} // namespace mscclc::frontend
