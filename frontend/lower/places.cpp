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

bool PlaceTable::takePlace(const TraceReader &reader) {
  const auto record = reader.as<PlaceRecord>();
  if (record.file >= files_.size() || record.chain >= chains_.size())
    return false;
  places_.push_back(sources_.addPlace(files_[record.file], record.line, record.column, chains_[record.chain]));
  return true;
}

} // namespace mscclc::frontend
